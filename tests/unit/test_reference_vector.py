"""The embedded reference adapter for vectors, called directly over its wire."""

import asyncio
import math
from typing import Any, ClassVar

import pytest
from reference_calls import Backend, call, run

from pytest_corpus.reference.vector.adapter import ReferenceVector

HUGE = 1.7e308
NORTH = {"id": "north", "vector": [0, 1], "metadata": {"kind": "pole", "height": 2}}
EAST = {"id": "east", "vector": [3, 0], "metadata": {"kind": "point", "height": 5, "tags": [1]}}
BOTH = [NORTH, EAST]


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
