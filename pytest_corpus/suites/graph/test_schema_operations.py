"""The schema that an adapter tells (SPECIFICATION 4.2.6, 7.5)."""

import json
from typing import Any

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.component import holds
from pytest_corpus.kit.outcomes import NotApplicable, NotAssessed
from pytest_corpus.kit.requests import canary
from pytest_corpus.suites.graph.support.component import Graph, graph
from pytest_corpus.suites.graph.support.place import value_of
from pytest_corpus.suites.graph.support.sandbox import Sandbox


@pytest.mark.core
@pytest.mark.requirement("GRA-SCHEMA-1")
def test_a_schema_is_of_the_schema(graph: Graph) -> None:
    """`get_schema` answers with an object."""
    graph.require("get_schema")
    reply = graph.call("get_schema")
    expect.success(reply, "a schema")
    holds("GRA-SCHEMA-1", reply, graph)


@pytest.mark.requirement("GRA-SCHEMA-2")
@pytest.mark.parametrize("tenant", [False, True], ids=["no_tenant", "tenant"])
def test_a_schema_tells_the_labels_that_were_written(graph: Graph, tenant: bool) -> None:
    """The labels of new nodes and of a new edge appear in the schema, in whatever form."""
    graph.require("get_schema")
    sandbox, node, edge = described(graph, f"tenant-{canary()}" if tenant else None)
    schema = schema_of(sandbox)
    for label in (f"{node}A", f"{node}B"):
        expect.that(label in told(schema), "the label of a node that was written", "none", "result")
    expect.that(edge in told(schema), "the label of an edge that was written", "none", "result")


@pytest.mark.requirement("GRA-SCHEMA-2")
def test_a_schema_is_told_as_it_is_now(graph: Graph) -> None:
    """A label that was written after a schema was told appears in the next one."""
    graph.require("get_schema")
    sandbox = graph.sandbox(own=False)
    schema_of(sandbox)
    label = f"Corpus{canary(6)}"
    sandbox.put({**sandbox.node("late"), "labels": [label]})
    expect.that(label in told(schema_of(sandbox)), "the label of a node that was just written", "none", "result")


@pytest.mark.requirement("GRA-SCHEMA-3")
def test_a_schema_tells_the_names_of_properties(graph: Graph) -> None:
    """The name of a property stands in the schema."""
    graph.require("get_schema")
    sandbox, _, _ = described(graph)
    schema = schema_of(sandbox)
    for name in ("corpus_weight", "corpus_rank"):
        expect.that(name in told(schema), "the name of a property", "none", "result")


@pytest.mark.requirement("GRA-SCHEMA-4")
def test_a_schema_tells_no_values(graph: Graph) -> None:
    """No value of a property stands in the schema."""
    graph.require("get_schema")
    sandbox = graph.sandbox(own=False)
    node = sandbox.node("a")
    sandbox.put(node)
    text = json.dumps(schema_of(sandbox), default=str)
    expect.that(value_of(node) not in text, "no value of a property", "one", "result")


@pytest.mark.requirement("GRA-SCHEMA-5")
def test_an_index_is_made_and_dropped(graph: Graph) -> None:
    """Where DDL is claimed, both statements are carried out, and a node is found before, between and after them."""
    dialect = claimed_ddl(graph)
    graph.require("query")
    graph.speaks("find", dialect)
    sandbox = graph.sandbox()
    [value] = sandbox.put(sandbox.node("a", rank=3))
    for statement in ("", "create_index", "drop_index"):
        if statement:
            carried_out(graph, sandbox, statement, dialect)
        found = sandbox.answers("query", "find", dialect=dialect, wanted=sandbox.key("a"))
        expect.that(value in found, f"the node, after {statement or 'it was written'}", "another or none", "records")


def claimed_ddl(graph: Graph) -> str:
    """A dialect in which DDL is claimed: by a key of capabilities with the word `ddl`, which is true or lists it.

    Raises:
        NotApplicable: no DDL is claimed.
        NotAssessed: the suite knows none of the dialects.
    """
    claims = graph.claims("ddl")
    every = any(value is True for value in claims)
    listed = {name for value in claims if isinstance(value, list) for name in value if isinstance(name, str)}
    if not every and not listed:
        raise NotApplicable("DDL is not claimed")
    spoken = [name for name in graph.dialects.known if every or name in listed]
    for name in spoken:
        if graph.dialects.texts("create_index", name):
            return name
    raise NotAssessed("there is no probe query 'create_index' for the dialects: give one with --corpus-dialects")


def carried_out(graph: Graph, sandbox: Sandbox, purpose: str, dialect: str) -> None:
    """One spelling of a statement is carried out.

    Raises:
        NotAssessed: all are refused as badly written.
    """
    refused = []
    for text in graph.dialects.texts(purpose, dialect):
        reply = sandbox.call("query", {"text": text, "dialect": dialect, "params": {}})
        expect.either(reply, "BadRequest", "NotSupported")
        if reply.is_success:
            return
        refused.append(reply)
    every = bool(refused) and all(reply.is_a("NotSupported") for reply in refused)
    expect.that(not every, f"{purpose}, which is claimed, to be carried out", "NOT_SUPPORTED")
    raise NotAssessed(f"no spelling of the probe query {purpose!r} is taken: give one with --corpus-dialects")


def described(graph: Graph, tenant: str | None = None) -> tuple[Sandbox, str, str]:
    """A place with two labelled nodes and an edge; the beginning of their label, and the label of the edge."""
    sandbox = graph.sandbox(tenant=tenant, own=False)
    node, edge = f"Corpus{canary(6)}", f"CORPUS{canary(6).upper()}"
    first, second = sandbox.node("a"), sandbox.node("b")
    sandbox.put({**first, "labels": [f"{node}A"]}, {**second, "labels": [f"{node}B"]})
    sandbox.link(sandbox.edge("a", "b", label=edge, corpus_weight=2))
    return sandbox, node, edge


def schema_of(sandbox: Sandbox) -> Any:
    """The schema as it is told to the tenant of a place."""
    return expect.success(sandbox.graph.call("get_schema", {}, sandbox.ctx), "a schema")


def told(schema: Any) -> str:
    """All that a schema tells, in whatever form."""
    return json.dumps(schema, default=str, ensure_ascii=False)
