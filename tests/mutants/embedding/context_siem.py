"""Mistakes that embedding/test_context_siem.py finds (COM-LEAK, COM-OBS, EMB-OBS)."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Sequence
from typing import Any

from pytest_corpus.reference.embedding.adapter import ReferenceEmbedding
from pytest_corpus.reference.embedding.answers import Embedding
from pytest_corpus.reference.embedding.arguments import Job, Options
from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.foundation import Chunk, Provider
from pytest_corpus.reference.request import Call
from pytest_corpus.reference.telemetry import MetricsSink
from pytest_corpus.spec.operations import BY_OP

from .. import catches


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


Envelope = dict[str, Any]
log = logging.getLogger("mutants.adapter")


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
        log.warning("embedding %s", texts)
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
            log.warning("cache miss", extra={"key": (job.options.model, job.text)})
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
