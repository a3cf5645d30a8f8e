"""Token counting (BEHAVIORAL_CONFORMANCE 6.5; SPECIFICATION 8.3; R10, R13)."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from pytest_corpus.spec.errors import UNKNOWN_MODEL
from pytest_corpus.suites import expect, generate
from pytest_corpus.suites.audit import holds
from pytest_corpus.suites.llm.completions import completing
from pytest_corpus.suites.llm.probe import LLM, llm
from pytest_corpus.suites.outcomes import NotAssessed

UNICODE = {
    "combining_mark": "e\u0301\u0302 n\u0303",
    "mark_alone": "\u0301",
    "astral": "\U0001f600\U0001f680\U0001d11e",
    "zero_width_joiner": "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "skin_tone": "\U0001f44d\U0001f3fd",
    "flag": "\U0001f1ef\U0001f1f5",
    "right_to_left": "\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627",
    "cjk": "\u6771\u4eac\u90fd",
    "hangul_parts": "\u1112\u1161\u11ab",
    "null_and_controls": "a\u0000b\u0007c",
    "private_use": "\ue000\U0010ffff",
}


SENTENCE = (
    "Hello, tokenizer!  Don't  stop-counting 1234567 e\u0301\U0001f600 words...   \n\n\n \t\tand (((on))) ====> "
    "----- aaaaaa \U0001f468\u200d\U0001f469 \U0001f1ef\U0001f1f5\U0001f1f3\U0001f1f4 \u6771\u4eac."
)
"""A text with what tokenizers join: runs of signs, spaces, digits and letters, marks, flags, joined characters."""


@pytest.mark.core
@pytest.mark.requirement("LLM-TOKENS-1")
@pytest.mark.parametrize("text", ["hi", "one two three", "x" * 40], ids=["word", "words", "long_word"])
def test_a_count_is_a_whole_number(llm: LLM, text: str) -> None:
    """A count is an integer of at least 0, bare or inside an object."""
    llm.require("count_tokens")
    reply = llm.call("count_tokens", {**llm.minimal("count_tokens"), "text": text})
    llm.fits(reply)
    expect.success(reply, "a token count")
    holds("LLM-TOKENS-1", reply, llm)


@pytest.mark.core
@pytest.mark.requirement("LLM-TOKENS-2")
@pytest.mark.parametrize("alphabet", ["letters", "unicode"])
def test_a_longer_text_never_has_fewer_tokens(llm: LLM, alphabet: str) -> None:
    """For every text and every beginning of it, the beginning has at most as many tokens."""
    strategies = generate.strategies()
    llm.require("count_tokens")
    started = time.monotonic()
    llm.count("hi")
    cost = time.monotonic() - started
    letters = strategies.sampled_from([*"ab cd.,'\n-\t1e", "...", "   ", "\n\n", "123", "==", "ing", "the "])
    points = strategies.integers(0x20, 0xD7FF) | strategies.integers(0xE000, 0x10FFFF)
    anything = points.map(chr) | strategies.sampled_from("".join(UNICODE.values()))
    parts = strategies.lists(letters if alphabet == "letters" else anything, min_size=1, max_size=40)
    texts = parts.map("".join)
    pairs = texts.flatmap(lambda text: strategies.tuples(strategies.just(text), strategies.integers(1, len(text))))

    def check(pair: tuple[str, int]) -> None:
        text, end = pair
        if end < len(text):
            shorter, longer = llm.count(text[:end]), llm.count(text)
            expect.that(shorter <= longer, f"at least {shorter} tokens, as its beginning has", f"{longer}")

    generate.for_all(pairs, check, seed=llm.settings.seed, examples=40, call_s=cost)


@pytest.mark.requirement("LLM-TOKENS-2")
def test_every_prefix_of_a_sentence_counts_less(llm: LLM) -> None:
    """Along every beginning of one sentence the count never falls."""
    llm.require("count_tokens")
    never_falls(llm, SENTENCE, range(1, len(SENTENCE) + 1))


@pytest.mark.requirement("LLM-TOKENS-2")
def test_the_count_of_every_listed_model_never_falls(llm: LLM) -> None:
    """Along the beginnings of one sentence the count never falls, whichever listed model counts."""
    llm.require("count_tokens")
    for model in completing(llm, "supports_count_tokens"):
        never_falls(llm, SENTENCE, range(1, len(SENTENCE) + 1, 3), model=model)


@pytest.mark.requirement("LLM-TOKENS-2")
def test_the_count_of_a_long_text_never_falls(llm: LLM) -> None:
    """Along the beginnings of a text of thousands of words the count never falls."""
    llm.require("count_tokens")
    text = " ".join(f"word{number}" for number in range(2_000))
    never_falls(llm, text, range(7, len(text), 301))


def counts_of(llm: LLM, texts: Iterable[str], **changed: Any) -> list[int]:
    """The counts of ever longer texts, up to the first that is refused because it may be beyond the window."""
    counts: list[int] = []
    for text in texts:
        reply = llm.call("count_tokens", {**llm.minimal("count_tokens"), "text": text, **changed})
        if reply.is_a("BadRequest") and not llm.holds(text):
            break
        counts.append(llm.tokens_of(expect.success(reply, "a token count")))
    return counts


def never_falls(llm: LLM, text: str, ends: Sequence[int], **changed: Any) -> None:
    """The longer the beginning of a text, the more tokens, or as many."""
    counts = counts_of(llm, (text[:end] for end in ends), **changed)
    expect.that(counts == sorted(counts), "counts that never fall", "a smaller count for a longer text")


@pytest.mark.requirement("LLM-TOKENS-3")
@pytest.mark.parametrize("kind", list(UNICODE))
def test_unicode_is_counted_safely(llm: LLM, kind: str) -> None:
    """Marks, surrogate pairs and joined characters are counted like any text."""
    llm.require("count_tokens")
    llm.count(UNICODE[kind])


@pytest.mark.core
@pytest.mark.requirement("LLM-TOKENS-4")
def test_an_unknown_model_does_not_count(llm: LLM) -> None:
    """A model that is not listed is refused for good."""
    llm.require("count_tokens")
    for model in llm.unknown_models():
        expect.refusal(llm.call("count_tokens", {"text": "hi", "model": model}), *UNKNOWN_MODEL)


@pytest.mark.requirement("LLM-TOKENS-5")
def test_every_listed_model_counts(llm: LLM) -> None:
    """Each model that capabilities list counts tokens."""
    llm.require("count_tokens")
    for model in completing(llm, "supports_count_tokens"):
        expect.success(llm.call("count_tokens", {"text": "hi", "model": model}), "a count by every listed model")


@pytest.mark.requirement("LLM-TOKENS-6")
@pytest.mark.parametrize(
    "changed",
    [{"text": 7}, {"text": False}, {"text": None}, {"text": ["hi"]}, {"text": {"a": 1}}, {}],
    ids=["number", "boolean", "null", "list", "object", "missing"],
)
def test_a_text_that_is_no_string_is_refused(llm: LLM, changed: dict[str, Any]) -> None:
    """`text` is required and a string."""
    llm.require("count_tokens")
    args = {key: value for key, value in llm.minimal("count_tokens").items() if key != "text"}
    expect.refusal(llm.call("count_tokens", {**args, **changed}), "BadRequest")


@pytest.mark.requirement("LLM-TOKENS-7")
def test_a_count_is_repeatable(llm: LLM) -> None:
    """The same text is counted three times alike."""
    llm.require("count_tokens")
    text = "The same text, three times: \u00fc\U0001f600."
    counts = {llm.count(text) for _ in range(3)}
    expect.that(len(counts) == 1, "one count", f"{len(counts)} different ones")


@pytest.mark.requirement("LLM-TOKENS-8")
def test_every_listed_model_counts_the_text(llm: LLM) -> None:
    """Of every listed model, and far into a text, more words that begin alike have more tokens."""
    llm.require("count_tokens")
    for model in completing(llm, "supports_count_tokens"):
        texts = (" ".join(f"stone{number}" for number in range(words)) for words in (10, 30, 300, 1_500))
        counts = counts_of(llm, texts, model=model)
        grown = all(one < other for one, other in itertools.pairwise(counts))
        expect.that(grown, "more tokens for more words", "as many or fewer")


@pytest.mark.core
@pytest.mark.requirement("LLM-TOKENS-8")
def test_a_count_grows_with_the_text(llm: LLM) -> None:
    """Three hundred words have more tokens than one of them."""
    llm.require("count_tokens")
    words = [f"{word}{number}" for number in range(100) for word in ("river", "stone", "light")]
    one = llm.count(words[0])
    for number in (len(words), 30, 10):
        text = " ".join(words[:number])
        reply = llm.call("count_tokens", {**llm.minimal("count_tokens"), "text": text})
        if llm.holds(text) or not reply.is_a("BadRequest"):
            many = llm.tokens_of(expect.success(reply, "a token count"))
            expect.that(many > one, f"more than {one} tokens for {number} words", f"{many}")
            return
    raise NotAssessed("a text of ten words is already beyond the window")
