"""Mistakes where a provider fails for a batch or for some texts of it (EMB-BATCH-12, EMB-BATCH-16)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytest_corpus.reference.embedding_adapter import Job, ReferenceEmbedding
from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.request import Call

from . import catches
from .embedding_batches import Indexed, Outcome

Result = dict[str, Any]


class FallingBack(ReferenceEmbedding):
    """The reference with one place for what single calls of the provider came to, after a batch failed."""

    async def ask_one_by_one(self, call: Call, jobs: Sequence[Job], fault: AdapterError) -> Sequence[Outcome]:
        return self.sorted(list(await super().ask_one_by_one(call, jobs, fault)), fault)

    def sorted(self, outcomes: list[Outcome], fault: AdapterError) -> list[Outcome]:
        """The outcomes as they are reported."""
        return outcomes


def failed(outcome: Outcome) -> bool:
    """Whether a text failed."""
    return isinstance(outcome, AdapterError)


@catches("EMB-BATCH-12")
class FailuresLast(FallingBack):
    """It collects the failures of single calls apart and puts them behind the embeddings."""

    def sorted(self, outcomes: list[Outcome], fault: AdapterError) -> list[Outcome]:
        return sorted(outcomes, key=failed)


@catches("EMB-BATCH-12", control=Indexed)
class GivesUpAtAFailure(Indexed):
    """It asks for no more texts after one that failed by itself, and forgets them."""

    async def embed_batch(self, call: Call) -> Result:
        result = await super().embed_batch(call)
        fallen = [each["index"] for each in result["failed_texts"] if each["error"] != "TextTooLong"]
        last = min(fallen, default=result["total_texts"])
        kept = {
            name: [each for each in result[name] if each["index"] <= last] for name in ("embeddings", "failed_texts")
        }
        return {**result, **kept}


@catches("EMB-BATCH-12")
class LostAtTheProvider(ReferenceEmbedding):
    """It forgets texts that failed by themselves after a batch failed."""

    async def embed_batch(self, call: Call) -> Result:
        result = await super().embed_batch(call)
        kept = [each for each in result["failed_texts"] if each["error"] in ("TextTooLong", "InputFormatError")]
        return {**result, "failed_texts": kept}


@catches("EMB-BATCH-12")
class OrderOfArrival(FallingBack):
    """It gives the embeddings of single calls in the order in which they happened to arrive."""

    def sorted(self, outcomes: list[Outcome], fault: AdapterError) -> list[Outcome]:
        return outcomes[1:] + outcomes[:1]


@catches("EMB-BATCH-16")
class FailuresAreAllUnavailable(FallingBack):
    """It calls every failure of a single text UNAVAILABLE."""

    def sorted(self, outcomes: list[Outcome], fault: AdapterError) -> list[Outcome]:
        unavailable = AdapterError("Unavailable", "The text could not be embedded")
        return [unavailable if isinstance(outcome, AdapterError) else outcome for outcome in outcomes]


@catches("EMB-BATCH-16")
class FailuresOfTheBatch(FallingBack):
    """It gives each failed text the failure of the batch before it."""

    def sorted(self, outcomes: list[Outcome], fault: AdapterError) -> list[Outcome]:
        return [fault if isinstance(outcome, AdapterError) else outcome for outcome in outcomes]
