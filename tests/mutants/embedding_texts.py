"""Mistakes in reading and counting texts (EMB-ARGS, EMB-TOKENS)."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pytest_corpus.reference.embedding_adapter import Job, Options, ReferenceEmbedding
from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.request import Call

from . import catches


def changed(call: Call, **values: Any) -> None:
    """Give a call other arguments than its request has."""
    call.args = replace(call.args, values={**call.args.values, **values})


@catches("EMB-ARGS-1")
class TextIsWritten(ReferenceEmbedding):
    """It turns a text of any type into a string."""

    def read_job(self, call: Call) -> Job:
        text = call.args.values.get("text")
        if call.op == "embed" and text is not None:
            changed(call, text=str(text))
        return super().read_job(call)


@catches("EMB-ARGS-1")
class NoTextIsAnEmptyOne(ReferenceEmbedding):
    """It embeds an empty text where the text is missing."""

    def read_job(self, call: Call) -> Job:
        if call.op == "embed":
            call.args = replace(call.args, values={"text": "", **call.args.values})
        return super().read_job(call)


@catches("EMB-ARGS-1")
class ListIsATypeError(ReferenceEmbedding):
    """It strips the text unchecked, which makes a list of texts UNAVAILABLE."""

    def read_job(self, call: Call) -> Job:
        if call.op == "embed" and isinstance(call.args.values.get("text"), list):
            raise TypeError("no attribute 'strip'")
        return super().read_job(call)


@catches("EMB-ARGS-2")
class ModelIsWritten(ReferenceEmbedding):
    """It looks a model of any type up by its name, and finds it not available."""

    def read_model(self, call: Call) -> str:
        model = call.args.values.get("model")
        if call.op == "embed" and model is not None:
            changed(call, model=str(model))
        return super().read_model(call)


@catches("EMB-ARGS-2")
class ModelIsNotHashable(ReferenceEmbedding):
    """It looks the model up unchecked, which makes a list UNAVAILABLE."""

    def read_model(self, call: Call) -> str:
        model = call.args.values.get("model")
        if call.op == "embed" and isinstance(model, (list, dict)):
            raise TypeError("unhashable type")
        return super().read_model(call)


class Lenient(ReferenceEmbedding):
    """The reference, which takes a flag of any type for its truth in some operations."""

    lenient: Mapping[str, tuple[str, ...]] = {}

    def read_options(self, call: Call) -> Options:
        for name in self.lenient.get(call.op, ()):
            if call.args.values.get(name) is not None:
                changed(call, **{name: bool(call.args.values[name])})
        return super().read_options(call)


@catches("EMB-ARGS-3")
class TruncateIsTruthy(Lenient):
    """It takes `truncate: "false"` for true."""

    lenient: Mapping[str, tuple[str, ...]] = {"embed": ("truncate",)}


@catches("EMB-ARGS-3")
class NormalizeIsTruthy(Lenient):
    """It takes `normalize: "no"` for true."""

    lenient: Mapping[str, tuple[str, ...]] = {"embed": ("normalize",)}


@catches("EMB-ARGS-3")
class WordsAreFlags(ReferenceEmbedding):
    """It looks a flag up in a table of words, which makes an unknown one UNAVAILABLE."""

    def read_options(self, call: Call) -> Options:
        if call.op == "embed" and isinstance(call.args.values.get("truncate"), str):
            raise KeyError("truncate")
        return super().read_options(call)


@catches("EMB-ARGS-4")
class StreamFlagsAreTruthy(Lenient):
    """It takes the flags of a stream for true whatever they are."""

    lenient: Mapping[str, tuple[str, ...]] = {"stream_embed": ("truncate", "normalize")}


@catches("EMB-ARGS-4")
class StreamTextIsWritten(ReferenceEmbedding):
    """It turns the text of a stream into a string."""

    def read_job(self, call: Call) -> Job:
        if call.streaming and call.args.values.get("text") is not None:
            changed(call, text=str(call.args.values["text"]))
        return super().read_job(call)


@catches("EMB-ARGS-4")
class StreamWithoutTextFails(ReferenceEmbedding):
    """It fails with UNAVAILABLE where the text of a stream is missing."""

    def read_job(self, call: Call) -> Job:
        if call.streaming and "text" not in call.args.values:
            raise KeyError("text")
        return super().read_job(call)


@catches("EMB-ARGS-5")
class NoModelIsAKeyError(ReferenceEmbedding):
    """It reads the model unchecked, which makes its absence UNAVAILABLE."""

    def read_model(self, call: Call) -> str:
        if "model" not in call.args.values:
            raise KeyError("model")
        return super().read_model(call)


@catches("EMB-ARGS-5")
class NoModelOfABatchIsAKeyError(ReferenceEmbedding):
    """It reads the model of a batch unchecked, which makes its absence UNAVAILABLE."""

    def read_model(self, call: Call) -> str:
        if call.op == "embed_batch" and "model" not in call.args.values:
            raise KeyError("model")
        return super().read_model(call)


@catches("EMB-ARGS-6")
class NoModelIsTheFirst(ReferenceEmbedding):
    """It embeds with its first model where none is named."""

    def read_model(self, call: Call) -> str:
        if call.args.values.get("model") is None:
            changed(call, model=next(iter(self.models)))
        return super().read_model(call)


@catches("EMB-ARGS-7")
class EmptyTextIsADivisionByZero(ReferenceEmbedding):
    """It divides by the number of tokens, which makes an empty text UNAVAILABLE."""

    def read_job(self, call: Call) -> Job:
        if call.args.values.get("text") == "":
            raise ZeroDivisionError
        return super().read_job(call)


# Token counts


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
