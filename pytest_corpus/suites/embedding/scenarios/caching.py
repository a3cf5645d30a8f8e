"""Requests of which one must not be answered as another was, and providers that fail on the way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pytest_corpus.kit import expect
from pytest_corpus.kit.outcomes import Blocked, NotApplicable, NotAssessed, Violation
from pytest_corpus.kit.reply import Reply
from pytest_corpus.suites.common.claims.context import works
from pytest_corpus.suites.common.contexts import new_tenant
from pytest_corpus.suites.embedding.scenarios.batches import arranged, each_its_own, placed, several
from pytest_corpus.suites.embedding.scenarios.truncation import cut, truncates
from pytest_corpus.suites.embedding.subject.answers import embeddings_of, failures_of
from pytest_corpus.suites.embedding.subject.component import Embedding
from pytest_corpus.suites.embedding.subject.vectors import Vector, distance, vector_of

CACHED = {"normalize": "EMB-CACHE-3", "model": "EMB-CACHE-2", "truncate": "EMB-CACHE-4"}
"""By what two requests differ in: the requirement that a cache breaks which mixes them up; else EMB-CACHE-1."""


CACHES = ("EMB-CACHE-1", *CACHED.values())


def asks_anew(
    embedding: Embedding,
    operation: str,
    first: Mapping[str, Any],
    second: Mapping[str, Any],
    *contexts: Mapping[str, Any],
    first_operation: str = "",
) -> None:
    """The second of two requests reaches the provider although the first was answered before."""
    embedding.faults.provider_op(operation)
    embedding.tells_apart()
    first_ctx, second_ctx = contexts or ({}, {})
    works(embedding.invoke(first_operation or operation, first, first_ctx), "an embedding")
    reply = embedding.invoke(operation, second, second_ctx)
    works(reply, "an embedding")
    asked = reply.exchange.reached_provider
    expect.that(asked > 0, "the request's own answer", "an answer without the provider: another request's")


def untouched(embedding: Embedding) -> Embedding:
    """Another instance, whose cache is empty; this one, where there is no other and it asked the provider just now.

    Raises:
        NotAssessed: the factory always gives the same one, and it may have answered from its cache.
    """
    embedding.tells_apart()
    fresh = embedding.fresh()
    if fresh.client is embedding.client:
        if embedding.client.exchanges and embedding.client.exchanges[-1].reached_provider:
            return embedding
        raise NotAssessed("the factory gives the same instance again, so the cache cannot be avoided")
    return fresh


def not_taken(embedding: Embedding, found: Vector, first: Vector, truth: Vector) -> None:
    """A vector is that of its own request, and not that of the first one."""
    if embedding.same(first, truth):
        raise NotApplicable("the two requests have the same vector anyway")
    near = distance(found, first) < distance(found, truth)
    expect.that(not near or embedding.same(found, truth, 0.02), "the vector of this request", "that of the one before")


def left_of(embedding: Embedding, text: str) -> str:
    """What is left of a truncated text, as another instance says, or else its beginning."""
    fresh = embedding.fresh()
    if fresh.client is embedding.client:
        return text[: embedding.limited()]
    reply = fresh.embed(text, truncate=True)
    reported = reply.result.get("text") if isinstance(reply.result, dict) else None
    with expect.resting_on("EMB-TRUNC-1"):
        cut(reply)
    most = embedding.limited() if embedding.counts_characters else len(text) - 1
    within = isinstance(reported, str) and 0 < len(reported) <= most
    return reported if within and isinstance(reported, str) else text[: embedding.limited()]


def unless_without_a_key(
    embedding: Embedding, apart: Callable[[Embedding, str, Mapping[str, Any]], None], changed: str, found: str
) -> None:
    """Go on only where two requests are kept apart that come without an idempotency key.

    Raises:
        Undecided: they are not, which is a finding of its own where a cache is claimed, or of a batch.
    """
    ctx = new_tenant()
    with expect.resting_on("COM-CTX-3"):
        works(embedding.call("embed", embedding.requests.distinct("embed"), ctx), "an embedding for a tenant")
    try:
        apart(embedding, changed, ctx)
    except Violation as violation:
        mixed = embedding.capabilities.caches and "provider" in embedding.client.hooks and changed != "operation"
        if mixed or found not in CACHES:
            raise Blocked(found, f"without a key, too: {violation}", violation=violation) from None
        raise NotAssessed(f"without a key, too: {violation}") from None


def requests_apart(embedding: Embedding, changed: str, ctx: Mapping[str, Any]) -> None:
    """Two requests with the same context, which differ in one respect, get each its own answer."""
    text = embedding.unique()
    one, other = embedding.requests.with_text("embed", text), changed_from(embedding, text, changed)
    alone = embedding.fresh().call("embed", other)
    expect.success(embedding.call("embed", one, ctx), "an embedding")
    if changed == "operation":
        other_operations(embedding, text, ctx)
        return
    reply = embedding.call("embed", other, ctx)
    expect.readable(reply)
    expect.that(reply.names == alone.names, "the answer that the request gets alone", str(reply))
    if reply.is_success:
        found, truth = vector_of(embedding.embedding(reply)) or [], vector_of(embedding.embedding(alone)) or []
        first = vector_of(embedding.embedding(embedding.call("embed", one))) or []
        if changed == "text" and isinstance(reported := reply.result.get("text"), str):
            expect.that(reported != text, "the text of this request", "that of the first one", "result.text")
        not_taken(embedding, found, first, truth)


def batches_apart(embedding: Embedding, changed: str, ctx: Mapping[str, Any]) -> None:
    """Two batches with the same context, which differ in a text, the order or the number, get each its own answer."""
    texts = arranged(embedding, "plain", several(embedding, 4))
    args = embedding.requests.minimal("embed_batch")
    others = {
        "a_text": [*texts[:-1], embedding.unique()],
        "the_order": texts[::-1],
        "the_number": texts[:-1],
    }[changed]
    expect.success(embedding.call("embed_batch", {**args, "texts": texts}, ctx), "a batch")
    reply = embedding.call("embed_batch", {**args, "texts": others}, ctx)
    found = placed(embedding, "COM-IDEM-1", reply, others)
    each_its_own(embedding, found, others, embedding.own_vectors([*texts, *others]))


def changed_from(embedding: Embedding, text: str, changed: str) -> dict[str, Any]:
    """The arguments of a request that differs from that for `text` in one respect.

    Raises:
        NotApplicable: the adapter does not offer it.
    """
    args = embedding.requests.with_text("embed", text)
    if changed == "text":
        return {**args, "text": embedding.unique()}
    if changed == "normalize":
        embedding.normalizes()
        return {**args, "normalize": True}
    if changed == "truncate":
        return {**args, "text": embedding.text_of(embedding.beyond(3)), "truncate": False}
    if changed == "model":
        models = embedding.able()
        if len(models) < 2:
            raise NotApplicable("fewer than two models are listed")
        return {**args, "model": models[1]}
    return args


def other_operations(embedding: Embedding, text: str, ctx: Mapping[str, Any]) -> None:
    """Other operations under the key of an `embed` answer as they do without it."""
    if embedding.works("count_tokens"):
        counted = embedding.requests.with_text("count_tokens", text)
        alone = embedding.tokens_of(expect.success(embedding.call("count_tokens", counted), "a token count"))
        keyed = expect.success(embedding.call("count_tokens", counted, ctx), "a token count")
        expect.that(embedding.tokens_of(keyed) == alone, "the count of the text", "another answer")
    if embedding.works("embed_batch"):
        reply = embedding.call("embed_batch", embedding.requests.with_text("embed_batch", text), ctx)
        result = expect.success(reply, "a batch")
        listed = isinstance(result, dict) and ("embeddings" in result or "results" in result)
        expect.that(listed, "the result of a batch", "another result", "result")


def replayed(embedding: Embedding, what: str) -> tuple[str, dict[str, Any]]:
    """An operation and its arguments."""
    if what == "batch":
        return "embed_batch", {
            **embedding.requests.minimal("embed_batch"),
            "texts": arranged(embedding, "plain", several(embedding, 3, least=1)),
        }
    if what == "failures":
        texts = arranged(embedding, "plain", several(embedding, 3))
        texts[0] = embedding.text_of(embedding.beyond(11))
        return "embed_batch", {**embedding.requests.minimal("embed_batch"), "texts": texts, "truncate": False}
    if what == "normalized":
        embedding.normalizes()
        return "embed", embedding.requests.with_text("embed", embedding.unique(), normalize=True)
    if what == "truncated":
        truncates(embedding)
        return "embed", embedding.requests.with_text("embed", embedding.text_of(embedding.beyond(11)))
    return "embed", embedding.requests.with_text("embed", embedding.unique())


def failing_batch(
    embedding: Embedding, kind: str, position: int, way: str, before: str = ""
) -> tuple[Embedding, list[str], Reply, int]:
    """A batch during which calls of the provider fail, of an instance that was not asked before, and how many fail.

    Where an adapter asks the provider text by text, one of these calls fails; where it falls back to that, the call
    for the whole batch fails before, in the same way or in that of `before`.
    """
    texts = never_sent(embedding, arranged(embedding, "plain", several(embedding, 5)))
    embedding.faults.provider_op("embed_batch")
    fresh = embedding.fresh()
    provider = fresh.client.provider
    provider.clear()
    plans = [provider.plan(before or kind, times=1)] if way == "fallback" else []
    if position:
        provider.plan("slow", times=position)
    plans.append(provider.plan(kind, times=1))
    reply = fresh.batch(texts)
    expect.readable(reply)
    provider.clear()
    if not plans[-1].fired:
        raise NotApplicable("a batch is embedded with fewer calls of the provider")
    return fresh, texts, reply, len(plans)


def never_sent(embedding: Embedding, texts: list[str]) -> list[str]:
    """Texts that a fresh instance has in no cache; one that runs elsewhere is not fresh, and knows those of before."""
    if embedding.client.remote is None or embedding.small:
        return texts
    return [embedding.fit(f"{embedding.unique()} {text}") for text in texts]


def told_of(reply: Reply, texts: list[str]) -> Reply:
    """A reply of which each text must be told: a silent loss is the finding of the test at hand."""
    reported = len(failures_of(reply.result)) + len(embeddings_of(reply.result))
    expect.that(reported == len(texts), f"{len(texts)} texts embedded or reported", f"{reported} of them", "result")
    return reply
