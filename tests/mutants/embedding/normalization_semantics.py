"""Mistakes that embedding/test_normalization_semantics.py finds (EMB-NORM)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pytest_corpus.reference.embedding.adapter import ReferenceEmbedding
from pytest_corpus.reference.embedding.arguments import Job, Options
from pytest_corpus.reference.embedding.feature_space import Vector, unit
from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.request import Call

from .. import catches

Result = dict[str, Any]


class AtSource(ReferenceEmbedding):
    """A legal adapter whose provider gives vectors of unit norm."""

    features: Mapping[str, bool] = {**ReferenceEmbedding.features, "normalizes_at_source": True}


class WithoutNormalization(ReferenceEmbedding):
    """A legal adapter that does not normalize."""

    features: Mapping[str, bool] = {**ReferenceEmbedding.features, "supports_normalization": False}


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
    """It cannot normalize, and refuses the argument of `embed` whatever its value."""

    def read_options(self, call: Call) -> Options:
        if call.op == "embed" and "normalize" in call.args.values:
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
