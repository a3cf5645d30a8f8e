"""The basic requirements of a graph, so that one root cause is one finding.

After a violation in a test, these requirements are tried in their plainest form, once in a run, with new nodes and new
queries. If no operation shows that a requirement holds, the requirement blocks the tests that depend on it. A fault
that only one operation shows blocks no test.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from pytest_corpus.kit import expect
from pytest_corpus.kit.outcomes import Blocked, Undecided, Violation
from pytest_corpus.kit.root_causes import BasicRequirement, RootCauses
from pytest_corpus.suites.graph.support import run_state
from pytest_corpus.suites.graph.support.answers import items_of
from pytest_corpus.suites.graph.support.capabilities import ASKING
from pytest_corpus.suites.graph.support.component import Graph
from pytest_corpus.suites.graph.support.node_group import empty_namespace, value_of
from pytest_corpus.suites.graph.support.sandbox import GraphSandbox, call_or_none
from pytest_corpus.suites.graph.support.scenarios import words
from pytest_corpus.text.values import strings_of

BASICS = {
    requirement: BasicRequirement(requirement, frozenset(needs), seen)
    for requirement, seen, *needs in (
        ("GRA-NODE-1", "no operation shows a node that was just written, with its labels", "upsert_nodes"),
        ("GRA-NODE-12", "a node that was written is shown under another id", "upsert_nodes"),
        ("GRA-NODE-3", "no operation shows every node of one request", run_state.SEVERAL_NODES),
        (
            "GRA-NODE-2",
            "no operation shows the new values of a node that was written again",
            *(run_state.NODE_AGAIN, run_state.LOOKING),
        ),
        ("GRA-NODE-9", "texts of properties are shown otherwise than they were written", run_state.ODD_TEXT),
        (
            "GRA-DELETE-1",
            "after one of two nodes is deleted, no operation shows exactly the other node",
            "delete_nodes",
        ),
        ("GRA-QUERY-2", "a query does not show a node that other operations show", "query"),
        ("GRA-EDGE-1", "no operation shows an edge that was just written, with its label", "upsert_edges"),
        ("GRA-EDGE-2", "a traversal shows an edge without the properties that were written", "upsert_edges"),
        ("GRA-EDGE-9", "no operation shows every edge of one request", run_state.SEVERAL_EDGES),
        (
            "GRA-DELETE-2",
            "after one of two edges is deleted, no operation shows exactly the other edge",
            "delete_edges",
        ),
        ("GRA-TRAV-2", "a traversal does not reach the other end of an edge", "upsert_edges", "traversal"),
        ("GRA-TRAV-3", "a traversal of depth 1 reaches the end of a second edge", run_state.SEVERAL_EDGES, "traversal"),
        (
            "GRA-NS-1",
            "no operation shows exactly the contents of one of two namespaces",
            *(run_state.IN_A_NAMESPACE, run_state.LOOKING),
        ),
        ("GRA-NS-4", "reading from a namespace without writes fails", run_state.LOOKING_FIRST),
        ("GRA-BATCH-1", "no operation shows a node that a batch wrote", "batch"),
        ("GRA-TXN-1", "no operation shows a node that a transaction wrote", "transaction"),
    )
}
"""The basic requirements of a graph. Each has the text of its violation and the actions of tests that need it."""

STREAMED = replace(BASICS["GRA-QUERY-2"], needs=frozenset(("stream_query",)))
"""GRA-QUERY-2, also for streams: if `query` does not show a stored node, this explains failures of `stream_query`."""

ALL = ("GRA-NODE-1", "GRA-NODE-12", "GRA-NODE-3")
"""The requirements on which all other tests depend."""


class GraphRootCauses(RootCauses[Graph]):
    """The basic requirements of a graph. A violation of one of them explains the failures of many tests."""

    def failing_basics(self) -> Iterator[BasicRequirement]:
        graph = self.subject
        for stage in (_try_nodes, _check_kept_texts, _try_queries, _try_edges, _try_namespaces_apart, _try_batches):
            try:
                for root in stage(graph):
                    yield BASICS[root]
                    if root in ALL:
                        return
                    if root == "GRA-QUERY-2" and _hides_node(graph, "stream_query"):
                        yield STREAMED
            except Blocked as obstacle:
                if obstacle.by == "GRA-NODE-1":
                    yield BASICS[obstacle.by]
                    return
            except (Undecided, Violation):
                continue


def _try_nodes(graph: Graph) -> Iterator[str]:
    """Yield the violated requirements on writing, updating and deleting nodes."""
    graph.require("upsert_nodes")
    graph.readers.for_nodes()
    sandbox = graph.sandbox()
    node = sandbox.node("a")
    if not _succeeds(sandbox, "upsert_nodes", nodes=[node]) or _are_nodes_missing(sandbox, node):
        yield "GRA-NODE-1"
        return
    if shown := _whole_nodes(sandbox, "a", node):
        if node["id"] not in (each.get("id") for each in shown):
            yield "GRA-NODE-12"
            return
        if not any({*node["labels"]} <= {*items_of(each, "labels", of=str)} for each in shown):
            yield "GRA-NODE-1"
            return
    sandbox = graph.sandbox()
    nodes = [sandbox.node(name) for name in "abc"][: graph.items_per_request]
    if not _succeeds(sandbox, "upsert_nodes", nodes=nodes) or _are_nodes_missing(sandbox, *nodes):
        yield "GRA-NODE-3"
        return
    sandbox = graph.sandbox()
    kept, old, new = sandbox.node("b"), sandbox.node("a"), sandbox.node("a")
    for each in (kept, old, new):
        sandbox.put(each)
    if _are_nodes_missing(sandbox, kept, new):
        yield "GRA-NODE-2"
    sandbox = graph.sandbox("delete_nodes")
    kept, gone = sandbox.node("b"), sandbox.node("a")
    sandbox.put(kept)
    sandbox.put(gone)
    if not _succeeds(sandbox, "delete_nodes", ids=[gone["id"]]) or _are_nodes_missing(sandbox, kept):
        yield "GRA-DELETE-1"


def _check_kept_texts(graph: Graph) -> Iterator[str]:
    """Yield GRA-NODE-9 if the texts in a node's properties are not listed as they were written."""
    graph.require("upsert_nodes", "bulk_vertices")
    if words.changed_properties(graph.sandbox()):
        yield "GRA-NODE-9"


def _try_queries(graph: Graph) -> Iterator[str]:
    """Yield GRA-QUERY-2 if a new query does not show a node that other operations show."""
    if _hides_node(graph, "query"):
        yield "GRA-QUERY-2"


def _hides_node(graph: Graph, operation: str) -> bool:
    """True if an operation for queries does not show a new node, although other operations do."""
    sandbox = graph.sandbox(own=False)
    node = sandbox.node("a")
    if not graph.works(operation):
        return False
    sandbox.put(node)
    return not _are_nodes_missing(sandbox, node) and call_or_none(sandbox.read_values, operation) == []


def _try_edges(graph: Graph) -> Iterator[str]:
    """Yield the violated requirements on writing and deleting edges, and on following an edge."""
    sandbox = graph.sandbox("upsert_nodes", "upsert_edges")
    values = sandbox.put_named("abc")
    graph.readers.for_edges()
    edges = [sandbox.edge(source, target) for source, target in ("ab", "cb")]
    for edge in edges:
        sandbox.call("upsert_edges", {"edges": [edge]})
    if _are_edges_missing(sandbox, {"a": {"b": values["b"]}, "c": {"b": values["b"]}, "b": {}}):
        yield "GRA-EDGE-1"
        return
    if graph.works("traversal") and call_or_none(sandbox.reached_nodes, "a") != ["b"]:
        yield "GRA-TRAV-2"
    elif lost := _find_edge_fault(sandbox, edges[0]):
        yield lost
        return
    if graph.items_per_request > 1:
        sandbox = graph.sandbox()
        values = sandbox.put_named("abc")
        sandbox.call("upsert_edges", {"edges": [sandbox.edge("a", "b"), sandbox.edge("b", "c")]})
        if _are_edges_missing(sandbox, {"a": {"b": values["b"]}, "b": {"c": values["c"]}}):
            yield "GRA-EDGE-9"
            return
        if graph.works("traversal") and "c" in (call_or_none(sandbox.reached_nodes, "a") or ()):
            yield "GRA-TRAV-3"
    sandbox = graph.sandbox("delete_edges")
    values = sandbox.put_named("abc")
    sandbox.put_edges(sandbox.edge("a", "b", "e"))
    sandbox.put_edges(sandbox.edge("b", "c", "f"))
    deleted = _succeeds(sandbox, "delete_edges", ids=[sandbox.id("e")])
    if not deleted or _are_edges_missing(sandbox, {"a": {}, "b": {"c": values["c"]}}):
        yield "GRA-DELETE-2"


def _find_edge_fault(sandbox: GraphSandbox, edge: Mapping[str, Any]) -> str | None:
    """Return the violated requirement if the only edge from `a` has a wrong label or property, or None."""
    asked = [reader for reader in ASKING if sandbox.graph.works(reader)]
    for shown in call_or_none(sandbox.relationships, "a") or ():
        if shown.get("label") != edge["label"] and not any(
            call_or_none(sandbox.read_targets, each, "a") for each in asked
        ):
            return "GRA-EDGE-1"
        value, key = value_of(edge), sandbox.key("a")
        known = (call_or_none(partial(sandbox.query_values, each, "link_values", wanted=key)) for each in asked)
        if value not in strings_of(shown) and not any(known):
            return "GRA-EDGE-2"
    return None


def _try_namespaces_apart(graph: Graph) -> Iterator[str]:
    """Yield the violated requirements on equal ids in two namespaces, and on reading an empty namespace."""
    graph.require_namespaces()
    one = graph.sandbox()
    nodes = {place: place.node("a") for place in (one, one.copy_to(namespace=graph.sandbox().namespace))}
    for place, node in nodes.items():
        place.put(node)
    if any(_are_nodes_missing(place, node) for place, node in nodes.items()):
        yield "GRA-NS-1"
    if any(
        _fails_to_read(one.copy_to(namespace=empty_namespace(graph)), reader) for reader in graph.readers.for_nodes()
    ):
        yield "GRA-NS-4"


def _try_batches(graph: Graph) -> Iterator[str]:
    """Yield the violated requirements on a batch and on a transaction with one write."""
    for operation, root in (("batch", "GRA-BATCH-1"), ("transaction", "GRA-TXN-1")):
        if graph.operation_names.accepts_writes(operation):
            sandbox = graph.sandbox()
            node = sandbox.node("a")
            args = sandbox.write_args(operation, "nodes", node)
            if not _succeeds(sandbox, operation, **args) or _are_nodes_missing(sandbox, node):
                yield root


def _succeeds(sandbox: GraphSandbox, name: str, **args: Any) -> bool:
    """True if a write succeeds without failed items."""
    reply = sandbox.call(name, args)
    undone = isinstance(reply.result, Mapping) and reply.result.get("success") is False
    return reply.is_success and not undone and not items_of(reply.result, "failures")


def _whole_nodes(sandbox: GraphSandbox, name: str, node: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the copies of a node in a list of nodes and in a traversal. The node is recognized by its value."""
    listed_nodes = call_or_none(sandbox.list_nodes) if sandbox.graph.works("bulk_vertices") else None
    reached = call_or_none(sandbox.traverse, name) if sandbox.graph.works("traversal") else None
    shown = [*(listed_nodes or ()), *items_of(reached, "nodes")]
    return [each for each in shown if value_of(node) in strings_of(each.get("properties"))]


def _are_nodes_missing(sandbox: GraphSandbox, *nodes: dict[str, Any]) -> bool:
    """True if no operation shows exactly these nodes."""
    values = sorted(map(value_of, nodes))
    return not any(call_or_none(sandbox.read_values, reader) == values for reader in sandbox.graph.readers.for_nodes())


def _are_edges_missing(sandbox: GraphSandbox, expected_targets: Mapping[str, Mapping[str, str]]) -> bool:
    """True if no operation shows that the edges from each node lead exactly to its expected targets."""
    return not any(
        all(
            call_or_none(sandbox.read_targets, edge_reader, source) == sandbox.targets_to_show(edge_reader, targets)
            for source, targets in expected_targets.items()
        )
        for edge_reader in sandbox.graph.readers.for_edges()
    )


def _fails_to_read(sandbox: GraphSandbox, reader: str) -> bool:
    """True if reading a namespace to which nothing was written gives an error that is not a permanent refusal."""
    reply = sandbox.ask_for_all(reader)
    expect.readable(reply)
    return reply.is_error and not reply.is_a("BadRequest", "IndexNotReady")


ROOT_CAUSES = GraphRootCauses
