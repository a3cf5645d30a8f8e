"""Truncation and the length of texts (BC 6.4; SPECIFICATION 10.4, 10.6; R12, R28, R29)."""

from random import Random

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.fixtures import core
from pytest_corpus.kit.generation import generate
from pytest_corpus.kit.outcomes import NotApplicable
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.suites.embedding.support.answers import failures_of, is_same_text, normal_text, texts_of, vector_of
from pytest_corpus.suites.embedding.support.component import Embedding, embedding
from pytest_corpus.suites.embedding.support.requests import OPERATIONS
from pytest_corpus.suites.embedding.support.scenarios import truncation
from pytest_corpus.suites.embedding.support.scenarios.batches import (
    arrange_texts,
    embeddings_by_position,
    expect_own_vectors,
    require_batch_size,
    stream_vectors,
    streamed_vector,
)
from pytest_corpus.suites.embedding.support.texts import FILLER, OTHER

ASTRAL = "\U0001f600"
"""A character of four bytes in UTF-8 and two units in UTF-16."""


@core("EMB-TRUNC-1")
@pytest.mark.parametrize("how", list(truncation.BEYOND))
def test_a_text_that_is_too_long_is_cut(embedding: Embedding, how: str) -> None:
    """A text that is slightly or far beyond the limit is embedded with `truncated` true, every time."""
    truncation.require_truncation(embedding)
    text = truncation.too_long_text(embedding, how)
    for others in truncation.truncation_options(embedding, how):
        truncation.expect_cut(embedding.embed_once(text, truncate=True, **others))
    if how == "one_more":
        truncation.expect_cut(embedding.embed(text, truncate=True))


@core("EMB-TRUNC-2")
@pytest.mark.parametrize(
    ("how", "truncate"),
    [*(("the_limit", each) for each in (True, False, None)), ("one_less", True), ("half", None), ("short", True)],
)
def test_a_text_within_the_limit_is_left_alone(embedding: Embedding, how: str, truncate: bool | None) -> None:
    """A text of at most the limit is embedded without truncation, whatever `truncate` is."""
    embedding.require("embed")
    options = {} if truncate is None else {"truncate": truncate}
    text = truncation.text_within_limit(embedding, how)
    for others in truncation.truncation_options(
        embedding, "one_more" if (how, truncate) == ("the_limit", True) else how
    ):
        reply = embedding.embed_once(text, **options, **others)
        claimed = embedding.capabilities.flag("supports_truncation")
        if truncate and claimed is not True and reply.is_a("NotSupported"):
            raise NotApplicable("truncation is not offered")
        truncation.expect_whole(reply, text)


@pytest.mark.requirement("EMB-TRUNC-2")
@pytest.mark.parametrize("operation", ["embed_batch", "stream_embed"])
@pytest.mark.parametrize("how", ["the_limit", "half"])
def test_a_text_within_the_limit_is_accepted_everywhere(embedding: Embedding, how: str, operation: str) -> None:
    """Batches and streams accept a text of at most the limit, with or without `truncate`."""
    embedding.require("embed", operation)
    for options in ({}, {"truncate": False})[how == "half" :]:
        reply = embedding.ask(operation, truncation.text_within_limit(embedding, how), **options)
        if isinstance(reply, StreamReply):
            expect.finished(reply, "a text within the limit to be embedded")
            continue
        failed = failures_of(expect.success(reply, "a text within the limit to be embedded"))
        expect.check(not failed, "a text within the limit to be embedded", "a failed text", "result")


@core("EMB-TRUNC-3")
@pytest.mark.parametrize("how", list(truncation.BEYOND))
def test_a_text_that_may_not_be_cut_is_refused(embedding: Embedding, how: str) -> None:
    """With `truncate` false, a text beyond the limit is refused with TEXT_TOO_LONG, every time."""
    truncation.require_truncation(embedding)
    for others in truncation.truncation_options(embedding, how):
        reply = embedding.embed_once(truncation.too_long_text(embedding, how), truncate=False, **others)
        expect.refusal(reply, "TextTooLong")


@pytest.mark.requirement("EMB-TRUNC-4")
@pytest.mark.parametrize("how", list(truncation.BEYOND))
def test_a_cut_text_has_the_vector_of_what_is_left(embedding: Embedding, how: str) -> None:
    """A truncated text gets the vector of the part that is left."""
    truncation.require_truncation(embedding)
    text = truncation.too_long_text(embedding, how)
    for others in truncation.truncation_options(embedding, how):
        reply = embedding.embed_once(text, truncate=True, **others)
        found = truncation.cut_vector(embedding, text, reply, **others)
        left, fresh = truncation.possible_parts(embedding, text, reply), embedding.fresh()
        vectors = [
            truncation.cut_vector(fresh, part, fresh.embed(part, truncate=True, **others), **others) for part in left
        ]
        expect.check(
            any(embedding.are_same(found, vector) for vector in vectors)
            or truncation.ignores_one_end(embedding, text, found, left, **others),
            "the vector of the truncated text",
            "another vector",
            "result.embedding.vector",
        )


@pytest.mark.requirement("EMB-TRUNC-5")
@pytest.mark.parametrize("how", list(truncation.BEYOND))
@pytest.mark.parametrize("operation", OPERATIONS)
def test_what_is_left_is_within_the_limit(embedding: Embedding, operation: str, how: str) -> None:
    """If a truncated text comes back shorter, it does not exceed the limit."""
    truncation.require_truncation(embedding)
    embedding.require(operation)
    limit, text = embedding.stated_limit(), truncation.too_long_text(embedding, how)
    reply = embedding.ask_once(operation, text, truncate=True)
    truncation.require_cut(embedding, operation, text, reply)
    expect.applicable(texts_of(reply), "no text comes back")
    for told in texts_of(reply):
        shorter = not is_same_text(told, text)
        fits = len(told) <= limit or not embedding.counts_characters
        expect.check(not shorter or fits, f"at most {limit} characters", f"{len(told)}", "text")
        expect.check(
            not shorter or normal_text(told) in normal_text(text), "a part of the text", "another text", "text"
        )


@pytest.mark.requirement("EMB-TRUNC-5")
@pytest.mark.parametrize("start", ["x", "xy"])
def test_a_text_is_cut_between_characters(embedding: Embedding, start: str) -> None:
    """A text of four-byte characters is truncated between two characters.

    The two texts start differently. So a cut exactly at the limit would split a character of one of them, whatever
    unit the limit counts. If the limit counts words, neither text is too long.
    """
    truncation.require_truncation(embedding)
    text = f"{start}{ASTRAL * embedding.length_above_limit(1)}"
    reply = embedding.embed(text, truncate=True)
    expect.applicable(truncation.truncated_flag(reply), "the adapter does not count the text as too long")
    expect.applicable(texts_of(reply), "no text comes back")
    for told in texts_of(reply):
        expect.check(normal_text(told) in normal_text(text), "a part of the text", "another text", "text")


@pytest.mark.requirement("EMB-TRUNC-15")
def test_a_text_is_cut_at_its_end(embedding: Embedding) -> None:
    """Truncation keeps the beginning of a text, so the vector does not depend on the end of the text."""
    truncation.require_truncation(embedding)
    text = truncation.too_long_text(embedding, "twice")
    reply = embedding.embed_once(text, truncate=True)
    found = truncation.cut_vector(embedding, text, reply)
    told = [part for part in texts_of(reply) if not is_same_text(part, text)]
    if told:
        kept = all(normal_text(text).startswith(normal_text(part)) for part in told)
        expect.check(kept, "the beginning of the text", "another part", "result.text")
        return
    other = f"{text[: -len(OTHER)]}{OTHER[:-1]}x"
    same = embedding.are_same(found, truncation.cut_vector(embedding, other, embedding.embed(other, truncate=True)))
    expect.check(same, "the vector of the beginning", "a vector that depends on the end", "result.embedding.vector")


@core("EMB-TRUNC-6")
@pytest.mark.parametrize("operation", OPERATIONS)
def test_truncate_is_true_by_default(embedding: Embedding, operation: str) -> None:
    """A request without `truncate` is answered like one with `truncate` true."""
    truncation.require_truncation(embedding)
    embedding.require(operation)
    text = truncation.too_long_text(embedding, "twice")
    truncation.require_cut(embedding, operation, text, embedding.ask_once(operation, text, truncate=True))
    silent = embedding.ask(operation, text)
    expect.readable(silent)
    expect.check(truncation.has_embedding(silent), "a text beyond the limit to be truncated", str(silent))
    if isinstance(silent, Reply) and operation == "embed":
        truncation.expect_cut(silent)


@pytest.mark.requirement("EMB-TRUNC-7")
@pytest.mark.parametrize("where", ["end", "middle", "beginning"])
def test_no_part_is_left_out_in_silence(embedding: Embedding, where: str) -> None:
    """If two texts of the limit's length differ in one third, their vectors differ, unless `truncated` is true."""
    text = text_of_limit(embedding)
    third = len(text) // 3
    start = {"end": len(text) - third, "middle": third, "beginning": 0}[where]
    other = text[:start] + (OTHER * (third // len(OTHER) + 1))[:third] + text[start + third :]
    for model in embedding.models_able_to("embed"):
        truncation.expect_different_vectors(embedding, text, f"{other[:-1]}x", model=model)


@pytest.mark.requirement("EMB-TRUNC-14")
@pytest.mark.parametrize("end", [" bread", " rivet"], ids=["word", "letter"])
def test_the_very_end_counts(embedding: Embedding, end: str) -> None:
    """If two texts of the limit's length differ in the last word or letter, their vectors differ."""
    text = text_of_limit(embedding)
    for model in embedding.models_able_to("embed"):
        truncation.expect_different_vectors(embedding, f"{text[:-6]} river", text[:-6] + end, model=model)


def text_of_limit(embedding: Embedding) -> str:
    """Return a text of the limit's length. Raises NotApplicable if this length is too short to divide."""
    if embedding.stated_limit() < len(FILLER):
        raise NotApplicable(f"a text of {embedding.stated_limit()} characters is too short to be divided")
    return truncation.text_within_limit(embedding, "the_limit")


@pytest.mark.requirement("EMB-TRUNC-8")
@pytest.mark.parametrize(("how", "where"), [("one_more", "first"), ("one_more", "all"), ("twice", "last")])
def test_a_batch_cuts_as_embed_does(embedding: Embedding, how: str, where: str) -> None:
    """A batch truncates texts beyond the limit at any position, and each text gets its own vector."""
    truncation.require_truncation(embedding)
    many = require_batch_size(embedding, 3, least=1)
    texts = arrange_texts(embedding, "plain", many)
    bad = {"first": [0], "last": [many - 1]}.get(where, range(many))
    for position in bad:
        texts[position] = truncation.too_long_text(embedding, how if where != "all" else [*truncation.BEYOND][position])
    own = {text: truncation.cut_vector(embedding, text, embedding.embed_once(text, truncate=True)) for text in texts}
    reply = embedding.fresh().batch(texts, truncate=True)
    found = embeddings_by_position(embedding, "EMB-TRUNC-8", reply, texts)
    expect.check(len(found) == many, "every text to be embedded", f"{many - len(found)} failures", "result")
    singly = embedding.embed_one_by_one(texts, truncate=True)
    expect_own_vectors(embedding, found, texts, singly, reply)
    for position, each in found.items():
        vector, wanted = vector_of(each) or [], own[texts[position]]
        near = embedding.are_same(vector, wanted, 0.02) or not embedding.are_same(singly[texts[0]], own[texts[0]], 0.02)
        usual = position not in bad or near
        expect.check(usual, "the vector that `embed` gives to the text", "another vector", "result.embeddings")


@core("EMB-TRUNC-9")
@pytest.mark.parametrize(("how", "where"), [("one_more", "only"), ("one_more", "last"), ("twice", "first")])
def test_a_batch_refuses_a_text_that_may_not_be_cut(embedding: Embedding, how: str, where: str) -> None:
    """With `truncate` false, a text beyond the limit, or its whole batch, is refused with TEXT_TOO_LONG."""
    truncation.require_truncation(embedding)
    require_batch_size(embedding, 2, least=1 if where == "only" else 2)
    text, good = truncation.too_long_text(embedding, how), embedding.cut_to_limit("river")
    truncation.require_refusal_by_embed(embedding, text, how)
    texts = {"only": [text], "first": [text, good], "last": [good, text]}[where]
    for model in embedding.models_able_to("embed_batch")[: None if where == "only" else 1]:
        truncation.expect_refused_text(
            embedding.batch(texts, truncate=False, model=model), texts.index(text), "TextTooLong"
        )


@core("EMB-TRUNC-10")
@pytest.mark.parametrize("how", list(truncation.BEYOND))
def test_a_stream_refuses_a_text_that_may_not_be_cut(embedding: Embedding, how: str) -> None:
    """With `truncate` false, a stream refuses a text beyond the limit as TEXT_TOO_LONG."""
    truncation.require_truncation(embedding)
    embedding.require("stream_embed")
    text = truncation.too_long_text(embedding, how)
    truncation.require_refusal_by_embed(embedding, text, how)
    for model in embedding.models_able_to("stream_embed")[: None if how == "one_more" else 1]:
        expect.refusal(embedding.stream_text(text, truncate=False, model=model), "TextTooLong")


@pytest.mark.requirement("EMB-TRUNC-11")
@pytest.mark.parametrize("how", list(truncation.BEYOND))
def test_a_stream_cuts_as_embed_does(embedding: Embedding, how: str) -> None:
    """A stream truncates a text beyond the limit and gives it the vector that `embed` gives."""
    truncation.require_truncation(embedding)
    embedding.require("stream_embed")
    text = truncation.too_long_text(embedding, how)
    alone = truncation.cut_vector(embedding, text, embedding.embed_once(text, truncate=True))
    stream = embedding.stream_once(text, truncate=True)
    expect.finished(stream, "a text beyond the limit to be truncated")
    short = embedding.cut_to_limit("hi")
    usual = embedding.are_same(streamed_vector(embedding, short), embedding.vector_once("embed", short), 0.02)
    if usual and len(found := stream_vectors(embedding, stream)) == 1:
        expect.check(embedding.are_same(found[0], alone, 0.02), "the vector of `embed`", "another vector")


@core("EMB-TRUNC-12")
@pytest.mark.parametrize("how", list(truncation.BEYOND))
@pytest.mark.parametrize("truncate", [True, False, None], ids=["truncate", "do_not", "left_out"])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_without_truncation_a_text_that_is_too_long_is_refused(
    embedding: Embedding, operation: str, truncate: bool | None, how: str
) -> None:
    """If truncation is denied, a text beyond the limit is refused, whatever `truncate` is."""
    expect.applicable(embedding.capabilities.flag("supports_truncation") is False, "truncation is not denied")
    embedding.require("embed", operation)
    options = {} if truncate is None else {"truncate": truncate}
    text = truncation.too_long_text(embedding, how)
    reply = embedding.ask(operation, text, **options)
    if isinstance(reply, Reply) and operation == "embed_batch":
        truncation.expect_refused_text(reply, 0, *truncation.DENIED)
    else:
        expect.refusal(reply, *truncation.DENIED)


@pytest.mark.requirement("EMB-TRUNC-13")
def test_a_text_that_is_too_long_is_explained(embedding: Embedding) -> None:
    """The refusal states the limit and the length of the text."""
    embedding.require("embed")
    text = truncation.too_long_text(embedding, "twice")
    reply = embedding.embed_once(text, truncate=False)
    claimed = embedding.capabilities.flag("supports_truncation")
    if claimed is not True and reply.is_a("NotSupported"):
        raise NotApplicable("truncation is not offered: the adapter answers NOT_SUPPORTED")
    if claimed is None:
        truncation.require_truncation(embedding)
    with expect.resting_on("EMB-TRUNC-12" if claimed is False else "EMB-TRUNC-3"):
        expect.refusal(reply, "TextTooLong")
    limit = embedding.stated_limit()
    for key, wanted in (("max_text_length", limit), ("provided_length", len(text))):
        value = reply.details.get(key)
        other_unit = not embedding.counts_characters and isinstance(value, (int, float)) and value > limit
        expect.check(
            value == wanted or (wanted != limit and other_unit), f"{wanted}", found=value, path=f"details.{key}"
        )


@pytest.mark.requirement("EMB-TRUNC-2")
def test_every_length_around_the_limit_is_judged_rightly(embedding: Embedding) -> None:
    """Of generated texts around the limit, exactly the texts above the limit are refused or truncated.

    If the limit does not count characters, only texts within it are judged.
    """
    limit = embedding.stated_limit()
    truncation.require_truncation(embedding)

    def check(case: tuple[int, bool]) -> None:
        length, truncate = max(1, limit + case[0]), case[1]
        text = embedding.text_of(length)
        reply = embedding.embed(text, truncate=truncate)
        if length <= limit:
            truncation.expect_whole(reply, text)
        elif not embedding.counts_characters:
            expect.either(reply, "TextTooLong")
        elif truncate:
            with expect.resting_on("EMB-TRUNC-1"):
                truncation.expect_cut(reply)
        else:
            with expect.resting_on("EMB-TRUNC-3"):
                expect.refusal(reply, "TextTooLong")

    def draw_length(chance: Random, size: float) -> tuple[int, bool]:
        return chance.randint(round(-12 * size), round(12 * size)), chance.random() < 0.5

    check((0, True))  # one of them is within the limit, with every seed
    generate.for_all(draw_length, check, embedding, examples=7)
