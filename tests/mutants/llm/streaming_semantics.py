"""Mistakes that llm/test_streaming_semantics.py finds (LLM-STREAM)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.foundation import Chunk
from pytest_corpus.reference.llm.adapter import ReferenceLLM, Reply
from pytest_corpus.reference.llm.arguments import Prompt
from pytest_corpus.reference.request import Call

from .. import catches
from .shared import Chunking

LARGE = 2**30


@catches("LLM-STREAM-1")
class LastChunkHasAReason(Chunking):
    """It adds a finish reason to the last chunk."""

    def shaped(self, prompt: Prompt, chunk: Chunk) -> Chunk:
        return {**chunk, "finish_reason": "stop"} if chunk["is_final"] else chunk


@catches("LLM-STREAM-1")
class ChunkTextIsNull(Chunking):
    """It sends null where a cut stream has nothing more to say."""

    def shaped(self, prompt: Prompt, chunk: Chunk) -> Chunk:
        return {**chunk, "text": None} if chunk["is_final"] and prompt.limit < 20 else chunk


@catches("LLM-STREAM-1")
class FinalOnlyWhereFinal(ReferenceLLM):
    """It states `is_final` in the last chunk alone."""

    def frame(self, call: Call, chunk: Chunk) -> dict[str, Any]:
        frame = super().frame(call, chunk)
        if not chunk["is_final"]:
            del chunk["is_final"]
        return frame


@catches("LLM-STREAM-2")
class LastTotalIsWrong(Chunking):
    """It counts the end of the text in the total of the last chunk."""

    def shaped(self, prompt: Prompt, chunk: Chunk) -> Chunk:
        usage = chunk["usage_so_far"]
        more = int(chunk["is_final"])
        return {**chunk, "usage_so_far": {**usage, "total_tokens": usage["total_tokens"] + more}}


@catches("LLM-STREAM-3")
class StreamEndsAfterTheChunk(ReferenceLLM):
    """It looks at `max_tokens` when a whole chunk is sent."""

    def read_max_tokens(self, call: Call) -> int | None:
        limit = super().read_max_tokens(call)
        return limit + self.tokens_in_chunk if call.streaming and limit is not None and limit < LARGE else limit


@catches("LLM-STREAM-4")
class UsageStillToCome(Chunking):
    """It gives the usage that is left and not the usage so far."""

    def shaped(self, prompt: Prompt, chunk: Chunk) -> Chunk:
        left = prompt.limit - chunk["usage_so_far"]["completion_tokens"]
        return {**chunk, "usage_so_far": self.usage(prompt, left)}


@catches("LLM-STREAM-5")
class SecondModelDoesNotStream(ReferenceLLM):
    """It lists a model that completes and does not stream."""

    def read_model(self, call: Call) -> str:
        model = super().read_model(call)
        if call.streaming and model == self.models[1]:
            raise AdapterError("NotSupported", "The model does not stream")
        return model


@catches("LLM-STREAM-6")
class StreamPenaltyFails(ReferenceLLM):
    """It fails on a penalty that a stream may leave alone."""

    def read_sampling(self, call: Call) -> None:
        super().read_sampling(call)
        if call.streaming and call.args.values.get("presence_penalty") is not None:
            raise AdapterError("Unavailable", "The provider failed")


@catches("LLM-STREAM-6")
class StreamSystemMessageFails(ReferenceLLM):
    """It fails on the system message of a stream."""

    def read_system_message(self, call: Call) -> str:
        text = super().read_system_message(call)
        if text and call.streaming:
            raise AdapterError("Unavailable", "The provider failed")
        return text


@catches("LLM-STREAM-7")
class ChunksOfADatedModel(Chunking):
    """It names the dated version of the model in its chunks."""

    def shaped(self, prompt: Prompt, chunk: Chunk) -> Chunk:
        return {**chunk, "model": f"{prompt.model}-2024-05-13"}


@catches("LLM-STREAM-2")
class TotalsInFloatsAreWrong(Chunking):
    """It gives the usage of chunks as floats, and totals that are one more than their parts."""

    def shaped(self, prompt: Prompt, chunk: Chunk) -> Chunk:
        usage = {key: float(count) for key, count in chunk["usage_so_far"].items()}
        return {**chunk, "usage_so_far": {**usage, "total_tokens": usage["total_tokens"] + 1}}


@catches("LLM-STREAM-8")
class TokensOutOfOrder(ReferenceLLM):
    """It sends the tokens of each chunk the wrong way round."""

    def chunks(self, prompt: Prompt, reply: Reply) -> Iterator[Chunk]:
        for chunk in super().chunks(prompt, reply):
            yield {**chunk, "text": "".join(reversed(self.split(chunk["text"])))}
