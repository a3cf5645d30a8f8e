"""Context, observability and privacy (SPECIFICATION 6.1, 6.4, 15; BEHAVIORAL_CONFORMANCE 6.8; R19 to R21)."""

import json

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import remembered
from pytest_corpus.kit.audit.leaks import leaks_secret
from pytest_corpus.kit.audit.telemetry import is_outcome_named, outcome_counts
from pytest_corpus.kit.component import expect_audited
from pytest_corpus.kit.faults import MAX_PROVIDER_RETRIES
from pytest_corpus.kit.fixtures import rules, subject
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.kit.requests import canary
from pytest_corpus.suites.embedding.support.answers import failures_of
from pytest_corpus.suites.embedding.support.component import Embedding, embedding
from pytest_corpus.suites.embedding.support.requests import OPERATIONS
from pytest_corpus.suites.embedding.support.scenarios.batches import require_batch_size
from pytest_corpus.suites.embedding.support.texts import FILLER
from pytest_corpus.suites.shared.claims.capabilities import TestModelLabels
from pytest_corpus.suites.shared.claims.context import (
    TestContext,
    TestObservability,
    TestStreamObservability,
    stream_with_outcome,
)
from pytest_corpus.suites.shared.claims.deadlines import TestCancelling
from pytest_corpus.suites.shared.claims.envelopes import call_with_wrong_types
from pytest_corpus.suites.shared.claims.labels import TestLabels, TestPrivacy, TestStreamTimes
from pytest_corpus.suites.shared.claims.propagation import TestPropagation
from pytest_corpus.suites.shared.contexts import new_tenant_context

SAID = ("message", "detail", "details", "code", "error", "metadata")
"""The keys of a failed item that explain the failure."""


@pytest.mark.requirement("EMB-OBS-2")
def test_a_finished_stream_is_not_counted_as_an_error(embedding: Embedding) -> None:
    """The outcome counter of a finished stream has no label that names an error."""
    stream = stream_with_outcome(embedding, "finished")
    expect.works(stream, "a plain stream")
    counted = outcome_counts(stream.exchange)
    expect.applicable(counted, "no final outcome is counted; another test reports this")
    right = all(is_outcome_named(count, stream.exchange) for count in counted)
    expect.check(right, "OK, or no outcome", "an error", "count_stream_final_outcome")


@pytest.mark.requirement("COM-TENANT-2")
@pytest.mark.parametrize("operation", ["health", "get_stats"])
def test_a_report_names_no_other_tenant(embedding: Embedding, operation: str) -> None:
    """Reports for one tenant do not contain the id of another tenant."""
    embedding.require("embed", operation)
    owner = new_tenant_context()
    expect.works(embedding.invoke("embed", ctx=owner), "an embedding for a tenant")
    said = json.dumps(expect.success(embedding.call(operation, ctx=new_tenant_context()), "a report"))
    expect.check(owner["tenant"] not in said, "no data of another tenant", "the id of another tenant", "result")


@rules("metrics COM-LEAK-2, logs COM-LEAK-3")
@pytest.mark.parametrize("operation", OPERATIONS)
def test_no_vector_anywhere(embedding: Embedding, requirement: str, operation: str) -> None:
    """Metrics and log records do not contain components of a vector."""
    embedding.require(operation)
    replies = embed_with_hidden_vectors(embedding, operation)
    expect.applicable(replies, "no component of the vector has enough digits to be recognised")
    for reply in replies:
        expect_audited(requirement, reply, embedding)


@remembered
def embed_with_hidden_vectors(embedding: Embedding, operation: str) -> list[Reply | StreamReply]:
    """Return answers whose vectors are known in advance, with and without a tenant and `normalize`."""
    replies: list[Reply | StreamReply] = []
    for options in ({}, {"normalize": True}):
        if options and embedding.capabilities.flag("supports_normalization") is not True:
            continue
        text = embedding.unique()
        digits = (repr(value).partition(".")[2] for value in embedding.vector(operation, text, **options))
        long = [tail[-12:] for tail in digits if tail.isdigit() and len(tail) >= 12]
        hidden = {f"content of the vector {number}": tail for number, tail in enumerate((*long[:4], *long[-2:]))}
        if not hidden:
            continue
        args = embedding.requests.with_text(operation, text, **options)
        contexts = [new_tenant_context()] if options else [{}, new_tenant_context()]
        replies += [embedding.invoke(operation, args, ctx, secrets=hidden) for ctx in contexts]
    return replies


@pytest.mark.requirement("COM-LEAK-3")
@pytest.mark.parametrize("failing", ["too_long", "filtered"])
def test_no_text_that_fails_is_logged(embedding: Embedding, failing: str) -> None:
    """Log records do not contain a text that is too long or that the provider refuses."""
    many = require_batch_size(embedding, 2, least=1)
    secret = canary()
    texts = [secret, embedding.cut_to_limit("river")][:many]
    args = {**embedding.requests.minimal("embed_batch"), "texts": texts}
    if failing == "too_long":
        args |= {"texts": [f"{secret} {FILLER * (embedding.length_above_limit() // len(FILLER) + 1)}", *texts[1:]]}
        reply = embedding.call("embed_batch", {**args, "truncate": False}, secrets={"content": secret})
    else:
        expect.applicable("provider" in embedding.client.hooks, "without the provider hook, no text is refused")
        embedding.faults.provider_op("embed_batch")
        fresh = embedding.fresh()
        fresh.client.provider.plan("content_filtered", times=MAX_PROVIDER_RETRIES)
        reply = fresh.call("embed_batch", args, secrets={"content": secret})
        fresh.client.provider.clear()
    expect.readable(reply)
    expect_audited("COM-LEAK-3", reply, embedding)


@pytest.mark.requirement("COM-LEAK-1")
def test_no_content_in_the_failures_of_a_batch(embedding: Embedding) -> None:
    """The explanation of a failed text does not contain the text."""
    require_batch_size(embedding, 2, least=1)
    secret = canary()
    long = f"{secret} {FILLER * (embedding.length_above_limit() // len(FILLER) + 1)}"
    texts = [long, embedding.cut_to_limit("river")][: embedding.cap_batch_size(2)]
    args = {**embedding.requests.minimal("embed_batch"), "texts": texts, "truncate": False}
    reply = embedding.call("embed_batch", args, secrets={"content": secret})
    expect.applicable(reply.is_success and failures_of(reply.result), "no text is reported as failed")
    for failure in failures_of(reply.result):
        said = str([failure.get(key) for key in SAID])
        expect.check(
            not leaks_secret(said, secret), "no part of the content", "a part of the content", "result.failed_texts"
        )
