"""The embedded reference adapter for graphs, called directly over its wire."""

import json
from typing import Any

import pytest
from reference_calls import Backend, call, stream

import pytest_corpus.reference
from pytest_corpus.reference.graph.adapter import ReferenceGraph

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
    frames = stream(graph, "stream_query", {"text": text, "dialect": dialect, "params": {"name": "Bob"}})
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


STEPS: list[dict[str, Any]] = [
    {"op": "upsert_nodes", "args": {"nodes": [{"id": "dan"}]}},
    {"op": "upsert_edges", "args": {"edges": [{**KNOWS[0], "id": "ok"}, {**KNOWS[0], "id": "x", "dst": "nobody"}]}},
    {"op": "delete_nodes", "args": {"ids": ["cid"]}},
]


def test_a_batch_applies_each_operation_wholly_or_not(graph: ReferenceGraph) -> None:
    """A failed operation keeps its place and leaves nothing behind; a query sees what came before it."""
    query = {"op": "query", "args": {"text": "g.V().count()", "dialect": "gremlin"}}
    result = call(graph, "batch", {"ops": [*STEPS, query]})["result"]
    assert [(one["ok"], one["index"]) for one in result["results"]] == [(True, 0), (False, 1), (True, 2), (True, 3)]
    assert result["results"][3]["result"]["records"] == [{"value": 3}]
    assert people(graph) == ["ann", "bob", "dan"]
    assert ask(graph, "g.E().id()", "gremlin") == [{"value": "ab"}]


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
