"""Pairs of requests that need different answers, and batches whose provider fails."""

from collections.abc import Callable, Mapping
from typing import Any

from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import cached, remembered
from pytest_corpus.kit.outcomes import Blocked, NotApplicable, NotAssessed, Violation
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.kit.requests import HOUR_MS, deadline_in, new_trace
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.suites.embedding.support.answers import Vector, distance, embeddings_of, failures_of, vector_of
from pytest_corpus.suites.embedding.support.component import Embedding
from pytest_corpus.suites.embedding.support.scenarios.batches import (
    arrange_texts,
    embeddings_by_position,
    expect_own_vectors,
    require_batch_size,
)
from pytest_corpus.suites.embedding.support.scenarios.truncation import expect_cut, require_truncation
from pytest_corpus.suites.embedding.support.texts import FILLER
from pytest_corpus.suites.shared.contexts import new_key_context, new_tenant_context

CACHED = {"normalize": "EMB-CACHE-3", "model": "EMB-CACHE-2", "truncate": "EMB-CACHE-4"}
"""Maps an argument to the requirement that a cache violates if it ignores the argument; for others EMB-CACHE-1."""

CACHES = ("EMB-CACHE-1", *CACHED.values())


def similar_texts(embedding: Embedding, operations: tuple[str, str], kind: str) -> tuple[str, str]:
    """Return a text that the first operation caches, and a new text that resembles it; `kind` names the resemblance."""
    embedding.require_new_texts()
    word = cached(embedding, ("a cached word", *operations), embedding.unique)
    if embedding.has_small_limit:
        expect.applicable(
            kind in ("other", "letter_case"), f"a text of {embedding.limit} characters is too short to be divided"
        )
        return word, embedding.unique() if kind == "other" else word.swapcase()
    middle = FILLER[:40]
    text = f"{word} cat ab c {middle}a {middle}b"
    if kind == "normal_form":
        return f"{word} caf\u00e9 ab", f"{word} cafe\u0301 ab"
    return text, {
        "other": embedding.unique(),
        "shorter": text[:-2],
        "far_end": f"{text[:-1]}c",
        "far_middle": f"{word} cat ab c {middle}b {middle}b",
        "order": f"cat {word} ab c {middle}a {middle}b",
        "joined": f"{word} cat a bc {middle}a {middle}b",
        "letter_case": text.swapcase(),
        "spaces": f" {text.replace(' ', '  ')} ",
        "trailing_blank": f"{text} ",
        "marks": f"{word} c\u00e1t ab c {middle}a {middle}b",
    }[kind]


def expect_provider_asked(embedding: Embedding, operation: str, reply: Reply | StreamReply) -> None:
    """Check that a request reaches the provider, because no cached answer may serve it."""
    embedding.faults.provider_op(operation)
    embedding.require_new_texts()
    expect.works(reply, "an embedding")
    asked = reply.exchange.observed.reached_provider
    expect.check(asked > 0, "the request's own answer", "an answer to another request, and no call of the provider")


def is_shared_without_key(embedding: Embedding, operation: str) -> bool:
    """True if a request without an idempotency key gets the cached answer of another tenant."""
    args = embedding.requests.distinct(operation)
    _, reply = (embedding.invoke(operation, args, new_tenant_context()) for _ in range(2))
    return not reply.is_error and not reply.exchange.observed.reached_provider


def uncached_instance(embedding: Embedding) -> Embedding:
    """Return an instance that uses no cached answer: a new one, or this one if its last call reached the provider.

    Raises:
        NotAssessed: the factory creates no new instance, and this instance may have answered from its cache.
    """
    embedding.require_new_texts()
    fresh = embedding.fresh()
    if fresh.client is embedding.client:
        if embedding.client.part.exchanges and embedding.client.part.exchanges[-1].observed.reached_provider:
            return embedding
        raise NotAssessed(Obstacle.SAME_INSTANCE)
    return fresh


def expect_other_vector(embedding: Embedding, found: Vector, first: Vector, ask: Callable[[Embedding], Vector]) -> None:
    """Check that a vector differs from the vector of the first request, unless both requests have the same vector.

    Args:
        ask: asks an instance with an empty cache for the correct vector.
    """
    is_another = not embedding.are_same(found, first)
    if is_another:
        expect.check(is_another, "the vector of this request", "the vector of the previous request")
    else:
        expect_own_vector(embedding, found, first, ask(uncached_instance(embedding)))


def expect_own_vector(embedding: Embedding, found: Vector, first: Vector, truth: Vector) -> None:
    """Check that a vector is close to the correct one, `truth`, and not to the vector of the first request."""
    expect.applicable(not embedding.are_same(first, truth), "the correct vectors of the two requests are equal")
    near = distance(found, first) < distance(found, truth)
    expect.check(
        not near or embedding.are_same(found, truth, 0.02),
        "the vector of this request",
        "the vector of the previous request",
    )


def text_after_truncation(embedding: Embedding, text: str) -> str:
    """Return the part of a text that another instance keeps in a truncation; the beginning if this part is unknown."""
    fresh = embedding.fresh()
    if fresh.client is embedding.client:
        return text[: embedding.stated_limit()]
    reply = fresh.embed(text, truncate=True)
    reported = reply.result.get("text") if isinstance(reply.result, dict) else None
    with expect.resting_on("EMB-TRUNC-1"):
        expect_cut(reply)
    most = embedding.stated_limit() if embedding.counts_characters else len(text) - 1
    return reported if isinstance(reported, str) and 0 < len(reported) <= most else text[: embedding.stated_limit()]


def expect_different_answers_under_key(
    embedding: Embedding, compare: Callable[[Embedding, str, Mapping[str, Any]], None], changed: str, found: str
) -> None:
    """Check that two requests with one idempotency key get different answers.

    Args:
        compare: checks that two requests in a context get different answers.
        changed: the difference between the requests.
        found: the requirement that two equal answers violate if the requests have no key.

    Raises:
        Blocked: the answers are also the same without a key, which violates `found`.
        NotAssessed: the answers are also the same without a key, and no requirement forbids this.
    """
    ctx = new_tenant_context()
    with expect.resting_on("COM-CTX-3"):
        expect.works(call_as_tenant(embedding), "an embedding for a tenant")
    try:
        compare(embedding, changed, new_key_context(**ctx))
    except Violation as under_a_key:
        try:
            compare(embedding, changed, ctx)
        except Violation as violation:
            mixed = (
                embedding.capabilities.claims_caching
                and "provider" in embedding.client.hooks
                and changed != "operation"
            )
            if mixed or found not in CACHES:
                raise Blocked(
                    found, f"the same happens without an idempotency key: {violation}", violation=violation
                ) from None
            raise NotAssessed(Obstacle.WITHOUT_KEY_TOO, violation=violation) from None
        raise under_a_key from None


@remembered
def call_as_tenant(embedding: Embedding) -> Reply:
    """Send a plain request as a tenant."""
    return embedding.call("embed", embedding.requests.distinct("embed"), new_tenant_context())


def expect_different_answers(embedding: Embedding, changed: str, ctx: Mapping[str, Any]) -> None:
    """Check that two requests in one context get different answers if they differ in one respect, `changed`."""
    text = embedding.unique()
    one, other = embedding.requests.with_text("embed", text), changed_arguments(embedding, text, changed)
    if changed == "truncate":
        one = {**other, "truncate": True}
    alone = embedding.fresh().call("embed", other)
    expect.success(embedding.call("embed", one, ctx), "an embedding")
    if changed == "operation":
        expect_usual_answers_of_other_operations(embedding, text, ctx)
        return
    reply = embedding.call("embed", other, ctx)
    expect.readable(reply)
    expect.check(
        reply.names == alone.names,
        f"{alone}, the same as if only this request were sent",
        str(reply),
        on=[alone, reply],
    )
    if reply.is_success:
        found, truth = vector_of(embedding.embedding(reply)) or [], vector_of(embedding.embedding(alone)) or []
        first = vector_of(embedding.embedding(embedding.call("embed", one))) or []
        if changed == "text" and isinstance(reported := reply.result.get("text"), str):
            expect.check(reported != text, "the text of this request", "the text of the first request", "result.text")
        expect_own_vector(embedding, found, first, truth)


def expect_different_batch_answers(embedding: Embedding, changed: str, ctx: Mapping[str, Any]) -> None:
    """Check that two batches in one context get different answers if they differ in a text, the order or the size."""
    texts = arrange_texts(embedding, "plain", require_batch_size(embedding, 4))
    args = embedding.requests.minimal("embed_batch")
    others = {"a_text": [*texts[:-1], embedding.unique()], "the_order": texts[::-1], "the_number": texts[:-1]}[changed]
    expect.success(embedding.call("embed_batch", {**args, "texts": texts}, ctx), "a batch")
    reply = embedding.call("embed_batch", {**args, "texts": others}, ctx)
    found = embeddings_by_position(embedding, "COM-IDEM-1", reply, others)
    expect_own_vectors(embedding, found, others, embedding.embed_one_by_one([*texts, *others]), reply)


def changed_arguments(embedding: Embedding, text: str, changed: str) -> dict[str, Any]:
    """Return the arguments of a request that differs from the plain request in one respect, `changed`."""
    other: dict[str, Any] = {}
    if changed == "text":
        other = {"text": embedding.unique()}
    elif changed == "normalize":
        embedding.require_normalization()
        other = {"normalize": True}
    elif changed == "truncate":
        require_truncation(embedding)
        other = {"text": embedding.text_of(embedding.length_above_limit(3)), "truncate": False}
    elif changed == "model":
        models = embedding.models_able_to("embed")
        expect.applicable(len(models) >= 2, "fewer than two models are listed")
        other = {"model": models[1]}
    return {**embedding.requests.with_text("embed", text), **other}


def expect_usual_answers_of_other_operations(embedding: Embedding, text: str, ctx: Mapping[str, Any]) -> None:
    """Check that other operations get their usual answers in `ctx`, whose idempotency key an `embed` has used."""
    if embedding.works("count_tokens"):
        counted = embedding.requests.with_text("count_tokens", text)
        alone = embedding.tokens_of(expect.success(embedding.call("count_tokens", counted), "a token count"))
        keyed = expect.success(embedding.call("count_tokens", counted, ctx), "a token count")
        expect.check(embedding.tokens_of(keyed) == alone, "the count of the text", "another count, or no count")
    if embedding.works("embed_batch"):
        reply = embedding.call("embed_batch", embedding.requests.with_text("embed_batch", text), ctx)
        result = expect.success(reply, "a batch")
        listed = isinstance(result, dict) and ("embeddings" in result or "results" in result)
        expect.check(listed, "the result of a batch", "a result without a list of embeddings", "result")


def request_to_replay(embedding: Embedding, what: str) -> tuple[str, dict[str, Any]]:
    """Return an operation and its arguments, for a request that is sent twice."""
    long = embedding.text_of(embedding.length_above_limit(11)) if what in ("truncated", "failures") else ""
    if what in ("batch", "failures"):
        texts = arrange_texts(embedding, "plain", require_batch_size(embedding, 3, least=2 if long else 1))
        changed: dict[str, Any] = {"texts": [long, *texts[1:]], "truncate": False} if long else {"texts": texts}
        return "embed_batch", {**embedding.requests.minimal("embed_batch"), **changed}
    if what == "normalized":
        embedding.require_normalization()
    elif what == "truncated":
        require_truncation(embedding)
    options = {"normalize": True} if what == "normalized" else {}
    return "embed", embedding.requests.with_text("embed", long or embedding.unique(), **options)


def failing_batch(
    embedding: Embedding, kind: str, position: int, way: str, before: str = ""
) -> tuple[Embedding, list[str], Reply, int]:
    """Send a batch to a new instance while one call of its provider fails.

    If `way` is `fallback`, two calls fail: first the call for the whole batch, with the fault `before` (by default
    `kind`), then a call for a single text.

    Returns:
        the instance, the texts, the answer, and the number of texts that may fail (all texts if one call has several).
    """
    texts = new_texts(embedding, arrange_texts(embedding, "plain", require_batch_size(embedding, 5)))
    embedding.faults.provider_op("embed_batch")
    fresh = embedding.fresh()
    provider = fresh.client.provider
    provider.clear()
    plans = [provider.plan(before or kind, times=1)] if way == "fallback" else []
    if position:
        provider.plan("slow", times=position)
    plans.append(provider.plan(kind, times=1))
    begun = len(provider.arrivals)
    reply = fresh.batch(texts)
    expect.readable(reply)
    provider.clear()
    expect.applicable(plans[-1].fired, "a batch needs fewer calls of the provider than the test expects")
    is_single = "embedding.embed" in provider.arrivals[begun + position + len(plans) - 1 :][:1]
    return fresh, texts, reply, len(plans) if is_single else len(texts)


def batch_with_fallback(
    embedding: Embedding, kind: str, *, times: int, **options: Any
) -> tuple[Embedding, list[str], Reply]:
    """Send a batch to a new instance whose provider fails the first calls for whole batches.

    Returns:
        the instance, the texts and the answer.

    Raises:
        NotApplicable: the batch is refused, or the adapter never sends all texts in one call.
    """
    many = require_batch_size(embedding, 5)
    embedding.faults.provider_op("embed_batch")
    fresh = embedding.fresh()
    texts = new_texts(embedding, arrange_texts(embedding, "mixed", many))
    fresh.client.provider.clear()
    plan = fresh.client.provider.plan(kind, "embedding.embed_batch", times=times)
    reply = fresh.batch(texts, **options)
    fresh.client.provider.clear()
    expect.applicable(
        plan.fired and not reply.is_error, "if the provider refuses a batch, the adapter refuses the whole batch"
    )
    return fresh, texts, reply


@remembered
def send_fallback_batch(embedding: Embedding) -> tuple[dict[str, Any], Reply]:
    """Send a batch in a new context while the provider refuses whole batches; return the context and the answer."""
    many = require_batch_size(embedding, 3)
    embedding.faults.provider_op("embed_batch")
    fresh = embedding.fresh()
    ctx = {"traceparent": new_trace(), "deadline_ms": deadline_in(HOUR_MS)}
    args = {**fresh.requests.minimal("embed_batch"), "texts": [fresh.unique() for _ in range(many)]}
    plan = fresh.client.provider.plan("invalid_request", "embedding.embed_batch", times=1)
    reply = fresh.call("embed_batch", args, ctx)
    fresh.client.provider.clear()
    expect.applicable(
        plan.fired and not reply.is_error, "if the provider refuses a batch, the adapter refuses the whole batch"
    )
    return ctx, reply


def new_texts(embedding: Embedding, texts: list[str]) -> list[str]:
    """Return texts that are in no cache. A remote adapter keeps its cache, so there each text gets a new first word."""
    if embedding.client.remote is None or embedding.has_small_limit:
        return texts
    return [embedding.cut_to_limit(f"{embedding.unique()} {text}") for text in texts]


def reported_failures(reply: Reply) -> list[Mapping[str, Any]]:
    """Return the failed texts of a batch. Raises NotApplicable if there are none."""
    if failures := failures_of(reply.result):
        return failures
    raise NotApplicable("no text is reported as failed")


def expect_every_text(reply: Reply, texts: list[str]) -> Reply:
    """Check that a batch embeds or reports every text, and return the reply."""
    reported = len(failures_of(reply.result)) + len(embeddings_of(reply.result))
    expect.check(
        reported == len(texts),
        f"each of {len(texts)} texts to be embedded or reported as failed",
        f"{reported} texts",
        "result",
    )
    return reply
