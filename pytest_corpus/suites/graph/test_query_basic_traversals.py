"""Traversals: depth, direction, types, filters, cycles (SPECIFICATION 4.2.6, 14.4; R12, R31)."""

from collections.abc import Sequence
from itertools import product

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.component import expect_audited
from pytest_corpus.kit.fixtures import core, rules, subject
from pytest_corpus.kit.judgement import note_check
from pytest_corpus.kit.outcomes import NotApplicable, describe_names, difference
from pytest_corpus.spec.errors import PERMANENT
from pytest_corpus.suites.graph.support.answers import items_of
from pytest_corpus.suites.graph.support.component import Graph, graph
from pytest_corpus.suites.graph.support.scenarios import batches, edges, queries
from pytest_corpus.suites.graph.support.scenarios.bad_arguments import BadArguments, arguments_of
from pytest_corpus.suites.graph.support.scenarios.edges import LOOP

STARTS = 30
"""The largest number of unconnected start nodes in a long list."""


@core("GRA-TRAV-1")
def test_a_traversal_is_of_the_schema(graph: Graph) -> None:
    """The result has `nodes` and `relationships` of the schema."""
    sandbox, _ = queries.chain(graph)
    reply = sandbox.call("traversal", {"start_nodes": [sandbox.id("n0")], "max_depth": 1})
    expect_audited("GRA-TRAV-1", reply, graph, claim="a traversal to work")


@pytest.mark.core
@rules("every_node GRA-TRAV-2, no_deeper GRA-TRAV-3")
def test_a_traversal_reaches_what_is_in_its_depth(graph: Graph, requirement: str) -> None:
    """From any node of a chain, each depth reaches exactly the nodes and edges up to this depth."""
    sandbox, _ = queries.chain(graph)
    for start, depth in product((0, 1), queries.depths(graph)):
        wanted = {f"n{number}" for number in range(start + 1, min(start + depth, queries.CHAIN) + 1)}
        result = queries.traverse_chain(graph, f"n{start}", max_depth=depth)
        found = sandbox.node_names(result)
        if requirement == "GRA-TRAV-2":
            missing = wanted - found
            expect.check(
                not missing, "every node within the depth", f"{describe_names(missing)} missing", "result.nodes"
            )
            continue
        more = found - wanted - {f"n{start}"}
        expect.check(not more, f"no node beyond {depth} steps", f"{len(more)}", "result.nodes")
        shown = {str(edge.get("id")) for edge in items_of(result, "relationships")}
        beyond = shown - {sandbox.id(f"e{number}") for number in range(start, start + depth)}
        expect.check(not beyond, f"no edge beyond {depth} steps", f"{len(beyond)}", "result.relationships")


@pytest.mark.requirement("GRA-TRAV-2")
def test_a_traversal_shows_nodes_as_they_were_written(graph: Graph) -> None:
    """A reached node has its written labels and properties, also after an update."""
    sandbox = graph.sandbox("traversal", "upsert_edges")
    sandbox.put_named(["n0", "n1"])
    sandbox.put_edges(sandbox.edge("n0", "n1"))
    node = sandbox.node("n1", corpus_size=3)
    sandbox.put(node)
    found = [shown for shown in items_of(sandbox.traverse("n0"), "nodes") if shown.get("id") == node["id"]]
    expect.check(len(found) == 1, "the node that was written", f"{len(found)} nodes", "result.nodes")
    expect.check(set(node["labels"]) <= set(found[0].get("labels") or []), "its labels", "other labels", "nodes.labels")
    shown = found[0].get("properties") or {}
    for key, value in node["properties"].items():
        expect.check(shown.get(key) == value, "its properties", "other properties", "nodes.properties")


@pytest.mark.requirement("GRA-TRAV-2")
def test_a_traversal_starts_at_every_start_node(graph: Graph) -> None:
    """A traversal reaches the nodes from each start node, also from the last one of a long list."""
    sandbox = graph.sandbox()
    graph.require("traversal", "upsert_edges")
    others = [f"n{number}" for number in range(min(STARTS, 2 * graph.items_per_request - 6))]
    sandbox.put(*(sandbox.node(name) for name in (*"abcdef", *others)))
    sandbox.put_edges(sandbox.edge("a", "b"), sandbox.edge("c", "d"), sandbox.edge("e", "f"))
    starts = list(map(sandbox.id, ("a", "c", *others, "e")))
    long = sandbox.call("traversal", {"start_nodes": starts, "max_depth": 1, "direction": "OUTGOING"})
    is_taken = expect.either(long, *PERMANENT)  # a provider may limit the start nodes
    names = sandbox.node_names(long.result) if is_taken else {*sandbox.reached_nodes("a", "c", "e")}
    found = sorted(names - {"a", "c", "e", *others})
    ends = ["b", "d", "f"]
    expect.check(found == ends, "a node from each start", difference(ends, found), "result.nodes")


@core("GRA-TRAV-4")
@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("direction", ["OUTGOING", "INCOMING", "BOTH"])
def test_a_traversal_heeds_the_direction(graph: Graph, direction: str, depth: int) -> None:
    """From the middle of a chain, edges are followed forwards, backwards or both ways, at every step."""
    sandbox, _ = queries.chain(graph)
    expect.applicable(depth in queries.depths(graph), "capabilities state a smaller depth")
    ways = {"OUTGOING": [1], "INCOMING": [-1], "BOTH": [1, -1]}[direction]
    wanted = sorted(f"n{2 + way * step}" for way in ways for step in range(1, depth + 1))
    found = sandbox.node_names(queries.traverse_chain(graph, "n2", max_depth=depth, direction=direction)) - {"n2"}
    expect.check(sorted(found) == wanted, f"{len(wanted)} nodes", difference(wanted, found), "result.nodes")


@core("GRA-TRAV-5")
@pytest.mark.parametrize("types", ["A", "B", "AB", "C", ""], ids=["first", "second", "both", "none_there", "any"])
def test_a_traversal_heeds_the_types(graph: Graph, types: str) -> None:
    """A traversal follows only edges with the requested label, at every step."""
    sandbox = queries.star(graph)
    labels = [f"CORPUS_{letter}" for letter in types] + ["CORPUS_"] * (types == "C")  # the beginning of those there
    given = {"relationship_types": labels} if types else {}
    wanted = [name for name, label in (("a", "A"), ("b", "B")) if label in types or not types]
    depth = min(2, max(queries.depths(graph)))
    if depth == 2:
        wanted += [f"{first}{second}" for first in wanted for second in "ab" if second.upper() in types or not types]
    found = sandbox.reached_nodes("hub", max_depth=depth, **given)
    expect.check(found == sorted(wanted), f"{len(wanted)} nodes", f"{len(found)}, or others", "result.nodes")


@pytest.mark.requirement("GRA-TRAV-6")
@pytest.mark.parametrize("what", ["node_filters", "relationship_filters"])
@pytest.mark.parametrize(
    ("kind", "depth", "wanted"),
    [("number", 1, "ad"), ("text", 1, "c"), ("none", 1, ""), ("number", 2, ("a", "ac", "d"))],
    ids=["number", "text", "nothing_fits", "second_step"],
)
def test_a_traversal_heeds_filters(graph: Graph, kind: str, depth: int, wanted: Sequence[str], what: str) -> None:
    """At every step, a traversal follows only the nodes or edges that match the filter.

    A cached answer to the same traversal without a filter is not an answer to it.
    """
    sandbox, values = queries.filterable_sandbox(graph)
    expect.applicable(depth in queries.depths(graph), "capabilities state a smaller depth")
    starts = [sandbox.id(f"hub-{kind}")]
    args = {"start_nodes": starts, "max_depth": depth, "direction": "OUTGOING"}
    if not wanted:
        sandbox.call("traversal", args)
    reply = sandbox.call("traversal", {**args, what: queries.typed_property(values[kind])})
    if expect.either(reply, "BadRequest", "NotSupported"):
        found = sorted({str(node.get("id")) for node in items_of(reply.result, "nodes")} - set(starts))
        names = [sandbox.id(name) for name in wanted]
        expect.check(found == names, f"{len(names)} nodes that fit", difference(names, found), "result.nodes")


@pytest.mark.requirement("GRA-TRAV-6")
@pytest.mark.parametrize("what", ["node_filters", "relationship_filters"])
@pytest.mark.parametrize("kind", batches.PREDICATES)
def test_a_predicate_of_a_traversal_is_applied_or_refused(graph: Graph, kind: str, what: str) -> None:
    """A filter term that is not a plain value selects only what satisfies the term, or is refused permanently."""
    sandbox, _ = queries.filterable_sandbox(graph)
    args = {"start_nodes": [sandbox.id("hub-none")], what: {"corpus_size": batches.PREDICATES[kind]}}
    reply = sandbox.call("traversal", args)
    if expect.either(reply, "BadRequest", "NotSupported"):
        ids = [node.get("id") for node in items_of(reply.result, "nodes")]
        expect.check(sandbox.id("a") not in ids, "only nodes that meet the filter", "another node", "result.nodes")


@core("GRA-TRAV-7")
@pytest.mark.parametrize("direction", ["OUTGOING", "INCOMING", "BOTH"])
def test_relationships_are_the_edges_that_were_written(graph: Graph, direction: str) -> None:
    """Each relationship has the id, ends, label and properties of an edge, whatever the direction."""
    sandbox, edges = queries.chain(graph)
    found = items_of(queries.traverse_chain(graph, "n1", direction=direction), "relationships")
    wanted = {"OUTGOING": ["e1"], "INCOMING": ["e0"], "BOTH": ["e0", "e1"]}[direction]
    ids = sorted({str(edge.get("id")) for edge in found})
    expect.check(ids == [sandbox.id(name) for name in wanted], f"{len(wanted)} edges", f"{len(ids)}", "relationships")
    for edge in found:
        written = next(each for each in edges if each["id"] == edge.get("id"))
        for key in ("src", "dst", "label", "properties"):
            is_right = edge.get(key) == written[key]
            expect.check(is_right, f"the {key} that was written", f"another {key}", "relationships")


@rules("bounded GRA-TRAV-8, works GRA-TRAV-9")
def test_the_maximal_depth(graph: Graph, requirement: str) -> None:
    """A traversal of `max_traversal_depth` steps reaches the last node. A deeper one is refused or stops there."""
    sandbox, most = queries.deep_chain(graph)
    if requirement == "GRA-TRAV-9":
        reached = sandbox.reached_nodes("n0", max_depth=most)
        expect.check(f"n{most}" in reached, f"the node after {most} steps", "no such node", "result.nodes")
        return
    starts = [sandbox.id("n0")]
    reply = sandbox.call("traversal", {"start_nodes": starts, "max_depth": most + 1, "direction": "OUTGOING"})
    if expect.either(reply, "BadRequest", "NotSupported"):
        beyond = f"n{most + 1}" in sandbox.node_names(reply.result)
        expect.check(not beyond, f"no node beyond {most} steps", "a node that is further away", "result.nodes")


@pytest.mark.requirement("GRA-TRAV-10")
@pytest.mark.parametrize("direction", ["OUTGOING", "BOTH"])
def test_cycles_do_not_disturb(graph: Graph, direction: str) -> None:
    """A traversal with a cycle, a loop and two ways to one node reaches each node, and ends."""
    sandbox = graph.sandbox("traversal", "upsert_edges")
    sandbox.put(*(sandbox.node(name) for name in "abcd"))
    pairs = ["ab", "bc", "ca", "ac", *(["aa"] if edges.accepts_edges(graph, LOOP) else []), "cd"]
    sandbox.put_edges(*(sandbox.edge(pair[0], pair[1]) for pair in pairs))
    depth = max(queries.depths(graph))
    wanted = ["b", "c", "d"] if depth > 1 else ["b", "c"]
    found = sandbox.reached_nodes("a", max_depth=depth, direction=direction)
    expect.check(found == wanted, f"{len(wanted)} nodes", difference(wanted, found), "result.nodes")


@core("GRA-TRAV-11")
@pytest.mark.parametrize("known", ["", "before", "behind"], ids=["alone", "last", "first"])
def test_an_unknown_start_node_adds_nothing(graph: Graph, known: str) -> None:
    """An unknown start node is refused permanently, or reaches nothing; the other start nodes still count."""
    sandbox, _ = queries.chain(graph)
    starts = [sandbox.id("none")]
    if known:
        starts.insert(0 if known == "before" else 1, sandbox.id("n0"))
    reply = sandbox.call("traversal", {"start_nodes": starts, "max_depth": 1, "direction": "OUTGOING"})
    if expect.either(reply, "BadRequest"):
        more = sandbox.node_names(reply.result) - ({"n0", "n1"} if known else set())
        expect.check(not more, "no node reached from the unknown node", f"{len(more)} nodes", "result.nodes")
        edges = len(items_of(reply.result, "relationships"))
        expect.check(known or not edges, "no relationships", f"{edges}", "result.relationships")


@pytest.mark.core
@arguments_of("GRA-TRAV-12", "GRA-TRAV-16")
def test_arguments_of_a_traversal_are_checked(graph: Graph, bad: BadArguments) -> None:
    """`start_nodes` must be a list of ids, `max_depth` a positive integer, and `direction` one of three words."""
    bad.expect_refused(graph)


@pytest.mark.requirement("GRA-TRAV-13")
def test_a_traversal_shows_each_node_and_edge_once(graph: Graph) -> None:
    """With two ways to a node, the node and every edge are shown once, and paths begin at the start node."""
    sandbox = graph.sandbox("traversal", "upsert_edges")
    sandbox.put(*(sandbox.node(name) for name in "abc"))
    ends = {"e1": ("a", "b"), "e2": ("b", "c"), "e3": ("a", "c")}
    sandbox.put_edges(*(sandbox.edge(source, target, name) for name, (source, target) in ends.items()))
    result = sandbox.traverse("a", max_depth=max(queries.depths(graph)))
    for key in ("nodes", "relationships"):
        ids = [item.get("id") for item in items_of(result, key)]
        expect.check(len(ids) == len(set(map(str, ids))), "each item once", "some items twice", f"result.{key}")
    queries.expect_paths(sandbox, result, ends)


@pytest.mark.requirement("GRA-TRAV-15")
def test_paths_that_are_claimed_are_given(graph: Graph) -> None:
    """If path queries are claimed, a traversal along an edge gives a path, or a query for paths returns one."""
    expect.applicable(graph.capabilities.flag("supports_path_queries") is True, "path queries are not claimed")
    if graph.works("traversal") and graph.works("upsert_edges"):
        given = queries.traverse_chain(graph, "n0", max_depth=1).get("paths")
        if isinstance(given, list) and given:
            note_check()
            return
    graph.require("query")
    graph.seed()
    dialect, start = str(graph.dialect), graph.seeds.key("s1")
    graph.question("paths", wanted=start)
    obstacle = graph.dialects.obstacle("paths", dialect)
    if obstacle is not None and not isinstance(obstacle, NotApplicable) and not graph.dialects.row(dialect).certain:
        raise obstacle
    expect.check(obstacle is None, "paths in a traversal or a query, because paths are claimed", "no paths")
    expect.check(
        graph.seeds.query_values("query", "paths", wanted=start), "the path along an edge", "no such path", "records"
    )


@pytest.mark.requirement("GRA-TRAV-14")
def test_a_traversal_takes_one_outgoing_step_by_default(graph: Graph) -> None:
    """Without `max_depth` and `direction`, a traversal reaches only the targets of outgoing edges."""
    sandbox, _ = queries.chain(graph)
    result = expect.success(sandbox.call("traversal", {"start_nodes": [sandbox.id("n1")]}), "a traversal to work")
    found = {str(node.get("id")) for node in items_of(result, "nodes")} - {sandbox.id("n1")}
    expect.check(found == {sandbox.id("n2")}, "the next node", f"{len(found)} nodes, or not this one", "result.nodes")
