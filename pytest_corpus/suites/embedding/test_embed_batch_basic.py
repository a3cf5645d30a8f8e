"""Batches: order, failures of single texts, sizes (SPECIFICATION 10.6, 12.5; SCHEMA 4.3.2; R14, R15, R45)."""

import itertools
from random import Random
from typing import Any

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.component import expect_audited
from pytest_corpus.kit.fixtures import core, rules
from pytest_corpus.kit.generation import generate
from pytest_corpus.kit.outcomes import Blocked, NotApplicable
from pytest_corpus.kit.reply import Reply
from pytest_corpus.spec.errors import UNKNOWN_MODEL
from pytest_corpus.suites.embedding.support.answers import distance, embeddings_of, failures_of, vector_of
from pytest_corpus.suites.embedding.support.component import Embedding, embedding
from pytest_corpus.suites.embedding.support.scenarios import batches
from pytest_corpus.suites.embedding.support.scenarios.batches import refusal_classes
from pytest_corpus.suites.embedding.support.texts import FLAGS, NO_MODELS, UNRELATED
from pytest_corpus.suites.shared.claims.tokens import NO_STRINGS

ARRANGEMENTS = ("plain", "equal_lengths", "equal_texts", "mixed")
"""The arrangements of the texts of a batch."""

BAD = ("first", "middle", "last", "two", "all", "equal")
"""The positions of the texts that are too long."""

MANY_TEXTS = 1_500
"""The size of a batch that far exceeds a small limit, but is not too large to send."""

SMALL, PAGES = 8, 20
"""A test sends `PAGES` texts, or as many as the limit allows. With `SMALL` texts or fewer, it decides nothing."""


@core("EMB-BATCH-1")
@pytest.mark.parametrize("many", [1, 3])
def test_a_plain_batch_is_embedded(embedding: Embedding, many: int) -> None:
    """Batches of one text and of several get a result that is valid under its schema."""
    batches.require_batch_size(embedding, many, least=1)
    reply = embedding.batch(batches.arrange_texts(embedding, "plain", embedding.cap_batch_size(many)))
    expect_audited("EMB-BATCH-1", reply, embedding, claim="a plain batch to be embedded")


@pytest.mark.core
@rules("none_lost EMB-BATCH-3, in_order EMB-BATCH-2, indexes EMB-BATCH-4")
@pytest.mark.parametrize("how", ARRANGEMENTS)
def test_each_text_gets_its_own_vector(embedding: Embedding, requirement: str, how: str) -> None:
    """There is one embedding for each text, in the order of the texts and with their positions.

    The last case of `how` is tried with each listed model.
    """
    texts = batches.arrange_texts(embedding, how, batches.require_batch_size(embedding, 6))
    for model in embedding.models_able_to("embed_batch")[: None if how == ARRANGEMENTS[-1] else 1]:
        reply = embedding.batch_once(texts, model=model)
        if requirement == "EMB-BATCH-2":
            batches.expect_in_order(embedding, texts, reply, model=model)
            continue
        found = batches.embeddings_by_position(embedding, requirement, reply, texts)
        if requirement == "EMB-BATCH-3":
            expect.check(len(found) == len(texts), "every good text to be embedded", f"{len(found)} of {len(texts)}")


@pytest.mark.requirement("EMB-BATCH-2")
def test_unrelated_texts_have_different_vectors_in_batches(embedding: Embedding) -> None:
    """Unrelated texts, each in its own batch, get different vectors."""
    for model in embedding.models_able_to("embed_batch"):
        own = embedding.embed_one_by_one([embedding.cut_to_limit(text) for text in UNRELATED], model=model)
        for one, other in itertools.combinations(own.values(), 2):
            expect.check(distance(one, other) > 1e-9, "different vectors", "the same vector")


@pytest.mark.requirement("EMB-BATCH-2")
@pytest.mark.parametrize("stated", [True, False])
def test_options_do_not_disturb_the_order(embedding: Embedding, stated: bool) -> None:
    """The vectors have the order of the texts, with other options too."""
    texts = batches.arrange_texts(embedding, "mixed", batches.require_batch_size(embedding, 4))
    if stated:
        embedding.require_normalization()
    options = {"normalize": stated, "truncate": stated}
    reply = embedding.fresh().batch(texts, **options)
    if stated and embedding.capabilities.flag("supports_truncation") is not True and reply.is_a("NotSupported"):
        raise NotApplicable("truncation is not offered")
    batches.expect_in_order(embedding, texts, reply, **options)


@pytest.mark.requirement("EMB-BATCH-2")
@pytest.mark.parametrize(
    ("known", "by"), [("last", "embed"), ("alternate", "embed"), ("first", "embed_batch"), ("all", "embed_batch")]
)
def test_texts_that_were_embedded_before_keep_their_places(embedding: Embedding, by: str, known: str) -> None:
    """If some texts of a batch may be cached, the vectors still have the order of the texts."""
    texts = batches.arrange_texts(embedding, "plain", batches.require_batch_size(embedding, 6))
    last = len(texts) - 1
    before = {"first": [0], "last": [last], "alternate": [*range(0, last + 1, 2)]}
    fresh = embedding.fresh()
    for position in before.get(known, [*range(last, -1, -1)]):
        fresh.ask(by, texts[position])
    batches.expect_in_order(embedding, texts, fresh.batch(texts))


@pytest.mark.requirement("EMB-BATCH-2")
def test_every_list_of_texts_keeps_its_order(embedding: Embedding) -> None:
    """In generated lists with repeated words, each word gets its own vector."""
    many = batches.require_batch_size(embedding, 8)
    pool = list(
        dict.fromkeys(embedding.cut_to_limit(word) for word in (*batches.WORDS[:4], "a", "Apple", "apple", "x y"))
    )
    own = embedding.embed_one_by_one(pool)

    def check(texts: list[str]) -> None:
        reply = embedding.batch(texts)
        batches.expect_own_vectors(
            embedding, batches.embeddings_by_position(embedding, "EMB-BATCH-2", reply, texts), texts, own, reply
        )

    def draw_texts(chance: Random, size: float) -> list[str]:
        return chance.choices(pool, k=generate.random_length(chance, size, many))

    generate.for_all(draw_texts, check, embedding, examples=8)


@pytest.mark.requirement("EMB-BATCH-2")
def test_a_large_batch_keeps_its_order(embedding: Embedding) -> None:
    """Each text of a batch that a provider may take in several pages gets its own vector."""
    texts = batches.arrange_texts(embedding, "plain", batches.require_batch_size(embedding, PAGES))
    expect.applicable(len(texts) > SMALL, f"batches of {SMALL} texts are large for this adapter")
    batches.expect_in_order(embedding, texts, embedding.fresh().batch(texts))


@pytest.mark.requirement("EMB-BATCH-18")
@pytest.mark.parametrize("normalize", [True, False])
def test_a_batch_gives_the_vectors_of_single_calls(embedding: Embedding, normalize: bool) -> None:
    """Each listed model gives a text the same vector in a batch and in a single call."""
    texts = batches.arrange_texts(embedding, "mixed", batches.require_batch_size(embedding, 3, least=1))
    if normalize:
        embedding.require_normalization()
    fresh = embedding.fresh()
    for model in embedding.models_able_to("embed_batch"):
        reply = fresh.batch(texts, model=model, normalize=normalize)
        found = batches.embeddings_by_position(embedding, "EMB-BATCH-18", reply, texts)
        for position, each in found.items():
            alone = embedding.vector("embed", texts[position], model=model, normalize=normalize)
            same = embedding.are_same(vector_of(each) or [], alone, 0.02)
            expect.check(same, "the vector of `embed`", "another vector", f"result.embeddings.{position}", on=[reply])


@core("EMB-BATCH-5")
@pytest.mark.parametrize("where", BAD)
def test_a_bad_text_leaves_the_others_alone(embedding: Embedding, where: str) -> None:
    """Texts that are too long are reported as failed while the others are embedded, or the whole batch is refused."""
    texts, bad, reply = batches.batch_with_bad_texts(embedding, where)
    expect.readable(reply)
    if reply.is_error:
        expect.refusal(reply, *batches.FINAL)
        return
    failed = {failure.get("index") for failure in failures_of(reply.result)}
    if None in failed:
        raise Blocked("EMB-BATCH-11", "a failure does not state the position of its text")
    expect.check(len(failed) == len(bad), f"the {len(bad)} bad texts to fail", f"{len(failed)} failures", "result")
    found = batches.embeddings_by_position(embedding, "EMB-BATCH-5", reply, texts)
    if failed != bad:
        raise Blocked("EMB-BATCH-4", "a failure does not state the position of the failed text")
    good = [text for number, text in enumerate(texts) if number not in bad]
    batches.expect_own_vectors(embedding, found, texts, embedding.embed_one_by_one(good, truncate=False), reply)


@rules(
    "none_lost EMB-BATCH-3, positions EMB-BATCH-4, where_and_why EMB-BATCH-11, texts EMB-BATCH-20, "
    "messages EMB-BATCH-21"
)
@pytest.mark.parametrize("where", BAD)
def test_bad_texts_are_reported(embedding: Embedding, requirement: str, where: str) -> None:
    """Texts that are too long are reported with position, text, class and message, and none of them is lost."""
    texts, bad, reply = batches.batch_with_bad_texts(embedding, where)
    expect.readable(reply)
    expect.applicable(not reply.is_error, "the whole batch with a bad text is refused")
    failed = {failure.get("index") for failure in failures_of(reply.result)}
    if requirement == "EMB-BATCH-4" and None not in failed and len(failed) == len(bad):
        expect.check(failed == bad, "the positions of the bad texts", "other positions", "result.failed_texts")
    batches.embeddings_by_position(embedding, requirement, reply, texts)


@pytest.mark.requirement("EMB-BATCH-3")
@pytest.mark.parametrize("blank", ["", "   "], ids=["empty", "spaces"])
def test_no_blank_text_is_lost(embedding: Embedding, blank: str) -> None:
    """A text without words is embedded, reported as failed, or makes the batch a bad request."""
    texts = [*batches.arrange_texts(embedding, "plain", batches.require_batch_size(embedding, 3) - 1), blank]
    texts[-2:] = reversed(texts[-2:])
    reply = embedding.batch(texts)
    expect.either(reply, "BadRequest", "NotSupported")
    if not reply.is_error:
        batches.embeddings_by_position(embedding, "EMB-BATCH-3", reply, texts)


@pytest.mark.requirement("EMB-BATCH-19")
def test_the_tokens_of_a_batch_are_those_of_its_texts(embedding: Embedding) -> None:
    """If `total_tokens` is given, it is the sum of the texts' token counts."""
    embedding.require("count_tokens")
    texts = batches.arrange_texts(embedding, "plain", batches.require_batch_size(embedding, 2, least=1))
    reply = embedding.batch_once(texts, model=embedding.model)
    result = expect.success(reply, "a batch")
    total = result.get("total_tokens")
    expect.applicable(total is not None, "total_tokens is not given")
    counted = sum(embedding.count(text, model=embedding.model) for text in texts)
    expected = f"{counted}, as count_tokens says"
    expect.check(total == counted, expected, found=total, path="result.total_tokens", on=[reply])


@core("EMB-BATCH-6")
@pytest.mark.parametrize("more", ["one_more", "far_more"])
def test_a_batch_beyond_the_limit_is_refused(embedding: Embedding, more: str) -> None:
    """A batch with more texts than `max_batch_size` is refused, whatever its options."""
    embedding.require("embed_batch")
    most = batches.largest_batch(embedding)
    if more == "far_more":
        expect.refusal(embed_equal_texts(embedding, max(most + 1, MANY_TEXTS)), "BadRequest")
        return
    models: list[dict[str, Any]] = [{"model": model} for model in embedding.models_able_to("embed_batch")]
    for options in ({}, {"truncate": False}, *models[1:]):
        expect.refusal(embed_equal_texts(embedding, most + 1, **options), "BadRequest")


@pytest.mark.requirement("EMB-BATCH-13")
def test_a_batch_beyond_the_limit_is_explained(embedding: Embedding) -> None:
    """The refusal states the limit, and the percentage by which the batch must become smaller."""
    embedding.require("embed_batch")
    reply = embed_equal_texts(embedding, batches.largest_batch(embedding) + 1)
    with expect.resting_on("EMB-BATCH-6"):
        expect.refusal(reply, "BadRequest")
    for key in ("max_batch_size", "suggested_batch_reduction"):
        value = reply.details.get(key)
        expect.check(isinstance(value, (int, float)), "a number", found=value, path=f"details.{key}")
    expect.check(
        0 < reply.details["suggested_batch_reduction"] <= 100, "a percentage", found=value, path=f"details.{key}"
    )


def embed_equal_texts(embedding: Embedding, size: int, **options: Any) -> Reply:
    """Send a batch of equal texts."""
    return embedding.batch_once([embedding.cut_to_limit("hi")] * size, **options)


@core("EMB-BATCH-7")
@pytest.mark.parametrize("texts", ["equal", "different"])
def test_a_batch_of_the_limit_is_embedded(embedding: Embedding, texts: str) -> None:
    """Each listed model embeds a batch of `max_batch_size` texts completely."""
    embedding.require("embed_batch")
    most = batches.largest_batch(embedding)
    many = [embedding.cut_to_limit("hi" if texts == "equal" else f"{embedding.short_word(n, 4)}") for n in range(most)]
    for model in embedding.models_able_to("embed_batch")[: 1 if texts == "equal" else None]:
        result = expect.success(embedding.batch(many, model=model), "a batch of the stated size to be embedded")
        found = len(embeddings_of(result))
        expect.check(found == most, f"{most} embeddings", f"{found}", "result")


@pytest.mark.requirement("EMB-BATCH-8")
@pytest.mark.parametrize(
    "texts",
    ["hi", 7, None, {"0": "hi"}, True, "missing"],
    ids=["string", "number", "null", "object", "boolean", "missing"],
)
def test_texts_that_are_no_list_are_refused(embedding: Embedding, texts: Any) -> None:
    """`texts` is required and must be a list."""
    embedding.require("embed_batch")
    args = {**embedding.requests.minimal("embed_batch"), "texts": texts}
    if texts == "missing":
        del args["texts"]
    expect.refusal(embedding.call("embed_batch", args), "BadRequest")


@pytest.mark.requirement("EMB-BATCH-8")
@pytest.mark.parametrize(
    ("kind", "where"),
    [("number", "only"), ("null", "middle"), *((kind, "last") for kind in NO_STRINGS if kind != "missing")],
)
def test_a_text_of_a_batch_that_is_no_string_is_refused(embedding: Embedding, kind: str, where: str) -> None:
    """A value that is not a string fails alone, or the whole batch is refused."""
    many = batches.require_batch_size(embedding, 3, least=1 if where == "only" else 2)
    wrong, good = NO_STRINGS[kind]["text"], embedding.cut_to_limit("river stone")
    texts = {"only": [wrong], "middle": [good, wrong, good][:many], "last": [good, wrong]}[where]
    reply = embedding.batch(texts)
    expect.readable(reply)
    if reply.is_error:
        expect.refusal(reply, "BadRequest")
        return
    failed = {failure.get("index"): batches.family_of(failure) for failure in failures_of(reply.result)}
    wanted = {number: "BadRequest" for number, text in enumerate(texts) if not isinstance(text, str)}
    expect.check(
        failed == wanted, "a failure of class BadRequest for the bad text", "a success, or another failure", "result"
    )
    found = len(embeddings_of(reply.result))
    expect.check(found == len(texts) - 1, "the other texts to be embedded", f"{found} embeddings", "result")


@pytest.mark.requirement("EMB-BATCH-9")
@pytest.mark.parametrize("wrong", [*NO_MODELS[:2], *FLAGS[::2]], ids=str)
def test_options_of_a_batch_have_their_types(embedding: Embedding, wrong: tuple[str, Any]) -> None:
    """In a batch too, `model` must be a string, `truncate` and `normalize` booleans."""
    embedding.require("embed_batch", "embed")
    name, value = wrong
    reply = embedding.batch([embedding.cut_to_limit("hi")], **{name: value})
    expect.refusal(reply, *refusal_classes(embedding, name))


@pytest.mark.requirement("EMB-BATCH-10")
def test_every_listed_model_embeds_batches(embedding: Embedding) -> None:
    """Each listed model embeds a batch without a failure."""
    texts = batches.arrange_texts(embedding, "plain", batches.require_batch_size(embedding, 2, least=1))
    embedding.models()
    for model in embedding.models_able_to("embed_batch"):
        result = expect.success(embedding.batch_once(texts, model=model), "a batch of every listed model")
        found = len(embeddings_of(result))
        expect.check(found == len(texts), f"{len(texts)} embeddings", f"{found}", "result")


@pytest.mark.requirement("EMB-MODEL-6")
def test_a_batch_is_embedded_by_the_model_asked_for(embedding: Embedding) -> None:
    """If two models give a text different vectors, a batch gets the vectors of the requested model."""
    batches.require_batch_size(embedding, 1, least=1)
    models, text = embedding.models_able_to("embed_batch"), embedding.cut_to_limit(UNRELATED[0])
    first, others = models[0], models[1:]
    alone = {model: embedding.vector_once("embed", text, model=model) for model in models}
    others = [model for model in others if not embedding.are_same(alone[first], alone[model], 0.05)]
    expect.applicable(others, "no two listed models give different vectors")
    for model in others:
        found = embedding.vector_once("embed_batch", text, model=model)
        near = distance(found, alone[first]) < distance(found, alone[model])
        expect.check(not near, "the vector of the requested model", "the vector of another model", "result.embeddings")


@pytest.mark.requirement("EMB-BATCH-14")
@pytest.mark.parametrize("where", ["none", "middle"])
def test_counts_of_a_batch_are_true(embedding: Embedding, where: str) -> None:
    """If a result counts texts, embeddings and failures, the numbers are right."""
    if where == "none":
        texts = batches.arrange_texts(embedding, "equal_texts", batches.require_batch_size(embedding, 6))
        reply = embedding.batch_once(texts, model=embedding.model)
    else:
        texts, _, reply = batches.batch_with_bad_texts(embedding, where)
        expect.applicable(not reply.is_error, "the whole batch is refused")
    found = batches.embeddings_by_position(embedding, "EMB-BATCH-14", reply, texts)
    wanted = {"total_texts": len(texts), "processed_count": len(found), "failed_count": len(texts) - len(found)}
    for key, number in wanted.items():
        said = reply.result.get(key)
        expect.check(said in (None, number), f"{number}", found=said, path=f"result.{key}")


@pytest.mark.requirement("EMB-BATCH-15")
def test_an_empty_batch_does_no_harm(embedding: Embedding) -> None:
    """An empty batch returns no embeddings, or is refused permanently."""
    embedding.require("embed_batch")
    reply = embedding.batch([])
    expect.either(reply, *batches.FINAL)
    if reply.is_success:
        found = len(embeddings_of(reply.result))
        expect.check(found == 0, "no embeddings", f"{found}", "result.embeddings")


@core("EMB-MODEL-3")
def test_an_unknown_model_does_not_embed_batches(embedding: Embedding) -> None:
    """A model that is not listed is refused permanently."""
    embedding.require("embed_batch", "embed")
    for model in embedding.unknown_models():
        expect.refusal(embedding.batch([embedding.cut_to_limit("hi")], model=model), *UNKNOWN_MODEL)
