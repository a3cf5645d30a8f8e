"""Deadlines (SPECIFICATION 6.1; BEHAVIORAL_CONFORMANCE 6.1; R16 to R18)."""

from functools import partial

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import expired
from pytest_corpus.kit.fixtures import subject
from pytest_corpus.kit.reply import Reply
from pytest_corpus.suites.embedding.support.answers import failures_of
from pytest_corpus.suites.embedding.support.component import Embedding, embedding
from pytest_corpus.suites.embedding.support.scenarios.batches import class_of
from pytest_corpus.suites.shared.claims.deadlines import (
    TestDeadlines,
    TestNestedDeadlines,
    TestStreamDeadlines,
    heeded,
    in_time,
    out_of_time,
    repeatedly,
)


@pytest.mark.requirement("COM-DEADLINE-4")
def test_a_hanging_batch_ends_in_a_deadline(embedding: Embedding) -> None:
    """When the provider hangs, a batch ends within its budget plus a second, refused or with its texts reported."""
    embedding.faults.provider_op("embed_batch")
    heeded(embedding, "embed_batch", expired(embedding, "embed_batch"))
    repeatedly(partial(hung, embedding))


def hung(embedding: Embedding) -> None:
    """A batch whose provider never answers."""

    def call(fresh: Embedding, ctx: dict[str, int], limit_s: float) -> Reply:
        texts = [fresh.unique() for _ in range(embedding.room(3))]
        return fresh.call(
            "embed_batch", {**fresh.requests.minimal("embed_batch"), "texts": texts}, ctx, limit_s=limit_s
        )

    planned, reply, budget_ms = out_of_time(embedding, lambda fresh: fresh.faults.plan("hang", "embed_batch"), call)
    embedding.faults.fired(planned)
    in_time(reply, budget_ms)
    reported = [class_of(failure) for failure in failures_of(reply.result)]
    if reported and set(reported) == {"DeadlineExceeded"}:
        return
    expect.refusal(reply, "DeadlineExceeded")
