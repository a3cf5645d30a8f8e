"""A small vector database in memory: exact search in namespaces of one dimension and metric each, a tenant apart.

It takes the part of a vector database; the adapter in `vector_adapter` puts the SDK around it.
"""

import copy
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from corpus_sdk.vector import vector_base
from corpus_sdk.vector.vector_base import (
    BadRequest,
    DimensionMismatch,
    NamespaceResult,
    NamespaceSpec,
    QueryResult,
    QuerySpec,
    ResourceExhausted,
    Vector,
    VectorMatch,
)

from .authoring import Taxonomy, same, subtype

DEFAULT = "default"
"""The namespace that every tenant has; its dimension is that of the first vector."""

# -- errors ----------------------------------------------------------------------------------------------


NamespaceNotFound = subtype(BadRequest, "NamespaceNotFound")
FilterSyntaxError = subtype(BadRequest, "FilterSyntaxError")
ProviderQuotaExceeded = subtype(ResourceExhausted, "ProviderQuotaExceeded")
TAXONOMY = Taxonomy(vector_base, {"quota_exhausted": ProviderQuotaExceeded})

# -- metrics ---------------------------------------------------------------------------------------------

HUGE = sys.float_info.max / 2**16
"""As many numbers as a vector may have components can be added up without an overflow."""


def dot(one: Sequence[float], other: Sequence[float]) -> float:
    """The scalar product."""
    return math.fsum(min(max(x * y, -HUGE), HUGE) for x, y in zip(one, other, strict=True))


def unit(vector: Sequence[float]) -> list[float]:
    """The vector of length 1 in the same direction; zero stays zero."""
    largest = max(map(abs, vector))
    if not largest:
        return [0.0] * len(vector)
    scaled = [x / largest for x in vector]
    length = math.hypot(*scaled)
    return [x / length for x in scaled]


def cosine(one: Sequence[float], other: Sequence[float]) -> tuple[float, float]:
    """Score and distance: the cosine of the angle, and what it lacks to 1."""
    score = min(max(dot(unit(one), unit(other)), -1.0), 1.0)
    return score, 1.0 - score


def euclidean(one: Sequence[float], other: Sequence[float]) -> tuple[float, float]:
    """Score and distance: the length of the difference, and its counterpart between 0 and 1."""
    distance = min(math.dist(one, other), HUGE)
    return 1.0 / (1.0 + distance), distance


def dotproduct(one: Sequence[float], other: Sequence[float]) -> tuple[float, float]:
    """Score and distance: the scalar product and its negation."""
    score = dot(one, other)
    return score, -score


METRICS: Mapping[str, Callable[[Sequence[float], Sequence[float]], tuple[float, float]]] = {
    "cosine": cosine,
    "euclidean": euclidean,
    "dotproduct": dotproduct,
}

# -- filters ---------------------------------------------------------------------------------------------

COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "gt": lambda held, wanted: held > wanted,
    "gte": lambda held, wanted: held >= wanted,
    "lt": lambda held, wanted: held < wanted,
    "lte": lambda held, wanted: held <= wanted,
}


def is_number(value: Any) -> bool:
    """Tell if a JSON value is a number."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def check_filter(wanted: Mapping[str, Any] | None) -> None:
    """Refuse a filter that `passes` would not understand.

    Raises:
        FilterSyntaxError: an operator that is not offered, or one with an operand that it cannot have.
    """
    for key, condition in (wanted or {}).items():
        known = True
        if isinstance(condition, Mapping):
            operands = ((name.removeprefix("$"), operand) for name, operand in condition.items())
            known = bool(condition) and all(
                (name in COMPARISONS and is_number(operand)) or (name == "in" and isinstance(operand, list))
                for name, operand in operands
            )
        if not known:
            raise FilterSyntaxError("the filter uses an operator that is not offered", details={"field": key})


def passes(metadata: Mapping[str, Any], wanted: Mapping[str, Any] | None) -> bool:
    """Tell if metadata has every value that a filter asks for."""
    return all(key in metadata and meets(metadata[key], condition) for key, condition in (wanted or {}).items())


def meets(held: Any, condition: Any) -> bool:
    """Tell if one value is the one wanted, or one of those, or lies between the bounds."""
    if isinstance(condition, list):
        return same(held, condition) or any(same(held, each) for each in condition)
    if not isinstance(condition, Mapping):
        return same(held, condition)
    for name, operand in condition.items():
        comparison = COMPARISONS.get(name.removeprefix("$"))
        if comparison is None:
            if not any(same(held, each) for each in operand):
                return False
        elif not (is_number(held) and comparison(held, operand)):
            return False
    return True


# -- namespaces ------------------------------------------------------------------------------------------


@dataclass
class Space:
    """A namespace: vectors by id."""

    name: str
    metric: str = "cosine"
    dimensions: int | None = None
    vectors: dict[str, Vector] = field(default_factory=dict)

    def check(self, vector: Sequence[float]) -> None:
        """Refuse a vector of another dimension.

        Raises:
            DimensionMismatch: it has one.
        """
        if self.dimensions is not None and len(vector) != self.dimensions:
            raise DimensionMismatch(
                "the vector has not the dimension of the namespace",
                details={"expected": self.dimensions, "provided": len(vector), "namespace": self.name},
            )

    def put(self, vectors: Sequence[Vector]) -> None:
        """Store all of them, or none where one does not fit."""
        fitting = Space(self.name, dimensions=self.dimensions or len(vectors[0].vector))
        for vector in vectors:
            fitting.check(vector.vector)
        self.dimensions = fitting.dimensions
        self.vectors.update({vector.id: copy.deepcopy(vector) for vector in vectors})

    def remove(self, ids: Sequence[str], wanted: Mapping[str, Any] | None) -> int:
        """Forget what is named and passes the filter; how many there were."""
        check_filter(wanted)
        named = set(ids) if ids else set(self.vectors)
        doomed = [each for each in named & set(self.vectors) if passes(self.vectors[each].metadata or {}, wanted)]
        for each in doomed:
            del self.vectors[each]
        return len(doomed)

    def search(self, spec: QuerySpec) -> QueryResult:
        """The nearest vectors among those that pass the filter, best first."""
        self.check(spec.vector)
        check_filter(spec.filter)
        found = [
            (*METRICS[self.metric](spec.vector, vector.vector), vector)
            for vector in self.vectors.values()
            if passes(vector.metadata or {}, spec.filter)
        ]
        found.sort(key=lambda match: (match[1], -match[0], match[2].id))
        matches = [VectorMatch(shown(vector, spec), score, away) for score, away, vector in found[: spec.top_k]]
        return QueryResult(matches, list(spec.vector), spec.namespace, len(found))


def shown(vector: Vector, spec: QuerySpec) -> Vector:
    """A stored vector with what a query asks to see of it."""
    return Vector(
        vector.id,
        list(vector.vector) if spec.include_vectors else [],
        copy.deepcopy(vector.metadata) if spec.include_metadata else None,
        vector.namespace,
        vector.text,
    )


class Backend:
    """The namespaces of all tenants."""

    def __init__(self) -> None:
        self._tenants: dict[str | None, dict[str, Space]] = {}

    def spaces(self, tenant: str | None) -> dict[str, Space]:
        """The namespaces of one tenant by name."""
        spaces = self._tenants.setdefault(tenant, {})
        spaces.setdefault(DEFAULT, Space(DEFAULT))
        return spaces

    def space(self, tenant: str | None, name: str) -> Space:
        """A namespace of a tenant.

        Raises:
            NamespaceNotFound: the tenant has none of that name.
        """
        space = self.spaces(tenant).get(name)
        if space is None:
            raise NamespaceNotFound("the namespace does not exist", details={"namespace": name})
        return space

    def create(self, tenant: str | None, spec: NamespaceSpec) -> NamespaceResult:
        """Make a namespace, or leave the one there is, where it is just like that."""
        spaces = self.spaces(tenant)
        old = spaces.get(spec.namespace)
        made = old is None or old.dimensions is None
        if made:
            spaces[spec.namespace] = Space(spec.namespace, spec.distance_metric, spec.dimensions)
        elif old is not None:
            alike = (old.dimensions, old.metric) == (spec.dimensions, spec.distance_metric)
            TAXONOMY.require(alike, "namespace", "exists with another dimension or metric")
        return NamespaceResult(True, spec.namespace, {"created": made})

    def drop(self, tenant: str | None, name: str) -> NamespaceResult:
        """Forget a namespace with all that is in it; one that does not exist is gone already."""
        return NamespaceResult(True, name, {"existed": self.spaces(tenant).pop(name, None) is not None})
