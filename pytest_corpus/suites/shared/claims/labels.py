"""What labels and times of observations may be (SPECIFICATION 4, 6.4; BEHAVIORAL_CONFORMANCE 6.8; R63 to R66)."""

import base64
import urllib.parse
from collections.abc import Callable
from typing import Any

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import cached, plain
from pytest_corpus.kit.audit import telemetry
from pytest_corpus.kit.component import Subject, holds
from pytest_corpus.kit.fixtures import rules
from pytest_corpus.kit.outcomes import NotAssessed
from pytest_corpus.kit.requests import canary, in_ms
from pytest_corpus.suites.shared.claims.context import failed_stream, tenant_hash, works

DELAY_MS = 150
"""So long the provider takes where the time of a call is looked at."""

SHORTER = 0.9
"""The part of the provider's delay that a call must at least be said to take (R116)."""

DEADLINES, MOST_BUCKETS = 50, 20
"""So many deadlines between a second and a minute have at most so many buckets (R66)."""

LONGER = 80
"""How much longer one tenant id is than another."""

GROWTH = 16
"""A hash whose length follows that of the tenant gives it away; digits may differ by a few."""


class Labels:
    """Hashes that cannot be read back, times that are true, buckets that are few."""

    @pytest.mark.requirement("COM-OBS-16")
    def test_a_tenant_hash_cannot_be_read_back(self, subject: Subject) -> None:
        """The hash holds no spelling of the tenant, and does not grow with it."""
        short, long = f"t-{canary()}", f"t-{canary()}-{canary(LONGER)}"
        for tenant in (short, long):
            found = tenant_hash(subject, tenant)
            hidden = any(spelling in found or found in spelling for spelling in spellings(tenant))
            expect.that(not hidden, "a hash", "the tenant in another spelling", "extra.tenant_hash")
        growth = len(tenant_hash(subject, long)) - len(tenant_hash(subject, short))
        expect.that(growth <= GROWTH, "a hash of one length", f"{growth} characters more for a longer tenant")

    @rules(observation="COM-OBS-17", success="COM-ENV-6", error="COM-ERR-22")
    def test_the_time_of_a_call_is_its_own(self, subject: Subject, requirement: str) -> None:
        """A call whose provider takes a while, and then answers or fails, says that it took about as long."""
        timed(subject, subject.principal, requirement)

    @pytest.mark.requirement("COM-OBS-19")
    def test_deadlines_fall_into_few_buckets(self, subject: Subject) -> None:
        """Many different deadlines have only a few different labels."""
        subject.require(subject.principal)
        name = "health" if subject.works("health") else subject.principal

        def label(number: int) -> str:
            left_ms = 1_000 + number * 59_000 / (DEADLINES - 1)
            reply = subject.call(name, ctx={"deadline_ms": in_ms(left_ms)})
            expect.readable(reply)
            return str(telemetry.the_one(reply.exchange).extra.get("deadline_bucket"))

        found = labels_between(label, 0, DEADLINES - 1)
        many = f"at most {MOST_BUCKETS} labels for {DEADLINES} deadlines"
        expect.that(len(found) <= MOST_BUCKETS, many, f"{len(found)}", "extra.deadline_bucket")


class StreamTimes:
    """How long a stream is said to take."""

    @rules(observation="COM-OBS-17", frames="COM-STREAM-10")
    def test_the_time_of_a_stream_is_its_own(self, subject: Subject, requirement: str) -> None:
        """A stream whose provider takes a while, and each of its frames, say that it took about as long."""
        timed(subject, subject.principal_stream, requirement)


class StreamOutcomes:
    """What the counter of a stream's outcome says."""

    @pytest.mark.requirement("COM-OBS-18")
    @pytest.mark.parametrize("outcome", ["finished", "failed"])
    def test_the_outcome_of_a_stream_is_named(self, subject: Subject, outcome: str) -> None:
        """A label of the counter is OK, or names the class of the error that ended the stream."""
        name = subject.principal_stream
        subject.require(name)
        stream = subject.stream(name) if outcome == "finished" else failed_stream(subject)
        expect.readable(stream)
        holds("COM-OBS-18", stream, subject)


def timed(subject: Subject, name: str, requirement: str) -> None:
    """Each `ms` of a call whose provider takes a while is at least that long, and not longer than the call took.

    Without the hook `provider` only the latter is asked.

    Raises:
        NotAssessed: the call did not wait for its provider.
    """
    kind = "unavailable" if requirement == "COM-ERR-22" else "slow"
    if "provider" not in subject.client.hooks:
        reply = plain(subject, name) if kind == "slow" else subject.invoke(name, subject.requests.wrong_types(name))
        holds(requirement, reply, subject)
        return
    reply = cached(subject, ("timed", name, kind), lambda: subject.with_fault(kind, name, delay_ms=DELAY_MS)[1])
    with expect.resting_on(subject.operation(name).works if kind == "slow" else "COM-FAULT-2"):
        works(reply, "a call whose provider is slow") if kind == "slow" else expect.refusal(reply, "Unavailable")
    exchange = reply.exchange
    if exchange.elapsed_s * 1000 < DELAY_MS:
        raise NotAssessed("the call did not wait for its provider")
    holds(requirement, reply, subject)
    for number, frame in enumerate(exchange.frames, start=1):
        early = exchange.streaming and (frame.at_s * 1000 < DELAY_MS or not subject.has_content(frame.body))
        if requirement != "COM-OBS-17" and not early:
            long_enough(frame.body.get("ms"), f"frame {number}, ms" if exchange.streaming else "ms")
    if requirement == "COM-OBS-17":
        long_enough(telemetry.the_one(exchange).ms, "ms")


def long_enough(ms: Any, path: str) -> None:
    """A time is at least nine tenths of what the provider took (R116); null says nothing (R6)."""
    least = SHORTER * DELAY_MS
    expect.that(ms is None or ms >= least, f"at least {least:g} ms", found=ms, path=path)


def labels_between(label: Callable[[int], str], first: int, last: int) -> set[str]:
    """The labels of some deadlines, from the first to the last; between two in one bucket there is no other bucket."""
    known = {first: label(first), last: label(last)}
    spans = [(first, last)]
    while spans:
        low, high = spans.pop()
        if high - low > 1 and known[low] != known[high]:
            middle = (low + high) // 2
            known[middle] = label(middle)
            spans += [(low, middle), (middle, high)]
    return set(known.values())


def spellings(tenant: str) -> set[str]:
    """Reversible spellings of a tenant, without what pads them."""
    raw = tenant.encode()
    encoded = {base64.b64encode(raw), base64.urlsafe_b64encode(raw), base64.b32encode(raw), raw.hex().encode()}
    texts = {each.decode().rstrip("=") for each in encoded} | {tenant, tenant[::-1], urllib.parse.quote(tenant)}
    return texts | {text.upper() for text in texts} | {text.lower() for text in texts}
