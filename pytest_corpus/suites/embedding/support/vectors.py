"""Vectors and texts as the suite compares them: leniently, where no document asks for more."""

import math
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

Vector = Sequence[float]

UNIT = 0.01
"""The distance from 1 that the norm of an approximately unit vector may have (BEHAVIORAL_CONFORMANCE 6.4)."""

FAR = 0.02
"""From this distance on, relative to the longer of them, two vectors are not renderings of the same one."""


def norm(vector: Vector) -> float:
    """The Euclidean length."""
    return math.sqrt(math.fsum(value * value for value in vector))


def is_unit(vector: Vector) -> bool:
    """Return whether the norm is approximately 1."""
    return abs(norm(vector) - 1) <= UNIT


def distance(one: Vector, other: Vector) -> float:
    """The distance of two vectors, relative to the longer of them; 2 if their dimensions differ."""
    if len(one) != len(other):
        return 2.0
    longest = max(norm(one), norm(other))
    return math.dist(one, other) / longest if longest else 0.0


def cosine(one: Vector, other: Vector) -> float:
    """The cosine of the angle between two vectors; 0 where there is none."""
    lengths = norm(one) * norm(other)
    if len(one) != len(other) or not lengths:
        return 0.0
    return math.fsum(a * b for a, b in zip(one, other, strict=True)) / lengths


def plain(text: str) -> str:
    """A text without what a sound adapter may tidy up: spaces at the ends, runs of spaces, forms of characters."""
    return " ".join(unicodedata.normalize("NFKC", text).split())


def same_text(one: Any, other: str) -> bool:
    """Return whether a text came back as it was sent."""
    return isinstance(one, str) and (one == other or plain(one) == plain(other))


def vector_of(embedding: Any) -> list[float] | None:
    """The vector of an embedding object; None if it has none."""
    vector = embedding.get("vector") if isinstance(embedding, Mapping) else None
    numbers = isinstance(vector, list) and bool(vector) and all(is_number(value) for value in vector)
    return vector if numbers else None


def is_number(value: Any) -> bool:
    """A finite number, and no boolean."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
