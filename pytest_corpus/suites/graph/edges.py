"""Edges: written between their ends, read back, updated, deleted (SPECIFICATION 4.2.6, 7.3.1; ERRORS 6.4)."""

from __future__ import annotations

import math
from typing import Any

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.audit import holds
from pytest_corpus.kit.outcomes import NotApplicable, NotAssessed
from pytest_corpus.kit.reply import error_names
from pytest_corpus.spec.errors import is_a
from pytest_corpus.suites.graph.answers import counted, failures
from pytest_corpus.suites.graph.component import Graph
from pytest_corpus.suites.graph.sandbox import EDGE_READERS, Sandbox


class Edges:
    """Edges and their ends."""

    @pytest.mark.core
    @pytest.mark.requirement("GRA-EDGE-1")
    @pytest.mark.parametrize("edge_reader", EDGE_READERS)
    def test_an_edge_leads_from_its_source_to_its_target(self, graph: Graph, edge_reader: str) -> None:
        """An edge is seen from its source, and neither from its target nor from another node."""
        sandbox, values = linked(graph, edge_reader)
        sandbox.leads(edge_reader, "a", {"b": values["b"]}, "the edge that was written")
        for name in "bc":
            sandbox.leads(edge_reader, name, (), "no edge from a node that is no source")
        sandbox.link(sandbox.edge("c", "b", "f"))
        sandbox.leads(edge_reader, "c", {"b": values["b"]}, "the edge to a node that comes before its source")
        sandbox.leads(edge_reader, "b", (), "no edge from a node that is no source")

    @pytest.mark.requirement("GRA-EDGE-1")
    def test_an_edge_keeps_its_id_ends_and_label(self, graph: Graph) -> None:
        """A traversal shows an edge with the id, source, target and label that it was written with."""
        sandbox, _ = linked(graph, "traversal")
        edges = sandbox.relationships("a")
        expect.that(len(edges) == 1, "one edge", f"{len(edges)}", "result.relationships")
        for key, value in (("id", sandbox.id("e")), ("dst", sandbox.id("b")), ("label", "CORPUS_LINK")):
            expect.that(edges[0].get(key) == value, f"the {key} that was written", "another", f"relationships.{key}")

    @pytest.mark.requirement("GRA-EDGE-1")
    @pytest.mark.parametrize("edge_reader", ["query", "stream_query"])
    def test_an_edge_of_another_label_is_no_such_edge(self, graph: Graph, edge_reader: str) -> None:
        """A query for edges of one label does not find an edge of another."""
        sandbox, values = linked(graph, edge_reader)
        sandbox.link(sandbox.edge("a", "c", "f", label="CORPUS_OTHER"))
        sandbox.leads(edge_reader, "a", {"b": values["b"]}, "the edge of the label")

    @pytest.mark.requirement("GRA-EDGE-2")
    def test_an_edge_keeps_its_properties(self, graph: Graph) -> None:
        """A traversal shows the properties of an edge: texts, numbers and booleans."""
        sandbox, _ = linked(graph, "traversal")
        edge = sandbox.edge("a", "b", "e", corpus_weight=2.5, corpus_true=True, corpus_text="\u6771 'x'")
        sandbox.link(edge)
        found = (sandbox.relationships("a") or [{}])[0].get("properties") or {}
        for key, value in edge["properties"].items():
            expect.that(found.get(key) == value, "the properties that were written", "others", "properties")

    @pytest.mark.requirement("GRA-EDGE-2")
    @pytest.mark.parametrize("edge_reader", ["query", "stream_query"])
    def test_a_query_finds_the_properties_of_an_edge(self, graph: Graph, edge_reader: str) -> None:
        """A query for a property of an edge finds its value."""
        sandbox, _ = linked(graph, edge_reader)
        graph.speaks("link_values")
        edge = sandbox.edge("a", "b", "e")
        sandbox.link(edge)
        found = sandbox.answers(edge_reader, "link_values", wanted=sandbox.key("a"))
        expect.that(found == [edge["properties"]["corpus_value"]], "the value that was written", "another")

    @pytest.mark.requirement("GRA-EDGE-3")
    def test_an_update_of_an_edge_is_seen(self, graph: Graph) -> None:
        """After an update there is still one edge between the nodes, with the new value."""
        for edge_reader in sees_edges(graph):
            sandbox, values = linked(graph, edge_reader)
            edge = sandbox.edge("a", "b", "e", corpus_weight=2)
            sandbox.link(edge)
            sandbox.leads(edge_reader, "a", {"b": values["b"]}, "one edge of an id")
            if edge_reader == "traversal":
                found = sandbox.relationships("a")[0].get("properties") or {}
                expect.that(found.get("corpus_weight") == 2, "the new property", "another", "properties")
                value = edge["properties"]["corpus_value"]
                expect.that(found.get("corpus_value") == value, "the new value", "another", "properties")

    @pytest.mark.requirement("GRA-EDGE-9")
    @pytest.mark.parametrize("shape", ["one_source", "one_target", "parallel", "both_ways", "loop"])
    def test_every_edge_of_a_request_is_written(self, graph: Graph, shape: str) -> None:
        """Edges that share a source, a target, both ends, or have one end only, are all there."""
        ends = {
            "one_source": ["ab", "ac", "ad"],
            "one_target": ["ad", "bd", "cd"],
            "parallel": ["ab", "ab"],
            "both_ways": ["ab", "ba"],
            "loop": ["aa", "ab"],
        }[shape]
        for edge_reader in sees_edges(graph):
            sandbox = graph.sandbox()
            values = dict(zip("abcd", sandbox.put(*(sandbox.node(name) for name in "abcd")), strict=True))
            sandbox.link(*(sandbox.edge(pair[0], pair[1], f"e{number}") for number, pair in enumerate(ends)))
            for source in {pair[0] for pair in ends}:
                targets = sorted(pair[1] for pair in ends if pair[0] == source)
                wanted = sorted(sandbox.id(name) if edge_reader == "traversal" else values[name] for name in targets)
                found = sandbox.ends(edge_reader, source)
                expect.that(found == wanted, f"{len(wanted)} edges", f"{len(found)}, or other ones", edge_reader)

    @pytest.mark.core
    @pytest.mark.requirement("GRA-EDGE-8")
    def test_the_result_of_an_upsert_of_edges_is_of_the_schema(self, graph: Graph) -> None:
        """New and updated edges are answered with a result of the schema that counts them."""
        graph.require("upsert_nodes", "upsert_edges")
        sandbox = graph.sandbox()
        sandbox.put(sandbox.node("a"), sandbox.node("b"))
        edges = [sandbox.edge("a", "b"), sandbox.edge("b", "a")][: graph.at_once]
        for _ in range(2):
            reply = sandbox.call("upsert_edges", {"edges": edges})
            result = expect.success(reply, "an upsert of edges to work")
            holds("GRA-EDGE-8", reply, graph)
            wanted = len(edges)
            expect.that(counted(result) == wanted, f"a count of {wanted}", f"{counted(result)}", "result")
            expect.that(not failures(result), "no failures", "some", "result.failures")

    @pytest.mark.requirement("GRA-EDGE-4")
    @pytest.mark.parametrize("missing", ["source", "target", "both"])
    def test_an_edge_without_an_end_is_a_bad_request(self, graph: Graph, missing: str) -> None:
        """Where an edge to a node that does not exist is refused, it is for good."""
        reply = dangling(graph, missing)
        expect.either(reply, "BadRequest")
        for failure in failures(reply.result):
            named = error_of(failure)
            bad = named is not None and is_a(named, "BadRequest")
            expect.that(bad, "VertexNotFound or BadRequest", "another", "failures")

    @pytest.mark.requirement("GRA-EDGE-5")
    @pytest.mark.parametrize("missing", ["source", "target"])
    def test_an_edge_without_an_end_is_refused(self, graph: Graph, missing: str) -> None:
        """An edge from or to a node that does not exist is refused, or reported as failed."""
        reply = dangling(graph, missing)
        expect.readable(reply)
        refused = reply.is_error or bool(failures(reply.result))
        expect.that(refused, "a refusal of an edge without one of its nodes", str(reply))

    @pytest.mark.requirement("GRA-EDGE-10")
    @pytest.mark.parametrize("number", [math.nan, math.inf], ids=["nan", "infinity"])
    @pytest.mark.parametrize("nested", [False, True], ids=["plain", "nested"])
    def test_numbers_of_an_edge_are_finite(self, graph: Graph, number: float, nested: bool) -> None:
        """NaN and infinities in the properties of an edge are refused, or reported for that edge."""
        graph.require("upsert_nodes", "upsert_edges")
        sandbox = graph.sandbox()
        sandbox.put(sandbox.node("a"), sandbox.node("b"))
        value: Any = {"deep": [1, number]} if nested else number
        unusable(sandbox.call("upsert_edges", {"edges": [sandbox.edge("a", "b", corpus_weight=value)]}))

    @pytest.mark.core
    @pytest.mark.requirement("GRA-DELETE-2")
    @pytest.mark.parametrize("edge_reader", EDGE_READERS)
    def test_deleted_edges_are_gone(self, graph: Graph, edge_reader: str) -> None:
        """A deleted edge is gone, the other edges and the nodes at its ends stay."""
        graph.require("delete_edges")
        sandbox, values = linked(graph, edge_reader)
        sandbox.link(sandbox.edge("a", "c", "f"), sandbox.edge("b", "c", "g"))
        sandbox.remove("edges", "e")
        sandbox.leads(edge_reader, "a", {"c": values["c"]}, "all but the deleted edge")
        sandbox.leads(edge_reader, "b", {"c": values["c"]}, "an edge that was not deleted")
        sandbox.remove("edges", "f", "g")
        sandbox.leads(edge_reader, "a", (), "no edge")
        for reader in graph.readers.of_nodes():
            sandbox.shows(reader, values.values(), "the nodes of deleted edges")

    @pytest.mark.requirement("GRA-DELETE-2")
    @pytest.mark.parametrize("edge_reader", EDGE_READERS)
    def test_a_parallel_edge_stays(self, graph: Graph, edge_reader: str) -> None:
        """Of two edges between the same nodes the deleted one is gone and the other stays."""
        graph.require("delete_edges")
        sandbox, values = linked(graph, edge_reader)
        sandbox.link(sandbox.edge("a", "b", "f"))
        sandbox.remove("edges", "e")
        sandbox.leads(edge_reader, "a", {"b": values["b"]}, "the edge that was not deleted")

    @pytest.mark.requirement("GRA-DELETE-4")
    def test_a_deleted_node_is_not_reached(self, graph: Graph) -> None:
        """No edge leads to a node that was deleted, nor through it to another one."""
        graph.require("delete_nodes")
        for edge_reader in sees_edges(graph):
            sandbox, _ = linked(graph, edge_reader)
            sandbox.link(sandbox.edge("b", "c", "f"))
            reply = sandbox.call("delete_nodes", {"ids": [sandbox.id("b")]})
            if reply.is_a("BadRequest") or failures(reply.result):
                raise NotApplicable("a node that has edges is not deleted")
            expect.success(reply, "delete_nodes to work")
            sandbox.leads(edge_reader, "a", (), "no edge to a deleted node")
            if edge_reader == "traversal" and graph.capabilities.limit("max_traversal_depth") != 1:
                expect.that(
                    not sandbox.reached("a", max_depth=2), "no node behind a deleted one", "some", "result.nodes"
                )

    @pytest.mark.requirement("GRA-DELETE-5")
    def test_old_edges_do_not_come_back(self, graph: Graph) -> None:
        """A node of the same id, written after the deletion, has no edges."""
        graph.require("delete_nodes")
        for edge_reader in sees_edges(graph):
            sandbox, _ = linked(graph, edge_reader)
            sandbox.link(sandbox.edge("b", "c", "f"))
            reply = sandbox.call("delete_nodes", {"ids": [sandbox.id("b")]})
            if reply.is_a("BadRequest") or failures(reply.result):
                raise NotApplicable("a node that has edges is not deleted")
            sandbox.put(sandbox.node("b"))
            sandbox.leads(edge_reader, "a", (), "no old edge to the new node")
            sandbox.leads(edge_reader, "b", (), "no old edge from the new node")


def sees_edges(graph: Graph) -> list[str]:
    """The operations that show edges, where edges are offered."""
    graph.require("upsert_nodes", "upsert_edges")
    return graph.readers.of_edges()


def linked(graph: Graph, edge_reader: str) -> tuple[Sandbox, dict[str, str]]:
    """Three nodes, an edge `e` from the first to the second, and the values of the nodes."""
    graph.require("upsert_nodes", "upsert_edges")
    known = graph.readers.of_edges()
    graph.readers.spare(edge_reader, dict.fromkeys(known, True))
    if edge_reader != "traversal":
        graph.speaks("links")
    sandbox, values = _linked(graph)
    if edge_reader not in known:
        with expect.resting_on(EDGE_READERS[edge_reader]):
            sandbox.leads(edge_reader, "a", {"b": values["b"]}, "the edge that was written")
        raise NotAssessed(f"{edge_reader} does not show what other operations show")
    return sandbox, values


def _linked(graph: Graph) -> tuple[Sandbox, dict[str, str]]:
    sandbox = graph.sandbox()
    values = dict(zip("abc", sandbox.put(*(sandbox.node(name) for name in "abc")), strict=True))
    sandbox.link(sandbox.edge("a", "b", "e"))
    return sandbox, values


def dangling(graph: Graph, missing: str) -> Any:
    """The answer to an edge of which one node, or both, does not exist."""
    graph.require("upsert_nodes", "upsert_edges")
    sandbox = graph.sandbox()
    sandbox.put(sandbox.node("a"))
    source, target = {"source": ("none", "a"), "target": ("a", "none"), "both": ("none", "nor")}[missing]
    return sandbox.call("upsert_edges", {"edges": [sandbox.edge(source, target)]})


def unusable(reply: Any) -> None:
    """An answer refuses its only item with BAD_REQUEST, or reports it as failed."""
    expect.either(reply, "BadRequest")
    if not reply.is_error:
        expect.that(failures(reply.result), "a refusal, or a failed item", "neither", "result.failures")
        for failure in failures(reply.result):
            blamed(failure, "BadRequest")


def blamed(failure: Any, *families: str) -> None:
    """A failed item names one of the classes, where it names any of the taxonomy."""
    named = error_of(failure)
    right = named is None or any(is_a(named, family) for family in families)
    expect.that(right, f"a failure of class {' or '.join(families)}", str(named), "failures.error")


def error_of(failure: Any) -> str | None:
    """The class that a failed item names, or None."""
    return next(iter(error_names(failure)), None)
