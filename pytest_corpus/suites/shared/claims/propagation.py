"""Tests of the trace and the deadline that an operation passes on to its provider (SPECIFICATION 6.1, 11.3; R93)."""

from typing import Any, NamedTuple

import pytest

from pytest_corpus.adapter.reports import Arrival
from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import remembered, remembered_by_all
from pytest_corpus.kit.component import Subject
from pytest_corpus.kit.fixtures import deciding
from pytest_corpus.kit.outcomes import NotAssessed, Undecided
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.kit.requests import new_trace
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.suites.shared.claims.context import call_with_extras, new_deadline

SLOW_MS = 60
"""The delay of the provider while two calls overlap."""

AT_ONCE = 2


class TestPropagation:
    """The trace and the deadline that the adapter passes on to its provider."""

    @pytest.mark.requirement("COM-CTX-5")
    def test_the_trace_is_handed_on_unchanged(self, subject: Subject) -> None:
        """Every operation passes the `traceparent` of its own context on to the provider."""
        expect_passed_on(subject, "traceparent", "the traceparent of the context")

    @deciding("fact", traceparent="COM-CTX-5", deadline_ms="COM-DEADLINE-9")
    def test_calls_at_the_same_time_keep_their_contexts_apart(self, subject: Subject, fact: str) -> None:
        """Two concurrent calls pass on their own trace and deadline."""
        requests, arrivals = call_concurrently(subject)
        wanted = {request["ctx"][fact] for request in requests}
        found = {arrival.facts[fact] for arrival in arrivals if arrival.facts.get(fact) is not None}
        if not found:
            raise reason_not_assessed(subject, fact)
        expect.check(found == wanted, f"the {fact} of each call", "other values, or the same value for both")

    @pytest.mark.requirement("COM-DEADLINE-9")
    def test_the_deadline_is_handed_on_as_it_is(self, subject: Subject) -> None:
        """Every operation passes the absolute `deadline_ms` of its own context on to the provider."""
        expect_passed_on(subject, "deadline_ms", "the deadline_ms of the context, an absolute time")


@remembered
def call_concurrently(subject: Subject) -> tuple[list[dict[str, Any]], list[Arrival]]:
    """Send two concurrent requests while the provider is slow; return them with the arrivals at the provider."""
    name, provider = subject.principal, subject.client.provider
    ops = provider_ops_of(subject, name)
    requests = [
        subject.envelope(
            name, subject.requests.distinct(name), {"traceparent": new_trace(), "deadline_ms": new_deadline()}
        )
        for _ in range(AT_ONCE)
    ]
    provider.plan("slow", times=AT_ONCE, delay_ms=SLOW_MS)
    exchanges = subject.send_all(requests)
    provider.clear()
    if not all(Reply(exchange).is_success for exchange in exchanges):
        raise NotAssessed(Obstacle.NOT_ALL_AT_ONCE)
    arrivals = [
        arrival for exchange in exchanges for arrival in exchange.observed.arrivals_with_context if arrival.op in ops
    ]
    # The requests as sent: `postpone_deadline` moves a deadline if a write must settle first.
    return [dict(exchange.request) for exchange in exchanges], arrivals


def expect_passed_on(subject: Subject, fact: str, wanted: str) -> None:
    """Check that every operation that calls the provider passes on a member of the call's context unchanged."""
    provider_ops_of(subject, subject.principal)
    with_context, without = call_in_contexts(subject)
    seen = [each for name, reply in with_context.items() for each in values_passed_on(subject, name, fact, reply)]
    if all(each.value is None for each in seen):
        raise reason_not_assessed(subject, fact)
    for each in seen:
        got, place = "none" if each.value is None else "another", f"provider.reached({each.reply.exchange.op}).{fact}"
        expect.check(each.value == each.given, wanted, got, place, on=[each.reply])
    earlier = [each.given for each in seen]
    for each in values_passed_on(subject, subject.principal, fact, without):
        absent = f"no {fact} if the context has none"
        expect.check(each.value not in earlier, absent, "the value of an earlier call", fact, on=[each.reply])


@remembered_by_all
def call_in_contexts(subject: Subject) -> tuple[dict[str, Reply | StreamReply], Reply | StreamReply]:
    """Return the answers to calls with a trace and a deadline, and then the answer to a call without them."""
    principal = subject.principal
    given = {name: call_with_extras(subject, name) for name in operations_at_provider(subject) if name != principal}
    for name in (*given, principal):  # the call without a context follows, to show what is kept
        if name == principal or given[name].is_error:
            ctx = {"traceparent": new_trace(), "deadline_ms": new_deadline()}
            given[name] = subject.invoke(name, subject.requests.distinct(name), ctx)
    return given, subject.invoke(principal, subject.requests.distinct(principal))


class PassedValue(NamedTuple):
    """A context member as it was sent and as the provider got it; `value` is None if the provider got none (R93)."""

    reply: Reply | StreamReply
    given: Any
    value: Any


def values_passed_on(subject: Subject, name: str, fact: str, reply: Reply | StreamReply) -> list[PassedValue]:
    """Return a sent context member with each value that the provider got for it."""
    expect.readable(reply)
    sent = reply.exchange.request["ctx"].get(fact)  # moved if a write had to settle first
    ops = provider_ops_of(subject, name)
    arrivals = [each for each in reply.exchange.observed.arrivals_with_context if each.op in ops]
    passed = [PassedValue(reply, sent, arrival.facts[fact]) for arrival in arrivals if fact in arrival.facts]
    return passed or ([PassedValue(reply, sent, None)] if reply.exchange.observed.reached_provider else [])


def operations_at_provider(subject: Subject) -> list[str]:
    """Return the operations that work and call the provider."""
    found = []
    for name in subject.operations():
        try:
            if name != "capabilities" and provider_ops_of(subject, name):
                found.append(name)
        except Undecided:
            continue
    return found


def provider_ops_of(subject: Subject, name: str) -> tuple[str, ...]:
    """Return the provider's operations that an operation calls. Raises NotAssessed if the operation calls none."""
    subject.faults.provider_op(name)
    return subject.shared.provider_ops[name]


def reason_not_assessed(subject: Subject, fact: str) -> NotAssessed:
    """Return the reason why the suite cannot decide if an adapter passes this context member on.

    The reason applies if the suite has seen no value of the member at the provider.

    Raises:
        Undecided: the provider is reached through a tunnel, which cannot see the member.
    """
    subject.faults.require_possible(fact)
    if subject.client.provider.is_on_wire:
        header = {"traceparent": "traceparent", "deadline_ms": "X-Deadline-Ms"}[fact]
        return NotAssessed(Obstacle.NO_HEADER, header=header, fact=fact)
    return NotAssessed(Obstacle.NOT_PASSED_ON, fact=fact)
