"""Mistakes that embedding/test_embed_basic.py finds (EMB-ARGS)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pytest_corpus.reference.embedding.adapter import ReferenceEmbedding
from pytest_corpus.reference.embedding.arguments import Job, Options
from pytest_corpus.reference.request import Call

from .. import catches
from .shared import changed


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
