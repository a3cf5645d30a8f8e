"""Nodes and edges: written, read back, updated, deleted (SPECIFICATION 4.2.6, 7.3.1; R26)."""

from __future__ import annotations

import math
from typing import Any

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.audit import holds
from pytest_corpus.kit.fixtures import subject
from pytest_corpus.kit.outcomes import NotApplicable
from pytest_corpus.kit.request import canary
from pytest_corpus.kit.stateful import replayed, run_machine
from pytest_corpus.spec.errors import is_a
from pytest_corpus.suites.common.claims import replays
from pytest_corpus.suites.common.claims.context import CACHE_SCOPES
from pytest_corpus.suites.graph import edges, idempotency, isolation, items, multigraph, state_machine
from pytest_corpus.suites.graph.answers import counted, failures, listed, records
from pytest_corpus.suites.graph.component import Graph, graph
from pytest_corpus.suites.graph.edges import unusable
from pytest_corpus.suites.graph.isolation import isolated, tenants
from pytest_corpus.suites.graph.multigraph import LOOP, PARALLEL
from pytest_corpus.suites.graph.sandbox import EDGE_READERS, NODE_READERS, Sandbox
from pytest_corpus.suites.graph.written_items import MANY
from pytest_corpus.text.values import same, strings_of

SCALARS = {
    "text": "a",
    "empty": "",
    "scripts": "Gr\u00fc\u00dfe e\u0301 \u6771\u4eac \u05e9\u05dc\u05d5\u05dd \U0001f600\U0001d11e",
    "quotes": 'O\'Neil "x" \\ ` $wanted {a} %s\nline\ttab',
    "long": "word " * 400,
    "integer": 42,
    "zero": 0,
    "negative": -7,
    "large": 2**40 + 1,
    "float": 0.1,
    "small": 1.5e-9,
    "true": True,
    "false": False,
}
NESTED = {
    "texts": ["b", "a", "c"],
    "numbers": [3, 1, 2],
    "empty": [],
    "object": {"b": 1, "a": {"c": "d"}},
    "mixed": [{"a": [1, "x"]}, None, True],
}
WHERE = ("default", "namespace", "tenant")


class TestEdges:
    """Edges and their ends."""

    @pytest.mark.core
    @pytest.mark.requirement("GRA-EDGE-1")
    @pytest.mark.parametrize("edge_reader", EDGE_READERS)
    def test_an_edge_leads_from_its_source_to_its_target(self, graph: Graph, edge_reader: str) -> None:
        """An edge is seen from its source, and neither from its target nor from another node."""
        sandbox, values = edges.linked(graph, edge_reader)
        sandbox.leads(edge_reader, "a", {"b": values["b"]}, "the edge that was written")
        for name in "bc":
            sandbox.leads(edge_reader, name, (), "no edge from a node that is not a source")
        sandbox.link(sandbox.edge("c", "b", "f"))
        sandbox.leads(edge_reader, "c", {"b": values["b"]}, "the edge to a node that comes before its source")
        sandbox.leads(edge_reader, "b", (), "no edge from a node that is not a source")

    @pytest.mark.requirement("GRA-EDGE-1")
    def test_an_edge_keeps_its_id_ends_and_label(self, graph: Graph) -> None:
        """A traversal shows an edge with the id, source, target and label that it was written with."""
        sandbox, _ = edges.linked(graph, "traversal")
        found = sandbox.relationships("a")
        expect.that(len(found) == 1, "one edge", f"{len(found)}", "result.relationships")
        for key, value in (("id", sandbox.id("e")), ("dst", sandbox.id("b")), ("label", "CORPUS_LINK")):
            expect.that(found[0].get(key) == value, f"the {key} that was written", "another", f"relationships.{key}")

    @pytest.mark.requirement("GRA-EDGE-1")
    @pytest.mark.parametrize("edge_reader", ["query", "stream_query"])
    def test_an_edge_of_another_label_is_no_such_edge(self, graph: Graph, edge_reader: str) -> None:
        """A query for edges of one label does not find an edge of another."""
        sandbox, values = edges.linked(graph, edge_reader)
        sandbox.link(sandbox.edge("a", "c", "f", label="CORPUS_OTHER"))
        sandbox.leads(edge_reader, "a", {"b": values["b"]}, "the edge of the label")

    @pytest.mark.requirement("GRA-EDGE-2")
    def test_an_edge_keeps_its_properties(self, graph: Graph) -> None:
        """A traversal shows the properties of an edge: texts, numbers and booleans."""
        sandbox, _ = edges.linked(graph, "traversal")
        edge = sandbox.edge("a", "b", "e", corpus_weight=2.5, corpus_true=True, corpus_text="\u6771 'x'")
        sandbox.link(edge)
        found = (sandbox.relationships("a") or [{}])[0].get("properties") or {}
        for key, value in edge["properties"].items():
            expect.that(found.get(key) == value, "the properties that were written", "others", "properties")

    @pytest.mark.requirement("GRA-EDGE-2")
    @pytest.mark.parametrize("edge_reader", ["query", "stream_query"])
    def test_a_query_finds_the_properties_of_an_edge(self, graph: Graph, edge_reader: str) -> None:
        """A query for a property of an edge finds its value."""
        sandbox, _ = edges.linked(graph, edge_reader)
        graph.speaks("link_values")
        edge = sandbox.edge("a", "b", "e")
        sandbox.link(edge)
        found = sandbox.answers(edge_reader, "link_values", wanted=sandbox.key("a"))
        expect.that(found == [edge["properties"]["corpus_value"]], "the value that was written", "another")

    @pytest.mark.requirement("GRA-EDGE-3")
    def test_an_update_of_an_edge_is_seen(self, graph: Graph) -> None:
        """After an update there is still one edge between the nodes, with the new value."""
        for edge_reader in edges.sees_edges(graph):
            sandbox, values = edges.linked(graph, edge_reader)
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
        multigraph.needs(graph, *({"parallel": [PARALLEL], "loop": [LOOP]}.get(shape, [])))
        for edge_reader in edges.sees_edges(graph):
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
        reply = edges.dangling(graph, missing)
        expect.either(reply, "BadRequest")
        for failure in failures(reply.result):
            named = edges.error_of(failure)
            bad = named is not None and is_a(named, "BadRequest")
            expect.that(bad, "VertexNotFound or BadRequest", "another", "failures")

    @pytest.mark.requirement("GRA-EDGE-5")
    @pytest.mark.parametrize("missing", ["source", "target"])
    def test_an_edge_without_an_end_is_refused(self, graph: Graph, missing: str) -> None:
        """An edge from or to a node that does not exist is refused, or reported as failed."""
        reply = edges.dangling(graph, missing)
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
        edges.unusable(sandbox.call("upsert_edges", {"edges": [sandbox.edge("a", "b", corpus_weight=value)]}))

    @pytest.mark.core
    @pytest.mark.requirement("GRA-DELETE-2")
    @pytest.mark.parametrize("edge_reader", EDGE_READERS)
    def test_deleted_edges_are_gone(self, graph: Graph, edge_reader: str) -> None:
        """A deleted edge is gone, the other edges and the nodes at its ends stay."""
        graph.require("delete_edges")
        sandbox, values = edges.linked(graph, edge_reader)
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
        multigraph.needs(graph, PARALLEL)
        sandbox, values = edges.linked(graph, edge_reader)
        sandbox.link(sandbox.edge("a", "b", "f"))
        sandbox.remove("edges", "e")
        sandbox.leads(edge_reader, "a", {"b": values["b"]}, "the edge that was not deleted")

    @pytest.mark.requirement("GRA-DELETE-4")
    def test_a_deleted_node_is_not_reached(self, graph: Graph) -> None:
        """No edge leads to a node that was deleted, nor through it to another one."""
        graph.require("delete_nodes")
        for edge_reader in edges.sees_edges(graph):
            sandbox, _ = edges.linked(graph, edge_reader)
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
        for edge_reader in edges.sees_edges(graph):
            sandbox, _ = edges.linked(graph, edge_reader)
            sandbox.link(sandbox.edge("b", "c", "f"))
            reply = sandbox.call("delete_nodes", {"ids": [sandbox.id("b")]})
            if reply.is_a("BadRequest") or failures(reply.result):
                raise NotApplicable("a node that has edges is not deleted")
            sandbox.put(sandbox.node("b"))
            sandbox.leads(edge_reader, "a", (), "no old edge to the new node")
            sandbox.leads(edge_reader, "b", (), "no old edge from the new node")


class TestBadItems:
    """Refusals, and what becomes of the items.rest."""

    @pytest.mark.core
    @pytest.mark.requirement("GRA-NODE-6")
    @pytest.mark.parametrize("value", items.NO_LISTS.values(), ids=list(items.NO_LISTS))
    def test_nodes_that_are_no_list_are_refused(self, graph: Graph, value: Any) -> None:
        """`nodes` is required and a list."""
        graph.require("upsert_nodes")
        expect.refusal(graph.call("upsert_nodes", {"nodes": value}), "BadRequest")
        expect.refusal(graph.call("upsert_nodes", {}), "BadRequest")

    @pytest.mark.requirement("GRA-NODE-6")
    @pytest.mark.parametrize("kind", list(items.BAD_NODES))
    def test_what_is_no_node_is_refused(self, graph: Graph, kind: str) -> None:
        """A node without an id, or with a field of the wrong type, is refused or reported as failed."""
        graph.require("upsert_nodes")
        unusable(graph.call("upsert_nodes", {"nodes": [items.BAD_NODES[kind]]}))

    @pytest.mark.requirement("GRA-NODE-6")
    @pytest.mark.parametrize("value", [7, ["n"], {"name": "n"}], ids=["number", "list", "object"])
    @pytest.mark.parametrize("name", ["upsert_nodes", "delete_nodes", "bulk_vertices"])
    def test_a_namespace_of_the_wrong_type_is_refused(self, graph: Graph, name: str, value: Any) -> None:
        """`namespace` is a string in writes, deletes and listings."""
        graph.require(name)
        expect.refusal(graph.call(name, {**graph.requests.minimal(name), "namespace": value}), "BadRequest")

    @pytest.mark.core
    @pytest.mark.requirement("GRA-NODE-7")
    @pytest.mark.parametrize("kind", ["wrong_type", "not_finite"])
    @pytest.mark.parametrize("place", list(items.PLACES))
    def test_an_unusable_node_is_reported_or_all_are_refused(self, graph: Graph, place: str, kind: str) -> None:
        """Beside an unusable node the others are there and it is named; or the request is refused and none is."""
        graph.require("upsert_nodes")
        readers, sandbox = graph.readers.of_nodes(), graph.sandbox()
        bad: dict[str, Any] = {"id": 7} if kind == "wrong_type" else sandbox.node("bad", corpus_size=math.nan)
        good = [sandbox.node(name) for name in "ab"]
        at = min(items.PLACES[place], graph.at_once - 1)
        nodes = [*good[:at], bad, *good[at:]][: graph.at_once]
        reply = sandbox.call("upsert_nodes", {"nodes": nodes})
        written = [str(node["properties"]["corpus_value"]) for node in nodes if node is not bad]
        left = items.rest(reply, at, written)
        for reader in readers:
            sandbox.shows(reader, left, "what was not refused")

    @pytest.mark.requirement("GRA-NODE-5")
    @pytest.mark.parametrize("count", [1, 2], ids=["one", "two"])
    @pytest.mark.parametrize("kind", items.SPOILED_NODES)
    def test_the_nodes_beside_failed_ones_are_counted(self, graph: Graph, kind: str, count: int) -> None:
        """Where nodes of a request fail, those that are there are counted, and those that failed."""
        graph.require("upsert_nodes")
        readers, sandbox = graph.readers.of_nodes(), graph.sandbox()
        bad = [{**sandbox.node(f"bad{number}"), **items.SPOILED_NODES[kind]} for number in range(count)]
        nodes = items.among([sandbox.node(name) for name in "abc"], bad, graph.at_once)
        reply = sandbox.call("upsert_nodes", {"nodes": nodes})
        items.counted_truly(reply, len(sandbox.seen(readers[0])))

    @pytest.mark.requirement("GRA-EDGE-8")
    @pytest.mark.parametrize("count", [1, 2], ids=["one", "two"])
    @pytest.mark.parametrize("kind", items.SPOILED_EDGES)
    def test_the_edges_beside_failed_ones_are_counted(self, graph: Graph, kind: str, count: int) -> None:
        """Where edges of a request fail, those that are there are counted, and those that failed."""
        edge_readers, sandbox = edges.sees_edges(graph), graph.sandbox()
        sandbox.put(*(sandbox.node(name) for name in "abcde"))
        bad = [{**sandbox.edge("a", end), **items.SPOILED_EDGES[kind]} for end in "de"[:count]]
        written = items.among([sandbox.edge("a", "b"), sandbox.edge("a", "c")], bad, graph.at_once)
        reply = sandbox.call("upsert_edges", {"edges": written})
        if kind == "without_a_node":
            with expect.resting_on("GRA-EDGE-4"):
                expect.either(reply, "BadRequest")
        items.counted_truly(reply, len(sandbox.ends(edge_readers[0], "a")))

    @pytest.mark.requirement("GRA-DELETE-9")
    @pytest.mark.parametrize("kind", items.SPOILED_IDS)
    def test_the_deletes_beside_failed_ones_are_counted(self, graph: Graph, kind: str) -> None:
        """Where an id of a delete fails, the nodes that are gone are counted, and the failed id."""
        graph.require("upsert_nodes", "delete_nodes")
        readers, sandbox = graph.readers.of_nodes(), graph.sandbox()
        before = len(sandbox.put(*(sandbox.node(name) for name in "abc")))
        ids = items.among([sandbox.id(name) for name in "ab"], [items.SPOILED_IDS[kind]], graph.at_once)
        reply = sandbox.call("delete_nodes", {"ids": ids})
        items.counted_truly(reply, before - len(sandbox.seen(readers[0])))

    @pytest.mark.core
    @pytest.mark.requirement("GRA-NODE-8")
    @pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf], ids=["nan", "infinity", "minus_infinity"])
    @pytest.mark.parametrize("depth", ["plain", "in_a_list", "in_an_object", "deep"])
    def test_numbers_of_a_node_are_finite(self, graph: Graph, depth: str, number: float) -> None:
        """NaN and infinities in properties are refused, or reported for that node, and never stored."""
        graph.require("upsert_nodes")
        sandbox = graph.sandbox()
        value: Any = {
            "plain": number,
            "in_a_list": [1, number],
            "in_an_object": {"a": number},
            "deep": {"a": [{"b": [number]}]},
        }[depth]
        unusable(sandbox.call("upsert_nodes", {"nodes": [sandbox.node("a", corpus_size=value)]}))

    @pytest.mark.requirement("GRA-NODE-8")
    def test_an_update_with_a_number_that_is_not_finite_changes_nothing(self, graph: Graph) -> None:
        """A node whose update is refused keeps its value."""
        graph.require("upsert_nodes")
        readers, sandbox = graph.readers.of_nodes(), graph.sandbox()
        written = sandbox.put(sandbox.node("a"))
        unusable(sandbox.call("upsert_nodes", {"nodes": [sandbox.node("a", corpus_size=math.inf)]}))
        for reader in readers:
            sandbox.shows(reader, written, "the node as it was")

    @pytest.mark.core
    @pytest.mark.requirement("GRA-EDGE-6")
    @pytest.mark.parametrize("value", items.NO_LISTS.values(), ids=list(items.NO_LISTS))
    def test_edges_that_are_no_list_are_refused(self, graph: Graph, value: Any) -> None:
        """`edges` is required and a list."""
        graph.require("upsert_edges")
        expect.refusal(graph.call("upsert_edges", {"edges": value}), "BadRequest")
        expect.refusal(graph.call("upsert_edges", {}), "BadRequest")

    @pytest.mark.requirement("GRA-EDGE-6")
    @pytest.mark.parametrize("kind", list(items.BAD_EDGES))
    def test_what_is_no_edge_is_refused(self, graph: Graph, kind: str) -> None:
        """An edge without an id, an end or a label, or with one of the wrong type, is refused or reported."""
        graph.require("upsert_nodes", "upsert_edges")
        sandbox = graph.sandbox()
        sandbox.put(sandbox.node("a"), sandbox.node("b"))
        changed = items.BAD_EDGES[kind]
        edge = changed
        if isinstance(changed, dict):
            edge = {key: item for key, item in {**sandbox.edge("a", "b"), **changed}.items() if item is not ...}
        unusable(sandbox.call("upsert_edges", {"edges": [edge]}))

    @pytest.mark.requirement("GRA-EDGE-7")
    @pytest.mark.parametrize("place", list(items.PLACES))
    def test_an_unusable_edge_is_reported_or_all_are_refused(self, graph: Graph, place: str) -> None:
        """Beside an unusable edge the others are there and it is named; or the request is refused and none is."""
        graph.require("upsert_nodes", "upsert_edges")
        edge_readers = graph.readers.of_edges()
        sandbox = graph.sandbox()
        values = dict(zip("abc", sandbox.put(*(sandbox.node(name) for name in "abc")), strict=True))
        good, bad = [sandbox.edge("a", "b"), sandbox.edge("a", "c")], {**sandbox.edge("b", "c"), "dst": 7}
        at = min(items.PLACES[place], graph.at_once - 1)
        edges = [*good[:at], bad, *good[at:]][: graph.at_once]
        reply = sandbox.call("upsert_edges", {"edges": edges})
        targets = ["b", "c"][: len(edges) - 1]
        left = items.rest(reply, at, targets)
        for edge_reader in edge_readers:
            sandbox.leads(edge_reader, "a", {name: values[name] for name in left}, "what was not refused")

    @pytest.mark.core
    @pytest.mark.requirement("GRA-DELETE-7")
    @pytest.mark.parametrize("kind", list(items.BAD_DELETES))
    @pytest.mark.parametrize("what", ["nodes", "edges"])
    def test_what_is_no_delete_is_refused(self, graph: Graph, what: str, kind: str) -> None:
        """A delete names `ids`, a list of strings, or a `filter`, an object."""
        graph.require(f"delete_{what}")
        denied = ["NotSupported"] if kind.startswith("filter") else []
        expect.refusal(graph.call(f"delete_{what}", items.BAD_DELETES[kind]), "BadRequest", *denied)

    @pytest.mark.requirement("GRA-DELETE-7")
    @pytest.mark.parametrize("kind", items.DELETES_OF_NOTHING)
    def test_a_delete_of_nothing_deletes_nothing(self, graph: Graph, kind: str) -> None:
        """A delete without `ids` and `filter`, or with null in their place, leaves every node."""
        graph.require("upsert_nodes", "delete_nodes")
        graph.namespaces(aside=True)
        readers, sandbox = graph.readers.of_nodes(), graph.sandbox()
        written = sandbox.put(sandbox.node("a"), sandbox.node("b"))
        sandbox.call("delete_nodes", items.BAD_DELETES[kind])
        for reader in readers:
            sandbox.shows(reader, written, "every node")

    @pytest.mark.requirement("GRA-DELETE-6")
    @pytest.mark.parametrize("both", [False, True], ids=["filter", "filter_of_two"])
    def test_a_filter_deletes_the_nodes_that_fit(self, graph: Graph, both: bool) -> None:
        """A delete with a filter removes the nodes that have all its properties, or is refused and removes none."""
        graph.require("upsert_nodes", "delete_nodes")
        readers, sandbox = graph.readers.of_nodes(), graph.sandbox()
        kinds = {"a": ("x", 1), "b": ("y", 1), "c": ("x", 2), "d": ("z", 1)}
        nodes = [
            sandbox.node(name, corpus_kind=f"{sandbox.tag}{kinds[name][0]}", corpus_size=kinds[name][1])
            for name in kinds
        ]
        values = dict(zip(kinds, sandbox.put(*nodes), strict=True))
        wanted = {"corpus_kind": f"{sandbox.tag}x", **({"corpus_size": 1} if both else {})}
        reply = sandbox.call("delete_nodes", {"filter": wanted})
        gone = items.fitting(reply, ["a"] if both else ["a", "c"])
        for reader in readers:
            sandbox.shows(reader, [value for name, value in values.items() if name not in gone], "what does not fit")

    @pytest.mark.requirement("GRA-DELETE-6")
    @pytest.mark.parametrize("way", list(MANY))
    def test_a_filter_deletes_in_a_batch_too(self, graph: Graph, way: str) -> None:
        """A delete with a filter in a batch, or in a transaction, removes what fits, or fails."""
        graph.require("upsert_nodes", "delete_nodes", way)
        readers, sandbox = graph.readers.of_nodes(), graph.sandbox()
        values = sandbox.put(
            sandbox.node("a", corpus_kind=f"{sandbox.tag}x"), sandbox.node("b", corpus_kind=f"{sandbox.tag}y")
        )
        item = graph.item("delete_nodes", filter={"corpus_kind": f"{sandbox.tag}x"}, **sandbox.place)
        reply = sandbox.call(way, {MANY[way]: [item]})
        expect.either(reply, "BadRequest", "NotSupported")
        told = listed(reply.result, "results")
        failed = reply.is_error or any(each.get("ok") is False or failures(each.get("result")) for each in told)
        for reader in readers:
            sandbox.shows(reader, values if failed else values[1:], "what does not fit, or all where the delete failed")

    @pytest.mark.requirement("GRA-DELETE-6")
    def test_a_filter_that_nothing_fits_deletes_nothing(self, graph: Graph) -> None:
        """A filter for a value that no node has, or a property that none has, removes nothing."""
        graph.require("upsert_nodes", "delete_nodes")
        readers, sandbox = graph.readers.of_nodes(), graph.sandbox()
        written = sandbox.put(sandbox.node("a"), sandbox.node("b"))
        for wanted in ({"corpus_group": "none"}, {"corpus_missing": 1}):
            items.fitting(sandbox.call("delete_nodes", {"filter": wanted}), [])
            for reader in readers:
                sandbox.shows(reader, written, "every node")

    @pytest.mark.requirement("GRA-DELETE-6")
    def test_a_filter_deletes_the_edges_that_fit(self, graph: Graph) -> None:
        """A delete of edges with a filter removes the edges that fit, or is refused and removes none."""
        graph.require("upsert_nodes", "upsert_edges", "delete_edges")
        edge_readers = graph.readers.of_edges()
        sandbox = graph.sandbox()
        values = dict(zip("abc", sandbox.put(*(sandbox.node(name) for name in "abc")), strict=True))
        sandbox.link(
            sandbox.edge("a", "b", corpus_kind=f"{sandbox.tag}x"), sandbox.edge("a", "c", corpus_kind=f"{sandbox.tag}y")
        )
        gone = items.fitting(sandbox.call("delete_edges", {"filter": {"corpus_kind": f"{sandbox.tag}x"}}), ["b"])
        left = {name: values[name] for name in "bc" if name not in gone}
        for edge_reader in edge_readers:
            sandbox.leads(edge_reader, "a", left, "the edges that do not fit")


class TestNamespaces:
    """The same ids in two namespaces."""

    @pytest.mark.core
    @pytest.mark.requirement("GRA-NS-1")
    @pytest.mark.parametrize("reader", NODE_READERS)
    def test_namespaces_are_told_apart(self, graph: Graph, reader: str) -> None:
        """Nodes of one id in two namespaces, and in the default one, are three nodes: each is read where it lies."""
        graph.namespaces()
        graph.readers.trusted(reader)
        for sandbox, written in isolation.apart(graph):
            sandbox.shows(reader, written, "the nodes of the namespace")

    @pytest.mark.requirement("GRA-NS-1")
    def test_a_traversal_stays_in_its_namespace(self, graph: Graph) -> None:
        """Edges of another namespace are not followed, even between nodes of the same ids."""
        graph.namespaces()
        graph.require("traversal", "upsert_edges")
        one = graph.sandbox()
        other = one.like(namespace=graph.sandbox().namespace)
        for sandbox in (one, other):
            sandbox.put(*(sandbox.node(name) for name in "abc"))
        one.link(one.edge("a", "b"))
        other.link(other.edge("a", "c"))
        expect.that(one.reached("a") == ["b"], "the node that the namespace's edge leads to", "another", "nodes")
        expect.that(other.reached("a") == ["c"], "the node that the namespace's edge leads to", "another", "nodes")

    @pytest.mark.requirement("GRA-NS-1")
    @pytest.mark.parametrize("name", list(MANY))
    def test_operations_of_a_batch_stay_in_their_namespaces(self, graph: Graph, name: str) -> None:
        """Operations of one batch write each to its own namespace."""
        graph.namespaces()
        graph.require(name)
        if graph.at_once < 2:
            raise NotApplicable("a batch holds one operation")
        readers, one = graph.readers.of_nodes(), graph.sandbox()
        other = one.like(namespace=graph.sandbox().namespace)
        nodes = {sandbox: sandbox.node("a") for sandbox in (one, other)}
        items = [graph.item("upsert_nodes", nodes=[node], **sandbox.place) for sandbox, node in nodes.items()]
        expect.success(graph.call(name, {MANY[name]: items}), f"{name} to work")
        for sandbox, node in nodes.items():
            for reader in readers:
                sandbox.shows(reader, [node["properties"]["corpus_value"]], "the node of the namespace")

    @pytest.mark.core
    @pytest.mark.requirement("GRA-NS-2")
    @pytest.mark.parametrize("way", ["ids", "filter"])
    def test_a_delete_stays_in_its_namespace(self, graph: Graph, way: str) -> None:
        """A node that is deleted in one namespace is still in the others."""
        graph.namespaces()
        graph.require("delete_nodes")
        readers = graph.readers.of_nodes()
        (one, _), (other, written), (default, third) = isolation.apart(graph)
        wanted = {"ids": [one.id("a")]} if way == "ids" else {"filter": {"corpus_group": one.group}}
        reply = one.call("delete_nodes", wanted)
        expect.either(reply, *(["BadRequest", "NotSupported"] if way == "filter" else []))
        for reader in readers:
            other.shows(reader, written, "what another namespace holds")
            default.shows(reader, third, "what the default namespace holds")

    @pytest.mark.requirement("GRA-NS-2")
    def test_a_delete_of_edges_stays_in_its_namespace(self, graph: Graph) -> None:
        """An edge, or a node with its edges, that is deleted in one namespace leaves the edges of another."""
        graph.namespaces()
        graph.require("delete_edges", "delete_nodes", "upsert_edges")
        edge_readers, one = graph.readers.of_edges(), graph.sandbox()
        other = one.like(namespace=graph.sandbox().namespace)
        values: dict[str, str] = {}
        for sandbox in (one, other):
            values = dict(zip("ab", sandbox.put(sandbox.node("a"), sandbox.node("b")), strict=True))
            sandbox.link(sandbox.edge("a", "b", "e"))
        one.remove("edges", "e")
        one.remove("nodes", "b")
        for edge_reader in edge_readers:
            other.leads(edge_reader, "a", {"b": values["b"]}, "the edge of another namespace")

    @pytest.mark.requirement("GRA-NS-3")
    def test_an_item_names_its_namespace(self, graph: Graph) -> None:
        """A node that names its namespace lies there, though the request names none."""
        graph.namespaces()
        readers, sandbox = graph.readers.of_nodes(), graph.sandbox()
        node = {**sandbox.node("a"), **sandbox.place}
        expect.success(graph.call("upsert_nodes", {"nodes": [node]}), "an upsert to work")
        for reader in readers:
            sandbox.shows(reader, [node["properties"]["corpus_value"]], "the node of the namespace")

    @pytest.mark.requirement("GRA-NS-3")
    def test_answers_name_the_namespace(self, graph: Graph) -> None:
        """Where a listed node names its namespace, it is the one that was listed."""
        graph.namespaces()
        graph.require("bulk_vertices")
        sandbox = graph.sandbox()
        sandbox.put(sandbox.node("a"))
        for node in sandbox.listed():
            told = node.get("namespace")
            expect.that(
                told in (None, sandbox.namespace), "the namespace that was listed", "another", "nodes.namespace"
            )

    @pytest.mark.requirement("GRA-NS-4")
    @pytest.mark.parametrize("reader", NODE_READERS)
    def test_nothing_is_read_from_an_unknown_namespace(self, graph: Graph, reader: str) -> None:
        """A namespace that nobody wrote to is empty, or NamespaceNotFound."""
        if graph.capabilities.flag("supports_namespaces") is not True:
            raise NotApplicable("namespaces are not claimed")
        graph.readers.trusted(reader)
        graph.seed()
        nowhere = graph.seeds.like(namespace=f"nowhere-{canary()}")
        reply: Any
        if reader == "bulk_vertices":
            reply = nowhere.call(reader, {"limit": 5})
        else:
            args = graph.question("group", group=graph.seeds.group)
            reply = nowhere.stream(args) if reader == "stream_query" else nowhere.call(reader, args)
        expect.either(reply, "BadRequest", "IndexNotReady")
        if not reply.is_error:
            found = records(reply) if reader != "bulk_vertices" else reply.result.get("nodes")
            expect.that(not found, "nothing", f"{len(found or [])} of them", "result")

    @pytest.mark.requirement("GRA-NS-4")
    def test_no_way_leads_through_an_unknown_namespace(self, graph: Graph) -> None:
        """A traversal in a namespace that nobody wrote to reaches nothing, or is refused for good."""
        if graph.capabilities.flag("supports_namespaces") is not True:
            raise NotApplicable("namespaces are not claimed")
        graph.require("traversal")
        graph.seed()
        nowhere = graph.seeds.like(namespace=f"nowhere-{canary()}")
        reply = nowhere.call("traversal", {"start_nodes": [nowhere.id("s1")], "max_depth": 1})
        expect.either(reply, "BadRequest", "IndexNotReady")
        if not reply.is_error:
            found = listed(reply.result, "relationships")
            expect.that(not found, "no relationships", f"{len(found)}", "result.relationships")

    @pytest.mark.requirement("GRA-NS-5")
    @pytest.mark.parametrize("kind", ["nodes", "edges"])
    def test_deleting_in_an_unknown_namespace_does_no_harm(self, graph: Graph, kind: str) -> None:
        """A delete in a namespace that nobody wrote to succeeds, or is refused for good."""
        graph.require(f"delete_{kind}")
        place = {"namespace": f"nowhere-{canary()}"}
        reply = graph.call(f"delete_{kind}", {"ids": [graph.seeds.id("none")], **place})
        expect.either(reply, "BadRequest", "NotSupported")


class TestTenants:
    """The same ids of two isolation.tenants."""

    @pytest.mark.core
    @pytest.mark.requirement("COM-TENANT-1")
    @pytest.mark.parametrize("reader", NODE_READERS)
    @pytest.mark.parametrize("own", [False, True], ids=["default", "namespace"])
    def test_a_tenant_reads_its_own_nodes(self, graph: Graph, reader: str, own: bool) -> None:
        """Nodes of one id of two isolation.tenants are two nodes, and a third tenant has none."""
        isolation.isolated(graph)
        if own:
            graph.namespaces(aside=True)
        graph.readers.trusted(reader)
        one, other, third = isolation.tenants(graph, 3, own=own)
        written = {
            sandbox: sandbox.put(sandbox.node("a"), sandbox.node(name)) for sandbox, name in ((one, "b"), (other, "c"))
        }
        for sandbox, values in {**written, third: []}.items():
            sandbox.shows(reader, values, "the nodes of the tenant")

    @pytest.mark.requirement("COM-TENANT-1")
    @pytest.mark.parametrize("way", ["ids", "filter", "batch", "transaction"])
    def test_a_tenant_deletes_its_own_nodes(self, graph: Graph, way: str) -> None:
        """A delete of one tenant, by any way, leaves the nodes of another."""
        isolation.isolated(graph)
        graph.require("delete_nodes", *([way] if way in MANY else []))
        readers = graph.readers.of_nodes()
        one, other = isolation.tenants(graph, 2)
        written = one.put(one.node("a"))
        ids = {"ids": [one.id("a")]}
        if way in MANY:
            other.call(way, {MANY[way]: [graph.item("delete_nodes", **ids, **other.place)]})
        else:
            other.call("delete_nodes", ids if way == "ids" else {"filter": {"corpus_group": one.group}})
        for reader in readers:
            one.shows(reader, written, "the nodes of another tenant")

    @pytest.mark.requirement("COM-TENANT-1")
    @pytest.mark.parametrize("name", list(MANY))
    def test_a_batch_writes_for_its_tenant(self, graph: Graph, name: str) -> None:
        """What a batch of one tenant writes, that tenant reads and another does not."""
        isolation.isolated(graph)
        graph.require(name)
        readers = graph.readers.of_nodes()
        one, other = isolation.tenants(graph, 2)
        node = one.node("a")
        expect.success(one.call(name, {MANY[name]: [graph.item("upsert_nodes", nodes=[node], **one.place)]}), name)
        for reader in readers:
            one.shows(reader, [node["properties"]["corpus_value"]], "the node of the tenant")
            other.shows(reader, [], "the nodes of another tenant")

    @pytest.mark.requirement("COM-TENANT-1")
    def test_a_traversal_stays_with_its_tenant(self, graph: Graph) -> None:
        """A traversal of one tenant reaches nothing of another."""
        isolation.isolated(graph)
        graph.require("traversal", "upsert_edges")
        one, other = isolation.tenants(graph, 2)
        for sandbox, targets in ((one, "bc"), (other, "d")):
            sandbox.put(sandbox.node("a"), *(sandbox.node(name) for name in targets))
            sandbox.link(*(sandbox.edge("a", name) for name in targets))
        expect.that(one.reached("a") == ["b", "c"], "the nodes of the tenant", "others", "result.nodes")
        expect.that(other.reached("a") == ["d"], "the nodes of the tenant", "others", "result.nodes")
        reply = other.call("traversal", {"start_nodes": [one.id("b")], "max_depth": 1, "direction": "INCOMING"})
        expect.either(reply, "BadRequest")
        found = reply.result.get("nodes") if reply.is_success else None
        expect.that(not found, "nothing from a node of another tenant", "nodes", "result.nodes")

    @pytest.mark.requirement("COM-TENANT-1")
    def test_a_schema_tells_nothing_of_another_tenant(self, graph: Graph) -> None:
        """A label that one tenant wrote does not stand in the schema of another."""
        isolation.isolated(graph)
        graph.require("get_schema")
        one, other = isolation.tenants(graph, 2)
        label = f"Corpus{canary(8)}"
        one.put({**one.node("a"), "labels": [label]})
        schema = expect.success(graph.call("get_schema", {}, other.ctx), "a schema")
        expect.that(label not in str(schema), "nothing of another tenant", "a label of it", "result")

    @pytest.mark.requirement("COM-CACHE-1")
    def test_a_cached_answer_is_not_given_to_another_tenant(self, graph: Graph) -> None:
        """The same query of two isolation.tenants finds the nodes of each, however often it is asked."""
        isolation.isolated(graph)
        graph.require("query")
        one, other = isolation.tenants(graph, 2)
        written = {sandbox: sandbox.put(sandbox.node("a")) for sandbox in (one, other)}
        for _ in range(2):
            for sandbox, values in written.items():
                sandbox.shows("query", values, "the nodes of the tenant")

    @pytest.mark.requirement("COM-CACHE-2")
    @pytest.mark.parametrize("scope", CACHE_SCOPES)
    def test_a_cache_scope_does_not_share_answers(self, graph: Graph, scope: str) -> None:
        """Whatever two tenants say of the cache's scope, neither finds the other's nodes."""
        isolation.isolated(graph)
        graph.require("query")
        one, other = isolation.tenants(graph, 2)
        written = {sandbox: sandbox.put(sandbox.node("a")) for sandbox in (one, other)}
        args = graph.question("group", group=one.group)
        for _ in range(2):
            for sandbox in written:
                reply = sandbox.call("query", args, CACHE_SCOPES[scope])
                expect.success(reply, "an answer to the query")
                others = {value for each, values in written.items() if each is not sandbox for value in values}
                mixed = others.intersection(strings_of(reply.result))
                expect.that(not mixed, "the nodes of the tenant", "those of another tenant", "records")

    @pytest.mark.requirement("GRA-CACHE-1")
    def test_a_cached_answer_is_not_given_to_another_query(self, graph: Graph) -> None:
        """Queries that differ in text, parameters or namespace alone find each its own, however often asked."""
        graph.require("query")
        homes = [graph.sandbox(own=False), graph.sandbox(own=False)]
        if graph.sandbox().namespace is not None:
            homes.append(homes[0].like(namespace=graph.sandbox().namespace))
        written = {sandbox: sandbox.put(sandbox.node("a"), sandbox.node("b")) for sandbox in homes}
        for _ in range(2):
            for sandbox, values in written.items():
                sandbox.shows("query", values, "the nodes of the group and namespace")
                found = sandbox.answers("query", "find", wanted=sandbox.key("a"))
                expect.that(found == values[:1], "the node that was asked for", "another answer", "records")


class TestIdempotency:
    """Replays of a write."""

    @pytest.mark.core
    @pytest.mark.requirement("COM-IDEM-3")
    @pytest.mark.parametrize("where", ["default", "tenant", "namespace"])
    @pytest.mark.parametrize("name", idempotency.MUTATING)
    def test_a_replay_changes_nothing(self, graph: Graph, name: str, where: str) -> None:
        """The same write with the same key, after another one, leaves what is there and answers as before."""
        graph.require(name)
        if where == "namespace":
            graph.namespaces(aside=True)
        tenant = f"tenant-{canary()}" if where == "tenant" else None
        sandbox = graph.sandbox(tenant=tenant, own=where == "namespace")
        args, other, shows = idempotency.rivals(graph, sandbox, name)
        key = {"idempotency_key": f"key-{canary()}"}
        first = sandbox.call(name, args, key)
        expect.success(first, "a write with an idempotency key to work")
        other()
        again = sandbox.call(name, args, key)
        expect.success(again, "a replay to succeed")
        shows()
        replays.answers_again(first, again)

    @pytest.mark.requirement("COM-IDEM-3")
    @pytest.mark.parametrize("name", ["upsert_edges", *MANY])
    def test_a_replay_has_the_failures_of_the_first_call(self, graph: Graph, name: str) -> None:
        """A write of which a part failed is answered again with just that failure, in its place."""
        graph.require(name, "upsert_nodes", "upsert_edges")
        sandbox, key = graph.sandbox(), {"idempotency_key": f"key-{canary()}"}
        sandbox.put(sandbox.node("a"), sandbox.node("b"))
        written = [sandbox.edge("a", "b"), sandbox.edge("a", "none")][-graph.at_once :]
        args: dict[str, Any] = {"edges": written}
        if name in MANY:
            args = {MANY[name]: [graph.item("upsert_edges", edges=[edge], **sandbox.place) for edge in written]}
        first = sandbox.call(name, args, key)
        expect.readable(first)
        results = listed(first.result, "results")
        if not (failures(first.result) or any(each.get("ok") is False for each in results)):
            raise NotApplicable("an edge without one of its nodes is no failure of a part")
        replays.answers_again(first, sandbox.call(name, args, key))

    @pytest.mark.requirement("COM-IDEM-4")
    @pytest.mark.parametrize("kind", ["nodes", "edges"])
    def test_a_write_that_is_sent_twice_at_once_is_carried_out_once(self, graph: Graph, kind: str) -> None:
        """Two deletes of one thing under one key, sent together while the provider is slow, have one answer."""
        graph.require("upsert_nodes", f"delete_{kind}", *(["upsert_edges"] if kind == "edges" else []))
        sandbox = graph.sandbox()
        sandbox.put(sandbox.node("a"), sandbox.node("b"))
        if kind == "edges":
            sandbox.link(sandbox.edge("a", "b", "a"))
        ctx = {**sandbox.ctx, "idempotency_key": f"key-{canary()}"}
        args = {**sandbox.place, "ids": [sandbox.id("a")]}
        replays.has_one_answer(graph, graph.envelope(f"delete_{kind}", args, ctx))

    @pytest.mark.requirement("COM-IDEM-5")
    @pytest.mark.parametrize("name", ["upsert_nodes", *MANY])
    def test_a_write_that_failed_can_be_sent_again(self, graph: Graph, name: str) -> None:
        """Under the key of a write that the provider failed, the same write is carried out."""
        graph.require(name)
        fresh = graph.fresh()
        result = replays.can_be_sent_again(fresh, name, fresh.requests.distinct(name)).result
        failed = failures(result) or any(each.get("ok") is False for each in listed(result, "results"))
        expect.that(not failed, "the write to be carried out", "a failure", "result")

    @pytest.mark.requirement("COM-IDEM-1")
    @pytest.mark.parametrize("name", ["upsert_nodes", "delete_nodes", "batch", "transaction"])
    def test_a_key_with_other_arguments_is_another_write(self, graph: Graph, name: str) -> None:
        """Two different writes with one key are both carried out."""
        graph.require(name, "upsert_nodes")
        readers, sandbox = graph.readers.of_nodes(), graph.sandbox()
        key = {"idempotency_key": f"key-{canary()}"}
        nodes = [sandbox.node("a"), sandbox.node("b")]
        if name == "delete_nodes":
            sandbox.put(*nodes)
            for node in nodes:
                expect.success(sandbox.call(name, {"ids": [node["id"]]}, key), f"{name} to work")
        for node in nodes if name != "delete_nodes" else ():
            args: dict[str, Any] = {"nodes": [node]}
            if name in MANY:
                args = {MANY[name]: [graph.item("upsert_nodes", nodes=[node], **sandbox.place)]}
            expect.success(sandbox.call(name, args, key), f"{name} to work")
        left = [] if name == "delete_nodes" else [str(node["properties"]["corpus_value"]) for node in nodes]
        for reader in readers:
            sandbox.shows(reader, left, "what both writes make")

    @pytest.mark.requirement("COM-IDEM-1")
    @pytest.mark.parametrize("name", ["upsert_nodes", "batch", "transaction"])
    def test_a_key_in_another_namespace_is_another_write(self, graph: Graph, name: str) -> None:
        """The same write with one key in two namespaces is carried out in each."""
        graph.require(name)
        graph.namespaces(aside=True)
        readers, one = graph.readers.of_nodes(), graph.sandbox()
        other = one.like(namespace=graph.sandbox().namespace)
        node, key = one.node("a"), {"idempotency_key": f"key-{canary()}"}
        for sandbox in (one, other):
            args: dict[str, Any] = {"nodes": [node]}
            if name in MANY:
                args = {MANY[name]: [graph.item("upsert_nodes", nodes=[node], **sandbox.place)]}
            expect.success(sandbox.call(name, args, key), f"{name} to work")
        for sandbox in (one, other):
            for reader in readers:
                sandbox.shows(reader, [node["properties"]["corpus_value"]], "the node of the namespace")

    @pytest.mark.requirement("COM-IDEM-1")
    def test_a_key_with_another_value_is_another_write(self, graph: Graph) -> None:
        """Two writes of one node with one key and different values are both carried out."""
        graph.require("upsert_nodes")
        readers, sandbox = graph.readers.of_nodes(), graph.sandbox()
        key = {"idempotency_key": f"key-{canary()}"}
        first, second = sandbox.node("a"), sandbox.node("a")
        for node in (first, second):
            expect.success(sandbox.call("upsert_nodes", {"nodes": [node]}, key), "a write to work")
        for reader in readers:
            sandbox.shows(reader, [str(second["properties"]["corpus_value"])], "what the second write makes")

    @pytest.mark.requirement("COM-IDEM-1")
    def test_a_key_of_one_operation_is_not_that_of_another(self, graph: Graph) -> None:
        """Two different operations with one key are both carried out."""
        graph.require("upsert_nodes", "delete_nodes")
        readers, sandbox = graph.readers.of_nodes(), graph.sandbox()
        key = {"idempotency_key": f"key-{canary()}"}
        expect.success(sandbox.call("upsert_nodes", {"nodes": [sandbox.node("a")]}, key), "a write to work")
        expect.success(sandbox.call("delete_nodes", {"ids": [sandbox.id("a")]}, key), "a delete to work")
        for reader in readers:
            sandbox.shows(reader, [], "nothing, after the delete")

    @pytest.mark.requirement("COM-IDEM-2")
    def test_a_key_of_another_tenant_is_another_write(self, graph: Graph) -> None:
        """The same write with the same key of two tenants is carried out for each."""
        isolated(graph)
        readers = graph.readers.of_nodes()
        one, other = tenants(graph, 2)
        key = {"idempotency_key": f"key-{canary()}"}
        node = one.node("a")
        for sandbox in (one, other):
            expect.success(sandbox.call("upsert_nodes", {"nodes": [node]}, key), "a write to work")
        for reader in readers:
            for sandbox in (one, other):
                sandbox.shows(reader, [node["properties"]["corpus_value"]], "the node of the tenant")


class TestModel:
    """Random sequences."""

    @pytest.mark.requirement("GRA-MODEL-1")
    def test_any_sequence_of_writes_adds_up(self, graph: Graph) -> None:
        """After every step of random sequences of writes, deletes, batches and transactions all is as it should be."""
        graph.require("upsert_nodes", "delete_nodes")
        graph.readers.of_nodes()
        if graph.works("upsert_edges"):
            if not graph.works("delete_edges"):
                raise NotApplicable("edges cannot be deleted")
            graph.readers.of_edges()
        exchanges, begun = graph.client.exchanges, len(graph.client.exchanges)
        with replayed(lambda: [exchange.request for exchange in exchanges[begun:]], graph.settings.seed):
            state_machine.World(graph).plain()
        slow = min(exchange.elapsed_s for exchange in exchanges[begun:]) > state_machine.SLOW_S
        run_machine(
            state_machine.machine(graph),
            seed=graph.settings.seed,
            steps=state_machine.SLOW_STEPS if slow else state_machine.STEPS,
            examples=state_machine.SLOW_EXAMPLES if slow else state_machine.EXAMPLES,
        )


@pytest.mark.core
@pytest.mark.requirement("GRA-NODE-1")
@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("reader", NODE_READERS)
def test_a_node_is_read_back(graph: Graph, reader: str, where: str) -> None:
    """A node that was written is seen by every operation that shows nodes, wherever it was written."""
    graph.require("upsert_nodes")
    sandbox = at(graph, where)
    written = sandbox.put(sandbox.node("a"))
    graph.readers.trusted(reader)
    sandbox.shows(reader, written, "the node that was written")


@pytest.mark.core
@pytest.mark.requirement("GRA-NODE-1")
def test_a_node_keeps_its_labels_and_properties(graph: Graph) -> None:
    """Id, every label and every property of a node are listed as they were written."""
    graph.require("upsert_nodes")
    graph.readers.trusted("bulk_vertices")
    sandbox = graph.sandbox()
    nodes = [
        sandbox.node("one", corpus_size=3),
        {**sandbox.node("other", corpus_color="red"), "labels": ["CorpusOther"]},
    ]
    sandbox.put(*nodes)
    many = {**sandbox.node("two"), "labels": ["CorpusNode", "CorpusOther"]}
    for node in (many, {**sandbox.node("none"), "labels": []}):
        reply = sandbox.call("upsert_nodes", {"nodes": [node]})
        expect.either(reply, "BadRequest", "NotSupported")
        nodes += [] if reply.is_error or failures(reply.result) else [node]
    shown = {node.get("id"): node for node in sandbox.listed()}
    for node in nodes:
        found = shown.get(node["id"])
        expect.that(found is not None, "the node that was written", "none", "result.nodes")
        assert found is not None
        expect.that(set(node["labels"]) <= set(found.get("labels") or []), "its labels", "others", "labels")
        for key, value in node["properties"].items():
            expect.that(found["properties"].get(key) == value, "its properties", "others", "properties")


@pytest.mark.requirement("GRA-NODE-2")
@pytest.mark.parametrize("reader", NODE_READERS)
def test_an_update_is_seen(graph: Graph, reader: str) -> None:
    """After each of three updates there is one node, with the value of the last one; a value may come back."""
    graph.require("upsert_nodes")
    graph.readers.trusted(reader)
    sandbox = graph.sandbox()
    bystander = sandbox.put(sandbox.node("b"))
    first = sandbox.node("a")
    for node in (first, sandbox.node("a"), sandbox.node("a"), first):
        sandbox.shows(reader, [*sandbox.put(node), *bystander], "one node with its last value")


@pytest.mark.requirement("GRA-NODE-2")
def test_an_update_changes_labels_and_properties(graph: Graph) -> None:
    """Another label, a new property and a new value of an old one are there after an update."""
    graph.require("upsert_nodes")
    graph.readers.trusted("bulk_vertices")
    sandbox = graph.sandbox()
    sandbox.put(sandbox.node("a", corpus_size=3))
    sandbox.put({**sandbox.node("a", corpus_size=4, corpus_color="red"), "labels": ["CorpusOther"]})
    found = [node for node in sandbox.listed() if node.get("id") == sandbox.id("a")]
    expect.that(len(found) == 1, "one node of an id", f"{len(found)}", "result.nodes")
    expect.that("CorpusOther" in (found[0].get("labels") or []), "the new label", "none", "labels")
    properties = found[0]["properties"]
    expect.that(properties.get("corpus_size") == 4, "the new value of a property", "another", "properties")
    expect.that(properties.get("corpus_color") == "red", "the new property", "none", "properties")


@pytest.mark.core
@pytest.mark.requirement("GRA-NODE-3")
@pytest.mark.parametrize("count", [2, 3, 7, 20])
def test_every_node_of_a_request_is_written(graph: Graph, count: int) -> None:
    """The first, the last and all between them are there."""
    graph.require("upsert_nodes")
    readers, sandbox = graph.readers.of_nodes(), graph.sandbox()
    if count > graph.at_once:
        raise NotApplicable(f"at most {graph.at_once} items go into one request")
    written = sandbox.put(*(sandbox.node(f"n{number}") for number in range(count)))
    for reader in readers:
        sandbox.shows(reader, written, "every node of a request")


@pytest.mark.core
@pytest.mark.requirement("GRA-NODE-4")
def test_the_result_of_an_upsert_is_of_the_schema(graph: Graph) -> None:
    """New and updated nodes alike are answered with a result of the schema."""
    graph.require("upsert_nodes")
    sandbox = graph.sandbox()
    for _ in range(2):
        reply = sandbox.call("upsert_nodes", {"nodes": [sandbox.node("a"), sandbox.node("b")][: graph.at_once]})
        expect.success(reply, "an upsert to work")
        holds("GRA-NODE-4", reply, graph)


@pytest.mark.requirement("GRA-NODE-5")
@pytest.mark.parametrize("count", [1, 2, 5])
def test_the_nodes_that_were_written_are_counted(graph: Graph, count: int) -> None:
    """New nodes, and then the same ones updated, are counted one by one, and none has failed."""
    graph.require("upsert_nodes")
    sandbox = graph.sandbox()
    if count > graph.at_once:
        raise NotApplicable(f"at most {graph.at_once} items go into one request")
    for _ in range(2):
        reply = sandbox.call("upsert_nodes", {"nodes": [sandbox.node(f"n{number}") for number in range(count)]})
        result = expect.success(reply, "an upsert to work")
        expect.that(counted(result) == count, f"a count of {count}", f"{counted(result)}", "result")
        failed = result.get("failed_count") or len(failures(result))
        expect.that(not failed, "no failures", "some", "result.failed_count")


@pytest.mark.requirement("GRA-NODE-9")
@pytest.mark.parametrize("kind", list(SCALARS))
def test_a_scalar_property_is_read_back(graph: Graph, kind: str) -> None:
    """Text of any script, numbers and booleans come back with their type and value."""
    graph.require("upsert_nodes")
    found = kept(graph, SCALARS[kind], kind)
    expect.that(found is not None, "a scalar property to be accepted", "a refusal")
    expect.that(same(found, SCALARS[kind]), f"the {kind} that was written", "another value", "properties")


@pytest.mark.requirement("GRA-NODE-10")
@pytest.mark.parametrize("kind", list(NESTED))
def test_a_nested_property_is_read_back_or_refused(graph: Graph, kind: str) -> None:
    """Lists keep their order and objects their members, unless they are refused."""
    graph.require("upsert_nodes")
    found = kept(graph, NESTED[kind], kind)
    if found is not None:
        expect.that(same(found, NESTED[kind]), "what was written, or a refusal", "another value", "properties")


@pytest.mark.requirement("GRA-NODE-3")
@pytest.mark.parametrize("kind", ["long", "case"])
def test_nodes_of_ids_that_look_alike_are_all_written(graph: Graph, kind: str) -> None:
    """Ids that differ in their last letter after a hundred others, or in letter case, are those of two nodes."""
    graph.require("upsert_nodes")
    readers, sandbox = graph.readers.of_nodes(), graph.sandbox()
    names = {"long": [f"{'x' * 100}{end}" for end in "ab"], "case": ["node", "NODE"]}[kind]
    values = []
    for name in names:
        node = sandbox.node(name)
        reply = sandbox.call("upsert_nodes", {"nodes": [node]})
        expect.either(reply, "BadRequest")
        if not reply.is_error and not failures(reply.result):
            values.append(str(node["properties"]["corpus_value"]))
    for reader in readers:
        sandbox.shows(reader, values, "every node that was accepted")


@pytest.mark.requirement("GRA-NODE-10")
def test_a_property_of_null_is_nothing_or_refused(graph: Graph) -> None:
    """Null comes back as null or not at all, and never as something else."""
    graph.require("upsert_nodes")
    found = kept(graph, None, "null")
    expect.that(found is None or found is Ellipsis, "null, nothing, or a refusal", "another value", "properties")


@pytest.mark.requirement("GRA-NODE-11")
def test_the_last_of_two_nodes_of_one_id_is_kept(graph: Graph) -> None:
    """A request that writes a node twice leaves what it says last."""
    graph.require("upsert_nodes")
    if graph.at_once < 2:
        raise NotApplicable("one item goes into one request")
    readers, sandbox = graph.readers.of_nodes(), graph.sandbox()
    nodes = [sandbox.node("a"), sandbox.node("a")]
    reply = sandbox.call("upsert_nodes", {"nodes": nodes})
    expect.either(reply, "BadRequest")
    if not reply.is_error and not failures(reply.result):
        for reader in readers:
            sandbox.shows(reader, [str(nodes[1]["properties"]["corpus_value"])], "the last one of an id")


@pytest.mark.core
@pytest.mark.requirement("GRA-DELETE-1")
@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("reader", NODE_READERS)
def test_deleted_nodes_are_gone(graph: Graph, reader: str, where: str) -> None:
    """First one node, then two in one request are gone, and the others stay."""
    graph.require("upsert_nodes", "delete_nodes")
    graph.readers.trusted(reader)
    sandbox = at(graph, where)
    values = dict(zip("abcd", sandbox.put(*(sandbox.node(name) for name in "abcd")), strict=True))
    sandbox.remove("nodes", "b")
    sandbox.shows(reader, [values[name] for name in "acd"], "all but the deleted node")
    if graph.at_once > 1:
        expect.success(
            sandbox.call("delete_nodes", {"ids": [sandbox.id("d"), sandbox.id("a")]}), "delete_nodes to work"
        )
        sandbox.shows(reader, [values["c"]], "all but the deleted nodes")


@pytest.mark.requirement("GRA-DELETE-1")
def test_a_delete_removes_what_is_there_among_what_is_not(graph: Graph) -> None:
    """Of ids that exist and ids that do not, the nodes that exist are removed, the last one too."""
    graph.require("upsert_nodes", "delete_nodes")
    if graph.at_once < 2:
        raise NotApplicable("one item goes into one request")
    readers, sandbox = graph.readers.of_nodes(), graph.sandbox()
    values = sandbox.put(*(sandbox.node(name) for name in "abc"))
    ids = [sandbox.id(name) for name in ("none", "a")]
    expect.success(sandbox.call("delete_nodes", {"ids": ids}), "delete_nodes to work")
    expect.success(sandbox.call("delete_nodes", {"ids": [sandbox.id("b"), sandbox.id("none")]}), "delete_nodes to work")
    for reader in readers:
        sandbox.shows(reader, values[2:], "all but the deleted nodes")


@pytest.mark.requirement("GRA-DELETE-1")
def test_a_delete_spares_ids_that_only_look_alike(graph: Graph) -> None:
    """Nodes whose ids begin or end with the deleted one's stay."""
    graph.require("upsert_nodes", "delete_nodes")
    readers, sandbox = graph.readers.of_nodes(), graph.sandbox()
    names = ("x", "xy", "x-1")
    values = sandbox.put(*(sandbox.node(name) for name in names))
    sandbox.remove("nodes", "x")
    for reader in readers:
        sandbox.shows(reader, values[1:], "all but the deleted node")


@pytest.mark.requirement("GRA-DELETE-1")
@pytest.mark.parametrize("then", ["delete", "delete_again", "upsert", "update", *MANY])
def test_a_deleted_node_stays_deleted(graph: Graph, then: str) -> None:
    """Another write, of any kind, does not bring it back."""
    graph.require("upsert_nodes", "delete_nodes")
    if then in MANY:
        graph.require(then)
    readers, sandbox = graph.readers.of_nodes(), graph.sandbox()
    values = dict(zip("abc", sandbox.put(*(sandbox.node(name) for name in "abc")), strict=True))
    sandbox.remove("nodes", "a")
    if then.startswith("delete"):
        name = "b" if then == "delete" else "a"
        sandbox.remove("nodes", name)
        values.pop("b" if then == "delete" else "", None)
    elif then in MANY:
        node = sandbox.node("d")
        values["d"] = str(node["properties"]["corpus_value"])
        item = graph.item("upsert_nodes", nodes=[node], **sandbox.place)
        expect.success(sandbox.call(then, {MANY[then]: [item]}), f"{then} to work")
    else:
        name = "d" if then == "upsert" else "b"
        [values[name]] = sandbox.put(sandbox.node(name))
    del values["a"]
    for reader in readers:
        sandbox.shows(reader, values.values(), "all but the deleted nodes")


@pytest.mark.requirement("GRA-DELETE-1")
def test_a_deleted_node_can_be_written_again(graph: Graph) -> None:
    """Written after its deletion, a node is there with its new value."""
    graph.require("upsert_nodes", "delete_nodes")
    readers, sandbox = graph.readers.of_nodes(), graph.sandbox()
    sandbox.put(sandbox.node("a"))
    sandbox.remove("nodes", "a")
    again = sandbox.put(sandbox.node("a"))
    for reader in readers:
        sandbox.shows(reader, again, "the node that was written again")


@pytest.mark.core
@pytest.mark.requirement("GRA-DELETE-3")
@pytest.mark.parametrize("kind", ["nodes", "edges"])
def test_deleting_what_is_not_there_succeeds(graph: Graph, kind: str) -> None:
    """An id that never was, one that is deleted a second time, and several of them."""
    graph.require("upsert_nodes", "upsert_edges")
    sandbox = graph.sandbox()
    sandbox.put(sandbox.node("a"), sandbox.node("b"))
    sandbox.link(sandbox.edge("a", "b", "e"))
    name = "e" if kind == "edges" else "a"
    if kind == "nodes":
        sandbox.remove("edges", "e")
    for ids in (
        [sandbox.id("never")],
        [sandbox.id(name)],
        [sandbox.id(name)],
        [sandbox.id("never"), sandbox.id(name)][: graph.at_once],
    ):
        result = expect.success(sandbox.call(f"delete_{kind}", {"ids": ids}), f"delete_{kind} to succeed")
        expect.that(not failures(result), "no failure for what is not there", "one", "result.failures")


@pytest.mark.requirement("GRA-DELETE-9")
def test_the_deleted_nodes_are_counted(graph: Graph) -> None:
    """Two nodes that were there, and one that was not, are two deleted nodes."""
    graph.require("upsert_nodes", "delete_nodes")
    sandbox = graph.sandbox()
    sandbox.put(sandbox.node("a"), sandbox.node("b"))
    if graph.at_once < 3:
        raise NotApplicable(f"at most {graph.at_once} items go into one request")
    ids = [sandbox.id(name) for name in ("a", "b", "none")]
    result = expect.success(sandbox.call("delete_nodes", {"ids": ids}), "delete_nodes to work")
    expect.that(counted(result) == 2, "a count of 2", f"{counted(result)}", "result")


@pytest.mark.requirement("GRA-DELETE-8")
@pytest.mark.parametrize("kind", ["nodes", "edges"])
def test_the_result_of_a_delete_is_of_the_schema(graph: Graph, kind: str) -> None:
    """The answer to a delete, of something or of nothing, is of the schema."""
    graph.require("upsert_nodes", f"delete_{kind}")
    sandbox = graph.sandbox()
    sandbox.put(sandbox.node("a"))
    for name in ("a", "a"):
        reply = sandbox.call(f"delete_{kind}", {"ids": [sandbox.id(name)]})
        expect.success(reply, f"delete_{kind} to work")
        holds("GRA-DELETE-8", reply, graph)


def at(graph: Graph, where: str) -> Sandbox:
    """An empty place in the default namespace, in a new one, or of a tenant."""
    if where == "namespace":
        graph.namespaces(aside=True)
    tenant = f"tenant-{canary()}" if where == "tenant" else None
    return graph.sandbox(tenant=tenant, own=where == "namespace")


def kept(graph: Graph, value: object, kind: str) -> Any:
    """A property of a name of its own (R110) as it is read back; None where it is refused."""
    graph.require("bulk_vertices")
    graph.readers.trusted("bulk_vertices")
    sandbox = graph.sandbox()
    node = sandbox.node("a")
    node["properties"][f"corpus_{kind}"] = value
    reply = sandbox.call("upsert_nodes", {"nodes": [node]})
    expect.either(reply, "BadRequest", "NotSupported")
    if reply.is_error or failures(reply.result):
        return None
    nodes = [node for node in sandbox.listed() if node.get("id") == sandbox.id("a")]
    expect.that(len(nodes) == 1, "the node that was written", f"{len(nodes)} nodes", "result.nodes")
    return nodes[0]["properties"].get(f"corpus_{kind}", Ellipsis)
