"""Truncation and the length of texts (BEHAVIORAL_CONFORMANCE 6.4; SPECIFICATION 10.4, 10.6; R12, R28, R29)."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_corpus.suites import expect, generate
from pytest_corpus.suites.embedding.batches import (
    FINAL,
    each_its_own,
    failures_of,
    family_of,
    placed,
    several,
)
from pytest_corpus.suites.embedding.probe import FILLER, OTHER, Embedding, embedding, embeddings_of
from pytest_corpus.suites.embedding.test_embed_basic import only, streamed_vector
from pytest_corpus.suites.embedding.vectors import distance, plain, same_text, vector_of
from pytest_corpus.suites.outcomes import Blocked, NotApplicable, Violation
from pytest_corpus.suites.reply import Reply, StreamReply

BEYOND = {"one_more": (1, 1), "a_word_more": (1, 9), "twice": (2, 0), "many_times": (6, 11)}
"""How long a text is that is too long: so many times the limit, and so many characters."""

WITHIN = ("the_limit", "one_less", "half", "short")
DENIED = ("TextTooLong", "NotSupported")


def too_long(embedding: Embedding, how: str) -> str:
    """A text that is longer than the stated limit."""
    times, more = BEYOND[how]
    return embedding.text_of(embedding.limited() * times + more)


def within(embedding: Embedding, how: str) -> str:
    """A text that is no longer than the stated limit."""
    limit = embedding.limited()
    lengths = {"the_limit": limit, "one_less": limit - 1, "half": limit // 2, "short": min(limit, 3)}
    return embedding.text_of(max(1, lengths[how]))


def truncates(embedding: Embedding) -> None:
    """Go on only where truncation is offered.

    Raises:
        NotApplicable: capabilities deny it, or it is refused unclaimed.
    """
    embedding.require("embed")
    flag = embedding.capabilities.flag("supports_truncation")
    if flag is False or (flag is None and embedding.embed(too_long(embedding, "one_more")).is_a(*DENIED)):
        raise NotApplicable("truncation is not offered")


def variants(embedding: Embedding) -> list[dict[str, Any]]:
    """Whatever else may be asked for: every listed model, and normalization where it is claimed."""
    found: list[dict[str, Any]] = [{"model": model} for model in embedding.able()]
    return [*found, *([{"normalize": True}] if embedding.capabilities.flag("supports_normalization") else [])]


@pytest.mark.core
@pytest.mark.requirement("EMB-TRUNC-1")
@pytest.mark.parametrize("how", list(BEYOND))
def test_a_text_that_is_too_long_is_cut(embedding: Embedding, how: str) -> None:
    """A text beyond the limit, however far, is embedded, and `truncated` says so, every time."""
    truncates(embedding)
    for others in variants(embedding):
        text = too_long(embedding, how)
        for _ in range(2):
            cut(embedding.embed(text, truncate=True, **others))


@pytest.mark.core
@pytest.mark.requirement("EMB-TRUNC-2")
@pytest.mark.parametrize("how", WITHIN)
@pytest.mark.parametrize("truncate", [True, False, None], ids=["truncate", "do_not", "left_out"])
def test_a_text_within_the_limit_is_left_alone(embedding: Embedding, truncate: bool | None, how: str) -> None:
    """A text up to the limit, and of just that length, is embedded whole, whatever `truncate` says."""
    embedding.require("embed")
    options = {} if truncate is None else {"truncate": truncate}
    for others in variants(embedding) if how == "the_limit" else [{}]:
        text = within(embedding, how)
        reply = embedding.embed(text, **options, **others)
        claimed = embedding.capabilities.flag("supports_truncation")
        if truncate and claimed is not True and reply.is_a("NotSupported"):
            raise NotApplicable("truncation is not offered")
        whole(reply, text)


@pytest.mark.requirement("EMB-TRUNC-2")
@pytest.mark.parametrize("door", ["embed_batch", "stream_embed"])
@pytest.mark.parametrize("how", WITHIN)
def test_a_text_within_the_limit_is_accepted_everywhere(embedding: Embedding, how: str, door: str) -> None:
    """Batches and streams accept a text up to the limit, also without `truncate`."""
    embedding.require("embed", door)
    for options in ({}, {"truncate": False}):
        text = within(embedding, how)
        reply = embedding.ask(door, text, **options)
        if isinstance(reply, StreamReply):
            expect.finished(reply, "a text within the limit to be embedded")
            continue
        failed = failures_of(expect.success(reply, "a text within the limit to be embedded"))
        expect.that(not failed, "a text within the limit to be embedded", "a failed text", "result")


@pytest.mark.core
@pytest.mark.requirement("EMB-TRUNC-3")
@pytest.mark.parametrize("how", list(BEYOND))
def test_a_text_that_may_not_be_cut_is_refused(embedding: Embedding, how: str) -> None:
    """Without `truncate`, a text beyond the limit is TEXT_TOO_LONG, every time."""
    truncates(embedding)
    for others in variants(embedding):
        text = too_long(embedding, how)
        expect.refusal(embedding.embed(text, truncate=False, **others), "TextTooLong")


@pytest.mark.requirement("EMB-TRUNC-4")
@pytest.mark.parametrize("how", list(BEYOND))
def test_a_cut_text_has_the_vector_of_what_is_left(embedding: Embedding, how: str) -> None:
    """The vector of a truncated text is that of the part that is left."""
    truncates(embedding)
    for others in variants(embedding):
        text = too_long(embedding, how)
        reply = embedding.embed(text, truncate=True, **others)
        found = vector_of(embedding.embedding(reply))
        if found is None:
            raise Blocked("EMB-TRUNC-1", "a text that is too long is not embedded")
        left = parts(embedding, text, reply)
        vectors = [vector_in(embedding, part, **others) for part in left]
        expect.that(
            any(embedding.same(found, vector) for vector in vectors) or unmoved(embedding, text, found, left, **others),
            "the vector of what is left of the text",
            "another vector",
            "result.embedding.vector",
        )


@pytest.mark.requirement("EMB-TRUNC-5")
@pytest.mark.parametrize("how", list(BEYOND))
@pytest.mark.parametrize("door", ["embed", "embed_batch", "stream_embed"])
def test_what_is_left_is_within_the_limit(embedding: Embedding, door: str, how: str) -> None:
    """Where a truncated text comes back shorter, it is no longer than the limit."""
    truncates(embedding)
    embedding.require(door)
    limit, text = embedding.limited(), too_long(embedding, how)
    reply = embedding.ask(door, text, truncate=True)
    if reply.is_error:
        raise Blocked("EMB-TRUNC-1", "a text that is too long is not embedded")
    for told in told_by(reply):
        shorter = not same_text(told, text)
        expect.that(not shorter or len(told) <= limit, f"at most {limit} characters", f"{len(told)}", "text")
        expect.that(not shorter or plain(told) in plain(text), "a part of the text", "another text", "text")


@pytest.mark.core
@pytest.mark.requirement("EMB-TRUNC-6")
@pytest.mark.parametrize("how", ["one_more", "twice"])
@pytest.mark.parametrize("door", ["embed", "embed_batch", "stream_embed"])
def test_truncate_is_true_by_default(embedding: Embedding, door: str, how: str) -> None:
    """A request that does not say `truncate` is answered as one that says true."""
    truncates(embedding)
    embedding.require(door)
    text = too_long(embedding, how)
    if not embedded(embedding.ask(door, text, truncate=True)):
        raise Blocked("EMB-TRUNC-1", "a text that is too long is not embedded")
    silent = embedding.ask(door, too_long(embedding, how))
    expect.readable(silent)
    expect.that(embedded(silent), "a text that is too long to be cut", str(silent))


@pytest.mark.requirement("EMB-TRUNC-7")
@pytest.mark.parametrize("where", ["end", "middle", "beginning"])
def test_no_part_is_left_out_in_silence(embedding: Embedding, where: str) -> None:
    """Of two texts of the limit's length that differ in a third, the vectors differ, or `truncated` is true."""
    limit = embedding.limited()
    if limit < len(FILLER):
        raise NotApplicable(f"a text of {limit} characters has no parts")
    for others in variants(embedding):
        text, third = embedding.text_of(limit), limit // 3
        start = {"end": limit - third, "middle": third, "beginning": 0}[where]
        changed = (OTHER * (limit // len(OTHER) + 1))[:third]
        other = text[:start] + changed + text[start + third :]
        differ(embedding, text, f"{other[:-1]}x", **others)


@pytest.mark.requirement("EMB-TRUNC-14")
def test_the_very_end_counts(embedding: Embedding) -> None:
    """Of two texts of the limit's length that differ in the last word, or letter, the vectors differ."""
    limit = embedding.limited()
    if limit < len(FILLER):
        raise NotApplicable(f"a text of {limit} characters has no parts")
    for others in variants(embedding):
        text = embedding.text_of(limit)
        differ(embedding, f"{text[:-6]} river", f"{text[:-6]} bread", **others)
        differ(embedding, f"{text[:-5]}house", f"{text[:-5]}horse", **others)
        differ(embedding, f"{text[:-3]}car", f"{text[:-3]}cat", **others)


@pytest.mark.requirement("EMB-TRUNC-8")
@pytest.mark.parametrize(
    ("how", "where"), [*(("one_more", where) for where in ("first", "middle", "last", "all")), ("twice", "middle")]
)
def test_a_batch_cuts_as_embed_does(embedding: Embedding, how: str, where: str) -> None:
    """Texts beyond the limit are cut in a batch, wherever they stand; each text has its own vector."""
    truncates(embedding)
    many = several(embedding, 4, least=1)
    texts = [embedding.fit(f"{word} {embedding.unique()}") for word in ("river", "stone", "light", "bread")[:many]]
    bad = {"first": [0], "middle": [(many - 1) // 2], "last": [many - 1]}.get(where, range(many))
    for position in bad:
        texts[position] = too_long(embedding, how)
    alone = {text: embedding.embed(text, truncate=True) for text in texts}
    own = {text: vector_of(embedding.embedding(reply)) for text, reply in alone.items()}
    if any(vector is None for vector in own.values()):
        raise Blocked("EMB-TRUNC-1", "a text that is too long is not embedded")
    reply = embedding.batch(texts, truncate=True)
    found = placed(embedding, "EMB-TRUNC-8", reply, texts)
    expect.that(len(found) == many, "every text to be embedded", f"{many - len(found)} failures", "result")
    singly = embedding.own_vectors(texts, truncate=True)
    each_its_own(embedding, found, texts, singly)
    for position, each in found.items():
        vector, wanted = vector_of(each) or [], own[texts[position]] or []
        near = embedding.same(vector, wanted, 0.02) or not embedding.same(singly[texts[0]], own[texts[0]] or [], 0.02)
        usual = position not in bad or near
        expect.that(usual, "the vector that `embed` gives to the text", "another vector", "result.embeddings")


@pytest.mark.core
@pytest.mark.requirement("EMB-TRUNC-9")
@pytest.mark.parametrize("where", ["only", "first", "last"])
@pytest.mark.parametrize("how", ["one_more", "twice"])
def test_a_batch_refuses_a_text_that_may_not_be_cut(embedding: Embedding, how: str, where: str) -> None:
    """Without `truncate`, a text beyond the limit is TEXT_TOO_LONG for itself, or for the whole batch."""
    truncates(embedding)
    several(embedding, 2, least=1 if where == "only" else 2)
    text, good = too_long(embedding, how), embedding.fit("river")
    if not embedding.embed(text, truncate=False).is_a("TextTooLong"):
        raise Blocked("EMB-TRUNC-3", "embed does not refuse a text that may not be cut")
    texts = {"only": [text], "first": [text, good], "last": [good, text]}[where]
    for model in embedding.able("embed_batch"):
        refused_in_batch(embedding.batch(texts, truncate=False, model=model), texts.index(text), "TextTooLong")


@pytest.mark.core
@pytest.mark.requirement("EMB-TRUNC-10")
@pytest.mark.parametrize("how", list(BEYOND))
def test_a_stream_refuses_a_text_that_may_not_be_cut(embedding: Embedding, how: str) -> None:
    """Without `truncate`, a text beyond the limit is TEXT_TOO_LONG for a stream too."""
    truncates(embedding)
    embedding.require("stream_embed")
    text = too_long(embedding, how)
    if not embedding.embed(text, truncate=False).is_a("TextTooLong"):
        raise Blocked("EMB-TRUNC-3", "embed does not refuse a text that may not be cut")
    for model in embedding.able("stream_embed"):
        expect.refusal(embedding.streamed(text, truncate=False, model=model), "TextTooLong")


@pytest.mark.requirement("EMB-TRUNC-11")
@pytest.mark.parametrize("how", list(BEYOND))
def test_a_stream_cuts_as_embed_does(embedding: Embedding, how: str) -> None:
    """A text beyond the limit is cut for a stream, with the vector that `embed` gives to it."""
    truncates(embedding)
    embedding.require("stream_embed")
    text = too_long(embedding, how)
    alone = vector_of(embedding.embedding(embedding.embed(text, truncate=True)))
    if alone is None:
        raise Blocked("EMB-TRUNC-1", "a text that is too long is not embedded")
    stream = embedding.streamed(text, truncate=True)
    expect.finished(stream, "a text that is too long to be cut")
    short = embedding.unique()
    usual = embedding.same(streamed_vector(embedding, short), embedding.vector("embed", short), 0.02)
    if usual and len(found := only(embedding, stream)) == 1:
        expect.that(embedding.same(found[0], alone, 0.02), "the vector of `embed`", "another vector")


@pytest.mark.core
@pytest.mark.requirement("EMB-TRUNC-12")
@pytest.mark.parametrize("how", list(BEYOND))
@pytest.mark.parametrize("truncate", [True, False, None], ids=["truncate", "do_not", "left_out"])
@pytest.mark.parametrize("door", ["embed", "embed_batch", "stream_embed"])
def test_without_truncation_a_text_that_is_too_long_is_refused(
    embedding: Embedding, door: str, truncate: bool | None, how: str
) -> None:
    """Where truncation is denied, a text beyond the limit is refused, whatever `truncate` says."""
    if embedding.capabilities.flag("supports_truncation") is not False:
        raise NotApplicable("truncation is not denied")
    embedding.require("embed", door)
    options = {} if truncate is None else {"truncate": truncate}
    text = too_long(embedding, how)
    reply = embedding.ask(door, text, **options)
    if isinstance(reply, Reply) and door == "embed_batch":
        refused_in_batch(reply, 0, *DENIED)
    else:
        expect.refusal(reply, *DENIED)


@pytest.mark.requirement("EMB-TRUNC-13")
def test_a_text_that_is_too_long_is_explained(embedding: Embedding) -> None:
    """The refusal gives the limit and the length of the text."""
    embedding.require("embed")
    text = too_long(embedding, "twice")
    reply = embedding.embed(text, truncate=False)
    if not reply.is_a("TextTooLong"):
        raise Blocked("EMB-TRUNC-3", "a text that is too long is not TEXT_TOO_LONG")
    for key, wanted in (("max_text_length", embedding.limited()), ("provided_length", len(text))):
        value = reply.details.get(key)
        expect.that(value == wanted, f"{wanted}", type(value).__name__, f"details.{key}")


@pytest.mark.requirement("EMB-TRUNC-2")
def test_every_length_around_the_limit_is_judged_rightly(embedding: Embedding) -> None:
    """For generated lengths around the limit, a text is refused, or cut, if and only if it is longer."""
    strategies = generate.strategies()
    limit = embedding.limited()
    truncates(embedding)

    def check(case: tuple[int, bool]) -> None:
        length, truncate = max(1, limit + case[0]), case[1]
        text = embedding.text_of(length)
        reply = embedding.embed(text, truncate=truncate)
        if length <= limit:
            whole(reply, text)
        elif not truncate and not reply.is_a("TextTooLong"):
            raise Blocked("EMB-TRUNC-3", "a text that may not be cut is not refused")
        elif truncate and not (reply.is_success and flag(reply) is True):
            raise Blocked("EMB-TRUNC-1", "a text that is too long is not cut")

    cases = strategies.tuples(strategies.integers(-12, 12), strategies.booleans())
    generate.for_all(cases, check, seed=embedding.settings.seed, examples=15)


def flag(reply: Reply) -> Any:
    """`truncated` of a result."""
    return reply.result.get("truncated") if isinstance(reply.result, dict) else None


def cut(reply: Reply) -> None:
    """A text was cut, and it is said."""
    expect.success(reply, "a text that is too long to be cut and embedded")
    said = flag(reply)
    expect.that(said is True, "true", "nothing" if said is None else str(said).lower(), "result.truncated")


def whole(reply: Reply, text: str) -> None:
    """A text was embedded, and nothing says that it was cut."""
    result = expect.success(reply, "a text within the limit to be embedded")
    expect.that(flag(reply) is not True, "false, or nothing", "true", "result.truncated")
    told = result.get("text") if isinstance(result, dict) else None
    shorter = isinstance(told, str) and len(plain(told)) < len(plain(text)) and plain(told) in plain(text)
    expect.that(not shorter, "the whole text", "a part of it", "result.text")


def embedded(reply: Reply | StreamReply) -> bool:
    """Whether an answer has an embedding for its one text."""
    if isinstance(reply, StreamReply):
        return reply.finished
    return reply.is_success and bool(embeddings_of(reply.result)) and not failures_of(reply.result)


def told_by(reply: Reply | StreamReply) -> list[str]:
    """The texts that an answer gives back."""
    if isinstance(reply, StreamReply):
        return [
            each["text"]
            for chunk in reply.chunks
            for each in chunk.get("embeddings") or []
            if isinstance(each, dict) and isinstance(each.get("text"), str)
        ]
    found = (reply.result.get("text"), *(each.get("text") for each in embeddings_of(reply.result)))
    return [text for text in found if isinstance(text, str)]


def parts(embedding: Embedding, text: str, reply: Reply) -> list[str]:
    """What may be left of a truncated text: what the result says, or else its beginning or its end."""
    limit = embedding.limited()
    told = [part for part in told_by(reply) if part and len(part) < len(text) and len(part) <= limit]
    return list(dict.fromkeys(told)) or [text[:limit], text[-limit:]]


def vector_in(embedding: Embedding, text: str, **changed: Any) -> list[float]:
    """The vector of a text within the limit."""
    found = vector_of(embedding.embedding(embedding.embed(text, truncate=True, **changed)))
    if found is None:
        raise Blocked("EMB-TRUNC-2", "a text within the limit is not embedded")
    return found


def unmoved(embedding: Embedding, text: str, found: list[float], left: list[str], **changed: Any) -> bool:
    """Whether, where nothing tells what is left, the end or the beginning of the text is without influence."""
    if left != [text[: embedding.limited()], text[-embedding.limited() :]]:
        return False
    beyond = len(text) - embedding.limited()
    noise = (OTHER * (beyond // len(OTHER) + 1))[: beyond - 1] + "x"
    for other in (text[:-beyond] + noise, noise + text[beyond:]):
        if embedding.same(found, vector_in(embedding, other, **changed)):
            return True
    return False


def differ(embedding: Embedding, one: str, other: str, **changed: Any) -> None:
    """Two texts within the limit have different vectors, unless it is said that they were cut."""
    replies = [embedding.embed(text, **changed) for text in (one, other)]
    vectors = [vector_of(embedding.embedding(reply)) for reply in replies]
    if vectors[0] is None or vectors[1] is None:
        raise Blocked("EMB-TRUNC-2", "a text within the limit is not embedded")
    if distance(vectors[0], vectors[1]) > 0 or any(flag(reply) is True for reply in replies):
        return
    pair = [embedding.vector("embed", embedding.fit(text), **changed) for text in (FILLER, OTHER)]
    if pair[0] == pair[1]:
        raise Blocked("EMB-EMBED-5", "all texts have the same vector")
    raise Violation("another vector for another text, or `truncated` true", "the same vector", "result.embedding")


def refused_in_batch(reply: Reply, position: int, *families: str) -> None:
    """A text of a batch is refused with one of the classes, for itself or with its batch."""
    expect.readable(reply)
    if reply.is_error:
        expect.refusal(reply, *families)
        return
    failed = {failure.get("index"): failure for failure in failures_of(reply.result)}
    expect.that(position in failed, "a failure of the text", "none", "result.failed_texts")
    named = str(failed[position].get("error")), family_of(failed[position])
    wanted = {"TextTooLong": ("TextTooLong", "TEXT_TOO_LONG"), "NotSupported": ("NotSupported", "NOT_SUPPORTED")}
    allowed = {name for family in families for name in wanted[family]}
    expect.that(named[0] in allowed, " or ".join(families), f"{named[1]}", "result.failed_texts.error")
