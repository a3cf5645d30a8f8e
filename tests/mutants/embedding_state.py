"""Mistakes with streams, failing providers, replays and caches where texts are embedded (COM)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pytest_corpus.reference.embedding_adapter import Embedding, Job, ReferenceEmbedding
from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.foundation import Chunk, Provider, digest
from pytest_corpus.reference.request import Call
from pytest_corpus.reference.telemetry import MetricsSink

from . import catches
from .embedding_conduct import Chunking

Envelope = dict[str, Any]

FINAL = {"ok": True, "code": "STREAMING", "ms": 0.1, "chunk": {"embeddings": [], "is_final": True}}


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
class RefusedStreamHasAnEmbedding(ReferenceEmbedding):
    """It streams an embedding of nothing before it looks at the arguments."""

    async def handle_stream(self, envelope: Mapping[str, Any]) -> AsyncGenerator[Envelope, None]:
        async for frame in super().handle_stream(envelope):
            if frame.get("error") == "BadRequest":
                embedding = {"vector": [0.0], "text": "", "model": "", "dimensions": 1}
                yield {**FINAL, "chunk": {"embeddings": [embedding], "is_final": False}}
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
    """It maps a rate limit to UNAVAILABLE where it strikes a whole batch."""

    async def ask_one_by_one(
        self, call: Call, jobs: Sequence[Job], fault: AdapterError
    ) -> Sequence[Embedding | AdapterError]:
        try:
            return await super().ask_one_by_one(call, jobs, fault)
        except AdapterError as error:
            if error.kind.family == "ResourceExhausted":
                raise AdapterError("Unavailable", "The batch could not be embedded") from None
            raise


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
