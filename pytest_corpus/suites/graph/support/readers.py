"""The operations that show what a graph holds: tried once, before a test reads back with them."""

from collections.abc import Iterator, Mapping
from functools import partial

from pytest_corpus.kit import expect
from pytest_corpus.kit.outcomes import Blocked, NotApplicable, NotAssessed, Undecided
from pytest_corpus.kit.store.settling import Look, Settling
from pytest_corpus.suites.graph.support.capabilities import ASKING, SEEDS, GraphCapabilities
from pytest_corpus.suites.graph.support.place import value_of
from pytest_corpus.suites.graph.support.sandbox import EDGE_READERS, NODE_READERS, Sandbox, observed


class Readers:
    """The operations that show nodes or edges correctly."""

    def __init__(self, graph: GraphCapabilities) -> None:
        self._graph = graph

    def nodes_shown(self) -> Mapping[str, bool]:
        """By operation that shows nodes, whether it shows exactly those of the seeds and of other places."""
        shared = self._graph.shared
        if shared.node_readers is None:
            with self._graph.client.provider.paused():
                shared.node_readers = _node_readers(self._graph)
        return shared.node_readers

    def of_nodes(self) -> list[str]:
        """The operations that show nodes correctly, or all of them if none does.

        Raises:
            NotAssessed: no operation can show them.
        """
        return _correct(self.nodes_shown(), "read back: neither bulk_vertices nor a query of a known dialect")

    def of_edges(self) -> list[str]:
        """The operations that show edges correctly, or all of them if none does.

        Raises:
            NotAssessed: no operation can show them.
        """
        shared = self._graph.shared
        if shared.edge_readers is None:
            with self._graph.client.provider.paused():
                shared.edge_readers = _edge_readers(self._graph)
        return _correct(shared.edge_readers, "show edges: neither traversal nor a query of a known dialect")

    def trusted(self, name: str) -> str:
        """Go on only if an operation shows nodes correctly, or no operation does.

        Raises:
            NotApplicable: the suite knows no listed dialect, but other operations show nodes.
            Undecided: the operation is not offered, does not work, or shows less than the others.
        """
        shown = self.nodes_shown()
        self.skip_if_others_work(name, shown)
        if not shown.get(name, True) and any(shown.values()):
            self._shows_new_nodes(name)
            raise NotAssessed(f"{name} does not show what other operations show")
        return name

    def _shows_new_nodes(self, name: str) -> None:
        """Go on only if an operation shows nodes that no query asked for before they were written."""
        sandbox = self._graph.sandbox(own=False)
        values = [value for node in SEEDS for value in sandbox.put(sandbox.node(node))]
        with expect.resting_on(NODE_READERS[name]):
            sandbox.shows(name, values, "the nodes that were written")

    def skip_if_others_work(self, name: str, others: Mapping[str, bool]) -> None:
        """Go on only if an operation works; a query of an unknown dialect is not needed if others show the same.

        Raises:
            NotApplicable: there are others.
            Undecided: it is not offered or does not work.
        """
        try:
            self._graph.require(name)
        except NotAssessed as unknown:
            if isinstance(unknown, Blocked) or not (others and name in ASKING):
                raise
            raise NotApplicable(unknown.reason) from None


def _correct(readers: Mapping[str, bool], purpose: str) -> list[str]:
    if not readers:
        raise NotAssessed(f"no operation can {purpose}")
    return [name for name, correct in readers.items() if correct] or list(readers)


def _node_readers(graph: GraphCapabilities) -> dict[str, bool]:
    """By operation that works, whether it shows exactly what is in every place, before and after a write."""
    readers = {name: True for name in NODE_READERS if graph.works(name)}
    for sandbox, wanted in _written_nodes(graph):
        for name, correct in readers.items():
            readers[name] = correct and observed(sandbox.seen, name) == sorted(wanted)
    return readers


def _written_nodes(graph: GraphCapabilities) -> Iterator[tuple[Sandbox, list[str]]]:
    """Places, each with the values that it holds just now."""
    graph.seed()
    yield graph.seeds, [f"v-{graph.seeds.tag}-{name}" for name in SEEDS]
    places = [graph.sandbox(), graph.sandbox(own=False)]
    if graph.capabilities.flag("supports_multi_tenant") is True:
        places.append(graph.sandbox(tenant=graph.shared.tenant()))
    for sandbox in places:
        yield sandbox, []
        nodes = [sandbox.node(name) for name in "abc"]
        if observed(sandbox.put, *nodes):
            yield sandbox, [value_of(node) for node in nodes]


def _edge_readers(graph: GraphCapabilities) -> dict[str, bool]:
    """By operation that works, whether it shows exactly the edge of the seeds, and one in another place."""
    readers = {
        name: True for name in EDGE_READERS if graph.works(name) and (name == "traversal" or _asks_for_links(graph))
    }
    graph.seed()
    _follow(readers, graph.seeds, "s1", {"s2": f"v-{graph.seeds.tag}-s2"})
    sandbox = graph.sandbox()
    nodes = [sandbox.node("a"), sandbox.node("b")]
    if observed(sandbox.put, *nodes) and observed(sandbox.link, sandbox.edge("a", "b")):
        _follow(readers, sandbox, "a", {"b": value_of(nodes[1])})
    return readers


def _asks_for_links(graph: GraphCapabilities) -> bool:
    """Return whether a query can ask for the ends of edges."""
    try:
        graph.speaks("links")
    except Undecided:
        return False
    return True


def _follow(readers: dict[str, bool], sandbox: Sandbox, source: str, target: Mapping[str, str]) -> None:
    """Note which operations show that the edges of a node lead to one other only."""
    for name, correct in readers.items():
        found, wanted = observed(sandbox.ends, name, source), sandbox.expected_ends(name, target)
        # Plain requests may have added edges between the same seeds, which only a traversal shows.
        same = found is not None and set(found) == set(wanted) if name == "traversal" else found == wanted
        readers[name] = correct and same


class GraphSettling(Settling):
    """Try a node that is written and deleted, with each operation that shows nodes."""

    blind = frozenset({"capabilities", "health", "upsert_nodes"})

    def __init__(self, graph: GraphCapabilities) -> None:
        super().__init__(graph)
        self._graph = graph

    def trials(self) -> Iterator[Look]:
        graph = self._graph
        readers = [name for name in NODE_READERS if graph.prerequisites.is_callable(name)]
        with graph.client.provider.paused():
            sandbox = graph.sandbox(own=False)
            values = sandbox.put(sandbox.node("a"))
            yield from (partial(_shows, sandbox, name, values) for name in readers)
            sandbox.remove("nodes", "a")
            yield from (partial(_shows, sandbox, name, []) for name in readers)


def _shows(sandbox: Sandbox, reader: str, values: list[str]) -> bool | None:
    """Return whether an operation shows exactly these nodes; None if it does not work."""
    found = observed(sandbox.seen, reader)
    return None if found is None else found == values
