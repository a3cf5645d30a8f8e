"""Nodes: written, read back, updated, refused; sequences of all writes (SPECIFICATION 4.2.6, 7.3.1; R26)."""

import math
from functools import partial
from typing import Any

import pytest

from pytest_corpus.adapter.scope import part_of
from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import cached, remembered
from pytest_corpus.kit.component import expect_audited
from pytest_corpus.kit.fixtures import core, rules, subject
from pytest_corpus.kit.generation.histories import (
    check_histories,
    is_convergent,
    is_linearizable,
    require_strong_consistency,
)
from pytest_corpus.kit.generation.stateful import run_sequences
from pytest_corpus.kit.outcomes import describe_names
from pytest_corpus.kit.reply import Reply
from pytest_corpus.kit.vocabulary import INJECTIONS, WORDS
from pytest_corpus.spec.errors import PERMANENT
from pytest_corpus.suites.graph.support.component import Graph, graph
from pytest_corpus.suites.graph.support.node_group import value_of
from pytest_corpus.suites.graph.support.scenarios import bad_arguments, state_machine, words
from pytest_corpus.suites.graph.support.scenarios.bad_arguments import BadArguments, arguments_of
from pytest_corpus.suites.graph.support.scenarios.concurrent_writes import history
from pytest_corpus.suites.graph.support.scenarios.edges import expect_item_refused
from pytest_corpus.suites.graph.support.scenarios.isolation import WHERE, sandbox_at
from pytest_corpus.suites.shared.claims.replays import TestEarlyReplays
from pytest_corpus.suites.shared.contexts import new_key_context
from pytest_corpus.text.values import are_equal_json

LOOKALIKES = {
    "long": [f"{'x' * 100}{end}" for end in "ab"],
    "case": ["node", "NODE"],
    "space": ["node", "node "],
    "composition": ["\u00e9", "e\u0301"],
}
"""By kind: the ends of two different ids that resemble each other."""

SCALARS: dict[str, Any] = {
    "text": "a",
    "empty": "",
    "scripts": "Gr\u00fc\u00dfe e\u0301 \u6771\u4eac \u05e9\u05dc\u05d5\u05dd \U0001f600\U0001d11e",
    "quotes": 'O\'Neil "x" \\ ` $wanted {a} %s\nline\ttab',
    "long": "word " * 400,
    "integer": 42,
    "zero": 0,
    "negative": -(2**53) - 1,
    "large": 2**40 + 1,
    "64_bits": 2**63 - 1,
    "beyond_doubles": 2**53 + 1,
    "Case": "upper",
    "case": "lower",
    "float": 0.1,
    "seventeen_digits": 0.1 + 0.2,
    "small": 1.5e-9,
    "true": True,
    "false": False,
    "digits": "007",
    "exponent": "1e5",
    "word_for_yes": "true",
    "word_for_nothing": "null",
    "moment": "2024-03-01T12:00:00Z",
    "line_ends": "one\r\ntwo\rthree\n",
}
CASES = ("Case", "case")
"""Keys that may be refused because of a capital letter, or because only letter case tells them apart (R138)."""

KEYS = {"cle\u0301": 1, "cl\u00e9": 2, "a.b": 3, "a b": 4}
"""Ends of keys. The adapter may refuse these keys, but must not change them (R138)."""

IDS = {**WORDS, **INJECTIONS}
"""Words that stand in ids."""

NOT_FINITE: dict[str, Any] = {
    "nan": math.nan,
    "infinity": math.inf,
    "minus_infinity": -math.inf,
    "in_a_list": [1, math.nan],
    "in_an_object": {"a": math.inf},
    "deep": {"a": [{"b": [math.nan]}]},
}
NESTED: dict[str, Any] = {
    "texts": ["b", "a", "c"],
    "numbers": [3, 1, 2],
    "no_items": [],
    "object": {"b": 1, "a": {"c": "d"}},
    "mixed": [{"a": [1, "x"]}, None, True],
}


@core("GRA-NODE-1")
@pytest.mark.parametrize("where", WHERE)
def test_a_node_is_read_back(graph: Graph, where: str) -> None:
    """Every operation that shows nodes shows a written node: without a namespace, in a namespace, and for a tenant."""
    graph.require("upsert_nodes")
    sandbox = sandbox_at(graph, where)
    written = sandbox.put(sandbox.node("a"))
    sandbox.expect_all_show_values(written, "the node that was written")


@core("GRA-NODE-1")
def test_a_node_keeps_its_labels_and_properties(graph: Graph) -> None:
    """The id, every label and every property of a node are listed as written."""
    graph.require("upsert_nodes")
    graph.readers.require_correct("bulk_vertices")
    sandbox = graph.sandbox()
    nodes = [
        sandbox.node("one", corpus_size=3),
        {**sandbox.node("other", corpus_color="red"), "labels": ["CorpusOther"]},
    ]
    sandbox.put(*nodes)
    many = {**sandbox.node("two"), "labels": ["CorpusNode", "CorpusOther", "CorpusThird", "CorpusFourth"]}
    for node in (many, {**sandbox.node("none"), "labels": []}):
        reply = sandbox.call("upsert_nodes", {"nodes": [node]})
        expect.either(reply, "BadRequest", "NotSupported")
        nodes += [] if reply.is_error or reply.failed_items else [node]
    odd = words.offer_items(sandbox, "nodes", words.nodes_with_labels(sandbox, "one"))
    shown = {node.get("id"): node for node in sandbox.list_nodes()}
    for each in (*nodes, *odd.values()):
        found = shown.get(each["id"])
        expect.check(found is not None, "the node that was written", "no such node", "result.nodes")
        assert found is not None
        is_right = set(each["labels"]) <= set(found.get("labels") or [])
        expect.check(is_right, f"the labels of {each['id']}", "other labels", "labels")
        for key, value in each["properties"].items():
            is_kept = found["properties"].get(key) == value
            expect.check(is_kept, f"the {key} of {each['id']}", "another value, or none", "properties")


@core("GRA-NODE-12")
def test_an_id_is_any_text(graph: Graph) -> None:
    """A node with a word as its id is accepted; an id need not be a UUID."""
    only_uuids = graph.prerequisites.takes_only_uuids()
    is_right = not only_uuids
    expect.check(is_right, "ids of any text", "a refusal, although the same node with a UUID is accepted", "nodes.0.id")
    graph.require("upsert_nodes")


@pytest.mark.requirement("GRA-NODE-2")
def test_an_update_is_seen(graph: Graph) -> None:
    """A node has the value of the last of four writes, even if this write repeats the first one under a new key."""
    sandbox = graph.sandbox("upsert_nodes")
    others = sandbox.put(sandbox.node("b"))
    first = sandbox.node("a")
    write = partial(sandbox.call, "upsert_nodes", {"nodes": [first]})
    expect.success(write(new_key_context()), "an upsert to work")
    values = [*sandbox.put(sandbox.node("a")), *others]
    sandbox.expect_all_show_values(values, "one node with its last value")
    sandbox.put(sandbox.node("a"))
    expect.success(write(new_key_context()), "an upsert to work")
    sandbox.expect_one_shows_values([value_of(first), *others], "one node with its last value")


@pytest.mark.requirement("GRA-NODE-2")
def test_an_update_changes_labels_and_properties(graph: Graph) -> None:
    """After an update, the node has the new label, the new property and the new value of an old property."""
    graph.require("upsert_nodes")
    graph.readers.require_correct("bulk_vertices")
    sandbox = graph.sandbox()
    sandbox.put(sandbox.node("a", corpus_size=3))
    changed = sandbox.node("a", corpus_size=4, corpus_color="red")
    relabelled = {**changed, "labels": ["CorpusOther"]}
    reply = sandbox.call("upsert_nodes", {"nodes": [relabelled]})
    is_fixed = reply.fails_as(*PERMANENT)  # labels may be fixed (R110)
    if is_fixed:
        sandbox.put(changed)
    else:
        expect.full_success(reply, "an upsert of a known id to work")
    found = [node for node in sandbox.list_nodes() if node.get("id") == sandbox.id("a")]
    expect.check(len(found) == 1, "one node with the id", f"{len(found)}", "result.nodes")
    is_right = is_fixed or "CorpusOther" in (found[0].get("labels") or [])
    expect.check(is_right, "the new label", "the new label is missing", "labels")
    properties = found[0]["properties"]
    is_right = properties.get("corpus_size") == 4
    expect.check(is_right, "the new value of a property", "another value, or none", "properties")
    is_right = properties.get("corpus_color") == "red"
    expect.check(is_right, "the new property", "the new property is missing", "properties")


@core("GRA-NODE-3")
@pytest.mark.parametrize("count", [3, 20])
def test_every_node_of_a_request_is_written(graph: Graph, count: int) -> None:
    """All nodes of a request are written, from the first to the last."""
    sandbox = graph.sandbox("upsert_nodes")
    expect.applicable(count <= graph.items_per_request, f"at most {graph.items_per_request} items go into one request")
    written = sandbox.put(*(sandbox.node(f"n{number}") for number in range(count)))
    (sandbox.expect_all_show_values if count == 3 else sandbox.expect_one_shows_values)(
        written, "every node of a request"
    )


@pytest.mark.core
@rules("schema GRA-NODE-4, counts GRA-NODE-5")
@pytest.mark.parametrize("count", [1, 5])
def test_the_result_of_an_upsert_counts_its_nodes(graph: Graph, requirement: str, count: int) -> None:
    """Nodes are upserted twice. Both results are valid under the schema, count all nodes and report no failure."""
    for reply in upsert_twice(graph, count):
        if requirement == "GRA-NODE-4":
            expect_audited("GRA-NODE-4", reply, graph, claim="an upsert to work")
        else:
            bad_arguments.expect_counts(expect.success(reply, "an upsert to work"), count)


@remembered
def upsert_twice(graph: Graph, count: int) -> list[Reply]:
    """Upsert this number of nodes, then the same nodes again; return both answers."""
    sandbox = graph.sandbox("upsert_nodes")
    expect.applicable(count <= graph.items_per_request, f"at most {graph.items_per_request} items go into one request")
    nodes = [[sandbox.node(f"n{number}") for number in range(count)] for _ in range(2)]
    return [sandbox.call("upsert_nodes", {"nodes": each}) for each in nodes]


@rules("read_back GRA-NODE-9, as_doubles GRA-NODE-13")
def test_scalar_properties_are_read_back(graph: Graph, requirement: str) -> None:
    """Text of any script, numbers and booleans come back with their type and value."""
    found = cached(graph, "scalars", lambda: write_and_read_properties(graph, SCALARS))
    lenient = requirement == "GRA-NODE-9" and graph.capabilities.rounds_numbers
    for kind, value in SCALARS.items():
        if kind in CASES and kind not in found:
            continue
        expect.check(kind in found, f"a property of the kind {kind} to be accepted", "a refusal")
        read = found[kind]
        near = lenient and type(value) is type(read) is float and math.isclose(read, value, rel_tol=1e-6)
        expect_written(kind, read, right=near or are_equal_json(read, value))


@pytest.mark.requirement("GRA-NODE-9")
def test_keys_of_properties_are_read_back_or_refused(graph: Graph) -> None:
    """Any key, and any text under a key, comes back code point by code point, or is refused permanently."""
    for kind, value in write_and_read_properties(graph, KEYS).items():
        expect_written(kind, value, right=are_equal_json(value, KEYS[kind]))
    changed = ", ".join(words.changed_properties(graph.sandbox())[:1])
    expect.check(not changed, f"the properties as written ({changed}), or a refusal", "other properties", "properties")


@pytest.mark.requirement("GRA-NODE-10")
def test_nested_properties_are_read_back_or_refused(graph: Graph) -> None:
    """Lists and objects come back as they were written, or are refused. A null may be left out."""
    for kind, value in write_and_read_properties(graph, {**NESTED, "null": None}).items():
        right = are_equal_json(value, NESTED.get(kind)) or (kind == "null" and value is ...)
        expect_written(kind, value, right=right)


@pytest.mark.requirement("GRA-NODE-3")
@pytest.mark.parametrize("kind", LOOKALIKES)
def test_nodes_of_ids_that_look_alike_are_all_written(graph: Graph, kind: str) -> None:
    """Nodes whose ids differ only in the last letter, letter case, a space or the normal form are different nodes."""
    sandbox = graph.sandbox("upsert_nodes")
    at = [*LOOKALIKES].index(kind)
    others = {each: word for number, (each, word) in enumerate(IDS.items()) if number % len(LOOKALIKES) == at}
    alike = {f"{kind} {name}": sandbox.node(name) for name in LOOKALIKES[kind]}
    odd = words.offer_items(sandbox, "nodes", {**alike, **words.nodes_with_ids(sandbox, others)})
    sandbox.expect_one_shows_values(map(value_of, odd.values()), "every node that was accepted")
    if "bulk_vertices" in graph.readers.for_nodes():
        shown = {node.get("id") for node in sandbox.list_nodes()}
        for each, written in odd.items():
            expect.check(written["id"] in shown, f"the id as written ({each}), or a refusal", "another id", "nodes.id")


@pytest.mark.requirement("GRA-NODE-11")
def test_the_last_of_two_nodes_of_one_id_is_kept(graph: Graph) -> None:
    """If a request writes a node twice, the last one is kept."""
    graph.require("upsert_nodes")
    expect.applicable(graph.items_per_request >= 2, "a request may hold only one item")
    sandbox = graph.sandbox()
    nodes = [sandbox.node("a"), sandbox.node("a")]
    reply = sandbox.call("upsert_nodes", {"nodes": nodes})
    expect.either(reply, *PERMANENT)
    if reply.is_carried_out:
        sandbox.expect_all_show_values([value_of(nodes[1])], "the last node with the id")


@pytest.mark.core
@arguments_of("GRA-NODE-6")
def test_what_is_not_a_list_of_nodes_is_refused(graph: Graph, bad: BadArguments) -> None:
    """A value that is not a list of nodes with ids, labels and properties is refused, or its item is reported."""
    bad.expect_refused(graph)


class TestBadItems:
    """Requests in which some items must be refused."""

    @core("GRA-NODE-7")
    @pytest.mark.parametrize(
        ("place", "kind"), [("first", "wrong_type"), ("middle", "not_finite"), ("last", "wrong_type")]
    )
    def test_an_unusable_node_is_reported_or_all_are_refused(self, graph: Graph, place: str, kind: str) -> None:
        """If one node is unusable, it is reported and the others are written, or the whole request is refused."""
        sandbox = graph.sandbox("upsert_nodes")
        bad: dict[str, Any] = {"id": 7} if kind == "wrong_type" else sandbox.node("bad", corpus_size=math.nan)
        good = [sandbox.node(name) for name in "ab"]
        at = min(bad_arguments.PLACES[place], graph.items_per_request - 1)
        nodes = [*good[:at], bad, *good[at:]][: graph.items_per_request]
        reply = sandbox.call("upsert_nodes", {"nodes": nodes})
        written = [value_of(node) for node in nodes if node is not bad]
        left = bad_arguments.expect_bad_item_reported(reply, at, written)
        sandbox.expect_one_shows_values(left, "the items that were not refused")

    @pytest.mark.requirement("GRA-NODE-5")
    @pytest.mark.parametrize(("kind", "count"), bad_arguments.alternate_counts(bad_arguments.SPOILED_NODES))
    def test_the_nodes_beside_failed_ones_are_counted(self, graph: Graph, kind: str, count: int) -> None:
        """If nodes of a request fail, the result counts the written nodes and the failed nodes."""
        graph.require("upsert_nodes")
        readers, sandbox = graph.readers.for_nodes(), graph.sandbox()
        bad = [{**sandbox.node(f"bad{number}"), **bad_arguments.SPOILED_NODES[kind]} for number in range(count)]
        nodes = bad_arguments.insert_bad_items([sandbox.node(name) for name in "abc"], bad, graph.items_per_request)
        reply = sandbox.call("upsert_nodes", {"nodes": nodes})
        bad_arguments.expect_counts_match_store(reply, len(sandbox.read_values(readers[0])), "GRA-NODE-7")

    @core("GRA-NODE-8")
    @pytest.mark.parametrize("value", NOT_FINITE.values(), ids=list(NOT_FINITE))
    def test_numbers_of_a_node_are_finite(self, graph: Graph, value: Any) -> None:
        """NaN and infinities in properties are refused, or reported for the node, and never stored."""
        sandbox = graph.sandbox("upsert_nodes")
        expect_item_refused(sandbox.call("upsert_nodes", {"nodes": [sandbox.node("a", corpus_size=value)]}))

    @pytest.mark.requirement("GRA-NODE-8")
    def test_an_update_with_a_number_that_is_not_finite_changes_nothing(self, graph: Graph) -> None:
        """A node whose update is refused keeps its value."""
        sandbox = graph.sandbox("upsert_nodes")
        written = sandbox.put(sandbox.node("a"))
        expect_item_refused(sandbox.call("upsert_nodes", {"nodes": [sandbox.node("a", corpus_size=math.inf)]}))
        sandbox.expect_one_shows_values(written, "the node as it was")


class TestModel:
    """Random sequences of writes."""

    @pytest.mark.requirement("GRA-MODEL-1")
    def test_any_sequence_of_writes_adds_up(self, graph: Graph) -> None:
        """After every step of random writes, deletes, batches and transactions, the content agrees with a model."""
        graph.require("upsert_nodes", "delete_nodes")
        graph.readers.for_nodes()
        if graph.works("upsert_edges"):
            expect.applicable(graph.works("delete_edges"), "edges cannot be deleted")
            graph.readers.for_all_edges()
        with part_of(graph.client.part) as plain:
            state_machine.take_plain_steps(graph)
        slow = min(exchange.elapsed_s for exchange in plain.exchanges) > state_machine.SLOW_S
        run_sequences(
            graph,
            lambda: state_machine.GraphContents(graph),
            state_machine.rules_of(graph),
            steps=state_machine.SLOW_STEPS if slow else state_machine.STEPS,
            examples=1 if graph.settling.has_late_writes else state_machine.EXAMPLES,
        )


@rules("whole GRA-MODEL-2, in_order GRA-MODEL-3")
def test_concurrent_operations_on_the_same_nodes(graph: Graph, requirement: str) -> None:
    """Concurrent clients of two nodes see only complete nodes, and finally the last write."""
    events = cached(graph, "history", lambda: history(graph))
    if requirement == "GRA-MODEL-2":
        check_histories(
            events,
            is_convergent,
            "each read shows a whole node or no node, and the last read shows the state after the last change",
        )
        return
    require_strong_consistency(graph)
    check_histories(events, is_linearizable, "an order of the operations in which each read sees the last write")


def expect_written(kind: str, read: Any, *, right: bool) -> None:
    """Check that an accepted property was read back as written. `read` is the present value; `...` if absent."""
    got = "no property of this name" if read is ... else "another value"
    expect.check(right, f"the property corpus_{kind} as it was written", got, f"properties.corpus_{kind}")


def write_and_read_properties(graph: Graph, values: dict[str, Any]) -> dict[str, Any]:
    """Write each value under its own key (R110); return the accepted values as they are read back.

    All are sent in one node first. If this node is refused, each value is sent in its own node.
    """
    graph.require("upsert_nodes", "bulk_vertices")
    graph.readers.require_correct("bulk_vertices")
    sandbox = graph.sandbox()
    written: dict[str, str] = {}
    for kinds in ([*values], *([kind] for kind in values)):
        if not set(kinds) <= written.keys():
            properties = {f"corpus_{kind}": values[kind] for kind in kinds}
            reply = sandbox.call("upsert_nodes", {"nodes": [sandbox.node(kinds[0], **properties)]})
            expect.either(reply, "BadRequest", "NotSupported")
            if reply.is_carried_out:
                written |= dict.fromkeys(kinds, sandbox.id(kinds[0]))
    nodes = {node.get("id"): node["properties"] for node in sandbox.list_nodes()}
    missing = set(written.values()) - nodes.keys()
    expect.check(not missing, "the node that was written", f"{describe_names(missing)} missing", "result.nodes")
    return {kind: nodes[name].get(f"corpus_{kind}", ...) for kind, name in written.items()}
