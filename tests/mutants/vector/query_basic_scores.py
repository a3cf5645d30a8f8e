"""Mistakes that vector/test_query_basic.py finds (VEC-SCORE)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.request import Call
from pytest_corpus.reference.vector.adapter import ReferenceVector
from pytest_corpus.reference.vector.arguments import Query
from pytest_corpus.reference.vector.store import Hit, Item, Space

from .. import catches
from .legal import Uncached, product

Numbers = tuple[float, float]


@catches("VEC-SCORE-1")
class CosineIsAProduct(ReferenceVector):
    """It takes vectors of a cosine namespace for normalized and multiplies them as they are."""

    def cosine(self, left: Sequence[float], right: Sequence[float]) -> Numbers:
        return self.dot(left, right)


@catches("VEC-SCORE-1")
class OppositesAreAlike(ReferenceVector):
    """It ranks by the absolute value of the cosine."""

    def cosine(self, left: Sequence[float], right: Sequence[float]) -> Numbers:
        score = abs(super().cosine(left, right)[0])
        return score, 1 - score


@catches("VEC-SCORE-1")
class CosineComesWorstFirst(ReferenceVector):
    """It sorts a cosine namespace by rising score."""

    def rank(self, space: Space, hits: list[Hit]) -> list[Hit]:
        ranked = super().rank(space, hits)
        return ranked[::-1] if space.metric == "cosine" else ranked


@catches("VEC-SCORE-2")
class FarthestComesFirst(ReferenceVector):
    """It sorts distances as if they were scores."""

    def rank(self, space: Space, hits: list[Hit]) -> list[Hit]:
        ranked = super().rank(space, hits)
        return ranked[::-1] if space.metric == "euclidean" else ranked


@catches("VEC-SCORE-2")
class EuclideanIsCosine(ReferenceVector):
    """It ranks a euclidean namespace by the angle."""

    def euclidean(self, left: Sequence[float], right: Sequence[float]) -> Numbers:
        return self.cosine(left, right)


@catches("VEC-SCORE-2")
class EuclideanIsManhattan(ReferenceVector):
    """It adds the differences of the components and not their squares."""

    def euclidean(self, left: Sequence[float], right: Sequence[float]) -> Numbers:
        distance = sum(abs(a - b) for a, b in zip(left, right, strict=True))
        return 1 / (1 + distance), distance


@catches("VEC-SCORE-3")
class DotIsCosine(ReferenceVector):
    """It normalizes the vectors of a dot product namespace."""

    def dot(self, left: Sequence[float], right: Sequence[float]) -> Numbers:
        return self.cosine(left, right)


@catches("VEC-SCORE-3")
class DotIsAbsolute(ReferenceVector):
    """It ranks by the absolute value of the product."""

    def dot(self, left: Sequence[float], right: Sequence[float]) -> Numbers:
        return super().dot([abs(super().dot(left, right)[0])], [1])


@catches("VEC-SCORE-4")
class EuclideanScoreIsTheDistance(ReferenceVector):
    """It states the distance of a euclidean namespace as the score."""

    def match(self, query: Query, hit: Hit) -> dict[str, Any]:
        match = super().match(query, hit)
        euclidean = abs(hit.distance - math.dist(query.vector, hit.item.vector)) < 1e-9
        return {**match, "score": hit.distance} if euclidean else match


@catches("VEC-SCORE-4")
class ScoresAreRanks(ReferenceVector):
    """It states the place in the ranking as the score."""

    def search(self, call: Call, query: Query) -> dict[str, Any]:
        result = super().search(call, query)
        for place, match in enumerate(result["matches"]):
            match["score"] = float(place)
        return result


@catches("VEC-SCORE-5")
class SmallProductsAreFar(ReferenceVector):
    """It puts vectors of a small product farther away than those of a negative one."""

    def dot(self, left: Sequence[float], right: Sequence[float]) -> Numbers:
        score, distance = super().dot(left, right)
        return score, 2 * distance if score > 0 else distance


@catches("VEC-SCORE-5")
class DotDistanceIsTheScore(ReferenceVector):
    """It states the product as the distance too."""

    def dot(self, left: Sequence[float], right: Sequence[float]) -> Numbers:
        score, _ = super().dot(left, right)
        return score, score


@catches("VEC-SCORE-5")
class CosineDistanceIsTheScore(ReferenceVector):
    """It states the cosine as the distance too."""

    def cosine(self, left: Sequence[float], right: Sequence[float]) -> Numbers:
        score, _ = super().cosine(left, right)
        return score, score


@catches("VEC-SCORE-6")
class CosineIsAnAngle(ReferenceVector):
    """It states how much of half a turn the angle leaves as the score."""

    def cosine(self, left: Sequence[float], right: Sequence[float]) -> Numbers:
        score = 1 - math.acos(super().cosine(left, right)[0]) / math.pi
        return score, 1 - score


@catches("VEC-SCORE-7")
class DistanceIsSquared(ReferenceVector):
    """It saves the square root of the euclidean distance."""

    def euclidean(self, left: Sequence[float], right: Sequence[float]) -> Numbers:
        distance = math.dist(left, right) ** 2
        return 1 / (1 + distance), distance


@catches("VEC-SCORE-8")
class ProductIsAMean(ReferenceVector):
    """It divides the product by the number of dimensions."""

    def dot(self, left: Sequence[float], right: Sequence[float]) -> Numbers:
        score = product(left, right) / len(left)
        return score, -score


@catches("VEC-SCORE-9")
class ZerosAreABackendFailure(ReferenceVector):
    """It divides by the length of a vector, and takes what comes of zero for a failure of its backend."""

    def write(self, call: Call, namespace: str, items: Sequence[Item]) -> dict[str, Any]:
        if not all(any(item.vector) for item in items):
            raise AdapterError("Unavailable", "The index does not answer", retry_after_ms=100)
        return super().write(call, namespace, items)


@catches("VEC-SCORE-9")
class ZeroIsFarFromItself(Uncached):
    """It gives a vector of zeros a distance of 1 from itself."""

    def euclidean(self, left: Sequence[float], right: Sequence[float]) -> tuple[float, float]:
        return super().euclidean(left, right) if any(left) or any(right) else (0.5, 1.0)
