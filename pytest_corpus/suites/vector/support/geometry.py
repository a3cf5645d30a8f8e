"""Vectors that any adapter can distinguish, and their similarity under each metric (SPECIFICATION 9.4; R30)."""

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeGuard

Components = Sequence[float]

SAME_METRIC = {"dotproduct": "dot", "dot_product": "dot"}
"""Other spellings of metrics, and their names in the protocol (R30)."""

METRICS = ("cosine", "euclidean", "dot")
"""The metrics of the protocol."""

POLAR = ((10, 0.4), (30, 3.0), (60, 1.0), (86, 0.5), (120, 0.8), (170, 2.0))
"""Angles and lengths of vectors that each metric ranks differently for a query at `SEEN_FROM`."""

SEEN_FROM = (0, 1.5)

TOLERANCE = 1e-3
"""The relative error that single precision, or an approximate index, may cause."""


SINGLE = 1e-5
"""The largest error of a 32-bit component, also after normalization. It is relative to the largest component."""


def canonical_metric(metric: str | None) -> str | None:
    """Return the protocol's name of a metric; None if the protocol has no such metric."""
    name = SAME_METRIC.get(metric or "", metric)
    return name if name in METRICS else None


def direction(degrees: float, dimensions: int, length: float = 1.0) -> list[float]:
    """Return a vector in the plane of the first two components; in one dimension the angle changes the length."""
    angle = math.radians(degrees)
    if dimensions == 1:
        return [round(length + degrees / 180, 9)]
    return [round(length * math.cos(angle), 9), round(length * math.sin(angle), 9), *[0.0] * (dimensions - 2)]


def dot_product(left: Components, right: Components) -> float:
    """Return the dot product."""
    return math.fsum(map(operator.mul, left, right))


def cosine(left: Components, right: Components) -> float:
    """Return the cosine of the angle between two vectors."""
    lengths = math.hypot(*left), math.hypot(*right)
    if not all(lengths):
        return 0.0
    return math.fsum(a / lengths[0] * (b / lengths[1]) for a, b in zip(left, right, strict=True))


GOODNESS: Mapping[str, Callable[[Components, Components], float]] = {
    "cosine": cosine,
    "euclidean": lambda left, right: -math.dist(left, right),
    "dot": dot_product,
}
"""The quality of a match under each metric: more is better."""


def ids_best_first(metric: str, query: Components, vectors: Mapping[str, Components]) -> list[str]:
    """Return the ids of all vectors, the best match first."""
    return sorted(vectors, key=lambda name: -GOODNESS[metric](query, vectors[name]))


def is_near(left: Any, right: float, scale: float = 1.0, tolerance: float = TOLERANCE) -> bool:
    """True if a value is a number close to another number."""
    return is_number(left) and abs(left - right) <= tolerance * max(1.0, abs(right), scale)


def is_number(value: Any) -> TypeGuard[float]:
    """True if a JSON value is a number."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def are_alike(left: Any, right: Components, tolerance: float = TOLERANCE) -> bool:
    """True if a value is a list of numbers close to these components."""
    if not isinstance(left, list) or len(left) != len(right):
        return False
    return all(is_near(one, other, tolerance=tolerance) for one, other in zip(left, right, strict=True))


def are_parallel(left: Any, right: Components, tolerance: float = TOLERANCE) -> bool:
    """True if a value is a vector of about the same direction. A cosine index may change the length."""
    if not isinstance(left, list) or len(left) != len(right) or not all(map(is_number, left)):
        return False
    lengths = math.hypot(*left), math.hypot(*right)
    return all(lengths) and all(
        is_near(one / lengths[0], other / lengths[1], tolerance=tolerance)
        for one, other in zip(left, right, strict=True)
    )
