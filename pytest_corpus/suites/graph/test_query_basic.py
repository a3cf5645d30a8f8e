"""Queries and streams: their records, parameters and refusals (SPECIFICATION 7.3.2; ERRORS 6.4)."""

from contextlib import nullcontext
from itertools import product

import pytest

from pytest_corpus.adapter import inputs
from pytest_corpus.adapter.turns import call_side_by_side
from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import cached, invoke_plain
from pytest_corpus.kit.component import expect_audited
from pytest_corpus.kit.fixtures import core, deciding, rules, subject
from pytest_corpus.kit.outcomes import NotApplicable
from pytest_corpus.kit.reply import StreamReply
from pytest_corpus.kit.requests import canary
from pytest_corpus.spec.errors import PERMANENT
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.suites.graph.support.answers import records
from pytest_corpus.suites.graph.support.capabilities import ASKING
from pytest_corpus.suites.graph.support.component import Graph, graph
from pytest_corpus.suites.graph.support.node_group import value_of
from pytest_corpus.suites.graph.support.readers import can_ask
from pytest_corpus.suites.graph.support.run_state import MANY
from pytest_corpus.suites.graph.support.scenarios import queries
from pytest_corpus.suites.graph.support.scenarios.bad_arguments import BadArguments, arguments_of
from pytest_corpus.suites.shared.claims.deadlines import PROMPTLY_S, expect_in_time, retry_if_late

FINDING = deciding("operation", query="GRA-QUERY-2", stream_query="GRA-STREAM-2")
BINDING = deciding("operation", query="GRA-QUERY-3", stream_query="GRA-STREAM-4")
"""The operations that take a text, and the requirement of each."""

MOST_TEXT = 2_000_000
"""If the stated limit is larger, the suite does not test it, because the query would be too long."""


@core("GRA-QUERY-1")
def test_a_plain_query_is_answered(graph: Graph) -> None:
    """A query for nodes by a property is a success whose `records` are a list of objects."""
    graph.require("query")
    reply = graph.call("query", graph.question("group", group=graph.seeds.group))
    expect_audited("GRA-QUERY-1", reply, graph, claim="records")


@pytest.mark.core
@FINDING
@pytest.mark.parametrize("purpose", ["group", "find"])
def test_what_was_written_is_found(graph: Graph, purpose: str, operation: str) -> None:
    """A query by group or by key finds exactly the matching nodes."""
    queries.require_query(graph, operation, purpose)
    sandbox, other = graph.sandbox(own=False), graph.sandbox(own=False)
    values = sandbox.put_named("abc")
    other.put(other.node("a"))
    if purpose == "group":
        sandbox.expect_values(operation, values.values(), "the nodes of the group")
        return
    for name, value in values.items():
        found = sandbox.query_values(operation, "find", wanted=sandbox.key(name))
        expect.check(found == [value], "the one node with that key", f"{len(found)} nodes, or not this one", "records")


@pytest.mark.parametrize(
    ("operation", "way"),
    [
        pytest.param(operation, way, marks=pytest.mark.requirement(requirement))
        for operation, requirement in (("query", "GRA-QUERY-2"), ("stream_query", "GRA-STREAM-2"))
        for way in (("", *MANY) if operation == "query" else ("",))
    ],
)
def test_the_present_nodes_are_found(graph: Graph, operation: str, way: str) -> None:
    """The same query, sent before and after writes, updates and deletes, finds the current nodes each time.

    The changes are made alone, or in a batch or a transaction.
    """
    queries.require_query(graph, operation)
    sandbox = graph.sandbox("upsert_nodes", *([way] if way else ["delete_nodes"]), own=False)
    values: dict[str, str] = {}
    for name in "ab" if way else "aba":
        if values or not way:
            sandbox.expect_values(operation, values.values(), "the nodes that were written so far")
        if way:
            node = sandbox.node(name)
            values[name] = value_of(node)
            expect.success(sandbox.call_many(way, sandbox.item("upsert_nodes", nodes=[node])), f"{way} to work")
        else:
            values |= sandbox.put_named(name)
    sandbox.expect_values(operation, values.values(), "every node that was written")
    if way:
        delete = sandbox.item("delete_nodes", ids=[sandbox.id("b")])
        expect.success(sandbox.call_many(way, delete), f"{way} to work")
    else:
        sandbox.remove("nodes", "b")
    sandbox.expect_values(operation, [values["a"]], "the node that is left")


@pytest.mark.core
@BINDING
def test_a_parameter_is_a_value(graph: Graph, operation: str) -> None:
    """A parameter whose text resembles a query finds the node with this value, and no other node."""
    queries.require_query(graph, operation, "find")
    sandbox, keys = queries.tricky_nodes(graph)

    def expect_found(kind: str) -> None:
        key, value = keys[kind]
        found = queries.find_values(sandbox, operation, key)
        right = found is None or found == [value]
        expect.check(right, f"the node with the value {kind}, or a refusal", "other records, or none", "records")

    call_side_by_side(
        expect_found, keys if operation == "query" else [kind for kind in queries.TRICKY_IN_STREAMS if kind in keys]
    )


@BINDING
def test_a_parameter_is_a_value_in_every_dialect(graph: Graph, operation: str) -> None:
    """In every listed dialect, a parameter whose text resembles a query finds the node with this value."""
    queries.require_query(graph, operation)
    others = [name for name in graph.dialects.known[1:] if can_ask(graph, "find", name)]
    expect.applicable(others, "the suite can send queries in only one of the listed dialects")
    sandbox, keys = queries.tricky_nodes(graph)
    asked = [*product(others, queries.INJECTIONS)]

    def expect_found(each: tuple[str, str]) -> None:
        dialect, kind = each
        key, value = keys[kind]
        found = queries.find_values(sandbox, operation, key, dialect)
        claim = f"the node with the value {kind} in {dialect}, or a refusal"
        expect.check(found is None or found == [value], claim, "other records, or none", "records")

    call_side_by_side(expect_found, asked if operation == "query" else asked[:: len(queries.INJECTIONS) + 1])


@pytest.mark.requirement("GRA-QUERY-3")
@pytest.mark.parametrize("name", list(MANY))
def test_a_parameter_is_a_value_in_a_batch(graph: Graph, name: str) -> None:
    """In a batch or transaction, a parameter whose text resembles a query finds the node with this value."""
    graph.require(name, "query")
    sandbox, keys = queries.tricky_nodes(graph)
    dialects = [dialect for dialect in graph.dialects.known if can_ask(graph, "find", dialect)]
    usual = [*product(dialects, queries.INJECTIONS)]
    for asked in ([*usual, *((each, queries.EVERY) for each in dialects[:1] if queries.EVERY in keys)], usual):
        questions = [graph.question("find", dialect, wanted=keys[kind][0]) for dialect, kind in asked]
        answers = queries.query_in_batches(sandbox, name, [sandbox.item("query", **args) for args in questions])
        if answers is not None:
            break
    else:
        raise NotApplicable(f"a {name} takes no queries")
    for (dialect, kind), answer in zip(asked, answers, strict=True):
        right = answer.get("ok") is False or sandbox.own_values(answer) == {keys[kind][1]}
        claim = f"the node with the value {kind} in {dialect}, or a refusal"
        expect.check(right, claim, "other records, or none", f"{name}.results")


@deciding("operation", query="GRA-QUERY-4", stream_query="GRA-STREAM-4")
def test_a_parameter_keeps_its_type(graph: Graph, operation: str) -> None:
    """A parameter of each scalar type finds exactly the node with this value; a text of digits finds no number."""
    queries.require_query(graph, operation, "typed")
    sandbox = graph.sandbox(own=False)
    nodes = {kind: sandbox.node(kind, rank=value) for kind, value in queries.TYPED.items()}
    for node in nodes.values():
        node["properties"]["corpus_key"] = f"{sandbox.key('typed')} $wanted_rank $wanted"
    integers = [kind for kind, value in queries.TYPED.items() if type(value) is int]
    sandbox.put(*(nodes[kind] for kind in integers))
    others = [node for kind, node in nodes.items() if kind not in integers]
    if sandbox.call("upsert_nodes", {"nodes": others[: graph.items_per_request]}).fails_as(*PERMANENT):
        others = []  # an integer property may refuse other types
    *usual, digits = queries.ASKED
    for kind in (*(usual if operation == "query" else usual[inputs.seed() % 2 :: 2]), digits):
        node = nodes[kind]
        key = node["properties"]["corpus_key"]
        if kind not in integers and node not in others[: graph.items_per_request]:
            if kind == digits:
                lost = queries.find_values(sandbox, operation, key, purpose="typed", wanted_rank=queries.TYPED[kind])
                expect.check(
                    not lost,
                    "no node with a number, because the parameter is a text",
                    f"{len(lost or ())} nodes",
                    "records",
                )
            continue
        found = sandbox.query_values(operation, "typed", wanted=key, wanted_rank=queries.TYPED[kind])
        expect.check(found == [value_of(node)], f"the node with the value: {kind}", f"{len(found)} nodes", "records")


@deciding("operation", query="GRA-QUERY-5", stream_query="GRA-STREAM-7")
@pytest.mark.parametrize("purpose", ["group", "find", "links"])
def test_a_query_that_matches_nothing_succeeds(graph: Graph, purpose: str, operation: str) -> None:
    """A query without matches succeeds with no records."""
    graph.require(operation)
    graph.require_question(purpose)
    name = "group" if purpose == "group" else "wanted"
    found = records(graph.invoke(operation, graph.question(purpose, **{name: f"none-{canary()}"})))
    expect.check(not found, "no records", f"{len(found)}", "records")


@pytest.mark.core
@deciding("operation", query="GRA-QUERY-6", stream_query="GRA-STREAM-5")
def test_a_text_that_is_not_a_query_is_refused(graph: Graph, operation: str) -> None:
    """A text that is not valid in the dialect is always refused with BAD_REQUEST. A stream then has no data."""
    graph.require(operation)
    for args, reply in queries.send_broken_queries(graph):
        with expect.resting_on("GRA-QUERY-6") if operation == "stream_query" else nullcontext():
            expect.refusal(reply, "BadRequest")
        if operation == "stream_query":
            stream = graph.stream(operation, args)
            expect.refusal(stream, "BadRequest")
            data = [chunk for chunk in stream.chunks if chunk.get("records")]  # keep-alive frames are none (R4)
            expect.check(not data, "one error envelope and no data", f"{len(data)} frames of data")


@pytest.mark.requirement("GRA-QUERY-6")
def test_a_feature_that_is_not_offered_is_refused_permanently(graph: Graph) -> None:
    """A query that few engines support is answered or refused permanently. Each query uses another listed dialect."""
    graph.require("query")
    dialects: dict[str, list[str]] = {}
    for name in graph.dialects.known:
        for text in graph.dialects.texts("rare", name):
            dialects.setdefault(text, []).append(name)
    asked = [(names[number % len(names)], text) for number, (text, names) in enumerate(dialects.items())]
    for dialect, text in expect.applicable(asked, "the suite knows no rare query for a listed dialect"):
        reply = graph.call("query", {"text": text, "dialect": dialect})
        expect.either(reply, "BadRequest", "NotSupported")


@pytest.mark.requirement("GRA-QUERY-7")
def test_a_text_that_is_not_a_query_is_a_parse_error(graph: Graph) -> None:
    """A text that is not a query of the dialect is refused with the subtype QueryParseError."""
    graph.require("query")
    for _, reply in queries.send_broken_queries(graph):
        expect.refusal(reply, "QueryParseError")


@pytest.mark.requirement("GRA-QUERY-7")
def test_an_empty_text_is_refused(graph: Graph) -> None:
    """An empty text, or a text of spaces, is refused."""
    graph.require("query")
    for text in ("", "  "):
        expect.refusal(graph.call("query", {**graph.requests.minimal("query"), "text": text}), "BadRequest")


@pytest.mark.core
@deciding("operation", query="GRA-QUERY-8", stream_query="GRA-STREAM-6")
@pytest.mark.parametrize("kind", list(queries.BAD_QUERIES))
def test_arguments_of_the_wrong_type_are_refused(graph: Graph, kind: str, operation: str) -> None:
    """`text` is required and a string, `params` an object, `namespace` a string."""
    graph.require("query", operation)
    args = queries.change_query(graph, kind)
    with expect.resting_on("GRA-QUERY-8") if operation == "stream_query" else nullcontext():
        expect.refusal(cached(graph, ("bad query", kind), lambda: graph.call("query", args)), "BadRequest")
    if operation == "stream_query":
        expect.refusal(graph.stream(operation, args), "BadRequest")


@pytest.mark.requirement("GRA-QUERY-9")
@pytest.mark.parametrize("form", ["empty", "other", "absent"])
def test_a_parameter_that_is_not_given_matches_nothing(graph: Graph, form: str) -> None:
    """A query whose parameter is missing is refused or finds no nodes."""
    graph.require("query")
    if "group" in graph.dialects.row(str(graph.dialect)).supplied:
        raise NotApplicable("a query of --corpus-dialects is not tried without its parameter (R119)")
    args = {**graph.question("group", group=graph.seeds.group), "params": {}}
    if form == "other":
        args["params"] = {"unrelated": graph.seeds.group}
    elif form == "absent":
        del args["params"]
    reply = graph.call("query", args)
    if expect.either(reply, "BadRequest"):
        found = graph.seeds.own_values(reply.result)
        expect.check(not found, "a refusal, or no records", f"{len(found)} nodes", "result.records")


@pytest.mark.requirement("GRA-QUERY-10")
def test_the_length_of_a_query_is_limited_as_stated(graph: Graph) -> None:
    """A text of `max_query_length` characters is accepted, a longer one is refused."""
    graph.require("query")
    most = graph.require_limit("max_query_length")
    plain = graph.question("group", group=graph.seeds.group)
    expect.assessable(len(plain["text"]) <= most <= MOST_TEXT, Obstacle.LARGE_TEXT, number=most)
    space = most - len(plain["text"])
    expect.success(
        graph.call("query", {**plain, "text": plain["text"] + " " * space}),
        "an answer to a query of the maximal length",
    )
    long = f"{plain['text']}{' ' * space} "
    quoted = graph.question("literal")
    if "{literal}" in quoted["text"] and graph.dialects.obstacle("literal", str(graph.dialect)) is None:
        long = quoted["text"].replace("{literal}", "x" * (most + 1))
    expect.refusal(graph.call("query", {**plain, "text": long}), "BadRequest")


@deciding("operation", query="GRA-QUERY-11", stream_query="GRA-STREAM-3")
def test_an_ordered_query_keeps_its_order(graph: Graph, operation: str) -> None:
    """The records of a query with an order have this order, whatever the order of writing."""
    queries.require_query(graph, operation, "ordered")
    sandbox = graph.sandbox(own=False)
    nodes = [sandbox.node(f"n{rank}", rank=rank) for rank in (5, 1, 4, 2, 7, 3, 6)]
    sandbox.put(*nodes)
    wanted = [value_of(node) for node in sorted(nodes, key=lambda node: node["properties"]["corpus_rank"])]
    found = sandbox.query_values(operation, "ordered", group=sandbox.group)
    expect.check(sorted(found) == sorted(wanted), f"{len(wanted)} records", f"{len(found)}, or others", "records")
    expect.check(found == wanted, "the order that was asked for", "another order", "records")


@pytest.mark.requirement("GRA-QUERY-21")
@pytest.mark.parametrize("operation", ASKING)
def test_a_summary_counts_the_records(graph: Graph, operation: str) -> None:
    """A summary counts the records of the answer."""
    graph.require(operation)
    reply = invoke_plain(graph, operation)
    found = len(records(reply))
    last = reply.chunks[-1] if isinstance(reply, StreamReply) else reply.result
    summary = last.get("summary")
    stated = [summary[key] for key in ("rows", "records") if isinstance(summary.get(key), int)] if summary else []
    expect.applicable(stated, "no summary counts records")
    expect.check(set(stated) == {found}, f"a count of {found}", f"{stated}", "summary")


@pytest.mark.requirement("GRA-QUERY-12")
def test_a_result_names_what_was_asked_for(graph: Graph) -> None:
    """`dialect` and `namespace` of a result, if present, equal those in the request."""
    sandbox = graph.sandbox("query")
    sandbox.put(sandbox.node("a"))
    for name in graph.dialects.known:
        args = graph.question("group", name, group=sandbox.group)
        if graph.dialects.obstacle("group", name) is None:
            result = expect.success(sandbox.call("query", args), "records")
            is_right = result.get("dialect") in (None, name)
            expect.check(is_right, f"the dialect {name}", "another dialect", "result.dialect")
            named = result.get("namespace")
            wrong = sandbox.namespace is not None and named not in (None, sandbox.namespace)
            expect.check(not wrong, "the namespace that was asked for", "another namespace", "result.namespace")


TIMED = {"claimed": "GRA-QUERY-13", "published": "GRA-QUERY-20"}
"""For `timeout_ms`: the requirement on adapters that claim it, and the requirement on all adapters (R118)."""

TIMEOUT_MS = 50
"""The `timeout_ms` of a query whose provider never answers."""

OPERATION = pytest.mark.parametrize("operation", ASKING)


@rules(**TIMED)
@OPERATION
def test_an_ample_timeout_is_accepted(graph: Graph, operation: str, requirement: str) -> None:
    """A `timeout_ms` of a minute does not change the answer."""
    require_timeout(graph, operation, requirement)
    graph.seed()
    args = graph.question("group", group=graph.seeds.group)
    first, found = (
        graph.seeds.own_values(records(graph.invoke(operation, {**args, **more})))
        for more in ({}, {"timeout_ms": 60_000})
    )
    expect.check(found == first, "the same records", "other records")


@arguments_of("GRA-QUERY-13", "GRA-QUERY-20")
def test_a_timeout_that_is_not_a_time_is_refused(graph: Graph, bad: BadArguments) -> None:
    """A `timeout_ms` that is not a number, or negative, is refused."""
    require_timeout(graph, bad.operation, bad.requirement)
    bad.expect_refused(graph)


@pytest.mark.requirement("GRA-QUERY-19")
@OPERATION
def test_a_timeout_ends_a_query(graph: Graph, operation: str) -> None:
    """If the provider never answers, a query with `timeout_ms` ends with an error within a second after this time."""

    def time_out() -> None:
        fresh = graph.fresh()
        args = {**fresh.requests.distinct(operation), "timeout_ms": TIMEOUT_MS}
        plan = fresh.faults.plan("hang", operation)
        reply = fresh.invoke(operation, args, limit_s=TIMEOUT_MS / 1000 + PROMPTLY_S + 1)
        fresh.faults.require_fired(plan)
        expect_in_time(reply, TIMEOUT_MS)
        expect.readable(reply)
        expect.check(reply.is_error, "an error once the timeout is over", str(reply))

    graph.faults.provider_op(operation)
    retry_if_late(time_out)


def require_timeout(graph: Graph, operation: str, requirement: str) -> None:
    """Check that an operation works, and that a timeout is claimed if the requirement demands a claim."""
    graph.require(operation)
    expect.applicable(requirement != TIMED["claimed"] or graph.claims_timeout, "no timeout of queries is claimed")
