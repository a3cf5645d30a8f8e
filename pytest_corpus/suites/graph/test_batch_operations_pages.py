"""Listings in pages: complete, exactly once, filtered (SPECIFICATION 7.3.3, 11.5; R31, R32)."""

from typing import Any

import pytest

from pytest_corpus.kit import expect, vocabulary
from pytest_corpus.kit.component import expect_audited
from pytest_corpus.kit.fixtures import core, rules, subject
from pytest_corpus.kit.requests import canary
from pytest_corpus.suites.graph.support.answers import items_of
from pytest_corpus.suites.graph.support.component import Graph, graph
from pytest_corpus.suites.graph.support.scenarios import batches, isolation, words
from pytest_corpus.suites.graph.support.scenarios.bad_arguments import BadArguments, arguments_of


@core("GRA-BULK-1")
def test_the_nodes_that_were_written_are_listed(graph: Graph) -> None:
    """New, updated and remaining nodes are listed, but deleted nodes are not."""
    sandbox = batches.listable_sandbox(graph)
    values = sandbox.put_named("abc")
    sandbox.expect_values("bulk_vertices", values.values(), "every node")
    values["b"] = sandbox.put(sandbox.node("b"))[0]
    sandbox.expect_values("bulk_vertices", values.values(), "every node as it is now")
    sandbox.remove("nodes", "a")
    sandbox.expect_values("bulk_vertices", [values["b"], values["c"]], "the nodes that are left")


@core("GRA-BULK-2")
def test_a_page_is_of_the_schema(graph: Graph) -> None:
    """Each page is valid under the schema, including the last page."""
    sandbox = batches.filled_sandbox(graph, 3)
    sandbox.call("upsert_nodes", {"nodes": [{**sandbox.node("bare"), "labels": []}]})
    for limit in (2, 100):
        reply = sandbox.call("bulk_vertices", {"limit": limit})
        expect_audited("GRA-BULK-2", reply, graph, claim="a page of nodes")


@core("GRA-BULK-3")
@pytest.mark.parametrize("limit", [2, 10, 11, 12, None], ids=str)
def test_pages_have_every_node_once(graph: Graph, limit: int | None) -> None:
    """With any size of a page, following the cursor gives every node exactly once."""
    sandbox, ids, pages = batches.list_pages(graph, limit)
    batches.expect_every_node_once(sandbox, pages, ids)


@rules("listed GRA-BULK-3, found GRA-QUERY-2")
def test_more_nodes_than_a_page_holds_by_default(graph: Graph, requirement: str) -> None:
    """More than a hundred nodes are all listed without a `limit`, and all found by a query."""
    sandbox, pages, found = batches.list_crowded_sandbox(graph)
    if requirement == "GRA-BULK-3":
        batches.expect_every_node_once(sandbox, pages, {sandbox.id(f"n{number}") for number in range(batches.CROWD)})
        return
    expect.applicable(found is not None, "no query shows nodes")
    expect.check(len(found or ()) == batches.CROWD, f"{batches.CROWD} nodes", f"{len(found or ())}", "result.records")


@pytest.mark.requirement("GRA-BULK-3")
def test_pages_of_an_empty_place_end(graph: Graph) -> None:
    """If nothing was written, or everything was deleted, there are no nodes and no more pages."""
    sandbox = batches.listable_sandbox(graph)
    graph.require_namespaces(aside=True)
    batches.expect_every_node_once(sandbox, sandbox.pages({"limit": 2}), set())
    sandbox.put(sandbox.node("a"))
    sandbox.remove("nodes", "a")
    batches.expect_every_node_once(sandbox, sandbox.pages({"limit": 2}), set())


@pytest.mark.requirement("GRA-BULK-3")
def test_a_tenant_pages_through_its_own_nodes(graph: Graph) -> None:
    """If a request names a tenant, following the cursor gives each of the tenant's nodes once."""
    place = batches.listable_sandbox(graph)
    sandbox = place.copy_to(namespace=place.namespace, tenant=graph.settings.next_tenant())
    sandbox.put(*(sandbox.node(f"n{number}") for number in range(5)))
    batches.require_readable_namespace(sandbox, 2)
    pages = sandbox.pages({"limit": 2, **batches.own_nodes_filter(sandbox)})
    batches.expect_every_node_once(sandbox, pages, {sandbox.id(f"n{number}") for number in range(5)})


@pytest.mark.requirement("COM-TENANT-1")
def test_no_page_has_nodes_of_another_tenant(graph: Graph) -> None:
    """Two tenants with a namespace of the same name each get only their own nodes, on all pages."""
    batches.listable_sandbox(graph)
    one, other = isolation.two_tenants(graph, own=True)
    one.put(*(one.node(f"n{number}") for number in (0, 2, 4)))
    other.put(*(other.node(f"n{number}") for number in (1, 3, 5)))
    batches.require_readable_namespace(one, 2)
    pages = one.pages({"limit": 2, **batches.own_nodes_filter(one)})
    batches.expect_every_node_once(one, pages, {one.id(f"n{number}") for number in (0, 2, 4)})


@core("GRA-BULK-4")
@pytest.mark.parametrize("limit", [2, 10])
def test_a_page_is_no_larger_than_asked_for(graph: Graph, limit: int) -> None:
    """The first page and the following ones have at most `limit` nodes."""
    for page in batches.list_pages(graph, limit)[-1]:
        expect.check(len(page) <= limit, f"at most {limit} nodes", f"{len(page)}", "result.nodes")


@core("GRA-BULK-5")
@pytest.mark.parametrize("limit", [2, 100])
def test_a_filter_is_heeded_on_every_page(graph: Graph, limit: int) -> None:
    """Of eleven nodes, pages of any size list exactly the four nodes that match the filter, each once."""
    sandbox = batches.listable_sandbox(graph)
    fit = {2, 3, 7, 10}
    sandbox.put(*(sandbox.node(f"n{n}", corpus_kind=f"{sandbox.tag}{n in fit}") for n in range(batches.COUNT)))
    wanted = {"corpus_kind": f"{sandbox.tag}True"}
    batches.expect_matching_nodes_once(sandbox, limit, wanted, {sandbox.id(f"n{number}") for number in fit})


@pytest.mark.requirement("GRA-BULK-5")
def test_a_filter_compares_values(graph: Graph) -> None:
    """Text, numbers and booleans are compared with their type, and all properties of a filter must match."""
    sandbox = batches.listable_sandbox(graph)
    kind, other = words.put_nodes_of_two_kinds(sandbox)
    [unknown] = vocabulary.fill_in(vocabulary.choose(vocabulary.INJECTIONS, 1), "w").values()
    cases: tuple[tuple[dict[str, Any], str], ...] = (
        ({"corpus_kind": kind}, "ab"),
        ({"corpus_kind": other}, "c"),
        ({"corpus_size": words.LARGE + 1}, "ac"),
        ({"corpus_true": True}, "a"),
        ({"corpus_true": False}, "b"),
        ({"corpus_kind": kind.swapcase()}, ""),
        ({"corpus_kind": kind, "corpus_size": words.LARGE + 1}, "a"),
        ({unknown: 1}, ""),
        ({"corpus_size": str(words.LARGE + 1)}, ""),
    )
    for wanted, names in cases:
        batches.expect_matching_nodes_once(
            sandbox, 5, {"corpus_group": sandbox.group, **wanted}, {sandbox.id(name) for name in names}
        )


@pytest.mark.requirement("GRA-BULK-5")
@pytest.mark.parametrize("kind", batches.PREDICATES)
def test_a_predicate_in_a_filter_is_applied_or_refused(graph: Graph, kind: str) -> None:
    """A filter term that is not a plain value selects only nodes that satisfy the term, or is refused permanently."""
    sandbox = batches.listable_sandbox(graph)
    sandbox.put(sandbox.node("a", corpus_size=1), sandbox.node("b", corpus_size=2))
    wanted = {"corpus_group": sandbox.group, "corpus_size": batches.PREDICATES[kind]}
    reply = sandbox.call("bulk_vertices", {"filter": wanted})
    if expect.either(reply, "BadRequest", "NotSupported"):
        ids = [node.get("id") for node in items_of(reply.result, "nodes")]
        expect.check(sandbox.id("a") not in ids, "only nodes that meet the filter", "another node", "result.nodes")


@pytest.mark.core
@arguments_of("GRA-BULK-6", "GRA-BULK-8")
def test_arguments_of_a_page_are_checked(graph: Graph, bad: BadArguments) -> None:
    """`limit` must be a positive integer, `cursor` a string, and `filter` an object."""
    bad.expect_refused(graph)


@pytest.mark.requirement("GRA-BULK-7")
def test_a_made_up_cursor_is_refused(graph: Graph) -> None:
    """A cursor that the adapter never gave out is BAD_REQUEST."""
    graph.require("bulk_vertices")
    expect.refusal(graph.call("bulk_vertices", {"limit": 2, "cursor": f"no-{canary()}"}), "BadRequest")
