"""Context, observability and privacy (SPECIFICATION 6.1, 6.4, 15; BEHAVIORAL_CONFORMANCE 6.8; R19 to R21)."""

from typing import Any

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.audit.leaks import gives_away
from pytest_corpus.kit.audit.telemetry import names_outcome, outcomes
from pytest_corpus.kit.component import Subject, holds
from pytest_corpus.kit.fixtures import rules, subject
from pytest_corpus.kit.outcomes import NotApplicable
from pytest_corpus.kit.reply import StreamReply
from pytest_corpus.kit.requests import canary, in_ms
from pytest_corpus.suites.embedding.support.answers import failures_of
from pytest_corpus.suites.embedding.support.component import Embedding, embedding
from pytest_corpus.suites.embedding.support.requests import OPERATIONS
from pytest_corpus.suites.embedding.support.scenarios.batches import several
from pytest_corpus.suites.embedding.support.texts import FILLER
from pytest_corpus.suites.shared.claims.cancelling import Cancelling as TestCancelling
from pytest_corpus.suites.shared.claims.context import Context as TestContext
from pytest_corpus.suites.shared.claims.context import Observability as TestObservability
from pytest_corpus.suites.shared.claims.context import StreamObservability, failed_stream
from pytest_corpus.suites.shared.claims.labels import Labels as TestLabels
from pytest_corpus.suites.shared.claims.labels import StreamTimes as TestStreamTimes
from pytest_corpus.suites.shared.claims.privacy import Privacy as TestPrivacy
from pytest_corpus.suites.shared.claims.propagation import Propagation as TestPropagation
from pytest_corpus.suites.shared.contexts import new_tenant

SAID = ("message", "detail", "details", "code", "error", "metadata")
"""The keys of a failed text that explain the failure."""


class TestStreamObservability(StreamObservability):
    """Streams."""

    @pytest.mark.core
    @rules(observed_once="COM-OBS-3", outcome_counted_once="EMB-OBS-1")
    @pytest.mark.parametrize("outcome", ["finished", "refused", "expired"])
    def test_a_stream_is_reported_once(self, subject: Subject, requirement: str, outcome: str) -> None:
        """Finished, refused and expired streams are reported exactly once."""
        name = subject.principal_stream
        subject.require(name)
        args = subject.requests.wrong_types(name) if outcome == "refused" else subject.requests.distinct(name)
        ctx = {"deadline_ms": in_ms(-60_000)} if outcome == "expired" else {}
        stream = subject.stream(name, args, ctx)
        expect.readable(stream)
        holds(requirement, stream, subject) if requirement == "COM-OBS-3" else counted_once(stream)

    @pytest.mark.requirement("EMB-OBS-2")
    def test_a_finished_stream_is_not_counted_as_an_error(self, subject: Subject) -> None:
        """No label of the outcome counter of a finished stream names an error."""
        stream = expect.finished(subject.stream(subject.principal_stream))
        counted = outcomes(stream.exchange)
        if not counted:
            raise NotApplicable("no final outcome is counted, which is a finding of its own")
        right = all(names_outcome(count, stream.exchange) for count in counted)
        expect.that(right, "OK, or no outcome", "an error", "count_stream_final_outcome")

    @pytest.mark.requirement("EMB-OBS-1")
    def test_the_outcome_of_a_failing_stream_is_counted_once(self, subject: Subject) -> None:
        """A stream that fails before its first chunk has one final outcome."""
        counted_once(failed_stream(subject))


@pytest.mark.requirement("EMB-OBS-1")
def test_the_outcome_of_a_stream_that_breaks_off_is_counted_once(embedding: Embedding) -> None:
    """A stream that fails after its first chunk has one final outcome."""
    counted_once(failed_stream(embedding, at_chunk=1))


@pytest.mark.requirement("COM-OBS-13")
@pytest.mark.parametrize("name", [*OPERATIONS, "count_tokens"])
def test_an_unknown_model_is_no_label(embedding: Embedding, name: str) -> None:
    """A model that a client made up does not become a label."""
    embedding.require(name)
    model = embedding.unknown_model()
    args = {**embedding.requests.minimal(name), "model": model}
    reply = embedding.invoke(name, args, secrets={"model": model.rpartition("-")[2]})
    holds("COM-OBS-13", reply, embedding)


@rules(metrics="COM-LEAK-2", logs="COM-LEAK-3")
@pytest.mark.parametrize("operation", OPERATIONS)
def test_no_vector_anywhere(embedding: Embedding, requirement: str, operation: str) -> None:
    """The components of a vector stand in no metric and no log record."""
    embedding.require(operation)
    for options in ({}, {"normalize": True}):
        if options and embedding.capabilities.flag("supports_normalization") is not True:
            continue
        text = embedding.unique()
        digits = (repr(value).partition(".")[2] for value in embedding.vector(operation, text, **options))
        long = [tail[-12:] for tail in digits if tail.isdigit() and len(tail) >= 12]
        hidden = {f"content of the vector {number}": tail for number, tail in enumerate((*long[:4], *long[-2:]))}
        if not hidden:
            raise NotApplicable("no component of the vector has enough digits to be recognised")
        args = embedding.requests.with_text(operation, text, **options)
        replies = [embedding.invoke(operation, args, ctx, secrets=hidden) for ctx in ({}, new_tenant())]
        for reply in replies:
            holds(requirement, reply, embedding)


@pytest.mark.requirement("COM-LEAK-1")
def test_no_content_in_the_failures_of_a_batch(embedding: Embedding) -> None:
    """A failed text is explained without its content, and without the tenant and the key of the call."""
    several(embedding, 2, least=1)
    secret = canary()
    long = f"{secret} {FILLER * (embedding.beyond() // len(FILLER) + 1)}"
    texts = [long, embedding.fit("river")][: embedding.room(2)]
    args = {**embedding.requests.minimal("embed_batch"), "texts": texts, "truncate": False}
    reply = embedding.call("embed_batch", args, secrets={"content": secret})
    if not reply.is_success or not failures_of(reply.result):
        raise NotApplicable("no text is reported as failed")
    for failure in failures_of(reply.result):
        said = str([failure.get(key) for key in SAID])
        expect.that(not gives_away(said, secret), "nothing of the content", "a part of it", "result.failed_texts")


def counted_once(stream: StreamReply) -> Any:
    """The final outcome of a stream is counted exactly once."""
    expect.readable(stream)
    counted = outcomes(stream.exchange)
    times = sum(count.value for count in counted if isinstance(count.value, (int, float)))
    expect.that(len(counted) == 1 and times == 1, "one count of its outcome", f"{len(counted)}, of the value {times}")
