"""Mistakes that embedding/test_count_tokens_behavior.py finds (EMB-TOKENS)."""

from __future__ import annotations

import unicodedata
from typing import Any

from pytest_corpus.reference.embedding.adapter import ReferenceEmbedding
from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.request import Call

from .. import catches


class CountingTexts(ReferenceEmbedding):
    """The reference with one place for what `count_tokens` says of a text."""

    async def count_tokens(self, call: Call) -> Any:
        counted = await super().count_tokens(call)
        return {"tokens": self.said(call.args.values["text"], counted["tokens"])}

    def said(self, text: str, tokens: int) -> Any:
        """The count that is told."""
        return tokens


@catches("EMB-TOKENS-1")
class CountIsAFraction(CountingTexts):
    """It estimates a quarter of a token for each character and does not round."""

    def said(self, text: str, tokens: int) -> Any:
        return len(text) / 4 + 0.1


@catches("EMB-TOKENS-1")
class CountedInWords(CountingTexts):
    """It gives the count as a string."""

    def said(self, text: str, tokens: int) -> Any:
        return str(tokens)


@catches("EMB-TOKENS-2")
class WholeWordsAreCheaper(CountingTexts):
    """It counts a known word as one token and an unknown beginning of it by characters."""

    def said(self, text: str, tokens: int) -> Any:
        return sum(1 if len(word) > 4 else 2 * len(word) for word in text.split())


@catches("EMB-TOKENS-2")
class BlankAtTheEndCounts(CountingTexts):
    """It counts a trailing space by itself, but not once a word follows."""

    def said(self, text: str, tokens: int) -> Any:
        return len(text.split()) + 2 * text.endswith(" ")


@catches("EMB-TOKENS-3")
class MarkAloneFails(CountingTexts):
    """It looks for the base of a combining mark, which makes a mark alone UNAVAILABLE."""

    def said(self, text: str, tokens: int) -> Any:
        if text and unicodedata.combining(text[0]):
            raise IndexError("no base")
        return tokens


@catches("EMB-TOKENS-3")
class CountOfTheBasicPlane(CountingTexts):
    """It refuses to count characters beyond the basic plane."""

    def said(self, text: str, tokens: int) -> Any:
        if any(ord(char) > 0xFFFF for char in text):
            raise AdapterError("BadRequest", "The text holds characters that are not known")
        return tokens


@catches("EMB-TOKENS-4")
class CountsForAnyModel(ReferenceEmbedding):
    """It counts with the tokenizer of its first model where it does not know the one that was asked for."""

    def read_model(self, call: Call) -> str:
        model = call.args.values.get("model")
        unknown = isinstance(model, str) and model not in self.models
        return next(iter(self.models)) if unknown and call.op == "count_tokens" else super().read_model(call)


@catches("EMB-TOKENS-5")
class SecondModelHasNoTokenizer(ReferenceEmbedding):
    """It has no tokenizer for its second model."""

    async def count_tokens(self, call: Call) -> dict[str, int]:
        if call.args.values.get("model") == [*self.models][1]:
            raise AdapterError("NotSupported", "There is no tokenizer for the model")
        return await super().count_tokens(call)


@catches("EMB-TOKENS-6")
class NoTextHasNoTokens(ReferenceEmbedding):
    """It counts no tokens where the text is missing."""

    async def count_tokens(self, call: Call) -> dict[str, int]:
        return await super().count_tokens(call) if "text" in call.args.values else {"tokens": 0}


@catches("EMB-TOKENS-6")
class ModelOfACountIsATypeError(ReferenceEmbedding):
    """It looks the model of a count up unchecked, which makes a list UNAVAILABLE."""

    async def count_tokens(self, call: Call) -> dict[str, int]:
        model = call.args.values.get("model")
        if model is not None and not isinstance(model, str):
            raise TypeError("unhashable type")
        return await super().count_tokens(call)


@catches("EMB-TOKENS-7")
class CountsInTurns(CountingTexts):
    """It uses two tokenizers in turn."""

    turn = 0

    def said(self, text: str, tokens: int) -> Any:
        self.turn += 1
        return tokens + self.turn % 2


@catches("EMB-TOKENS-8")
class EveryTextIsOneToken(CountingTexts):
    """It counts one token for every text."""

    def said(self, text: str, tokens: int) -> Any:
        return 1


@catches("EMB-TOKENS-9")
class CountsForANamedModelOnly(ReferenceEmbedding):
    """It counts for no model but a named one."""

    async def count_tokens(self, call: Call) -> dict[str, int]:
        self.read_model(call)
        return await super().count_tokens(call)
