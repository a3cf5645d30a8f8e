"""Edges and their ends: written, read back, updated, refused (SPECIFICATION 4.2.6, 7.3.1)."""

import math
from collections.abc import Mapping
from typing import Any

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.component import expect_audited
from pytest_corpus.kit.fixtures import core, rules, subject
from pytest_corpus.kit.outcomes import difference
from pytest_corpus.kit.store.results import processed_count
from pytest_corpus.spec.errors import PERMANENT
from pytest_corpus.suites.graph.support.component import Graph, graph
from pytest_corpus.suites.graph.support.node_group import value_of
from pytest_corpus.suites.graph.support.readers import is_refused
from pytest_corpus.suites.graph.support.sandbox import EDGE_READERS
from pytest_corpus.suites.graph.support.scenarios import bad_arguments, edges
from pytest_corpus.suites.graph.support.scenarios.bad_arguments import BadArguments, arguments_of
from pytest_corpus.suites.graph.support.scenarios.edges import LOOP, PARALLEL, expect_item_refused


@core("GRA-EDGE-1")
@pytest.mark.parametrize("edge_reader", EDGE_READERS)
def test_an_edge_leads_from_its_source_to_its_target(graph: Graph, edge_reader: str) -> None:
    """An edge is visible from its source only."""
    sandbox, values = edges.link_nodes_for_reader(graph, edge_reader)
    others = [] if edge_reader == "traversal" else [sandbox.edge("a", "c", "g", label="CORPUS_OTHER")]
    sandbox.put_edges(sandbox.edge("c", "b", "f"), *others)
    sandbox.expect_targets(edge_reader, "a", {"b": values["b"]}, "the edge with the requested label")
    sandbox.expect_targets(edge_reader, "c", {"b": values["b"]}, "the edge from a later node to an earlier node")
    sandbox.expect_targets(edge_reader, "b", (), "no edge from a node that is only a target")


@rules("ends GRA-EDGE-1, properties GRA-EDGE-2")
def test_an_edge_keeps_what_it_was_written_with(graph: Graph, requirement: str) -> None:
    """A traversal shows an edge with its id, target and label, and with its texts, numbers and booleans."""
    sandbox, _ = edges.link_nodes_for_reader(graph, "traversal")
    share = 0.5 if graph.capabilities.rounds_numbers else 0.1 + 0.2
    edge = sandbox.edge("a", "b", "e", corpus_share=share, corpus_true=True, corpus_text="\u6771 " * 200)
    edge["properties"] |= {"corpus_large": 2**53 + 1, "corpus_Case": "A", "corpus_case": "a", "corpus_no": False}
    edge["properties"] |= {"corpus_minus": -7, "corpus_empty": "", "corpus_digits": "007"}
    if sandbox.call("upsert_edges", {"edges": [edge]}).fails_as(*PERMANENT):
        del edge["properties"]["corpus_Case"]  # a key may be refused (R138)
    sandbox.put_edges(edge)
    found = sandbox.relationships("a")
    expect.check(len(found) == 1, "one edge", f"{len(found)}", "result.relationships")
    shown, keys = found[0], ["id", "dst", "label"]
    if requirement == "GRA-EDGE-2":
        shown, edge, keys = shown.get("properties") or {}, edge["properties"], [*edge["properties"]]
    for key in keys:
        is_right = shown.get(key) == edge[key]
        expect.check(is_right, f"the {key} that was written", f"another {key}", f"relationships.{key}")


@rules("id GRA-EDGE-1, keys GRA-EDGE-2")
def test_names_of_an_edge_come_back_or_are_refused(graph: Graph, requirement: str) -> None:
    """Ids, labels, keys and texts of edges come back code point by code point, or are refused permanently (R138)."""
    sandbox, _ = edges.link_nodes_for_reader(graph, "traversal")
    name, key = ("\u00e9e\u0301", "corpus_mark") if requirement == "GRA-EDGE-1" else ("f", "corpus_cl\u00e9e\u0301")
    edge = sandbox.edge("a", "c", name)
    edge["properties"][key] = 1
    reply = sandbox.call("upsert_edges", {"edges": [edge]})
    expect.either(reply, "BadRequest", "NotSupported")
    odd = edges.edges_with_words(sandbox, "labels" if requirement == "GRA-EDGE-1" else "properties")
    expect.applicable(odd or not is_refused(reply), "unusual names are refused")
    shown = sandbox.relationships("a")
    by_id = {each.get("id"): each for each in shown}
    for kinds, written in odd.items():
        there = by_id.get(written["id"], {})
        properties = there.get("properties") or {}
        named = requirement == "GRA-EDGE-2" or there.get("label") == written["label"]
        right = there and named and written["properties"].items() <= properties.items()
        expect.check(right, f"the edge as written ({kinds}), or a refusal", "another edge, or none", "relationships")
    if is_refused(reply):
        return
    found = [edge for edge in shown if edge.get("dst") == sandbox.id("c")]
    expect.check(len(found) == 1, "the edge that was written", f"{len(found)}", "result.relationships")
    if requirement == "GRA-EDGE-1":
        is_right = found[0].get("id") == sandbox.id(name)
        expect.check(is_right, "the id that was written", "another id", "relationships.id")
    else:
        properties = found[0].get("properties") or {}
        expect.check(properties.get(key) == 1, "the key that was written", "another key", "relationships.properties")


@pytest.mark.requirement("GRA-EDGE-2")
@pytest.mark.parametrize("edge_reader", ["query", "stream_query"])
def test_a_query_finds_the_properties_of_an_edge(graph: Graph, edge_reader: str) -> None:
    """A query for a property of an edge finds the value of the property."""
    sandbox, _ = edges.link_nodes_for_reader(graph, edge_reader)
    graph.require_question("link_values")
    edge = sandbox.edge("a", "b", "e")
    sandbox.put_edges(edge)
    found = sandbox.query_values(edge_reader, "link_values", wanted=sandbox.key("a"))
    expect.check(found == [value_of(edge)], "the value that was written", "another value")


@pytest.mark.requirement("GRA-EDGE-3")
def test_an_update_of_an_edge_is_seen(graph: Graph) -> None:
    """An updated edge exists once under its id, with its new values, target and label."""
    edge_readers = edges.require_edge_readers(graph)
    sandbox, values = edges.link_nodes(graph)
    edge = sandbox.edge("a", "b", "e", corpus_weight=2)
    sandbox.put_edges(edge)
    sandbox.expect_all_show_targets("a", {"b": values["b"]}, "one edge with the id")
    if "traversal" in edge_readers:
        found = sandbox.relationships("a")[0].get("properties") or {}
        for key, value in edge["properties"].items():
            expect.check(found.get(key) == value, "the new properties", "other properties", "properties")
    target = "b"
    for changed in ({"dst": sandbox.id("c")}, {"label": "CORPUS_OTHER"}):
        edge |= changed
        reply = sandbox.call("upsert_edges", {"edges": [edge]})
        expect.either(reply, "BadRequest", "NotSupported")
        target = target if is_refused(reply) else "c"
        if "label" not in changed:
            sandbox.expect_all_show_targets("a", {target: values[target]}, "the edge with its new target, or a refusal")
        elif not is_refused(reply):
            for edge_reader in edge_readers:
                left = (
                    sandbox.relationships("a") if edge_reader == "traversal" else sandbox.read_targets(edge_reader, "a")
                )
                labels = [each.get("label") if isinstance(each, Mapping) else "CORPUS_LINK" for each in left]
                wanted = ["CORPUS_OTHER"] if edge_reader == "traversal" else []
                expect.check(
                    labels == wanted,
                    "the edge with its new label, or a refusal",
                    "an edge with another label, or none",
                    edge_reader,
                )


@pytest.mark.requirement("GRA-EDGE-9")
def test_every_edge_of_a_request_is_written(graph: Graph) -> None:
    """All edges of a request are written, even if they share a source, a target or both, or are loops."""
    edges.require_edge_readers(graph)
    edge_readers = graph.readers.for_all_edges()
    pairs = ["ab", "ac", "ad", "bd", "cd", "ba"]
    pairs += [pair for kind, pair in ((PARALLEL, "ab"), (LOOP, "aa")) if edges.accepts_edges(graph, kind)]
    sandbox = graph.sandbox()
    values = sandbox.put_named("abcd")
    sandbox.put_edges(*(sandbox.edge(pair[0], pair[1], f"e{number}") for number, pair in enumerate(pairs)))
    for edge_reader in edge_readers:
        for source in "abc":
            targets = sorted(pair[1] for pair in pairs if pair[0] == source)
            wanted = sorted(sandbox.id(name) if edge_reader == "traversal" else values[name] for name in targets)
            found = edges.shown_targets(graph, sandbox, edge_reader, source, wanted)
            expect.check(found == wanted, f"{len(wanted)} edges", difference(wanted, found), edge_reader)


@core("GRA-EDGE-8")
def test_the_result_of_an_upsert_of_edges_is_of_the_schema(graph: Graph) -> None:
    """An upsert of new or existing edges has a result that is valid under the schema and has true counts."""
    sandbox = graph.sandbox("upsert_nodes", "upsert_edges")
    sandbox.put(sandbox.node("a"), sandbox.node("b"))
    edges = [sandbox.edge("a", "b"), sandbox.edge("b", "a")][: graph.items_per_request]
    for _ in range(2):
        reply = sandbox.call("upsert_edges", {"edges": edges})
        result = expect.success(reply, "an upsert of edges to work")
        expect_audited("GRA-EDGE-8", reply, graph)
        if processed_count(result) is not None:
            bad_arguments.expect_counts(result, len(edges))


@rules("permanent GRA-EDGE-4, refused GRA-EDGE-5")
@pytest.mark.parametrize("missing", ["source", "target", "both"])
def test_an_edge_without_an_end_is_refused(graph: Graph, requirement: str, missing: str) -> None:
    """An edge from or to an unknown node is refused or reported as failed, with a permanent error."""
    reply = edges.send_dangling_edge(graph, missing)
    if requirement == "GRA-EDGE-5":
        expect.readable(reply)
        refused = reply.is_error or bool(reply.failed_items)
        expect.check(refused, "a refusal of an edge whose source or target does not exist", str(reply))
        return
    expect.either(reply, *PERMANENT)
    for failure in reply.failed_items:
        edges.expect_failure_class(failure, *PERMANENT)


@pytest.mark.requirement("GRA-EDGE-10")
@pytest.mark.parametrize("value", [math.nan, math.inf, {"deep": [1, math.nan]}], ids=["nan", "infinity", "nested"])
def test_numbers_of_an_edge_are_finite(graph: Graph, value: Any) -> None:
    """NaN and infinities in the properties of an edge are refused, or reported for that edge."""
    graph.require("upsert_nodes", "upsert_edges")
    graph.seed()
    expect_item_refused(
        graph.seeds.call("upsert_edges", {"edges": [graph.seeds.edge("s3", "s4", corpus_weight=value)]})
    )


@pytest.mark.core
@arguments_of("GRA-EDGE-6")
def test_what_is_not_a_list_of_edges_is_refused(graph: Graph, bad: BadArguments) -> None:
    """A value that is not a list of edges with ids, ends and labels is refused, or its item is reported."""
    bad.expect_refused(graph)


@pytest.mark.requirement("GRA-EDGE-7")
@pytest.mark.parametrize("place", list(bad_arguments.PLACES))
def test_an_unusable_edge_is_reported_or_all_are_refused(graph: Graph, place: str) -> None:
    """If one edge is unusable, it is reported and the others are written, or the request is refused and writes none."""
    sandbox = graph.sandbox("upsert_nodes", "upsert_edges")
    values = sandbox.put_named("abc")
    good, bad = [sandbox.edge("a", "b"), sandbox.edge("a", "c")], {**sandbox.edge("b", "c"), "dst": 7}
    at = min(bad_arguments.PLACES[place], graph.items_per_request - 1)
    edges = [*good[:at], bad, *good[at:]][: graph.items_per_request]
    reply = sandbox.call("upsert_edges", {"edges": edges})
    targets = ["b", "c"][: len(edges) - 1]
    left = bad_arguments.expect_bad_item_reported(reply, at, targets)
    sandbox.expect_one_shows_targets("a", {name: values[name] for name in left}, "the items that were not refused")


@pytest.mark.requirement("GRA-EDGE-8")
@pytest.mark.parametrize(("kind", "count"), bad_arguments.alternate_counts(bad_arguments.SPOILED_EDGES))
def test_the_edges_beside_failed_ones_are_counted(graph: Graph, kind: str, count: int) -> None:
    """If edges of a request fail, the result counts the written edges and the failed edges."""
    edge_readers, sandbox = edges.require_edge_readers(graph), graph.sandbox()
    sandbox.put(*(sandbox.node(name) for name in "abcde"))
    bad = [{**sandbox.edge("a", end), **bad_arguments.SPOILED_EDGES[kind]} for end in "de"[:count]]
    written = bad_arguments.insert_bad_items(
        [sandbox.edge("a", "b"), sandbox.edge("a", "c")], bad, graph.items_per_request
    )
    reply = sandbox.call("upsert_edges", {"edges": written})
    if kind == "without_a_node":
        with expect.resting_on("GRA-EDGE-4"):
            expect.either(reply, *PERMANENT)
    bad_arguments.expect_counts_match_store(reply, len(sandbox.read_targets(edge_readers[0], "a")), "GRA-EDGE-7")
