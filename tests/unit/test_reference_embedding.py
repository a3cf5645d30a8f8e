"""The embedded reference adapter for embeddings, called directly over its wire."""

import math
from typing import Any

import pytest
from reference_calls import Backend, call, stream

from pytest_corpus.reference.embedding.adapter import ReferenceEmbedding
from pytest_corpus.schema_registry import assert_valid
from pytest_corpus.spec.operations import operations_of
from pytest_corpus.spec.schemas import EDITIONS

MODEL, SMALL = ReferenceEmbedding.models
LIMIT = ReferenceEmbedding.max_text_length
LARGEST = ReferenceEmbedding.max_batch_size


def embed(adapter: ReferenceEmbedding, text: Any = "amber birch", **args: Any) -> dict[str, Any]:
    return call(adapter, "embed", {"text": text, "model": MODEL, **args})


def batch(adapter: ReferenceEmbedding, texts: Any, **args: Any) -> dict[str, Any]:
    return call(adapter, "embed_batch", {"texts": texts, "model": MODEL, **args})


def vector(answer: dict[str, Any]) -> list[float]:
    values: list[float] = answer["result"]["embedding"]["vector"]
    return values


def vectors(answer: dict[str, Any]) -> list[list[float]]:
    return [each["vector"] for each in answer["result"]["embeddings"]]


@pytest.mark.parametrize("edition", EDITIONS)
def test_answers_are_valid_under_both_editions(edition: str) -> None:
    """The adapter's answers need nothing of the younger edition."""
    texts = ["amber", "", "x" * (LIMIT + 1)]
    args = {"text": "amber", "texts": texts, "model": MODEL, "truncate": False}
    for operation in operations_of("embedding", streaming=False):
        answer = call(ReferenceEmbedding(), operation.name, args)
        assert_valid("embedding.envelope.success", answer, edition)
        if operation.payload:
            assert_valid(operation.payload, answer["result"], edition)
    assert_valid("embedding.envelope.error", embed(ReferenceEmbedding(), 1), edition)


def test_an_over_large_batch_is_told_by_how_much_to_shrink() -> None:
    """The percentage of ERRORS 7 leads to a batch that is accepted."""
    for size in range(LARGEST + 1, 5 * LARGEST):
        details = batch(ReferenceEmbedding(), ["a"] * size)["details"]
        assert details["max_batch_size"] == LARGEST
        assert 0 < math.ceil(size * (100 - details["suggested_batch_reduction"]) / 100) <= LARGEST


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


def test_what_a_client_does_with_an_answer_does_not_reach_the_cache() -> None:
    """Every answer is a copy."""
    adapter = ReferenceEmbedding()
    expected = list(vector(embed(adapter)))
    vector(embed(adapter)).clear()
    vectors(batch(adapter, ["amber birch"])).clear()
    assert vector(embed(adapter)) == expected


def test_statistics_count_requests_texts_tokens_and_the_cache() -> None:
    """Reading them changes nothing."""
    adapter = ReferenceEmbedding()
    batch(adapter, ["a", "b c"])
    embed(adapter, "a")
    embed(adapter, 1)
    stream(adapter, "stream_embed", {"text": "a", "model": MODEL})
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
