"""What is no node, no edge and no delete (SPECIFICATION 4.1, 12.5; R8, R14, R31, R34, R45)."""

from __future__ import annotations

import math
from typing import Any

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.reply import Reply
from pytest_corpus.suites.graph.answers import failures, listed
from pytest_corpus.suites.graph.component import Graph
from pytest_corpus.suites.graph.edges import blamed, unusable
from pytest_corpus.suites.graph.written_items import MANY

NO_LISTS: dict[str, Any] = {"text": "n1", "number": 7, "object": {"id": "n1"}, "null": None}
BAD_NODES: dict[str, Any] = {
    "no_object": "n1",
    "a_number": 7,
    "a_list": ["n1"],
    "without_id": {"labels": [], "properties": {}},
    "id_number": {"id": 7, "labels": [], "properties": {}},
    "id_list": {"id": ["n1"], "labels": [], "properties": {}},
    "id_null": {"id": None, "labels": [], "properties": {}},
    "labels_text": {"id": "n1", "labels": "CorpusNode", "properties": {}},
    "labels_number": {"id": "n1", "labels": 7, "properties": {}},
    "labels_numbers": {"id": "n1", "labels": [7], "properties": {}},
    "last_label_number": {"id": "n1", "labels": ["CorpusNode", 7], "properties": {}},
    "labels_object": {"id": "n1", "labels": {"CorpusNode": 1}, "properties": {}},
    "properties_list": {"id": "n1", "labels": [], "properties": [1]},
    "properties_text": {"id": "n1", "labels": [], "properties": "a"},
    "properties_number": {"id": "n1", "labels": [], "properties": 7},
    "namespace_number": {"id": "n1", "labels": [], "properties": {}, "namespace": 7},
}
BAD_EDGES: dict[str, Any] = {
    "no_object": "e1",
    "without_id": {"id": ...},
    "without_source": {"src": ...},
    "without_target": {"dst": ...},
    "without_label": {"label": ...},
    "id_number": {"id": 7},
    "id_null": {"id": None},
    "source_number": {"src": 7},
    "source_list": {"src": ["n1"]},
    "source_null": {"src": None},
    "target_number": {"dst": 7},
    "target_null": {"dst": None},
    "target_list": {"dst": ["n1"]},
    "label_list": {"label": ["A"]},
    "label_number": {"label": 7},
    "label_null": {"label": None},
    "properties_number": {"properties": 7},
    "namespace_number": {"namespace": 7},
    "properties_list": {"properties": [1]},
    "properties_text": {"properties": "a"},
}
"""What is changed in a sound edge; `...` leaves a key out."""

BAD_DELETES: dict[str, Any] = {
    "nothing": {},
    "ids_text": {"ids": "n1"},
    "ids_number": {"ids": 7},
    "ids_numbers": {"ids": [7]},
    "ids_object": {"ids": {"n1": 1}},
    "filter_text": {"filter": "n1"},
    "filter_list": {"filter": ["n1"]},
}
PLACES = {"first": 0, "middle": 1, "last": 2}


class BadItems:
    """Refusals, and what becomes of the rest."""

    @pytest.mark.core
    @pytest.mark.requirement("GRA-NODE-6")
    @pytest.mark.parametrize("value", NO_LISTS.values(), ids=list(NO_LISTS))
    def test_nodes_that_are_no_list_are_refused(self, graph: Graph, value: Any) -> None:
        """`nodes` is required and a list."""
        graph.require("upsert_nodes")
        expect.refusal(graph.call("upsert_nodes", {"nodes": value}), "BadRequest")
        expect.refusal(graph.call("upsert_nodes", {}), "BadRequest")

    @pytest.mark.requirement("GRA-NODE-6")
    @pytest.mark.parametrize("kind", list(BAD_NODES))
    def test_what_is_no_node_is_refused(self, graph: Graph, kind: str) -> None:
        """A node without an id, or with a field of the wrong type, is refused or reported as failed."""
        graph.require("upsert_nodes")
        unusable(graph.call("upsert_nodes", {"nodes": [BAD_NODES[kind]]}))

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
    @pytest.mark.parametrize("place", list(PLACES))
    def test_an_unusable_node_is_reported_or_all_are_refused(self, graph: Graph, place: str, kind: str) -> None:
        """Beside an unusable node the others are there and it is named; or the request is refused and none is."""
        graph.require("upsert_nodes")
        readers, sandbox = graph.readers.of_nodes(), graph.sandbox()
        bad: dict[str, Any] = {"id": 7} if kind == "wrong_type" else sandbox.node("bad", corpus_size=math.nan)
        good = [sandbox.node(name) for name in "ab"]
        at = min(PLACES[place], graph.at_once - 1)
        nodes = [*good[:at], bad, *good[at:]][: graph.at_once]
        reply = sandbox.call("upsert_nodes", {"nodes": nodes})
        written = [str(node["properties"]["corpus_value"]) for node in nodes if node is not bad]
        left = rest(reply, at, written)
        for reader in readers:
            sandbox.shows(reader, left, "what was not refused")

    @pytest.mark.requirement("GRA-NODE-5")
    def test_the_nodes_that_were_not_written_are_counted(self, graph: Graph) -> None:
        """`failed_count` is the number of nodes that are reported as failed."""
        graph.require("upsert_nodes")
        sandbox = graph.sandbox()
        reply = sandbox.call("upsert_nodes", {"nodes": [sandbox.node("a"), {"id": 7}, {"id": 8}][: graph.at_once]})
        expect.either(reply, "BadRequest")
        if not reply.is_error:
            failed, count = len(failures(reply.result)), reply.result.get("failed_count")
            expect.that(count == failed, f"a failed_count of {failed}", "another", "result.failed_count")

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
    @pytest.mark.parametrize("value", NO_LISTS.values(), ids=list(NO_LISTS))
    def test_edges_that_are_no_list_are_refused(self, graph: Graph, value: Any) -> None:
        """`edges` is required and a list."""
        graph.require("upsert_edges")
        expect.refusal(graph.call("upsert_edges", {"edges": value}), "BadRequest")
        expect.refusal(graph.call("upsert_edges", {}), "BadRequest")

    @pytest.mark.requirement("GRA-EDGE-6")
    @pytest.mark.parametrize("kind", list(BAD_EDGES))
    def test_what_is_no_edge_is_refused(self, graph: Graph, kind: str) -> None:
        """An edge without an id, an end or a label, or with one of the wrong type, is refused or reported."""
        graph.require("upsert_nodes", "upsert_edges")
        sandbox = graph.sandbox()
        sandbox.put(sandbox.node("a"), sandbox.node("b"))
        changed = BAD_EDGES[kind]
        edge = changed
        if isinstance(changed, dict):
            edge = {key: item for key, item in {**sandbox.edge("a", "b"), **changed}.items() if item is not ...}
        unusable(sandbox.call("upsert_edges", {"edges": [edge]}))

    @pytest.mark.requirement("GRA-EDGE-7")
    @pytest.mark.parametrize("place", list(PLACES))
    def test_an_unusable_edge_is_reported_or_all_are_refused(self, graph: Graph, place: str) -> None:
        """Beside an unusable edge the others are there and it is named; or the request is refused and none is."""
        graph.require("upsert_nodes", "upsert_edges")
        edge_readers = graph.readers.of_edges()
        sandbox = graph.sandbox()
        values = dict(zip("abc", sandbox.put(*(sandbox.node(name) for name in "abc")), strict=True))
        good, bad = [sandbox.edge("a", "b"), sandbox.edge("a", "c")], {**sandbox.edge("b", "c"), "dst": 7}
        at = min(PLACES[place], graph.at_once - 1)
        edges = [*good[:at], bad, *good[at:]][: graph.at_once]
        reply = sandbox.call("upsert_edges", {"edges": edges})
        targets = ["b", "c"][: len(edges) - 1]
        left = rest(reply, at, targets)
        for edge_reader in edge_readers:
            sandbox.leads(edge_reader, "a", {name: values[name] for name in left}, "what was not refused")

    @pytest.mark.core
    @pytest.mark.requirement("GRA-DELETE-7")
    @pytest.mark.parametrize("kind", list(BAD_DELETES))
    @pytest.mark.parametrize("what", ["nodes", "edges"])
    def test_what_is_no_delete_is_refused(self, graph: Graph, what: str, kind: str) -> None:
        """A delete names `ids`, a list of strings, or a `filter`, an object."""
        graph.require(f"delete_{what}")
        denied = ["NotSupported"] if kind.startswith("filter") else []
        expect.refusal(graph.call(f"delete_{what}", BAD_DELETES[kind]), "BadRequest", *denied)

    @pytest.mark.requirement("GRA-DELETE-7")
    def test_a_delete_of_nothing_deletes_nothing(self, graph: Graph) -> None:
        """A delete without `ids` and `filter` leaves every node."""
        graph.require("upsert_nodes", "delete_nodes")
        graph.namespaces(aside=True)
        readers, sandbox = graph.readers.of_nodes(), graph.sandbox()
        written = sandbox.put(sandbox.node("a"), sandbox.node("b"))
        sandbox.call("delete_nodes", {})
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
        gone = fitting(reply, ["a"] if both else ["a", "c"])
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
            fitting(sandbox.call("delete_nodes", {"filter": wanted}), [])
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
        gone = fitting(sandbox.call("delete_edges", {"filter": {"corpus_kind": f"{sandbox.tag}x"}}), ["b"])
        left = {name: values[name] for name in "bc" if name not in gone}
        for edge_reader in edge_readers:
            sandbox.leads(edge_reader, "a", left, "the edges that do not fit")


def rest(reply: Reply, at: int, written: list[str]) -> list[str]:
    """What is there after an upsert with one unusable item: the others where that was reported, else nothing."""
    expect.either(reply, "BadRequest")
    if reply.is_error:
        return []
    found = failures(reply.result)
    expect.that(len(found) == 1, "one failed item", f"{len(found)}", "result.failures")
    index, error = found[0].get("index"), found[0].get("error")
    expect.that(index == at, f"the index {at}", f"{index}" if isinstance(index, int) else "none", "failures.0.index")
    expect.that(isinstance(error, str) and error, "an error", type(error).__name__, "failures.0.error")
    blamed(found[0], "BadRequest")
    return written


def fitting(reply: Reply, names: list[str]) -> list[str]:
    """What a delete with a filter removed: what fits, or nothing where it is refused."""
    expect.either(reply, "BadRequest", "NotSupported")
    return [] if reply.is_error else names
