"""Mistakes that embedding/test_truncation_and_text_length.py finds (EMB-TRUNC)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from pytest_corpus.reference.embedding.adapter import ReferenceEmbedding
from pytest_corpus.reference.embedding.answers import Embedding
from pytest_corpus.reference.embedding.arguments import Job, Options
from pytest_corpus.reference.embedding.feature_space import Vector
from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.foundation import Chunk, Provider
from pytest_corpus.reference.request import Call
from pytest_corpus.reference.telemetry import MetricsSink

from .. import catches
from .shared import changed

Result = dict[str, Any]


class WithoutTruncation(ReferenceEmbedding):
    """A legal adapter that does not truncate."""

    features: Mapping[str, bool] = {**ReferenceEmbedding.features, "supports_truncation": False}


@catches("EMB-TRUNC-1")
class CutWithoutSaying(ReferenceEmbedding):
    """It cuts a text and says that it did not."""

    def result(self, job: Job, embedding: Embedding) -> Result:
        return {**super().result(job, embedding), "truncated": False}


@catches("EMB-TRUNC-1")
class FlagOfTheFirstModelOnly(ReferenceEmbedding):
    """It leaves `truncated` out where its second model cuts a text."""

    def result(self, job: Job, embedding: Embedding) -> Result:
        result = super().result(job, embedding)
        if job.options.model != next(iter(self.models)):
            del result["truncated"]
        return result


@catches("EMB-TRUNC-1")
class MuchTooLongRefused(ReferenceEmbedding):
    """It cuts what is a little too long and refuses what is more than twice as long."""

    def job(self, text: str, path: str, options: Options) -> Job:
        if len(text) >= 2 * self.max_text_length and path == "args.text":
            raise self.too_long(len(text), path)
        return super().job(text, path, options)


@catches("EMB-TRUNC-2")
class LimitIsCutOff(ReferenceEmbedding):
    """It cuts the last character of a text that is as long as the limit."""

    def cut(self, text: str) -> str:
        return text[: self.max_text_length - 1]


@catches("EMB-TRUNC-2")
class TruncatedWasAllowed(ReferenceEmbedding):
    """It repeats whether truncation was allowed instead of whether it took place."""

    def result(self, job: Job, embedding: Embedding) -> Result:
        return {**super().result(job, embedding), "truncated": job.options.truncate}


@catches("EMB-TRUNC-2")
class LimitIsTooLong(ReferenceEmbedding):
    """It refuses a text that is as long as the limit where it may not cut."""

    def job(self, text: str, path: str, options: Options) -> Job:
        if len(text) == self.max_text_length and not options.truncate:
            raise self.too_long(len(text), path)
        return super().job(text, path, options)


@catches("EMB-TRUNC-3")
class CutWhetherAllowedOrNot(ReferenceEmbedding):
    """It cuts a text that it may not cut."""

    def read_job(self, call: Call) -> Job:
        if call.op == "embed" and call.args.values.get("truncate") is False:
            changed(call, truncate=True)
        return super().read_job(call)


@catches("EMB-TRUNC-3")
class TooLongIsBadRequest(ReferenceEmbedding):
    """It does not tell a text that is too long from other bad requests."""

    def read_job(self, call: Call) -> Job:
        try:
            return super().read_job(call)
        except AdapterError as error:
            if call.op == "embed" and error.kind.name == "TextTooLong":
                raise AdapterError("BadRequest", str(error), **error.details) from None
            raise


@catches("EMB-TRUNC-3")
class OneMoreIsLetThrough(ReferenceEmbedding):
    """It refuses what is longer than the limit by more than one character."""

    def read_job(self, call: Call) -> Job:
        text = call.args.values.get("text")
        if call.op == "embed" and isinstance(text, str) and len(text) == self.max_text_length + 1:
            options = self.read_options(call)
            if not options.truncate:
                return Job(text, truncated=False, options=options)
        return super().read_job(call)


class Remembering(ReferenceEmbedding):
    """The reference, which remembers what each cut text was cut from."""

    def __init__(self, *, metrics: MetricsSink | None = None, provider: Provider | None = None) -> None:
        super().__init__(metrics=metrics, provider=provider)
        self.whole: dict[Job, str] = {}

    def job(self, text: str, path: str, options: Options) -> Job:
        job = super().job(text, path, options)
        self.whole[job] = text
        return job


@catches("EMB-TRUNC-4")
class RestIsEmbeddedToo(Remembering):
    """It says that it cut a text, gives the part back, and embeds the whole."""

    def source_vector(self, job: Job) -> Vector:
        return super().source_vector(replace(job, text=self.whole[job]))

    def cache_key(self, call: Call, job: Job) -> str | None:
        return super().cache_key(call, replace(job, text=self.whole[job]))


@catches("EMB-TRUNC-4")
class TailIsEmbedded(Remembering):
    """It embeds the end of a text that it cut, and gives the beginning back."""

    def source_vector(self, job: Job) -> Vector:
        return super().source_vector(replace(job, text=self.whole[job][-self.max_text_length :]))

    def cache_key(self, call: Call, job: Job) -> str | None:
        return super().cache_key(call, replace(job, text=self.whole[job]))


@catches("EMB-TRUNC-5")
class CutBehindTheToken(ReferenceEmbedding):
    """It cuts a text behind the token that crosses the limit."""

    def cut(self, text: str) -> str:
        if len(text) <= self.max_text_length:
            return text
        kept = ""
        for token in self.split(text):
            kept += token
            if len(kept) > self.max_text_length:
                break
        return kept if len(kept) < len(text) else text[: self.max_text_length + 1][: len(text) - 1]


@catches("EMB-TRUNC-6")
class NotCutByDefault(ReferenceEmbedding):
    """It cuts a text only where that was asked for in words."""

    def read_options(self, call: Call) -> Options:
        options = super().read_options(call)
        return replace(options, truncate=call.args.values.get("truncate") is True)


@catches("EMB-TRUNC-7")
class HalfIsRead(ReferenceEmbedding):
    """It embeds the first half of a text that is as long as the limit, and says nothing."""

    def source_vector(self, job: Job) -> Vector:
        return super().source_vector(replace(job, text=job.text[: self.max_text_length // 2]))


@catches("EMB-TRUNC-7")
class SecondModelReadsLess(ReferenceEmbedding):
    """It has a second model that reads a quarter of the stated length, and says nothing."""

    def source_vector(self, job: Job) -> Vector:
        first = job.options.model == next(iter(self.models))
        read = self.max_text_length if first else self.max_text_length // 4
        return super().source_vector(replace(job, text=job.text[:read]))


@catches("EMB-TRUNC-8")
class LongTextOfABatchFails(ReferenceEmbedding):
    """It reports a text of a batch as too long that it may cut."""

    def job(self, text: str, path: str, options: Options) -> Job:
        if path != "args.text" and len(text) > self.max_text_length:
            raise self.too_long(len(text), path)
        return super().job(text, path, options)


@catches("EMB-TRUNC-8")
class BatchCutShorter(ReferenceEmbedding):
    """It cuts the texts of a batch to half the limit."""

    def job(self, text: str, path: str, options: Options) -> Job:
        job = super().job(text, path, options)
        short = job.truncated and path != "args.text"
        return replace(job, text=job.text[: self.max_text_length // 2]) if short else job


@catches("EMB-TRUNC-9")
class BatchCutWhetherAllowedOrNot(ReferenceEmbedding):
    """It cuts a text of a batch that it may not cut."""

    def read_options(self, call: Call) -> Options:
        options = super().read_options(call)
        return replace(options, truncate=True) if call.op == "embed_batch" else options


@catches("EMB-TRUNC-9")
class TooLongInABatchIsInvalid(ReferenceEmbedding):
    """It reports a text of a batch that is too long as a bad request like any other."""

    def failed_text(self, index: int, text: str, error: AdapterError) -> Result:
        return {**super().failed_text(index, text, error), "error": error.kind.family}


@catches("EMB-TRUNC-10")
class StreamCutWhetherAllowedOrNot(ReferenceEmbedding):
    """It cuts the text of a stream that it may not cut."""

    def read_options(self, call: Call) -> Options:
        options = super().read_options(call)
        return replace(options, truncate=True) if call.streaming else options


@catches("EMB-TRUNC-10")
class TooLongStreamIsExhausted(ReferenceEmbedding):
    """It takes the length of a streamed text for a matter of quota."""

    def read_job(self, call: Call) -> Job:
        try:
            return super().read_job(call)
        except AdapterError as error:
            if call.streaming and error.kind.name == "TextTooLong":
                raise AdapterError("ResourceExhausted", "The text is too long") from None
            raise


@catches("EMB-TRUNC-11")
class LongStreamRefused(ReferenceEmbedding):
    """It refuses the text of a stream that it may cut."""

    def read_options(self, call: Call) -> Options:
        options = super().read_options(call)
        return replace(options, truncate=False) if call.streaming else options


@catches("EMB-TRUNC-11")
class StreamCutShorter(ReferenceEmbedding):
    """It cuts the text of a stream to half the limit."""

    def chunks(self, job: Job) -> Iterator[Chunk]:
        short = replace(job, text=job.text[: self.max_text_length // 2])
        return super().chunks(short if job.truncated else job)


@catches("EMB-TRUNC-12", control=WithoutTruncation)
class CutAlthoughDenied(WithoutTruncation):
    """It cuts a text although it says that it does not cut."""

    def job(self, text: str, path: str, options: Options) -> Job:
        cut = self.cut(text)
        return Job(cut, len(cut) < len(text), options)


@catches("EMB-TRUNC-12", control=WithoutTruncation)
class TooLongIsUnavailable(WithoutTruncation):
    """It leaves a text that is too long to its provider, whose refusal it calls UNAVAILABLE."""

    def too_long(self, length: int, path: str) -> AdapterError:
        return AdapterError("Unavailable", "The provider failed")


@catches("EMB-TRUNC-13")
class LengthNotTold(ReferenceEmbedding):
    """It does not say how long a text may be."""

    def too_long(self, length: int, path: str) -> AdapterError:
        error = super().too_long(length, path)
        del error.details["max_text_length"]
        return error


@catches("EMB-TRUNC-14")
class LastCharactersNotRead(ReferenceEmbedding):
    """It embeds a text as long as the limit without its last characters, and says nothing."""

    def source_vector(self, job: Job) -> Vector:
        return super().source_vector(replace(job, text=job.text[: self.max_text_length - 8]))
