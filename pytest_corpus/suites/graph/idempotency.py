"""Idempotency keys, proved by content (SPECIFICATION 6.1; R26, R45)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.request import canary
from pytest_corpus.suites.graph.answers import meaning
from pytest_corpus.suites.graph.component import Graph
from pytest_corpus.suites.graph.isolation import isolated, tenants
from pytest_corpus.suites.graph.sandbox import Sandbox
from pytest_corpus.suites.graph.written_items import MANY

MUTATING = ("upsert_nodes", "upsert_edges", "delete_nodes", "delete_edges", "batch", "transaction")


class Idempotency:
    """Replays of a write."""

    @pytest.mark.core
    @pytest.mark.requirement("COM-IDEM-3")
    @pytest.mark.parametrize("where", ["default", "tenant", "namespace"])
    @pytest.mark.parametrize("name", MUTATING)
    def test_a_replay_changes_nothing(self, graph: Graph, name: str, where: str) -> None:
        """The same write with the same key, after another one, leaves what is there and answers as before."""
        graph.require(name)
        if where == "namespace":
            graph.namespaces(aside=True)
        tenant = f"tenant-{canary()}" if where == "tenant" else None
        sandbox = graph.sandbox(tenant=tenant, own=where == "namespace")
        args, other, shows = rivals(graph, sandbox, name)
        key = {"idempotency_key": f"key-{canary()}"}
        first = sandbox.call(name, args, key)
        expect.success(first, "a write with an idempotency key to work")
        other()
        again = sandbox.call(name, args, key)
        expect.success(again, "a replay to succeed")
        shows()
        expect.that(meaning(again) == meaning(first), "the first answer again", "another answer", "result")

    @pytest.mark.requirement("COM-IDEM-1")
    @pytest.mark.parametrize("name", ["upsert_nodes", "delete_nodes", "batch", "transaction"])
    def test_a_key_with_other_arguments_is_another_write(self, graph: Graph, name: str) -> None:
        """Two different writes with one key are both carried out."""
        graph.require(name, "upsert_nodes")
        readers, sandbox = graph.readers.of_nodes(), graph.sandbox()
        key = {"idempotency_key": f"key-{canary()}"}
        nodes = [sandbox.node("a"), sandbox.node("b")]
        if name == "delete_nodes":
            sandbox.put(*nodes)
            for node in nodes:
                expect.success(sandbox.call(name, {"ids": [node["id"]]}, key), f"{name} to work")
        for node in nodes if name != "delete_nodes" else ():
            args: dict[str, Any] = {"nodes": [node]}
            if name in MANY:
                args = {MANY[name]: [graph.item("upsert_nodes", nodes=[node], **sandbox.place)]}
            expect.success(sandbox.call(name, args, key), f"{name} to work")
        left = [] if name == "delete_nodes" else [str(node["properties"]["corpus_value"]) for node in nodes]
        for reader in readers:
            sandbox.shows(reader, left, "what both writes make")

    @pytest.mark.requirement("COM-IDEM-1")
    @pytest.mark.parametrize("name", ["upsert_nodes", "batch", "transaction"])
    def test_a_key_in_another_namespace_is_another_write(self, graph: Graph, name: str) -> None:
        """The same write with one key in two namespaces is carried out in each."""
        graph.require(name)
        graph.namespaces(aside=True)
        readers, one = graph.readers.of_nodes(), graph.sandbox()
        other = one.like(namespace=graph.sandbox().namespace)
        node, key = one.node("a"), {"idempotency_key": f"key-{canary()}"}
        for sandbox in (one, other):
            args: dict[str, Any] = {"nodes": [node]}
            if name in MANY:
                args = {MANY[name]: [graph.item("upsert_nodes", nodes=[node], **sandbox.place)]}
            expect.success(sandbox.call(name, args, key), f"{name} to work")
        for sandbox in (one, other):
            for reader in readers:
                sandbox.shows(reader, [node["properties"]["corpus_value"]], "the node of the namespace")

    @pytest.mark.requirement("COM-IDEM-1")
    def test_a_key_with_another_value_is_another_write(self, graph: Graph) -> None:
        """Two writes of one node with one key and different values are both carried out."""
        graph.require("upsert_nodes")
        readers, sandbox = graph.readers.of_nodes(), graph.sandbox()
        key = {"idempotency_key": f"key-{canary()}"}
        first, second = sandbox.node("a"), sandbox.node("a")
        for node in (first, second):
            expect.success(sandbox.call("upsert_nodes", {"nodes": [node]}, key), "a write to work")
        for reader in readers:
            sandbox.shows(reader, [str(second["properties"]["corpus_value"])], "what the second write makes")

    @pytest.mark.requirement("COM-IDEM-1")
    def test_a_key_of_one_operation_is_not_that_of_another(self, graph: Graph) -> None:
        """Two different operations with one key are both carried out."""
        graph.require("upsert_nodes", "delete_nodes")
        readers, sandbox = graph.readers.of_nodes(), graph.sandbox()
        key = {"idempotency_key": f"key-{canary()}"}
        expect.success(sandbox.call("upsert_nodes", {"nodes": [sandbox.node("a")]}, key), "a write to work")
        expect.success(sandbox.call("delete_nodes", {"ids": [sandbox.id("a")]}, key), "a delete to work")
        for reader in readers:
            sandbox.shows(reader, [], "nothing, after the delete")

    @pytest.mark.requirement("COM-IDEM-2")
    def test_a_key_of_another_tenant_is_another_write(self, graph: Graph) -> None:
        """The same write with the same key of two tenants is carried out for each."""
        isolated(graph)
        readers = graph.readers.of_nodes()
        one, other = tenants(graph, 2)
        key = {"idempotency_key": f"key-{canary()}"}
        node = one.node("a")
        for sandbox in (one, other):
            expect.success(sandbox.call("upsert_nodes", {"nodes": [node]}, key), "a write to work")
        for reader in readers:
            for sandbox in (one, other):
                sandbox.shows(reader, [node["properties"]["corpus_value"]], "the node of the tenant")


def rivals(
    graph: Graph, sandbox: Sandbox, name: str
) -> tuple[dict[str, Any], Callable[[], object], Callable[[], None]]:
    """A write, another one that a second application would undo, and a look at what must be there at the end."""
    readers = graph.readers.of_nodes()
    if name == "upsert_edges":
        return _edge_rivals(graph, sandbox)
    if name == "delete_edges":
        return _delete_edge_rivals(graph, sandbox)
    node, newer = sandbox.node("a"), sandbox.node("a")

    def shows() -> None:
        for reader in readers:
            sandbox.shows(reader, [newer["properties"]["corpus_value"]], "what was written after the first call")

    args: dict[str, Any] = {"nodes": [node]}
    if name == "delete_nodes":
        sandbox.put(node)
        args = {"ids": [node["id"]]}
    elif name in MANY:
        args = {MANY[name]: [graph.item("upsert_nodes", nodes=[node], **sandbox.place)]}
    return args, lambda: sandbox.put(newer), shows


def _edge_rivals(graph: Graph, sandbox: Sandbox) -> tuple[dict[str, Any], Callable[[], object], Callable[[], None]]:
    graph.require("delete_edges")
    edge_readers = graph.readers.of_edges()
    sandbox.put(sandbox.node("a"), sandbox.node("b"))

    def shows() -> None:
        for edge_reader in edge_readers:
            sandbox.leads(edge_reader, "a", (), "no edge, as it was deleted after the first call")

    return {"edges": [sandbox.edge("a", "b", "e")]}, lambda: sandbox.remove("edges", "e"), shows


def _delete_edge_rivals(
    graph: Graph, sandbox: Sandbox
) -> tuple[dict[str, Any], Callable[[], object], Callable[[], None]]:
    graph.require("upsert_edges")
    edge_readers = graph.readers.of_edges()
    values = sandbox.put(sandbox.node("a"), sandbox.node("b"))
    edge = sandbox.edge("a", "b", "e")
    sandbox.link(edge)

    def shows() -> None:
        for edge_reader in edge_readers:
            sandbox.leads(edge_reader, "a", {"b": values[1]}, "the edge that was written after the first call")

    return {"ids": [edge["id"]]}, lambda: sandbox.link(edge), shows
