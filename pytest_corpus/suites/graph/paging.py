"""`bulk_vertices`: complete, exactly once, filtered (SPECIFICATION 7.3.3, 11.5; R31, R32)."""

from __future__ import annotations

from itertools import islice
from typing import Any

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.audit import holds
from pytest_corpus.kit.outcomes import NotApplicable
from pytest_corpus.kit.request import canary
from pytest_corpus.suites.graph.component import Graph
from pytest_corpus.suites.graph.sandbox import MOST_PAGES, PAGE, Sandbox

COUNT = 11
"""So many nodes are listed in pages."""

BAD_PAGES: dict[str, dict[str, Any]] = {
    "limit_text": {"limit": "ten"},
    "limit_list": {"limit": [5]},
    "limit_fraction": {"limit": 2.5},
    "limit_zero": {"limit": 0},
    "limit_negative": {"limit": -1},
    "cursor_number": {"cursor": 7},
    "cursor_object": {"cursor": {"a": 1}},
    "filter_text": {"filter": "a"},
    "filter_list": {"filter": ["a"]},
    "namespace_number": {"namespace": 7},
}


class Paging:
    """Pages of nodes."""

    @pytest.mark.core
    @pytest.mark.requirement("GRA-BULK-1")
    def test_the_nodes_that_were_written_are_listed(self, graph: Graph) -> None:
        """New, updated and remaining nodes are listed, deleted ones are not."""
        sandbox = bulky(graph)
        values = dict(zip("abc", sandbox.put(*(sandbox.node(name) for name in "abc")), strict=True))
        sandbox.shows("bulk_vertices", values.values(), "every node")
        values["b"] = sandbox.put(sandbox.node("b"))[0]
        sandbox.shows("bulk_vertices", values.values(), "every node as it is now")
        sandbox.remove("nodes", "a")
        sandbox.shows("bulk_vertices", [values["b"], values["c"]], "the nodes that are left")

    @pytest.mark.core
    @pytest.mark.requirement("GRA-BULK-2")
    def test_a_page_is_of_the_schema(self, graph: Graph) -> None:
        """Each page, the last one too, is of the schema."""
        sandbox = filled(graph, 3)
        sandbox.call("upsert_nodes", {"nodes": [{**sandbox.node("bare"), "labels": []}]})
        for limit in (2, 100):
            reply = sandbox.call("bulk_vertices", {"limit": limit})
            expect.success(reply, "a page of nodes")
            holds("GRA-BULK-2", reply, graph)

    @pytest.mark.core
    @pytest.mark.requirement("GRA-BULK-3")
    @pytest.mark.parametrize("limit", [1, 2, 3, 5, 10, 11, 12, 100, None], ids=str)
    def test_pages_have_every_node_once(self, graph: Graph, limit: int | None) -> None:
        """Whatever the size of a page, following the cursor gives every node exactly once."""
        sandbox = filled(graph, COUNT)
        given = {} if limit is None else {"limit": limit}
        spacious(sandbox, limit)
        every_node_once(sandbox, {**given, **narrowed(sandbox)}, {sandbox.id(f"n{number}") for number in range(COUNT)})

    @pytest.mark.requirement("GRA-BULK-3")
    def test_more_nodes_than_a_page_holds_by_default(self, graph: Graph) -> None:
        """More than a hundred nodes are all listed, without a `limit`."""
        sandbox = filled(graph, 130)
        every_node_once(sandbox, narrowed(sandbox), {sandbox.id(f"n{number}") for number in range(130)})

    @pytest.mark.requirement("GRA-BULK-3")
    def test_pages_of_an_empty_place_end(self, graph: Graph) -> None:
        """Where nothing was written, or everything deleted, there are no nodes and no more pages."""
        sandbox = bulky(graph)
        graph.namespaces(aside=True)
        every_node_once(sandbox, {"limit": 2}, set())
        sandbox.put(sandbox.node("a"))
        sandbox.remove("nodes", "a")
        every_node_once(sandbox, {"limit": 2}, set())

    @pytest.mark.requirement("GRA-BULK-3")
    def test_a_tenant_pages_through_its_own_nodes(self, graph: Graph) -> None:
        """With a tenant, following the cursor gives every node once too."""
        bulky(graph)
        sandbox = graph.sandbox(tenant=f"tenant-{canary()}")
        sandbox.put(*(sandbox.node(f"n{number}") for number in range(5)))
        spacious(sandbox, 2)
        every_node_once(sandbox, {"limit": 2, **narrowed(sandbox)}, {sandbox.id(f"n{number}") for number in range(5)})

    @pytest.mark.core
    @pytest.mark.requirement("GRA-BULK-4")
    @pytest.mark.parametrize("limit", [1, 2, 5])
    def test_a_page_is_no_larger_than_asked_for(self, graph: Graph, limit: int) -> None:
        """The first page and the following ones have at most `limit` nodes."""
        sandbox = filled(graph, COUNT)
        for page in islice(sandbox.pages({"limit": limit, **narrowed(sandbox)}), COUNT):
            expect.that(len(page) <= limit, f"at most {limit} nodes", f"{len(page)}", "result.nodes")

    @pytest.mark.core
    @pytest.mark.requirement("GRA-BULK-5")
    @pytest.mark.parametrize("limit", [1, 2, 3, 100])
    def test_a_filter_is_heeded_on_every_page(self, graph: Graph, limit: int) -> None:
        """Of eleven nodes the four that fit are listed, each once, in pages of any size."""
        sandbox = bulky(graph)
        fit = {2, 3, 7, 10}
        sandbox.put(*(sandbox.node(f"n{n}", corpus_kind=f"{sandbox.tag}{n in fit}") for n in range(COUNT)))
        wanted = {"corpus_kind": f"{sandbox.tag}True"}
        if served(sandbox, wanted):
            every_node_once(sandbox, {"limit": limit, "filter": wanted}, {sandbox.id(f"n{number}") for number in fit})

    @pytest.mark.requirement("GRA-BULK-5")
    @pytest.mark.parametrize("kind", ["text", "number", "boolean", "two", "missing", "other_type"])
    def test_a_filter_compares_values(self, graph: Graph, kind: str) -> None:
        """Text, numbers and booleans are compared with their type, several properties all together."""
        sandbox = bulky(graph)
        sandbox.put(
            sandbox.node("a", corpus_kind="x", corpus_size=1, corpus_true=True),
            sandbox.node("b", corpus_kind="x", corpus_size=2, corpus_true=False),
            sandbox.node("c", corpus_kind="y", corpus_size=1),
        )
        cases: dict[str, tuple[dict[str, Any], str]] = {
            "text": ({"corpus_kind": "x"}, "ab"),
            "number": ({"corpus_size": 1}, "ac"),
            "boolean": ({"corpus_true": True}, "a"),
            "two": ({"corpus_kind": "x", "corpus_size": 1}, "a"),
            "missing": ({"corpus_missing": 1}, ""),
            "other_type": ({"corpus_size": "1"}, ""),
        }
        wanted, names = {"corpus_group": sandbox.group, **cases[kind][0]}, cases[kind][1]
        if served(sandbox, wanted):
            every_node_once(sandbox, {"limit": 5, "filter": wanted}, {sandbox.id(name) for name in names})

    @pytest.mark.core
    @pytest.mark.requirement("GRA-BULK-6")
    @pytest.mark.parametrize("kind", list(BAD_PAGES))
    def test_arguments_of_a_page_are_checked(self, graph: Graph, kind: str) -> None:
        """`limit` is a whole number from 1 on, `cursor` a string, `filter` an object."""
        graph.require("bulk_vertices")
        denied = ["NotSupported"] if kind.startswith("filter") else []
        expect.refusal(graph.call("bulk_vertices", BAD_PAGES[kind]), "BadRequest", *denied)

    @pytest.mark.requirement("GRA-BULK-7")
    def test_a_made_up_cursor_is_refused(self, graph: Graph) -> None:
        """A cursor that the adapter never gave out is BAD_REQUEST."""
        graph.require("bulk_vertices")
        expect.refusal(graph.call("bulk_vertices", {"limit": 2, "cursor": f"no-{canary()}"}), "BadRequest")


def bulky(graph: Graph) -> Sandbox:
    """A place whose nodes are listed, where listing works."""
    graph.require("bulk_vertices", "upsert_nodes")
    return graph.sandbox()


def filled(graph: Graph, count: int) -> Sandbox:
    """A place with nodes n0, n1 ... in it."""
    sandbox = bulky(graph)
    sandbox.put(*(sandbox.node(f"n{number}") for number in range(count)))
    return sandbox


def narrowed(sandbox: Sandbox) -> dict[str, Any]:
    """The filter that a crowded place needs; none in a namespace of its own."""
    return {} if sandbox.namespace or not sandbox.graph.filters else {"filter": {"corpus_group": sandbox.group}}


def every_node_once(sandbox: Sandbox, args: dict[str, Any], wanted: set[str]) -> None:
    """Following the pages gives just these nodes, each once; others only where the place is crowded."""
    mine: set[str] = set()
    for page in sandbox.pages(args):
        ids = [str(node.get("id")) for node in page]
        found = [name for name in ids if sandbox.namespace is not None or name.startswith(f"{sandbox.tag}-")]
        again = len(found) - len(set(found) - mine)
        expect.that(not again, "each node once", f"{again} again", "result.nodes")
        mine |= set(found)
    missing, more = wanted - mine, mine - wanted
    expect.that(not missing, f"{len(wanted)} nodes", f"{len(missing)} are missing", "result.nodes")
    expect.that(not more, f"{len(wanted)} nodes", f"{len(more)} more", "result.nodes")


def spacious(sandbox: Sandbox, limit: int | None) -> None:
    """Go on only where the suite follows all pages of this size: not through a crowded place in small steps.

    Raises:
        NotApplicable: there are too many nodes for pages so small.
    """
    if sandbox.namespace is None and not sandbox.graph.filters:
        crowd = sum(len(page) for page in sandbox.pages({"limit": PAGE}))
        if limit is not None and crowd > limit * MOST_PAGES:
            raise NotApplicable(f"{crowd} nodes lie in the default namespace, and filters are not offered")


def served(sandbox: Sandbox, wanted: dict[str, Any]) -> bool:
    """Whether a filter is served; its refusal for good keeps the rule as well."""
    reply = sandbox.call("bulk_vertices", {"limit": 5, "filter": wanted})
    expect.either(reply, "BadRequest", "NotSupported")
    return not reply.is_error
