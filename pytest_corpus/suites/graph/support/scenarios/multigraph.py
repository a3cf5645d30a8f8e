"""Loops and parallel edges: a graph need not take them (R51)."""

from pytest_corpus.kit.outcomes import NotApplicable
from pytest_corpus.spec.errors import is_a
from pytest_corpus.suites.graph.support.answers import failures
from pytest_corpus.suites.graph.support.component import Graph
from pytest_corpus.suites.graph.support.scenarios.edges import error_of

LOOP, PARALLEL = "a loop", "a second edge of one label between the same nodes"

EDGES = {LOOP: (("a", "a"),), PARALLEL: (("a", "b"), ("a", "b"))}
"""For each kind, the edges that show whether it is taken, by source and target."""


def takes(graph: Graph, kind: str) -> bool:
    """Return whether a graph stores edges of a kind; only one that refuses them permanently does not."""
    known = graph.shared.edge_kinds
    if kind not in known:
        known[kind] = not _refuses(graph, kind)
    return known[kind]


def needs(graph: Graph, *kinds: str) -> None:
    """Go on only if a graph stores edges of these kinds.

    Raises:
        NotApplicable: it refuses them permanently.
    """
    for kind in kinds:
        if not takes(graph, kind):
            raise NotApplicable(f"{kind} is refused permanently")


def _refuses(graph: Graph, kind: str) -> bool:
    graph.require("upsert_nodes", "upsert_edges")
    with graph.client.provider.paused():
        sandbox = graph.sandbox()
        sandbox.put(sandbox.node("a"), sandbox.node("b"))
        for number, (source, target) in enumerate(EDGES[kind]):
            edge = sandbox.edge(source, target, f"e{number}")
            reply = sandbox.call("upsert_edges", {"edges": [edge]})
            named = filter(None, map(error_of, failures(reply.result)))
            if reply.is_a("BadRequest", "NotSupported") or any(is_a(name, "BadRequest") for name in named):
                return True
    return False
