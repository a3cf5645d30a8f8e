"""The schema that an adapter tells (SPECIFICATION 4.2.6, 7.5)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.audit import holds
from pytest_corpus.kit.request import canary
from pytest_corpus.suites.graph.component import Graph, graph
from pytest_corpus.suites.graph.sandbox import Sandbox


@pytest.mark.core
@pytest.mark.requirement("GRA-SCHEMA-1")
def test_a_schema_is_of_the_schema(graph: Graph) -> None:
    """`get_schema` answers with `nodes` and `edges`, which are objects."""
    graph.require("get_schema")
    reply = graph.call("get_schema")
    expect.success(reply, "a schema")
    holds("GRA-SCHEMA-1", reply, graph)


@pytest.mark.requirement("GRA-SCHEMA-2")
@pytest.mark.parametrize("tenant", [False, True], ids=["no_tenant", "tenant"])
def test_a_schema_tells_the_labels_that_were_written(graph: Graph, tenant: bool) -> None:
    """The labels of new nodes and of a new edge appear in `nodes` and `edges`."""
    graph.require("get_schema")
    sandbox, node, edge = described(graph, f"tenant-{canary()}" if tenant else None)
    schema = schema_of(sandbox)
    for label in (f"{node}A", f"{node}B"):
        expect.that(label in names(schema, "nodes"), "the label of a node that was written", "none", "result.nodes")
    expect.that(edge in names(schema, "edges"), "the label of an edge that was written", "none", "result.edges")


@pytest.mark.requirement("GRA-SCHEMA-2")
def test_a_schema_is_told_as_it_is_now(graph: Graph) -> None:
    """A label that was written after a schema was told appears in the next one."""
    graph.require("get_schema")
    sandbox = graph.sandbox(own=False)
    schema_of(sandbox)
    label = f"Corpus{canary(6)}"
    sandbox.put({**sandbox.node("late"), "labels": [label]})
    expect.that(label in names(schema_of(sandbox), "nodes"), "the label of a node that was just written", "none")


@pytest.mark.requirement("GRA-SCHEMA-3")
def test_a_schema_tells_the_names_of_properties(graph: Graph) -> None:
    """The name of a property stands in the schema."""
    graph.require("get_schema")
    sandbox, _, _ = described(graph)
    schema = schema_of(sandbox)
    expect.that("corpus_weight" in names(schema, "edges"), "the name of a property", "none", "result.edges")
    expect.that("corpus_rank" in names(schema, "nodes"), "the name of a property", "none", "result.nodes")


@pytest.mark.requirement("GRA-SCHEMA-4")
def test_a_schema_tells_no_values(graph: Graph) -> None:
    """No value of a property stands in the schema."""
    graph.require("get_schema")
    sandbox = graph.sandbox(own=False)
    node = sandbox.node("a")
    sandbox.put(node)
    text = json.dumps(schema_of(sandbox), default=str)
    expect.that(node["properties"]["corpus_value"] not in text, "no value of a property", "one", "result")


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


def names(schema: Any, part: str) -> str:
    """All that a part of a schema tells, in whatever form."""
    return json.dumps(schema.get(part) if isinstance(schema, dict) else None, default=str, ensure_ascii=False)
