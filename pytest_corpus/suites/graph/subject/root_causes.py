"""One root cause, one finding: the sentences that nearly every test of a graph rests on.

Where a test finds a violation, these are tried in their plainest form, once a run, each in places of its own, where
no query is asked twice. One that no operation sees kept explains what the tests that rest on it found: they are
blocked by it. What is wrong in one way of looking only is none of these sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from pytest_corpus.kit import expect
from pytest_corpus.kit.outcomes import Blocked, Undecided, Violation
from pytest_corpus.kit.root_causes import Basis, RootCauses
from pytest_corpus.suites.graph.subject.actions import (
    IN_A_NAMESPACE,
    LOOKING,
    LOOKING_FIRST,
    NODE_AGAIN,
    SEVERAL_EDGES,
    SEVERAL_NODES,
)
from pytest_corpus.suites.graph.subject.answers import listed
from pytest_corpus.suites.graph.subject.component import Graph
from pytest_corpus.suites.graph.subject.sandbox import Sandbox
from pytest_corpus.suites.graph.subject.written_items import MANY

BASICS = {
    requirement: Basis(requirement, frozenset(needs))
    for requirement, *needs in (
        ("GRA-NODE-1", "upsert_nodes"),
        ("GRA-NODE-3", SEVERAL_NODES),
        ("GRA-NODE-2", NODE_AGAIN, LOOKING),
        ("GRA-DELETE-1", "delete_nodes"),
        ("GRA-EDGE-1", "upsert_edges"),
        ("GRA-EDGE-9", SEVERAL_EDGES),
        ("GRA-DELETE-2", "delete_edges"),
        ("GRA-TRAV-2", "upsert_edges", "traversal"),
        ("GRA-TRAV-3", SEVERAL_EDGES, "traversal"),
        ("GRA-NS-1", IN_A_NAMESPACE, LOOKING),
        ("GRA-NS-4", LOOKING_FIRST),
        ("GRA-BATCH-1", "batch"),
        ("GRA-TXN-1", "transaction"),
    )
}
"""The plain sentences of a graph, and what a test does that rests on them."""


class GraphRootCauses(RootCauses[Graph]):
    """The plain sentences of a graph."""

    def failing_basics(self) -> Iterator[Basis]:
        graph = self.subject
        for stage in (_nodes, _edges, _places, _many):
            try:
                for root in stage(graph):
                    yield _as_it_fails(root, graph)
                    if root in ("GRA-NODE-1", "GRA-NODE-3"):
                        return
            except Blocked as obstacle:
                if obstacle.by == "GRA-NODE-1":
                    yield _as_it_fails(obstacle.by, graph)
                    return
            except (Undecided, Violation):
                continue


def _as_it_fails(root: str, graph: Graph) -> Basis:
    """What a sentence that does not hold explains.

    An adapter that keeps no node and takes any argument for one does nothing at all: that is not a single mistake, and
    what it does with edges stays a finding of its own.
    """
    if root == "GRA-NODE-1" and graph.call("upsert_nodes", {"nodes": 7}).is_success:
        return replace(BASICS[root], without=frozenset(("upsert_edges",)))
    return BASICS[root]


def _nodes(graph: Graph) -> Iterator[str]:
    """What is wrong with writing, updating and deleting nodes."""
    graph.require("upsert_nodes")
    sandbox = graph.sandbox()
    node = sandbox.node("a")
    if (
        not graph.readers.of_nodes()
        or not _done(sandbox, "upsert_nodes", nodes=[node])
        or _unseen(graph, sandbox, [node])
    ):
        yield "GRA-NODE-1"
        return
    sandbox = graph.sandbox()
    nodes = [sandbox.node(name) for name in "abc"][: graph.at_once]
    if not _done(sandbox, "upsert_nodes", nodes=nodes) or _unseen(graph, sandbox, nodes):
        yield "GRA-NODE-3"
        return
    sandbox = graph.sandbox()
    kept, old, new = sandbox.node("b"), sandbox.node("a"), sandbox.node("a")
    for each in (kept, old, new):
        sandbox.put(each)
    if _unseen(graph, sandbox, [kept, new]):
        yield "GRA-NODE-2"
    graph.require("delete_nodes")
    sandbox = graph.sandbox()
    kept, gone = sandbox.node("b"), sandbox.node("a")
    sandbox.put(kept)
    sandbox.put(gone)
    if not _done(sandbox, "delete_nodes", ids=[gone["id"]]) or _unseen(graph, sandbox, [kept]):
        yield "GRA-DELETE-1"


def _edges(graph: Graph) -> Iterator[str]:
    """What is wrong with writing and deleting edges, and with a step along one."""
    graph.require("upsert_nodes", "upsert_edges")
    sandbox, values = _three(graph)
    edge_readers = graph.readers.of_edges()
    for source, target in ("ab", "cb"):
        sandbox.call("upsert_edges", {"edges": [sandbox.edge(source, target)]})
    led = {"a": {"b": values["b"]}, "c": {"b": values["b"]}, "b": {}}
    if _astray(sandbox, edge_readers, led):
        yield "GRA-EDGE-1"
        return
    if graph.works("traversal") and not _holds(lambda: sandbox.reached("a") == ["b"]):
        yield "GRA-TRAV-2"
    if graph.at_once > 1:
        sandbox, values = _three(graph)
        sandbox.call("upsert_edges", {"edges": [sandbox.edge("a", "b"), sandbox.edge("b", "c")]})
        if _astray(sandbox, edge_readers, {"a": {"b": values["b"]}, "b": {"c": values["c"]}}):
            yield "GRA-EDGE-9"
            return
        if graph.works("traversal") and _holds(lambda: "c" in sandbox.reached("a")):
            yield "GRA-TRAV-3"
    graph.require("delete_edges")
    sandbox, values = _three(graph)
    sandbox.link(sandbox.edge("a", "b", "e"))
    sandbox.link(sandbox.edge("b", "c", "f"))
    done = _done(sandbox, "delete_edges", ids=[sandbox.id("e")])
    if not done or _astray(sandbox, edge_readers, {"a": {}, "b": {"c": values["c"]}}):
        yield "GRA-DELETE-2"


def _places(graph: Graph) -> Iterator[str]:
    """What is wrong with the same id in two namespaces, and with one that nobody wrote to."""
    graph.namespaces()
    one = graph.sandbox()
    other = one.like(namespace=graph.sandbox().namespace)
    nodes = {sandbox: sandbox.node("a") for sandbox in (one, other)}
    for sandbox, node in nodes.items():
        sandbox.put(node)
    if any(_unseen(graph, sandbox, [node]) for sandbox, node in nodes.items()):
        yield "GRA-NS-1"
    for reader in graph.readers.of_nodes():
        if _retried(graph.sandbox(), reader):
            yield "GRA-NS-4"
            return


def _many(graph: Graph) -> Iterator[str]:
    """What is wrong with a batch and a transaction of one write."""
    for operation, root in (("batch", "GRA-BATCH-1"), ("transaction", "GRA-TXN-1")):
        if graph.carries(operation):
            sandbox = graph.sandbox()
            node = sandbox.node("a")
            item = graph.item("upsert_nodes", nodes=[node], **sandbox.place)
            if not _done(sandbox, operation, **{MANY[operation]: [item]}) or _unseen(graph, sandbox, [node]):
                yield root


def _three(graph: Graph) -> tuple[Sandbox, dict[str, str]]:
    sandbox = graph.sandbox()
    return sandbox, dict(zip("abc", sandbox.put(*(sandbox.node(name) for name in "abc")), strict=True))


def _done(sandbox: Sandbox, name: str, **args: Any) -> bool:
    """Whether a write is answered with a success without failures."""
    reply = sandbox.call(name, args)
    undone = isinstance(reply.result, Mapping) and reply.result.get("success") is False
    return reply.is_success and not undone and not listed(reply.result, "failures")


def _unseen(graph: Graph, sandbox: Sandbox, nodes: list[dict[str, Any]]) -> bool:
    """Whether no operation shows just these nodes."""
    values = sorted(str(node["properties"]["corpus_value"]) for node in nodes)
    readers = graph.readers.of_nodes()
    return not any(_holds(lambda reader=reader: sandbox.seen(reader) == values) for reader in readers)  # type: ignore[misc]


def _astray(sandbox: Sandbox, edge_readers: list[str], led: Mapping[str, Mapping[str, str]]) -> bool:
    """Whether no operation shows that the edges from each node lead to these."""

    def right(edge_reader: str) -> bool:
        for source, targets in led.items():
            sandbox.leads(edge_reader, source, targets, "its edges")
        return True

    return not any(_holds(lambda edge_reader=edge_reader: right(edge_reader)) for edge_reader in edge_readers)  # type: ignore[misc]


def _retried(sandbox: Sandbox, reader: str) -> bool:
    """Whether reading where nothing was written is an error other than a permanent refusal."""
    if reader == "bulk_vertices":
        reply: Any = sandbox.call(reader, {"limit": 5})
    else:
        args = sandbox.graph.question("group", group=sandbox.group)
        reply = sandbox.stream(args) if reader == "stream_query" else sandbox.call(reader, args)
    expect.readable(reply)
    return reply.is_error and not reply.is_a("BadRequest", "IndexNotReady")


def _holds(check: Callable[[], bool]) -> bool:
    """Whether a check holds; one that ends in a finding or without a verdict does not."""
    try:
        return check()
    except (Undecided, Violation):
        return False


ROOT_CAUSES = GraphRootCauses
