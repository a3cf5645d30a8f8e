"""Mistakes that llm/test_count_tokens_consistency.py finds (LLM-TOKENS)."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from typing import Any

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.llm.adapter import ReferenceLLM
from pytest_corpus.reference.llm.arguments import Prompt
from pytest_corpus.reference.request import Call

from .. import catches
from .shared import OpenModels


@catches("LLM-TOKENS-4")
class UnknownModelCounts(OpenModels):
    """It counts with its default tokenizer where it does not know the model."""

    def concerns(self, call: Call) -> bool:
        return call.op == "count_tokens"


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


@catches("LLM-TOKENS-9")
class UsageInCharacters(ReferenceLLM):
    """It counts four tokens in `usage` where `count_tokens` counts one."""

    def usage(self, prompt: Prompt, completion_tokens: int) -> dict[str, int]:
        return super().usage(replace(prompt, tokens=4 * prompt.tokens), completion_tokens)
