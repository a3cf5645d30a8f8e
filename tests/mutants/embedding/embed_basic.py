"""Mistakes that embedding/test_embed_basic.py finds (EMB-DIM, EMB-EMBED, EMB-MODEL)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_corpus.reference.embedding.adapter import ReferenceEmbedding
from pytest_corpus.reference.embedding.answers import Embedding
from pytest_corpus.reference.embedding.arguments import Job, Options
from pytest_corpus.reference.embedding.feature_space import Vector
from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.request import Call

from .. import catches

Result = dict[str, Any]


class WithoutCache(ReferenceEmbedding):
    """A legal adapter that asks its provider every time."""

    features: Mapping[str, bool] = {**ReferenceEmbedding.features, "supports_caching": False}


@catches("EMB-EMBED-1")
class EmbeddingsInThePlural(ReferenceEmbedding):
    """It answers `embed` with a list of embeddings, as the dataclass of the specification does."""

    def result(self, job: Job, embedding: Embedding) -> Result:
        result = super().result(job, embedding)
        return {**result, "embeddings": [result.pop("embedding")]}


@catches("EMB-EMBED-1")
class CachedResultSaysSo(ReferenceEmbedding):
    """It adds a key of its own to a result that comes from the cache."""

    def recall(self, call: Call, job: Job) -> Embedding | None:
        found = super().recall(call, job)
        return found and {**found, "cached": True}

    def result(self, job: Job, embedding: Embedding) -> Result:
        more = {"cached": True} if embedding.pop("cached", False) else {}
        return {**super().result(job, embedding), **more}

    async def embed_batch(self, call: Call) -> Result:
        result = await super().embed_batch(call)
        for embedding in result["embeddings"]:
            embedding.pop("cached", None)
        return result


@catches("EMB-EMBED-1")
class CutResultWithoutText(ReferenceEmbedding):
    """It does not give a text back that it has cut."""

    def result(self, job: Job, embedding: Embedding) -> Result:
        result = super().result(job, embedding)
        if job.truncated:
            del result["text"]
        return result


@catches("EMB-EMBED-2")
class DimensionsOfTheLargest(ReferenceEmbedding):
    """It states the dimensions of its largest model for every vector."""

    def embedding(self, job: Job) -> Embedding:
        return {**super().embedding(job), "dimensions": max(self.models.values())}


@catches("EMB-EMBED-2")
class NormalizedHasOneDimensionMore(ReferenceEmbedding):
    """It keeps the norm as one more component of a normalized vector and does not count it."""

    def embedding(self, job: Job) -> Embedding:
        embedding = super().embedding(job)
        return {**embedding, "dimensions": embedding["dimensions"] - 1} if job.options.normalize else embedding


@catches("EMB-EMBED-3")
class TextInLowerCase(ReferenceEmbedding):
    """It gives back the text that its tokenizer made of the caller's."""

    def result(self, job: Job, embedding: Embedding) -> Result:
        return {**super().result(job, {**embedding, "text": job.text.lower()}), "text": job.text.lower()}


@catches("EMB-EMBED-3")
class PrefixOfAPassage(ReferenceEmbedding):
    """It gives the texts of a batch back with the prefix that its model wants."""

    async def embed_batch(self, call: Call) -> Result:
        result = await super().embed_batch(call)
        embeddings = [{**each, "text": f"passage: {each['text']}"} for each in result["embeddings"]]
        return {**result, "embeddings": embeddings}


@catches("EMB-EMBED-4")
class AsciiOnly(ReferenceEmbedding):
    """It cannot encode a text beyond ASCII."""

    def job(self, text: str, path: str, options: Options) -> Job:
        if not text.isascii():
            raise AdapterError("BadRequest", "The text cannot be encoded")
        return super().job(text, path, options)


@catches("EMB-EMBED-4")
class AstralIsAnIndexError(ReferenceEmbedding):
    """It looks characters up in a table of the basic plane, which makes an emoji UNAVAILABLE."""

    def job(self, text: str, path: str, options: Options) -> Job:
        if any(ord(char) > 0xFFFF for char in text):
            raise IndexError("no such character")
        return super().job(text, path, options)


@catches("EMB-EMBED-5")
class NumbersAloneCount(ReferenceEmbedding):
    """It filters tokens the wrong way round, so that all texts without a digit have the same vector."""

    def sum_of_features(self, text: str, model: str, dimensions: int) -> Vector:
        digits = any(char.isdigit() for char in text)
        return super().sum_of_features(text if digits else "", model, dimensions)


@catches("EMB-EMBED-5")
class SecondModelIsConstant(ReferenceEmbedding):
    """It lost the vocabulary of its second model, which gives all texts without a digit the same vector."""

    def sum_of_features(self, text: str, model: str, dimensions: int) -> Vector:
        lost = model != next(iter(self.models)) and not any(char.isdigit() for char in text)
        return super().sum_of_features("" if lost else text, model, dimensions)


@catches("EMB-EMBED-6")
class ModelOfADate(ReferenceEmbedding):
    """It names the dated version of the model in its results."""

    def result(self, job: Job, embedding: Embedding) -> Result:
        return {**super().result(job, embedding), "model": f"{job.options.model}-2024-05-13"}


@catches("EMB-EMBED-7", control=WithoutCache)
class ReplicasDiffer(WithoutCache):
    """It asks two replicas in turn, of which one has another version of the model."""

    turn = 0

    def source_vector(self, job: Job) -> Vector:
        self.turn += 1
        vector = super().source_vector(job)
        return vector if self.turn % 2 else [component + 0.005 for component in vector]


@catches("EMB-EMBED-8")
class TokensUsedAreWords(ReferenceEmbedding):
    """It counts words where it embeds, and tokens where it counts tokens."""

    def result(self, job: Job, embedding: Embedding) -> Result:
        return {**super().result(job, embedding), "tokens_used": len(job.text.split())}


@catches("EMB-DIM-1")
class ShortTextsAreShortVectors(ReferenceEmbedding):
    """It gives a single token half a vector."""

    def vector(self, job: Job) -> Vector:
        vector = super().vector(job)
        return vector[: len(vector) // 2] if self.tokens(job.text) < 2 else vector


@catches("EMB-DIM-1")
class BatchesAreSmaller(ReferenceEmbedding):
    """It asks its provider for fewer dimensions where it embeds a batch."""

    async def embed_batch(self, call: Call) -> Result:
        result = await super().embed_batch(call)
        for embedding in result["embeddings"]:
            embedding["vector"] = embedding["vector"][:8]
            embedding["dimensions"] = len(embedding["vector"])
        return result


@catches("EMB-DIM-2")
class MaximumOfTheSmallest(ReferenceEmbedding):
    """It states the dimensions of its smallest model as the maximum."""

    async def capabilities(self, call: Call) -> Result:
        return {**await super().capabilities(call), "max_dimensions": min(self.models.values())}


@catches("EMB-MODEL-1")
class RetiredModelListed(ReferenceEmbedding):
    """It lists a model that is no longer there."""

    def read_model(self, call: Call) -> str:
        model = super().read_model(call)
        if call.op == "embed" and model == [*self.models][1]:
            raise self.unknown_model(model)
        return model


@catches("EMB-MODEL-2")
class AnyModelEmbeds(ReferenceEmbedding):
    """It embeds with its first model where it does not know the one that was asked for."""

    def read_model(self, call: Call) -> str:
        model = call.args.values.get("model")
        unknown = isinstance(model, str) and model not in self.models
        return next(iter(self.models)) if unknown and call.op == "embed" else super().read_model(call)


@catches("EMB-MODEL-2")
class VersionsOfAModelEmbed(ReferenceEmbedding):
    """It takes every name that begins like a listed one for that model."""

    def read_model(self, call: Call) -> str:
        model = call.args.values.get("model")
        if call.op == "embed" and isinstance(model, str):
            for listed in self.models:
                if model.startswith(listed):
                    return listed
        return super().read_model(call)


@catches("EMB-MODEL-2")
class UnknownModelIsANetworkFailure(ReferenceEmbedding):
    """It says TRANSIENT_NETWORK where `embed` asks for a model that it does not know."""

    def read_model(self, call: Call) -> str:
        model = call.args.values.get("model")
        if call.op == "embed" and isinstance(model, str) and model not in self.models:
            raise AdapterError("TransientNetwork", "The model was not reached")
        return super().read_model(call)


@catches("EMB-MODEL-3")
class AnyModelEmbedsBatches(ReferenceEmbedding):
    """It does not look at the model of a batch."""

    def read_model(self, call: Call) -> str:
        known = call.op != "embed_batch" or call.args.values.get("model") in (None, *self.models)
        return super().read_model(call) if known else next(iter(self.models))


@catches("EMB-MODEL-3")
class UnknownModelOfABatchIsExhausted(ReferenceEmbedding):
    """It has no quota for a model that it does not know, which makes it RESOURCE_EXHAUSTED in a batch."""

    def read_model(self, call: Call) -> str:
        model = call.args.values.get("model")
        if call.op == "embed_batch" and isinstance(model, str) and model not in self.models:
            raise AdapterError("ResourceExhausted", "There is no quota for the model")
        return super().read_model(call)


@catches("EMB-MODEL-4")
class AnyModelStreams(ReferenceEmbedding):
    """It streams with its first model where it does not know the one that was asked for."""

    def read_model(self, call: Call) -> str:
        model = call.args.values.get("model")
        unknown = isinstance(model, str) and model not in self.models
        return next(iter(self.models)) if unknown and call.streaming else super().read_model(call)


@catches("EMB-EMBED-9")
class TextIsStripped(ReferenceEmbedding):
    """It gives a text back without the spaces at its ends and between its words."""

    def result(self, job: Job, embedding: Embedding) -> Result:
        text = " ".join(job.text.split())
        return {**super().result(job, {**embedding, "text": text}), "text": text}


@catches("EMB-MODEL-5")
class UnknownModelIsNotNamed(ReferenceEmbedding):
    """It does not say which model it does not know."""

    def unknown_model(self, model: str) -> AdapterError:
        error = super().unknown_model(model)
        del error.details["model"]
        return error
