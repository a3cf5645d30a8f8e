"""Deadlines (SPECIFICATION 6.1; BEHAVIORAL_CONFORMANCE 6.1; R16 to R18)."""

from __future__ import annotations

from functools import partial

import pytest

from pytest_corpus.suites import expect
from pytest_corpus.suites.common.deadlines import (
    BUDGET_MS,
    LIMIT_S,
    Deadlines,
    StreamDeadlines,
    expired,
    heeded,
    in_time,
    repeatedly,
)
from pytest_corpus.suites.embedding.batches import class_of, failures_of
from pytest_corpus.suites.embedding.probe import Embedding, embedding
from pytest_corpus.suites.fixtures import subject


class TestDeadlines(Deadlines):
    """Unary operations."""


class TestStreamDeadlines(StreamDeadlines):
    """Streams."""


@pytest.mark.requirement("COM-DEADLINE-4")
def test_a_hanging_batch_ends_in_a_deadline(embedding: Embedding) -> None:
    """When the provider hangs, a batch ends within its budget plus a second, refused or with its texts reported."""
    embedding.provider_op("embed_batch")
    heeded(embedding, "embed_batch", expired(embedding, "embed_batch"))
    repeatedly(partial(hung, embedding))


def hung(embedding: Embedding) -> None:
    """A batch whose provider never answers."""
    fresh = embedding.fresh()
    texts = [fresh.unique() for _ in range(embedding.room(3))]
    plan = fresh.plan("hang", "embed_batch")
    args = {**fresh.minimal("embed_batch"), "texts": texts}
    reply = fresh.call("embed_batch", args, {"deadline_ms": fresh.in_ms(BUDGET_MS)}, limit_s=LIMIT_S)
    fresh.fired(plan)
    in_time(reply)
    reported = [class_of(failure) for failure in failures_of(reply.result)]
    if reported and set(reported) == {"DeadlineExceeded"}:
        return
    expect.refusal(reply, "DeadlineExceeded")
