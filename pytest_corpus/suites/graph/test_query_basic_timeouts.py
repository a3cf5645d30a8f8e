"""Timeouts of queries, which only the published wire has (edition 1.1.0; R42, R69, R118)."""

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.fixtures import rules, subject
from pytest_corpus.kit.outcomes import NotApplicable
from pytest_corpus.suites.graph.support.answers import records
from pytest_corpus.suites.graph.support.capabilities import ASKING
from pytest_corpus.suites.graph.support.component import Graph, graph
from pytest_corpus.suites.graph.support.scenarios.bad_arguments import BadArguments, arguments_of
from pytest_corpus.suites.shared.claims.deadlines import PROMPTLY_S, in_time, repeatedly

TIMED = {"claimed": "GRA-QUERY-13", "published": "GRA-QUERY-20"}
"""The requirement of `timeout_ms` if capabilities claim it, and the one of every adapter (R118)."""

TIMEOUT_MS = 50
"""The `timeout_ms` of a query whose provider never answers."""


OPERATION = pytest.mark.parametrize("operation", ASKING)


@rules(**TIMED)
@OPERATION
def test_an_ample_timeout_is_accepted(graph: Graph, operation: str, requirement: str) -> None:
    """A `timeout_ms` of a minute changes nothing."""
    times(graph, operation, requirement)
    graph.seed()
    args = graph.question("group", group=graph.seeds.group)
    first, found = (
        graph.seeds.own(records(graph.invoke(operation, {**args, **more}))) for more in ({}, {"timeout_ms": 60_000})
    )
    expect.that(found == first, "the same records", "others")


@arguments_of("GRA-QUERY-13", "GRA-QUERY-20")
def test_a_timeout_that_is_not_a_time_is_refused(graph: Graph, bad: BadArguments) -> None:
    """A `timeout_ms` is a number, and not negative."""
    times(graph, bad.operation, bad.requirement)
    bad.are_refused(graph)


@pytest.mark.requirement("GRA-QUERY-19")
@OPERATION
def test_a_timeout_ends_a_query(graph: Graph, operation: str) -> None:
    """A query with a `timeout_ms` whose provider never answers ends with an error, within a second after that."""

    def time_out() -> None:
        fresh = graph.fresh()
        args = {**fresh.requests.distinct(operation), "timeout_ms": TIMEOUT_MS}
        plan = fresh.faults.plan("hang", operation)
        reply = fresh.invoke(operation, args, limit_s=TIMEOUT_MS / 1000 + PROMPTLY_S + 1)
        fresh.faults.fired(plan)
        in_time(reply, TIMEOUT_MS)
        expect.readable(reply)
        expect.that(reply.is_error, "an error once the timeout is over", str(reply))

    graph.faults.provider_op(operation)
    repeatedly(time_out)


def times(graph: Graph, operation: str, requirement: str) -> None:
    """Go on only if an operation works, and a timeout is claimed if the requirement asks for that.

    Raises:
        NotApplicable: no timeout is claimed.
    """
    graph.require(operation)
    if requirement == TIMED["claimed"] and not graph.claims_timeout:
        raise NotApplicable("no timeout of queries is claimed")
