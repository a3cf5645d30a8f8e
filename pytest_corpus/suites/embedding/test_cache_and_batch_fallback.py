"""Caches, idempotency keys, and batches that fall back to single texts (BEHAVIORAL_CONFORMANCE 6.6; R14, R24, R27)."""

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.outcomes import Blocked, NotApplicable
from pytest_corpus.kit.replays import keyed
from pytest_corpus.kit.requests import canary, in_ms
from pytest_corpus.spec.errors import TAXONOMY
from pytest_corpus.spec.faults import BY_KIND
from pytest_corpus.suites.embedding.support.answers import embeddings_of, failures_of, unit
from pytest_corpus.suites.embedding.support.component import Embedding, embedding
from pytest_corpus.suites.embedding.support.requests import OPERATIONS
from pytest_corpus.suites.embedding.support.scenarios.batches import (
    arranged,
    class_of,
    each_its_own,
    family_of,
    placed,
    several,
)
from pytest_corpus.suites.embedding.support.scenarios.caching import (
    CACHED,
    all_accounted_for,
    asks_anew,
    batches_apart,
    expect_own_vector,
    failing_batch,
    new_texts,
    replayed,
    requests_apart,
    require_distinct_without_key,
    rest_after_cut,
    uncached_instance,
)
from pytest_corpus.suites.embedding.support.scenarios.truncation import cut, flag, truncates, whole
from pytest_corpus.suites.embedding.support.texts import FILLER
from pytest_corpus.suites.embedding.support.vectorless import NORMALIZED
from pytest_corpus.suites.embedding.support.vectors import norm
from pytest_corpus.suites.shared.claims import replays
from pytest_corpus.suites.shared.claims.context import CACHE_SCOPES, cache_scope
from pytest_corpus.suites.shared.contexts import new_key, new_tenant

ALIKE = ("other", "shorter", "letter", "far_end", "far_middle", "order", "joined")
"""The ways in which two texts resemble each other."""

TIDIED = ("letter_case", "spaces", "marks")
"""The differences between two texts that an adapter may ignore."""

PAIRS = [(one, other) for one in OPERATIONS for other in OPERATIONS if "embed" in (one, other)]
"""The operation that fills the cache, and the one that asks."""

ALL_PAIRS = (*PAIRS, ("embed_batch", "embed_batch"), ("stream_embed", "stream_embed"))

WAYS = ("one_by_one", "fallback")
"""The ways in which an adapter asks the provider for the texts of a batch."""

FAILING = ("content_filtered", "invalid_request", "unavailable", "rate_limited")


def alike(embedding: Embedding, kind: str) -> tuple[str, str]:
    """Two texts that only resemble each other, neither of them sent before."""
    text = embedding.unique()
    if embedding.small and kind not in ("other", "letter_case"):
        raise NotApplicable(f"texts of {embedding.limit} characters have no parts")
    return {
        "other": (text, embedding.unique()),
        "shorter": (f"{text} and more", text),
        "letter": (f"{text} cat", f"{text} car"),
        "far_end": (f"{text} {FILLER}a", f"{text} {FILLER}b"),
        "far_middle": (f"{text} {FILLER[:40]}a {FILLER[:40]}", f"{text} {FILLER[:40]}b {FILLER[:40]}"),
        "order": (f"{text} first", f"first {text}"),
        "joined": (f"{text} ab c", f"{text} a bc"),
        "letter_case": (text, text.swapcase()),
        "spaces": (text, f" {text.replace(' ', '  ')} "),
        "marks": (f"{text} resume", f"{text} r\u00e9sum\u00e9"),
    }[kind]


@pytest.mark.core
@pytest.mark.requirement("EMB-CACHE-1")
@pytest.mark.parametrize(
    ("operation", "kind"),
    [
        *(("embed", kind) for kind in ALIKE),
        *((operation, kind) for operation in OPERATIONS[1:] for kind in ("shorter", "far_end")),
    ],
)
def test_a_text_that_resembles_a_cached_one_is_another(embedding: Embedding, operation: str, kind: str) -> None:
    """A text that was never sent is not answered from the cache, however much it resembles another one."""
    one, other = alike(embedding, kind)
    asks_anew(
        embedding,
        operation,
        embedding.requests.with_text(operation, one),
        embedding.requests.with_text(operation, other),
    )


@pytest.mark.requirement("EMB-CACHE-1")
@pytest.mark.parametrize(
    ("operations", "kind"),
    [*((PAIRS[0], kind) for kind in (*ALIKE, *TIDIED)), *((operations, "other") for operations in PAIRS[1:])],
    ids=lambda value: value if isinstance(value, str) else "-".join(value),
)
def test_a_text_has_its_own_vector_beside_a_cached_one(
    embedding: Embedding, operations: tuple[str, str], kind: str
) -> None:
    """A text gets the vector that it gets of an instance that never saw the one that it resembles."""
    embedding.require(*operations)
    one, other = alike(embedding, kind)
    first = embedding.vector(operations[0], one)
    found, truth = embedding.vector(operations[1], other), uncached_instance(embedding).vector(operations[1], other)
    expect_own_vector(embedding, found, first, truth)


@pytest.mark.requirement("EMB-CACHE-1")
@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_repeated_request_is_answered_like_the_first(embedding: Embedding, operation: str) -> None:
    """A text that comes again, after others, has its own vector, be it from the cache or not."""
    embedding.require(operation)
    text = embedding.unique()
    vectors = [embedding.vector(operation, each) for each in (text, embedding.unique(), text, embedding.unique(), text)]
    for again in (vectors[2], vectors[4]):
        expect.that(embedding.same(vectors[0], again), "the vector of the first time", "another vector")


@pytest.mark.core
@pytest.mark.requirement("EMB-CACHE-2")
@pytest.mark.parametrize("operations", ALL_PAIRS, ids="-".join)
def test_a_cached_vector_stays_with_its_model(embedding: Embedding, operations: tuple[str, str]) -> None:
    """The same text of another listed model has that model's vector."""
    embedding.require(*operations)
    models = embedding.able(operations[1])
    if len(models) < 2:
        raise NotApplicable("fewer than two models are listed")
    for one, other in (models[:2], models[1::-1])[: 2 if operations == PAIRS[0] else 1]:
        text = embedding.unique()
        first = embedding.vector(operations[0], text, model=one)
        found = embedding.vector(operations[1], text, model=other)
        truth = uncached_instance(embedding).vector(operations[1], text, model=other)
        expect_own_vector(embedding, found, first, truth)


@pytest.mark.core
@pytest.mark.requirement("EMB-CACHE-3")
@pytest.mark.parametrize("first", [True, False], ids=["normalized_first", "plain_first"])
@pytest.mark.parametrize("operations", ALL_PAIRS, ids="-".join)
def test_a_cached_vector_stays_with_its_norm(embedding: Embedding, operations: tuple[str, str], first: bool) -> None:
    """The same text with the other value of `normalize` has a vector of the norm that belongs to it."""
    embedding.normalizes()
    embedding.require(*operations)
    for model in embedding.able(operations[1])[-1:]:
        text = embedding.unique()
        embedding.vector(operations[0], text, model=model, normalize=first)
        found = embedding.vector(operations[1], text, model=model, normalize=not first)
        truth = uncached_instance(embedding).vector(operations[1], text, model=model, normalize=not first)
        if not first:
            with expect.resting_on(NORMALIZED[operations[1]]):
                unit(truth)
        expect.that(abs(norm(found) - norm(truth)) <= 0.02 * norm(truth), "the norm of its own request", "another one")


@pytest.mark.core
@pytest.mark.requirement("EMB-CACHE-4")
@pytest.mark.parametrize("operation", ["embed", "embed_batch"])
@pytest.mark.parametrize("first", ["short", "long"])
def test_a_cached_answer_has_its_own_flag(embedding: Embedding, first: str, operation: str) -> None:
    """A text beyond the limit, and what is left of it, are flagged each for itself, whichever came first."""
    truncates(embedding)
    embedding.require(operation)
    long = embedding.text_of(embedding.beyond(9))
    short = rest_after_cut(embedding, long)
    embedding.ask(operation, short if first == "short" else long, truncate=True)
    reply = embedding.embed(long if first == "short" else short, truncate=True)
    if first == "short":
        cut(reply)
    else:
        expect.success(reply, "what is left to be embedded")
        other = embedding.fresh()
        if other.client is embedding.client:
            short = embedding.text_of(len(short))
        with expect.resting_on("EMB-TRUNC-2"):
            whole(other.embed(short, truncate=True), short)
        expect.that(flag(reply) is not True, "false, or nothing", "true", "result.truncated")


@pytest.mark.core
@pytest.mark.requirement("EMB-CACHE-4")
@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_cached_answer_does_not_spare_a_refusal(embedding: Embedding, operation: str) -> None:
    """A text that was truncated once is refused all the same where it may not be truncated."""
    truncates(embedding)
    embedding.require(operation)
    for text in (embedding.text_of(embedding.beyond(more)) for more in (7, 40)):
        fresh = embedding.text_of(embedding.beyond(5))
        with expect.resting_on("EMB-TRUNC-3"):
            expect.refusal(embedding.embed(fresh, truncate=False), "TextTooLong")
        embedding.ask(operation, text, truncate=True)
        expect.refusal(embedding.embed(text, truncate=False), "TextTooLong")


@pytest.mark.core
@pytest.mark.requirement("COM-CACHE-1")
@pytest.mark.parametrize("operations", ALL_PAIRS, ids="-".join)
def test_a_cached_vector_stays_with_its_tenant(embedding: Embedding, operations: tuple[str, str]) -> None:
    """The same text of another tenant, or of none, is not answered from the cache."""
    embedding.require(*operations)
    tenants = [new_tenant() for _ in range(2)]
    for one, other in ((tenants[0], tenants[1]), (tenants[0], {}), ({}, tenants[1])):
        text = embedding.unique()
        first, second = (embedding.requests.with_text(operation, text) for operation in operations)
        asks_anew(embedding, operations[1], first, second, one, other, first_operation=operations[0])


@pytest.mark.requirement("COM-CACHE-2")
@pytest.mark.parametrize("scope", CACHE_SCOPES)
@pytest.mark.parametrize("operation", ["embed", "embed_batch"])
def test_a_cache_scope_does_not_share_vectors(embedding: Embedding, operation: str, scope: str) -> None:
    """Whatever two tenants say of the cache's scope, neither gets what was embedded for the other."""
    embedding.require(operation)
    args = embedding.requests.with_text(operation, embedding.unique())
    contexts = [{"tenant": f"tenant-{canary()}", **cache_scope(embedding, scope)} for _ in range(2)]
    asks_anew(embedding, operation, args, args, *contexts)


@pytest.mark.requirement("COM-DEADLINE-1")
def test_an_expired_request_is_refused_however_often_it_was_answered(embedding: Embedding) -> None:
    """What the cache holds is not given to a call whose deadline has passed."""
    embedding.require("embed")
    text = embedding.unique()
    for _ in range(2):
        embedding.embed(text)
    reply = embedding.call("embed", embedding.requests.with_text("embed", text), {"deadline_ms": in_ms(-60_000)})
    expect.refusal(reply, "DeadlineExceeded")


@pytest.mark.core
@pytest.mark.requirement("COM-IDEM-1")
@pytest.mark.parametrize("changed", ["text", "normalize", "model", "truncate", "operation"])
def test_an_idempotency_key_does_not_mix_up_requests(embedding: Embedding, changed: str) -> None:
    """Another argument, or another operation, under one key gets its own answer."""
    embedding.require("embed")
    require_distinct_without_key(embedding, requests_apart, changed, CACHED.get(changed, "EMB-CACHE-1"))
    requests_apart(embedding, changed, new_key(**new_tenant()))


@pytest.mark.requirement("COM-IDEM-1")
@pytest.mark.parametrize("changed", ["a_text", "the_order", "the_number"])
def test_an_idempotency_key_does_not_mix_up_batches(embedding: Embedding, changed: str) -> None:
    """Another text, another order or another number of texts under one key is another batch."""
    require_distinct_without_key(embedding, batches_apart, changed, "EMB-BATCH-2")
    batches_apart(embedding, changed, new_key(**new_tenant()))


@pytest.mark.requirement("COM-IDEM-2")
@pytest.mark.parametrize("operation", ["embed", "embed_batch", "stream_embed"])
def test_an_idempotency_key_belongs_to_its_tenant(embedding: Embedding, operation: str) -> None:
    """The same request under the same key of another tenant asks the provider again."""
    embedding.require(operation)
    key, args = f"key-{canary()}", embedding.requests.distinct(operation)
    one, other = ({"idempotency_key": key, "tenant": f"tenant-{canary()}"} for _ in range(2))
    embedding.faults.provider_op(operation)
    embedding.tells_apart()
    if embedding.capabilities.caches:
        plain = embedding.requests.distinct(operation)
        embedding.invoke(operation, plain, {"tenant": one["tenant"]})
        reply = embedding.invoke(operation, plain, {"tenant": other["tenant"]})
        if not reply.is_error and not reply.exchange.reached_provider:
            raise Blocked("COM-CACHE-1", "the cache gives one tenant's answer to another")
    asks_anew(embedding, operation, args, args, one, other)
    anew = embedding.requests.distinct(operation)
    asks_anew(embedding, operation, anew, anew, one, {"idempotency_key": key})


@pytest.mark.requirement("EMB-IDEM-1")
@pytest.mark.parametrize("what", ["plain", "normalized", "truncated", "batch", "failures"])
def test_a_replay_is_answered_as_the_first_call(embedding: Embedding, what: str) -> None:
    """The same request under the same key has the same answer, also after another one."""
    embedding.require("embed")
    ctx, between = new_key(**new_tenant()), embedding.requests.with_text("embed", embedding.unique())
    name, args = replayed(embedding, what)
    first = embedding.call(name, args, keyed(ctx))
    embedding.call("embed", between, ctx)
    again = embedding.call(name, args, keyed(ctx))
    expect.readable(again)
    expect.that(first.is_error == again.is_error, "the answer of the first call", str(again))
    if not embeddings_of(first.result):
        raise NotApplicable("the first call gives no vector")
    replays.answers_again(first, again)


@pytest.mark.requirement("COM-IDEM-4")
@pytest.mark.parametrize("operation", ["embed", "embed_batch"])
def test_a_request_that_is_sent_twice_at_once_has_one_answer(embedding: Embedding, operation: str) -> None:
    """Two calls of one request under one key, sent together while the provider is slow, have one answer."""
    embedding.require(operation)
    replays.has_one_answer(
        embedding, embedding.envelope(operation, embedding.requests.distinct(operation), new_key(**new_tenant()))
    )


@pytest.mark.requirement("EMB-BATCH-12")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("position", [0, 1, 3])
@pytest.mark.parametrize("kind", FAILING)
def test_texts_after_a_failed_one_are_not_forgotten(embedding: Embedding, kind: str, position: int, way: str) -> None:
    """When one call of the provider fails, each text is embedded or reported, in its place, or the batch is refused."""
    fresh, texts, reply, struck = failing_batch(embedding, kind, position, way)
    if reply.is_error:
        raise NotApplicable("the batch is refused whole")
    found = placed(fresh, "EMB-BATCH-12", all_accounted_for(reply, texts), texts)
    each_its_own(fresh, found, texts, embedding.own_vectors(texts))
    failed = len(failures_of(reply.result))
    expect.that(failed <= struck, f"no more than {struck} failed texts", f"{failed}", "result")


@pytest.mark.requirement("EMB-BATCH-16")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", [kind.kind for kind in BY_KIND.values() if kind.canonical and kind.kind != "hang"])
def test_a_failed_text_has_the_class_of_its_failure(embedding: Embedding, kind: str, way: str) -> None:
    """A text that the provider refused is reported with the class that the failure has everywhere."""
    _, _, reply, _ = failing_batch(embedding, kind, 1, way)
    failures = failures_of(reply.result)
    if not failures:
        raise NotApplicable("no text is reported as failed")
    canonical = str(BY_KIND[kind].canonical)
    for failure in failures:
        name = class_of(failure)
        if name is None:
            raise Blocked("EMB-BATCH-11", "a failed text names no class")
        expect.that(TAXONOMY[name].family == canonical, canonical, name, "result.failed_texts.error")


@pytest.mark.requirement("EMB-BATCH-16")
@pytest.mark.parametrize("position", [0, 1, 3])
def test_a_failed_text_does_not_take_over_the_failure_of_the_batch(embedding: Embedding, position: int) -> None:
    """If the provider was unavailable for a batch and then filtered one text of it, a bad request is reported."""
    _, _, reply, _ = failing_batch(embedding, "content_filtered", position, "fallback", "unavailable")
    failures = failures_of(reply.result)
    if not failures:
        raise NotApplicable("no text is reported as failed")
    families = {family_of(failure) for failure in failures}
    expect.that("BadRequest" in families, "BadRequest among the failures", "none", "result.failed_texts.error")


@pytest.mark.requirement("EMB-BATCH-12")
def test_a_batch_falls_back_in_order(embedding: Embedding) -> None:
    """If a batch that the provider refuses is embedded text by text, each text keeps its place."""
    many = several(embedding, 5)
    embedding.faults.provider_op("embed_batch")
    fresh = embedding.fresh()
    texts = new_texts(embedding, arranged(embedding, "mixed", many))
    fresh.client.provider.clear()
    plan = fresh.client.provider.plan("invalid_request", "embedding.embed_batch", times=20)
    reply = fresh.batch(texts)
    fresh.client.provider.clear()
    if reply.is_error or not plan.fired:
        raise NotApplicable("a batch that the provider refuses is refused whole")
    found = placed(fresh, "EMB-BATCH-12", all_accounted_for(reply, texts), texts)
    each_its_own(fresh, found, texts, embedding.own_vectors(texts))


@pytest.mark.requirement("COM-IDEM-7")
@pytest.mark.parametrize("operation", ["embed", "embed_batch"])
def test_a_request_that_is_sent_twice_at_once_asks_the_provider_once(embedding: Embedding, operation: str) -> None:
    """Two calls of one request under one key, sent together, reach a slow provider once."""
    ctx = new_key(**new_tenant())
    replays.asks_once(embedding, embedding.envelope(operation, embedding.requests.distinct(operation), ctx))


@pytest.mark.requirement("COM-IDEM-5")
def test_a_request_that_failed_can_be_sent_again(embedding: Embedding) -> None:
    """Under the key of a text that the provider failed, the same text is embedded."""
    embedding.require("embed")
    fresh = embedding.fresh()
    replays.can_be_sent_again(fresh, "embed", fresh.requests.distinct("embed"))
