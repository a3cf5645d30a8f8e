"""The schema that an adapter reports (SPECIFICATION 4.2.6, 7.5)."""

import json
from typing import Any

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import cached
from pytest_corpus.kit.component import expect_audited
from pytest_corpus.kit.fixtures import core, rules, subject
from pytest_corpus.kit.outcomes import NotAssessed
from pytest_corpus.kit.requests import canary
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.suites.graph.support.component import Graph, graph
from pytest_corpus.suites.graph.support.node_group import value_of
from pytest_corpus.suites.graph.support.sandbox import GraphSandbox


@core("GRA-SCHEMA-1")
def test_a_schema_is_of_the_schema(graph: Graph) -> None:
    """`get_schema` answers with an object."""
    graph.require("get_schema")
    reply = graph.call("get_schema")
    expect_audited("GRA-SCHEMA-1", reply, graph, claim="a schema")


@rules("labels GRA-SCHEMA-2, names GRA-SCHEMA-3, no_values GRA-SCHEMA-4")
@pytest.mark.parametrize("tenant", [False, True], ids=["no_tenant", "tenant"])
def test_a_schema_describes_what_was_written(graph: Graph, tenant: bool, requirement: str) -> None:
    """The schema contains the labels of new nodes and edges and the names of their properties, but no values."""
    graph.require("get_schema")
    schema, edge, nodes = cached(graph, ("schema", tenant), lambda: describe_new_nodes(graph, tenant=tenant))
    what, texts = {
        "GRA-SCHEMA-2": ("labels", [edge["label"], *(label for node in nodes for label in node["labels"])]),
        "GRA-SCHEMA-3": ("names of properties", ["corpus_weight", "corpus_rank"]),
        "GRA-SCHEMA-4": ("no values of properties", [value_of(item) for item in (edge, *nodes)]),
    }[requirement]
    found = sum(text in schema for text in texts)
    wanted = 0 if requirement == "GRA-SCHEMA-4" else len(texts)
    expect.check(found == wanted, f"{what} that were written: {wanted}", f"{found}", "result")


@pytest.mark.requirement("GRA-SCHEMA-2")
def test_a_schema_is_as_it_is_now(graph: Graph) -> None:
    """A label that was written after a first schema appears in the next schema."""
    sandbox = graph.sandbox("get_schema", own=False)
    schema_of(sandbox)
    label = f"Corpus{canary(6)}"
    sandbox.put({**sandbox.node("late"), "labels": [label]})
    is_right = label in schema_of(sandbox)
    expect.check(is_right, "the label of a node that was just written", "the label is missing", "result")


@pytest.mark.requirement("GRA-SCHEMA-5")
def test_an_index_is_made_and_dropped(graph: Graph) -> None:
    """If DDL is claimed, an index can be made and dropped. A query finds a node before and after each step."""
    dialect = dialect_with_ddl(graph)
    graph.require("query")
    graph.require_question("find", dialect)
    sandbox = graph.sandbox()
    [value] = sandbox.put(sandbox.node("a", rank=3))
    for statement in ("", "create_index", "drop_index"):
        if statement:
            run_statement(graph, sandbox, statement, dialect)
        found = sandbox.query_values("query", "find", dialect=dialect, wanted=sandbox.key("a"))
        is_right = value in found
        expect.check(is_right, f"the node, after {statement or 'it was written'}", "another record, or none", "records")


def dialect_with_ddl(graph: Graph) -> str:
    """Return a dialect for which DDL is claimed: a capability with `ddl` in its key is true or lists the dialect."""
    claims = graph.claimed_values("ddl")
    every = any(value is True for value in claims)
    listed = {name for value in claims if isinstance(value, list) for name in value if isinstance(name, str)}
    expect.applicable(every or listed, "DDL is not claimed")
    spoken = [name for name in graph.dialects.known if every or name in listed]
    for name in spoken:
        if graph.dialects.texts("create_index", name):
            return name
    raise NotAssessed(Obstacle.NO_QUERY, purpose="create_index", dialect="the dialects")


def run_statement(graph: Graph, sandbox: GraphSandbox, purpose: str, dialect: str) -> None:
    """Send a statement in each known spelling until one succeeds. Raises NotAssessed if none does."""
    refused = []
    for text in graph.dialects.texts(purpose, dialect):
        reply = sandbox.call("query", {"text": text, "dialect": dialect, "params": {}})
        expect.either(reply, "BadRequest", "NotSupported")
        if reply.is_success:
            return
        refused.append(reply)
    every = bool(refused) and all(reply.is_a("NotSupported") for reply in refused)
    expect.check(not every, f"{purpose}, which is claimed, to be carried out", "NOT_SUPPORTED")
    raise NotAssessed(Obstacle.NO_SPELLING, purpose=purpose)


def describe_new_nodes(graph: Graph, *, tenant: bool) -> tuple[str, dict[str, Any], list[dict[str, Any]]]:
    """Write two labelled nodes and an edge; return the schema, the edge and the nodes."""
    sandbox = graph.sandbox(tenant=graph.settings.next_tenant() if tenant else None, own=False)
    nodes = [{**sandbox.node(name), "labels": [f"Corpus{canary(6)}"]} for name in "ab"]
    edge = sandbox.edge("a", "b", label=f"CORPUS{canary(6).upper()}", corpus_weight=2)
    sandbox.put(*nodes)
    sandbox.put_edges(edge)
    return schema_of(sandbox), edge, nodes


def schema_of(sandbox: GraphSandbox) -> str:
    """Return the schema for the tenant of a sandbox, as text."""
    sandbox.graph.settling.pause()
    result = expect.success(sandbox.graph.call("get_schema", {}, sandbox.ctx), "a schema")
    return json.dumps(result, default=str, ensure_ascii=False)
