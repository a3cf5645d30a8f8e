"""Mistakes in token counts and in the chunks of streams (LLM-TOKENS, LLM-STREAM)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Any

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.foundation import Chunk
from pytest_corpus.reference.llm_adapter import Prompt, ReferenceLLM, Reply
from pytest_corpus.reference.request import Call

from . import catches

LARGE = 2**30
FLAG = re.compile("[\U0001f1e6-\U0001f1ff]{2}")


class Counting(ReferenceLLM):
    """The reference with one place for what `count_tokens` says of a text."""

    async def count_tokens(self, call: Call) -> Any:
        counted = await super().count_tokens(call)
        return {"tokens": self.said(call.args.values["text"], counted["tokens"])}

    def said(self, text: str, tokens: int) -> Any:
        """The count that is told."""
        return tokens


@catches("LLM-TOKENS-1")
class CountIsAnEstimate(Counting):
    """It estimates a third of a token for each character and does not round."""

    def said(self, text: str, tokens: int) -> Any:
        return len(text) / 3 + 0.1


@catches("LLM-TOKENS-1")
class LongWordCountsMinusOne(Counting):
    """It says -1 for a word that is not in its vocabulary."""

    def said(self, text: str, tokens: int) -> Any:
        return -1 if len(text) > 30 and text.isalnum() else tokens


@catches("LLM-TOKENS-2")
class KnownWordsAreOneToken(Counting):
    """It counts a known word as one token and an unknown beginning of it by characters."""

    def said(self, text: str, tokens: int) -> Any:
        return sum(1 if word.strip(",.!?") in ("Hello", "tokenizer") else len(word) for word in text.split())


@catches("LLM-TOKENS-2")
class TrailingSpaceCounts(Counting):
    """It counts a trailing space by itself, but not once a word follows."""

    def said(self, text: str, tokens: int) -> Any:
        return len(text.split()) + 2 * text.endswith(" ")


@catches("LLM-TOKENS-2")
class FlagsAreOneToken(Counting):
    """It counts a flag as one token and the first half of it by its four bytes."""

    def said(self, text: str, tokens: int) -> Any:
        return sum(4 if "\U0001f1e6" <= char <= "\U0001f1ff" else 1 for char in FLAG.sub("x", text)) // 2 + 1


@catches("LLM-TOKENS-3")
class BasicPlaneOnly(Counting):
    """It refuses characters beyond the basic plane."""

    def said(self, text: str, tokens: int) -> Any:
        if any(ord(char) > 0xFFFF for char in text):
            raise AdapterError("BadRequest", "The text holds characters that are not known")
        return tokens


@catches("LLM-TOKENS-3")
class MarkAloneIsAnIndexError(Counting):
    """It looks for the base of a combining mark, which makes a mark alone UNAVAILABLE."""

    def said(self, text: str, tokens: int) -> Any:
        if text and unicodedata.combining(text[0]):
            raise IndexError("no base")
        return tokens


@catches("LLM-TOKENS-5")
class SecondModelDoesNotCount(ReferenceLLM):
    """It has no tokenizer for its second model."""

    async def count_tokens(self, call: Call) -> dict[str, int]:
        if call.args.values.get("model") == self.models[1]:
            raise AdapterError("NotSupported", "There is no tokenizer for the model")
        return await super().count_tokens(call)


@catches("LLM-TOKENS-6")
class MissingTextIsEmpty(ReferenceLLM):
    """It counts no tokens where the text is missing."""

    async def count_tokens(self, call: Call) -> dict[str, int]:
        return await super().count_tokens(call) if "text" in call.args.values else {"tokens": 0}


@catches("LLM-TOKENS-6")
class TextIsAnAttributeError(ReferenceLLM):
    """It splits the text unchecked, which makes a list UNAVAILABLE."""

    async def count_tokens(self, call: Call) -> dict[str, int]:
        if "text" in call.args.values:
            call.args.values["text"].split()
        return await super().count_tokens(call)


@catches("LLM-TOKENS-7")
class CountsByTurns(Counting):
    """It uses two tokenizers in turn."""

    turn = 0

    def said(self, text: str, tokens: int) -> Any:
        self.turn += 1
        return tokens + self.turn % 2


@catches("LLM-TOKENS-8")
class CountIsConstant(Counting):
    """It counts one token for every text."""

    def said(self, text: str, tokens: int) -> Any:
        return 1


@catches("LLM-TOKENS-8")
class CountIsCut(Counting):
    """It counts four tokens at the most."""

    def said(self, text: str, tokens: int) -> Any:
        return min(tokens, 1)


class Chunking(ReferenceLLM):
    """The reference with one place for what a chunk looks like."""

    def chunks(self, prompt: Prompt, reply: Reply) -> Iterator[Chunk]:
        for chunk in super().chunks(prompt, reply):
            yield self.shaped(prompt, chunk)

    def shaped(self, prompt: Prompt, chunk: Chunk) -> Chunk:
        """The chunk that is sent."""
        return chunk


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
class StreamStopsRefused(ReferenceLLM):
    """It takes the stop sequences of a completion and refuses those of a stream."""

    def read_stop_sequences(self, call: Call) -> list[str]:
        stops = super().read_stop_sequences(call)
        if stops and call.streaming:
            raise AdapterError("NotSupported", "Stop sequences are not offered")
        return stops


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


@catches("LLM-TOOLS-9")
class StreamedToolLost(Chunking):
    """It streams the words of an answer and loses its tool calls."""

    def shaped(self, prompt: Prompt, chunk: Chunk) -> Chunk:
        return {key: value for key, value in chunk.items() if key != "tool_calls"}
