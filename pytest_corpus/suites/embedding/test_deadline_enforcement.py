"""Deadlines (SPECIFICATION 6.1; BEHAVIORAL_CONFORMANCE 6.1; R16 to R18)."""

from functools import partial

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import invoke_expired
from pytest_corpus.kit.fixtures import subject
from pytest_corpus.kit.reply import Reply
from pytest_corpus.kit.requests import deadline_in
from pytest_corpus.suites.embedding.support.answers import failures_of
from pytest_corpus.suites.embedding.support.component import Embedding, embedding
from pytest_corpus.suites.embedding.support.scenarios.batches import class_of
from pytest_corpus.suites.shared.claims.deadlines import (
    BUDGET_MS,
    ITEM_MS,
    ITEMS,
    PROMPTLY_S,
    TestDeadlines,
    TestNestedDeadlines,
    TestStreamDeadlines,
    call_with_hanging_provider,
    expect_in_time,
    require_deadline_support,
    retry_if_late,
)


@pytest.mark.requirement("COM-DEADLINE-4")
def test_a_hanging_batch_ends_in_a_deadline(embedding: Embedding) -> None:
    """If the provider hangs, a batch is refused or reports failed texts, at most a second after the deadline."""
    embedding.faults.provider_op("embed_batch")
    require_deadline_support(embedding, "embed_batch", invoke_expired(embedding, "embed_batch"))
    retry_if_late(partial(expect_hanging_batch_in_time, embedding))


@pytest.mark.requirement("COM-DEADLINE-8")
def test_the_budget_of_a_fallback_is_one(embedding: Embedding) -> None:
    """If a batch fails and each of its texts then takes most of the budget, the call still ends in time."""
    embedding.faults.provider_op("embed_batch")
    require_deadline_support(embedding, "embed_batch", invoke_expired(embedding, "embed_batch"))
    retry_if_late(partial(expect_fallback_in_time, embedding))


def expect_fallback_in_time(embedding: Embedding) -> None:
    """Check that a batch ends in time if the provider refuses batches, and embeds single texts slowly."""
    fresh = embedding.fresh()
    [request] = fresh.requests.with_items(ITEMS)
    fresh.client.provider.plan("invalid_request", "embedding.embed_batch", times=1)
    fresh.client.provider.plan("slow", times=100 * ITEMS, delay_ms=ITEM_MS)
    limit_s = BUDGET_MS / 1000 + PROMPTLY_S + 0.5
    reply = fresh.invoke(request.op, request.args, {"deadline_ms": deadline_in(BUDGET_MS)}, limit_s=limit_s)
    fresh.client.provider.clear()
    expect_in_time(reply, BUDGET_MS)


def expect_hanging_batch_in_time(embedding: Embedding) -> None:
    """Check that a batch ends in time if its provider never answers."""

    def call(fresh: Embedding, ctx: dict[str, int], limit_s: float) -> Reply:
        texts = [fresh.unique() for _ in range(embedding.cap_batch_size(3))]
        return fresh.call(
            "embed_batch", {**fresh.requests.minimal("embed_batch"), "texts": texts}, ctx, limit_s=limit_s
        )

    planned, reply, budget_ms = call_with_hanging_provider(
        embedding, lambda fresh: fresh.faults.plan("hang", "embed_batch"), call
    )
    embedding.faults.require_fired(planned)
    expect_in_time(reply, budget_ms)
    reported = [class_of(failure) for failure in failures_of(reply.result)]
    if reported and set(reported) == {"DeadlineExceeded"}:
        return
    expect.refusal(reply, "DeadlineExceeded")
