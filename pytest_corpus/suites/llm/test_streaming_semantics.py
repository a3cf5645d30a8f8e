"""Stream rules: data, end, error (BEHAVIORAL_CONFORMANCE 6.2; SPECIFICATION 4.2.3, 8.3; SCHEMA 5)."""

from collections.abc import Iterable

import pytest

from pytest_corpus.adapter.facts import to_whole_number
from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import cached
from pytest_corpus.kit.component import expect_audited
from pytest_corpus.kit.fixtures import rules, subject
from pytest_corpus.kit.outcomes import NotApplicable
from pytest_corpus.kit.reply import StreamReply
from pytest_corpus.suites.llm.support.capabilities import MOST_MODELS, OPTIONAL
from pytest_corpus.suites.llm.support.component import LLM, llm
from pytest_corpus.suites.llm.support.requests import user_message
from pytest_corpus.suites.llm.support.scenarios import completions
from pytest_corpus.suites.shared.claims.envelopes import TestStreaming


@pytest.mark.core
@rules("schema LLM-STREAM-1, increments LLM-STREAM-9, usage LLM-STREAM-2")
def test_chunks_are_of_the_schema(llm: LLM, requirement: str) -> None:
    """Each chunk has `is_final` and a `text` with new text only; the total in its usage is the sum of the parts."""
    llm.require("stream")
    stream = expect.finished(long_stream(llm))
    if requirement == "LLM-STREAM-2":
        require_usage(isinstance(chunk.get("usage_so_far"), dict) for chunk in stream.chunks)
    if requirement == "LLM-STREAM-9":
        expect_whole_characters(llm, stream)
    if requirement == "LLM-STREAM-9" and sum(bool(chunk.get("text")) for chunk in stream.chunks) < 2:
        raise NotApplicable("the text of a stream comes in one chunk")
    expect_audited(requirement, stream, llm)


def expect_whole_characters(llm: LLM, stream: StreamReply) -> None:
    """Check that no text of the built-in provider arrives with U+FFFD. This sign shows that a character was split."""
    if llm.faults.uses_stand_in:
        torn = any("\ufffd" in str(chunk.get("text")) for chunk in stream.chunks)
        expect.check(not torn, "the characters of the provider's text", "a replacement character", "chunk.text")


MOST = 5
"""The larger of two limits (`max_tokens`). Only this limit is also tried with other models."""


@pytest.mark.requirement("LLM-STREAM-3")
@pytest.mark.parametrize("limit", [1, MOST])
def test_max_tokens_is_honoured_in_a_stream(llm: LLM, limit: int) -> None:
    """A stream has at most `max_tokens` tokens, for each listed model that reports usage."""
    llm.require("stream")
    others = [model for model in llm.models_with("supports_streaming") if model != llm.model] if limit == MOST else []
    limit = llm.limit(limit, "stream")
    for model in [{}, *({"model": other} for other in others[: MOST_MODELS - 1])]:
        stream = llm.stream("stream", {**llm.requests.long("stream"), **model, "max_tokens": limit})
        llm.require_fit(stream)
        expect.finished(stream)
        usages = [chunk["usage_so_far"] for chunk in stream.chunks if isinstance(chunk.get("usage_so_far"), dict)]
        text = "".join(str(chunk.get("text") or "") for chunk in stream.chunks)
        if usages or not model:  # tokens are counted for the main model
            completions.expect_within_limit(llm, limit, stream, usages[-1] if usages else None, None if model else text)


@pytest.mark.requirement("LLM-STREAM-4")
def test_usage_never_decreases(llm: LLM) -> None:
    """`usage_so_far` never decreases from chunk to chunk."""
    llm.require("stream")
    stream = expect.finished(long_stream(llm))
    totals = [
        to_whole_number(chunk["usage_so_far"].get("total_tokens"))
        for chunk in stream.chunks
        if isinstance(chunk.get("usage_so_far"), dict)
    ]
    counted = [total for total in totals if total is not None]
    require_usage(total is not None for total in totals)
    expect.check(counted == sorted(counted), "totals that never decrease", "a total that decreases", "usage_so_far")


@pytest.mark.requirement("LLM-STREAM-6")
@pytest.mark.parametrize("name", [*OPTIONAL, "all"])
def test_optional_arguments_of_a_stream_are_accepted(llm: LLM, name: str) -> None:
    """Valid optional arguments are accepted, alone and together; unclaimed ones may be refused permanently."""
    llm.require("stream")
    stream = completions.call_with_accepted_arguments(llm, name, "stream")
    llm.require_fit(stream)
    expect.works(stream, f"{name} to be accepted")


@pytest.mark.requirement("LLM-STREAM-8")
def test_a_stream_gives_the_text_of_a_completion(llm: LLM) -> None:
    """At the lowest temperature, the joined chunks equal the text of `complete`, if `complete` is repeatable."""
    llm.require("stream")
    llm.require("complete")
    if "temperature" not in completions.cold_arguments(llm) or completions.cold_arguments(
        llm, "stream"
    ) != completions.cold_arguments(llm):
        raise NotApplicable("the lowest temperature is not offered")
    args = {**completions.cold_arguments(llm), **llm.requests.long("complete")}
    replies = [llm.call("complete", args) for _ in range(3)]
    for reply in replies:
        llm.require_fit(reply)
        completions.require_completion(llm, reply)
    texts = {str(reply.result["text"]) for reply in replies}
    expect.applicable(len(texts) <= 1, "complete gives different answers at the lowest temperature")
    stream = expect.finished(llm.stream("stream", args))
    text = "".join(str(chunk.get("text") or "") for chunk in stream.chunks)
    expect.check(text == texts.pop(), "the text of the completion", "another text", "chunk.text")


def long_stream(llm: LLM) -> StreamReply:
    """Return a stream that probably has several chunks."""
    return cached(llm, "a long stream", lambda: llm.stream("stream", llm.requests.long("stream")), common=True)


def require_usage(found: Iterable[bool]) -> None:
    """Raise NotApplicable if no chunk reports usage. `found` has True or False for each chunk."""
    expect.applicable(any(found), "no chunk reports usage")


@pytest.mark.requirement("LLM-CACHE-2")
def test_another_limit_is_another_stream(llm: LLM) -> None:
    """At temperature 0, a stream with another `max_tokens` is not answered from the cache."""
    llm.require("stream")
    args = {**completions.cold_arguments(llm, "stream"), "messages": [user_message(llm.unique())]}
    changed = {**args, "max_tokens": llm.other_limit("stream")}
    completions.expect_own_answer(llm, args, changed, operation="stream", binding=False)


@pytest.mark.requirement("LLM-CONTEXT-2")
@pytest.mark.parametrize("where", ["message", "max_tokens", "system_message", "other_models"])
def test_a_prompt_beyond_the_window_does_not_stream(llm: LLM, where: str) -> None:
    """A prompt that exceeds the stated context length is refused, even if only its system message is long."""
    llm.require("stream")
    expect.applicable(
        where != "system_message" or llm.accepts_argument(where, "stream"), "system_message is not offered"
    )
    request = completions.requests_beyond_window(llm, where)[0]
    reply = llm.complete_once(**request)
    completions.require_refused_prompt(llm, reply)
    stream = llm.open_stream(**request)
    usages = [chunk.get("usage_so_far") for chunk in stream.chunks]
    completions.require_overrun(llm, {"usage": usages[-1] if usages else None} if stream.is_finished else None)
    expect.refusal(stream, "BadRequest")
