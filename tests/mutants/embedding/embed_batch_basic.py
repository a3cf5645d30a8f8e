"""Mistakes that embedding/test_embed_batch_basic.py finds (EMB-BATCH)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from pytest_corpus.reference.embedding.adapter import ReferenceEmbedding
from pytest_corpus.reference.embedding.arguments import Job, Options
from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.request import Call

from .. import catches
from .shared import Outcome, Result, changed


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


@catches("EMB-BATCH-13")
class SizeOfABatchNotTold(ReferenceEmbedding):
    """It does not say how large a batch may be."""

    def check_batch_size(self, size: int) -> None:
        try:
            super().check_batch_size(size)
        except AdapterError as error:
            error.details.clear()
            raise


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
