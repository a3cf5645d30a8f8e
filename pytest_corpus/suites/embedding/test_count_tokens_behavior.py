"""Token counting (BEHAVIORAL_CONFORMANCE 6.5; SPECIFICATION 10.3; R10, R13)."""

from typing import Any

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.component import holds
from pytest_corpus.kit.outcomes import NotApplicable
from pytest_corpus.spec.errors import UNKNOWN_MODEL
from pytest_corpus.suites.embedding.support.component import Embedding, embedding
from pytest_corpus.suites.shared.claims import tokens
from pytest_corpus.suites.shared.claims.tokens import NO_STRINGS, SENTENCE, UNICODE


def counting(embedding: Embedding) -> list[str]:
    """The models of which `count_tokens` is tried."""
    embedding.require("count_tokens")
    return embedding.able("count_tokens")


@pytest.mark.core
@pytest.mark.requirement("EMB-TOKENS-1")
@pytest.mark.parametrize("text", ["hi", "one two three", "x" * 40], ids=["word", "words", "long_word"])
def test_a_count_is_a_whole_number(embedding: Embedding, text: str) -> None:
    """A count is an integer of at least 0, bare or inside an object."""
    for model in counting(embedding):
        reply = embedding.counted(text, model=model)
        embedding.fits(reply)
        expect.success(reply, "a token count")
        holds("EMB-TOKENS-1", reply, embedding)


@pytest.mark.core
@pytest.mark.requirement("EMB-TOKENS-2")
@pytest.mark.parametrize("alphabet", ["letters", "unicode"])
def test_a_longer_text_never_has_fewer_tokens(embedding: Embedding, alphabet: str) -> None:
    """For every text and every beginning of it, the beginning has at most as many tokens."""
    tokens.longer_is_never_fewer(embedding, alphabet)


@pytest.mark.requirement("EMB-TOKENS-2")
def test_the_beginnings_of_a_sentence_count_less(embedding: Embedding) -> None:
    """Along the beginnings of one sentence the count never falls, whichever listed model counts."""
    for number, model in enumerate(counting(embedding)):
        tokens.never_falls(embedding, SENTENCE, range(1, len(SENTENCE) + 1, 40 if number else 6), model=model)


@pytest.mark.requirement("EMB-TOKENS-2")
def test_the_count_of_a_long_text_never_falls(embedding: Embedding) -> None:
    """Along the beginnings of a text of thousands of words the count never falls."""
    tokens.never_falls_far(embedding)


@pytest.mark.requirement("EMB-TOKENS-2")
def test_the_count_never_falls_around_the_limit(embedding: Embedding) -> None:
    """If a text grows beyond `max_text_length`, its count does not fall."""
    embedding.require("count_tokens")
    limit = embedding.limited()
    text = embedding.text_of(limit + 24)
    tokens.never_falls(embedding, text, range(max(1, limit - 12), limit + 24, 6))


@pytest.mark.requirement("EMB-TOKENS-3")
@pytest.mark.parametrize("kind", list(UNICODE))
def test_unicode_is_counted_safely(embedding: Embedding, kind: str) -> None:
    """Marks, surrogate pairs and joined characters are counted like any text."""
    embedding.require("count_tokens")
    embedding.count(UNICODE[kind])


@pytest.mark.core
@pytest.mark.requirement("EMB-TOKENS-4")
def test_an_unknown_model_does_not_count(embedding: Embedding) -> None:
    """A model that is not listed is refused permanently."""
    embedding.require("count_tokens")
    for model in embedding.unknown_models():
        expect.refusal(embedding.counted(embedding.fit("hi"), model=model), *UNKNOWN_MODEL)


@pytest.mark.requirement("EMB-TOKENS-5")
def test_every_listed_model_counts(embedding: Embedding) -> None:
    """Each model that capabilities list counts tokens."""
    embedding.models()
    for model in counting(embedding):
        expect.success(embedding.counted(embedding.fit("hi"), model=model), "a count by every listed model")


@pytest.mark.requirement("EMB-TOKENS-6")
@pytest.mark.parametrize("kind", list(NO_STRINGS))
def test_a_text_that_is_no_string_is_refused(embedding: Embedding, kind: str) -> None:
    """`text` is required and a string."""
    tokens.refuses_no_text(embedding, kind)


@pytest.mark.requirement("EMB-TOKENS-6")
@pytest.mark.parametrize("value", [7, ["m"], {"name": "m"}], ids=["number", "list", "object"])
def test_a_model_that_is_no_string_is_refused(embedding: Embedding, value: Any) -> None:
    """`model` is a string."""
    embedding.require("count_tokens")
    if embedding.capabilities.models:
        with expect.resting_on("EMB-TOKENS-4"):
            expect.refusal(embedding.counted(embedding.fit("hi"), model=embedding.unknown_model()), *UNKNOWN_MODEL)
    expect.refusal(embedding.counted(embedding.fit("hi"), model=value), "BadRequest")


@pytest.mark.requirement("EMB-TOKENS-9")
def test_a_model_need_not_be_named(embedding: Embedding) -> None:
    """A text is counted without `model`, by a default one."""
    embedding.require("count_tokens")
    expect.success(embedding.call("count_tokens", {"text": embedding.fit("hi")}), "a count by a default model")


@pytest.mark.requirement("EMB-TOKENS-7")
def test_a_count_is_repeatable(embedding: Embedding) -> None:
    """The same text is counted three times alike."""
    tokens.repeatable(embedding)


@pytest.mark.requirement("EMB-TOKENS-8")
def test_every_listed_model_counts_the_text(embedding: Embedding) -> None:
    """Of every listed model, and far into a text, more words that begin alike have more tokens."""
    for model in counting(embedding):
        tokens.grows_far(embedding, model)


@pytest.mark.core
@pytest.mark.requirement("EMB-TOKENS-8")
def test_a_count_grows_with_the_text(embedding: Embedding) -> None:
    """Three hundred words have more tokens than one of them, or as many as the limit holds."""
    if not embedding.small:
        tokens.grows(embedding)
        return
    embedding.require("count_tokens")
    words = "a b c d e f g h"[: embedding.limited()].strip()
    if len(words) < 3:
        raise NotApplicable(f"a text of {embedding.limit} characters has no words")
    one, many = embedding.count("a"), embedding.count(words)
    expect.that(many > one, f"more than {one} tokens for {len(words.split())} words", f"{many}")
