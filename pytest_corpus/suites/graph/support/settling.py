"""The time that a graph takes to show a write (R46)."""

from collections.abc import Iterator
from functools import partial

from pytest_corpus.kit.store.settling import Look, Settling
from pytest_corpus.suites.graph.support.capabilities import GraphCapabilities
from pytest_corpus.suites.graph.support.sandbox import NODE_READERS, Sandbox, observed


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
