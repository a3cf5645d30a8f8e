"""Mistakes that embedding/test_normalization_semantics.py finds (EMB-NORM)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from pytest_corpus.reference.embedding.adapter import ReferenceEmbedding
from pytest_corpus.reference.embedding.arguments import Options
from pytest_corpus.reference.embedding.feature_space import Vector, unit
from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.request import Call

from .. import catches


class WithoutNormalization(ReferenceEmbedding):
    """A legal adapter that does not normalize."""

    features: Mapping[str, bool] = {**ReferenceEmbedding.features, "supports_normalization": False}


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


def centred(vector: Vector) -> Vector:
    """The vector of unit norm around its own mean."""
    mean = math.fsum(vector) / len(vector)
    return unit([component - mean for component in vector])
