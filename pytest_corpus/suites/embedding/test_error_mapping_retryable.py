"""From provider failures to the taxonomy (ERRORS 4, 6.2, 8; SPECIFICATION 12)."""

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.fixtures import subject
from pytest_corpus.kit.outcomes import NotApplicable, describe
from pytest_corpus.kit.reply import Reply
from pytest_corpus.spec.errors import BY_KIND
from pytest_corpus.suites.embedding.support.answers import embeddings_of, failures_of
from pytest_corpus.suites.embedding.support.component import Embedding, embedding
from pytest_corpus.suites.embedding.support.scenarios.batches import family_of
from pytest_corpus.suites.shared.claims.context import PASSING, provider_failure
from pytest_corpus.suites.shared.claims.faults import (
    HINT_MS,
    KINDS,
    TestContentFilter,
    TestFaults,
    TestStreamFaults,
    answer_to_fault,
    expect_provider_hint,
    require_class,
    requirement_of,
)


@pytest.mark.parametrize("kind", KINDS)
def test_a_failure_of_a_batch_becomes_its_canonical_class(embedding: Embedding, kind: str) -> None:
    """If the provider fails, the error of the batch, or of each failed text, has the class of this failure."""
    reply = answer_to_fault(embedding, "embed_batch", kind)
    classes = embedding.faults.error_classes(kind)
    expect.readable(reply)
    if not isinstance(reply, Reply) or not reply.is_success or not failures_of(reply.result):
        expect.refusal(reply, *classes)
        return
    for failure in failures_of(reply.result):
        got = describe(failure.get("error"))
        expect.check(family_of(failure) in classes, " or ".join(classes), got, "result.failed_texts.error")


@pytest.mark.requirement("COM-FAULT-8")
def test_a_batch_that_is_refused_passes_the_retry_hint_on(embedding: Embedding) -> None:
    """The error of a batch that is refused as a whole has the provider's `retry_after_ms` (R14)."""
    reply = answer_to_fault(embedding, "embed_batch", "rate_limited", retry_after_ms=HINT_MS)
    expect.applicable(reply.is_error, "a failure of the provider is reported for each text")
    require_class(embedding, reply, "rate_limited", requirement_of("rate_limited"))
    expect_provider_hint(reply, "embed_batch")


@pytest.mark.requirement("COM-FAULT-12")
@pytest.mark.parametrize("kind", PASSING[::2])
def test_the_batch_after_a_failure_works_again(embedding: Embedding, kind: str) -> None:
    """After one failure of the provider, the next batch has no failed text."""
    embedding.faults.provider_op("embed_batch")
    fresh = embedding.fresh()
    args = fresh.requests.distinct("embed_batch")
    plan = fresh.faults.plan(kind, "embed_batch", times=1)
    fresh.call("embed_batch", args)
    fresh.faults.require_fired(plan)
    if BY_KIND[kind].canonical not in ("ResourceExhausted", "TransientNetwork", "Unavailable"):
        args = fresh.requests.distinct("embed_batch")
    reply = fresh.call("embed_batch", args)
    expect.works(reply, "the next batch to work")
    if not embeddings_of(reply.result) and not failures_of(reply.result):
        raise NotApplicable("a batch is answered without embeddings")
    expect.check(not failures_of(reply.result), "no failed text", "a failed text", "result")
