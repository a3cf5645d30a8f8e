"""Mistakes that embedding/test_capabilities_shape.py finds (COM-CAP, EMB-CAP, EMB-STATS)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pytest_corpus.reference.embedding.adapter import ReferenceEmbedding
from pytest_corpus.reference.embedding.arguments import Job
from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.request import Call

from .. import catches
from .shared import Envelope, Result


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


@catches("EMB-STATS-3")
class StatisticsShowTheLast(ReferenceEmbedding):
    """Its statistics show the text that was embedded last."""

    last = ""

    def account(self, jobs: Sequence[Job]) -> None:
        super().account(jobs)
        self.last = jobs[-1].text if jobs else self.last

    async def get_stats(self, call: Call) -> Any:
        return {**await super().get_stats(call), "last_text": self.last}
