"""`bulk_vertices`: complete, exactly once, filtered (SPECIFICATION 7.3.3, 11.5; R31, R32)."""

from collections.abc import Iterable, Mapping
from typing import Any

from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import remembered
from pytest_corpus.kit.outcomes import NotApplicable
from pytest_corpus.suites.graph.support.component import Graph
from pytest_corpus.suites.graph.support.sandbox import MOST_PAGES, PAGE, Sandbox
from pytest_corpus.suites.graph.support.scenarios.isolation import empty_place, lasting_place

COUNT = 11
"""The number of nodes that are listed in pages."""

PREDICATES: dict[str, Any] = {"greater": {"$gt": 1}, "choice": {"in": [2]}, "list": [2]}
"""Terms of a filter that 2 meets and 1 does not; compared as plain values, neither does."""


def bulky(graph: Graph) -> Sandbox:
    """A place whose nodes are listed, where listing works."""
    graph.require("bulk_vertices", "upsert_nodes")
    return empty_place(graph)


def filled(graph: Graph, count: int) -> Sandbox:
    """A place with nodes n0, n1 ... in it."""
    sandbox = bulky(graph)
    sandbox.put(*(sandbox.node(f"n{number}") for number in range(count)))
    return sandbox


def narrowed(sandbox: Sandbox) -> dict[str, Any]:
    """The filter that a crowded place needs; none in a namespace of its own."""
    return {} if sandbox.namespace or not sandbox.graph.filters else {"filter": {"corpus_group": sandbox.group}}


@remembered
def pages(graph: Graph, limit: int | None) -> tuple[Sandbox, list[list[Mapping[str, Any]]]]:
    """A place with a number of nodes, and its pages of a size."""
    graph.require("bulk_vertices", "upsert_nodes")

    def fill(sandbox: Sandbox) -> None:
        sandbox.put(*(sandbox.node(f"n{number}") for number in range(COUNT)))

    sandbox, _ = lasting_place(graph, "pages", fill, empty=True)
    spacious(sandbox, limit)
    given = {} if limit is None else {"limit": limit}
    return sandbox, [*sandbox.pages({**given, **narrowed(sandbox)})]


def every_node_once(sandbox: Sandbox, pages: Iterable[list[Mapping[str, Any]]], wanted: set[str]) -> None:
    """The pages have just these nodes, each once; others only where the place is crowded."""
    mine: set[str] = set()
    for page in pages:
        ids = [str(node.get("id")) for node in page]
        found = [name for name in ids if sandbox.namespace is not None or name.startswith(f"{sandbox.tag}-")]
        again = len(found) - len(set(found) - mine)
        expect.that(not again, "each node once", f"{again} again", "result.nodes")
        mine |= set(found)
    missing, more = wanted - mine, mine - wanted
    expect.that(not missing, f"{len(wanted)} nodes", f"{len(missing)} are missing", "result.nodes")
    expect.that(not more, f"{len(wanted)} nodes", f"{len(more)} more", "result.nodes")


def spacious(sandbox: Sandbox, limit: int | None) -> None:
    """Go on only if the suite follows all pages of this size: not through a crowded place in small steps."""
    if sandbox.namespace is None and not sandbox.graph.filters:
        crowd = sum(len(page) for page in sandbox.pages({"limit": PAGE}))
        if limit is not None and crowd > limit * MOST_PAGES:
            raise NotApplicable(f"{crowd} nodes lie in the default namespace, and filters are not offered")


def fit_once(sandbox: Sandbox, limit: int, wanted: dict[str, Any], ids: set[str]) -> None:
    """The pages with a filter have just these nodes, each once, unless the filter is refused permanently."""
    first = sandbox.call("bulk_vertices", {"limit": limit, "filter": wanted})
    if expect.either(first, "BadRequest", "NotSupported"):
        every_node_once(sandbox, sandbox.pages({"limit": limit, "filter": wanted}, first), ids)
