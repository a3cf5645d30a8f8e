"""Canonical envelopes, frames, routing and bad requests (SPECIFICATION 4.2; SCHEMA 3.1)."""

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.fixtures import subject
from pytest_corpus.kit.reply import Reply
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.suites.embedding.support.answers import distance, reason_for_missing_vector, vector_of
from pytest_corpus.suites.embedding.support.component import Embedding, embedding
from pytest_corpus.suites.embedding.support.scenarios.batches import arrange_texts
from pytest_corpus.suites.shared.claims.envelopes import TestEnvelopes, TestErrors, TestStreaming
from pytest_corpus.suites.shared.claims.wire_handler import BUSY, TestStreamEntryPoint, TestStress, TestWireHandler

pytestmark = pytest.mark.wire


@pytest.mark.requirement("COM-CONC-1")
@pytest.mark.parametrize("operation", ["embed", "embed_batch"])
def test_new_texts_at_the_same_time_are_not_mixed_up(embedding: Embedding, operation: str) -> None:
    """New texts in concurrent requests get their own vectors."""
    embedding.require(operation)
    texts = arrange_texts(embedding, "plain", max(2, min(4, embedding.capabilities.limit("concurrency") or 4)))
    requests = [embedding.envelope(operation, embedding.requests.with_text(operation, text)) for text in texts]
    replies = [Reply(exchange) for exchange in embedding.fresh().send_all(requests)]
    other = embedding.fresh()
    vectors = embedding.embed_one_by_one(texts) if operation == "embed_batch" else {}
    own = [vectors.get(text) or other.vector(operation, text) for text in texts]
    slack = 1e-6 + 10 * embedding.noise
    expect.assessable(not all(reply.is_a(*BUSY) for reply in replies), Obstacle.ALL_REFUSED)
    for number, reply in enumerate(replies):
        if reply.is_a(*BUSY):
            continue
        expect.success(reply, "the answer that the same request gets when sent alone")
        vector = vector_of(embedding.embedding(reply))
        if vector is None:
            raise reason_for_missing_vector(embedding, operation, texts[number], reply, {})
        apart = [distance(vector, each) for each in own]
        expect.check(apart[number] <= min(apart) + slack, "the vector of this text", "the vector of another text")
