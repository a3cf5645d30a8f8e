"""Pairs of requests that need different answers, and providers that fail during a batch."""

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
from pytest_corpus.suites.shared.contexts import new_key, new_tenant

CACHED = {"normalize": "EMB-CACHE-3", "model": "EMB-CACHE-2", "truncate": "EMB-CACHE-4"}
"""The requirement that a cache breaks if it mixes up two requests, by the argument in which they differ.

EMB-CACHE-1 for every other argument.
"""

CACHES = ("EMB-CACHE-1", *CACHED.values())


def similar_texts(embedding: Embedding, operations: tuple[str, str], kind: str) -> tuple[str, str]:
    """A text that the first of two operations caches, and a new one that resembles it, if texts are long enough."""
    embedding.tells_apart()
    word = cached(embedding, ("a cached word", *operations), embedding.unique)
    if embedding.small:
        expect.applicable(kind in ("other", "letter_case"), f"texts of {embedding.limit} characters have no parts")
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
        "marks": f"{word} c\u00e1t ab c {middle}a {middle}b",
    }[kind]


def expect_provider_asked(embedding: Embedding, operation: str, reply: Reply | StreamReply) -> None:
    """A request that may not be answered from what the adapter keeps reaches the provider."""
    embedding.faults.provider_op(operation)
    embedding.tells_apart()
    expect.works(reply, "an embedding")
    asked = reply.exchange.observed.reached_provider
    expect.check(asked > 0, "the request's own answer", "an answer without the provider: another request's")


def is_shared_without_key(embedding: Embedding, operation: str) -> bool:
    """True if one tenant's answer is given to another one without an idempotency key too."""
    args = embedding.requests.distinct(operation)
    _, reply = (embedding.invoke(operation, args, new_tenant()) for _ in range(2))
    return not reply.is_error and not reply.exchange.observed.reached_provider


def uncached_instance(embedding: Embedding) -> Embedding:
    """Return another instance with an empty cache; or this one, if there is no other and it just asked the provider.

    Raises NotAssessed if the factory always gives the same one, and it may have answered from its cache.
    """
    embedding.tells_apart()
    fresh = embedding.fresh()
    if fresh.client is embedding.client:
        if embedding.client.part.exchanges and embedding.client.part.exchanges[-1].observed.reached_provider:
            return embedding
        raise NotAssessed(Obstacle.SAME_INSTANCE)
    return fresh


def expect_other_vector(embedding: Embedding, found: Vector, first: Vector, ask: Callable[[Embedding], Vector]) -> None:
    """A vector is not that of the first request; if it is the same, `ask` tells if it is its own all the same.

    Args:
        ask: asks an instance that has nothing in its cache for the true vector.
    """
    is_another = not embedding.same(found, first)
    if is_another:
        expect.check(is_another, "the vector of this request", "that of the one before")
    else:
        expect_own_vector(embedding, found, first, ask(uncached_instance(embedding)))


def expect_own_vector(embedding: Embedding, found: Vector, first: Vector, truth: Vector) -> None:
    """Go on only if a vector belongs to its own request, not to the first one."""
    expect.applicable(not embedding.same(first, truth), "the two requests have the same vector anyway")
    near = distance(found, first) < distance(found, truth)
    expect.check(not near or embedding.same(found, truth, 0.02), "the vector of this request", "that of the one before")


def rest_after_cut(embedding: Embedding, text: str) -> str:
    """The rest of a truncated text, as another instance reports it, or else its beginning."""
    fresh = embedding.fresh()
    if fresh.client is embedding.client:
        return text[: embedding.limited()]
    reply = fresh.embed(text, truncate=True)
    reported = reply.result.get("text") if isinstance(reply.result, dict) else None
    with expect.resting_on("EMB-TRUNC-1"):
        expect_cut(reply)
    most = embedding.limited() if embedding.counts_characters else len(text) - 1
    return reported if isinstance(reported, str) and 0 < len(reported) <= most else text[: embedding.limited()]


def expect_apart_under_key(
    embedding: Embedding, apart: Callable[[Embedding, str, Mapping[str, Any]], None], changed: str, found: str
) -> None:
    """Two requests under one idempotency key get different answers.

    Raises Blocked if they do not without a key either, which is a finding of the requirement `found`, NotAssessed if
    they do not, and no requirement explains it.
    """
    ctx = new_tenant()
    with expect.resting_on("COM-CTX-3"):
        expect.works(of_a_tenant(embedding), "an embedding for a tenant")
    try:
        apart(embedding, changed, new_key(**ctx))
    except Violation as under_a_key:
        try:
            apart(embedding, changed, ctx)
        except Violation as violation:
            mixed = embedding.capabilities.caches and "provider" in embedding.client.hooks and changed != "operation"
            if mixed or found not in CACHES:
                raise Blocked(found, f"without a key, too: {violation}", violation=violation) from None
            raise NotAssessed(Obstacle.WITHOUT_KEY_TOO, violation=violation) from None
        raise under_a_key from None


@remembered
def of_a_tenant(embedding: Embedding) -> Reply:
    """The answer to a plain request of a tenant."""
    return embedding.call("embed", embedding.requests.distinct("embed"), new_tenant())


def expect_requests_apart(embedding: Embedding, changed: str, ctx: Mapping[str, Any]) -> None:
    """Two requests with the same context that differ in one respect get different answers."""
    text = embedding.unique()
    one, other = embedding.requests.with_text("embed", text), changed_arguments(embedding, text, changed)
    if changed == "truncate":
        one = {**other, "truncate": True}
    alone = embedding.fresh().call("embed", other)
    expect.success(embedding.call("embed", one, ctx), "an embedding")
    if changed == "operation":
        expect_other_operations_apart(embedding, text, ctx)
        return
    reply = embedding.call("embed", other, ctx)
    expect.readable(reply)
    expect.check(reply.names == alone.names, f"{alone}, which the request gets alone", str(reply), on=[alone, reply])
    if reply.is_success:
        found, truth = vector_of(embedding.embedding(reply)) or [], vector_of(embedding.embedding(alone)) or []
        first = vector_of(embedding.embedding(embedding.call("embed", one))) or []
        if changed == "text" and isinstance(reported := reply.result.get("text"), str):
            expect.check(reported != text, "the text of this request", "that of the first one", "result.text")
        expect_own_vector(embedding, found, first, truth)


def expect_batches_apart(embedding: Embedding, changed: str, ctx: Mapping[str, Any]) -> None:
    """Two batches with the same context that differ in a text, the order or the number get different answers."""
    texts = arrange_texts(embedding, "plain", require_batch_size(embedding, 4))
    args = embedding.requests.minimal("embed_batch")
    others = {"a_text": [*texts[:-1], embedding.unique()], "the_order": texts[::-1], "the_number": texts[:-1]}[changed]
    expect.success(embedding.call("embed_batch", {**args, "texts": texts}, ctx), "a batch")
    reply = embedding.call("embed_batch", {**args, "texts": others}, ctx)
    found = embeddings_by_position(embedding, "COM-IDEM-1", reply, others)
    expect_own_vectors(embedding, found, others, embedding.own_vectors([*texts, *others]), reply)


def changed_arguments(embedding: Embedding, text: str, changed: str) -> dict[str, Any]:
    """The arguments of a request that differs in one respect from that for `text`, if the adapter offers it."""
    other: dict[str, Any] = {}
    if changed == "text":
        other = {"text": embedding.unique()}
    elif changed == "normalize":
        embedding.normalizes()
        other = {"normalize": True}
    elif changed == "truncate":
        require_truncation(embedding)
        other = {"text": embedding.text_of(embedding.beyond(3)), "truncate": False}
    elif changed == "model":
        models = embedding.able_to("embed")
        expect.applicable(len(models) >= 2, "fewer than two models are listed")
        other = {"model": models[1]}
    return {**embedding.requests.with_text("embed", text), **other}


def expect_other_operations_apart(embedding: Embedding, text: str, ctx: Mapping[str, Any]) -> None:
    """Other operations under the key of an `embed` give the same answer as without it."""
    if embedding.works("count_tokens"):
        counted = embedding.requests.with_text("count_tokens", text)
        alone = embedding.tokens_of(expect.success(embedding.call("count_tokens", counted), "a token count"))
        keyed = expect.success(embedding.call("count_tokens", counted, ctx), "a token count")
        expect.check(embedding.tokens_of(keyed) == alone, "the count of the text", "another count, or no count")
    if embedding.works("embed_batch"):
        reply = embedding.call("embed_batch", embedding.requests.with_text("embed_batch", text), ctx)
        result = expect.success(reply, "a batch")
        listed = isinstance(result, dict) and ("embeddings" in result or "results" in result)
        expect.check(listed, "the result of a batch", "another result than the batch gets alone", "result")


def request_to_replay(embedding: Embedding, what: str) -> tuple[str, dict[str, Any]]:
    """An operation and its arguments, to be sent twice."""
    long = embedding.text_of(embedding.beyond(11)) if what in ("truncated", "failures") else ""
    if what in ("batch", "failures"):
        texts = arrange_texts(embedding, "plain", require_batch_size(embedding, 3, least=2 if long else 1))
        changed: dict[str, Any] = {"texts": [long, *texts[1:]], "truncate": False} if long else {"texts": texts}
        return "embed_batch", {**embedding.requests.minimal("embed_batch"), **changed}
    if what == "normalized":
        embedding.normalizes()
    elif what == "truncated":
        require_truncation(embedding)
    options = {"normalize": True} if what == "normalized" else {}
    return "embed", embedding.requests.with_text("embed", long or embedding.unique(), **options)


def failing_batch(
    embedding: Embedding, kind: str, position: int, way: str, before: str = ""
) -> tuple[Embedding, list[str], Reply, int]:
    """Send a batch to a new instance while calls of its provider fail.

    If the adapter asks the provider text by text, one of these calls fails. On the way `fallback` the call for the
    whole batch fails first, in the same way or in that of `before`.

    Returns:
        the instance, the texts, the answer and the number of texts that may fail: of a call for several, all.
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
    expect.applicable(plans[-1].fired, "a batch is embedded with fewer calls of the provider")
    is_single = "embedding.embed" in provider.arrivals[begun + position + len(plans) - 1 :][:1]
    return fresh, texts, reply, len(plans) if is_single else len(texts)


def batch_with_fallback(
    embedding: Embedding, kind: str, *, times: int, **options: Any
) -> tuple[Embedding, list[str], Reply]:
    """Send a batch to a new instance whose provider fails the given number of calls for whole batches.

    Returns:
        the instance, the texts and the answer.

    Raises:
        NotApplicable: the batch is refused, or its texts are never embedded as a whole.
    """
    many = require_batch_size(embedding, 5)
    embedding.faults.provider_op("embed_batch")
    fresh = embedding.fresh()
    texts = new_texts(embedding, arrange_texts(embedding, "mixed", many))
    fresh.client.provider.clear()
    plan = fresh.client.provider.plan(kind, "embedding.embed_batch", times=times)
    reply = fresh.batch(texts, **options)
    fresh.client.provider.clear()
    expect.applicable(plan.fired and not reply.is_error, "a batch that the provider refuses is refused whole")
    return fresh, texts, reply


@remembered
def fallen_back_in_context(embedding: Embedding) -> tuple[dict[str, Any], Reply]:
    """A context with a trace and a deadline, and the answer to a batch that the provider refuses as a whole."""
    many = require_batch_size(embedding, 3)
    embedding.faults.provider_op("embed_batch")
    fresh = embedding.fresh()
    ctx = {"traceparent": new_trace(), "deadline_ms": deadline_in(HOUR_MS)}
    args = {**fresh.requests.minimal("embed_batch"), "texts": [fresh.unique() for _ in range(many)]}
    plan = fresh.client.provider.plan("invalid_request", "embedding.embed_batch", times=1)
    reply = fresh.call("embed_batch", args, ctx)
    fresh.client.provider.clear()
    expect.applicable(plan.fired and not reply.is_error, "a batch that the provider refuses is refused whole")
    return ctx, reply


def new_texts(embedding: Embedding, texts: list[str]) -> list[str]:
    """Texts that no cache of a new instance holds; one that runs elsewhere keeps the cache of the instance before."""
    if embedding.client.remote is None or embedding.small:
        return texts
    return [embedding.fit(f"{embedding.unique()} {text}") for text in texts]


def reported_failures(reply: Reply) -> list[Mapping[str, Any]]:
    """The failed texts of a batch. Raises NotApplicable if there are none."""
    if failures := failures_of(reply.result):
        return failures
    raise NotApplicable("no text is reported as failed")


def expect_every_text(reply: Reply, texts: list[str]) -> Reply:
    """Return the reply if it embeds or reports every text: a silent loss is a finding of the test."""
    reported = len(failures_of(reply.result)) + len(embeddings_of(reply.result))
    expect.check(reported == len(texts), f"{len(texts)} texts embedded or reported", f"{reported} of them", "result")
    return reply
