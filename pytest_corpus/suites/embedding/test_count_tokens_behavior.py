"""Token counting (BEHAVIORAL_CONFORMANCE 6.5; SPECIFICATION 10.3; R10, R13)."""

from typing import Any

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.fixtures import core, subject
from pytest_corpus.spec.errors import UNKNOWN_MODEL
from pytest_corpus.suites.embedding.support.component import Embedding, embedding
from pytest_corpus.suites.shared.claims import tokens
from pytest_corpus.suites.shared.claims.tokens import TestTokens


@pytest.mark.requirement("EMB-TOKENS-2")
def test_the_count_never_falls_around_the_limit(embedding: Embedding) -> None:
    """The count of a text does not fall when the text grows beyond `max_text_length`."""
    embedding.require("count_tokens")
    limit = embedding.stated_limit()
    text = embedding.text_of(limit + 24)
    tokens.expect_rising_counts(embedding, text, range(max(1, limit - 12), limit + 24, 6))


@pytest.mark.requirement("EMB-TOKENS-6")
@pytest.mark.parametrize("value", [7, ["m"], {"name": "m"}], ids=["number", "list", "object"])
def test_a_model_that_is_no_string_is_refused(embedding: Embedding, value: Any) -> None:
    """`model` must be a string."""
    embedding.require("count_tokens")
    if embedding.capabilities.models:
        with expect.resting_on("EMB-TOKENS-4"):
            expect.refusal(
                embedding.ask_count(embedding.cut_to_limit("hi"), model=embedding.unknown_model()), *UNKNOWN_MODEL
            )
    expect.refusal(embedding.ask_count(embedding.cut_to_limit("hi"), model=value), "BadRequest")


@pytest.mark.requirement("EMB-TOKENS-9")
def test_a_model_need_not_be_named(embedding: Embedding) -> None:
    """Without `model`, a default model counts the text."""
    embedding.require("count_tokens")
    expect.success(embedding.call("count_tokens", {"text": embedding.cut_to_limit("hi")}), "a count by a default model")


@core("EMB-TOKENS-8")
def test_a_count_grows_with_the_text(embedding: Embedding) -> None:
    """Three hundred words, or as many as the limit allows, have more tokens than one word."""
    if not embedding.has_small_limit:
        tokens.expect_growing_count(embedding)
        return
    embedding.require("count_tokens")
    words = "a b c d e f g h"[: embedding.stated_limit()].strip()
    expect.applicable(len(words) >= 3, f"a text of {embedding.limit} characters is too short for several words")
    one, many = embedding.count("a"), embedding.count(words)
    expect.check(many > one, f"more than {one} tokens for {len(words.split())} words", f"{many}")
