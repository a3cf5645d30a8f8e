"""The embedded reference adapters called directly over their wire: what no conformance test sees of them."""

import asyncio
import json
import math
from collections.abc import Coroutine, Mapping
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import pytest
from tables import read_json_rows

from pytest_corpus.adapter.hooks.metrics import RecordingSink
from pytest_corpus.reference.embedding.adapter import ReferenceEmbedding
from pytest_corpus.reference.foundation import ReferenceAdapter
from pytest_corpus.reference.graph.adapter import ReferenceGraph
from pytest_corpus.reference.llm.adapter import ReferenceLLM
from pytest_corpus.reference.vector.adapter import ReferenceVector

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(asyncio.wait_for(work, 10))


def request(op: str, args: Mapping[str, Any] | None = None, **ctx: Any) -> dict[str, Any]:
    return {"op": op, "ctx": ctx, "args": dict(args or {})}


def call(adapter: ReferenceAdapter, op: str, args: Mapping[str, Any] | None = None, **ctx: Any) -> dict[str, Any]:
    return run(adapter.handle(request(f"{adapter.component}.{op}", args, **ctx)))


def stream(adapter: ReferenceAdapter, op: str, args: Mapping[str, Any], **ctx: Any) -> list[dict[str, Any]]:
    """All frames of a stream."""

    async def frames() -> list[dict[str, Any]]:
        return [frame async for frame in adapter.handle_stream(request(f"{adapter.component}.{op}", args, **ctx))]

    return run(frames())


# LLM

MESSAGES = [{"role": "user", "content": "Say something about rivers"}]


def test_no_depth_of_nesting_is_an_outage() -> None:
    """`attrs` may be of any depth; arguments too deep for this interpreter are a bad request."""
    deep: list[Any] = []
    for _ in range(10_000):
        deep = [deep]
    args = {"messages": MESSAGES, "temperature": 0}
    assert call(ReferenceLLM(), "complete", args, attrs={"x": deep})["ok"]
    assert call(ReferenceLLM(), "complete", {**args, "x": deep})["code"] in ("OK", "BAD_REQUEST")


@pytest.mark.parametrize("fault", [asyncio.CancelledError(), KeyboardInterrupt()], ids=["cancel", "interrupt"])
def test_cancellation_is_not_swallowed(fault: BaseException) -> None:
    """An exception that stops the program goes through, and is observed all the same."""

    class Broken:
        async def reached(self, op: str, **facts: Any) -> None:
            raise fault

    async def interrupted(adapter: ReferenceLLM) -> None:
        with pytest.raises(type(fault)):
            await adapter.handle(request("llm.complete", {"messages": MESSAGES}))

    sink = RecordingSink()
    asyncio.run(interrupted(ReferenceLLM(metrics=sink, provider=Broken())))
    assert len(sink.observations) == 1


# Embedding


def embed(adapter: ReferenceEmbedding, op: str = "embed", **args: Any) -> dict[str, Any]:
    return call(adapter, op, {"model": next(iter(ReferenceEmbedding.models)), **args})


def test_an_over_large_batch_is_told_by_how_much_to_shrink() -> None:
    """The percentage of ERRORS 7 leads to a batch that is accepted."""
    largest = ReferenceEmbedding.max_batch_size
    for size in range(largest + 1, 5 * largest):
        details = embed(ReferenceEmbedding(), "embed_batch", texts=["a"] * size)["details"]
        assert details["max_batch_size"] == largest
        assert 0 < math.ceil(size * (100 - details["suggested_batch_reduction"]) / 100) <= largest


def test_what_a_client_does_with_an_answer_does_not_reach_the_cache() -> None:
    """Every answer is a copy."""
    adapter = ReferenceEmbedding()
    expected = list(embed(adapter, text="amber")["result"]["embedding"]["vector"])
    embed(adapter, text="amber")["result"]["embedding"]["vector"].clear()
    embed(adapter, "embed_batch", texts=["amber"])["result"]["embeddings"][0]["vector"].clear()
    assert embed(adapter, text="amber")["result"]["embedding"]["vector"] == expected


# Vector

HUGE = 1.7e308


def made(adapter: ReferenceVector, vectors: list[dict[str, Any]], metric: str = "cosine") -> None:
    """Make the namespace `space`, of two dimensions, with these vectors."""
    namespace = {"namespace": "space", "dimensions": 2, "distance_metric": metric}
    assert call(adapter, "create_namespace", namespace)["ok"]
    assert call(adapter, "upsert", {"vectors": vectors, "namespace": "space"})["ok"]


def matches(adapter: ReferenceVector, vector: list[float]) -> list[dict[str, Any]]:
    args = {"vector": vector, "top_k": 6, "namespace": "space"}
    return list(call(adapter, "query", args)["result"]["matches"])


@pytest.mark.parametrize("metric", ["cosine", "euclidean", "dot"])
def test_no_magnitude_makes_a_number_that_json_lacks(metric: str) -> None:
    """Zero, subnormal and huge vectors have finite scores, and no distance below zero."""
    vectors: list[list[float]] = [[0, 0], [5e-324, 0], [HUGE, HUGE], [-HUGE, HUGE], [HUGE, -HUGE], [2**63 - 1, 1]]
    adapter = ReferenceVector()
    made(adapter, [{"id": str(index), "vector": vector} for index, vector in enumerate(vectors)], metric)
    for vector in vectors:
        for match in matches(adapter, vector):
            assert math.isfinite(match["score"])
            assert 0 <= match["distance"] < math.inf


def test_what_is_stored_is_not_what_the_caller_holds() -> None:
    """Neither the caller's request nor an answer is a way to the stored metadata."""
    for plain in (True, False):

        class Uncached(ReferenceVector):
            features: ClassVar[dict[str, bool]] = {**ReferenceVector.features, "supports_caching": plain}

        adapter = Uncached()
        item: dict[str, Any] = {"id": "x", "vector": [1, 1], "metadata": {"tags": [1]}}
        made(adapter, [item])
        for holder in (item, matches(adapter, [1, 1])[0]["vector"]):
            holder["metadata"]["tags"].append(2)
            holder["vector"].append(2)
        [match] = matches(adapter, [1, 1])
        assert (match["vector"]["vector"], match["vector"]["metadata"]) == ([1, 1], {"tags": [1]})


# Graph

PEOPLE: list[dict[str, Any]] = [
    {"id": "ann", "labels": ["Person"], "properties": {"name": "Ann", "born": 1980}},
    {"id": "bob", "labels": ["Person", "Author"], "properties": {"name": "Bob", "born": 1990}},
    {"id": "cid", "properties": {"name": "Cid", "tags": ["x", {"y": None}]}},
]
KNOWS: list[dict[str, Any]] = [
    {"id": "ab", "src": "ann", "dst": "bob", "label": "KNOWS", "properties": {"since": 2001}},
    {"id": "bc", "src": "bob", "dst": "cid", "label": "LIKES"},
]


def ask(adapter: ReferenceGraph, text: str, dialect: str = "cypher", **params: Any) -> Any:
    """The records of a query, or the code of its refusal."""
    answer = call(adapter, "query", {"text": text, "dialect": dialect, "params": params})
    return answer["result"]["records"] if answer["ok"] else answer["code"]


@pytest.fixture
def graph() -> ReferenceGraph:
    """Ann knows Bob, who likes Cid."""
    adapter = ReferenceGraph()
    call(adapter, "upsert_nodes", {"nodes": PEOPLE})
    call(adapter, "upsert_edges", {"edges": KNOWS})
    return adapter


@pytest.mark.parametrize(
    ("dialect", "text", "records"), read_json_rows(Path(__file__).with_name("reference_dialects.txt"))
)
def test_each_dialect_answers(graph: ReferenceGraph, dialect: str, text: str, records: list[Any]) -> None:
    """Patterns, conditions, order and counts, in unary and in streamed answers."""
    frames = stream(graph, "stream_query", {"text": text, "dialect": dialect, "params": {"name": "Bob"}})
    assert ask(graph, text, dialect, name="Bob") == records
    assert [record for frame in frames for record in frame["chunk"]["records"]] == records


@pytest.mark.parametrize("value", ["Ann' OR '1'='1", "'}) RETURN 1 //", "$name", "\\"])
def test_a_parameter_is_never_text(graph: ReferenceGraph, value: str) -> None:
    """The value of a parameter is compared and not parsed."""
    assert ask(graph, "MATCH (n {name: $name}) RETURN n.id", name=value) == []
    assert ask(graph, "g.V().has('name', name).id()", "gremlin", name=value) == []


@pytest.mark.parametrize(("dialect", "text", "code"), [
    ("cypher", "MATCH (n RETURN n", "QUERY_PARSE_ERROR"),
    ("cypher", "RETURN " + "(" * 8000, "QUERY_PARSE_ERROR"),
    ("cypher", "MATCH (n {name: $missing}) RETURN n", "QUERY_PARSE_ERROR"),
    ("cypher", "MATCH (n) RETURN n.name + 1", "QUERY_PARSE_ERROR"),
    ("cypher", "CREATE (n) RETURN n", "NOT_SUPPORTED"),
    ("gremlin", "g.V(.", "QUERY_PARSE_ERROR"),
    ("gremlin", "g.V().drop()", "NOT_SUPPORTED"),
    ("sparql", "SELECT * {}", "NOT_SUPPORTED"),
    ("cypher", "x" * 9000, "BAD_REQUEST"),
])  # fmt: skip
def test_what_cannot_be_run_is_refused(graph: ReferenceGraph, dialect: str, text: str, code: str) -> None:
    """By class, and with nothing of the text in the answer."""
    assert ask(graph, text, dialect) == code
    [frame] = stream(graph, "stream_query", {"text": text, "dialect": dialect})
    assert frame["code"] == code
    assert text not in json.dumps(frame)


def test_what_was_written_is_read_and_belongs_to_nobody_else(graph: ReferenceGraph) -> None:
    """Neither the request nor an answer shares anything with the graph."""
    properties = {"list": [1]}
    call(graph, "upsert_nodes", {"nodes": [{"id": "dan", "properties": properties}]})
    properties["list"].append(2)
    for _ in range(2):
        [record] = ask(graph, "MATCH (n {id: 'dan'}) RETURN n, n.list AS list")
        assert record["list"] == record["n"]["properties"]["list"] == [1]
        record["list"].append(3)
