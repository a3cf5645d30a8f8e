"""Nodes and edges: written, read back, updated, deleted (SPECIFICATION 4.2.6, 7.3.1; R26)."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.audit import holds
from pytest_corpus.kit.fixtures import subject
from pytest_corpus.kit.outcomes import NotApplicable
from pytest_corpus.kit.request import canary
from pytest_corpus.suites.graph.answers import counted, failures
from pytest_corpus.suites.graph.component import Graph, graph
from pytest_corpus.suites.graph.edges import Edges
from pytest_corpus.suites.graph.idempotency import Idempotency
from pytest_corpus.suites.graph.isolation import Namespaces, Tenants
from pytest_corpus.suites.graph.items import BadItems
from pytest_corpus.suites.graph.sandbox import NODE_READERS, Sandbox
from pytest_corpus.suites.graph.state_machine import Model
from pytest_corpus.suites.graph.written_items import MANY

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


class TestEdges(Edges):
    """Edges and their ends."""


class TestBadItems(BadItems):
    """What is no node, no edge and no delete."""


class TestNamespaces(Namespaces):
    """Namespaces."""


class TestTenants(Tenants):
    """Tenants."""


class TestIdempotency(Idempotency):
    """Replays."""


class TestModel(Model):
    """Any sequence of writes."""


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
    found = kept(graph, SCALARS[kind])
    expect.that(found is not None, "a scalar property to be accepted", "a refusal")
    expect.that(same(found, SCALARS[kind]), f"the {kind} that was written", "another value", "properties")


@pytest.mark.requirement("GRA-NODE-10")
@pytest.mark.parametrize("kind", list(NESTED))
def test_a_nested_property_is_read_back_or_refused(graph: Graph, kind: str) -> None:
    """Lists keep their order and objects their members, unless they are refused."""
    graph.require("upsert_nodes")
    found = kept(graph, NESTED[kind])
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
    found = kept(graph, None)
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


def kept(graph: Graph, value: object) -> Any:
    """A property as it is read back; None where it is refused."""
    graph.require("bulk_vertices")
    graph.readers.trusted("bulk_vertices")
    sandbox = graph.sandbox()
    reply = sandbox.call("upsert_nodes", {"nodes": [sandbox.node("a", corpus_extra=value)]})
    expect.either(reply, "BadRequest", "NotSupported")
    if reply.is_error or failures(reply.result):
        return None
    nodes = [node for node in sandbox.listed() if node.get("id") == sandbox.id("a")]
    expect.that(len(nodes) == 1, "the node that was written", f"{len(nodes)} nodes", "result.nodes")
    return nodes[0]["properties"].get("corpus_extra", Ellipsis)


def same(found: object, written: object) -> bool:
    """Whether two JSON values are equal: true is not 1, and 1 is 1.0."""
    if isinstance(found, bool) or isinstance(written, bool):
        return found is written
    if isinstance(found, list) and isinstance(written, list):
        return len(found) == len(written) and all(map(same, found, written))
    if isinstance(found, dict) and isinstance(written, dict):
        return found.keys() == written.keys() and all(same(found[key], written[key]) for key in found)
    return found == written
