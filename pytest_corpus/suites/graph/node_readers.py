"""Which operations show what is there: found out before a test reads back with them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from pytest_corpus.kit.outcomes import Undecided, Violation
from pytest_corpus.suites.graph.sandbox import GUIDES, READERS, Space

if TYPE_CHECKING:
    from pytest_corpus.suites.graph.component import Graph

SEEDS = tuple(f"s{number}" for number in range(1, 9))
"""The nodes that plain requests speak of: a chain."""


def nodes_shown(graph: Graph) -> dict[str, bool]:
    """For each operation that shows nodes whether it shows the seeds, and nodes in other places, rightly."""
    sights = {name: True for name in READERS if graph.offers(name)}
    graph.seed()
    _look(sights, graph.seeds, [f"v-{graph.seeds.tag}-{name}" for name in SEEDS])
    homes = [graph.space(), graph.space(own=False)]
    if graph.capabilities.flag("supports_multi_tenant") is True:
        homes.append(graph.space(tenant=f"tenant-{graph.canary()}"))
    for home in homes:
        nodes = [home.node(name) for name in "abc"]
        _look(sights, home, [])
        if _holds(partial(_put, home, nodes)):
            _look(sights, home, [str(node["properties"]["corpus_value"]) for node in nodes])
    return sights


def edges_shown(graph: Graph) -> dict[str, bool]:
    """For each operation that shows edges whether it shows that of the seeds, and one in another place, rightly."""
    guides = {name: True for name in GUIDES if graph.offers(name) and (name == "traversal" or graph.links())}
    graph.seed()
    _follow(guides, graph.seeds, ("s1", "s2"), f"v-{graph.seeds.tag}-s2")
    home = graph.space()
    nodes = [home.node("a"), home.node("b")]
    if _holds(partial(_put, home, nodes)) and _holds(partial(_link, home)):
        _follow(guides, home, ("a", "b"), str(nodes[1]["properties"]["corpus_value"]))
    return guides


def _look(sights: dict[str, bool], home: Space, wanted: list[str]) -> None:
    """Note which operations show just these values in a place."""
    for name, right in sights.items():
        sights[name] = right and _holds(partial(_shows, home, name, sorted(wanted)))


def _follow(guides: dict[str, bool], home: Space, ends: tuple[str, str], value: str) -> None:
    """Note which operations show that a node leads to one other only, which has this value."""
    source, target = ends
    for name, right in guides.items():
        wanted = home.id(target) if name == "traversal" else value
        guides[name] = right and _holds(partial(_leads, home, name, source, wanted))


def _put(home: Space, nodes: list[dict[str, Any]]) -> bool:
    return bool(home.put(*nodes))


def _shows(home: Space, reader: str, wanted: list[str]) -> bool:
    return home.seen(reader) == wanted


def _link(home: Space) -> bool:
    home.link(home.edge("a", "b"))
    return True


def _leads(home: Space, guide: str, source: str, wanted: str) -> bool:
    found = home.ends(guide, source)
    # Plain requests may have added edges between the same seeds, which only a traversal shows.
    return set(found) == {wanted} if guide == "traversal" else found == [wanted]


def _holds(check: Callable[[], bool]) -> bool:
    """Whether a check holds; one that ends in a finding or without a verdict does not."""
    try:
        return check()
    except (Undecided, Violation):
        return False
