"""The provider: here you call your library. What stands here now is a stand-in that keeps vectors in memory.

Keep the line `await self.reached(...)` before each call of the library. In production it does nothing; in a
conformance run it is where the suite lets the provider fail, hang or be slow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from .context import sent_along

Vector = Sequence[float]


class Probe(Protocol):
    """What a conformance run passes as `provider`."""

    async def reached(self, op: str, **facts: Any) -> object: ...


@dataclass
class Namespace:
    """Where vectors lie; `dimensions` is None until the first vector of a namespace that was not created."""

    name: str
    metric: str
    dimensions: int | None = None
    items: dict[str, Item] = field(default_factory=dict)


@dataclass(frozen=True)
class Item:
    """A stored vector."""

    id: str
    vector: list[float]
    metadata: dict[str, Any]


@dataclass(frozen=True)
class Query:
    """A search for the best `top_k` of those whose metadata have what is `wanted`."""

    vector: list[float]
    top_k: int
    wanted: Mapping[str, Any]


@dataclass(frozen=True)
class Hit:
    """What a search found: the better, the higher the score and the lower the distance."""

    item: Item
    score: float
    distance: float


class Provider:
    """EDIT: the limits, and how each method asks your library instead of the dictionaries here."""

    metrics = ("cosine", "euclidean", "dot")
    max_dimensions = 256
    max_batch_size = 64
    max_top_k = 100
    max_filter_terms = 8
    largest_component = 1e18  # its square fits a 32-bit float, so that no score becomes infinite

    def __init__(self, probe: Probe | None = None) -> None:
        self.probe = probe
        self.namespaces = {"default": Namespace("default", "cosine")}

    async def reached(self, op: str, **facts: Any) -> None:
        if self.probe is not None:
            await self.probe.reached(op, **sent_along(), **facts)

    async def aclose(self) -> None:
        """EDIT: close your library's client; called once, by whoever made the adapter."""

    async def is_up(self) -> bool:
        """Whether the provider answers."""
        try:
            await self.reached("vector.health")
            # EDIT: a cheap call of your library
        except Exception:  # noqa: BLE001 - why it does not answer is not the question
            return False
        return True

    async def find_namespace(self, name: str) -> Namespace | None:
        return self.namespaces.get(name)

    async def create_namespace(self, namespace: Namespace) -> None:
        """One that is there stays as it is, with its vectors."""
        await self.reached("vector.create_namespace")
        found = self.namespaces.setdefault(namespace.name, namespace)
        found.dimensions = namespace.dimensions

    async def delete_namespace(self, name: str) -> bool:
        """Whether there was one."""
        await self.reached("vector.delete_namespace")
        existed = self.namespaces.pop(name, None) is not None
        self.namespaces.setdefault("default", Namespace("default", "cosine"))
        return existed

    async def upsert(self, namespace: Namespace, items: Sequence[Item]) -> None:
        """Store all of them, in the place of those with the same id."""
        await self.reached("vector.upsert", items=len(items))
        for item in items:
            namespace.dimensions = len(item.vector)
            namespace.items[item.id] = item

    async def delete(self, namespace: Namespace, ids: Sequence[str], wanted: Mapping[str, Any]) -> int:
        """Delete by ids (none: whatever id), by filter, or what both name; how many that were."""
        await self.reached("vector.delete", items=len(ids))
        named = [item for item in namespace.items.values() if not ids or item.id in ids]
        doomed = [item for item in named if fits(item.metadata, wanted)]
        for item in doomed:
            del namespace.items[item.id]
        return len(doomed)

    async def search(self, op: str, namespace: Namespace, queries: Sequence[Query]) -> list[tuple[list[Hit], int]]:
        """For each query the hits, best first, and how many vectors fit its filter."""
        await self.reached(op, items=len(queries))
        # EDIT: here call your library, which may rank and filter by itself. A vector of zeros has no direction: its
        # cosine score is 0, never NaN.
        answers = []
        for query in queries:
            found = [item for item in namespace.items.values() if fits(item.metadata, query.wanted)]
            hits = [Hit(item, *MEASURES[namespace.metric](query.vector, item.vector)) for item in found]
            best = sorted(hits, key=lambda hit: (-hit.score, hit.item.id))[: query.top_k]
            answers.append((best, len(found)))
        return answers


# The stand-in: delete it when nothing calls it any more.


def fits(metadata: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether all these keys are there with these values; true is not 1."""
    return all(
        key in metadata and metadata[key] == value and isinstance(metadata[key], bool) == isinstance(value, bool)
        for key, value in wanted.items()
    )


def dot(left: Vector, right: Vector) -> float:
    return math.fsum(a * b for a, b in zip(left, right, strict=True))


def by_cosine(left: Vector, right: Vector) -> tuple[float, float]:
    lengths = math.hypot(*left) * math.hypot(*right)
    score = dot(left, right) / lengths if lengths else 0.0
    return score, max(0.0, 1 - score)


def by_distance(left: Vector, right: Vector) -> tuple[float, float]:
    distance = math.dist(left, right)
    return 1 / (1 + distance), distance


def by_product(left: Vector, right: Vector) -> tuple[float, float]:
    score = dot(left, right)
    return score, -score


MEASURES: dict[str, Callable[[Vector, Vector], tuple[float, float]]] = {
    "cosine": by_cosine,
    "euclidean": by_distance,
    "dot": by_product,
}
"""Score and distance of a stored vector to that of a query."""
