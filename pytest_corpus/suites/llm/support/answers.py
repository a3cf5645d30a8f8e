"""Checks that the statements of completions and streams agree: usage, finish reason, tool calls (R29, R129)."""

import itertools
from collections.abc import Mapping
from typing import Any

from pytest_corpus.adapter.facts import to_whole_number
from pytest_corpus.kit.outcomes import Violation, Violations, describe
from pytest_corpus.spec.words import FINISH_REASONS
from pytest_corpus.suites.shared.claims.tokens import has_true_total

CALLING = ("tool_call", "tool_calls")
"""The finish reasons of an answer that calls a tool."""

SPECIAL_TOKENS = 8
"""The number of tokens that a provider may count without showing them, such as the end of the text."""

REPEATED = 8
"""A text of this length does not occur twice by chance."""


def completion_problems(args: Mapping[str, Any], result: Mapping[str, Any]) -> Violations:
    """Yield the violations in a completion whose statements contradict each other or the request."""
    reason, usage, calls = result.get("finish_reason"), result.get("usage"), result.get("tool_calls")
    if isinstance(reason, str) and reason not in FINISH_REASONS:
        yield "LLM-COMPLETE-2", Violation(" or ".join(FINISH_REASONS), found=reason, path="result.finish_reason")
    if reason in CALLING and not calls:
        yield "LLM-COMPLETE-9", Violation("a tool call, as `finish_reason` says", "no tool call", "result.tool_calls")
    if not calls and not args.get("stop_sequences") and (problem := _count_problem(result.get("text"), usage)):
        yield "LLM-COMPLETE-10", problem
    if not has_true_total(usage):
        yield "LLM-COMPLETE-3", Violation(*_total_of(result["usage"]), "result.usage.total_tokens")
    if isinstance(calls, list) and calls:
        if reason not in CALLING:
            yield "LLM-COMPLETE-12", Violation(" or ".join(CALLING), found=reason, path="result.finish_reason")
        ids = [call.get("id") for call in calls if isinstance(call, Mapping)]
        if not all(isinstance(each, str) and each for each in ids) or len(set(ids)) < len(ids):
            yield (
                "LLM-TOOLS-22",
                Violation(
                    "a different id for each call, not empty",
                    "an id that is empty, missing or used twice",
                    "tool_calls[].id",
                ),
            )


def chunk_problems(chunk: Mapping[str, Any]) -> Violations:
    """Yield the violations in a chunk whose statements on usage contradict each other."""
    if not has_true_total(chunk.get("usage_so_far")):
        yield "LLM-STREAM-2", Violation(*_total_of(chunk["usage_so_far"]), "usage_so_far")


def repetition(texts: list[str]) -> Violation | None:
    """Return the violation of a stream whose chunks repeat earlier text; None if each chunk adds text."""
    texts = [text for text in texts if text]
    grown = all(len(later) > len(text) and later.startswith(text) for text, later in itertools.pairwise(texts))
    if grown and len(texts) > 1 and (len(texts) > 2 or len(texts[0]) >= REPEATED):
        return Violation("the new text alone", "the text so far", "chunk.text")
    before = ""
    for number, text in enumerate(texts):
        if number > 1 and len(before) >= REPEATED and text.startswith(before):
            return Violation("the new text alone", "the whole text again", "chunk.text")
        before += text
    return None


def completion_tokens(usage: Any) -> int | None:
    """Return the number of completion tokens in a usage, or None."""
    return to_whole_number(usage.get("completion_tokens")) if isinstance(usage, Mapping) else None


def _count_problem(text: Any, usage: Any) -> Violation | None:
    """Return the violation of a token count that is impossible for a text, or None."""
    spent = completion_tokens(usage)
    if not isinstance(text, str) or not text or spent is None:
        return None
    most = len(text.encode(errors="surrogatepass")) + SPECIAL_TOKENS
    if 1 <= spent <= most:
        return None
    path = "result.usage.completion_tokens"
    return Violation(f"1 to {most} tokens for a text of {len(text)} characters", f"{spent}", path)


def _total_of(usage: Mapping[str, Any]) -> tuple[str, str]:
    """Return the right total of a usage, and the stated total with its parts, both as texts for a finding."""
    prompt, completion, total = (describe(usage.get(f"{part}_tokens")) for part in ("prompt", "completion", "total"))
    return "prompt_tokens + completion_tokens", f"a total of {total} for {prompt} and {completion}"
