"""Cancelled calls: what they stop and what they report (SPECIFICATION 6.4, 11.2; R99)."""

from collections.abc import Callable

import pytest

from pytest_corpus.adapter import inputs
from pytest_corpus.adapter.hooks.late_reports import LATEST_S
from pytest_corpus.kit import expect
from pytest_corpus.kit.audit import telemetry
from pytest_corpus.kit.component import Subject
from pytest_corpus.kit.outcomes import NotAssessed

GIVEN_UP_S = 0.3
"""After so long the suite cancels a call whose provider never answers."""


class Cancelling:
    """Calls that are given up."""

    @pytest.mark.requirement("COM-OBS-25")
    def test_a_cancelled_call_is_observed(self, subject: Subject) -> None:
        """A call that is cancelled while its provider hangs is observed within a second."""
        name = subject.principal
        subject.faults.provider_op(name)
        with expect.resting_on("COM-OBS-1"):
            reply = subject.call(name, subject.requests.distinct(name))
            expect.works(reply, f"{name} to work")
            expect.that(bool(telemetry.observations_of(reply.exchange)), "an observation", "none")
        fresh = subject.fresh()
        if fresh.client is not subject.client:  # its first call may have to be prepared by others, which are observed
            expect.works(fresh.call(name, fresh.requests.distinct(name)), f"{name} to work")
        arguments = fresh.requests.distinct(name)
        subject.client.late.settle(surplus=False)
        before = len(subject.client.metrics.observations)
        given_up_before = inputs.read("given up", lambda: given_up_outside(subject))
        plan = fresh.faults.plan("hang", name)
        given_up = fresh.call(name, arguments, limit_s=GIVEN_UP_S)
        fresh.faults.fired(plan)
        fault = given_up.exchange.fault
        expect.assessable(fault is not None and fault.kind == "timeout", "the call ends although its provider hangs")
        if subject.client.remote is not None and not within(lambda: given_up_outside(subject) > given_up_before):
            raise NotAssessed("the adapter goes on with a call whose connection was closed")
        within(lambda: observed(subject, before))
        found = inputs.read("observed", lambda: observed(subject, before))
        expect.that(found, "an observation of the call that was cancelled", "none")


def within(holds: Callable[[], bool]) -> bool:
    """Return whether something becomes true while an observation would still count."""
    until = inputs.monotonic() + LATEST_S
    while not inputs.read("holds", holds):
        if inputs.monotonic() > until:
            return False
        inputs.sleep(0.01)
    return True


def given_up_outside(subject: Subject) -> int:
    """The number of times that an adapter outside this process has stopped waiting for its provider."""
    return subject.client.remote.hooks.given_up if subject.client.remote is not None else 0


def observed(subject: Subject, before: int) -> bool:
    """Return whether the principal operation was observed after this number of observations."""
    names = subject.principal, f"{subject.component}.{subject.principal}"
    return any(one.op in names for one in subject.client.metrics.observations[before:])
