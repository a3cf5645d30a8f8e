"""Mistakes that embedding/test_error_mapping_retryable.py finds (COM-FAULT)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_corpus.reference.embedding.adapter import ReferenceEmbedding
from pytest_corpus.reference.embedding.answers import Embedding
from pytest_corpus.reference.embedding.arguments import Job
from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.foundation import Provider
from pytest_corpus.reference.request import Call
from pytest_corpus.reference.telemetry import MetricsSink

from .. import catches


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
