"""One root cause, one finding: the sentences that nearly every test of a graph rests on.

Where a test finds a violation, these are tried in their plainest form, once a run, each in places of its own, where
no query is asked twice. One that no operation sees kept explains what the tests that rest on it found: they are
blocked by it. What is wrong in one way of looking only is none of these sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pytest_corpus.kit import expect
from pytest_corpus.kit.outcomes import Blocked, Undecided, Violation
from pytest_corpus.kit.root_causes import RootCauses
from pytest_corpus.suites.graph.answers import listed
from pytest_corpus.suites.graph.component import Graph
from pytest_corpus.suites.graph.sandbox import Sandbox
from pytest_corpus.suites.graph.written_items import MANY


def _ids(prefix: str, *numbers: int) -> tuple[str, ...]:
    return tuple(f"{prefix}-{number}" for number in numbers)


STATE = ("COM-IDEM-1", "COM-IDEM-2", "COM-IDEM-3", "COM-TENANT-1", "COM-CACHE-1", "COM-CONC-1", "COM-CAP-6")

LINKED = (
    *("COM-IDEM-3", "COM-TENANT-1", "GRA-NS-1", "GRA-NS-2", "GRA-BATCH-1", "GRA-TXN-1", "GRA-TXN-2", "GRA-MODEL-1"),
    *_ids("GRA-EDGE", 2, 3, 5, 9),
    *_ids("GRA-DELETE", 2, 4, 5, 6),
    *_ids("GRA-TRAV", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 14),
    *_ids("GRA-SCHEMA", 2, 3),
)
"""The requirements whose tests write edges and look at them."""

NODES = (
    *STATE,
    *_ids("GRA-NODE", 1, 2, 3, 5, 7, 8, 9, 10, 11),
    *_ids("GRA-EDGE", 1, 4, 6, 7, 8, 10),
    *_ids("GRA-DELETE", 1, 3, 7, 9),
    *_ids("GRA-NS", 3, 4),
    *_ids("GRA-QUERY", 2, 3, 4, 11, 12),
    *_ids("GRA-DIALECT", 2, 3),
    *_ids("GRA-STREAM", 2, 3, 4),
    *_ids("GRA-BATCH", 1, 3, 5, 6, 7, 11),
    *_ids("GRA-TXN", 1, 2, 3, 6),
    *_ids("GRA-BULK", 1, 3, 4, 5),
    *("GRA-SCHEMA-2", "GRA-SCHEMA-3", "GRA-CACHE-1", "GRA-MODEL-1"),
)
"""The requirements whose tests write nodes and look at them."""

STORED = (*LINKED, *NODES)
"""Those whose tests write nodes, with edges or without."""

CARRIED = (
    *("COM-IDEM-1", "COM-IDEM-3", "COM-TENANT-1", "GRA-NS-1", "GRA-QUERY-2", "GRA-MODEL-1"),
    *_ids("GRA-DELETE", 1, 6),
)
"""The requirements whose tests write through batches and transactions too."""

DEPENDENTS: Mapping[str, tuple[str, ...]] = {
    "GRA-NODE-1": STORED,
    "GRA-NODE-3": STORED,
    "GRA-NODE-2": (
        *("COM-IDEM-1", "COM-IDEM-3", "GRA-QUERY-2", "GRA-STREAM-2", "GRA-BULK-1", "GRA-TRAV-2", "GRA-MODEL-1"),
        *("GRA-BATCH-1", "GRA-TXN-1", "GRA-DELETE-1"),
    ),
    "GRA-DELETE-1": (
        *("COM-IDEM-1", "COM-IDEM-3", "COM-TENANT-1", "COM-CAP-6", "GRA-QUERY-2", "GRA-STREAM-2", "GRA-MODEL-1"),
        *("GRA-BATCH-1", "GRA-TXN-1", "GRA-TXN-2", "GRA-BULK-1", "GRA-BULK-3", "GRA-NS-2"),
        *_ids("GRA-DELETE", 3, 4, 5, 6, 9),
    ),
    "GRA-EDGE-1": LINKED,
    "GRA-EDGE-9": LINKED,
    "GRA-DELETE-2": (*("COM-IDEM-3", "GRA-DELETE-6", "GRA-BATCH-1", "GRA-TXN-2", "GRA-NS-2", "GRA-MODEL-1"),),
    "GRA-TRAV-2": (
        *("COM-TENANT-1", "GRA-NS-1", "GRA-DELETE-4", "GRA-EDGE-1", "GRA-EDGE-2", "GRA-EDGE-3"),
        *_ids("GRA-TRAV", 1, 3, 4, 5, 6, 7, 8, 9, 10, 13, 14),
    ),
    "GRA-TRAV-3": _ids("GRA-TRAV", 4, 5, 6, 7, 14),
    "GRA-NS-1": (*_ids("GRA-NS", 2, 3, 4), "GRA-QUERY-12", "GRA-BULK-3", "GRA-BULK-5", "GRA-CACHE-1"),
    "GRA-NS-4": ("COM-TENANT-1", "GRA-BULK-3", "GRA-MODEL-1", "GRA-QUERY-5", "GRA-STREAM-7"),
    "GRA-BATCH-1": (
        *CARRIED,
        *_ids("GRA-BATCH", 3, 5, 7, 11),
    ),
    "GRA-TXN-1": (*CARRIED, "GRA-TXN-2"),
}
"""For each of these sentences the requirements whose tests rest on it."""


class GraphRootCauses(RootCauses[Graph]):
    """The plain sentences of a graph."""

    dependents = frozenset(requirement for dependents in DEPENDENTS.values() for requirement in dependents)

    def failing_basics(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        graph = self.subject
        graph.client.provider.clear()
        for stage in (_nodes, _edges, _places, _many):
            try:
                for root in stage(graph):
                    yield root, _dependents_of(root, graph)
                    if root in ("GRA-NODE-1", "GRA-NODE-3"):
                        return
            except Blocked as obstacle:
                if obstacle.by == "GRA-NODE-1":
                    yield obstacle.by, _dependents_of(obstacle.by, graph)
                    return
            except (Undecided, Violation):
                continue


def _dependents_of(root: str, graph: Graph) -> tuple[str, ...]:
    """The requirements that a root explains.

    An adapter that keeps no node and takes any argument for one does nothing at all: that is not a single mistake, and
    what it does with edges stays a finding of its own.
    """
    if root == "GRA-NODE-1" and graph.call("upsert_nodes", {"nodes": 7}).is_success:
        return NODES
    return DEPENDENTS[root]


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
    result = sandbox.call(name, args).result
    return isinstance(result, Mapping) and not listed(result, "failures") and result.get("success") is not False


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
    """Whether reading where nothing was written is an error that is no refusal for good."""
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
