"""Namespaces of vectors in memory, distances and filters, instead of a vector index."""

import math
import operator
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

LARGEST_FLOAT = sys.float_info.max
Measures = Mapping[str, Callable[[Sequence[float], Sequence[float]], tuple[float, float]]]


@dataclass(frozen=True, slots=True)
class Item:
    """A stored vector."""

    id: str
    vector: list[float]
    metadata: Mapping[str, Any]


@dataclass(slots=True)
class Space:
    """A namespace: items by id. `dimensions` is None until the first vector; every write changes `version`."""

    metric: str
    dimensions: int | None = None
    items: dict[str, Item] = field(default_factory=dict)
    version: int = 0


@dataclass(frozen=True, slots=True)
class Hit:
    """An item found by a query; a higher score and a lower distance are better (SPECIFICATION 9.4)."""

    item: Item
    score: float
    distance: float


@dataclass(frozen=True, slots=True)
class FilterCondition:
    """One term of a filter: the `operator` and operand for the metadata under `name`."""

    name: str
    operator: str
    operand: Any


def to_finite(value: float) -> float:
    """Return the closest number that JSON can represent."""
    return max(-LARGEST_FLOAT, min(LARGEST_FLOAT, value))


def scale_down(vector: Sequence[float]) -> tuple[list[float], float]:
    """Return the vector scaled to components within [-1, 1], and the factor that restores the original."""
    factor = max(map(abs, vector)) or 1
    return [component / factor for component in vector], factor


def is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


class Geometry:
    """Score and distance under each metric, for finite vectors of any magnitude."""

    @property
    def measures(self) -> Measures:
        return {"cosine": self.cosine, "euclidean": self.euclidean, "dot": self.dot}

    def measure(self, metric: str, query: Sequence[float], stored: Sequence[float]) -> tuple[float, float]:
        return self.measures[metric](query, stored)

    def cosine(self, left: Sequence[float], right: Sequence[float]) -> tuple[float, float]:
        """Return the score (the cosine of the angle) and the distance (1 minus the cosine). A zero vector scores 0."""
        (a, _), (b, _) = scale_down(left), scale_down(right)
        norms = math.hypot(*a) * math.hypot(*b)
        score = max(-1.0, min(1.0, math.fsum(map(operator.mul, a, b)) / norms)) if norms else 0.0
        return score, 1 - score

    def euclidean(self, left: Sequence[float], right: Sequence[float]) -> tuple[float, float]:
        """Return the score, which is in (0, 1] and decreases with the distance, and the distance."""
        distance = to_finite(math.dist(left, right))
        return 1 / (1 + distance), distance

    def dot(self, left: Sequence[float], right: Sequence[float]) -> tuple[float, float]:
        """Return the score (the dot product) and a positive distance that falls as the score rises (edition 1.0.0)."""
        (a, one), (b, other) = scale_down(left), scale_down(right)
        score = to_finite(math.fsum(map(operator.mul, a, b)) * one * other)
        return score, 1 / (1 + score) if score > 0 else 1 - score


class Conditions:
    """The operators of filters (SCHEMA 4.2.2), each with its test."""

    equality = "eq"
    comparisons: Mapping[str, Callable[[Any, Any], bool]] = {
        "gt": operator.gt,
        "gte": operator.ge,
        "lt": operator.lt,
        "lte": operator.le,
    }

    @property
    def operators(self) -> tuple[str, ...]:
        """The operators of filters besides equality, as capabilities advertise them (R31)."""
        return tuple(f"{sign}{name}" for sign in ("", "$") for name in (*self.comparisons, "in"))

    def passes(self, metadata: Mapping[str, Any], conditions: Sequence[FilterCondition]) -> bool:
        """True if all conditions are satisfied."""
        return all(self.holds(metadata, condition) for condition in conditions)

    def holds(self, metadata: Mapping[str, Any], condition: FilterCondition) -> bool:
        """True if one condition is satisfied. If the name is absent, the condition is not satisfied."""
        if condition.name not in metadata:
            return False
        value, operand = metadata[condition.name], condition.operand
        if condition.operator == self.equality:
            return self.are_equal(value, operand)
        if condition.operator == "in":
            return any(self.are_equal(value, one) for one in operand)
        return is_number(value) and self.comparisons[condition.operator](value, operand)

    def are_equal(self, left: Any, right: Any) -> bool:
        """True if two JSON scalars are equal: true is not 1, but 1 is 1.0."""
        return bool(left == right) and isinstance(left, bool) == isinstance(right, bool)
