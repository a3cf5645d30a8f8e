"""Normalization (BEHAVIORAL_CONFORMANCE 6.4; SPECIFICATION 10.3, 10.6; R12, R23)."""

from random import Random
from typing import Any

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.fixtures import core, deciding
from pytest_corpus.kit.generation import generate
from pytest_corpus.kit.outcomes import Blocked, NotApplicable, Violation
from pytest_corpus.kit.reply import StreamReply
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.suites.embedding.support.answers import cosine, expect_unit_norm, is_unit, norm, vector_of
from pytest_corpus.suites.embedding.support.component import Embedding, embedding
from pytest_corpus.suites.embedding.support.requests import OPERATIONS
from pytest_corpus.suites.embedding.support.scenarios.batches import (
    embeddings_by_position,
    require_batch_size,
    require_scripts,
    stream_vectors,
)
from pytest_corpus.suites.embedding.support.texts import FILLER, SCRIPTS, UNRELATED

TEXTS = {"word": "hi", "sentence": UNRELATED[0], "script": SCRIPTS["cjk"], "paragraph": FILLER * 8}
STRAIGHT = 0.98
"""The smallest allowed cosine of a vector and its normalized form. It leaves room for rounding and noise."""


@core("EMB-NORM-1")
@pytest.mark.parametrize("kind", list(TEXTS))
def test_a_normalized_vector_has_unit_norm(embedding: Embedding, kind: str) -> None:
    """With `normalize`, each listed model returns vectors of norm 1, for a repeated text too."""
    embedding.require_normalization()
    for model in embedding.models_able_to("embed"):
        text, options = embedding.cut_to_limit(TEXTS[kind]), {"model": model, "normalize": True}
        expect_unit_norm(embedding.vector_once("embed", text, **options))
        if kind == "sentence":
            expect_unit_norm(embedding.vector("embed", text, **options))


@pytest.mark.requirement("EMB-NORM-1")
def test_a_truncated_text_is_normalized_too(embedding: Embedding) -> None:
    """With `normalize` and `truncate`, a text beyond the limit gets a vector of norm 1."""
    embedding.require_normalization()
    reply = embedding.embed(embedding.text_of(embedding.length_above_limit(7)), normalize=True, truncate=True)
    expect_unit_norm(
        expect.applicable(vector_of(embedding.embedding(reply)), "a text that is too long is not embedded")
    )


@pytest.mark.requirement("EMB-NORM-1")
def test_every_text_is_normalized(embedding: Embedding) -> None:
    """With `normalize`, generated texts of ordinary words get vectors of norm 1."""
    embedding.require_normalization()

    def draw_text(chance: Random, size: float) -> str:
        return " ".join(chance.choices(FILLER.split(), k=generate.random_length(chance, size, 20)))

    def check(text: str) -> None:
        expect_unit_norm(embedding.vector("embed", embedding.cut_to_limit(text), normalize=True))

    generate.for_all(draw_text, check, embedding, examples=8)


@core("EMB-NORM-2")
@pytest.mark.parametrize("many", [1, 7])
def test_normalized_vectors_of_a_batch_have_unit_norm(embedding: Embedding, many: int) -> None:
    """With `normalize`, each listed model returns batches with vectors of norm 1."""
    embedding.require_normalization()
    require_scripts(embedding, *TEXTS.values())
    many = require_batch_size(embedding, many, least=1)
    for model in embedding.models_able_to("embed_batch"):
        require_normalizing_embed(embedding, model)
        texts = [embedding.cut_to_limit(f"{word} {embedding.unique()}") for word in (*UNRELATED, *TEXTS.values())][
            :many
        ]
        found = embeddings_by_position(
            embedding, "EMB-NORM-2", embedding.batch(texts, model=model, normalize=True), texts
        )
        expect.check(len(found) == many, "every text to be embedded", f"{many - len(found)} failures", "result")
        for position, each in found.items():
            expect_unit_norm(vector_of(each) or [], f"result.embeddings.{position}.vector")


@core("EMB-NORM-3")
@pytest.mark.parametrize("kind", list(TEXTS))
def test_normalized_vectors_of_a_stream_have_unit_norm(embedding: Embedding, kind: str) -> None:
    """With `normalize`, each listed model returns streams with vectors of norm 1."""
    embedding.require_normalization()
    require_scripts(embedding, TEXTS[kind])
    for model in embedding.models_able_to("stream_embed"):
        require_normalizing_embed(embedding, model)
        stream = embedding.stream_once(embedding.cut_to_limit(TEXTS[kind]), model=model, normalize=True)
        expect.finished(stream, "a stream with `normalize`")
        found = stream_vectors(embedding, stream)
        with expect.resting_on("EMB-STREAM-2"):
            expect.check(found, "at least one embedding", "no embedding", "chunk.embeddings")
        for vector in found:
            expect_unit_norm(vector, "chunk.embeddings")


@pytest.mark.core
@deciding("operation", embed="EMB-NORM-4", embed_batch="EMB-NORM-5", stream_embed="EMB-NORM-6")
def test_what_cannot_be_normalized_is_refused(embedding: Embedding, operation: str) -> None:
    """If normalization is denied, each operation answers `normalize` with NOT_SUPPORTED, for each listed model."""
    embedding.require("embed", operation)
    expect.applicable(embedding.capabilities.flag("supports_normalization") is False, "normalization is not denied")
    alone = embedding.embed_once(embedding.cut_to_limit("hi"), normalize=True)
    if operation != "embed" and alone.is_success and not embedding.capabilities.flag("normalizes_at_source"):
        raise Blocked("EMB-NORM-4", "embed does not refuse `normalize`")
    for text in map(embedding.cut_to_limit, TEXTS.values()):
        for model in embedding.models_able_to(operation):
            embedding.ask_once(operation, text, model=model)
            expect_not_normalized(embedding, operation, text, model=model)


@core("EMB-NORM-7")
@pytest.mark.parametrize("kind", list(TEXTS))
@pytest.mark.parametrize("operation", OPERATIONS)
def test_what_the_source_normalizes_is_left_alone(embedding: Embedding, operation: str, kind: str) -> None:
    """If a vector has norm 1 without `normalize`, then `normalize` does not change it."""
    require_normalizing_source(embedding)
    for model in embedding.models_able_to(operation):
        text = embedding.cut_to_limit(TEXTS[kind])
        raw = embedding.vector_once(operation, text, model=model, normalize=False)
        expect.applicable(is_unit(raw), "the source normalizes only if it is asked to")
        reply = embedding.ask_once(operation, text, model=model, normalize=True)
        if reply.is_a("NotSupported") and embedding.capabilities.flag("supports_normalization") is not True:
            raise NotApplicable("`normalize` is not offered")
        vector = embedding.vector_in(reply, operation, text, model=model, normalize=True)
        expect.check(embedding.are_same(raw, vector, 1e-7), "the vector of the source", "another vector", "vector")


@pytest.mark.requirement("EMB-NORM-8")
@pytest.mark.parametrize(
    ("operation", "kind"),
    [*(("embed", kind) for kind in TEXTS), *((operation, "sentence") for operation in OPERATIONS[1:])],
)
def test_normalizing_keeps_the_direction(embedding: Embedding, operation: str, kind: str) -> None:
    """The normalized vector of a text has the direction of its plain vector."""
    embedding.require_normalization()
    for model in embedding.models_able_to(operation):
        text = embedding.cut_to_limit(TEXTS[kind])
        plain = embedding.vector_once(operation, text, model=model)
        normalized = embedding.vector_once(operation, text, model=model, normalize=True)
        with expect.resting_on("EMB-DIM-1"):
            expect.check(len(plain) == len(normalized), f"{len(plain)} dimensions", f"{len(normalized)}", "vector")
        expect.assessable(norm(plain), Obstacle.ZEROS)
        expect.check(
            cosine(plain, normalized) >= STRAIGHT, "the direction of the plain vector", "another direction", "vector"
        )


@core("EMB-NORM-9")
@pytest.mark.parametrize("operation", OPERATIONS)
def test_normalize_is_false_by_default(embedding: Embedding, operation: str) -> None:
    """`normalize` may be false, and a request without it gets the same vector."""
    for model in embedding.models_able_to(operation):
        text = embedding.cut_to_limit(UNRELATED[0])
        reply = embedding.ask_once(operation, text, model=model, normalize=False)
        stated, silent = vector_of(embedding.embedding(reply)), embedding.vector_once(operation, text, model=model)
        if stated is None:
            raise Violation("an embedding with `normalize` false", str(reply))
        expect.check(abs(norm(stated) - norm(silent)) <= 0.02 * norm(stated), "the norm of the vector", "another norm")


@pytest.mark.requirement("EMB-NORM-10")
@pytest.mark.parametrize("kind", list(TEXTS))
def test_a_source_that_normalizes_does_so_unasked(embedding: Embedding, kind: str) -> None:
    """If `normalizes_at_source` is claimed, vectors have norm 1 without `normalize`."""
    require_normalizing_source(embedding)
    for model in embedding.models_able_to("embed"):
        expect_unit_norm(embedding.vector_once("embed", embedding.cut_to_limit(TEXTS[kind]), model=model))


def require_normalizing_source(embedding: Embedding) -> None:
    """Check that `normalizes_at_source` is claimed."""
    embedding.require("embed")
    if embedding.capabilities.flag("normalizes_at_source") is not True:
        raise NotApplicable("capabilities do not claim normalizes_at_source")


def require_normalizing_embed(embedding: Embedding, model: str) -> None:
    """Check that `embed` normalizes."""
    with expect.resting_on("EMB-NORM-1"):
        expect_unit_norm(
            embedding.vector_once("embed", embedding.cut_to_limit(UNRELATED[0]), model=model, normalize=True)
        )


def expect_not_normalized(embedding: Embedding, operation: str, text: str, **changed: Any) -> None:
    """Check that `normalize` is refused with NOT_SUPPORTED. A source that always normalizes may return unit vectors."""
    reply = embedding.ask(operation, text, normalize=True, **changed)
    if embedding.capabilities.flag("normalizes_at_source") is True and not reply.is_error:
        vectors = (
            stream_vectors(embedding, reply)
            if isinstance(reply, StreamReply)
            else [vector_of(embedding.embedding(reply))]
        )
        if all(vector and is_unit(vector) for vector in vectors):
            return
    expect.refusal(reply, "NotSupported")
