"""Mistakes with the texts of a batch that fail, which embedding/test_embed_batch_basic.py finds (EMB-BATCH)."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_corpus.reference.embedding.adapter import ReferenceEmbedding
from pytest_corpus.reference.embedding.arguments import Job, Options
from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.request import Call

from .. import catches
from .shared import Outcome, Result


@catches("EMB-BATCH-3")
class EqualTextsMerged(ReferenceEmbedding):
    """It embeds equal texts once and gives one embedding for them."""

    async def embed_batch(self, call: Call) -> Result:
        result = await super().embed_batch(call)
        merged = {each["text"]: each for each in result["embeddings"]}
        return {**result, "embeddings": list(merged.values())}


@catches("EMB-BATCH-3")
class FailuresDropped(ReferenceEmbedding):
    """It gives the embeddings that it has and no word of those that failed."""

    async def embed_batch(self, call: Call) -> Result:
        return {**await super().embed_batch(call), "failed_texts": []}


@catches("EMB-BATCH-3")
class EmptyForFailed(ReferenceEmbedding):
    """It gives a text that failed a vector of zeros too."""

    async def embed_batch(self, call: Call) -> Result:
        result = await super().embed_batch(call)
        for failed in result["failed_texts"]:
            model = result["model"]
            vector = [0.0] * self.models[model]
            filler = {"vector": vector, "text": failed["text"], "model": model, "dimensions": len(vector)}
            result["embeddings"].insert(failed["index"], filler)
        return result


class Indexed(ReferenceEmbedding):
    """A legal adapter that says which text each embedding is of."""

    async def embed_batch(self, call: Call) -> Result:
        result = await super().embed_batch(call)
        failed = {each["index"] for each in result["failed_texts"]}
        places = [place for place in range(result["total_texts"]) if place not in failed]
        for order, (place, embedding) in enumerate(zip(places, result["embeddings"], strict=True)):
            embedding["index"] = self.place(place, order)
        return result

    def place(self, place: int, order: int) -> int:
        """The index of the text at a place of the batch that came out in this order."""
        return place


@catches("EMB-BATCH-4", control=Indexed)
class CountedWithoutFailures(Indexed):
    """It counts embeddings and not texts, so that indexes are wrong after a failed text."""

    def place(self, place: int, order: int) -> int:
        return order


@catches("EMB-BATCH-4", control=Indexed)
class IndexFromOne(Indexed):
    """It counts the texts from one."""

    def place(self, place: int, order: int) -> int:
        return place + 1


@catches("EMB-BATCH-4")
class FailuresFromOne(ReferenceEmbedding):
    """It counts the failed texts from one."""

    def failed_text(self, index: int, text: str, error: AdapterError) -> Result:
        return super().failed_text(index + 1, text, error)


@catches("EMB-BATCH-4")
class FailuresCountedApart(ReferenceEmbedding):
    """It numbers the failed texts among themselves."""

    async def embed_batch(self, call: Call) -> Result:
        result = await super().embed_batch(call)
        failed = [{**each, "index": number} for number, each in enumerate(result["failed_texts"])]
        return {**result, "failed_texts": failed}


@catches("EMB-BATCH-5")
class StopsAtABadText(ReferenceEmbedding):
    """It reports all texts after a bad one as failed too."""

    def batch_jobs(self, texts: Sequence[str], options: Options) -> tuple[dict[int, Job], dict[int, AdapterError]]:
        jobs, failures = super().batch_jobs(texts, options)
        for index in [*jobs]:
            if failures and index > min(failures):
                del jobs[index]
                failures[index] = failures[min(failures)]
        return jobs, failures


@catches("EMB-BATCH-5")
class BadTextIsUnavailable(ReferenceEmbedding):
    """It refuses a batch with a bad text whole, as if it could be sent again."""

    def batch_jobs(self, texts: Sequence[str], options: Options) -> tuple[dict[int, Job], dict[int, AdapterError]]:
        jobs, failures = super().batch_jobs(texts, options)
        if failures:
            raise AdapterError("Unavailable", "The batch could not be embedded")
        return jobs, failures


class Reporting(ReferenceEmbedding):
    """The reference with one place for what is said of a failed text."""

    async def embed_batch(self, call: Call) -> Result:
        result = await super().embed_batch(call)
        return {**result, "failed_texts": [self.said(each) for each in result["failed_texts"]]}

    def said(self, failed: Result) -> Result:
        """The failure that is told."""
        return failed


@catches("EMB-BATCH-11")
class ErrorIsAPythonName(Reporting):
    """It names a failed text by the exception that Python raised."""

    def said(self, failed: Result) -> Result:
        return {**failed, "error": "ValueError"}


@catches("EMB-BATCH-11")
class ErrorIsASentence(Reporting):
    """It explains a failed text in `error`."""

    def said(self, failed: Result) -> Result:
        return {**failed, "error": failed["message"]}


@catches("EMB-BATCH-14")
class TotalWithoutFailures(ReferenceEmbedding):
    """It counts the texts that were embedded as all texts."""

    async def embed_batch(self, call: Call) -> Result:
        result = await super().embed_batch(call)
        return {**result, "total_texts": len(result["embeddings"])}


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


@catches("EMB-BATCH-3")
class BlankTextsDropped(ReferenceEmbedding):
    """It leaves blank texts out before it embeds, and says nothing of them."""

    def read_texts(self, call: Call) -> list[str]:
        texts = super().read_texts(call)
        return [text for text in texts if text.strip()] or texts
