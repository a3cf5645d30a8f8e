"""The shape of successes and of errors, for any component (SPECIFICATION 4.2.1; SCHEMA 3.1; ERRORS 2)."""

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import plain
from pytest_corpus.kit.component import Subject, holds
from pytest_corpus.kit.fixtures import rules
from pytest_corpus.kit.requests import in_ms
from pytest_corpus.redaction import word
from pytest_corpus.suites.shared.claims.bad_requests import refusals


class Envelopes:
    """The shape of unary answers."""

    @pytest.mark.core
    @rules(
        "closed COM-ENV-1, code_is_documented COM-ENV-2, milliseconds COM-ENV-3, code_is_ok COM-ENV-4, "
        "ok_is_true COM-ENV-5"
    )
    def test_a_success_keeps_the_rule(self, subject: Subject, requirement: str) -> None:
        """The answer of every unary operation that is offered keeps each rule of its shape."""
        subject.require("capabilities")
        for name in subject.working(subject.operations(streaming=False)):
            holds(requirement, plain(subject, name), subject)


class Errors:
    """The shape of error envelopes, whatever was refused."""

    @pytest.mark.core
    @rules(
        "closed COM-ERR-1, required_keys COM-ERR-2, upper_snake_code COM-ERR-3, canonical_class COM-ERR-4, "
        "message COM-ERR-5, retry_after_ms COM-ERR-6, details COM-ERR-7, retryable_agrees COM-ERR-8, "
        "milliseconds COM-ERR-9, own_code COM-ERR-10, own_protocol COM-SUBTYPE-1, hints COM-ERR-13, "
        "http_status COM-ERR-14, stack_trace COM-ERR-15, nothing_to_wait_for COM-ERR-21"
    )
    def test_an_error_envelope_keeps_the_rule(self, subject: Subject, requirement: str) -> None:
        """Error envelopes for refusals of several kinds keep each rule of their shape."""
        replies = refusals(subject)
        for reply in replies:
            holds(requirement, reply, subject)
        for reply in replies:
            expect.readable(reply)
        expect.some_refused(replies, "a bad request to be refused")

    @pytest.mark.requirement("COM-ERR-16")
    def test_an_exceeded_deadline_does_not_ask_to_wait(self, subject: Subject) -> None:
        """A call whose deadline has passed is refused without `retry_after_ms`."""
        subject.require(subject.principal)
        reply = subject.call(subject.principal, ctx={"deadline_ms": in_ms(-60_000)})
        with expect.resting_on("COM-DEADLINE-1"):
            expect.refusal(reply, "DeadlineExceeded")
        holds("COM-ERR-16", reply, subject)

    @pytest.mark.requirement("COM-ERR-11")
    def test_a_refusal_names_the_fields_at_fault(self, subject: Subject) -> None:
        """`details.validation_errors` of a refused argument is a list with at least one entry."""
        reply = subject.call(subject.principal, subject.requests.wrong_types(subject.principal))
        with expect.resting_on(subject.checked):
            expect.refusal(reply, "BadRequest")
        named = reply.details.get("validation_errors")
        expect.that(isinstance(named, list) and named, "a list of fields", word(named), "details")

    @pytest.mark.requirement("COM-ERR-12")
    def test_the_same_bad_request_gets_the_same_class(self, subject: Subject) -> None:
        """Three times the same bad request, three times the same answer."""
        wrong = subject.requests.wrong_types(subject.principal)
        replies = [subject.call(subject.principal, wrong) for _ in range(3)]
        for reply in replies:
            expect.readable(reply)
            expect.named(reply)
        with expect.resting_on(subject.checked):
            expect.some_refused(replies, "a refusal")
        named = [reply.names for reply in replies]
        expect.that(named[0] == named[1] == named[2], "the same class every time", "different classes")
