"""Caches, idempotency keys, and batches that fall back to single texts (BC 6.6; R14, R24, R27)."""

from functools import partial

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import context_with_key
from pytest_corpus.kit.fixtures import core, deciding, subject
from pytest_corpus.kit.outcomes import Blocked, Violation
from pytest_corpus.kit.requests import deadline_in
from pytest_corpus.spec.errors import TAXONOMY
from pytest_corpus.suites.embedding.support.answers import (
    NORMALIZED,
    embeddings_of,
    expect_unit_norm,
    failures_of,
    norm,
    vector_of,
)
from pytest_corpus.suites.embedding.support.component import Embedding, embedding
from pytest_corpus.suites.embedding.support.requests import OPERATIONS
from pytest_corpus.suites.embedding.support.scenarios import caching
from pytest_corpus.suites.embedding.support.scenarios.batches import (
    class_of,
    embeddings_by_position,
    expect_own_vectors,
    family_of,
)
from pytest_corpus.suites.embedding.support.scenarios.truncation import (
    expect_cut,
    expect_whole,
    require_truncation,
    too_long_text,
    truncated_flag,
)
from pytest_corpus.suites.shared.claims import replays
from pytest_corpus.suites.shared.claims.context import CACHE_SCOPES, FAILURES, context_with_cache_scope
from pytest_corpus.suites.shared.claims.replays import TestAnswerReplays
from pytest_corpus.suites.shared.contexts import new_key_context, new_tenant_context, similar_tenant_contexts

ALIKE = ("other", "shorter", "far_end", "far_middle", "order", "joined")
"""The ways in which a new text resembles a cached one."""

TIDIED = ("letter_case", "spaces", "trailing_blank", "marks", "normal_form")
"""Differences between two texts that an adapter may ignore."""

PAIRS = (*((name, name) for name in OPERATIONS), ("embed", "embed_batch"), ("embed_batch", "embed"))
"""Pairs of operations: the first one fills the cache, and the second one may read the cache."""

WAYS = ("one_by_one", "fallback")
"""The ways in which an adapter calls the provider for a batch: text by text, or only after the whole batch failed."""


@core("EMB-CACHE-1")
@pytest.mark.parametrize(
    ("operations", "kind"),
    [*((PAIRS[0], kind) for kind in (*ALIKE, *TIDIED)), *((pair, "far_end") for pair in PAIRS[1:])],
    ids=lambda value: value if isinstance(value, str) else "-".join(value),
)
def test_a_text_that_resembles_a_cached_one_is_another(
    embedding: Embedding, operations: tuple[str, str], kind: str
) -> None:
    """A new text gets its own vector from the provider, even if it resembles a cached text."""
    embedding.require(*operations)
    one, other = caching.similar_texts(embedding, operations, kind)
    first = embedding.vector_once(operations[0], one)
    reply = embedding.ask(operations[1], other)
    if kind not in TIDIED:
        caching.expect_provider_asked(embedding, operations[1], reply)
    found = embedding.vector_in(reply, operations[1], other)
    caching.expect_other_vector(embedding, found, first, lambda fresh: fresh.vector(operations[1], other))


@pytest.mark.requirement("EMB-CACHE-1")
@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_repeated_request_is_answered_like_the_first(embedding: Embedding, operation: str) -> None:
    """A repeated text gets the same vector again, with or without a cache, even after other texts."""
    embedding.require(operation)
    text = embedding.unique()
    first, _, again = (embedding.vector(operation, each) for each in (text, embedding.unique(), text))
    expect.check(embedding.are_same(first, again), "the same vector as in the first call", "another vector")


@core("EMB-CACHE-2")
@pytest.mark.parametrize("operations", PAIRS, ids="-".join)
def test_a_cached_vector_stays_with_its_model(embedding: Embedding, operations: tuple[str, str]) -> None:
    """The same text with another listed model gets the vector of that model."""
    embedding.require(*operations)
    models = embedding.models_able_to(operations[1])
    expect.applicable(len(models) >= 2, "fewer than two models are listed")
    for one, other in (models[:2], models[1::-1])[: 2 if operations == PAIRS[0] else 1]:
        text = embedding.unique()
        first = embedding.vector(operations[0], text, model=one)
        found = embedding.vector(operations[1], text, model=other)
        ask = partial(Embedding.vector, name=operations[1], text=text, model=other)
        caching.expect_other_vector(embedding, found, first, ask)


@core("EMB-CACHE-3")
@pytest.mark.parametrize(
    ("operations", "first"),
    [(PAIRS[0], True), *((pair, False) for pair in PAIRS)],
    ids=lambda value: "-".join(value) if isinstance(value, tuple) else "normalized_first" if value else "plain_first",
)
def test_a_cached_vector_stays_with_its_norm(embedding: Embedding, operations: tuple[str, str], first: bool) -> None:
    """The same text with another value of `normalize` gets a vector with the right norm."""
    embedding.require_normalization()
    embedding.require(*operations)
    for model in embedding.models_able_to(operations[1])[-1:]:
        text = embedding.unique()
        embedding.vector(operations[0], text, model=model, normalize=first)
        found = embedding.vector(operations[1], text, model=model, normalize=not first)
        if first:
            truth = caching.uncached_instance(embedding).vector(operations[1], text, model=model, normalize=False)
        else:  # every plain vector has norm 1 already
            truth = embedding.vector_once(operations[1], embedding.cut_to_limit("hi"), model=model, normalize=True)
            with expect.resting_on(NORMALIZED[operations[1]]):
                expect_unit_norm(truth)
        expect.check(
            abs(norm(found) - norm(truth)) <= 0.02 * norm(truth), "the norm that this request asks for", "another norm"
        )


@core("EMB-CACHE-4")
@pytest.mark.parametrize("operation", ["embed", "embed_batch"])
@pytest.mark.parametrize("first", ["short", "long"])
def test_a_cached_answer_has_its_own_flag(embedding: Embedding, first: str, operation: str) -> None:
    """`truncated` is right for a long text and for its truncated form, whichever of the two is sent first."""
    require_truncation(embedding)
    embedding.require(operation)
    long = embedding.text_of(embedding.length_above_limit(9))
    short = caching.text_after_truncation(embedding, long)
    embedding.ask(operation, short if first == "short" else long, truncate=True)
    reply = embedding.embed(long if first == "short" else short, truncate=True)
    if first == "short":
        expect_cut(reply)
    else:
        expect.success(reply, "an embedding of the truncated text")
        other = embedding.fresh()
        if other.client is embedding.client:
            short = embedding.text_of(len(short))
        with expect.resting_on("EMB-TRUNC-2"):
            expect_whole(other.embed(short, truncate=True), short)
        expect.check(truncated_flag(reply) is not True, "false, or nothing", "true", "result.truncated")


@core("EMB-CACHE-4")
@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_cached_answer_does_not_spare_a_refusal(embedding: Embedding, operation: str) -> None:
    """A text that was truncated before is still refused if it must not be truncated."""
    require_truncation(embedding)
    embedding.require(operation)
    with expect.resting_on("EMB-TRUNC-3"):
        expect.refusal(embedding.embed_once(too_long_text(embedding, "twice"), truncate=False), "TextTooLong")
    text = embedding.text_of(embedding.length_above_limit(7))
    embedding.ask(operation, text, truncate=True)
    expect.refusal(embedding.embed(text, truncate=False), "TextTooLong")


@core("COM-CACHE-1")
@pytest.mark.parametrize("operations", PAIRS, ids="-".join)
def test_a_cached_vector_stays_with_its_tenant(embedding: Embedding, operations: tuple[str, str]) -> None:
    """A request of another tenant, or without a tenant, for the same text is not answered from the cache."""
    embedding.require(*operations)
    text = embedding.unique()
    first, again = (embedding.requests.with_text(operation, text) for operation in operations)
    one, other = similar_tenant_contexts(embedding, PAIRS.index(operations))
    expect.works(embedding.invoke(operations[0], first, one), "an embedding")
    for ctx in ({}, other)[operations not in PAIRS[:3] :]:
        caching.expect_provider_asked(embedding, operations[1], embedding.invoke(operations[1], again, ctx))


@pytest.mark.requirement("COM-CACHE-2")
@pytest.mark.parametrize(
    ("operation", "scope"), [*(("embed", each) for each in CACHE_SCOPES), ("embed_batch", "global")]
)
def test_a_cache_scope_does_not_share_vectors(embedding: Embedding, operation: str, scope: str) -> None:
    """Two tenants do not get each other's vectors, whatever cache scope they name."""
    embedding.require(operation)
    args, said = embedding.requests.with_text(operation, embedding.unique()), context_with_cache_scope(embedding, scope)
    expect.works(embedding.invoke(operation, args, {**new_tenant_context(), **said}), "an embedding")
    caching.expect_provider_asked(
        embedding, operation, embedding.invoke(operation, args, {**new_tenant_context(), **said})
    )


@pytest.mark.requirement("COM-DEADLINE-1")
def test_an_expired_request_is_refused_however_often_it_was_answered(embedding: Embedding) -> None:
    """An expired request is refused even if the cache has its answer."""
    embedding.require("embed")
    text = embedding.unique()
    for _ in range(2):
        embedding.embed(text)
    reply = embedding.call("embed", embedding.requests.with_text("embed", text), {"deadline_ms": deadline_in(-60_000)})
    expect.refusal(reply, "DeadlineExceeded")


@core("COM-IDEM-1")
@pytest.mark.parametrize("changed", ["text", "normalize", "model", "truncate", "operation"])
def test_an_idempotency_key_does_not_mix_up_requests(embedding: Embedding, changed: str) -> None:
    """If two requests under one key differ in an argument or the operation, each gets its own answer."""
    embedding.require("embed")
    caching.expect_different_answers_under_key(
        embedding, caching.expect_different_answers, changed, caching.CACHED.get(changed, "EMB-CACHE-1")
    )


@pytest.mark.requirement("COM-IDEM-1")
@pytest.mark.parametrize("changed", ["a_text", "the_order", "the_number"])
def test_an_idempotency_key_does_not_mix_up_batches(embedding: Embedding, changed: str) -> None:
    """If two batches under one key differ in a text, the order or the size, each gets its own answer."""
    caching.expect_different_answers_under_key(
        embedding, caching.expect_different_batch_answers, changed, "EMB-BATCH-2"
    )


@pytest.mark.requirement("COM-IDEM-2")
@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_idempotency_key_belongs_to_its_tenant(embedding: Embedding, operation: str) -> None:
    """The same request under the same key of another tenant, or without a tenant, calls the provider again."""
    embedding.require(operation)
    key, args = new_key_context(), embedding.requests.distinct(operation)
    one, other = ({**key, **tenant} for tenant in similar_tenant_contexts(embedding, OPERATIONS.index(operation)))
    expect.works(embedding.invoke(operation, args, one), "an embedding")
    for ctx in (other, key):
        reply = embedding.invoke(operation, args, ctx)
        try:
            caching.expect_provider_asked(embedding, operation, reply)
        except Violation:
            if caching.is_shared_without_key(embedding, operation):
                raise Blocked("COM-CACHE-1", "the cache gives one tenant's answer to another") from None
            raise


@pytest.mark.requirement("EMB-IDEM-1")
@pytest.mark.parametrize("what", ["plain", "normalized", "truncated", "batch", "failures"])
def test_a_replay_is_answered_as_the_first_call(embedding: Embedding, what: str) -> None:
    """The same request under the same key gets the same answer, even after another request."""
    embedding.require("embed")
    ctx, between = new_key_context(**new_tenant_context()), embedding.requests.with_text("embed", embedding.unique())
    name, args = caching.request_to_replay(embedding, what)
    first = embedding.call(name, args, context_with_key(ctx))
    embedding.call("embed", between, ctx)
    again = embedding.call(name, args, context_with_key(ctx))
    expect.readable(again)
    expect.check(first.is_error == again.is_error, "the answer of the first call", str(again))
    expect.applicable(embeddings_of(first.result), "the first call returned no vector")
    replays.expect_same_result(first, again)


@pytest.mark.requirement("EMB-BATCH-12")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("kind", "position"),
    [*(("content_filtered", position) for position in (0, 1, 3)), ("invalid_request", 1), ("unavailable", 1)],
)
def test_texts_after_a_failed_one_are_not_forgotten(embedding: Embedding, kind: str, position: int, way: str) -> None:
    """If one call of the provider fails, each text is embedded or reported in its place, or the batch is refused."""
    fresh, texts, reply, struck = caching.failing_batch(embedding, kind, position, way)
    expect.applicable(not reply.is_error, "the whole batch is refused")
    found = embeddings_by_position(fresh, "EMB-BATCH-12", caching.expect_every_text(reply, texts), texts)
    expect_own_vectors(fresh, found, texts, embedding.embed_one_by_one(texts), reply)
    failed = len(failures_of(reply.result))
    expect.check(failed <= struck, f"no more than {struck} failed texts", f"{failed}", "result")


@pytest.mark.requirement("EMB-BATCH-16")
@pytest.mark.parametrize(("kind", "way"), [(kind, WAYS[number % 2]) for number, kind in enumerate(FAILURES)])
def test_a_failed_text_has_the_class_of_its_failure(embedding: Embedding, kind: str, way: str) -> None:
    """A text that the provider refuses is reported with the usual class of this failure."""
    _, _, reply, _ = caching.failing_batch(embedding, kind, 1, way)
    classes = embedding.faults.error_classes(kind)
    for failure in caching.reported_failures(reply):
        name = class_of(failure)
        if name is None:
            raise Blocked("EMB-BATCH-11", "a failed text names no class")
        expect.check(TAXONOMY[name].family in classes, " or ".join(classes), name, "result.failed_texts.error")


@pytest.mark.requirement("EMB-BATCH-16")
@pytest.mark.parametrize("position", [0, 1, 3])
def test_a_failed_text_does_not_take_over_the_failure_of_the_batch(embedding: Embedding, position: int) -> None:
    """If the whole batch fails with an outage, and then one text is filtered, the text is reported as BadRequest."""
    _, _, reply, _ = caching.failing_batch(embedding, "content_filtered", position, "fallback", "unavailable")
    families = {family_of(failure) for failure in caching.reported_failures(reply)}
    expect.check(
        "BadRequest" in families,
        "BadRequest among the failures",
        "no failure of class BadRequest",
        "result.failed_texts.error",
    )


@pytest.mark.requirement("EMB-BATCH-12")
def test_a_batch_falls_back_in_order(embedding: Embedding) -> None:
    """If a refused batch is embedded text by text, each text keeps its position."""
    fresh, texts, reply = caching.batch_with_fallback(embedding, "invalid_request", times=20)
    found = embeddings_by_position(fresh, "EMB-BATCH-12", caching.expect_every_text(reply, texts), texts)
    expect_own_vectors(fresh, found, texts, embedding.embed_one_by_one(texts), reply)


@deciding("fact", traceparent="COM-CTX-5", deadline_ms="COM-DEADLINE-9")
def test_a_batch_that_falls_back_keeps_its_context(embedding: Embedding, fact: str) -> None:
    """If a failed batch is embedded text by text, each call passes on the trace and deadline of the batch."""
    ctx, reply = caching.send_fallback_batch(embedding)
    passed = [arrival.facts.get(fact) for arrival in reply.exchange.observed.arrivals_with_context]
    expect.applicable(any(value is not None for value in passed), f"no {fact} is passed on to the provider")
    texts, asked = len(reply.exchange.request["args"]["texts"]), reply.exchange.observed.reached_provider
    right, least = passed.count(ctx[fact]), min(texts, asked - 1)  # one call may have another purpose
    expect.check(right == len(passed), f"the {fact} of the batch", f"another {fact}", fact)
    expect.check(right >= least, f"the {fact} of the batch in {least} calls of the provider", f"in {right} calls", fact)


@pytest.mark.requirement("EMB-NORM-2")
@pytest.mark.parametrize("kind", ["invalid_request", "unavailable"])
def test_a_batch_that_falls_back_is_normalized(embedding: Embedding, kind: str) -> None:
    """If a failed batch with `normalize` is embedded text by text, its vectors have norm 1 too."""
    embedding.require_normalization()
    fresh, texts, reply = caching.batch_with_fallback(embedding, kind, times=1, normalize=True)
    for position, each in embeddings_by_position(fresh, "EMB-NORM-2", reply, texts).items():
        expect_unit_norm(vector_of(each) or [], f"result.embeddings.{position}.vector")
