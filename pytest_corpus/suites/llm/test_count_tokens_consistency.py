"""Token counting (BEHAVIORAL_CONFORMANCE 6.5; SPECIFICATION 8.3; R10, R13)."""

import pytest

from pytest_corpus.adapter.facts import whole
from pytest_corpus.kit import expect
from pytest_corpus.kit.component import holds
from pytest_corpus.kit.outcomes import Blocked, NotApplicable
from pytest_corpus.spec.errors import UNKNOWN_MODEL
from pytest_corpus.suites.llm.support.answers import completion_tokens
from pytest_corpus.suites.llm.support.component import LLM, llm
from pytest_corpus.suites.llm.support.requests import user
from pytest_corpus.suites.llm.support.scenarios.completions import completing, long_completion, well_formed
from pytest_corpus.suites.shared.claims import tokens
from pytest_corpus.suites.shared.claims.tokens import NO_STRINGS, SENTENCE, UNICODE

ENDS = sorted({*range(1, len(SENTENCE) + 1, 6), *range(len(SENTENCE) - 12, len(SENTENCE) + 1)})
"""The ends of beginnings of the sentence: every sixth character, and each of the joined ones at its end."""

FEW_TOKENS, PART = 8, 5
"""The number of tokens, or the fraction (a fifth), by which a count may differ from the usage: it is an estimate."""


@pytest.mark.core
@pytest.mark.requirement("LLM-TOKENS-1")
@pytest.mark.parametrize("text", ["hi", "one two three", "x" * 40], ids=["word", "words", "long_word"])
def test_a_count_is_a_whole_number(llm: LLM, text: str) -> None:
    """A count is an integer of at least 0, bare or inside an object."""
    llm.require("count_tokens")
    reply = llm.counted(text)
    llm.fits(reply)
    expect.success(reply, "a token count")
    holds("LLM-TOKENS-1", reply, llm)


@pytest.mark.core
@pytest.mark.requirement("LLM-TOKENS-2")
@pytest.mark.parametrize("alphabet", ["letters", "unicode"])
def test_a_longer_text_never_has_fewer_tokens(llm: LLM, alphabet: str) -> None:
    """Along a generated text, a beginning has at most as many tokens as a longer one."""
    tokens.longer_is_never_fewer(llm, alphabet)


@pytest.mark.requirement("LLM-TOKENS-2")
def test_the_count_of_every_listed_model_never_falls(llm: LLM) -> None:
    """Along the beginnings of one sentence the count never falls, whichever listed model counts."""
    llm.require("count_tokens")
    for number, model in enumerate(completing(llm, "supports_count_tokens")):
        tokens.never_falls(llm, SENTENCE, range(1, len(SENTENCE) + 1, 20) if number else ENDS, model=model)


@pytest.mark.requirement("LLM-TOKENS-2")
def test_the_count_of_a_long_text_never_falls(llm: LLM) -> None:
    """Along the beginnings of a text of thousands of words the count never falls."""
    tokens.never_falls_far(llm)


@pytest.mark.requirement("LLM-TOKENS-3")
@pytest.mark.parametrize("kind", list(UNICODE))
def test_unicode_is_counted_safely(llm: LLM, kind: str) -> None:
    """Marks, surrogate pairs and joined characters are counted like any text."""
    llm.require("count_tokens")
    llm.count(UNICODE[kind])


@pytest.mark.core
@pytest.mark.requirement("LLM-TOKENS-4")
def test_an_unknown_model_does_not_count(llm: LLM) -> None:
    """A model that is not listed is refused permanently."""
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
@pytest.mark.parametrize("kind", list(NO_STRINGS))
def test_a_text_that_is_no_string_is_refused(llm: LLM, kind: str) -> None:
    """`text` is required and a string."""
    tokens.refuses_no_text(llm, kind)


@pytest.mark.requirement("LLM-TOKENS-7")
def test_a_count_is_repeatable(llm: LLM) -> None:
    """The same text is counted three times alike."""
    tokens.repeatable(llm)


@pytest.mark.requirement("LLM-TOKENS-8")
def test_every_listed_model_counts_the_text(llm: LLM) -> None:
    """Of every listed model, and far into a text, more words that begin alike have more tokens."""
    llm.require("count_tokens")
    for model in completing(llm, "supports_count_tokens"):
        tokens.grows_far(llm, model)


@pytest.mark.core
@pytest.mark.requirement("LLM-TOKENS-8")
def test_a_count_grows_with_the_text(llm: LLM) -> None:
    """Three hundred words have more tokens than one of them."""
    tokens.grows(llm)


@pytest.mark.requirement("LLM-TOKENS-9")
def test_a_count_is_what_a_prompt_is_charged(llm: LLM) -> None:
    """A long message adds about as many tokens to `usage.prompt_tokens` as it has by the count of the same model."""
    llm.require("count_tokens", "complete")
    long = long_text(llm)
    counted = llm.count(long) - llm.count("river")
    charged = prompt_tokens(llm, long) - prompt_tokens(llm, "river")
    slack = max(FEW_TOKENS, counted // PART)
    about = f"{counted} tokens more than for a short prompt, or {slack} fewer or more"
    expect.that(abs(charged - counted) <= slack, about, f"{charged}", "result.usage.prompt_tokens")


@pytest.mark.requirement("LLM-TOKENS-9")
def test_a_count_is_what_a_completion_is_charged(llm: LLM) -> None:
    """`usage.completion_tokens` of a long text is not far below its count; hidden thoughts may add to it."""
    llm.require("count_tokens", "complete")
    reply = long_completion(llm)
    llm.fits(reply)
    well_formed(llm, reply)
    spent = completion_tokens(reply.result["usage"])
    if spent is None:
        raise NotApplicable("completion_tokens are not given")
    counted = llm.count(reply.result["text"])
    least = counted - max(FEW_TOKENS, counted // PART)
    expect.that(spent >= least, f"{least} tokens or more", f"{spent}", "result.usage.completion_tokens")


def long_text(llm: LLM) -> str:
    """A text of many words that surely fits the window twice.

    Raises:
        NotApplicable: the window is too small for any.
    """
    for words in (80, 40, 20):
        text = " ".join(f"{'stone' if number % 2 else 'river'}{number}" for number in range(words))
        if llm.holds(2 * text):
            return text
    raise NotApplicable("the window may be too small for a long prompt")


def prompt_tokens(llm: LLM, text: str) -> int:
    """The prompt tokens that a completion reports for this text.

    Raises:
        Blocked: it says nothing of the kind, which is a finding of its own.
    """
    reply = llm.complete(messages=[user(text)])
    result = expect.success(reply, "a completion")
    usage = result.get("usage") if isinstance(result, dict) else None
    tokens = whole(usage.get("prompt_tokens")) if isinstance(usage, dict) else None
    if tokens is None:
        raise Blocked("LLM-COMPLETE-1", "there are no prompt_tokens", evidence=reply.exchange)
    return tokens
