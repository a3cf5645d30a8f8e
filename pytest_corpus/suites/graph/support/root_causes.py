"""One root cause, one finding: the requirements that nearly every test of a graph rests on.

If a test finds a violation, these are tried in their plainest form, once per run, each in places of its own, where
no query is asked twice. A requirement that no operation shows to be kept explains the findings of the tests that
rest on it: they are blocked by it. A fault that only one operation shows is not among them.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from pytest_corpus.kit import expect
from pytest_corpus.kit.outcomes import Blocked, Undecided, Violation
from pytest_corpus.kit.root_causes import BasicRequirement, RootCauses
from pytest_corpus.suites.graph.support import run_state
from pytest_corpus.suites.graph.support.answers import listed
from pytest_corpus.suites.graph.support.component import Graph
from pytest_corpus.suites.graph.support.place import empty_namespace, value_of
from pytest_corpus.suites.graph.support.sandbox import Sandbox, observed

BASICS = {
    requirement: BasicRequirement(requirement, frozenset(needs))
    for requirement, *needs in (
        ("GRA-NODE-1", "upsert_nodes"),
        ("GRA-NODE-3", run_state.SEVERAL_NODES),
        ("GRA-NODE-2", run_state.NODE_AGAIN, run_state.LOOKING),
        ("GRA-DELETE-1", "delete_nodes"),
        ("GRA-EDGE-1", "upsert_edges"),
        ("GRA-EDGE-9", run_state.SEVERAL_EDGES),
        ("GRA-DELETE-2", "delete_edges"),
        ("GRA-TRAV-2", "upsert_edges", "traversal"),
        ("GRA-TRAV-3", run_state.SEVERAL_EDGES, "traversal"),
        ("GRA-NS-1", run_state.IN_A_NAMESPACE, run_state.LOOKING),
        ("GRA-NS-4", run_state.LOOKING_FIRST),
        ("GRA-BATCH-1", "batch"),
        ("GRA-TXN-1", "transaction"),
    )
}
"""The basic requirements of a graph, and the actions of a test that rests on them."""


class GraphRootCauses(RootCauses[Graph]):
    """The basic requirements of a graph."""

    def failing_basics(self) -> Iterator[BasicRequirement]:
        graph = self.subject
        for stage in (_nodes, _edges, _places, _many):
            try:
                for root in stage(graph):
                    yield BASICS[root]
                    if root in ("GRA-NODE-1", "GRA-NODE-3"):
                        return
            except Blocked as obstacle:
                if obstacle.by == "GRA-NODE-1":
                    yield BASICS[obstacle.by]
                    return
            except (Undecided, Violation):
                continue


def _nodes(graph: Graph) -> Iterator[str]:
    """The broken requirements among writing, updating and deleting nodes."""
    graph.require("upsert_nodes")
    graph.readers.of_nodes()
    sandbox = graph.sandbox()
    node = sandbox.node("a")
    if not _succeeds(sandbox, "upsert_nodes", nodes=[node]) or _nodes_missing(sandbox, node):
        yield "GRA-NODE-1"
        return
    sandbox = graph.sandbox()
    nodes = [sandbox.node(name) for name in "abc"][: graph.at_once]
    if not _succeeds(sandbox, "upsert_nodes", nodes=nodes) or _nodes_missing(sandbox, *nodes):
        yield "GRA-NODE-3"
        return
    sandbox = graph.sandbox()
    kept, old, new = sandbox.node("b"), sandbox.node("a"), sandbox.node("a")
    for each in (kept, old, new):
        sandbox.put(each)
    if _nodes_missing(sandbox, kept, new):
        yield "GRA-NODE-2"
    sandbox = graph.sandbox("delete_nodes")
    kept, gone = sandbox.node("b"), sandbox.node("a")
    sandbox.put(kept)
    sandbox.put(gone)
    if not _succeeds(sandbox, "delete_nodes", ids=[gone["id"]]) or _nodes_missing(sandbox, kept):
        yield "GRA-DELETE-1"


def _edges(graph: Graph) -> Iterator[str]:
    """The broken requirements among writing and deleting edges, and following one."""
    sandbox = graph.sandbox("upsert_nodes", "upsert_edges")
    values = sandbox.put_named("abc")
    graph.readers.of_edges()
    for source, target in ("ab", "cb"):
        sandbox.call("upsert_edges", {"edges": [sandbox.edge(source, target)]})
    if _edges_missing(sandbox, {"a": {"b": values["b"]}, "c": {"b": values["b"]}, "b": {}}):
        yield "GRA-EDGE-1"
        return
    if graph.works("traversal") and observed(sandbox.reached, "a") != ["b"]:
        yield "GRA-TRAV-2"
    if graph.at_once > 1:
        sandbox = graph.sandbox()
        values = sandbox.put_named("abc")
        sandbox.call("upsert_edges", {"edges": [sandbox.edge("a", "b"), sandbox.edge("b", "c")]})
        if _edges_missing(sandbox, {"a": {"b": values["b"]}, "b": {"c": values["c"]}}):
            yield "GRA-EDGE-9"
            return
        if graph.works("traversal") and "c" in (observed(sandbox.reached, "a") or ()):
            yield "GRA-TRAV-3"
    sandbox = graph.sandbox("delete_edges")
    values = sandbox.put_named("abc")
    sandbox.link(sandbox.edge("a", "b", "e"))
    sandbox.link(sandbox.edge("b", "c", "f"))
    deleted = _succeeds(sandbox, "delete_edges", ids=[sandbox.id("e")])
    if not deleted or _edges_missing(sandbox, {"a": {}, "b": {"c": values["c"]}}):
        yield "GRA-DELETE-2"


def _places(graph: Graph) -> Iterator[str]:
    """The broken requirements among the same id in two namespaces, and reading a namespace without a write."""
    graph.namespaces()
    one = graph.sandbox()
    nodes = {place: place.node("a") for place in (one, one.like(namespace=graph.sandbox().namespace))}
    for place, node in nodes.items():
        place.put(node)
    if any(_nodes_missing(place, node) for place, node in nodes.items()):
        yield "GRA-NS-1"
    if any(_fails_to_read(one.like(namespace=empty_namespace(graph)), reader) for reader in graph.readers.of_nodes()):
        yield "GRA-NS-4"


def _many(graph: Graph) -> Iterator[str]:
    """The broken requirements among a batch and a transaction of one write."""
    for operation, root in (("batch", "GRA-BATCH-1"), ("transaction", "GRA-TXN-1")):
        if graph.operation_names.carries(operation):
            sandbox = graph.sandbox()
            node = sandbox.node("a")
            args = sandbox.writing(operation, "nodes", node)
            if not _succeeds(sandbox, operation, **args) or _nodes_missing(sandbox, node):
                yield root


def _succeeds(sandbox: Sandbox, name: str, **args: Any) -> bool:
    """Return whether a write is answered with a success without failures."""
    reply = sandbox.call(name, args)
    undone = isinstance(reply.result, Mapping) and reply.result.get("success") is False
    return reply.is_success and not undone and not listed(reply.result, "failures")


def _nodes_missing(sandbox: Sandbox, *nodes: dict[str, Any]) -> bool:
    """Return whether no operation shows exactly these nodes."""
    values = sorted(map(value_of, nodes))
    return not any(observed(sandbox.seen, reader) == values for reader in sandbox.graph.readers.of_nodes())


def _edges_missing(sandbox: Sandbox, expected_targets: Mapping[str, Mapping[str, str]]) -> bool:
    """Return whether no operation shows that the edges from each node lead exactly to its expected targets."""
    return not any(
        all(
            observed(sandbox.ends, edge_reader, source) == sandbox.expected_ends(edge_reader, targets)
            for source, targets in expected_targets.items()
        )
        for edge_reader in sandbox.graph.readers.of_edges()
    )


def _fails_to_read(sandbox: Sandbox, reader: str) -> bool:
    """Return whether reading a place without a write is an error other than a permanent refusal."""
    reply = sandbox.asked(reader)
    expect.readable(reply)
    return reply.is_error and not reply.is_a("BadRequest", "IndexNotReady")


ROOT_CAUSES = GraphRootCauses
