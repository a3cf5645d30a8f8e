"""The embedded reference adapter for vectors, called directly over its wire."""

from __future__ import annotations

import asyncio
import json
import math
import time
from typing import Any, ClassVar

import pytest
from test_reference_llm import CANARY, FAULTY, Backend, ProviderError, Sink, run, soon

import pytest_corpus.reference
from pytest_corpus.reference.vector.adapter import ReferenceVector
from pytest_corpus.spec.errors import is_a

HUGE = 1.7e308
NORTH = {"id": "north", "vector": [0, 1], "metadata": {"kind": "pole", "height": 2}}
EAST = {"id": "east", "vector": [3, 0], "metadata": {"kind": "point", "height": 5, "tags": [1]}}
BOTH = [NORTH, EAST]
LIMITS = ReferenceVector


def call(adapter: ReferenceVector, op: str, args: dict[str, Any] | None = None, **ctx: Any) -> dict[str, Any]:
    return run(adapter.handle({"op": f"vector.{op}", "ctx": ctx, "args": args or {}}))


def made(adapter: ReferenceVector, vectors: list[dict[str, Any]], metric: str = "cosine", **ctx: Any) -> None:
    """Make the namespace `space`, of two dimensions, with these vectors."""
    namespace = {"namespace": "space", "dimensions": 2, "distance_metric": metric}
    assert call(adapter, "create_namespace", namespace, **ctx)["ok"]
    assert upsert(adapter, *vectors, **ctx)["ok"]


def upsert(adapter: ReferenceVector, *vectors: dict[str, Any], **ctx: Any) -> dict[str, Any]:
    return call(adapter, "upsert", {"vectors": list(vectors), "namespace": "space"}, **ctx)


def query(adapter: ReferenceVector, ctx: dict[str, Any] | None = None, **args: Any) -> dict[str, Any]:
    return call(adapter, "query", {"vector": [1, 1], "top_k": 5, "namespace": "space", **args}, **ctx or {})


def found(adapter: ReferenceVector, ctx: dict[str, Any] | None = None, **args: Any) -> list[str]:
    """The ids that a query finds, in their order."""
    return [match["vector"]["id"] for match in query(adapter, ctx, **args)["result"]["matches"]]


def test_the_factory_makes_the_adapter() -> None:
    """`pytest_corpus.reference:vector` is a factory that takes both hooks."""
    sink, backend = Sink(), Backend()
    adapter = pytest_corpus.reference.vector(metrics=sink, provider=backend)
    assert (adapter.metrics, adapter.provider) == (sink, backend)


def test_what_is_written_is_read_overwritten_and_deleted() -> None:
    """An upsert replaces by id, a delete removes, and what is not there is deleted all the same."""
    adapter = ReferenceVector()
    made(adapter, BOTH)
    upsert(adapter, {"id": "north", "vector": [0, 2]})
    [match] = query(adapter, vector=[0, 1], top_k=1)["result"]["matches"]
    assert match["vector"] == {"id": "north", "namespace": "space", "vector": [0, 2], "metadata": {}}
    gone = call(adapter, "delete", {"ids": ["north", "nobody"], "namespace": "space"})
    assert gone["result"] == {"processed_count": 1, "failed_count": 0, "failures": []}
    assert found(adapter) == ["east"]


@pytest.mark.parametrize(
    ("metric", "order", "scores", "distances"),
    [
        (
            "cosine",
            ["north", "east"],
            [2 / math.sqrt(5), 1 / math.sqrt(5)],
            [1 - 2 / math.sqrt(5), 1 - 1 / math.sqrt(5)],
        ),
        (
            "euclidean",
            ["north", "east"],
            [1 / (1 + math.sqrt(2)), 1 / (1 + math.sqrt(8))],
            [math.sqrt(2), math.sqrt(8)],
        ),
        ("dotproduct", ["east", "north"], [3, 2], [1 / 4, 1 / 3]),
    ],
)
def test_matches_come_best_first(metric: str, order: list[str], scores: list[float], distances: list[float]) -> None:
    """Each metric ranks by its own numbers."""
    adapter = ReferenceVector()
    made(adapter, BOTH, metric)
    result = query(adapter, vector=[1, 2])["result"]
    assert [match["vector"]["id"] for match in result["matches"]] == order
    assert [match["score"] for match in result["matches"]] == pytest.approx(scores)
    assert [match["distance"] for match in result["matches"]] == pytest.approx(distances)


@pytest.mark.parametrize("metric", ["cosine", "euclidean", "dot"])
def test_no_magnitude_makes_a_number_that_json_lacks(metric: str) -> None:
    """Zero, subnormal and huge vectors have finite scores, and no distance below zero."""
    vectors = [[0, 0], [5e-324, 0], [HUGE, HUGE], [-HUGE, HUGE], [HUGE, -HUGE], [2**63 - 1, 1]]
    adapter = ReferenceVector()
    made(adapter, [{"id": str(index), "vector": vector} for index, vector in enumerate(vectors)], metric)
    for vector in vectors:
        for match in query(adapter, vector=vector, top_k=6)["result"]["matches"]:
            assert math.isfinite(match["score"])
            assert 0 <= match["distance"] < math.inf


@pytest.mark.parametrize(
    ("condition", "ids"),
    [
        ({}, ["north", "east"]),
        ({"kind": "pole"}, ["north"]),
        ({"kind": "pole", "height": 5}, []),
        ({"height": 2.0}, ["north"]),
        ({"height": True}, []),
        ({"tags": None}, []),
        ({"height": {"gt": 2}}, ["east"]),
        ({"height": {"$gte": 2, "$lt": 5}}, ["north"]),
        ({"kind": {"lte": 5}}, []),
        ({"kind": {"$in": ["point", "line"]}}, ["east"]),
    ],
)
def test_a_filter_is_applied_before_the_cut(condition: dict[str, Any], ids: list[str]) -> None:
    """The best of what passes is found, however far it lies, and `total_matches` counts what passes."""
    adapter = ReferenceVector()
    made(adapter, BOTH)
    result = query(adapter, vector=[0, 1], top_k=1, filter=condition)["result"]
    assert [match["vector"]["id"] for match in result["matches"]] == ids[:1]
    assert result["total_matches"] == len(ids)


@pytest.mark.parametrize(
    "condition",
    [{"kind": ["pole"]}, {"kind": {}}, {"kind": {"ne": 1}}, {"height": {"gt": "x"}}, {"kind": {"in": 1}}, {"a b": 1}],
)
def test_a_filter_that_cannot_be_served_is_refused(condition: dict[str, Any]) -> None:
    """Neither a query nor a delete takes it for no filter."""
    adapter = ReferenceVector()
    made(adapter, BOTH)
    args = {"filter": condition, "namespace": "space"}
    assert query(adapter, filter=condition)["code"] == "FILTER_SYNTAX_ERROR"
    assert call(adapter, "delete", args)["code"] == "FILTER_SYNTAX_ERROR"
    assert found(adapter) == ["east", "north"]


def test_a_delete_by_filter_removes_what_passes() -> None:
    """`ids` and `filter` together remove what both name; neither removes nothing."""
    adapter = ReferenceVector()
    made(adapter, BOTH)
    both = {"ids": ["north"], "filter": {"kind": "point"}, "namespace": "space"}
    assert call(adapter, "delete", both)["result"]["processed_count"] == 0
    assert call(adapter, "delete", {**both, "ids": None})["result"]["processed_count"] == 1
    assert call(adapter, "delete", {"filter": {}, "namespace": "space"})["code"] == "BAD_REQUEST"
    assert found(adapter) == ["north"]


def test_a_batch_of_queries_answers_in_their_order() -> None:
    """Each result is what the query alone would get."""
    adapter = ReferenceVector()
    made(adapter, BOTH)
    queries = [{"vector": [0, 1], "top_k": 1}, {"vector": [1, 0], "top_k": 2, "namespace": "space"}]
    results = call(adapter, "batch_query", {"queries": queries, "namespace": "space"})["result"]["results"]
    assert results == [query(adapter, **each)["result"] for each in queries]


@pytest.mark.parametrize(
    ("op", "args", "field"),
    [
        ("query", {"top_k": 1}, "args.vector"),
        ("query", {"vector": [], "top_k": 1}, "args.vector"),
        ("query", {"vector": [1, "x"], "top_k": 1}, "args.vector[1]"),
        ("query", {"vector": [1, math.nan], "top_k": 1}, "args.vector"),
        ("query", {"vector": [1], "top_k": 0}, "args.top_k"),
        ("query", {"vector": [1], "top_k": LIMITS.max_top_k + 1}, "args.top_k"),
        ("query", {"vector": [1], "top_k": 1, "include_vectors": "no"}, "args.include_vectors"),
        ("query", {"vector": [1], "top_k": 1, "filter": dict.fromkeys("abcde", 1)}, "args.filter"),
        ("batch_query", {"queries": [{"vector": [1], "top_k": 1, "namespace": "x"}]}, "args.queries[0].namespace"),
        ("upsert", {"vectors": [{"vector": [1]}]}, "args.vectors[0].id"),
        ("upsert", {"vectors": [{"id": "", "vector": [1]}]}, "args.vectors[0].id"),
        ("upsert", {"vectors": [{"id": "a", "vector": [1], "namespace": "x"}]}, "args.vectors[0].namespace"),
        ("upsert", {"vectors": [{"id": "a", "vector": [1], "metadata": {CANARY: {}}}]}, "args.vectors[0].metadata"),
        ("upsert", {"vectors": [{"id": "a", "vector": [1]}] * (LIMITS.max_batch_size + 1)}, "args.vectors"),
        ("delete", {}, "args.ids"),
        ("delete", {"ids": [1]}, "args.ids[0]"),
        ("create_namespace", {"namespace": ""}, "args.namespace"),
        ("create_namespace", {"namespace": "x", "dimensions": LIMITS.max_dimensions + 1}, "args.dimensions"),
        ("delete_namespace", {}, "args.namespace"),
    ],
)
def test_bad_arguments_are_refused_by_field_before_the_provider_is_reached(
    op: str, args: dict[str, Any], field: str
) -> None:
    """A validation failure is not retryable, names the field and costs no backend work."""
    backend = Backend()
    answer = call(ReferenceVector(provider=backend), op, args)
    assert answer["code"] == "BAD_REQUEST"
    assert answer["details"]["validation_errors"][0]["field"] == field
    assert CANARY not in json.dumps(answer)
    assert backend.calls == []


def test_what_is_beyond_a_limit_is_told_the_limit() -> None:
    """An over-large batch also learns by how much to shrink (ERRORS 7)."""
    adapter = ReferenceVector()
    many = [{"id": str(index), "vector": [1]} for index in range(LIMITS.max_batch_size * 2)]
    details = call(adapter, "upsert", {"vectors": many})["details"]
    assert (details["max_batch_size"], details["suggested_batch_reduction"]) == (LIMITS.max_batch_size, 50)
    assert call(adapter, "upsert", {"vectors": many[: LIMITS.max_batch_size]})["ok"]
    assert query(adapter, top_k=LIMITS.max_top_k + 1)["details"]["max_top_k"] == LIMITS.max_top_k


def test_a_wrong_dimension_is_refused_on_every_path() -> None:
    """The refusal tells both numbers; an upsert is refused whole, also into a namespace of no dimensions yet."""
    adapter = ReferenceVector()
    made(adapter, BOTH)
    short, long = {"id": "new", "vector": [1, 1]}, {"id": "long", "vector": [1, 1, 1]}
    queries = {"queries": [{"vector": [1], "top_k": 1}], "namespace": "space"}
    for answer in (query(adapter, vector=[1]), call(adapter, "batch_query", queries), upsert(adapter, short, long)):
        assert answer["code"] == "DIMENSION_MISMATCH"
        assert answer["details"]["expected"] == 2
    assert call(adapter, "upsert", {"vectors": [short, long]})["code"] == "DIMENSION_MISMATCH"
    assert found(adapter) == ["east", "north"]


def test_a_batch_may_be_applied_item_by_item() -> None:
    """What fails is told by index and id, what does not is stored."""

    class Lenient(ReferenceVector):
        item_by_item = True

    adapter = Lenient()
    made(adapter, BOTH)
    result = upsert(adapter, {"id": "x", "vector": [1]}, {"id": "y", "vector": [1, 1]})["result"]
    assert (result["processed_count"], result["failed_count"]) == (1, 1)
    [failure] = result["failures"]
    assert (failure["index"], failure["id"], failure["error"]) == (0, "x", "DimensionMismatch")
    assert found(adapter, top_k=1) == ["y"]


def test_namespaces_are_apart_and_vanish_with_their_vectors() -> None:
    """A deleted namespace is unknown, and empty when it is made again; making it twice changes nothing."""
    adapter = ReferenceVector()
    made(adapter, BOTH)
    made(adapter, [])
    assert found(adapter) == ["east", "north"]
    other = {"namespace": "space", "dimensions": 3}
    assert call(adapter, "create_namespace", other)["code"] == "BAD_REQUEST"
    assert call(adapter, "query", {"vector": [1, 1], "top_k": 5})["result"]["matches"] == []
    for _ in range(2):
        assert call(adapter, "delete_namespace", {"namespace": "space"})["ok"]
    assert query(adapter)["code"] == "NAMESPACE_NOT_FOUND"
    made(adapter, [])
    assert found(adapter) == []


def test_tenants_know_nothing_of_each_other() -> None:
    """Namespaces, vectors and health are one tenant's own, and so are cached answers."""
    adapter = ReferenceVector()
    made(adapter, BOTH, tenant="a")
    made(adapter, [], tenant="b")
    assert found(adapter, {"tenant": "a"}) == ["east", "north"]
    assert found(adapter, {"tenant": "b"}) == []
    assert call(adapter, "delete_namespace", {"namespace": "space"}, tenant="b")["ok"]
    assert found(adapter, {"tenant": "a"}) == ["east", "north"]
    assert set(call(adapter, "health")["result"]["namespaces"]) == {"default"}


def test_an_answer_is_cached_until_the_next_write() -> None:
    """Upsert, delete and the life of the namespace make a cached answer unreachable."""
    backend = Backend()
    adapter = ReferenceVector(provider=backend)
    made(adapter, BOTH)
    backend.calls.clear()
    for _ in range(2):
        assert found(adapter) == ["east", "north"]
    assert len(backend.calls) == 1
    call(adapter, "delete", {"ids": ["east"], "namespace": "space"})
    assert found(adapter) == ["north"]
    call(adapter, "delete_namespace", {"namespace": "space"})
    made(adapter, [])
    assert found(adapter) == []
    upsert(adapter, EAST)
    assert found(adapter) == ["east"]


def test_a_replay_is_answered_as_the_first_time_and_undoes_nothing() -> None:
    """One tenant, operation, arguments and key apply once; anything else is another request."""
    adapter = ReferenceVector()
    made(adapter, BOTH)
    key = {"idempotency_key": "k"}
    first = upsert(adapter, NORTH, **key)["result"]
    call(adapter, "delete", {"ids": ["north"], "namespace": "space"})
    assert upsert(adapter, NORTH, **key)["result"] == first
    assert found(adapter) == ["east"]
    upsert(adapter, {**NORTH, "vector": [0, 3]}, **key)
    assert found(adapter) == ["east", "north"]


def test_a_replay_at_the_same_time_waits_for_the_first_call() -> None:
    """A client that retries too early causes no work either."""

    async def both(adapter: ReferenceVector) -> list[dict[str, Any]]:
        envelope = {"op": "vector.upsert", "ctx": {"idempotency_key": "k"}, "args": {"vectors": [NORTH]}}
        return await asyncio.gather(adapter.handle(envelope), adapter.handle(envelope))

    class Slow(Backend):
        async def reached(self, op: str, **facts: Any) -> None:
            await super().reached(op, **facts)
            await asyncio.sleep(0.01)

    backend = Slow()
    first, second = run(both(ReferenceVector(provider=backend)))
    assert first["result"] == second["result"]
    assert len(backend.calls) == 1


def test_what_is_stored_is_not_what_the_caller_holds() -> None:
    """Neither the caller's request nor an answer is a way to the stored metadata."""
    for plain in (True, False):

        class Uncached(ReferenceVector):
            features: ClassVar[dict[str, bool]] = {**ReferenceVector.features, "supports_caching": plain}

        adapter, item = Uncached(), {"id": "x", "vector": [1, 1], "metadata": {"tags": [1]}}
        made(adapter, [item])
        for holder in (item, query(adapter)["result"]["matches"][0]["vector"]):
            holder["metadata"]["tags"].append(2)
            holder["vector"].append(2)
        [match] = query(adapter, top_k=1)["result"]["matches"]
        assert (match["vector"]["vector"], match["vector"]["metadata"]) == ([1, 1], {"tags": [1]})


@pytest.mark.parametrize("fault", FAULTY, ids=lambda fault: fault.kind)
def test_provider_faults_are_mapped_and_apply_nothing(fault: Any) -> None:
    """Every kind of fault is its canonical class, keeps its text to itself and leaves no write behind."""
    backend = Backend()
    adapter = ReferenceVector(provider=backend)
    made(adapter, [EAST])
    backend.fault = ProviderError(fault.kind, fault.http_status, retry_after_ms=1200)
    for answer in (query(adapter), upsert(adapter, NORTH, idempotency_key="k")):
        assert is_a(answer["error"], fault.canonical)
        assert CANARY not in json.dumps(answer)
    backend.fault = None
    assert found(adapter) == ["east"]
    upsert(adapter, NORTH, idempotency_key="k")
    assert found(adapter) == ["east", "north"]


@pytest.mark.parametrize("op", ["query", "batch_query", "upsert", "delete", "create_namespace", "health"])
def test_deadlines_bound_every_operation(op: str) -> None:
    """A spent budget costs no backend work, and a hanging provider is left when the budget runs out."""
    backend = Backend()
    adapter = ReferenceVector(provider=backend)
    made(adapter, BOTH)
    backend.calls.clear()
    backend.hang = True
    args = {"vector": [1, 1], "top_k": 1, "queries": [], "vectors": [EAST], "ids": ["east"]}
    args |= {"namespace": "space", "dimensions": 2}
    assert call(adapter, op, args, deadline_ms=soon(-1000))["code"] == "DEADLINE_EXCEEDED"
    assert backend.calls == []
    started = time.monotonic()
    assert call(adapter, op, args, deadline_ms=soon(50))["code"] == "DEADLINE_EXCEEDED"
    assert time.monotonic() - started < 10


def test_every_call_is_observed_once_without_its_content() -> None:
    """One observation a call, with the outcome's class and a hashed tenant."""
    sink = Sink()
    adapter = ReferenceVector(metrics=sink)
    call(adapter, "upsert", {"vectors": [{"id": "x", "vector": [0.123456789], "metadata": {"m": CANARY}}]}, tenant="t")
    call(adapter, "query", {"vector": [0.123456789], "top_k": 1, "filter": {"m": CANARY}}, tenant="t")
    call(adapter, "query", {"vector": [1, 1], "top_k": 1}, tenant="t")
    assert [each["code"] for each in sink.observed] == ["OK", "OK", "DimensionMismatch"]
    assert len({each["extra"]["tenant_hash"] for each in sink.observed}) == 1
    assert not {CANARY, "0.123456789"} & set(json.dumps([sink.observed, sink.counted]).replace('"', " ").split())


def test_features_that_are_switched_off_are_refused() -> None:
    """An adapter that does not claim a capability does not offer it."""

    class Plain(ReferenceVector):
        features: ClassVar[dict[str, bool]] = dict.fromkeys(ReferenceVector.features, False)

    adapter = Plain()
    args = {"queries": [], "namespace": "space", "dimensions": 2, "vector": [1], "top_k": 1, "filter": {"a": 1}}
    for op in ("create_namespace", "delete_namespace", "batch_query"):
        assert call(adapter, op, args)["code"] == "NOT_SUPPORTED"
    assert call(adapter, "query", {**args, "namespace": "default"})["code"] == "NOT_SUPPORTED"
