"""Tests of token counts, for components that count tokens (BEHAVIORAL_CONFORMANCE 6.5; R10, R13)."""

import itertools
import random
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import pytest

from pytest_corpus.adapter.facts import to_whole_number
from pytest_corpus.adapter.turns import call_side_by_side
from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import cached
from pytest_corpus.kit.component import Subject, expect_audited
from pytest_corpus.kit.fixtures import core
from pytest_corpus.kit.outcomes import Blocked, NotAssessed, Violation
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.kit.requests import canary
from pytest_corpus.kit.vocabulary import INJECTIONS, WORDS, choose, fill_in, join_words
from pytest_corpus.spec.errors import PERMANENT, UNKNOWN_MODEL
from pytest_corpus.spec.obstacles import Obstacle

COUNT_KEYS = ("tokens", "count", "token_count", "total_tokens")

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

WITH_WORDS = "private_use"
"""To a text of this kind, the unusual words of the vocabulary are added."""

SENTENCE = (
    "Hello, tokenizer!  Don't  stop-counting 1234567 e\u0301\U0001f600 words...   \n\n\n \t\tand (((on))) ====> "
    "----- aaaaaa \U0001f468\u200d\U0001f469 \U0001f1ef\U0001f1f5\U0001f1f3\U0001f1f4 \u6771\u4eac."
)
"""A text with everything that tokenizers merge: runs of signs, spaces, digits and letters, marks, flags, joined
characters."""

NO_STRINGS: dict[str, dict[str, Any]] = {
    "number": {"text": 7},
    "boolean": {"text": False},
    "null": {"text": None},
    "list": {"text": ["hi"]},
    "object": {"text": {"a": 1}},
    "missing": {},
}
"""Arguments without a valid text: wrong types, and no `text`."""


def token_count(result: Any) -> int | None:
    """Return a token count, given as an integer or inside an object (R10), or None."""
    count = to_whole_number(_stated_count(result)[1])
    return count if count is not None and count >= 0 else None


def _stated_count(result: Any) -> tuple[str, Any]:
    """Return the path of the count in a result of `count_tokens`, and the value there."""
    if not isinstance(result, Mapping):
        return "result", result
    return next(((f"result.{key}", result[key]) for key in COUNT_KEYS if key in result), ("result.tokens", None))


def has_true_total(usage: Any) -> bool:
    """True if the total of a usage is the sum of its parts, or if a part is missing (R29, R49)."""
    if not isinstance(usage, Mapping):
        return True
    prompt, completion, total = map(
        to_whole_number, map(usage.get, ("prompt_tokens", "completion_tokens", "total_tokens"))
    )
    readable = usage.get("completion_tokens") is None or completion is not None
    return prompt is None or total is None or not readable or prompt + (completion or 0) == total


class TokenCounter(Subject):
    """A component with the operation `count_tokens`."""

    def can_take_text(self, text: str) -> bool:
        """True if a text is certainly short enough to be counted."""
        raise NotImplementedError

    def require_fit(self, reply: Reply | StreamReply) -> None:
        """Raise Undecided if a request may have been refused because of a tiny limit."""
        raise NotImplementedError

    def ask_count(self, text: str, **changed: Any) -> Reply:
        """Count a text with some arguments changed."""
        return self.call("count_tokens", {**self.requests.minimal("count_tokens"), "text": text, **changed})

    def count_once(self, text: str, **changed: Any) -> Reply:
        """Count a text with some arguments changed, once a run."""
        key = ("counted", text, *sorted({**self.requests.minimal("count_tokens"), **changed, "text": ""}.items()))
        return cached(self, key, partial(self.ask_count, text, **changed), common=True)

    def count(self, text: str, **changed: Any) -> int:
        """Count the tokens of a text and return the number."""
        reply = self.ask_count(text, **changed)
        self.require_fit(reply)
        return self.tokens_of(expect.success(reply, "a token count"))

    def tokens_of(self, result: Any) -> int:
        """Return the token count in a result. Raises Blocked if the result has no count."""
        count = token_count(result)
        if count is None:
            raise Blocked(self.operation("count_tokens").shaped, "a token count is not a non-negative integer")
        return count

    def token_problems(self, result: Any) -> Iterable[Violation]:
        """Yield the faults in a result of `count_tokens`."""
        if self.settings.edition == "1.0.0" and not isinstance(result, Mapping):
            yield Violation("an object (edition 1.0.0)", found=result, path="result")
        if token_count(result) is None:
            place, found = _stated_count(result)
            yield Violation("a non-negative integer", found=found, path=place)


class ListedModels(TokenCounter):
    """A component whose capabilities may list models."""

    unknown = ""
    """The requirement that the principal operation refuses an unknown model."""

    def unknown_model(self) -> str:
        """Return a model name that is not listed. Raises NotApplicable if capabilities list no models."""
        self.models()
        return f"no-such-model-{canary()}"

    def unknown_models(self) -> tuple[str, ...]:
        """Return names that are not listed: a new one, and a listed one followed by an unusual word."""
        [word] = fill_in(choose({**INJECTIONS, **WORDS}, 1), f"-{canary()}").values()
        return self.unknown_model(), f"{self.models()[0]}{word}"

    def models_able_to(self, name: str) -> list[str]:
        """Return the listed models that offer an operation, but at most as many as the tests try.

        Raises Undecided if there are none, or if one of them does not work; another requirement reports the failure.
        """
        raise NotImplementedError

    def ask_model_once(self, name: str, model: str) -> Reply | StreamReply:
        """Send a plain request of an operation to a model, once a run."""
        raise NotImplementedError


PARTS, CUTS = 48, 5
"""The number of parts of a generated text, and the number of places where it is cut."""

ENDS = sorted({13, 17, *range(1, len(SENTENCE) + 1, 24), *range(len(SENTENCE) - 12, len(SENTENCE) + 1)})
"""The lengths of the prefixes that are counted: two short ones, every 24th character, and each character at the end."""


class TestTokens:
    """Token counts of components whose capabilities may list models."""

    @core("LLM-TOKENS-1", "EMB-TOKENS-1")
    @pytest.mark.parametrize("text", ["hi", "one two three", "x" * 40], ids=["word", "words", "long_word"])
    def test_a_count_is_a_whole_number(self, subject: ListedModels, text: str) -> None:
        """A count is an integer of at least 0, alone or inside an object."""
        for model in model_arguments(subject):
            reply = subject.count_once(text, **model)
            subject.require_fit(reply)
            expect_audited(subject.operation("count_tokens").shaped, reply, subject, claim="a token count")

    @core("LLM-TOKENS-2", "EMB-TOKENS-2")
    @pytest.mark.parametrize("alphabet", ["letters", "unicode"])
    def test_a_longer_text_never_has_fewer_tokens(self, subject: TokenCounter, alphabet: str) -> None:
        """A prefix of a generated text has at most as many tokens as a longer prefix."""
        subject.require("count_tokens")
        chosen = random.Random(f"{subject.settings.seed} {alphabet}")
        letters: list[str] = [*"ab cd.,'\n-\t1e", "...", "   ", "\n\n", "123", "==", "ing", "the "]
        marks = "".join(text for text in UNICODE.values() if "\0" not in text)

        def draw_part() -> str:
            if alphabet == "letters":
                return chosen.choice(letters)
            spans = ((0x20, 0xD7FF), (0xE000, 0x10FFFF))
            return str(chosen.choice([chosen.choice(marks), chr(chosen.randint(*chosen.choice(spans)))]))

        text = "".join(draw_part() for _ in range(PARTS))
        expect_rising_counts(subject, text, [*sorted(chosen.sample(range(1, len(text)), CUTS)), len(text)])

    @pytest.mark.requirement("LLM-TOKENS-2", "EMB-TOKENS-2")
    def test_the_beginnings_of_a_sentence_count_less(self, subject: ListedModels) -> None:
        """For each listed model, a longer prefix of a sentence never has fewer tokens."""
        for number, model in enumerate(model_arguments(subject)):
            expect_rising_counts(subject, SENTENCE, ENDS[::6] if number else ENDS, **model)

    @pytest.mark.requirement("LLM-TOKENS-2", "EMB-TOKENS-2")
    def test_the_count_of_a_long_text_never_falls(self, subject: TokenCounter) -> None:
        """A longer prefix of a text of thousands of words never has fewer tokens."""
        subject.require("count_tokens")
        text = " ".join(f"word{number}" for number in range(2_000))
        expect_rising_counts(subject, text, range(7, len(text), 2_401))

    @pytest.mark.requirement("LLM-TOKENS-3", "EMB-TOKENS-3")
    @pytest.mark.parametrize("kind", list(UNICODE))
    def test_unicode_is_counted_safely(self, subject: TokenCounter, kind: str) -> None:
        """Marks, surrogate pairs and joined characters are counted like other text; a text with NUL may be refused.

        One of the texts also has the unusual words of the vocabulary, if it is not too long.
        """
        subject.require("count_tokens")
        text = UNICODE[kind]
        longer = f"{join_words('w', ('nul', 'long'))}{text}" if kind == WITH_WORDS else text
        reply = subject.ask_count(longer if subject.can_take_text(longer) else text)
        refused = reply.is_a(*PERMANENT)
        expect.applicable(not ("\0" in text and refused), "a text with a NUL is refused")
        if refused and kind == WITH_WORDS:
            reply = subject.ask_count(text)
        subject.require_fit(reply)
        subject.tokens_of(expect.success(reply, "a token count"))

    @core("LLM-TOKENS-4", "EMB-TOKENS-4")
    def test_an_unknown_model_does_not_count(self, subject: ListedModels) -> None:
        """A model that is not listed is refused permanently."""
        subject.require("count_tokens")
        for model in subject.unknown_models():
            expect.refusal(subject.count_once("hi", model=model), *UNKNOWN_MODEL)

    @pytest.mark.requirement("LLM-TOKENS-5", "EMB-TOKENS-5")
    def test_every_listed_model_counts(self, subject: ListedModels) -> None:
        """Each model that capabilities list counts tokens."""
        subject.require("count_tokens")
        subject.models()
        for model in subject.models_able_to("count_tokens"):
            expect.success(subject.count_once("hi", model=model), "a count by every listed model")

    @pytest.mark.requirement("LLM-TOKENS-6", "EMB-TOKENS-6")
    @pytest.mark.parametrize("kind", list(NO_STRINGS))
    def test_a_text_that_is_no_string_is_refused(self, subject: TokenCounter, kind: str) -> None:
        """A `text` that is missing or not a string is refused."""
        subject.require("count_tokens")
        args = {key: value for key, value in subject.requests.minimal("count_tokens").items() if key != "text"}
        expect.refusal(subject.call("count_tokens", {**args, **NO_STRINGS[kind]}), "BadRequest")

    @pytest.mark.requirement("LLM-TOKENS-7", "EMB-TOKENS-7")
    def test_a_count_is_repeatable(self, subject: TokenCounter) -> None:
        """The same text gets the same count three times."""
        subject.require("count_tokens")
        text = "The same text, three times: \u00fc\U0001f600."
        text = (
            text if subject.ask_count(text).is_success else "The same text, three times."
        )  # a refusal is the finding of TOKENS-3
        counts = {subject.count(text) for _ in range(3)}
        expect.check(len(counts) == 1, "one count", f"{len(counts)} different ones")

    @pytest.mark.requirement("LLM-TOKENS-8", "EMB-TOKENS-8")
    def test_every_listed_model_counts_the_text(self, subject: ListedModels) -> None:
        """For each listed model, more words with the same beginning have more tokens, in long texts too."""
        for number, model in enumerate(model_arguments(subject)):
            sizes = (10, 1_500) if number else (10, 30, 300, 1_500)
            texts = (" ".join(f"stone{each}" for each in range(words)) for words in sizes)
            counts = require_two_counts(counts_of(subject, texts, **model))
            grown = all(one < other for one, other in itertools.pairwise(counts))
            expect.check(grown, "more tokens for more words", "the same number of tokens, or fewer")


def model_arguments(subject: ListedModels) -> list[dict[str, Any]]:
    """Return the `model` argument for each model that is tried, or no argument if capabilities list no models."""
    subject.require("count_tokens")
    return [{"model": each} for each in subject.models_able_to("count_tokens")] if subject.capabilities.models else [{}]


def counts_of(subject: TokenCounter, texts: Iterable[str], **changed: Any) -> list[int]:
    """Count ever longer texts, up to the first text that is refused because it may exceed the limit."""
    counts, asked, ask = list[int](), list(texts), partial(subject.count_once, **changed)
    replies = call_side_by_side(ask, asked) if all(map(subject.can_take_text, asked)) else map(ask, asked)
    for text, reply in zip(asked, replies, strict=False):
        if reply.is_a("BadRequest") and not subject.can_take_text(text):
            break
        if reply.is_error and not text.isascii():
            with expect.resting_on(f"{subject.operation('count_tokens').shaped.rpartition('-')[0]}-3"):
                expect.success(reply, "a token count")
        counts.append(subject.tokens_of(expect.success(reply, "a token count")))
    return counts


def require_two_counts(counts: list[int]) -> list[int]:
    """Check that there are two counts to compare."""
    expect.applicable(len(counts) >= 2, "fewer than two of these texts are certainly short enough to be counted")
    return counts


def expect_rising_counts(subject: TokenCounter, text: str, ends: Sequence[int], **changed: Any) -> None:
    """Check that the count never falls as a text grows."""
    counts = require_two_counts(counts_of(subject, (text[:end] for end in ends), **changed))
    expect.check(counts == sorted(counts), "counts that never fall", "a smaller count for a longer text")


def expect_growing_count(subject: TokenCounter) -> None:
    """Check that three hundred words have more tokens than one word."""
    subject.require("count_tokens")
    words = [f"{word}{number}" for number in range(100) for word in ("river", "stone", "light")]
    one = subject.count(words[0])
    for number in (len(words), 30, 10):
        text = " ".join(words[:number])
        reply = subject.ask_count(text)
        if subject.can_take_text(text) or not reply.is_a("BadRequest"):
            many = subject.tokens_of(expect.success(reply, "a token count"))
            expect.check(many > one, f"more than {one} tokens for {number} words", f"{many}")
            return
    raise NotAssessed(Obstacle.SMALL_TEXT)
