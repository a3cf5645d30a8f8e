"""Mistakes in single embeddings, models and normalization (EMB-EMBED, EMB-DIM, EMB-MODEL, EMB-NORM)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pytest_corpus.reference.embedding_adapter import Embedding, Job, Options, ReferenceEmbedding
from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.feature_space import Vector, unit
from pytest_corpus.reference.request import Call

from . import catches

Result = dict[str, Any]


class AtSource(ReferenceEmbedding):
    """A legal adapter whose provider gives vectors of unit norm."""

    features: Mapping[str, bool] = {**ReferenceEmbedding.features, "normalizes_at_source": True}


class WithoutNormalization(ReferenceEmbedding):
    """A legal adapter that does not normalize."""

    features: Mapping[str, bool] = {**ReferenceEmbedding.features, "supports_normalization": False}


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
class TextOfTheFirst(ReferenceEmbedding):
    """It gives all embeddings of a batch the text of the first one."""

    async def embed_batch(self, call: Call) -> Result:
        result = await super().embed_batch(call)
        first = result["embeddings"][0]["text"] if result["embeddings"] else ""
        return {**result, "embeddings": [{**each, "text": first} for each in result["embeddings"]]}


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
class VectorIsConstant(ReferenceEmbedding):
    """It gives every text the same vector."""

    def sum_of_features(self, text: str, model: str, dimensions: int) -> Vector:
        return super().sum_of_features("text", model, dimensions)


@catches("EMB-EMBED-5")
class VectorsOfTheSecondModelAreConstant(ReferenceEmbedding):
    """It lost the weights of its second model, which gives every text the same vector."""

    def sum_of_features(self, text: str, model: str, dimensions: int) -> Vector:
        return super().sum_of_features(text if model == next(iter(self.models)) else "", model, dimensions)


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
        return vector if self.turn % 2 else [component + 0.3 for component in vector]


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
class UnknownModelIsUnavailable(ReferenceEmbedding):
    """It says UNAVAILABLE where `embed` asks for a model that it does not know."""

    def read_model(self, call: Call) -> str:
        model = call.args.values.get("model")
        if call.op == "embed" and isinstance(model, str) and model not in self.models:
            raise AdapterError("Unavailable", "The model is not loaded")
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


@catches("EMB-NORM-1")
class NormalizeIgnored(ReferenceEmbedding):
    """It claims to normalize and does not look at the argument of `embed`."""

    def read_options(self, call: Call) -> Options:
        options = super().read_options(call)
        return replace(options, normalize=False) if call.op == "embed" else options


@catches("EMB-NORM-1")
class NormalizedByTheSum(ReferenceEmbedding):
    """It divides by the sum of the components instead of the root of the sum of their squares."""

    def normalized(self, vector: Vector) -> Vector:
        length = math.fsum(map(abs, vector))
        return [component / length for component in vector]


@catches("EMB-NORM-1")
class SecondModelNotNormalized(ReferenceEmbedding):
    """It normalizes the vectors of its first model alone."""

    def vector(self, job: Job) -> Vector:
        first = job.options.model == next(iter(self.models))
        return super().vector(job) if first else self.source_vector(job)


@catches("EMB-NORM-2")
class BatchNotNormalized(ReferenceEmbedding):
    """It does not pass `normalize` on to the texts of a batch."""

    def read_options(self, call: Call) -> Options:
        options = super().read_options(call)
        return replace(options, normalize=False) if call.op == "embed_batch" else options


@catches("EMB-NORM-2")
class LastOfABatchNotNormalized(ReferenceEmbedding):
    """It normalizes all vectors of a batch but the last one."""

    async def embed_batch(self, call: Call) -> Result:
        result = await super().embed_batch(call)
        if call.args.values.get("normalize") and len(result["embeddings"]) > 1:
            last = result["embeddings"][-1]
            last["vector"] = [3 * component for component in last["vector"]]
        return result


@catches("EMB-NORM-3")
class StreamNotNormalized(ReferenceEmbedding):
    """It does not pass `normalize` on to a stream."""

    def read_options(self, call: Call) -> Options:
        options = super().read_options(call)
        return replace(options, normalize=False) if call.streaming else options


class Denying(WithoutNormalization):
    """A legal adapter that does not normalize, with the refusal for each operation in one place."""

    served = ""
    refusal = "NotSupported"

    def read_options(self, call: Call) -> Options:
        if call.op != self.served or call.args.values.get("normalize") is not True:
            return super().read_options(call)
        if self.refusal != "NotSupported":
            raise AdapterError(self.refusal, "Vectors are not normalized")
        values = {**call.args.values, "normalize": False}
        call.args = replace(call.args, values=values)
        return super().read_options(call)


@catches("EMB-NORM-4", control=WithoutNormalization)
class DeniedNormalizationIgnored(Denying):
    """It gives the vector as it is where it cannot normalize."""

    served = "embed"


@catches("EMB-NORM-4", control=WithoutNormalization)
class DeniedNormalizationIsBadRequest(Denying):
    """It calls `normalize` a bad request where it cannot normalize."""

    served = "embed"
    refusal = "BadRequest"


@catches("EMB-NORM-5", control=WithoutNormalization)
class DeniedNormalizationOfBatchesIgnored(Denying):
    """It gives the vectors of a batch as they are where it cannot normalize."""

    served = "embed_batch"


@catches("EMB-NORM-6", control=WithoutNormalization)
class DeniedNormalizationOfStreamsIgnored(Denying):
    """It gives the vector of a stream as it is where it cannot normalize."""

    served = "stream_embed"


@catches("EMB-NORM-7", control=AtSource)
class NormalizedAgain(AtSource):
    """It centres and normalizes a vector once more that came normalized."""

    def vector(self, job: Job) -> Vector:
        vector = self.source_vector(job)
        return centred(vector) if job.options.normalize else vector


@catches("EMB-NORM-7", control=AtSource)
class BatchNormalizedAgain(AtSource):
    """It rounds and normalizes the vectors of a batch again that came normalized."""

    async def embed_batch(self, call: Call) -> Result:
        result = await super().embed_batch(call)
        if call.args.values.get("normalize"):
            for each in result["embeddings"]:
                each["vector"] = unit([round(component, 1) for component in each["vector"]])
        return result


@catches("EMB-NORM-8")
class NormalizedIsCentred(ReferenceEmbedding):
    """It subtracts the mean before it normalizes."""

    def normalized(self, vector: Vector) -> Vector:
        return centred(vector)


@catches("EMB-NORM-8")
class NormalizedLosesItsSigns(ReferenceEmbedding):
    """It takes the roots of the squares one by one, and with them the signs away."""

    def normalized(self, vector: Vector) -> Vector:
        return [abs(component) for component in super().normalized(vector)]


@catches("EMB-NORM-9")
class NormalizedByDefault(ReferenceEmbedding):
    """It normalizes where nothing is said."""

    def read_options(self, call: Call) -> Options:
        options = super().read_options(call)
        return replace(options, normalize=True) if call.args.values.get("normalize") is None else options


@catches("EMB-NORM-9", control=WithoutNormalization)
class FalseIsRefusedToo(WithoutNormalization):
    """It cannot normalize, and refuses the argument whatever its value."""

    def read_options(self, call: Call) -> Options:
        if "normalize" in call.args.values:
            self.require("supports_normalization")
        return super().read_options(call)


@catches("EMB-NORM-10", control=AtSource)
class SourceDoesNotNormalize(AtSource):
    """It says that its provider normalizes, and does it itself when asked."""

    def source_vector(self, job: Job) -> Vector:
        vector = self.sum_of_features(job.text, job.options.model, self.models[job.options.model])
        return unit(vector) if job.options.normalize else vector


def centred(vector: Vector) -> Vector:
    """The vector of unit norm around its own mean."""
    mean = math.fsum(vector) / len(vector)
    return unit([component - mean for component in vector])
