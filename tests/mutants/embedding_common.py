"""Mistakes against common requirements, in the forms that they take where texts are embedded (COM)."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pytest_corpus.reference.embedding_adapter import Embedding, Job, Options, ReferenceEmbedding
from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.feature_space import Vector
from pytest_corpus.reference.foundation import Chunk, Provider, digest
from pytest_corpus.reference.request import Call, Fields
from pytest_corpus.reference.telemetry import MetricsSink
from pytest_corpus.spec.operations import BY_OP

from . import catches
from .common_wire import op_of
from .embedding_conduct import Chunking

Envelope = dict[str, Any]
log = logging.getLogger("mutants.adapter")

FINAL = {"ok": True, "code": "STREAMING", "ms": 0.1, "chunk": {"embeddings": [], "is_final": True}}


# Envelopes, numbers, the context


@catches("COM-WIRE-1")
class BatchFaultEscapes(ReferenceEmbedding):
    """It lets an exception out that the provider raises for a batch and for each of its texts."""

    async def handle(self, envelope: Mapping[str, Any]) -> Envelope:
        answer = await super().handle(envelope)
        if op_of(envelope) == "embedding.embed_batch" and answer.get("error") == "Unavailable":
            raise RuntimeError("no text was embedded")
        return answer


@catches("COM-WIRE-10")
class StreamEmbedAnswered(ReferenceEmbedding):
    """It carries out `stream_embed` at the unary door."""

    async def handle(self, envelope: Mapping[str, Any]) -> Envelope:
        if op_of(envelope) != "embedding.stream_embed":
            return await super().handle(envelope)
        frames = [frame async for frame in self.handle_stream(envelope)]
        if not frames[-1]["ok"]:
            return frames[-1]
        return {"ok": True, "code": "OK", "ms": frames[-1]["ms"], "result": frames[0]["chunk"]}


@catches("COM-WIRE-11")
class BatchesStreamed(ReferenceEmbedding):
    """It carries out `embed_batch` at the streaming door."""

    async def handle_stream(self, envelope: Mapping[str, Any]) -> AsyncGenerator[Envelope, None]:
        if op_of(envelope) != "embedding.embed_batch":
            async for frame in super().handle_stream(envelope):
                yield frame
            return
        answer = await self.handle(envelope)
        chunk = {"embeddings": answer["result"]["embeddings"], "is_final": True} if answer["ok"] else {}
        yield {"ok": True, "code": "STREAMING", "ms": answer["ms"], "chunk": chunk} if answer["ok"] else answer


@catches("COM-NUM-1")
class InfiniteDeadlineOfBatchesAccepted(ReferenceEmbedding):
    """It does not look at the numbers in the `ctx` of a batch."""

    def read_section(self, envelope: Mapping[str, Any], name: str) -> Fields:
        if op_of(envelope) == "embedding.embed_batch" and name == "ctx":
            values = Fields(envelope, "request").member(name).values
            deadline = values.get("deadline_ms")
            if isinstance(deadline, float) and not math.isfinite(deadline):
                return Fields({**values, "deadline_ms": None}, name)
        return super().read_section(envelope, name)


@catches("COM-NUM-2")
class ZeroByZero(ReferenceEmbedding):
    """It divides zero by zero in one component of a normalized vector."""

    def normalized(self, vector: Vector) -> Vector:
        return [math.nan, *super().normalized(vector)[1:]]


@catches("COM-NUM-2")
class AverageOfNothingIsNan(ReferenceEmbedding):
    """It divides by the number of requests that failed."""

    async def get_stats(self, call: Call) -> dict[str, float]:
        return {**await super().get_stats(call), "avg_error_ms": math.nan}


@catches("COM-CONC-1")
class JobKeptInTheAdapter(ReferenceEmbedding):
    """It keeps the text to embed in the adapter object while it waits for the provider."""

    current: Job

    async def ask(self, call: Call, job: Job) -> Embedding:
        self.current = job
        await asyncio.sleep(0)
        return await super().ask(call, self.current)


@catches("COM-CONC-1")
class BatchKeptInTheAdapter(ReferenceEmbedding):
    """It keeps the texts of a batch in the adapter object while it waits for the provider."""

    current: Sequence[Job] = ()

    async def ask_together(self, call: Call, jobs: Sequence[Job]) -> Sequence[Embedding | AdapterError]:
        self.current = jobs
        await asyncio.sleep(0)
        return (await super().ask_together(call, [*self.current, *jobs]))[: len(jobs)]


# Capabilities


class WithoutBatches(ReferenceEmbedding):
    """A legal adapter that embeds no batches."""

    features: Mapping[str, bool] = {**ReferenceEmbedding.features, "supports_batch_embedding": False}


class WithoutTokens(ReferenceEmbedding):
    """A legal adapter that counts no tokens."""

    features: Mapping[str, bool] = {**ReferenceEmbedding.features, "supports_token_counting": False}


class WithoutStreamEmbed(ReferenceEmbedding):
    """A legal adapter that streams no embeddings."""

    features: Mapping[str, bool] = {**ReferenceEmbedding.features, "supports_streaming": False}


@catches("COM-CAP-6")
class ClaimedBatchesMissing(ReferenceEmbedding):
    """It claims to embed batches and does not."""

    async def embed_batch(self, call: Call) -> Envelope:
        raise AdapterError("NotSupported", "Batches are not offered yet")


@catches("COM-CAP-6")
class ClaimedStreamEmbedMissing(ReferenceEmbedding):
    """It claims to stream and refuses every stream."""

    def read_job(self, call: Call) -> Job:
        if call.streaming:
            raise AdapterError("NotSupported", "Streams are not offered yet")
        return super().read_job(call)


@catches("COM-CAP-7", control=WithoutBatches)
class DeniedBatchIsUnavailable(WithoutBatches):
    """It fails with UNAVAILABLE where it denies to embed batches."""

    def require(self, feature: str) -> None:
        if feature == "supports_batch_embedding":
            raise AdapterError("Unavailable", "Batches are not offered")
        super().require(feature)


@catches("COM-CAP-7", control=WithoutStreamEmbed)
class DeniedStreamEmbedIsBadRequest(WithoutStreamEmbed):
    """It calls a stream a bad request where it denies to stream."""

    def require(self, feature: str) -> None:
        if feature == "supports_streaming":
            raise AdapterError("BadRequest", "Streams are not offered")
        super().require(feature)


@catches("COM-CAP-8", control=WithoutTokens)
class DeniedTokensAreCounted(WithoutTokens):
    """It counts tokens although it denies it."""

    def require(self, feature: str) -> None:
        if feature != "supports_token_counting":
            super().require(feature)


# Deadlines


@catches("COM-DEADLINE-1")
class LateBatchesServed(ReferenceEmbedding):
    """It compares no deadline with the clock before a batch."""

    def seconds_left(self, call: Call) -> float | None:
        left = super().seconds_left(call)
        return None if call.op == "embed_batch" and left is not None and left <= 0 else left


@catches("COM-DEADLINE-2")
class LateBatchAsksTheProvider(ReferenceEmbedding):
    """It asks the provider for a batch before it looks at the deadline."""

    async def within_budget(self, call: Call, work: Any) -> Any:
        left = self.seconds_left(call)
        if call.op == "embed_batch" and left is not None and left <= 0:
            await work
            raise AdapterError("DeadlineExceeded", "The time budget of the operation is spent")
        return await super().within_budget(call, work)


@catches("COM-DEADLINE-4")
class BatchWaitsForEver(ReferenceEmbedding):
    """It waits for the provider's answer to a batch for ever."""

    def seconds_left(self, call: Call) -> float | None:
        left = super().seconds_left(call)
        return None if call.op == "embed_batch" and left is not None and left > 0 else left


@catches("COM-DEADLINE-4")
class SpentBudgetIsReportedByText(ReferenceEmbedding):
    """It reports the texts of a batch as failed when the budget runs out on the way."""

    async def handle(self, envelope: Mapping[str, Any]) -> Envelope:
        answer = await super().handle(envelope)
        late = answer.get("error") == "DeadlineExceeded" and answer["ms"] > 20
        if not late or op_of(envelope) != "embedding.embed_batch":
            return answer
        args = envelope["args"]
        failure = {"error": "DeadlineExceeded", "message": "The time is up"}
        failed = [{"index": index, "text": text, **failure} for index, text in enumerate(args["texts"])]
        result = {"embeddings": [], "model": args["model"], "total_texts": len(failed), "failed_texts": failed}
        return {"ok": True, "code": "OK", "ms": answer["ms"], "result": result}


@catches("COM-DEADLINE-5")
class StreamEmbedWaitsForEver(ReferenceEmbedding):
    """It looks at the deadline of a stream once, and then waits for the provider for ever."""

    def seconds_left(self, call: Call) -> float | None:
        left = super().seconds_left(call)
        return None if call.streaming and left is not None and left > 0 else left


# Telemetry and privacy


@catches("COM-OBS-1")
class EveryTextObserved(ReferenceEmbedding):
    """It observes each text of a batch like a call of its own."""

    def account(self, jobs: Sequence[Job]) -> None:
        super().account(jobs)
        for _ in jobs if len(jobs) > 1 else ():
            self.observe(Call(streaming=False, operation=BY_OP["embedding.embed_batch"]), "OK")


@catches("COM-OBS-3")
class RefusedStreamEmbedNotObserved(ReferenceEmbedding):
    """It does not observe a stream that it refuses."""

    def observe(self, call: Call, outcome: str) -> None:
        if not (call.streaming and outcome in ("BadRequest", "TextTooLong")):
            super().observe(call, outcome)


@catches("COM-OBS-8")
class BatchTenantNotLabelled(ReferenceEmbedding):
    """It does not label batches by tenant."""

    def context_labels(self, call: Call) -> dict[str, Any]:
        labels = super().context_labels(call)
        if call.op == "embed_batch":
            labels.pop("tenant_hash", None)
        return labels


@catches("COM-OBS-13")
class ModelOfABatchLabelledUnchecked(ReferenceEmbedding):
    """It labels a batch by model before it knows the model."""

    def read_model(self, call: Call) -> str:
        if call.op == "embed_batch" and call.args.values.get("model"):
            call.labels["model"] = call.args.values["model"]
        return super().read_model(call)


@catches("COM-LEAK-1")
class TooLongTextQuoted(ReferenceEmbedding):
    """It quotes the beginning of a text that is too long."""

    def read_job(self, call: Call) -> Job:
        try:
            return super().read_job(call)
        except AdapterError as error:
            if error.kind.name == "TextTooLong":
                error.details["text"] = str(call.args.values["text"])[:80]
            raise


@catches("COM-LEAK-1")
class BatchRefusalHoldsTheTexts(ReferenceEmbedding):
    """It gives the texts of a refused batch back in the details."""

    def failure(self, call: Call, fault: Exception) -> Envelope:
        error = super().failure(call, fault)
        if call.op == "embed_batch":
            error["details"]["texts"] = call.args.values.get("texts")
        return error


@catches("COM-LEAK-2")
class VectorLabelled(ReferenceEmbedding):
    """It labels an embedding by the first components of its vector."""

    async def embed(self, call: Call) -> Envelope:
        result = await super().embed(call)
        call.labels["vector_head"] = [*result["embedding"]["vector"][:2]]
        return result


@catches("COM-LEAK-2")
class TextsOfABatchCounted(ReferenceEmbedding):
    """It counts the texts of a batch by what they say."""

    async def embed_batch(self, call: Call) -> Envelope:
        result = await super().embed_batch(call)
        for text in call.args.values["texts"]:
            self.count("texts", 1, {"text": text})
        return result


@catches("COM-LEAK-3")
class TextsOfABatchLogged(ReferenceEmbedding):
    """It logs the texts of a batch."""

    def batch_jobs(self, texts: Sequence[str], options: Options) -> tuple[dict[int, Job], dict[int, AdapterError]]:
        log.info("embedding %s", texts)
        return super().batch_jobs(texts, options)


@catches("COM-LEAK-3")
class StreamedTextLogged(ReferenceEmbedding):
    """It logs what it streams."""

    def read_job(self, call: Call) -> Job:
        job = super().read_job(call)
        if call.streaming:
            log.warning("streaming %.40s", job.text)
        return job


@catches("COM-LEAK-3")
class MissedTextLogged(ReferenceEmbedding):
    """It logs what its cache does not have."""

    def recall(self, call: Call, job: Job) -> Embedding | None:
        found = super().recall(call, job)
        if found is None:
            log.info("cache miss", extra={"key": (job.options.model, job.text)})
        return found


@catches("COM-LEAK-4")
class TenantIsThrottledByName(ReferenceEmbedding):
    """It names the raw tenant in the throttling scope."""

    def __init__(self, *, metrics: MetricsSink | None = None, provider: Provider | None = None) -> None:
        super().__init__(metrics=metrics, provider=provider)
        self.tenants: dict[str | None, str] = {}

    def tenant_hash(self, tenant: str) -> str:
        hashed = super().tenant_hash(tenant)
        self.tenants[hashed] = tenant
        return hashed

    def throttle_scope(self, tenant_hash: str | None) -> str:
        return f"tenant:{self.tenants.get(tenant_hash)}:embedding"


@catches("COM-LEAK-6")
class FaultOfATextQuoted(ReferenceEmbedding):
    """It reports a failed text of a batch with what the provider said."""

    def map_fault(self, fault: Exception) -> AdapterError:
        error = super().map_fault(fault)
        error.said = str(fault)  # type: ignore[attr-defined]
        return error

    def failed_text(self, index: int, text: str, error: AdapterError) -> Envelope:
        said = getattr(error, "said", str(error))
        return {**super().failed_text(index, text, error), "message": said}


# Streams


@catches("COM-STREAM-1")
class UsageBesideTheChunk(ReferenceEmbedding):
    """It adds the usage to the last frame, beside the chunk."""

    def frame(self, call: Call, chunk: Chunk) -> Envelope:
        usage = chunk.pop("usage", None)
        return {**super().frame(call, chunk), **({"usage": usage} if usage else {})}


@catches("COM-STREAM-3")
class FrameOfDataSaysOk(ReferenceEmbedding):
    """It gives a frame with an embedding the code of a unary success."""

    def frame(self, call: Call, chunk: Chunk) -> Envelope:
        return {**super().frame(call, chunk), "code": "OK" if chunk["embeddings"] else "STREAMING"}


@catches("COM-STREAM-6")
class StreamOfOneHasNoEnd(Chunking):
    """It ends a stream with the last embedding, without a final chunk."""

    def shaped(self, job: Job, chunk: Chunk) -> Chunk:
        return {**chunk, "is_final": False}


@catches("COM-STREAM-6")
class BrokenStreamOfTextsJustEnds(ReferenceEmbedding):
    """It ends a stream without a word where the provider fails on the way."""

    async def handle_stream(self, envelope: Mapping[str, Any]) -> AsyncGenerator[Envelope, None]:
        begun = False
        async for frame in super().handle_stream(envelope):
            if frame["ok"] or not begun or frame["error"] == "DeadlineExceeded":
                yield frame
            begun = True


@catches("COM-STREAM-7")
class UsageAfterTheEnd(ReferenceEmbedding):
    """It calls the frame with the embedding final and sends the usage after it."""

    async def handle_stream(self, envelope: Mapping[str, Any]) -> AsyncGenerator[Envelope, None]:
        async for frame in super().handle_stream(envelope):
            ended = frame["ok"] and frame["chunk"]["embeddings"]
            yield {**frame, "chunk": {**frame["chunk"], "is_final": True}} if ended else frame


@catches("COM-STREAM-7")
class ErrorAndThenTheEnd(ReferenceEmbedding):
    """It sends a final frame after the error that ended a stream on the way."""

    async def handle_stream(self, envelope: Mapping[str, Any]) -> AsyncGenerator[Envelope, None]:
        begun = False
        async for frame in super().handle_stream(envelope):
            yield frame
            if begun and not frame["ok"]:
                yield FINAL
            begun = True


@catches("COM-STREAM-8")
class TooLongStreamOpens(ReferenceEmbedding):
    """It opens a stream with an empty frame before it looks at the length of the text."""

    async def handle_stream(self, envelope: Mapping[str, Any]) -> AsyncGenerator[Envelope, None]:
        async for frame in super().handle_stream(envelope):
            if frame.get("error") in ("BadRequest", "TextTooLong"):
                yield {**FINAL, "chunk": {"embeddings": [], "is_final": False}}
            yield frame


@catches("COM-STREAM-9")
class BrokenStreamIsComplete(ReferenceEmbedding):
    """It ends a stream as if it were complete where the provider fails after the embedding."""

    async def handle_stream(self, envelope: Mapping[str, Any]) -> AsyncGenerator[Envelope, None]:
        begun = False
        async for frame in super().handle_stream(envelope):
            broken = begun and not frame["ok"] and frame["error"] != "DeadlineExceeded"
            yield FINAL if broken else frame
            begun = True


# A failing provider, replays and the cache


@catches("COM-FAULT-1")
class RateLimitOfABatchIsUnavailable(ReferenceEmbedding):
    """It calls every failure of a whole batch UNAVAILABLE."""

    async def ask_one_by_one(
        self, call: Call, jobs: Sequence[Job], fault: AdapterError
    ) -> Sequence[Embedding | AdapterError]:
        try:
            return await super().ask_one_by_one(call, jobs, fault)
        except AdapterError:
            raise AdapterError("Unavailable", "The batch could not be embedded") from None


@catches("COM-FAULT-9")
class StreamedFaultIsUnavailable(ReferenceEmbedding):
    """It calls every failure of the provider's stream UNAVAILABLE."""

    async def reach(self, call: Call, **facts: Any) -> None:
        try:
            await super().reach(call, **facts)
        except AdapterError:
            if call.streaming:
                raise AdapterError("Unavailable", "The stream failed") from None
            raise


@catches("COM-FAULT-11")
class FilterOfTextsIsAnyBadRequest(ReferenceEmbedding):
    """It does not tell a content filter from other bad requests."""

    fault_kinds: Mapping[str, str] = {**ReferenceEmbedding.fault_kinds, "content_filtered": "BadRequest"}


@catches("COM-FAULT-12")
class FailuresAreCached(ReferenceEmbedding):
    """It keeps the failure of a model and fails for it ever after."""

    def __init__(self, *, metrics: MetricsSink | None = None, provider: Provider | None = None) -> None:
        super().__init__(metrics=metrics, provider=provider)
        self.failures: dict[str, AdapterError] = {}

    async def ask(self, call: Call, job: Job) -> Embedding:
        if job.options.model in self.failures:
            raise self.failures[job.options.model]
        try:
            return await super().ask(call, job)
        except AdapterError as error:
            self.failures[job.options.model] = error
            raise


@catches("COM-IDEM-1")
class ReplayedByModel(ReferenceEmbedding):
    """It replays by tenant, key and model, whatever the text."""

    def replay_key(self, call: Call) -> str | None:
        key = super().replay_key(call)
        return key and digest([call.tenant_hash, call.op, call.args.values.get("model"), call.idempotency_key])


@catches("COM-IDEM-1")
class ReplayedByTexts(ReferenceEmbedding):
    """It replays by tenant, key and texts, whether normalized or not and of whatever model."""

    def replay_key(self, call: Call) -> str | None:
        key, args = super().replay_key(call), call.args.values
        return key and digest([call.tenant_hash, call.op, args.get("text"), args.get("texts"), call.idempotency_key])


@catches("COM-IDEM-1")
class ReplayedByTheNumberOfTexts(ReferenceEmbedding):
    """It replays a batch by tenant, key and the number of its texts."""

    def replay_key(self, call: Call) -> str | None:
        key = super().replay_key(call)
        if key is None or call.op != "embed_batch":
            return key
        return digest([call.tenant_hash, len(call.args.values.get("texts") or ()), call.idempotency_key])


@catches("COM-IDEM-2")
class ReplayedForAnyTenant(ReferenceEmbedding):
    """It replays by key and arguments, whoever asks."""

    def replay_key(self, call: Call) -> str | None:
        key = super().replay_key(call)
        return key and digest([call.op, call.args.values, call.idempotency_key])


@catches("COM-IDEM-2")
class BatchReplayedForAnyTenant(ReferenceEmbedding):
    """It replays a batch by key and arguments, whoever asks."""

    def replay_key(self, call: Call) -> str | None:
        key = super().replay_key(call)
        return key and (digest([call.args.values, call.idempotency_key]) if call.op == "embed_batch" else key)


@catches("COM-CACHE-1")
class CachedForAnyTenant(ReferenceEmbedding):
    """It leaves the tenant out of the key of its cache."""

    def cache_key(self, call: Call, job: Job) -> str | None:
        return super().cache_key(replace(call, tenant_hash=None), job)


@catches("COM-CACHE-1")
class BatchCachedForAnyTenant(ReferenceEmbedding):
    """It leaves the tenant out of the key of its cache where it embeds a batch."""

    def cache_key(self, call: Call, job: Job) -> str | None:
        batch = call.args.values.get("texts") is not None
        return super().cache_key(replace(call, tenant_hash=None) if batch else call, job)
