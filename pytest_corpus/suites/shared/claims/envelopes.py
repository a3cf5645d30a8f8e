"""Tests of the form of answers and frames, for valid and invalid requests (SPECIFICATION 4.2; SCHEMA 3.1; ERRORS 2)."""

from typing import Any

import pytest

from pytest_corpus.adapter import inputs
from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import invoke_expired, invoke_plain, remembered_by_all
from pytest_corpus.kit.component import Subject, expect_audited
from pytest_corpus.kit.fixtures import rules
from pytest_corpus.kit.outcomes import NotApplicable
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.redaction import describe_word

KEYS = ("op", "ctx", "args")
"""The keys that every request must have."""

WRONG_KEYS: tuple[tuple[str, Any], ...] = tuple(
    (key, value)
    for key, values in {"op": (7, None, ["op"]), "ctx": ("ctx", [], None), "args": ("args", [1], None)}.items()
    for value in values
)
"""Pairs of a required key and a value of the wrong type."""

NO_OBJECTS: tuple[Any, ...] = ([], "request", 7, None, True)
"""JSON values that are not objects, so they are not requests."""


@remembered_by_all
def refusals(subject: Subject) -> list[Reply]:
    """Return the answers to bad requests: an unknown operation, no arguments, wrong types, an expired deadline."""
    unknown = {"op": f"{subject.component}.no_such_operation", "ctx": {}, "args": {}}
    plain = subject.envelope(subject.principal)
    replies = [subject.send(unknown), subject.send({key: plain[key] for key in ("op", "ctx")})]
    for reply in (call_with_wrong_types(subject, subject.principal), invoke_expired(subject, subject.principal)):
        assert isinstance(reply, Reply)
        replies.append(reply)
    return replies


@remembered_by_all
def call_with_wrong_types(subject: Subject, name: str) -> Reply | StreamReply:
    """Send a request whose first argument has the wrong type."""
    return subject.invoke(name, subject.requests.wrong_types(name))


@remembered_by_all
def send_non_object(subject: Subject, value: Any) -> Reply:
    """Call `handle` with a value that is not a request object."""
    return subject.send(value)


@remembered_by_all
def stream_non_object(subject: Subject, value: Any) -> StreamReply:
    """Call `handle_stream` with a value that is not a request object."""
    return subject.send_stream(value)


class TestEnvelopes:
    """The form of unary answers."""

    @pytest.mark.core
    @rules(
        "closed COM-ENV-1, code_is_documented COM-ENV-2, milliseconds COM-ENV-3, code_is_ok COM-ENV-4, "
        "ok_is_true COM-ENV-5"
    )
    def test_a_success_keeps_the_rule(self, subject: Subject, requirement: str) -> None:
        """The answer of every offered unary operation keeps each rule of success envelopes."""
        subject.require("capabilities")
        for name in subject.working_operations(subject.operations(streaming=False)):
            expect_audited(requirement, invoke_plain(subject, name), subject)


class TestErrors:
    """The form of error envelopes."""

    @pytest.mark.core
    @rules(
        "closed COM-ERR-1, required_keys COM-ERR-2, upper_snake_code COM-ERR-3, canonical_class COM-ERR-4, "
        "message COM-ERR-5, retry_after_ms COM-ERR-6, details COM-ERR-7, retryable_agrees COM-ERR-8, "
        "milliseconds COM-ERR-9, own_code COM-ERR-10, own_protocol COM-SUBTYPE-1, hints COM-ERR-13, "
        "http_status COM-ERR-14, stack_trace COM-ERR-15, nothing_to_wait_for COM-ERR-21"
    )
    def test_an_error_envelope_keeps_the_rule(self, subject: Subject, requirement: str) -> None:
        """The errors for several kinds of bad requests keep each rule of error envelopes."""
        replies = refusals(subject)
        for reply in replies:
            expect_audited(requirement, reply, subject)
        for reply in replies:
            expect.readable(reply)
        expect.some_refused(replies, "a bad request to be refused")

    @pytest.mark.requirement("COM-ERR-16")
    def test_an_exceeded_deadline_does_not_ask_to_wait(self, subject: Subject) -> None:
        """The error for an expired deadline has no `retry_after_ms`."""
        subject.require(subject.principal)
        reply = invoke_expired(subject, subject.principal)
        with expect.resting_on("COM-DEADLINE-1"):
            expect.refusal(reply, "DeadlineExceeded")
        expect_audited("COM-ERR-16", reply, subject)

    @pytest.mark.requirement("COM-ERR-11")
    def test_a_refusal_names_the_fields_at_fault(self, subject: Subject) -> None:
        """`details.validation_errors` lists at least one field if an argument is refused."""
        subject.require(subject.principal)
        reply = call_with_wrong_types(subject, subject.principal)
        with expect.resting_on(subject.wrong_type_requirement):
            expect.refusal(reply, "BadRequest")
        named = reply.details.get("validation_errors")
        expect.check(isinstance(named, list) and named, "a list of fields", describe_word(named), "details")

    @pytest.mark.requirement("COM-ERR-12")
    def test_the_same_bad_request_gets_the_same_class(self, subject: Subject) -> None:
        """The same bad request gets the same error class three times."""
        wrong = subject.requests.wrong_types(subject.principal)
        replies: list[Reply] = [subject.call(subject.principal, wrong) for _ in range(2)]
        known = call_with_wrong_types(subject, subject.principal)
        replies += [known] if isinstance(known, Reply) else []
        for reply in replies:
            expect.readable(reply)
            expect.known_class(reply)
        with expect.resting_on(subject.wrong_type_requirement):
            expect.some_refused(replies, "a refusal")
        named = [reply.names for reply in replies]
        expect.check(all(each == named[0] for each in named), "the same class every time", "different classes")


TOGETHER_MS = 60
"""The delay of the provider while two streams overlap."""

GIVEN_UP_S, FREED_S, WORK_MS = (0.4, 1.6), 1.0, 4_000
"""The seconds until a stream is abandoned (the second number is for slow providers), the seconds in which its work must
end, and the provider's delay."""


PIECE = 16
"""Two streams seldom have this many successive characters in common by chance."""


def content_of(subject: Subject, stream: StreamReply) -> tuple[str, list[Any]]:
    """Return the text and the items of all chunks of a stream, regardless of how it is divided."""
    expect.readable(stream)
    held = [chunk.get(key) for chunk in stream.chunks for key in subject.auditor.content]
    text = "".join(each for each in held if isinstance(each, str))
    return text, [item for each in held if isinstance(each, list) for item in each]


def contents_alone(subject: Subject, requests: list[dict[str, Any]]) -> list[tuple[str, list[Any]]]:
    """Return the content of each stream when no other stream is open."""
    return [content_of(subject, subject.send_stream(request)) for request in requests]


def are_mixed(subject: Subject, requests: list[dict[str, Any]], alone: list[tuple[str, list[Any]]]) -> bool:
    """True if one of two concurrent streams shows content of the other; `alone` has the content of both."""
    subject.client.provider.plan("slow", times=len(requests), delay_ms=TOGETHER_MS)
    streams = [StreamReply(exchange) for exchange in subject.send_all(requests)]
    subject.client.provider.clear()
    expect.applicable(not any(stream.is_error for stream in streams), "a concurrent stream ended with an error")
    for stream, (own, items), (other, others) in zip(streams, alone, reversed(alone), strict=True):
        text, found = content_of(subject, stream)
        pieces = (text[at : at + PIECE] for at in range(len(text) - PIECE + 1))
        if any(piece in other and piece not in own for piece in pieces):
            return True
        if any(item in others and item not in items for item in found):
            return True
    return False


class TestStreaming:
    """The state machine of a stream."""

    @pytest.mark.core
    @rules(
        "closed_frames COM-STREAM-1, ok_is_true COM-STREAM-2, code_is_streaming COM-STREAM-3, "
        "milliseconds COM-STREAM-4, at_most_1_mib COM-STREAM-5, ends_with_a_terminal COM-STREAM-6, "
        "nothing_after_the_terminal COM-STREAM-7"
    )
    def test_a_stream_keeps_the_rule(self, subject: Subject, requirement: str) -> None:
        """The frames of a plain stream keep each rule of form and order."""
        name = subject.principal_stream
        if subject.prerequisites.is_callable(name):
            stream = invoke_plain(subject, name)
            expect_audited(requirement, stream, subject)
        subject.require(name)

    @pytest.mark.requirement("COM-STREAM-8")
    def test_a_refused_stream_is_one_error(self, subject: Subject) -> None:
        """A stream with bad arguments is one error envelope without data; keep-alive frames are not data (R4)."""
        subject.require(subject.principal_stream)
        stream = call_with_wrong_types(subject, subject.principal_stream)
        expect.refusal(stream, "BadRequest")
        assert isinstance(stream, StreamReply)
        data = [chunk for chunk in stream.chunks if any(chunk.get(key) for key in subject.auditor.content)]
        expect.check(not data, "one error envelope and no data", f"{len(data)} frames with data")

    @pytest.mark.requirement("COM-CONC-1")
    def test_streams_at_the_same_time_do_not_disturb_each_other(self, subject: Subject) -> None:
        """Two concurrent streams do not show each other's content.

        A model may answer differently each time (R36), so different content is not a finding. Content of the other
        stream is a finding only if each stream, sent alone once more, has the same content as before.
        """
        name = subject.principal_stream
        subject.require(name)
        requests = [subject.envelope(name, args) for args in subject.requests.two_streams(name)]
        alone = contents_alone(subject, requests)
        expect.applicable(alone[0] != alone[1], "two streams have the same content")
        mixed = (
            are_mixed(subject, requests, alone)
            and contents_alone(subject, requests) == alone
            and are_mixed(subject, requests, alone)
        )
        expect.check(not mixed, "the content of each stream", "content of the other stream")

    @pytest.mark.requirement("COM-STREAM-11")
    def test_a_stream_that_is_given_up_ends_the_work(self, subject: Subject) -> None:
        """Within a second after a client abandons a stream, the adapter stops waiting for its slow provider (R75)."""
        expect.applicable(
            subject.client.remote is None, "the adapter runs in another process; TRA-CALL-5 tests the same there"
        )
        name = subject.principal_stream
        subject.faults.provider_op(name)
        for limit_s in GIVEN_UP_S:
            fresh = subject.fresh()
            plan = fresh.faults.plan("slow", name, at_chunk=1, delay_ms=WORK_MS)
            stream = fresh.stream(name, fresh.requests.long(name), limit_s=limit_s)
            if stream.is_finished or plan.fired:
                break
        expect.applicable(not stream.is_finished and plan.fired, "the stream has one chunk")
        until = inputs.monotonic() + FREED_S
        while inputs.monotonic() < until and inputs.read("at work", lambda: plan.waiting):
            inputs.sleep(0.01)
        waiting = inputs.read("waiting", lambda: plan.waiting)
        fresh.faults.require_fired(plan)
        expect.check(not waiting, "the work to end within a second", "the adapter still waits for the provider")

    @pytest.mark.requirement("COM-STREAM-9")
    @pytest.mark.parametrize("at_chunk", [0, 1])
    def test_a_failure_in_mid_stream_ends_it(self, subject: Subject, at_chunk: int) -> None:
        """If the provider fails before a chunk, one canonical error envelope ends the stream."""
        name = subject.principal_stream
        subject.faults.provider_op(name)
        fresh = subject.fresh()
        plan = fresh.faults.plan("unavailable", name, at_chunk=at_chunk)
        stream = fresh.stream(name, fresh.requests.long(name))
        if at_chunk and not plan.fired:
            expect.finished(stream)
            raise NotApplicable("the stream has fewer chunks than the test needs")
        fresh.faults.require_fired(plan)
        expect.refusal(stream, *subject.faults.error_classes("unavailable"))
        expect.check(len(stream.errors) == 1, "one error envelope", f"{len(stream.errors)} of them")
