"""Token counting (BEHAVIORAL_CONFORMANCE 6.5; SPECIFICATION 8.3; R10, R13)."""

import pytest

from pytest_corpus.adapter.facts import to_whole_number
from pytest_corpus.kit import expect
from pytest_corpus.kit.fixtures import core, subject
from pytest_corpus.kit.outcomes import Blocked, NotApplicable
from pytest_corpus.suites.llm.support.answers import completion_tokens
from pytest_corpus.suites.llm.support.component import LLM, llm
from pytest_corpus.suites.llm.support.requests import user_message
from pytest_corpus.suites.llm.support.scenarios.completions import long_completion, require_completion
from pytest_corpus.suites.shared.claims import tokens
from pytest_corpus.suites.shared.claims.tokens import TestTokens

FEW_TOKENS, PART = 8, 5
"""A count may differ from the usage by this many tokens or by this fraction (a fifth), because it is an estimate."""


@core("LLM-TOKENS-8")
def test_a_count_grows_with_the_text(llm: LLM) -> None:
    """Three hundred words have more tokens than one word."""
    tokens.expect_growing_count(llm)


@pytest.mark.requirement("LLM-TOKENS-9")
def test_a_count_is_what_a_prompt_is_charged(llm: LLM) -> None:
    """A long message adds about as many tokens to `usage.prompt_tokens` as `count_tokens` counts."""
    llm.require("count_tokens", "complete")
    long = long_text(llm)
    counted = llm.count(long) - llm.count("river")
    charged = -prompt_tokens(llm, "river") + prompt_tokens(llm, long)
    slack = max(FEW_TOKENS, counted // PART)
    about = f"{counted} tokens more than for a short prompt, plus or minus {slack}"
    expect.check(abs(charged - counted) <= slack, about, f"{charged}", "result.usage.prompt_tokens")


@pytest.mark.requirement("LLM-TOKENS-9")
def test_a_count_is_what_a_completion_is_charged(llm: LLM) -> None:
    """`usage.completion_tokens` is not far below the count of the text. Hidden reasoning may increase the usage."""
    llm.require("count_tokens", "complete")
    reply = long_completion(llm)
    llm.require_fit(reply)
    require_completion(llm, reply)
    spent = completion_tokens(reply.result["usage"])
    if spent is None:
        raise NotApplicable("completion_tokens are not given")
    counted = llm.count(reply.result["text"])
    least = counted - max(FEW_TOKENS, counted // PART)
    about = f"{least} tokens or more, because count_tokens says {counted}"
    expect.check(spent >= least, about, f"{spent}", "result.usage.completion_tokens", on=[reply])


def long_text(llm: LLM) -> str:
    """Return a text of many words that fits the window twice. Raises NotApplicable if the window is too small."""
    for words in (80, 40, 20):
        text = " ".join(f"{'stone' if number % 2 else 'river'}{number}" for number in range(words))
        if llm.can_take_text(2 * text):
            return text
    raise NotApplicable("the window may be too small for a long prompt")


def prompt_tokens(llm: LLM, text: str) -> int:
    """Return the prompt tokens that a completion reports for this text.

    Raises Blocked if the completion reports no count. Another requirement reports this.
    """
    reply = llm.complete(messages=[user_message(text)])
    result = expect.success(reply, "a completion")
    usage = result.get("usage") if isinstance(result, dict) else None
    tokens = to_whole_number(usage.get("prompt_tokens")) if isinstance(usage, dict) else None
    if tokens is None:
        raise Blocked("LLM-COMPLETE-1", "there are no prompt_tokens", judged_on=(reply.exchange,))
    return tokens
