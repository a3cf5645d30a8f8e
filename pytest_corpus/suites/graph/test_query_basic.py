"""Queries: what they find, how parameters go in, what is refused (SPECIFICATION 7.3.2; ERRORS 6.4)."""

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.component import holds
from pytest_corpus.kit.fixtures import subject
from pytest_corpus.kit.outcomes import NotApplicable, NotAssessed
from pytest_corpus.kit.requests import canary
from pytest_corpus.suites.graph.support.answers import records
from pytest_corpus.suites.graph.support.component import Graph, graph
from pytest_corpus.suites.graph.support.place import value_of
from pytest_corpus.suites.graph.support.scenarios import queries
from pytest_corpus.suites.graph.support.written_items import MANY

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
    queries.finds(graph, "query", purpose)


@pytest.mark.requirement("GRA-QUERY-2")
def test_a_query_finds_what_is_there_now(graph: Graph) -> None:
    """The same query before and after a write, an update and a delete finds each time what is there."""
    queries.changes(graph, "query")


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
def test_a_parameter_is_a_value(graph: Graph) -> None:
    """A parameter that reads like a piece of a query finds the node that has it as a value, and no other."""
    queries.binds(graph, "query")


@pytest.mark.requirement("GRA-QUERY-3")
def test_a_parameter_is_a_value_in_every_dialect(graph: Graph) -> None:
    """In the dialects after the first one, too, such a parameter finds the node that has it as a value."""
    queries.binds_in_every_dialect(graph, "query")


@pytest.mark.requirement("GRA-QUERY-3")
@pytest.mark.parametrize("name", list(MANY))
def test_a_parameter_is_a_value_in_a_batch(graph: Graph, name: str) -> None:
    """In the queries of a batch, or of a transaction, such a parameter finds the node that has it as a value."""
    queries.binds_in_a_batch(graph, name)


@pytest.mark.requirement("GRA-QUERY-4")
def test_a_parameter_keeps_its_type(graph: Graph) -> None:
    """A parameter of each scalar type finds the node that has just that value."""
    queries.binds_typed(graph, "query")


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
    for args in queries.broken(graph):
        expect.refusal(graph.call("query", args), "BadRequest")


@pytest.mark.requirement("GRA-QUERY-7")
def test_a_text_that_is_no_query_is_a_parse_error(graph: Graph) -> None:
    """The subtype QueryParseError tells it from other bad requests."""
    graph.require("query")
    for args in queries.broken(graph):
        expect.refusal(graph.call("query", args), "QueryParseError")


@pytest.mark.requirement("GRA-QUERY-7")
def test_an_empty_text_is_refused(graph: Graph) -> None:
    """A text of nothing, or of spaces, is not a query."""
    graph.require("query")
    for text in ("", "  "):
        expect.refusal(graph.call("query", {**graph.requests.minimal("query"), "text": text}), "BadRequest")


@pytest.mark.core
@pytest.mark.requirement("GRA-QUERY-8")
@pytest.mark.parametrize("kind", list(queries.BAD_QUERIES))
def test_arguments_of_the_wrong_type_are_refused(graph: Graph, kind: str) -> None:
    """`text` is required and a string, `params` an object, `namespace` a string."""
    graph.require("query")
    expect.refusal(graph.call("query", queries.changed(graph, kind)), "BadRequest")


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
    queries.ordered(graph, "query")


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
