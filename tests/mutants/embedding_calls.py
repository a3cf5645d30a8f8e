"""Mistakes with envelopes, numbers, capabilities and deadlines where texts are embedded (COM)."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any

from pytest_corpus.reference.embedding_adapter import Embedding, Job, ReferenceEmbedding
from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.feature_space import Vector
from pytest_corpus.reference.request import Call, Fields

from . import catches
from .common_wire import op_of

Envelope = dict[str, Any]


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
class SpentBudgetOfABatchIsTransient(ReferenceEmbedding):
    """It reports a network failure for each text when the budget of a batch runs out on the way."""

    async def handle(self, envelope: Mapping[str, Any]) -> Envelope:
        answer = await super().handle(envelope)
        late = answer.get("error") == "DeadlineExceeded" and answer["ms"] > 20
        if not late or op_of(envelope) != "embedding.embed_batch":
            return answer
        args = envelope["args"]
        failure = {"error": "TransientNetwork", "message": "The provider did not answer"}
        failed = [{"index": index, "text": text, **failure} for index, text in enumerate(args["texts"])]
        result = {"embeddings": [], "model": args["model"], "total_texts": len(failed), "failed_texts": failed}
        return {"ok": True, "code": "OK", "ms": answer["ms"], "result": result}


@catches("COM-DEADLINE-5")
class StreamEmbedWaitsForEver(ReferenceEmbedding):
    """It looks at the deadline of a stream once, and then waits for the provider for ever."""

    def seconds_left(self, call: Call) -> float | None:
        left = super().seconds_left(call)
        return None if call.streaming and left is not None and left > 0 else left
