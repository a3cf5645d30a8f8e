"""Frames and terminals, for any component that streams (SPECIFICATION 4.2.3; BEHAVIORAL_CONFORMANCE 6.2)."""

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import plain
from pytest_corpus.kit.component import Subject, holds
from pytest_corpus.kit.fixtures import rules
from pytest_corpus.kit.outcomes import NotApplicable
from pytest_corpus.kit.reply import StreamReply
from pytest_corpus.suites.shared.claims.bad_requests import wrongly_typed


class Streaming:
    """The state machine of a stream."""

    @pytest.mark.core
    @rules(
        "closed_frames COM-STREAM-1, ok_is_true COM-STREAM-2, code_is_streaming COM-STREAM-3, "
        "milliseconds COM-STREAM-4, at_most_1_mib COM-STREAM-5, ends_with_a_terminal COM-STREAM-6, "
        "nothing_after_the_terminal COM-STREAM-7"
    )
    def test_a_stream_keeps_the_rule(self, subject: Subject, requirement: str) -> None:
        """The frames of a plain stream keep each rule of their shape and order."""
        name = subject.principal_stream
        if subject.prerequisites.is_callable(name):
            stream = plain(subject, name)
            holds(requirement, stream, subject)
        subject.require(name)

    @pytest.mark.requirement("COM-STREAM-8")
    def test_a_refused_stream_is_one_error(self, subject: Subject) -> None:
        """Bad arguments of a stream give a single error envelope and no data; a keep-alive is none (R4)."""
        subject.require(subject.principal_stream)
        stream = wrongly_typed(subject, subject.principal_stream)
        expect.refusal(stream, "BadRequest")
        assert isinstance(stream, StreamReply)
        data = [chunk for chunk in stream.chunks if any(chunk.get(key) for key in subject.content)]
        expect.that(not data, "one error envelope and no data", f"{len(data)} frames with data")

    @pytest.mark.requirement("COM-STREAM-9")
    @pytest.mark.parametrize("at_chunk", [0, 1])
    def test_a_failure_in_mid_stream_ends_it(self, subject: Subject, at_chunk: int) -> None:
        """When the provider fails before a chunk, one canonical error envelope ends the stream."""
        name = subject.principal_stream
        subject.faults.provider_op(name)
        fresh = subject.fresh()
        plan = fresh.faults.plan("unavailable", name, at_chunk=at_chunk)
        stream = fresh.stream(name, fresh.requests.long(name))
        if at_chunk and not plan.fired:
            expect.finished(stream)
            raise NotApplicable("the stream has fewer chunks than the test needs")
        fresh.faults.fired(plan)
        expect.refusal(stream, "Unavailable")
        expect.that(len(stream.errors) == 1, "one error envelope", f"{len(stream.errors)} of them")
