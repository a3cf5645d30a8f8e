"""Mistakes in streams, state and reports (EMB-STREAM, EMB-CACHE, EMB-IDEM, EMB-CAP, EMB-STATS, EMB-OBS)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from dataclasses import replace
from typing import Any

from pytest_corpus.reference.embedding_adapter import Embedding, Job, ReferenceEmbedding
from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.foundation import Chunk, Provider, digest
from pytest_corpus.reference.request import Call
from pytest_corpus.reference.telemetry import MetricsSink

from . import catches

Result = dict[str, Any]


class Chunking(ReferenceEmbedding):
    """The reference with one place for what a chunk looks like."""

    def chunks(self, job: Job) -> Iterator[Chunk]:
        for chunk in super().chunks(job):
            yield self.shaped(job, chunk)

    def shaped(self, job: Job, chunk: Chunk) -> Chunk:
        """The chunk that is sent."""
        return chunk


@catches("EMB-STREAM-1")
class LastChunkSaysTruncated(Chunking):
    """It says in the last chunk whether the text was cut, where a chunk has no place for it."""

    def shaped(self, job: Job, chunk: Chunk) -> Chunk:
        return {**chunk, "truncated": job.truncated} if chunk["is_final"] else chunk


@catches("EMB-STREAM-1")
class LastChunkWithoutEmbeddings(Chunking):
    """It leaves `embeddings` out where there are none."""

    def shaped(self, job: Job, chunk: Chunk) -> Chunk:
        return chunk if chunk["embeddings"] else {key: value for key, value in chunk.items() if key != "embeddings"}


@catches("EMB-STREAM-1")
class ChunkIsAResult(Chunking):
    """It streams the result of `embed`, with one embedding that is no list."""

    def shaped(self, job: Job, chunk: Chunk) -> Chunk:
        return {**chunk, "embeddings": chunk["embeddings"][0]} if chunk["embeddings"] else chunk


@catches("EMB-STREAM-2")
class NothingStreamed(Chunking):
    """It loses the embedding of a stream."""

    def shaped(self, job: Job, chunk: Chunk) -> Chunk:
        return {**chunk, "embeddings": []}


@catches("EMB-STREAM-3")
class StreamInLowerCase(ReferenceEmbedding):
    """It writes a text in capitals before it streams its embedding."""

    def chunks(self, job: Job) -> Iterator[Chunk]:
        for chunk in super().chunks(replace(job, text=job.text.upper())):
            yield {**chunk, "embeddings": [{**each, "text": job.text} for each in chunk["embeddings"]]}


@catches("EMB-STREAM-3")
class StreamOfTheFirstWord(ReferenceEmbedding):
    """It streams the embedding of the first word of a text."""

    def chunks(self, job: Job) -> Iterator[Chunk]:
        word = next(iter(job.text.split()), "")
        for chunk in super().chunks(replace(job, text=word)):
            yield {**chunk, "embeddings": [{**each, "text": job.text} for each in chunk["embeddings"]]}


@catches("EMB-STREAM-4")
class TotalOfOneMore(Chunking):
    """It counts the end of the text in the total alone."""

    def usage(self, job: Job) -> dict[str, int]:
        usage = super().usage(job)
        return {**usage, "total_tokens": usage["total_tokens"] + 1}


@catches("EMB-STREAM-5")
class SecondModelHasNoStream(ReferenceEmbedding):
    """It lists a model that embeds and does not stream."""

    def read_model(self, call: Call) -> str:
        model = super().read_model(call)
        if call.streaming and model == [*self.models][1]:
            raise AdapterError("NotSupported", "The model does not stream")
        return model


@catches("EMB-STREAM-6")
class ChunksNameADatedModel(Chunking):
    """It names the dated version of the model in its chunks."""

    def shaped(self, job: Job, chunk: Chunk) -> Chunk:
        return {**chunk, "model": f"{chunk['model']}-2024-05-13"}


# The cache and replays


class Keyed(ReferenceEmbedding):
    """A legal adapter that keeps vectors alone in its cache, and writes the rest of an answer anew."""

    def recall(self, call: Call, job: Job) -> Embedding | None:
        found = super().recall(call, job)
        return found and {**found, "text": job.text, "model": job.options.model}


@catches("EMB-CACHE-1", control=Keyed)
class KeyOfTheBeginning(Keyed):
    """It keys its cache by the first characters of a text."""

    def cache_key(self, call: Call, job: Job) -> str | None:
        return super().cache_key(call, replace(job, text=job.text[:80]))


@catches("EMB-CACHE-1", control=Keyed)
class KeyInLowerCase(Keyed):
    """It keys its cache by the text without regard to case and spaces."""

    def cache_key(self, call: Call, job: Job) -> str | None:
        return super().cache_key(call, replace(job, text=" ".join(job.text.lower().split())))


@catches("EMB-CACHE-1", control=Keyed)
class KeyOfBothEnds(Keyed):
    """It keys its cache by the length of a text, its beginning and its end."""

    def cache_key(self, call: Call, job: Job) -> str | None:
        return super().cache_key(call, replace(job, text=f"{len(job.text)}{job.text[:24]}{job.text[-24:]}"))


@catches("EMB-CACHE-2", control=Keyed)
class KeyWithoutModel(Keyed):
    """It leaves the model out of the key of its cache."""

    def cache_key(self, call: Call, job: Job) -> str | None:
        return super().cache_key(call, replace(job, options=replace(job.options, model="")))


@catches("EMB-CACHE-2", control=Keyed)
class BatchKeyWithoutModel(Keyed):
    """It leaves the model out of the key of its cache where it embeds a batch."""

    def cache_key(self, call: Call, job: Job) -> str | None:
        if call.args.values.get("texts") is None:
            return super().cache_key(call, job)
        return super().cache_key(call, replace(job, options=replace(job.options, model="")))


@catches("EMB-CACHE-3")
class KeyWithoutNormalize(ReferenceEmbedding):
    """It leaves `normalize` out of the key of its cache."""

    def cache_key(self, call: Call, job: Job) -> str | None:
        return super().cache_key(call, replace(job, options=replace(job.options, normalize=False)))


@catches("EMB-CACHE-4")
class FlagIsCached(ReferenceEmbedding):
    """It keeps the `truncated` flag of the first request with the vector."""

    def __init__(self, *, metrics: MetricsSink | None = None, provider: Provider | None = None) -> None:
        super().__init__(metrics=metrics, provider=provider)
        self.flags: dict[str, bool] = {}

    def result(self, job: Job, embedding: Embedding) -> Result:
        options = replace(job.options, truncate=True)
        flag = self.flags.setdefault(digest([options.model, options.normalize, job.text]), job.truncated)
        return {**super().result(job, embedding), "truncated": flag}


@catches("EMB-CACHE-4")
class FoundBeforeChecked(ReferenceEmbedding):
    """It looks a text up in its cache before it looks at its length, and so embeds what it may not cut."""

    def __init__(self, *, metrics: MetricsSink | None = None, provider: Provider | None = None) -> None:
        super().__init__(metrics=metrics, provider=provider)
        self.results: dict[str, Result] = {}

    async def embed(self, call: Call) -> Result:
        asked = {key: value for key, value in call.args.values.items() if key != "truncate"}
        key = digest([call.tenant_hash, asked])
        if key in self.results and isinstance(call.args.values.get("truncate", True), bool):
            return self.results[key]
        self.results[key] = await super().embed(call)
        return self.results[key]


@catches("EMB-IDEM-1")
class ReplayRefused(ReferenceEmbedding):
    """It refuses an idempotency key that it has seen."""

    async def perform(self, call: Call) -> Any:
        if self.replay_key(call) in self.replays:
            raise AdapterError("BadRequest", "The request was made before")
        return await super().perform(call)


@catches("EMB-IDEM-1")
class ReplayIsAnEmptyBatch(ReferenceEmbedding):
    """It says of a batch that it has seen that there is nothing left to do."""

    async def perform(self, call: Call) -> Any:
        known = self.replay_key(call) in self.replays
        result = await super().perform(call)
        return {**result, "embeddings": [], "total_texts": 0} if known and call.op == "embed_batch" else result


@catches("EMB-IDEM-1")
class ReplayForgetsFailures(ReferenceEmbedding):
    """It replays the embeddings of a batch and not its failures."""

    async def perform(self, call: Call) -> Any:
        known = self.replay_key(call) in self.replays
        result = await super().perform(call)
        return {**result, "failed_texts": []} if known and call.op == "embed_batch" else result


# Capabilities, statistics and telemetry


class Stating(ReferenceEmbedding):
    """The reference, which does not state one of its facts."""

    unstated: tuple[str, ...] = ()

    async def capabilities(self, call: Call) -> Result:
        facts = await super().capabilities(call)
        return {name: value for name, value in facts.items() if name not in self.unstated}


@catches("EMB-CAP-1")
class ModelsNotListed(Stating):
    """It does not list its models."""

    unstated = ("supported_models",)


@catches("EMB-CAP-2")
class LimitNotStated(Stating):
    """It does not state how long a text may be."""

    unstated = ("max_text_length",)


@catches("EMB-CAP-2")
class SourceNotStated(Stating):
    """It does not state whether its provider normalizes."""

    unstated = ("normalizes_at_source",)


class Counting(ReferenceEmbedding):
    """The reference with one place for what the statistics say."""

    async def get_stats(self, call: Call) -> Any:
        return self.told(await super().get_stats(call))

    def told(self, report: dict[str, Any]) -> Any:
        """The statistics that are told."""
        return report


@catches("EMB-STATS-1")
class StatisticsAreAList(Counting):
    """It gives its statistics as a list of pairs."""

    def told(self, report: dict[str, Any]) -> Any:
        return [[name, value] for name, value in report.items()]


@catches("EMB-STATS-1")
class CounterIsAText(Counting):
    """It gives a counter with its unit."""

    def told(self, report: dict[str, Any]) -> Any:
        return {**report, "total_tokens": f"{report['total_tokens']} tokens"}


@catches("EMB-STATS-1")
class ErrorsAreNegative(Counting):
    """It says -1 for a counter that it does not keep."""

    def told(self, report: dict[str, Any]) -> Any:
        return {**report, "error_count": -1}


@catches("EMB-STATS-2")
class StatisticsStandStill(Counting):
    """It has statistics that nothing moves."""

    def told(self, report: dict[str, Any]) -> Any:
        return dict.fromkeys(report, 0)


@catches("EMB-STATS-2")
class StatisticsAreResetByReading(Counting):
    """It begins to count anew whenever its statistics are read."""

    def told(self, report: dict[str, Any]) -> Any:
        self.statistics = type(self.statistics)()
        return report


@catches("EMB-STATS-2")
class BatchesNotCounted(ReferenceEmbedding):
    """It does not count the texts of a batch."""

    async def embed_batch(self, call: Call) -> Result:
        before = replace(self.statistics)
        result = await super().embed_batch(call)
        self.statistics.total_texts = before.total_texts
        self.statistics.total_requests -= 1  # the one that is counted when the call ends
        return result


@catches("EMB-OBS-1")
class OutcomeOfARefusalNotCounted(ReferenceEmbedding):
    """It counts the outcome of a stream that ends well and of no other."""

    def count_stream(self, call: Call, outcome: str) -> None:
        if outcome == "OK":
            super().count_stream(call, outcome)


@catches("EMB-OBS-1")
class BrokenStreamIsTwoOutcomes(ReferenceEmbedding):
    """It counts a stream that fails on the way as begun and as failed."""

    async def stream_embed(self, call: Call) -> AsyncGenerator[Chunk, None]:
        begun = False
        try:
            async for chunk in super().stream_embed(call):
                begun = True
                yield chunk
        except AdapterError:
            if begun:
                self.count_stream(call, "OK")
            raise


@catches("EMB-STREAM-7")
class StreamedVectorsAreRounded(Chunking):
    """It rounds the vectors that it streams to one digit."""

    def shaped(self, job: Job, chunk: Chunk) -> Chunk:
        embeddings = [
            {**each, "vector": [round(component + 0.02, 1) for component in each["vector"]]}
            for each in chunk["embeddings"]
        ]
        return {**chunk, "embeddings": embeddings}
