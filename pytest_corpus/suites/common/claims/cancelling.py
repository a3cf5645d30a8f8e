"""What is told of a call that nobody waits for any more (SPECIFICATION 6.4, 11.2; R99)."""

from __future__ import annotations

import time

import pytest

from pytest_corpus.adapter.hooks.lateness import LATEST_S
from pytest_corpus.kit import expect
from pytest_corpus.kit.component import Subject
from pytest_corpus.kit.outcomes import NotAssessed
from pytest_corpus.suites.common.claims.context import works

GIVEN_UP_S = 0.3
"""After so long the suite cancels a call whose provider never answers."""


class Cancelling:
    """Calls that are given up."""

    @pytest.mark.requirement("COM-OBS-25")
    def test_a_cancelled_call_is_observed(self, subject: Subject) -> None:
        """A call that is cancelled while its provider hangs is observed within a second."""
        if not subject.client.declaration.in_process:
            raise NotAssessed("what runs outside this process is not cancelled by it")
        name = subject.principal
        subject.faults.provider_op(name)
        with expect.resting_on("COM-OBS-1"):
            reply = subject.call(name, subject.requests.distinct(name))
            works(reply, f"{name} to work")
            expect.that(observed(subject, 0), "an observation", "none")
        fresh, before = subject.fresh(), len(subject.client.metrics.observations)
        plan = fresh.faults.plan("hang", name)
        given_up = fresh.call(name, fresh.requests.distinct(name), limit_s=GIVEN_UP_S)
        fresh.faults.fired(plan)
        fault = given_up.exchange.fault
        if fault is None or fault.kind != "timeout":
            raise NotAssessed("the call ends although its provider hangs")
        until = time.monotonic() + LATEST_S
        while not observed(subject, before) and time.monotonic() < until:
            time.sleep(0.01)
        expect.that(observed(subject, before), "an observation of the call that was cancelled", "none")


def observed(subject: Subject, before: int) -> bool:
    """Whether the principal operation was observed after so many observations."""
    names = subject.principal, f"{subject.component}.{subject.principal}"
    return any(one.op in names for one in subject.client.metrics.observations[before:])
