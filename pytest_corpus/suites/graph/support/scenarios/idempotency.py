"""Idempotency keys, proved by content (SPECIFICATION 6.1; R26, R45)."""

from collections.abc import Callable
from typing import Any

from pytest_corpus.suites.graph.support.component import Graph
from pytest_corpus.suites.graph.support.place import value_of
from pytest_corpus.suites.graph.support.sandbox import Sandbox
from pytest_corpus.suites.graph.support.written_items import MANY

MUTATING = ("upsert_nodes", "upsert_edges", "delete_nodes", "delete_edges", "batch", "transaction")


def rivals(
    graph: Graph, sandbox: Sandbox, name: str
) -> tuple[dict[str, Any], Callable[[], object], Callable[[], None]]:
    """A write, another one that a second application would undo, and a look at what must be there at the end."""
    if name == "upsert_edges":
        return _edge_rivals(graph, sandbox)
    if name == "delete_edges":
        return _delete_edge_rivals(graph, sandbox)
    node, newer = sandbox.node("a"), sandbox.node("a")

    def shows() -> None:
        sandbox.all_show([value_of(newer)], "what was written after the first call")

    args: dict[str, Any] = {"nodes": [node]}
    if name == "delete_nodes":
        sandbox.put(node)
        args = {"ids": [node["id"]]}
    elif name in MANY:
        args = {MANY[name]: [sandbox.item("upsert_nodes", nodes=[node])]}
    return args, lambda: sandbox.put(newer), shows


def _edge_rivals(graph: Graph, sandbox: Sandbox) -> tuple[dict[str, Any], Callable[[], object], Callable[[], None]]:
    graph.require("delete_edges")
    sandbox.put(sandbox.node("a"), sandbox.node("b"))

    def shows() -> None:
        sandbox.all_lead("a", (), "no edge, as it was deleted after the first call")

    return {"edges": [sandbox.edge("a", "b", "e")]}, lambda: sandbox.remove("edges", "e"), shows


def _delete_edge_rivals(
    graph: Graph, sandbox: Sandbox
) -> tuple[dict[str, Any], Callable[[], object], Callable[[], None]]:
    graph.require("upsert_edges")
    values = sandbox.put(sandbox.node("a"), sandbox.node("b"))
    edge = sandbox.edge("a", "b", "e")
    sandbox.link(edge)

    def shows() -> None:
        sandbox.all_lead("a", {"b": values[1]}, "the edge that was written after the first call")

    return {"ids": [edge["id"]]}, lambda: sandbox.link(edge), shows
