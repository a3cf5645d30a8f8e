"""Dialects: listed ones are answered, others are refused (SPECIFICATION 7.3.2, 7.4; ERRORS 6.4; R12, R33)."""

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import cached
from pytest_corpus.kit.fixtures import core, deciding, rules
from pytest_corpus.kit.judgement import note_check
from pytest_corpus.kit.outcomes import Blocked, NotAssessed, Violation
from pytest_corpus.kit.reply import Reply
from pytest_corpus.spec.dialects import DIALECTS
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.suites.graph.support.answers import records
from pytest_corpus.suites.graph.support.component import Graph, graph
from pytest_corpus.suites.graph.support.readers import is_refused
from pytest_corpus.suites.graph.support.run_state import MANY
from pytest_corpus.suites.graph.support.scenarios import edges
from pytest_corpus.suites.graph.support.scenarios.bad_arguments import BadArguments, arguments_of


@core("GRA-DIALECT-1")
def test_dialects_are_listed(graph: Graph) -> None:
    """Capabilities list at least one dialect if any query is answered."""
    if graph.dialects.listed:
        note_check()
        return
    for name in DIALECTS:
        args = {**graph.question("group", name, group=graph.seeds.group), "dialect": name}
        expect.check(
            graph.call("query", args).is_error, "capabilities to list every dialect that is answered", name, "result"
        )
    raise NotAssessed(Obstacle.NO_DIALECT)


@deciding("operation", query="GRA-DIALECT-2", stream_query="GRA-DIALECT-3")
def test_every_listed_dialect_is_answered(graph: Graph, operation: str) -> None:
    """A plain query in each listed dialect finds the written nodes."""
    graph.require(operation)
    graph.seed()
    unknown = []
    first = graph.seeds.query_values(operation, "group", group=graph.seeds.group)
    for name in graph.dialects.known:
        args = graph.question("group", name, group=graph.seeds.group)
        obstacle = graph.dialects.obstacle("group", name)
        if obstacle is not None and not isinstance(obstacle, Blocked) and not graph.dialects.row(name).certain:
            unknown.append(name)
            text = graph.dialects.row(name).plain  # the simplest known query of the dialect must work
            if text and (reply := graph.invoke(operation, {"text": text, "dialect": name, "params": {}})).is_a(
                "BadRequest"
            ):
                raise Violation(f"a plain query of the listed dialect {name} to be answered", str(reply))
            continue
        reply = graph.invoke(operation, args)
        if reply.is_error:
            raise Violation(f"the listed dialect {name} to be answered", str(reply))
        found = {value for record in records(reply) for value in graph.seeds.own_values(record)}
        expect.check(found == set(first), f"the records that {graph.dialect} finds", "other records", name)
    unknown += [name for name in graph.dialects.listed if name not in graph.dialects.known]
    expect.assessable(not unknown, Obstacle.NO_QUERIES, dialects=", ".join(unknown))


@pytest.mark.requirement("GRA-DIALECT-2")
def test_every_listed_dialect_follows_edges(graph: Graph) -> None:
    """In each listed dialect, a query for edges with one label finds the target of such an edge, and no other."""
    graph.require("query")
    expect.applicable(len(graph.dialects.known) >= 2, "only one dialect is listed, and other tests follow edges in it")
    sandbox, values = edges.link_nodes_for_reader(graph, "query")
    sandbox.put_edges(sandbox.edge("a", "c", "f", label="CORPUS_OTHER"))
    for name in graph.dialects.known:
        graph.question("links", name, wanted=sandbox.key("a"))
        if graph.dialects.obstacle("links", name) is None:
            found = sandbox.query_values("query", "links", dialect=name, wanted=sandbox.key("a"))
            expect.check(found == [values["b"]], "the node that the edge leads to", f"{len(found)} others", name)


@pytest.mark.core
@deciding("operation", query="GRA-DIALECT-4", stream_query="GRA-DIALECT-5")
@pytest.mark.parametrize("form", ["no-such-dialect", "{known}-ext", "sparql\u00fc", "x"])
def test_an_unknown_dialect_is_not_supported(graph: Graph, form: str, operation: str) -> None:
    """A query in an unlisted dialect is refused with NOT_SUPPORTED, even if its name resembles a listed one."""
    graph.require(operation)
    plain = graph.question("group", group=graph.seeds.group)
    expect.refusal(graph.invoke(operation, {**plain, "dialect": form.format(known=graph.dialect)}), "NotSupported")


@pytest.mark.requirement("GRA-DIALECT-4")
@pytest.mark.parametrize("name", list(MANY))
def test_an_unknown_dialect_in_a_batch_is_not_supported(graph: Graph, name: str) -> None:
    """A query in an unlisted dialect fails with NOT_SUPPORTED in a batch or a transaction."""
    graph.require(name, "query")
    args = {**graph.question("group", group=graph.seeds.group), "dialect": "no-such-dialect"}
    reply = graph.call(name, {MANY[name]: [graph.item("query", **args)]})
    expect.either(reply, "BadRequest", "NotSupported")
    refused = reply.is_error or (is_refused(reply) and not graph.seeds.own_values(reply.result))
    expect.check(refused, "a failure with NOT_SUPPORTED", str(reply), "result.results")


@rules("refused_as_such GRA-DIALECT-4, not_working GRA-DIALECT-7")
def test_a_dialect_of_the_protocol_that_is_not_listed_is_not_supported(graph: Graph, requirement: str) -> None:
    """A query in an unlisted dialect of the protocol does not work: it is refused with NOT_SUPPORTED."""
    for reply in ask_unlisted_dialects(graph):
        expect.readable(reply)
        if requirement == "GRA-DIALECT-7":
            expect.check(reply.is_error, "NOT_SUPPORTED, as capabilities say", str(reply))
        elif reply.is_error:
            expect.refusal(reply, "NotSupported")


@arguments_of("GRA-DIALECT-6")
def test_a_dialect_that_is_not_a_string_is_refused(graph: Graph, bad: BadArguments) -> None:
    """A number, a list or an object instead of a dialect is refused."""
    bad.expect_refused(graph)


@pytest.mark.requirement("GRA-DIALECT-8")
def test_the_only_dialect_need_not_be_named(graph: Graph) -> None:
    """If one dialect is listed, a query without `dialect` is answered in it."""
    graph.require("query")
    expect.applicable(len(graph.dialects.listed) == 1, "several dialects are listed")
    plain = graph.question("group", group=graph.seeds.group)
    expect.success(graph.call("query", {"text": plain["text"], "params": plain["params"]}), "the only dialect")


def ask_unlisted_dialects(graph: Graph) -> list[Reply]:
    """Send a plain query in the dialects that capabilities do not list; return the answers."""
    graph.require("query")
    listed = {name.lower() for name in graph.dialects.listed}
    texts = {name: row.spellings["group"][0] for name, row in DIALECTS.items() if name not in listed}
    expect.applicable(texts, "every dialect of the protocol is listed")
    plain = {"params": {"group": graph.seeds.group}}
    asked = [{"text": text, "dialect": name, **plain} for name, text in texts.items()]
    return cached(graph, "unlisted dialects", lambda: [graph.call("query", args) for args in asked])
