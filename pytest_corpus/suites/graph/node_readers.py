"""Which operations show what is there: found out before a test reads back with them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from pytest_corpus.kit.outcomes import Undecided, Violation
from pytest_corpus.suites.graph.sandbox import EDGE_READERS, NODE_READERS, Sandbox

if TYPE_CHECKING:
    from pytest_corpus.suites.graph.component import Graph

SEEDS = tuple(f"s{number}" for number in range(1, 9))
"""The nodes that plain requests speak of: a chain."""


def nodes_shown(graph: Graph) -> dict[str, bool]:
    """For each operation that shows nodes whether it shows the seeds, and nodes in other places, rightly."""
    node_readers = {name: True for name in NODE_READERS if graph.works(name)}
    graph.seed()
    _look(node_readers, graph.seeds, [f"v-{graph.seeds.tag}-{name}" for name in SEEDS])
    homes = [graph.sandbox(), graph.sandbox(own=False)]
    if graph.capabilities.flag("supports_multi_tenant") is True:
        homes.append(graph.sandbox(tenant=f"tenant-{graph.canary()}"))
    for sandbox in homes:
        nodes = [sandbox.node(name) for name in "abc"]
        _look(node_readers, sandbox, [])
        if _holds(partial(_put, sandbox, nodes)):
            _look(node_readers, sandbox, [str(node["properties"]["corpus_value"]) for node in nodes])
    return node_readers


def edges_shown(graph: Graph) -> dict[str, bool]:
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
