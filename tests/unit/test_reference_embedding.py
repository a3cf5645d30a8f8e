"""The embedded reference adapter for embeddings, called directly over its wire."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar

import pytest

import pytest_corpus.reference
from pytest_corpus.reference.embedding.adapter import ReferenceEmbedding
from pytest_corpus.schema_registry import assert_valid
from pytest_corpus.spec.operations import operations_of
from pytest_corpus.spec.schemas import EDITIONS

T = TypeVar("T")
CANARY = "canary-7f3a9c51e2"
MODEL, SMALL = ReferenceEmbedding.models
LIMIT = ReferenceEmbedding.max_text_length
LARGEST = ReferenceEmbedding.max_batch_size


class Sink:
    """Records all telemetry."""

    def __init__(self) -> None:
        self.observed: list[dict[str, Any]] = []
        self.counted: list[dict[str, Any]] = []

    def observe(self, **fields: Any) -> None:
        self.observed.append(fields)

    def counter(self, **fields: Any) -> None:
        self.counted.append(fields)


class ProviderError(Exception):
    """What a provider's SDK raises; its text may not come out."""

    def __init__(self, kind: str, http_status: int | None) -> None:
        super().__init__(CANARY)
        self.kind = kind
        self.http_status = http_status


class Backend:
    """A provider that raises the fault planned for an arrival, given by its number."""

    def __init__(self, faults: Mapping[int, Exception] | None = None) -> None:
        self.faults = faults or {}
        self.calls: list[tuple[str, dict[str, Any]]] = []

    async def reached(self, op: str, **facts: Any) -> None:
        self.calls.append((op, facts))
        if fault := self.faults.get(len(self.calls) - 1):
            raise fault

    @property
    def arrivals(self) -> list[str]:
        return [op for op, _ in self.calls]


def run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(asyncio.wait_for(work, 10))


def request(op: str, args: dict[str, Any] | None = None, **ctx: Any) -> dict[str, Any]:
    return {"op": f"embedding.{op}", "ctx": ctx, "args": args or {}}


def call(adapter: ReferenceEmbedding, op: str, args: dict[str, Any] | None = None, **ctx: Any) -> dict[str, Any]:
    return run(adapter.handle(request(op, args, **ctx)))


def embed(adapter: ReferenceEmbedding, text: Any = "amber birch", **args: Any) -> dict[str, Any]:
    return call(adapter, "embed", {"text": text, "model": MODEL, **args})


def batch(adapter: ReferenceEmbedding, texts: Any, **args: Any) -> dict[str, Any]:
    return call(adapter, "embed_batch", {"texts": texts, "model": MODEL, **args})


def stream(adapter: ReferenceEmbedding, text: Any = "amber birch", **args: Any) -> list[dict[str, Any]]:
    async def frames() -> list[dict[str, Any]]:
        envelope = request("stream_embed", {"text": text, "model": MODEL, **args})
        return [frame async for frame in adapter.handle_stream(envelope)]

    return run(frames())


def vector(answer: dict[str, Any]) -> list[float]:
    values: list[float] = answer["result"]["embedding"]["vector"]
    return values


def vectors(answer: dict[str, Any]) -> list[list[float]]:
    return [each["vector"] for each in answer["result"]["embeddings"]]


def test_the_factory_makes_the_adapter() -> None:
    """`pytest_corpus.reference:embedding` is a factory that takes both hooks."""
    sink, backend = Sink(), Backend()
    adapter = pytest_corpus.reference.embedding(metrics=sink, provider=backend)
    assert (adapter.metrics, adapter.provider) == (sink, backend)


@pytest.mark.parametrize("edition", EDITIONS)
def test_answers_are_valid_under_both_editions(edition: str) -> None:
    """What the adapter sends needs nothing of the younger edition."""
    texts = ["amber", "", "x" * (LIMIT + 1)]
    args = {"text": "amber", "texts": texts, "model": MODEL, "truncate": False}
    for operation in operations_of("embedding", streaming=False):
        answer = call(ReferenceEmbedding(), operation.name, args)
        assert_valid("embedding.envelope.success", answer, edition)
        if operation.payload:
            assert_valid(operation.payload, answer["result"], edition)
    assert_valid("embedding.envelope.error", embed(ReferenceEmbedding(), 1), edition)


def test_answers_are_of_the_schema_of_their_operation() -> None:
    """Every result and every frame, as edition 1.1.0 describes them."""
    args = {"text": "amber", "texts": ["amber"], "model": MODEL}
    for operation in operations_of("embedding", streaming=False):
        assert_valid(operation.answer, call(ReferenceEmbedding(), operation.name, args))
    for frame in stream(ReferenceEmbedding()):
        assert_valid("embedding.stream_embed.frame", frame)


def test_every_operation_is_offered() -> None:
    """Nothing that the protocol names answers NOT_SUPPORTED."""
    args = {"text": "amber", "texts": ["amber"], "model": MODEL}
    answers = [call(ReferenceEmbedding(), each.name, args) for each in operations_of("embedding", streaming=False)]
    assert all(answer["ok"] for answer in [*answers, *stream(ReferenceEmbedding())])


@pytest.mark.parametrize("model", [MODEL, SMALL])
def test_dimensions_are_those_of_the_model(model: str) -> None:
    """Each model has a space of its own, no larger than the declared maximum."""
    embedding = embed(ReferenceEmbedding(), model=model)["result"]["embedding"]
    assert len(embedding["vector"]) == embedding["dimensions"] == ReferenceEmbedding.models[model]
    assert embedding["dimensions"] <= call(ReferenceEmbedding(), "capabilities")["result"]["max_dimensions"]


@pytest.mark.parametrize("text", ["amber birch", "", " ", "\ud800", "e\u0301", "x" * LIMIT])
def test_normalized_vectors_have_length_one(text: str) -> None:
    """And the direction of the vector that was not normalized."""
    plain = vector(embed(ReferenceEmbedding(), text))
    normalized = vector(embed(ReferenceEmbedding(), text, normalize=True))
    length = math.hypot(*plain)
    assert math.hypot(*normalized) == pytest.approx(1)
    assert length != pytest.approx(1)
    assert [length * component for component in normalized] == pytest.approx(plain)


def test_what_the_source_normalizes_is_not_normalized_again() -> None:
    """The flag of the request makes no difference then."""

    class AtSource(ReferenceEmbedding):
        features: Mapping[str, bool] = {**ReferenceEmbedding.features, "normalizes_at_source": True}

        def normalized(self, vector: list[float]) -> list[float]:
            raise AssertionError

    assert vector(embed(AtSource(), normalize=True)) == vector(embed(AtSource()))


def test_only_what_is_too_long_is_cut() -> None:
    """At the limit a text is whole; one character more is cut and told, or refused."""
    adapter = ReferenceEmbedding()
    whole, cut = embed(adapter, "x" * LIMIT)["result"], embed(adapter, "x" * (LIMIT + 1))["result"]
    assert (whole["truncated"], cut["truncated"]) == (False, True)
    assert cut["embedding"] == whole["embedding"]
    refusal = embed(adapter, "x" * (LIMIT + 1), truncate=False)
    assert refusal["code"] == "TEXT_TOO_LONG"
    assert refusal["details"]["max_text_length"] == LIMIT
    assert refusal["details"]["provided_length"] == LIMIT + 1
    assert embed(adapter, "x" * LIMIT, truncate=False)["ok"]


@pytest.mark.parametrize(
    ("op", "args", "code"),
    [
        ("embed", {"text": 1}, "BAD_REQUEST"),
        ("embed", {"text": None}, "BAD_REQUEST"),
        ("embed", {"model": None}, "BAD_REQUEST"),
        ("embed", {"model": "no-such"}, "MODEL_NOT_AVAILABLE"),
        ("embed", {"truncate": "no"}, "BAD_REQUEST"),
        ("embed", {"normalize": 1}, "BAD_REQUEST"),
        ("embed_batch", {"texts": CANARY}, "INPUT_FORMAT_ERROR"),
        ("embed_batch", {"texts": ["a", None]}, "INPUT_FORMAT_ERROR"),
        ("embed_batch", {"texts": ["a"] * (LARGEST + 1)}, "BAD_REQUEST"),
        ("count_tokens", {"text": None}, "BAD_REQUEST"),
        ("count_tokens", {"model": "no-such"}, "MODEL_NOT_AVAILABLE"),
    ],
)
def test_bad_arguments_are_refused_before_the_provider_is_reached(op: str, args: dict[str, Any], code: str) -> None:
    """A validation failure names the field, not the value, and costs no backend work."""
    backend = Backend()
    answer = call(ReferenceEmbedding(provider=backend), op, {"text": "", "texts": [], "model": MODEL, **args})
    assert answer["code"] == code
    assert answer["details"]["validation_errors"]
    assert CANARY not in json.dumps(answer)
    assert backend.calls == []


def test_an_over_large_batch_is_told_by_how_much_to_shrink() -> None:
    """The percentage of ERRORS 7 leads to a batch that is accepted."""
    for size in range(LARGEST + 1, 5 * LARGEST):
        details = batch(ReferenceEmbedding(), ["a"] * size)["details"]
        assert details["max_batch_size"] == LARGEST
        assert 0 < math.ceil(size * (100 - details["suggested_batch_reduction"]) / 100) <= LARGEST


def test_a_batch_gives_what_single_calls_give_in_order() -> None:
    """Equal texts and equal lengths change nothing."""
    texts = ["birch", "amber", "birch", "cedar", ""]
    adapter = ReferenceEmbedding()
    answer = batch(adapter, texts)["result"]
    assert answer["embeddings"] == [embed(adapter, text)["result"]["embedding"] for text in texts]
    assert (answer["total_texts"], answer["failed_texts"]) == (len(texts), [])


def test_a_text_that_fails_is_reported_by_its_index() -> None:
    """The others are embedded, in order."""
    answer = batch(ReferenceEmbedding(), ["a", "x" * (LIMIT + 1), "b"], truncate=False)
    assert [each["text"] for each in answer["result"]["embeddings"]] == ["a", "b"]
    [failed] = answer["result"]["failed_texts"]
    assert (failed["index"], failed["error"]) == (1, "TextTooLong")
    assert (answer["code"], answer["result"]["total_texts"]) == ("OK", 3)


def test_a_batch_that_fails_is_asked_for_text_by_text() -> None:
    """A text that fails by itself is reported by its index; the order of the others stays."""
    backend = Backend({0: ProviderError("unavailable", 503), 2: ProviderError("content_filtered", 400)})
    answer = batch(ReferenceEmbedding(provider=backend), ["a", "b", "c"])
    assert backend.arrivals == ["embedding.embed_batch", *["embedding.embed"] * 3]
    assert [each["text"] for each in answer["result"]["embeddings"]] == ["a", "c"]
    [failed] = answer["result"]["failed_texts"]
    assert (failed["index"], failed["error"]) == (1, "ContentFiltered")
    assert CANARY not in json.dumps(answer)


def test_a_batch_of_which_nothing_succeeds_fails_as_a_whole() -> None:
    """The provider's trouble is told as such, and the next batch works."""
    backend = Backend(dict.fromkeys(range(3), ProviderError("rate_limited", 429)))
    adapter = ReferenceEmbedding(provider=backend)
    assert batch(adapter, ["a", "b"])["code"] == "RESOURCE_EXHAUSTED"
    assert batch(adapter, ["a", "b"])["ok"]


def test_a_stream_gives_the_embedding_and_then_the_usage() -> None:
    """Two frames, the last one final; a fault between them is the terminal instead."""
    first, last = stream(ReferenceEmbedding())
    assert first["chunk"]["embeddings"] == [embed(ReferenceEmbedding())["result"]["embedding"]]
    assert (first["chunk"]["is_final"], last["chunk"]["is_final"]) == (False, True)
    assert last["chunk"]["usage"]["total_tokens"] == last["chunk"]["usage"]["prompt_tokens"] > 0
    frames = stream(ReferenceEmbedding(provider=Backend({2: ProviderError("network", 502)})))
    assert [frame["code"] for frame in frames] == ["STREAMING", "TRANSIENT_NETWORK"]


def test_the_cache_serves_the_same_request_of_the_same_tenant_only() -> None:
    """Tenant, model and every option belong to the key; batches share the cache with single texts."""
    backend = Backend()
    adapter = ReferenceEmbedding(provider=backend)
    args = {"text": "amber", "model": MODEL}
    for other in ({}, {"model": SMALL}, {"normalize": True}, {"truncate": False}, {"text": "birch"}):
        first, second = (call(adapter, "embed", args | other, tenant="a")["result"] for _ in range(2))
        assert first == second
    call(adapter, "embed", args, tenant="b")
    assert len(backend.calls) == 6
    call(adapter, "embed_batch", {"texts": ["amber", "cedar"], "model": MODEL}, tenant="a")
    assert backend.calls[-1] == ("embedding.embed_batch", {"items": 1})


def test_the_cache_does_not_remember_whether_a_text_was_cut() -> None:
    """That belongs to the request, even where the vector is the same."""
    adapter = ReferenceEmbedding()
    flags = [embed(adapter, "x" * (LIMIT + more))["result"]["truncated"] for more in (1, 0, 1)]
    assert flags == [True, False, True]


def test_what_a_client_does_with_an_answer_does_not_reach_the_cache() -> None:
    """Every answer is a copy."""
    adapter = ReferenceEmbedding()
    expected = list(vector(embed(adapter)))
    vector(embed(adapter)).clear()
    vectors(batch(adapter, ["amber birch"])).clear()
    assert vector(embed(adapter)) == expected


def test_a_replayed_idempotency_key_gets_the_first_answer() -> None:
    """Key, tenant and arguments together are the request; a batch is replayed with its failures."""
    backend = Backend({0: ProviderError("unavailable", 503), 1: ProviderError("content_filtered", 400)})
    adapter = ReferenceEmbedding(provider=backend)
    args = {"texts": ["a", "b"], "model": MODEL}
    first = call(adapter, "embed_batch", args, tenant="a", idempotency_key="k")["result"]
    assert call(adapter, "embed_batch", args, tenant="a", idempotency_key="k")["result"] == first
    assert len(first["failed_texts"]) == 1
    other = call(adapter, "embed_batch", args, tenant="b", idempotency_key="k")["result"]
    assert other["failed_texts"] == []


def test_statistics_count_requests_texts_tokens_and_the_cache() -> None:
    """Reading them changes nothing."""
    adapter = ReferenceEmbedding()
    batch(adapter, ["a", "b c"])
    embed(adapter, "a")
    embed(adapter, 1)
    stream(adapter, "a")
    report = call(adapter, "get_stats")["result"]
    assert report == call(adapter, "get_stats")["result"]
    assert {name: value for name, value in report.items() if not name.endswith("_ms")} == {
        "total_requests": 4,
        "total_texts": 4,
        "total_tokens": 5,
        "cache_hits": 1,
        "cache_misses": 2,
        "error_count": 1,
    }


def test_telemetry_holds_no_content() -> None:
    """Every call is observed once, and neither text, tenant nor an unlisted model becomes a label."""
    sink = Sink()
    adapter = ReferenceEmbedding(metrics=sink)
    for args in ({"text": CANARY, "model": MODEL}, {"text": CANARY, "model": CANARY}):
        call(adapter, "embed", args, tenant=CANARY, idempotency_key=CANARY)
    assert [observed["code"] for observed in sink.observed] == ["OK", "ModelNotAvailable"]
    assert CANARY not in json.dumps([sink.observed, sink.counted])


@pytest.mark.parametrize("feature", sorted(ReferenceEmbedding.features))
def test_features_that_are_switched_off_are_refused(feature: str) -> None:
    """An adapter that does not claim a capability does not offer it, and works all the same."""

    class Plain(ReferenceEmbedding):
        features: Mapping[str, bool] = {**ReferenceEmbedding.features, feature: False}

    assert embed(Plain(), "x" * LIMIT)["ok"]
    for operation in operations_of("embedding"):
        if operation.capability == feature:
            args = {"text": "", "texts": []}
            answer = stream(Plain())[0] if operation.streaming else call(Plain(), operation.name, args)
            assert answer["code"] == "NOT_SUPPORTED"
    if feature == "supports_normalization":
        assert embed(Plain(), normalize=True)["code"] == "NOT_SUPPORTED"
    if feature == "supports_truncation":
        assert embed(Plain(), "x" * (LIMIT + 1))["code"] == "TEXT_TOO_LONG"
