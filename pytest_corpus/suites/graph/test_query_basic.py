"""Queries: what they find, how parameters go in, what is refused (SPECIFICATION 7.3.2; ERRORS 6.4)."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.audit.exchanges import holds
from pytest_corpus.kit.fixtures import subject
from pytest_corpus.kit.outcomes import NotApplicable, NotAssessed
from pytest_corpus.kit.requests import canary
from pytest_corpus.suites.graph.subject.answers import records
from pytest_corpus.suites.graph.subject.component import Graph, graph
from pytest_corpus.suites.graph.subject.place import value_of
from pytest_corpus.suites.graph.subject.written_items import MANY

TRICKY = {
    "apostrophe": "O'Neil",
    "quoted": "a' OR '1'='1",
    "closing": "none'}) RETURN n.corpus_value AS found //",
    "closing_double": 'none"}) RETURN n.corpus_value AS found //',
    "steps": "none').or(__.identity(), __.identity()) //",
    "double_quote": 'say "hi"',
    "backslash": "a\\",
    "backslash_quote": "a\\' OR 1=1 //",
    "backtick": "`a`",
    "parameter": "$wanted",
    "other_parameter": "$rank",
    "braces": "{wanted} {0} ${wanted} %s",
    "comment": "a /* b */ -- c // d",
    "newline": "a\nb\tc",
    "unicode": "\u02bc\u2019\u6771\U0001f600",
}
"""Values that mean something where they are written into the text of a query."""

TYPED: dict[str, tuple[Any, Any]] = {
    "integer": (3, 4),
    "float": (2.5, 2.25),
    "text": ("three", "four"),
    "boolean": (True, False),
    "number_as_text": ("3", 3),
    "text_as_number": (3, "3"),
}
"""For each kind of parameter a value that is there and one that is not."""

BAD_QUERIES: dict[str, dict[str, Any]] = {
    "text_missing": {"text": ...},
    "text_number": {"text": 7},
    "text_list": {"text": ["MATCH"]},
    "text_object": {"text": {"a": 1}},
    "params_list": {"params": ["a"]},
    "params_text": {"params": "a"},
    "params_number": {"params": 7},
    "namespace_number": {"namespace": 7},
    "namespace_list": {"namespace": ["a"]},
}

MOST_TEXT = 2_000_000
"""A longer query is not sent only to see that it is refused."""


@pytest.mark.core
@pytest.mark.requirement("GRA-QUERY-1")
def test_a_plain_query_is_answered(graph: Graph) -> None:
    """A query for nodes by a property is a success whose `records` are a list of objects."""
    graph.require("query")
    reply = graph.call("query", graph.question("group", group=graph.seeds.group))
    expect.success(reply, "records")
    holds("GRA-QUERY-1", reply, graph)


@pytest.mark.core
@pytest.mark.requirement("GRA-QUERY-2")
@pytest.mark.parametrize("purpose", ["group", "find"])
def test_a_query_finds_what_was_written(graph: Graph, purpose: str) -> None:
    """By its group or by its key, a query finds the nodes that fit and no others."""
    finds(graph, "query", purpose)


@pytest.mark.requirement("GRA-QUERY-2")
def test_a_query_finds_what_is_there_now(graph: Graph) -> None:
    """The same query before and after a write, an update and a delete finds each time what is there."""
    changes(graph, "query")


@pytest.mark.requirement("GRA-QUERY-2")
@pytest.mark.parametrize("way", list(MANY))
def test_a_query_finds_what_a_batch_changed(graph: Graph, way: str) -> None:
    """The same query before and after a batch, or a transaction, finds each time what is there."""
    graph.require("upsert_nodes", "query", way)
    graph.readers.trusted("query")
    sandbox = graph.sandbox(own=False)
    first = sandbox.put(sandbox.node("a"))
    sandbox.shows("query", first, "the first node")
    node = sandbox.node("b")
    write = sandbox.item("upsert_nodes", nodes=[node])
    expect.success(sandbox.call(way, {MANY[way]: [write]}), f"{way} to work")
    sandbox.shows("query", [*first, value_of(node)], "both nodes")
    delete = sandbox.item("delete_nodes", ids=[node["id"]])
    expect.success(sandbox.call(way, {MANY[way]: [delete]}), f"{way} to work")
    sandbox.shows("query", first, "the node that is left")


@pytest.mark.core
@pytest.mark.requirement("GRA-QUERY-3")
@pytest.mark.parametrize("kind", list(TRICKY))
def test_a_parameter_is_a_value(graph: Graph, kind: str) -> None:
    """A parameter that reads like a piece of a query finds the node that has it as a value, and no other."""
    binds(graph, "query", TRICKY[kind])


@pytest.mark.requirement("GRA-QUERY-4")
@pytest.mark.parametrize("kind", list(TYPED))
def test_a_parameter_keeps_its_type(graph: Graph, kind: str) -> None:
    """A parameter of each scalar type finds the node that has just that value."""
    binds_typed(graph, "query", *TYPED[kind])


@pytest.mark.requirement("GRA-QUERY-5")
@pytest.mark.parametrize("purpose", ["group", "find", "links"])
def test_a_query_that_matches_nothing_succeeds(graph: Graph, purpose: str) -> None:
    """What is not there gives no records, and not an error."""
    graph.require("query")
    graph.speaks(purpose)
    name = "group" if purpose == "group" else "wanted"
    reply = graph.call("query", graph.question(purpose, **{name: f"none-{canary()}"}))
    found = records(reply)
    expect.that(not found, "no records", f"{len(found)}", "result.records")


@pytest.mark.core
@pytest.mark.requirement("GRA-QUERY-6")
def test_a_text_that_is_no_query_is_refused(graph: Graph) -> None:
    """Broken texts of the dialect are BAD_REQUEST, every time."""
    graph.require("query")
    for args in broken(graph):
        expect.refusal(graph.call("query", args), "BadRequest")


@pytest.mark.requirement("GRA-QUERY-7")
def test_a_text_that_is_no_query_is_a_parse_error(graph: Graph) -> None:
    """The subtype QueryParseError tells it from other bad requests."""
    graph.require("query")
    for args in broken(graph):
        expect.refusal(graph.call("query", args), "QueryParseError")


@pytest.mark.requirement("GRA-QUERY-7")
def test_an_empty_text_is_refused(graph: Graph) -> None:
    """A text of nothing, or of spaces, is not a query."""
    graph.require("query")
    for text in ("", "  "):
        expect.refusal(graph.call("query", {**graph.requests.minimal("query"), "text": text}), "BadRequest")


@pytest.mark.core
@pytest.mark.requirement("GRA-QUERY-8")
@pytest.mark.parametrize("kind", list(BAD_QUERIES))
def test_arguments_of_the_wrong_type_are_refused(graph: Graph, kind: str) -> None:
    """`text` is required and a string, `params` an object, `namespace` a string."""
    graph.require("query")
    expect.refusal(graph.call("query", changed(graph, kind)), "BadRequest")


@pytest.mark.requirement("GRA-QUERY-9")
@pytest.mark.parametrize("form", ["empty", "other", "absent"])
def test_a_parameter_that_is_not_given_matches_nothing(graph: Graph, form: str) -> None:
    """A query whose parameter is missing is refused or finds no nodes."""
    graph.require("query")
    if graph.dialects.supplied("group", str(graph.dialect)):
        raise NotApplicable("what a missing parameter means is not asked of a dialect from --corpus-dialects (R119)")
    args = {**graph.question("group", group=graph.seeds.group), "params": {}}
    if form == "other":
        args["params"] = {"unrelated": graph.seeds.group}
    elif form == "absent":
        del args["params"]
    reply = graph.call("query", args)
    expect.either(reply, "BadRequest")
    if not reply.is_error:
        found = graph.seeds.own(reply.result)
        expect.that(not found, "a refusal, or no records", f"{len(found)} nodes", "result.records")


@pytest.mark.requirement("GRA-QUERY-10")
def test_the_length_of_a_query_is_limited_as_stated(graph: Graph) -> None:
    """A text of `max_query_length` characters is taken, one that is a little longer is not."""
    graph.require("query")
    most = graph.capabilities.limit("max_query_length")
    if most is None:
        raise NotApplicable("capabilities state no max_query_length")
    plain = graph.question("group", group=graph.seeds.group)
    if most > MOST_TEXT or most < len(plain["text"]):
        raise NotAssessed(f"a limit of {most} characters is not tried")
    space = most - len(plain["text"])
    expect.success(graph.call("query", {**plain, "text": plain["text"] + " " * space}), "a text of that length")
    long = f"{plain['text']}{' ' * space} "
    quoted = graph.question("literal")
    if "{literal}" in quoted["text"] and graph.dialects.obstacle("literal", str(graph.dialect)) is None:
        long = quoted["text"].replace("{literal}", "x" * (most + 1))
    expect.refusal(graph.call("query", {**plain, "text": long}), "BadRequest")


@pytest.mark.requirement("GRA-QUERY-11")
def test_an_ordered_query_keeps_its_order(graph: Graph) -> None:
    """Records of a query that asks for an order come in it, whatever the order of writing."""
    ordered(graph, "query")


@pytest.mark.requirement("GRA-QUERY-12")
def test_a_result_names_what_was_asked_for(graph: Graph) -> None:
    """`dialect` and `namespace` of a result are those of the request, where it gives any."""
    graph.require("query")
    sandbox = graph.sandbox()
    sandbox.put(sandbox.node("a"))
    for name in graph.dialects.known:
        args = graph.question("group", name, group=sandbox.group)
        if graph.dialects.obstacle("group", name) is None:
            result = expect.success(sandbox.call("query", args), "records")
            expect.that(result.get("dialect") in (None, name), f"the dialect {name}", "another", "result.dialect")
            named = result.get("namespace")
            wrong = sandbox.namespace is not None and named not in (None, sandbox.namespace)
            expect.that(not wrong, "the namespace that was asked for", "another", "result.namespace")


def finds(graph: Graph, operation: str, purpose: str) -> None:
    """A entry point finds the nodes that a question asks for, and no others."""
    graph.require(operation)
    graph.readers.trusted(operation)
    graph.speaks(purpose)
    sandbox, other = graph.sandbox(own=False), graph.sandbox(own=False)
    values = sandbox.put_named("abc")
    other.put(other.node("a"))
    if purpose == "group":
        sandbox.shows(operation, values.values(), "the nodes of the group")
        return
    for name, value in values.items():
        found = sandbox.answers(operation, "find", wanted=sandbox.key(name))
        expect.that(found == [value], "the one node of that key", f"{len(found)} nodes, or another", "records")


def changes(graph: Graph, operation: str) -> None:
    """A entry point finds at each time what is there at that time."""
    graph.require("upsert_nodes", "delete_nodes")
    graph.require(operation)
    graph.readers.trusted(operation)
    sandbox = graph.sandbox(own=False)
    sandbox.shows(operation, (), "nothing before the first write")
    first = sandbox.put(sandbox.node("a"))
    sandbox.shows(operation, first, "the first node")
    second = sandbox.put(sandbox.node("b"))
    sandbox.shows(operation, [*first, *second], "both nodes")
    first = sandbox.put(sandbox.node("a"))
    sandbox.shows(operation, [*first, *second], "the updated node")
    sandbox.remove("nodes", "b")
    sandbox.shows(operation, first, "the node that is left")


def binds(graph: Graph, operation: str, value: str) -> None:
    """A entry point finds the node whose key is a tricky value, and only that."""
    graph.require(operation)
    graph.readers.trusted(operation)
    graph.speaks("find")
    sandbox = graph.sandbox(own=False)
    node, other = sandbox.node("a"), sandbox.node("b")
    key = f"{value} {sandbox.tag}" if not value.endswith("\\") else f"{sandbox.tag} {value}"
    node["properties"]["corpus_key"] = key
    sandbox.put(node, other)
    found = sandbox.answers(operation, "find", wanted=key)
    wanted = [value_of(node)]
    expect.that(found == wanted, "the node that has the value", f"{len(found)} nodes, or another", "records")
    for absent in (value, f"none{value}"):
        args = graph.question("find", wanted=absent)
        found = records(graph.invoke(operation, args, sandbox.ctx))
        expect.that(not found, "no record for a value that no node has", f"{len(found)}", "records")


def binds_typed(graph: Graph, operation: str, there: Any, absent: Any) -> None:
    """A entry point finds a node by a value of some type, and not by another value."""
    graph.require(operation)
    graph.readers.trusted(operation)
    graph.speaks("typed")
    sandbox = graph.sandbox(own=False)
    node = sandbox.node("a", rank=there)
    key = node["properties"]["corpus_key"] = f"{sandbox.key('a')} $rank $wanted"
    if type(there) is not int and sandbox.call("upsert_nodes", {"nodes": [node]}).is_a("BadRequest"):
        raise NotApplicable("a property that holds integers takes no other values")
    values = sandbox.put(node)
    found = sandbox.answers(operation, "typed", wanted=key, rank=there)
    expect.that(found == values, "the node that has the value", f"{len(found)} nodes", "records")
    found = sandbox.answers(operation, "typed", wanted=key, rank=absent)
    expect.that(not found, "no node with another value", f"{len(found)}", "records")


def ordered(graph: Graph, operation: str) -> None:
    """A entry point gives the records of an ordered query in their order."""
    graph.require(operation)
    graph.readers.trusted(operation)
    graph.speaks("ordered")
    sandbox = graph.sandbox(own=False)
    ranks = [5, 1, 4, 2, 7, 3, 6]
    nodes = [sandbox.node(f"n{rank}", rank=rank) for rank in ranks]
    sandbox.put(*nodes)
    wanted = [value_of(node) for _, node in sorted(zip(ranks, nodes, strict=True), key=_rank)]
    found = sandbox.answers(operation, "ordered", group=sandbox.group)
    expect.that(sorted(found) == sorted(wanted), f"{len(wanted)} records", f"{len(found)}, or others", "records")
    expect.that(found == wanted, "the order that was asked for", "another order", "records")


def _rank(pair: tuple[int, Any]) -> int:
    return pair[0]


def broken(graph: Graph) -> list[dict[str, Any]]:
    """Requests whose text is not a query of the dialect.

    Raises:
        NotAssessed: none is known.
    """
    texts = graph.dialects.texts("broken", str(graph.dialect))
    if not texts:
        raise NotAssessed(f"no text is known that is not a query of {graph.dialect}: give one with --corpus-dialects")
    return [{"text": text, "dialect": graph.dialect} for text in texts]


def changed(graph: Graph, kind: str) -> dict[str, Any]:
    """A plain query with one argument changed or left out; one that needs no parameter, where those are wrong."""
    whole = {**graph.requests.minimal("query"), **BAD_QUERIES[kind]}
    quoted = graph.question("literal")
    asked = "{literal}" in quoted["text"] and graph.dialects.obstacle("literal", str(graph.dialect)) is None
    if asked and "params" in BAD_QUERIES[kind]:
        whole["text"] = quoted["text"].replace("{literal}", "none")
    return {key: value for key, value in whole.items() if value is not ...}
