"""Single texts: results, arguments, models, streams (SPECIFICATION 10.2, 10.3, 10.6; SCHEMA 4.3.2; R13, R28)."""

import itertools
from functools import partial
from random import Random
from typing import Any

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import cached
from pytest_corpus.kit.component import expect_audited
from pytest_corpus.kit.fixtures import core, deciding, rules, subject
from pytest_corpus.kit.generation import generate
from pytest_corpus.kit.outcomes import Blocked, NotApplicable, NotAssessed
from pytest_corpus.kit.reply import Reply
from pytest_corpus.kit.vocabulary import INJECTIONS, WORDS, choose, distribute_words, fill_in, join_words, texts
from pytest_corpus.spec.errors import FILTERED, MODEL_ERRORS, PERMANENT, UNKNOWN_MODEL
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.suites.embedding.support.answers import distance, embeddings_of
from pytest_corpus.suites.embedding.support.component import Embedding, embedding
from pytest_corpus.suites.embedding.support.requests import OPERATIONS
from pytest_corpus.suites.embedding.support.scenarios import batches
from pytest_corpus.suites.embedding.support.scenarios.batches import FINAL, is_sent_text
from pytest_corpus.suites.embedding.support.texts import FILLER, FLAGS, LETTERS, NO_MODELS, SCRIPTS, UNRELATED
from pytest_corpus.suites.shared.claims.capabilities import TestModels
from pytest_corpus.suites.shared.claims.tokens import NO_STRINGS

GENERATED = 6
"""The number of generated texts, and the number of unusual words."""

OPTIONS: tuple[dict[str, Any], ...] = ({}, {"truncate": True}, {"truncate": False}, {"normalize": False})


@core("EMB-EMBED-1")
def test_a_plain_text_is_embedded(embedding: Embedding) -> None:
    """A short text gets a result that is valid under its schema."""
    reply = embedding.call("embed")
    if not embedding.capabilities.models and reply.is_a(*MODEL_ERRORS):
        raise NotAssessed(Obstacle.UNKNOWN_MODELS)
    expect_audited("EMB-EMBED-1", reply, embedding, claim="an embedding of a plain text")


@core("EMB-EMBED-1")
@pytest.mark.parametrize("options", OPTIONS[1:], ids=str)
def test_every_model_gives_a_result_of_the_schema(embedding: Embedding, options: dict[str, Any]) -> None:
    """Results of each listed model, with any options, are valid under their schema."""
    for model in embedding.models_able_to("embed"):
        reply = embedding.embed_once(embedding.cut_to_limit("a few plain words"), model=model, **options)
        unoffered = embedding.capabilities.flag("supports_truncation") is not True and options.get("truncate")
        if "normalize" in options and reply.is_a("NotSupported"):
            raise Blocked("EMB-NORM-9", "`normalize: false` is refused")
        if not (unoffered and reply.is_a("NotSupported")):
            expect_audited("EMB-EMBED-1", reply, embedding, claim="an embedding of a plain text")


@pytest.mark.core
@rules("dimensions EMB-EMBED-2, at_most EMB-DIM-2")
@pytest.mark.parametrize("operation", OPERATIONS)
def test_dimensions_are_true(embedding: Embedding, requirement: str, operation: str) -> None:
    """For each listed model, `dimensions` is the length of the vector, and within the stated maximum."""
    if requirement == "EMB-DIM-2" and embedding.capabilities.limit("max_dimensions") is None:
        raise NotApplicable("capabilities state no max_dimensions")
    for model in embedding.models_able_to(operation):
        for text in ("hi", FILLER):
            reply = embedding.ask_once(operation, embedding.cut_to_limit(text), model=model)
            embedding.vector_in(reply, operation, embedding.cut_to_limit(text), model=model)
            expect_audited(requirement, reply, embedding)


@core("EMB-DIM-1")
@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_model_has_one_number_of_dimensions(embedding: Embedding, operation: str) -> None:
    """All vectors of a model have the same length."""
    for model in embedding.models_able_to(operation):
        wanted = len(embedding.vector_once("embed", embedding.cut_to_limit("hi"), model=model))
        for text in map(embedding.cut_to_limit, (SCRIPTS["emoji"], FILLER * 40)):
            reply = embedding.ask_once(operation, text, model=model)
            if embedding.limit is None and reply.is_a("BadRequest", "NotSupported"):
                continue
            found = len(embedding.vector_in(reply, operation, text, model=model))
            expect.check(found == wanted, f"{wanted} dimensions, as for other texts", f"{found}", "vector")


@pytest.mark.core
@rules("the_text EMB-EMBED-3, letter_by_letter EMB-EMBED-9")
@pytest.mark.parametrize("operation", OPERATIONS)
def test_the_text_comes_back(embedding: Embedding, requirement: str, operation: str) -> None:
    """A result returns the sent text; differences in blanks or Unicode normal forms violate only a SHOULD."""
    batches.expect_texts_back(embedding, operation, exact=requirement == "EMB-EMBED-9")


@core("EMB-EMBED-4")
@pytest.mark.parametrize("script", list(SCRIPTS))
def test_a_text_in_any_script_is_embedded(embedding: Embedding, script: str) -> None:
    """Each listed model embeds letters, marks and signs of any script."""
    models = embedding.models_able_to("embed")
    for model in models if script in ("combining", "cjk", "emoji") else models[:1]:
        reply = embedding.embed_once(embedding.cut_to_limit(SCRIPTS[script]), model=model)
        embedding.require_fit(reply)
        if script == "signs" and reply.is_a(*FILTERED):
            raise NotApplicable("a content filter refuses the characters of source code")
        expect.success(reply, f"an embedding of a text of the kind {script}")


@pytest.mark.requirement("EMB-EMBED-4")
def test_every_text_is_embedded(embedding: Embedding) -> None:
    """Generated texts of all scripts and unusual words are embedded and returned.

    A text with NUL may be refused permanently, and a content filter may refuse any text (ERRORS 6.2).
    """
    embedding.require("embed")
    words = fill_in(choose({**INJECTIONS, **WORDS}, GENERATED, ["nul"]), "w")
    most = 40 if embedding.limit is None else max(1, min(40, embedding.limit // 4))

    def draw_text(chance: Random, size: float) -> str:
        letters = (
            chr(chance.randint(*chance.choice(LETTERS))) for _ in range(generate.random_length(chance, size, most) - 1)
        )
        return "".join(["a", *letters])

    def check(text: str) -> None:
        reply = embedding.embed(text)
        embedding.require_fit(reply)
        if reply.is_a(*FILTERED) or ("\x00" in text and not expect.either(reply, *PERMANENT)):
            return
        result = expect.success(reply, "an embedding of any text")
        shown = result.get("text") if isinstance(result, dict) else None
        if not isinstance(shown, str) or not embedding.can_take_text(text):
            return
        expect.check(is_sent_text(embedding, shown, text), "the text that was sent", "another text", "result.text")

    for word, others in zip(words.values(), ["", *distribute_words(GENERATED - 1, "w")], strict=True):
        several = f"{word} {others}" if others else word
        check(embedding.cut_to_limit(several if embedding.can_take_text(several) else word))
    generate.for_all(draw_text, check, embedding, examples=GENERATED)


@core("EMB-EMBED-5")
def test_unrelated_texts_have_different_vectors(embedding: Embedding) -> None:
    """Each listed model gives four unrelated texts four different vectors."""
    for model in embedding.models_able_to("embed"):
        vectors = [embedding.vector_once("embed", embedding.cut_to_limit(text), model=model) for text in UNRELATED]
        for one, other in itertools.combinations(vectors, 2):
            expect.check(distance(one, other) > 1e-9, "different vectors", "the same vector")


@deciding("operation", embed="EMB-EMBED-6", embed_batch="EMB-BATCH-17")
def test_the_result_names_the_model_asked_for(embedding: Embedding, operation: str) -> None:
    """If a request names a listed model, its result and its embeddings name no other model."""
    embedding.require(operation)
    embedding.models()
    for model in embedding.models_able_to(operation):
        reply = embedding.ask_model_once(operation, model)
        assert isinstance(reply, Reply)
        result = expect.success(reply, "an embedding")
        named = {result.get("model"), *(each.get("model") for each in embeddings_of(result))} - {None}
        expect.applicable(named, "no model is named")
        expect.check(named <= {model}, "the requested model", f"{len(named - {model})} other models", "result.model")


@pytest.mark.requirement("EMB-EMBED-7")
def test_an_embedding_is_repeatable(embedding: Embedding) -> None:
    """The same text gets the same vector three times, and from another instance."""
    text = embedding.cut_to_limit(UNRELATED[0])
    embedding.require("embed")
    vectors = [embedding.vector("embed", text) for _ in range(3)]
    fresh = embedding.fresh()
    for other in (*vectors[1:], fresh.vector("embed", text)):
        expect.check(distance(vectors[0], other) <= 1e-6, "the same vector", "another vector")


@pytest.mark.requirement("EMB-EMBED-8")
@pytest.mark.parametrize("text", ["hi", SCRIPTS["emoji"], FILLER], ids=["word", "emoji", "long"])
def test_tokens_used_are_those_that_are_counted(embedding: Embedding, text: str) -> None:
    """If `tokens_used` is given, it equals the token count of the text."""
    embedding.require("embed", "count_tokens")
    batches.require_scripts(embedding, text)
    for model in embedding.models_able_to("embed"):
        with expect.resting_on("EMB-TOKENS-1" if text.isascii() else "EMB-TOKENS-3"):
            counted = embedding.count(embedding.cut_to_limit(text), model=model)
        reply = embedding.embed_once(embedding.cut_to_limit(text), model=model)
        embedding.require_fit(reply)
        used = expect.success(reply, "an embedding").get("tokens_used")
        expect.applicable(used is not None, "tokens_used is not given")
        expect.check(used == counted, f"{counted}, as count_tokens says", f"{used}", "result.tokens_used")


@pytest.mark.parametrize(
    ("wrong", "operation"),
    [
        *(
            pytest.param(each, "embed", marks=pytest.mark.requirement(f"EMB-ARGS-{rule}"), id=f"{each}-embed")
            for rule, wrong in ((1, NO_STRINGS), (2, NO_MODELS), (3, FLAGS))
            for each in wrong
        ),
        *(
            pytest.param(each, "stream_embed", marks=pytest.mark.requirement("EMB-ARGS-4"), id=f"{each}-stream_embed")
            for each in (*NO_STRINGS, *NO_MODELS[:1], *FLAGS[::2])
        ),
    ],
)
def test_an_argument_of_the_wrong_type_is_refused(
    embedding: Embedding, wrong: str | tuple[str, Any], operation: str
) -> None:
    """`text` must be given and a string, `model` a string, `truncate` and `normalize` booleans."""
    embedding.require(operation, "embed")
    if isinstance(wrong, str):
        args, name = {"model": embedding.model, **NO_STRINGS[wrong]}, "text"
    else:
        args, name = (
            embedding.requests.with_text(operation, embedding.cut_to_limit("hi"), **{wrong[0]: wrong[1]}),
            wrong[0],
        )
    expect.refusal(embedding.invoke(operation, args), *batches.refusal_classes(embedding, name))


@pytest.mark.requirement("EMB-ARGS-3")
@pytest.mark.parametrize("name", ["truncate", "normalize"])
def test_a_null_option_does_no_harm(embedding: Embedding, name: str) -> None:
    """A null option counts as missing, or is refused permanently (R144)."""
    embedding.require("embed")
    expect.either(embedding.embed(embedding.cut_to_limit("hi"), **{name: None}), *PERMANENT)


@rules("never_retryable EMB-ARGS-5, refused EMB-ARGS-6")
@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("model", ["missing", "empty"])
def test_a_missing_model_is_refused(embedding: Embedding, requirement: str, model: str, operation: str) -> None:
    """Without `model`, a default model answers or the request is refused. An empty name may be refused as unknown."""
    embedding.require(operation)
    args = embedding.requests.with_text(operation, embedding.cut_to_limit("hi"), model="")
    if model == "missing":
        del args["model"]
    reply = cached(embedding, ("model", model, operation), partial(embedding.invoke, operation, args), common=True)
    classes = UNKNOWN_MODEL if model == "empty" else ("BadRequest", "NotSupported")
    if requirement == "EMB-ARGS-5":
        expect.either(reply, *classes)
    else:
        expect.refusal(reply, *classes)


@pytest.mark.requirement("EMB-ARGS-7")
@pytest.mark.parametrize("text", ["", " "], ids=["empty", "space"])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_empty_text_does_no_harm(embedding: Embedding, operation: str, text: str) -> None:
    """A text without words is embedded or refused permanently."""
    embedding.require(operation)
    expect.either(embedding.ask(operation, text), *FINAL)


@pytest.mark.core
@rules("schema EMB-STREAM-1, usage EMB-STREAM-4")
@pytest.mark.parametrize("text", ["hi", FILLER, SCRIPTS["emoji"]], ids=["word", "long", "emoji"])
def test_chunks_are_of_the_schema(embedding: Embedding, requirement: str, text: str) -> None:
    """Each chunk has `embeddings` and `is_final`, no undocumented key, and a usage that adds up."""
    embedding.require("stream_embed")
    batches.require_scripts(embedding, text)
    for model in embedding.models_able_to("stream_embed"):
        stream = embedding.stream_once(embedding.cut_to_limit(text), model=model)
        embedding.require_fit(stream)
        expect.finished(stream, "a stream")
        if requirement == "EMB-STREAM-4" and not any(chunk.get("usage") for chunk in stream.chunks):
            raise NotApplicable("no chunk reports usage")
        expect_audited(requirement, stream, embedding)


@core("EMB-STREAM-2")
def test_a_stream_gives_an_embedding(embedding: Embedding) -> None:
    """A finished stream has an embedding with a vector, also if the text is streamed again."""
    for model in embedding.models_able_to("stream_embed"):
        unique = embedding.unique()
        asked = [join_words("w", ("nul", "long")) + unique, *texts(1, unique), unique]
        text = next(filter(embedding.can_take_text, asked), unique)
        for _ in range(2):
            stream = embedding.stream_text(text, model=model)
            is_too_long = text == asked[0] and embedding.limit is None and stream.is_a("BadRequest")
            if is_too_long or (text != unique and stream.is_a(*FILTERED)):
                text = unique if stream.is_a(*FILTERED) else asked[1]
                stream = embedding.stream_text(text, model=model)
            found = batches.stream_vectors(embedding, stream)
            expect.check(found, "at least one embedding", "no embedding", "chunk.embeddings")


@pytest.mark.requirement("EMB-STREAM-3")
def test_a_stream_embeds_its_text(embedding: Embedding) -> None:
    """The only vector of a stream is nearer to the vector of its own text than to the vector of any other text."""
    for model in embedding.models_able_to("stream_embed"):
        own = {
            text: embedding.vector_once("embed", text, model=model) for text in map(embedding.cut_to_limit, UNRELATED)
        }
        for text in [*own][:2]:
            found = batches.streamed_vector(embedding, text, model=model)
            apart = {other: distance(found, vector) for other, vector in own.items()}
            expect.check(
                max(apart.values()) > 1e-9, "a vector that differs from the vectors of other texts", "the same vector"
            )
            expect.check(
                apart[text] <= min(apart.values()) + 1e-9, "the vector of the text", "the vector of another text"
            )


@pytest.mark.requirement("EMB-STREAM-7")
@pytest.mark.parametrize("normalize", [True, False])
def test_a_stream_gives_the_vector_of_embed(embedding: Embedding, normalize: bool) -> None:
    """The only embedding of a stream has the vector that `embed` gives to the text."""
    if normalize:
        embedding.require_normalization()
    options = {"normalize": True} if normalize else {}
    for model in embedding.models_able_to("stream_embed"):
        for text in map(embedding.cut_to_limit, ("hi", FILLER)):
            alone = embedding.vector_once("embed", text, model=model, **options)
            found = batches.streamed_vector(embedding, text, model=model, **options)
            expect.check(embedding.are_same(found, alone, 0.02), "the vector of `embed`", "another vector")
