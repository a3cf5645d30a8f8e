"""Which operations show what is there: found out before a test reads back with them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from pytest_corpus.kit import expect
from pytest_corpus.kit.outcomes import Blocked, NotApplicable, NotAssessed, Undecided, Violation
from pytest_corpus.kit.request import canary
from pytest_corpus.suites.graph.subject.capabilities import ASKING, SEEDS, GraphCapabilities
from pytest_corpus.suites.graph.subject.sandbox import EDGE_READERS, NODE_READERS, Sandbox


class Readers:
    """The operations that show nodes or edges, as far as they do it rightly."""

    def __init__(self, graph: GraphCapabilities) -> None:
        self._graph = graph

    def nodes_shown(self) -> Mapping[str, bool]:
        """For each operation that shows nodes whether it shows the seeds, and nodes in other places, rightly."""
        if self._graph.shared.node_readers is None:
            with self._graph.client.provider.paused():
                self._graph.shared.node_readers = _nodes_shown(self._graph)
        return self._graph.shared.node_readers

    def trusted(self, name: str) -> str:
        """Go on only where an operation shows nodes rightly, or none does.

        Raises:
            NotApplicable: nothing can be asked in the dialect of the adapter, but other operations show nodes.
            Undecided: it is not offered, does not work, or shows less than the others.
        """
        self.spare(name, self.nodes_shown())
        node_readers = self.nodes_shown()
        if not node_readers.get(name, True) and any(node_readers.values()):
            self._plainly_shown(name)
            raise NotAssessed(f"{name} does not show what other operations show")
        return name

    def _plainly_shown(self, name: str) -> None:
        """Go on only where an operation shows nodes that nobody looked for before they were written."""
        sandbox = self._graph.sandbox(own=False)
        values = [value for node in SEEDS for value in sandbox.put(sandbox.node(node))]
        with expect.resting_on(NODE_READERS[name]):
            sandbox.shows(name, values, "the nodes that were written")

    def of_nodes(self) -> list[str]:
        """The operations that show nodes rightly; all where none does.

        Raises:
            NotAssessed: no operation can show them.
        """
        node_readers = self.nodes_shown()
        if not node_readers:
            raise NotAssessed("no operation can read back: neither bulk_vertices nor a query of a known dialect")
        return [name for name, right in node_readers.items() if right] or list(node_readers)

    def spare(self, name: str, others: Mapping[str, bool]) -> None:
        """Go on where an operation works; leave a query out where others show the same and its dialect is unknown.

        Raises:
            NotApplicable: there are others.
            Undecided: it is not offered or does not work.
        """
        try:
            self._graph.require(name)
        except Blocked:
            raise
        except NotAssessed as unknown:
            if others and name in ASKING:
                raise NotApplicable(unknown.reason) from None
            raise

    def of_edges(self) -> list[str]:
        """The operations that show edges rightly; all where none does.

        Raises:
            NotAssessed: no operation can show them.
        """
        if self._graph.shared.edge_readers is None:
            with self._graph.client.provider.paused():
                self._graph.shared.edge_readers = _edges_shown(self._graph)
        found = self._graph.shared.edge_readers
        if not found:
            raise NotAssessed("no operation can show edges: neither traversal nor a query of a known dialect")
        return [name for name, right in found.items() if right] or list(found)


def _nodes_shown(graph: GraphCapabilities) -> dict[str, bool]:
    """For each operation that shows nodes whether it shows the seeds, and nodes in other places, rightly."""
    node_readers = {name: True for name in NODE_READERS if graph.works(name)}
    graph.seed()
    _look(node_readers, graph.seeds, [f"v-{graph.seeds.tag}-{name}" for name in SEEDS])
    homes = [graph.sandbox(), graph.sandbox(own=False)]
    if graph.capabilities.flag("supports_multi_tenant") is True:
        homes.append(graph.sandbox(tenant=f"tenant-{canary()}"))
    for sandbox in homes:
        nodes = [sandbox.node(name) for name in "abc"]
        _look(node_readers, sandbox, [])
        if _holds(partial(_put, sandbox, nodes)):
            _look(node_readers, sandbox, [str(node["properties"]["corpus_value"]) for node in nodes])
    return node_readers


def _edges_shown(graph: GraphCapabilities) -> dict[str, bool]:
    """For each operation that shows edges whether it shows that of the seeds, and one in another place, rightly."""
    edge_readers = {name: True for name in EDGE_READERS if graph.works(name) and (name == "traversal" or graph.links())}
    graph.seed()
    _follow(edge_readers, graph.seeds, ("s1", "s2"), f"v-{graph.seeds.tag}-s2")
    sandbox = graph.sandbox()
    nodes = [sandbox.node("a"), sandbox.node("b")]
    if _holds(partial(_put, sandbox, nodes)) and _holds(partial(_link, sandbox)):
        _follow(edge_readers, sandbox, ("a", "b"), str(nodes[1]["properties"]["corpus_value"]))
    return edge_readers


def _look(node_readers: dict[str, bool], sandbox: Sandbox, wanted: list[str]) -> None:
    """Note which operations show just these values in a place."""
    for name, right in node_readers.items():
        node_readers[name] = right and _holds(partial(_shows, sandbox, name, sorted(wanted)))


def _follow(edge_readers: dict[str, bool], sandbox: Sandbox, ends: tuple[str, str], value: str) -> None:
    """Note which operations show that a node leads to one other only, which has this value."""
    source, target = ends
    for name, right in edge_readers.items():
        wanted = sandbox.id(target) if name == "traversal" else value
        edge_readers[name] = right and _holds(partial(_leads, sandbox, name, source, wanted))


def _put(sandbox: Sandbox, nodes: list[dict[str, Any]]) -> bool:
    return bool(sandbox.put(*nodes))


def _shows(sandbox: Sandbox, reader: str, wanted: list[str]) -> bool:
    return sandbox.seen(reader) == wanted


def _link(sandbox: Sandbox) -> bool:
    sandbox.link(sandbox.edge("a", "b"))
    return True


def _leads(sandbox: Sandbox, edge_reader: str, source: str, wanted: str) -> bool:
    found = sandbox.ends(edge_reader, source)
    # Plain requests may have added edges between the same seeds, which only a traversal shows.
    return set(found) == {wanted} if edge_reader == "traversal" else found == [wanted]


def _holds(check: Callable[[], bool]) -> bool:
    """Whether a check holds; one that ends in a finding or without a verdict does not."""
    try:
        return check()
    except (Undecided, Violation):
        return False
