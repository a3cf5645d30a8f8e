"""Mistakes that embedding/test_embed_batch_basic.py finds (EMB-BATCH)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from pytest_corpus.reference.embedding.adapter import Embedding, Job, Options, ReferenceEmbedding
from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.request import Call

from .. import catches
from .shared import changed

Result = dict[str, Any]
Outcome = Embedding | AdapterError


@catches("EMB-BATCH-1")
class TotalsMissing(ReferenceEmbedding):
    """It does not say how many texts a batch had."""

    async def embed_batch(self, call: Call) -> Result:
        result = await super().embed_batch(call)
        del result["total_texts"]
        return result


@catches("EMB-BATCH-1")
class TokensOfABatchAreAText(ReferenceEmbedding):
    """It gives the tokens of a batch with their unit."""

    async def embed_batch(self, call: Call) -> Result:
        result = await super().embed_batch(call)
        return {**result, "total_tokens": f"{result['total_tokens']} tokens"}


@catches("EMB-BATCH-2")
class SortedByLength(ReferenceEmbedding):
    """It sorts texts by length to fill its batches well, and gives the embeddings in that order."""

    async def embed_batch(self, call: Call) -> Result:
        result = await super().embed_batch(call)
        return {**result, "embeddings": sorted(result["embeddings"], key=lambda each: len(each["text"]))}


@catches("EMB-BATCH-2")
class EqualLengthsExchanged(ReferenceEmbedding):
    """It groups texts by length and gives each vector of a group to the next one."""

    async def embed_batch(self, call: Call) -> Result:
        result = await super().embed_batch(call)
        embeddings = result["embeddings"]
        for left, right in pairwise(embeddings):
            if len(left["text"]) == len(right["text"]):
                left["vector"], right["vector"] = right["vector"], left["vector"]
        return result


@catches("EMB-BATCH-2")
class KnownTextsFirst(ReferenceEmbedding):
    """It gives the embeddings that it has in its cache before those that it must ask for."""

    async def outcomes(self, call: Call, jobs: Sequence[Job]) -> list[Outcome]:
        known = [self.cache_key(call, job) in self.cache for job in jobs]
        outcomes = await super().outcomes(call, jobs)
        order = sorted(range(len(jobs)), key=lambda place: not known[place])
        return [outcomes[place] for place in order]


@catches("EMB-BATCH-2")
class TextOfTheFirst(ReferenceEmbedding):
    """It gives all embeddings of a batch the text of the first one."""

    async def embed_batch(self, call: Call) -> Result:
        result = await super().embed_batch(call)
        first = result["embeddings"][0]["text"] if result["embeddings"] else ""
        return {**result, "embeddings": [{**each, "text": first} for each in result["embeddings"]]}


@catches("EMB-BATCH-2")
class SecondHalfReversed(ReferenceEmbedding):
    """It sends more than four texts in two parts, and reads the second one backwards."""

    async def outcomes(self, call: Call, jobs: Sequence[Job]) -> list[Outcome]:
        outcomes = await super().outcomes(call, jobs)
        return outcomes[:4] + outcomes[4:][::-1]


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


@catches("EMB-BATCH-6")
class LimitOfABatchIgnored(ReferenceEmbedding):
    """It states a limit and embeds more."""

    def check_batch_size(self, size: int) -> None:
        return None


@catches("EMB-BATCH-6")
class OverLargeIsExhausted(ReferenceEmbedding):
    """It takes the size of a batch for a matter of quota."""

    def check_batch_size(self, size: int) -> None:
        try:
            super().check_batch_size(size)
        except AdapterError as error:
            raise AdapterError("ResourceExhausted", str(error), **error.details) from None


@catches("EMB-BATCH-6")
class OverLargeIsCut(ReferenceEmbedding):
    """It embeds as many texts as a batch may have and forgets the others."""

    def read_texts(self, call: Call) -> list[str]:
        if isinstance(call.args.values.get("texts"), list):
            changed(call, texts=call.args.values["texts"][: self.max_batch_size])
        return super().read_texts(call)


@catches("EMB-BATCH-6")
class OneMoreIsEmbedded(ReferenceEmbedding):
    """It compares the size of a batch with the index of the last text."""

    def check_batch_size(self, size: int) -> None:
        super().check_batch_size(size - 1)


@catches("EMB-BATCH-7")
class FullBatchRefused(ReferenceEmbedding):
    """It refuses a batch that is as large as its limit."""

    def check_batch_size(self, size: int) -> None:
        super().check_batch_size(size + 1)


@catches("EMB-BATCH-7")
class LimitIsStatedTooHigh(ReferenceEmbedding):
    """It states twice the size that it embeds."""

    async def capabilities(self, call: Call) -> Result:
        return {**await super().capabilities(call), "max_batch_size": 2 * self.max_batch_size}


@catches("EMB-BATCH-8")
class OneTextIsAListOfLetters(ReferenceEmbedding):
    """It goes through a string as through a list."""

    def read_texts(self, call: Call) -> list[str]:
        if isinstance(call.args.values.get("texts"), str):
            changed(call, texts=list(call.args.values["texts"])[: self.max_batch_size])
        return super().read_texts(call)


@catches("EMB-BATCH-8")
class TextsAreWritten(ReferenceEmbedding):
    """It turns what is not a string in a batch into one."""

    def read_texts(self, call: Call) -> list[str]:
        if isinstance(call.args.values.get("texts"), list):
            changed(call, texts=[str(text) for text in call.args.values["texts"]])
        return super().read_texts(call)


@catches("EMB-BATCH-8")
class NullInABatchIsAnAttributeError(ReferenceEmbedding):
    """It strips the texts of a batch unchecked, which makes null UNAVAILABLE."""

    def read_texts(self, call: Call) -> list[str]:
        texts = call.args.values.get("texts")
        if isinstance(texts, list) and None in texts:
            raise AttributeError("strip")
        return super().read_texts(call)


@catches("EMB-BATCH-8")
class NoTextsAreAnEmptyBatch(ReferenceEmbedding):
    """It takes missing texts for an empty batch."""

    def read_texts(self, call: Call) -> list[str]:
        return super().read_texts(call) if "texts" in call.args.values else []


@catches("EMB-BATCH-9")
class BatchFlagsAreTruthy(ReferenceEmbedding):
    """It takes the flags of a batch for true whatever they are."""

    def read_options(self, call: Call) -> Options:
        if call.op == "embed_batch":
            flags = {name: call.args.values.get(name) for name in ("truncate", "normalize")}
            changed(call, **{name: bool(value) for name, value in flags.items() if value is not None})
        return super().read_options(call)


@catches("EMB-BATCH-9")
class ModelOfABatchIsNotHashable(ReferenceEmbedding):
    """It looks the model of a batch up unchecked, which makes a list UNAVAILABLE."""

    def read_model(self, call: Call) -> str:
        if call.op == "embed_batch" and isinstance(call.args.values.get("model"), (list, dict)):
            raise TypeError("unhashable type")
        return super().read_model(call)


@catches("EMB-BATCH-9")
class ModelOfABatchIsWritten(ReferenceEmbedding):
    """It looks the model of a batch up by its name whatever its type, and finds it not available."""

    def read_model(self, call: Call) -> str:
        if call.op == "embed_batch" and call.args.values.get("model") is not None:
            changed(call, model=str(call.args.values["model"]))
        return super().read_model(call)


@catches("EMB-BATCH-10")
class SecondModelHasNoBatches(ReferenceEmbedding):
    """It lists a model that embeds single texts alone."""

    def read_texts(self, call: Call) -> list[str]:
        if call.args.values.get("model") == [*self.models][1]:
            raise AdapterError("NotSupported", "The model does not embed batches")
        return super().read_texts(call)


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


@catches("EMB-BATCH-13")
class SizeOfABatchNotTold(ReferenceEmbedding):
    """It does not say how large a batch may be."""

    def check_batch_size(self, size: int) -> None:
        try:
            super().check_batch_size(size)
        except AdapterError as error:
            error.details.clear()
            raise


@catches("EMB-BATCH-14")
class TotalWithoutFailures(ReferenceEmbedding):
    """It counts the texts that were embedded as all texts."""

    async def embed_batch(self, call: Call) -> Result:
        result = await super().embed_batch(call)
        return {**result, "total_texts": len(result["embeddings"])}


@catches("EMB-BATCH-15")
class EmptyBatchHasNoLongest(ReferenceEmbedding):
    """It looks for the longest text, which makes an empty batch UNAVAILABLE."""

    def read_texts(self, call: Call) -> list[str]:
        texts = super().read_texts(call)
        max(map(len, texts))
        return texts


@catches("EMB-BATCH-17")
class ModelOfABatchHasADate(ReferenceEmbedding):
    """It names the dated version of the model in the embeddings of a batch."""

    async def embed_batch(self, call: Call) -> Result:
        result = await super().embed_batch(call)
        embeddings = [{**each, "model": f"{each['model']}-2024-05-13"} for each in result["embeddings"]]
        return {**result, "embeddings": embeddings}


@catches("EMB-BATCH-18")
class BatchesAreRounded(ReferenceEmbedding):
    """It has its provider round the vectors of a batch to one digit."""

    async def embed_batch(self, call: Call) -> Result:
        result = await super().embed_batch(call)
        for each in result["embeddings"]:
            each["vector"] = [round(component + 0.02, 1) for component in each["vector"]]
        return result


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


@catches("EMB-BATCH-13")
class ReductionByTooMuch(ReferenceEmbedding):
    """It tells by how many texts a batch is too large where a percentage belongs, and counts wrongly."""

    def check_batch_size(self, size: int) -> None:
        try:
            super().check_batch_size(size)
        except AdapterError as error:
            error.details["suggested_batch_reduction"] = 400
            raise


@catches("COM-ERR-13")
class ReductionOneTooLarge(ReferenceEmbedding):
    """It suggests to reduce a batch by one hundredth too much, which is more than all where the batch is huge."""

    def check_batch_size(self, size: int) -> None:
        try:
            super().check_batch_size(size)
        except AdapterError as error:
            error.details["suggested_batch_reduction"] += 1
            raise
