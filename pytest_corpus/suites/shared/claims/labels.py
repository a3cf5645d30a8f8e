"""Tests of labels and durations in observations, and of privacy (SPECIFICATION 4, 6.4, 15; R21, R59, R63 to R66)."""

import base64
import itertools
import json
import urllib.parse
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from pytest_corpus.adapter.exchange import Exchange
from pytest_corpus.adapter.turns import call_side_by_side
from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import cached, invoke_plain, remembered_by_all
from pytest_corpus.kit.audit import telemetry
from pytest_corpus.kit.component import Subject, expect_audited
from pytest_corpus.kit.faults import call_with_fault
from pytest_corpus.kit.fixtures import rules
from pytest_corpus.kit.judgement import note_check
from pytest_corpus.kit.outcomes import Keys, NotApplicable, Violation
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.kit.requests import Request, canary, deadline_in
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.suites.shared.claims.context import (
    FAILURES,
    answers_in_full_context,
    can_log_debug,
    failed_stream,
    provider_failures,
    tenant_hashes,
    two_tenants,
)

DELAY_MS = 150
"""The delay of the provider in tests of durations."""

SHORTER = 0.9
"""A reported duration may be this fraction of the provider's delay, but not less (R116)."""

DEADLINES, MOST_BUCKETS = 50, 20
"""The number of deadlines between a second and a minute, and the largest number of their buckets (R66)."""

IDENTICAL, MOST_IDENTICAL = 3, 5
"""The number of identical calls that are compared; and the larger number if a label differs in each of these calls."""

A_COUNT = 10**6
"""A smaller number may be a count, so it may differ between two calls."""

GROWTH = 16
"""The hash of a longer tenant may be longer by this many characters, because hashes may differ by a few digits."""


class TestLabels:
    """Tenant hashes, durations and deadline buckets."""

    @pytest.mark.requirement("COM-OBS-16")
    def test_a_tenant_hash_cannot_be_read_back(self, subject: Subject) -> None:
        """The hash contains no spelling of the tenant, and a longer tenant does not make the hash longer."""
        hashes = tenant_hashes(subject)
        for tenant, found in zip(two_tenants(subject), hashes, strict=True):
            hidden = any(spelling in found or found in spelling for spelling in reversible_encodings(tenant))
            expect.check(not hidden, "a hash", "the tenant in a reversible encoding", "extra.tenant_hash")
        growth = len(hashes[1]) - len(hashes[0])
        expect.check(
            growth <= GROWTH,
            "a hash of the same length for each tenant",
            f"{growth} characters more for a longer tenant",
        )

    @rules("success COM-ENV-6, error COM-ERR-22, observation COM-OBS-17")
    def test_the_time_of_a_call_is_its_own(self, subject: Subject, requirement: str) -> None:
        """If the provider is slow, the reported duration is about as long as the call, after success or failure."""
        expect_plausible_duration(subject, subject.principal, requirement)

    @pytest.mark.requirement("COM-ENV-7")
    def test_a_long_call_takes_time(self, subject: Subject) -> None:
        """If the provider is slow, a duration of 0 in every answer is wrong."""
        expect.check(not is_always_zero(subject), "the time of the call", "0 in every answer", "ms")

    @pytest.mark.requirement("COM-OBS-26")
    def test_an_unknown_operation_is_no_label(self, subject: Subject) -> None:
        """The name of an unknown operation does not become a label."""
        name = f"{canary(13)}2"  # a digit in each run: some adapters label what is spelled like an operation
        request = {**subject.envelope(subject.principal), "op": f"{subject.component}.{name}"}
        expect_audited("COM-OBS-26", subject.send(request, secrets={"unknown operation": name}), subject)

    @pytest.mark.requirement("COM-OBS-27")
    def test_identical_calls_have_the_same_labels(self, subject: Subject) -> None:
        """If identical calls are repeated, no label of an observation or a counter differs in every call."""
        subject.require(subject.principal)
        unique, _ = differing_labels(subject, lambda: None)
        note_check()
        if unique:
            raise Violation("the same labels for identical calls", found=Keys(unique), path="extra")

    @pytest.mark.requirement("COM-OBS-13")
    def test_content_does_not_become_a_label(self, subject: Subject) -> None:
        """If calls differ only in their content, no label may differ in every call (R125)."""
        subject.require(subject.principal)
        derived, replies = differing_labels(subject, lambda: subject.requests.distinct(subject.principal))
        note_check()
        if derived:
            again = [values_of(subject.call(subject.principal).exchange) for _ in range(MOST_IDENTICAL)]
            derived = [
                key for key in derived if not are_all_different(each.get(key, set()) for each in again)
            ]  # COM-OBS-27
        if derived:
            found = Violation("the same labels for calls with other content", found=Keys(derived), path="extra")
            raise found.attach_exchanges(*(reply.exchange for reply in replies))

    @pytest.mark.requirement("COM-OBS-19")
    def test_deadlines_fall_into_few_buckets(self, subject: Subject) -> None:
        """Many different deadlines have only a few labels."""
        subject.require(subject.principal)
        name = "health" if subject.works("health") else subject.principal

        def ask(number: int) -> Reply:
            left_ms = 1_000 + number * 59_000 / (DEADLINES - 1)
            reply = subject.call(name, ctx={"deadline_ms": deadline_in(left_ms)})
            expect.readable(reply)
            return reply

        found = labels_between(ask, 0, DEADLINES - 1)
        many = f"at most {MOST_BUCKETS} labels for {DEADLINES} deadlines"
        expect.check(len(found) <= MOST_BUCKETS, many, f"{len(found)}", "extra.deadline_bucket")


class TestStreamTimes:
    """The reported duration of a stream."""

    @rules("frames COM-STREAM-10, error COM-ERR-22, observation COM-OBS-17")
    def test_the_time_of_a_stream_is_its_own(self, subject: Subject, requirement: str) -> None:
        """If the provider is slow, the observation and the frames report approximately the duration of the stream."""
        expect_plausible_duration(subject, subject.principal_stream, requirement)


class TestStreamOutcomes:
    """The labels of the final outcome of a stream."""

    @pytest.mark.requirement("COM-OBS-18")
    @pytest.mark.parametrize("outcome", ["finished", "failed"])
    def test_the_outcome_of_a_stream_is_named(self, subject: Subject, outcome: str) -> None:
        """A label of the counter states OK, or the class of the error that ended the stream."""
        name = subject.principal_stream
        subject.require(name)
        stream = invoke_plain(subject, name) if outcome == "finished" else failed_stream(subject)
        expect.readable(stream)
        expect_audited("COM-OBS-18", stream, subject)


def values_of(exchange: Exchange) -> dict[str, set[str]]:
    """Return the values of each label in the reports of a call, without booleans and small counts."""
    found: dict[str, set[str]] = {}
    for report in telemetry.reports_of(exchange):
        for key, value in report.extra.items():
            small = isinstance(value, (int, float)) and abs(value) < A_COUNT
            if not small and not (isinstance(value, str) and value.isdecimal() and int(value) < A_COUNT):
                found.setdefault(key, set()).add(str(value))
    return found


def expect_no_label(reply: Reply | StreamReply, value: str, what: str) -> None:
    """Check that no report of a call contains a value."""
    for report in telemetry.reports_of(reply.exchange):
        written = json.dumps(report.labels(), default=str, ensure_ascii=False)
        expect.check(value not in written, f"no label that contains {what}", "a label that contains it", "extra")


def differing_labels(
    subject: Subject, arguments: Callable[[], Mapping[str, Any] | None]
) -> tuple[list[str], list[Reply]]:
    """Call several times; return the labels whose value differs in each call, and the replies.

    If a label differs in each of the first calls, more calls follow.
    """
    replies: list[Reply] = []
    found: list[str] = []
    for number in (IDENTICAL, MOST_IDENTICAL - IDENTICAL):
        given = [arguments() for _ in range(number)]
        replies += [subject.call(subject.principal, args) for args in given]
        seen = [values_of(reply.exchange) for reply in replies]
        found = [key for key in seen[0] if are_all_different(each.get(key, set()) for each in seen)]
        if not found:
            break
    return found, replies


def are_all_different(values: Iterable[set[str]]) -> bool:
    """True if each call has values for a label, and no two calls have a common value."""
    known = list(values)
    return all(known) and all(not one & other for one, other in itertools.combinations(known, 2))


def expect_plausible_duration(subject: Subject, name: str, requirement: str) -> None:
    """Check that each `ms` is at least the provider's delay and at most the duration of the call.

    Without the hook `provider`, only the upper limit is checked.
    """
    kind = "unavailable" if requirement == "COM-ERR-22" else "slow"
    if "provider" not in subject.client.hooks:
        subject.require(name)
        reply = (
            invoke_plain(subject, name) if kind == "slow" else subject.invoke(name, subject.requests.wrong_types(name))
        )
        expect_audited(requirement, reply, subject)
        return
    reply = call_with_delay(subject, name, kind)
    exchange = reply.exchange
    found = (
        {0: telemetry.single_observation(exchange).ms}
        if requirement == "COM-OBS-17"
        else durations_by_frame(subject, exchange)
    )
    expect.assessable(any(found.values()) or not is_always_zero(subject), Obstacle.ALWAYS_0_MS)
    expect_audited(requirement, reply, subject)
    for frame, ms in found.items():
        expect_long_enough(ms, frame)


def call_with_delay(subject: Subject, name: str, kind: str) -> Reply | StreamReply:
    """Send a request whose provider is slow and then answers or fails."""
    reply = cached(subject, ("timed", name, kind), partial(call_slow_provider, subject, name, kind), common=True)
    if isinstance(reply, Reply) and reply.failed_items:
        raise NotApplicable("a failure of the provider is reported for each item")
    failing = "COM-FAULT-9" if subject.operation(name).streaming else "COM-FAULT-2"
    with expect.resting_on(subject.operation(name).works if kind == "slow" else failing):
        if kind == "slow":
            expect.works(reply, "a call whose provider is slow")
        else:
            expect.refusal(reply, *subject.faults.error_classes(kind))
    expect.assessable(reply.exchange.elapsed_s * 1000 >= DELAY_MS, Obstacle.NOT_WAITED)
    return reply


def call_slow_provider(subject: Subject, name: str, kind: str) -> Reply | StreamReply:
    """Send a request whose provider is slow. A stream of two chunks or more is slow after its first chunk."""
    if kind == "slow" and subject.operation(name).streaming:
        fresh = subject.fresh()
        plan = fresh.faults.plan(kind, name, at_chunk=1, delay_ms=DELAY_MS)
        reply = fresh.invoke(name, fresh.requests.long(name))
        fresh.client.provider.clear()
        if plan.fired:
            return reply
    return call_with_fault(subject, kind, name, delay_ms=DELAY_MS)[1]


def durations_by_frame(subject: Subject, exchange: Exchange) -> dict[int, Any]:
    """Return `ms` by frame number; 0 for a unary answer. In a stream, only content frames after the delay count."""
    if not exchange.streaming:
        return dict(enumerate(frame.body.get("ms") for frame in exchange.frames))
    return {
        number: frame.body.get("ms")
        for number, frame in enumerate(exchange.frames, 1)
        if frame.at_s * 1000 >= DELAY_MS and subject.auditor.has_content(frame.body)
    }


def is_always_zero(subject: Subject) -> bool:
    """True if both a success and an error report 0 ms, although the provider was slow."""
    replies = [call_with_delay(subject, subject.principal, kind) for kind in ("slow", "unavailable")]
    return all(ms == 0 for reply in replies for ms in durations_by_frame(subject, reply.exchange).values())


def expect_long_enough(ms: Any, frame: int = 0) -> None:
    """Check that `ms` is at least nine tenths of the provider's delay (R116); null is not judged (R6)."""
    least = SHORTER * DELAY_MS
    expect.assessable(ms is None or isinstance(ms, (int, float)), Obstacle.MS_NO_NUMBER)
    expect.check(ms is None or ms >= least, f"at least {least:g} ms", f"{ms:.3g}" if ms else "0", "ms", frame=frame)


def labels_between(ask: Callable[[int], Reply], first: int, last: int) -> set[str]:
    """Return the labels of the deadlines from the first to the last.

    If two deadlines share a label, all between them share it. Otherwise the deadline in the middle is sent, too.
    """
    known: dict[int, str] = {}
    asked = [first, last]
    while asked:
        replies = [ask(number) for number in asked]
        labels = [str(telemetry.single_observation(reply.exchange).extra.get("deadline_bucket")) for reply in replies]
        known.update(zip(asked, labels, strict=True))
        spans = [(low, high) for low, high in itertools.pairwise(sorted(known)) if known[low] != known[high]]
        asked = sorted({(low + high) // 2 for low, high in spans} - known.keys())
    return set(known.values())


def reversible_encodings(tenant: str) -> set[str]:
    """Return reversible encodings of a tenant, without padding."""
    raw = tenant.encode()
    encoded = {base64.b64encode(raw), base64.urlsafe_b64encode(raw), base64.b32encode(raw), raw.hex().encode()}
    texts = {each.decode().rstrip("=") for each in encoded} | {tenant, tenant[::-1], urllib.parse.quote(tenant)}
    return texts | {text.upper() for text in texts} | {text.lower() for text in texts}


SHORT = 7
"""The length of a short canary. It leaks only as a whole; of a long canary, a part already counts as a leak."""


class TestIdPrivacy:
    """Item ids in messages."""

    @pytest.mark.requirement("COM-LEAK-9")
    def test_no_ids_of_items_in_messages(self, subject: Subject) -> None:
        """If an item is refused, the error message does not contain the id of the item."""
        subject.require(subject.principal)
        for request in subject.requests.with_ids(canary(24)):
            if subject.works(request.op):
                reply = subject.carry_out(request)
                expect.readable(reply)
                expect_audited("COM-LEAK-9", reply, subject)


class TestPrivacy:
    """Contents of requests do not appear in errors, metrics or logs."""

    @rules("errors COM-LEAK-1, metrics COM-LEAK-2, logs COM-LEAK-3")
    def test_no_content_leaves(self, subject: Subject, requirement: str) -> None:
        """Errors, metrics and logs of valid and refused requests do not contain their content."""
        subject.require(subject.principal)
        for reply in (*answers_to_canaries(subject), *answers_to_canaries(subject, refused=True)):
            if requirement == "COM-LEAK-1":
                expect.readable(reply)
            expect_audited(requirement, reply, subject)

    @rules(
        "tenant COM-LEAK-4, key_in_errors_and_metrics COM-LEAK-5, key_in_logs COM-LEAK-10, attributes COM-LEAK-8, "
        "ids_in_messages COM-LEAK-9, ids_in_labels COM-OBS-14"
    )
    def test_nothing_of_a_context_leaves(self, subject: Subject, requirement: str) -> None:
        """Errors, metrics and logs of all operations do not contain members of the context, whatever the outcome."""
        for reply in answers_in_full_context(subject):
            expect_audited(requirement, reply, subject)

    @pytest.mark.requirement("COM-LEAK-4")
    def test_no_tenant_in_a_refusal_of_the_provider(self, subject: Subject) -> None:
        """The error for a rate limit does not contain the raw tenant id."""
        has_provider = "provider" in subject.client.hooks
        found = provider_failures(subject, "rate_limited") if has_provider else answers_in_full_context(subject)
        for reply in found:
            expect_audited("COM-LEAK-4", reply, subject)

    @pytest.mark.requirement("COM-LEAK-6")
    @pytest.mark.parametrize("kind", FAILURES)
    def test_no_text_of_the_provider_anywhere(self, subject: Subject, kind: str) -> None:
        """Answers, metrics and logs do not contain the message of a provider's failure."""
        for reply in provider_failures(subject, kind):
            expect.readable(reply)
            expect_audited("COM-LEAK-6", reply, subject)

    @pytest.mark.requirement("COM-LEAK-7")
    def test_no_content_in_debug_records(self, subject: Subject) -> None:
        """Log records do not contain content even if debug logging is on."""
        expect.assessable(can_log_debug(subject), Obstacle.DEBUG_OUTSIDE)
        subject.require(subject.principal)
        replies = [*answers_to_canaries(subject), *answers_to_canaries(subject, refused=True)]
        replies += answers_in_full_context(subject)
        if "provider" in subject.client.hooks:
            replies += provider_failures(subject, "unexpected")
        for reply in replies:
            expect_audited("COM-LEAK-7", reply, subject)


def short_canary_requests(requests: list[Request]) -> Iterator[Request]:
    """Yield the first request that has content; its content is replaced by a canary of seven letters."""
    for request in requests:
        text, short = json.dumps(request.args), canary(SHORT)
        if request.canaries["content"] in text:
            args = json.loads(text.replace(request.canaries["content"], short))
            yield replace(request, args=args, canaries={"content": short})
            return


@remembered_by_all
def answers_to_canaries(subject: Subject, *, refused: bool = False) -> list[Reply | StreamReply]:
    """Send valid requests that contain canaries (with `refused`, invalid ones), and return the answers."""
    requests = subject.requests.with_canaries(refused=refused)
    if not refused:
        requests += short_canary_requests(requests)
    carry_out = partial(subject.carry_out, debug_logs=can_log_debug(subject))
    return call_side_by_side(carry_out, [each for each in requests if subject.works(each.op)])
