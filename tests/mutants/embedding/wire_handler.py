"""Mistakes that embedding/test_wire_handler.py finds (COM-CONC, COM-NUM, COM-STREAM, COM-WIRE)."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any

from pytest_corpus.reference.embedding.adapter import ReferenceEmbedding
from pytest_corpus.reference.embedding.answers import Embedding
from pytest_corpus.reference.embedding.arguments import Job
from pytest_corpus.reference.embedding.feature_space import Vector
from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.foundation import Chunk
from pytest_corpus.reference.request import Call, Fields

from .. import catches
from ..common.shared import op_of
from .shared import Chunking


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
    """It carries out `stream_embed` at the unary entry point."""

    async def handle(self, envelope: Mapping[str, Any]) -> Envelope:
        if op_of(envelope) != "embedding.stream_embed":
            return await super().handle(envelope)
        frames = [frame async for frame in self.handle_stream(envelope)]
        if not frames[-1]["ok"]:
            return frames[-1]
        return {"ok": True, "code": "OK", "ms": frames[-1]["ms"], "result": frames[0]["chunk"]}


@catches("COM-WIRE-11")
class BatchesStreamed(ReferenceEmbedding):
    """It carries out `embed_batch` at the streaming entry point."""

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


Envelope = dict[str, Any]
FINAL = {"ok": True, "code": "STREAMING", "ms": 0.1, "chunk": {"embeddings": [], "is_final": True}}


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


@catches("COM-WIRE-14")
class AverageBeforeTheFirstCall(ReferenceEmbedding):
    """It divides by the number of requests, which is none before the first one."""

    async def get_stats(self, call: Call) -> dict[str, float]:
        found = await super().get_stats(call)
        return {**found, "avg_tokens": found.get("total_tokens", 0) / found["total_requests"]}
