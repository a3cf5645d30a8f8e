"""Stream rules: data, end, error (BEHAVIORAL_CONFORMANCE 6.2; SPECIFICATION 4.2.3, 8.3; SCHEMA 5)."""

from collections.abc import Iterable

import pytest

from pytest_corpus.adapter.facts import whole
from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import cached
from pytest_corpus.kit.component import holds
from pytest_corpus.kit.fixtures import rules, subject
from pytest_corpus.kit.outcomes import NotApplicable
from pytest_corpus.kit.reply import StreamReply
from pytest_corpus.suites.llm.support.capabilities import OPTIONAL
from pytest_corpus.suites.llm.support.component import LLM, llm
from pytest_corpus.suites.llm.support.scenarios import completions
from pytest_corpus.suites.shared.claims.envelopes import TestStreaming


@pytest.mark.core
@rules("schema LLM-STREAM-1, increments LLM-STREAM-9, usage LLM-STREAM-2")
def test_chunks_are_of_the_schema(llm: LLM, requirement: str) -> None:
    """Each chunk has `text`, which no other chunk had before, and `is_final`; the total of its usage is the sum."""
    llm.require("stream")
    stream = expect.finished(long_stream(llm))
    if requirement == "LLM-STREAM-2":
        any_shown(isinstance(chunk.get("usage_so_far"), dict) for chunk in stream.chunks)
    if requirement == "LLM-STREAM-9" and sum(bool(chunk.get("text")) for chunk in stream.chunks) < 2:
        raise NotApplicable("the text of a stream comes in one chunk")
    holds(requirement, stream, llm)


@pytest.mark.requirement("LLM-STREAM-3")
@pytest.mark.parametrize("limit", [1, 5])
def test_max_tokens_is_honoured_in_a_stream(llm: LLM, limit: int) -> None:
    """A stream has no more tokens than were asked for."""
    llm.require("stream")
    limit = llm.limit(limit, "stream")
    stream = llm.stream("stream", {**llm.requests.long("stream"), "max_tokens": limit})
    llm.fits(stream)
    expect.finished(stream)
    usages = [chunk["usage_so_far"] for chunk in stream.chunks if isinstance(chunk.get("usage_so_far"), dict)]
    text = "".join(str(chunk.get("text") or "") for chunk in stream.chunks)
    completions.within(llm, limit, usages[-1] if usages else None, text)


@pytest.mark.requirement("LLM-STREAM-4")
def test_usage_never_decreases(llm: LLM) -> None:
    """`usage_so_far` only grows from chunk to chunk."""
    llm.require("stream")
    stream = expect.finished(long_stream(llm))
    totals = [
        whole(chunk["usage_so_far"].get("total_tokens"))
        for chunk in stream.chunks
        if isinstance(chunk.get("usage_so_far"), dict)
    ]
    counted = [total for total in totals if total is not None]
    any_shown(total is not None for total in totals)
    expect.that(counted == sorted(counted), "totals that never decrease", "a smaller one later", "usage_so_far")


@pytest.mark.requirement("LLM-STREAM-6")
@pytest.mark.parametrize("name", [*OPTIONAL, "all"])
def test_optional_arguments_of_a_stream_are_accepted(llm: LLM, name: str) -> None:
    """Each optional argument alone, and all together, with valid values, unless it is refused permanently unclaimed."""
    llm.require("stream")
    stream = completions.taken(llm, name, "stream")
    llm.fits(stream)
    expect.works(stream, f"{name} to be accepted")


@pytest.mark.requirement("LLM-STREAM-8")
def test_a_stream_gives_the_text_of_a_completion(llm: LLM) -> None:
    """At the lowest temperature the chunks together are the text of `complete`, where that repeats itself."""
    llm.require("stream")
    llm.require("complete")
    if "temperature" not in completions.cold(llm) or completions.cold(llm, "stream") != completions.cold(llm):
        raise NotApplicable("the lowest temperature is not offered")
    args = {**completions.cold(llm), "messages": llm.requests.long("complete")["messages"]}
    replies = [llm.call("complete", args) for _ in range(3)]
    for reply in replies:
        llm.fits(reply)
        completions.well_formed(llm, reply)
    texts = {str(reply.result["text"]) for reply in replies}
    expect.applicable(len(texts) <= 1, "complete does not repeat itself at the lowest temperature")
    stream = expect.finished(llm.stream("stream", args))
    text = "".join(str(chunk.get("text") or "") for chunk in stream.chunks)
    expect.that(text == texts.pop(), "the text of the completion", "another text", "chunk.text")


def long_stream(llm: LLM) -> StreamReply:
    """A stream that is likely to have several chunks."""
    return cached(llm, "a long stream", lambda: llm.stream("stream", llm.requests.long("stream")))


def any_shown(found: Iterable[bool]) -> None:
    """Go on only if a chunk tells what is looked at. Raises NotApplicable if none does."""
    expect.applicable(any(found), "no chunk reports usage")


@pytest.mark.requirement("LLM-CONTEXT-2")
@pytest.mark.parametrize("where", ["message", "max_tokens"])
def test_a_prompt_beyond_the_window_does_not_stream(llm: LLM, where: str) -> None:
    """A prompt longer than the stated context length is the caller's mistake."""
    llm.require("stream")
    request = completions.beyond(llm, where)[0]
    reply = llm.known_complete(**request)
    completions.refused_as_too_long(llm, reply)
    stream = llm.streamed(**request)
    usages = [chunk.get("usage_so_far") for chunk in stream.chunks]
    completions.overran(llm, {"usage": usages[-1] if usages else None} if stream.finished else None)
    expect.refusal(stream, "BadRequest")
