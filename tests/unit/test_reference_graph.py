"""The embedded reference adapter for graphs, called directly over its wire."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Mapping
from typing import Any

import pytest

import pytest_corpus.reference
from pytest_corpus.reference.graph.adapter import ReferenceGraph

CANARY = "canary-7f3a9c51e2"
PEOPLE: list[dict[str, Any]] = [
    {"id": "ann", "labels": ["Person"], "properties": {"name": "Ann", "born": 1980}},
    {"id": "bob", "labels": ["Person", "Author"], "properties": {"name": "Bob", "born": 1990}},
    {"id": "cid", "properties": {"name": "Cid", "tags": ["x", {"y": None}]}},
]
KNOWS: list[dict[str, Any]] = [
    {"id": "ab", "src": "ann", "dst": "bob", "label": "KNOWS", "properties": {"since": 2001}},
    {"id": "bc", "src": "bob", "dst": "cid", "label": "LIKES"},
]


class Backend:
    """A provider that fails where it is told to."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.fault: Exception | None = None

    async def reached(self, op: str, **facts: Any) -> None:
        self.calls.append((op, facts))
        if self.fault is not None:
            raise self.fault


def request(op: str, args: Mapping[str, Any], ctx: Mapping[str, Any]) -> dict[str, Any]:
    return {"op": f"graph.{op}", "ctx": dict(ctx), "args": dict(args)}


def call(adapter: ReferenceGraph, op: str, args: Mapping[str, Any] | None = None, **ctx: Any) -> dict[str, Any]:
    return asyncio.run(adapter.handle(request(op, args or {}, ctx)))


def stream(adapter: ReferenceGraph, **args: Any) -> list[dict[str, Any]]:
    async def frames() -> list[dict[str, Any]]:
        return [frame async for frame in adapter.handle_stream(request("stream_query", args, {}))]

    return asyncio.run(frames())


def ask(adapter: ReferenceGraph, text: str, dialect: str = "cypher", **params: Any) -> Any:
    """The records of a query, or the code of its refusal."""
    answer = call(adapter, "query", {"text": text, "dialect": dialect, "params": params})
    return answer["result"]["records"] if answer["ok"] else answer["code"]


def people(adapter: ReferenceGraph) -> list[str]:
    return [node["id"] for node in call(adapter, "bulk_vertices")["result"]["nodes"]]


@pytest.fixture
def graph() -> ReferenceGraph:
    """Ann knows Bob, who likes Cid."""
    adapter = pytest_corpus.reference.graph()
    call(adapter, "upsert_nodes", {"nodes": PEOPLE})
    call(adapter, "upsert_edges", {"edges": KNOWS})
    return adapter


@pytest.mark.parametrize(
    ("dialect", "text", "records"),
    [
        ("cypher", "MATCH (n:Person {name: $name}) RETURN n.born AS born", [{"born": 1990}]),
        (
            "opencypher",
            "MATCH (n) WHERE n.name = $name OR n.born < 1985 RETURN id(n)",
            [{"id(n)": "ann"}, {"id(n)": "bob"}],
        ),
        ("gql", "MATCH (a)-[e:KNOWS]->(b) RETURN e.since AS since, type(e) AS t", [{"since": 2001, "t": "KNOWS"}]),
        ("cypher", "MATCH (a)<-[]-(b)<-[]-(c) RETURN a.id, c.id", [{"a.id": "cid", "c.id": "ann"}]),
        ("cypher", "MATCH (n:Person) RETURN n.id AS id ORDER BY n.born DESC LIMIT 1", [{"id": "bob"}]),
        ("cypher", "MATCH (n) RETURN count(*) AS all, count(n.born) AS born", [{"all": 3, "born": 2}]),
        ("cypher", "UNWIND range(1, 3) AS x RETURN x + 1 AS y SKIP 2", [{"y": 4}]),
        ("cypher", "MATCH (n {name: 'Nobody'}) RETURN n", []),
        ("gremlin", "g.V().hasLabel('Person').has('name', name).values('born')", [{"value": 1990}]),
        ("gremlin", "g.V('ann').out('KNOWS').out().project('who').by('name')", [{"who": "Cid"}]),
        ("gremlin", "g.V().order().by('born', desc).limit(2).id()", [{"value": "cid"}, {"value": "bob"}]),
        ("gremlin", "g.E().hasLabel('LIKES').inV().count()", [{"value": 1}]),
    ],
)
def test_each_dialect_answers(graph: ReferenceGraph, dialect: str, text: str, records: list[Any]) -> None:
    """Patterns, conditions, order and counts, in unary and in streamed answers."""
    frames = stream(graph, text=text, dialect=dialect, params={"name": "Bob"})
    assert ask(graph, text, dialect, name="Bob") == records
    assert [record for frame in frames for record in frame["chunk"]["records"]] == records


@pytest.mark.parametrize("value", ["Ann' OR '1'='1", "'}) RETURN 1 //", "$name", "\\"])
def test_a_parameter_is_never_text(graph: ReferenceGraph, value: str) -> None:
    """Whatever a parameter holds is compared and not read."""
    assert ask(graph, "MATCH (n {name: $name}) RETURN n.id", name=value) == []
    assert ask(graph, "g.V().has('name', name).id()", "gremlin", name=value) == []


@pytest.mark.parametrize(
    ("dialect", "text", "code"),
    [
        ("cypher", "MATCH (n RETURN n", "QUERY_PARSE_ERROR"),
        ("cypher", "RETURN " + "(" * 8000, "QUERY_PARSE_ERROR"),
        ("cypher", "MATCH (n {name: $missing}) RETURN n", "QUERY_PARSE_ERROR"),
        ("cypher", "MATCH (n) RETURN n.name + 1", "QUERY_PARSE_ERROR"),
        ("cypher", "CREATE (n) RETURN n", "NOT_SUPPORTED"),
        ("gremlin", "g.V(.", "QUERY_PARSE_ERROR"),
        ("gremlin", "g.V().drop()", "NOT_SUPPORTED"),
        ("sparql", "SELECT * {}", "NOT_SUPPORTED"),
        ("cypher", "x" * 9000, "BAD_REQUEST"),
    ],
)
def test_what_cannot_be_run_is_refused(graph: ReferenceGraph, dialect: str, text: str, code: str) -> None:
    """By class, and with nothing of the text in the answer."""
    assert ask(graph, text, dialect) == code
    [frame] = stream(graph, text=text, dialect=dialect)
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


def test_an_item_that_cannot_be_stored_does_not_hinder_the_others(graph: ReferenceGraph) -> None:
    """It is reported with its index."""
    edges = [{"id": "x", "src": "ann", "dst": "nobody", "label": "L"}, {**KNOWS[0], "id": "y"}]
    result = call(graph, "upsert_edges", {"edges": edges})["result"]
    assert (result["processed_count"], result["failed_count"]) == (1, 1)
    assert result["failures"][0] | {"detail": ""} == {"index": 0, "id": "x", "error": "VertexNotFound", "detail": ""}


@pytest.mark.parametrize(
    ("op", "args", "field"),
    [
        ("upsert_nodes", {"nodes": [{"id": 1}]}, "args.nodes[0].id"),
        ("upsert_nodes", {"nodes": [{"id": "x", "properties": {CANARY: [math.nan]}}]}, "args.nodes"),
        ("upsert_nodes", {"nodes": [{"id": "x", "namespace": "a"}], "namespace": "b"}, "args.nodes[0].namespace"),
        ("upsert_edges", {"edges": [{"id": "e", "src": "ann", "dst": "bob"}]}, "args.edges[0].label"),
        ("delete_nodes", {}, "args.ids"),
        ("delete_edges", {"filter": {CANARY: {"$gt": 1}}}, "args.filter"),
        ("bulk_vertices", {"limit": 0}, "args.limit"),
        ("bulk_vertices", {"cursor": CANARY}, "args.cursor"),
        ("traversal", {"start_nodes": []}, "args.start_nodes"),
        ("traversal", {"start_nodes": ["ann"], "max_depth": 7}, "args.max_depth"),
        ("traversal", {"start_nodes": ["ann"], "direction": "UP"}, "args.direction"),
        ("batch", {"ops": [{"op": "query"}] * 25}, "args.ops[0].args"),
        ("query", {"text": "RETURN 1", "params": []}, "args.params"),
        ("query", {"text": "RETURN 1", "timeout_ms": -1}, "args.timeout_ms"),
        ("query", {"text": "RETURN 1", "namespace": "none"}, "args.namespace"),
    ],
)
def test_bad_arguments_are_refused_by_field(graph: ReferenceGraph, op: str, args: dict[str, Any], field: str) -> None:
    """The refusal names the field and nothing that the client wrote."""
    answer = call(graph, op, args)
    assert answer["details"]["validation_errors"][0]["field"] == field
    assert answer["retry_after_ms"] is None
    assert CANARY not in json.dumps(answer)


def test_a_node_takes_its_edges_along_and_a_missing_one_is_no_failure(graph: ReferenceGraph) -> None:
    """Deletes are idempotent (R26)."""
    counts = [call(graph, "delete_nodes", {"ids": ["bob"]})["result"]["processed_count"] for _ in range(2)]
    reached = call(graph, "traversal", {"start_nodes": ["ann"], "max_depth": 6, "direction": "BOTH"})["result"]
    assert counts == [1, 0]
    assert [node["id"] for node in reached["nodes"]] == ["ann"]
    assert ask(graph, "g.E().count()", "gremlin") == [{"value": 0}]


@pytest.mark.parametrize(
    ("args", "nodes"),
    [
        ({}, ["ann", "bob"]),
        ({"max_depth": 2}, ["ann", "bob", "cid"]),
        ({"max_depth": 2, "relationship_types": ["KNOWS"]}, ["ann", "bob"]),
        ({"max_depth": 2, "relationship_filters": {"since": 1999}}, ["ann"]),
        ({"max_depth": 2, "node_filters": {"name": "Cid"}}, ["ann"]),
        ({"direction": "INCOMING"}, ["ann"]),
        ({"start_nodes": ["cid"], "direction": "INCOMING"}, ["cid", "bob"]),
        ({"start_nodes": ["bob"], "direction": "BOTH"}, ["bob", "ann", "cid"]),
    ],
)
def test_a_traversal_goes_as_far_as_it_may(graph: ReferenceGraph, args: dict[str, Any], nodes: list[str]) -> None:
    """Depth, direction, types and filters bound it."""
    result = call(graph, "traversal", {"start_nodes": ["ann"], **args})["result"]
    assert [node["id"] for node in result["nodes"]] == nodes
    assert len(result["paths"]) == len(nodes) - 1


def test_pages_give_every_node_once(graph: ReferenceGraph) -> None:
    """The cursor outlives the node that it stands for."""
    first = call(graph, "bulk_vertices", {"limit": 2})["result"]
    call(graph, "delete_nodes", {"ids": ["bob"]})
    second = call(graph, "bulk_vertices", {"limit": 2, "cursor": first["next_cursor"]})["result"]
    assert [node["id"] for node in first["nodes"] + second["nodes"]] == ["ann", "bob", "cid"]
    assert (first["has_more"], second["has_more"], second["next_cursor"]) == (True, False, None)


STEPS: list[dict[str, Any]] = [
    {"op": "upsert_nodes", "args": {"nodes": [{"id": "dan"}]}},
    {"op": "upsert_edges", "args": {"edges": [{**KNOWS[0], "id": "ok"}, {**KNOWS[0], "id": "x", "dst": "nobody"}]}},
    {"op": "delete_nodes", "args": {"ids": ["cid"]}},
]


def test_a_batch_applies_each_operation_wholly_or_not(graph: ReferenceGraph) -> None:
    """What failed keeps its place and leaves nothing behind; a query sees what came before it."""
    query = {"op": "query", "args": {"text": "g.V().count()", "dialect": "gremlin"}}
    result = call(graph, "batch", {"ops": [*STEPS, query]})["result"]
    assert [(one["ok"], one["index"]) for one in result["results"]] == [(True, 0), (False, 1), (True, 2), (True, 3)]
    assert result["results"][3]["result"]["records"] == [{"value": 3}]
    assert people(graph) == ["ann", "bob", "dan"]
    assert ask(graph, "g.E().id()", "gremlin") == [{"value": "ab"}]


def test_a_transaction_is_all_or_nothing(graph: ReferenceGraph) -> None:
    """One failed operation undoes those before it and prevents those after it."""
    failed = call(graph, "transaction", {"operations": STEPS})["result"]
    assert (failed["success"], failed["results"][0]["index"]) == (False, 1)
    assert people(graph) == ["ann", "bob", "cid"]
    assert call(graph, "transaction", {"operations": [STEPS[0], STEPS[2]]})["result"]["success"]
    assert people(graph) == ["ann", "bob", "dan"]


def test_the_schema_tells_what_was_written_and_no_value(graph: ReferenceGraph) -> None:
    """Labels, counts and types of properties."""
    schema = call(graph, "get_schema")["result"]
    assert schema["nodes"]["Author"] == {"count": 1, "properties": {"name": "str", "born": "int"}}
    assert schema["edges"].keys() == {"KNOWS", "LIKES"}
    assert "Bob" not in json.dumps(schema)


def test_tenants_and_namespaces_are_worlds_of_their_own(graph: ReferenceGraph) -> None:
    """The same id may lie in each of them."""
    for tenant, namespace in [("a", "x"), ("a", "y"), ("b", "x")]:
        node = {"id": "ann", "properties": {"of": tenant + namespace}}
        call(graph, "upsert_nodes", {"nodes": [node], "namespace": namespace}, tenant=tenant)
    call(graph, "delete_nodes", {"ids": ["ann"], "namespace": "x"}, tenant="b")
    for tenant, namespace, found in [("a", "x", ["ax"]), ("a", "y", ["ay"]), ("b", "x", [])]:
        args = {"text": "MATCH (n) RETURN n.of AS of", "namespace": namespace}
        records = call(graph, "query", args, tenant=tenant)["result"]["records"]
        assert [record["of"] for record in records] == found
    assert people(graph) == ["ann", "bob", "cid"]


def test_a_query_is_cached_until_something_is_written() -> None:
    """By tenant, text, parameters and namespace; streams are not cached."""
    backend = Backend()
    adapter = ReferenceGraph(provider=backend)
    args = {"text": "MATCH (n) RETURN n"}
    for tenant in ("a", "a", "b"):
        call(adapter, "query", args, tenant=tenant)
    assert len(backend.calls) == 2
    call(adapter, "upsert_nodes", {"nodes": PEOPLE}, tenant="a")
    assert len(call(adapter, "query", args, tenant="a")["result"]["records"]) == 3


def test_a_replay_does_not_undo_what_came_after_it(graph: ReferenceGraph) -> None:
    """The first answer is given again, and nothing is applied."""
    delete = {"ids": ["bob"]}
    first = call(graph, "delete_nodes", delete, idempotency_key="k")["result"]
    call(graph, "upsert_nodes", {"nodes": PEOPLE})
    assert call(graph, "delete_nodes", delete, idempotency_key="k")["result"] == first
    assert people(graph) == ["ann", "bob", "cid"]


def test_a_write_that_fails_at_the_provider_changes_nothing() -> None:
    """The provider is reached before the graph."""
    backend = Backend()
    adapter = ReferenceGraph(provider=backend)
    backend.fault = RuntimeError(CANARY)
    answer = call(adapter, "upsert_nodes", {"nodes": PEOPLE}, idempotency_key="k")
    backend.fault = None
    assert answer["code"] == "UNAVAILABLE"
    assert CANARY not in json.dumps(answer)
    assert people(adapter) == []


def test_a_stream_has_several_frames_and_one_end(graph: ReferenceGraph) -> None:
    """Two records a frame; a stream without records is one final frame."""
    frames = stream(graph, text="MATCH (n) RETURN n.id AS id")
    [empty] = stream(graph, text="MATCH (n:Nobody) RETURN n")
    assert [frame["chunk"]["is_final"] for frame in frames] == [False, True]
    assert [len(frame["chunk"]["records"]) for frame in frames] == [2, 1]
    assert empty["chunk"] == {"records": [], "is_final": True, "summary": {"records": 0}}
