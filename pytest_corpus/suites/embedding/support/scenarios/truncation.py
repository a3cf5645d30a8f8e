"""Texts around the stated limit, and truncated texts (BEHAVIORAL_CONFORMANCE 6.4)."""

from typing import Any

from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import remembered
from pytest_corpus.kit.outcomes import Blocked, NotApplicable
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.suites.embedding.support.answers import embeddings_of, failures_of, normal_text, texts_of
from pytest_corpus.suites.embedding.support.component import Embedding
from pytest_corpus.suites.embedding.support.scenarios.batches import class_of
from pytest_corpus.suites.embedding.support.texts import OTHER

BEYOND = {"one_more": (1, 1), "a_word_more": (1, 9), "twice": (2, 0), "many_times": (6, 11)}
"""The lengths of texts that are too long: a factor for the limit, and the number of characters to add."""

CUT = {"embed": "EMB-TRUNC-1", "embed_batch": "EMB-TRUNC-8", "stream_embed": "EMB-TRUNC-11"}
"""For each operation, the requirement that it truncates a text that is too long."""

DENIED = ("TextTooLong", "NotSupported")
"""The error classes for a text that is too long, if truncation is not offered (R29)."""


@remembered
def too_long_text(embedding: Embedding, how: str) -> str:
    """Return a text that exceeds the stated limit; the text stays the same throughout the run."""
    times, more = BEYOND[how]
    length = max(embedding.stated_limit() * times + more, embedding.length_above_limit(more))
    return embedding.text_of(length)


@remembered
def text_within_limit(embedding: Embedding, how: str) -> str:
    """Return a text that does not exceed the stated limit; the text stays the same throughout the run."""
    limit = embedding.stated_limit()
    lengths = {"the_limit": limit, "one_less": limit - 1, "half": limit // 2, "short": min(limit, 3)}
    return embedding.text_of(max(1, lengths[how]))


def require_truncation(embedding: Embedding) -> None:
    """Raise NotApplicable if truncation is denied, or if capabilities do not mention it and the adapter refuses it."""
    embedding.require("embed")
    flag = embedding.capabilities.flag("supports_truncation")
    if flag is False or (flag is None and embedding.embed_once(too_long_text(embedding, "one_more")).is_a(*DENIED)):
        raise NotApplicable("truncation is not offered")


def truncation_options(embedding: Embedding, how: str = "one_more") -> list[dict[str, Any]]:
    """Return options to combine with truncation: each listed model, and normalization if it is claimed."""
    models = embedding.models_able_to("embed")
    if how != "one_more":
        return [{"model": models[0]}]
    normalized = [{"normalize": True}] if embedding.capabilities.flag("supports_normalization") else []
    return [*({"model": model} for model in models), *normalized]


def require_refusal_by_embed(embedding: Embedding, text: str, how: str) -> None:
    """Check that `embed` refuses a text with one character too many."""
    if how == "one_more":
        with expect.resting_on("EMB-TRUNC-3"):
            reply = embedding.embed_once(text, truncate=False)
            expect.check(
                not reply.is_success, "a refusal of a text that is one character longer than the limit", str(reply)
            )


def truncated_flag(reply: Reply) -> Any:
    """Return the `truncated` of a result."""
    return reply.result.get("truncated") if isinstance(reply.result, dict) else None


def expect_cut(reply: Reply) -> None:
    """Check that a text was truncated, and that the result reports this."""
    expect.success(reply, "a text beyond the limit to be truncated and embedded")
    said = truncated_flag(reply)
    expect.check(said is True, "true", found=said, path="result.truncated")


def expect_whole(reply: Reply, text: str) -> None:
    """Check that a text was embedded, and that the result does not report a truncation."""
    result = expect.success(reply, "a text within the limit to be embedded")
    expect.check(truncated_flag(reply) is not True, "false, or nothing", "true", "result.truncated")
    shown = result.get("text") if isinstance(result, dict) else None
    shorter = (
        isinstance(shown, str)
        and len(normal_text(shown)) < len(normal_text(text))
        and normal_text(shown) in normal_text(text)
    )
    expect.check(not shorter, "the whole text", "a part of the text", "result.text")


def has_embedding(reply: Reply | StreamReply) -> bool:
    """True if the answer for one text has an embedding."""
    if isinstance(reply, StreamReply):
        return reply.is_finished
    return reply.is_success and bool(embeddings_of(reply.result)) and not failures_of(reply.result)


def possible_parts(embedding: Embedding, text: str, reply: Reply) -> list[str]:
    """Return the parts of a truncated text that may be left: the reported part; if none is reported, both ends.

    Raises:
        NotApplicable: the remaining part is not reported, and the limit does not count characters.
    """
    limit = embedding.stated_limit()
    most = limit if embedding.counts_characters else len(text)
    shown = [part for part in texts_of(reply) if part and len(part) < len(text) and len(part) <= most]
    if not shown and not embedding.counts_characters:
        raise NotApplicable("the answer contains no text, and the limit does not count characters")
    return list(dict.fromkeys(shown)) or [text[:limit], text[-limit:]]


def cut_vector(embedding: Embedding, text: str, reply: Reply, **changed: Any) -> list[float]:
    """Return the vector in an answer of `embed`; a text that is too long must be truncated."""
    if len(text) >= embedding.length_above_limit():
        with expect.resting_on("EMB-TRUNC-1"):
            expect_cut(reply)
    return embedding.vector_in(reply, "embed", text, truncate=True, **changed)


def ignores_one_end(embedding: Embedding, text: str, found: list[float], left: list[str], **changed: Any) -> bool:
    """True if the answer does not report the remaining part, and one end of the text has no influence on the vector."""
    if left != [text[: embedding.stated_limit()], text[-embedding.stated_limit() :]]:
        return False
    beyond = len(text) - embedding.stated_limit()
    noise = (OTHER * (beyond // len(OTHER) + 1))[: beyond - 1] + "x"
    for other in (text[:-beyond] + noise, noise + text[beyond:]):
        reply = embedding.embed(other, truncate=True, **changed)
        if embedding.are_same(found, cut_vector(embedding, other, reply, **changed)):
            return True
    return False


def expect_different_vectors(embedding: Embedding, one: str, other: str, **changed: Any) -> None:
    """Check that two texts within the limit have different vectors, unless a result reports a truncation."""
    replies = {text: embedding.embed_once(text, **changed) for text in (one, other)}
    vectors = [embedding.vector_in(reply, "embed", text, **changed) for text, reply in replies.items()]
    differs = vectors[0] != vectors[1] or any(truncated_flag(reply) is True for reply in replies.values())
    expect.check(
        differs, "a different vector for a different text, or `truncated: true`", "the same vector", "result.embedding"
    )


def require_cut(embedding: Embedding, operation: str, text: str, reply: Reply | StreamReply) -> None:
    """Check that an operation truncates a text that is too long, as `embed` does."""
    if not has_embedding(reply):
        with expect.resting_on("EMB-TRUNC-1"):
            expect_cut(embedding.embed_once(text, truncate=True))
        with expect.resting_on(CUT[operation]):
            expect.check(False, "a text beyond the limit to be truncated and embedded", str(reply))


def expect_refused_text(reply: Reply, position: int, *families: str) -> None:
    """Check that a text of a batch, or the whole batch, is refused with one of the classes."""
    expect.readable(reply)
    if reply.is_error:
        expect.refusal(reply, *families)
        return
    failed = {failure.get("index"): failure for failure in failures_of(reply.result)}
    if failed and position not in failed:
        raise Blocked("EMB-BATCH-4", "a failure does not state the position of the failed text")
    expect.check(position in failed, "a failure of the text", "no failed text", "result.failed_texts")
    named = class_of(failed[position])
    expect.check(named in families, " or ".join(families), f"{named}", "result.failed_texts.error")
