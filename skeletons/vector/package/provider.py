"""The provider: here you call your library. What stands here now is a stand-in that keeps vectors in memory.

`reached` is awaited before each operation that asks the library. In production it does nothing; in a conformance
run it is where the suite lets the provider fail, hang or be slow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

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
class Hit:
    """What a search found: the better, the higher the score and the lower the distance."""

    item: Item
    score: float
    distance: float


class Provider:
    """EDIT: the limits, and how each method asks your library instead of the dictionaries here."""

    max_dimensions = 256
    max_batch_size = 64
    max_top_k = 100
    max_filter_terms = 8

    def __init__(self, probe: Probe | None = None) -> None:
        self.probe = probe
        self.namespaces = {"default": Namespace("default", "cosine")}

    async def reached(self, op: str, **facts: Any) -> None:
        if self.probe is not None:
            await self.probe.reached(op, **facts)

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
        found = self.namespaces.setdefault(namespace.name, namespace)
        found.dimensions = namespace.dimensions

    async def delete_namespace(self, name: str) -> bool:
        """Whether there was one."""
        existed = self.namespaces.pop(name, None) is not None
        self.namespaces.setdefault("default", Namespace("default", "cosine"))
        return existed

    async def upsert(self, namespace: Namespace, items: Sequence[Item]) -> None:
        """Store all of them, in the place of those with the same id."""
        for item in items:
            namespace.dimensions = len(item.vector)
            namespace.items[item.id] = item

    async def delete(self, namespace: Namespace, ids: Sequence[str], wanted: Mapping[str, Any]) -> int:
        """Delete by ids (none: whatever id), by filter, or what both name; how many that were."""
        named = [item for item in namespace.items.values() if not ids or item.id in ids]
        doomed = [item for item in named if fits(item.metadata, wanted)]
        for item in doomed:
            del namespace.items[item.id]
        return len(doomed)

    async def search(
        self, namespace: Namespace, vector: Vector, top_k: int, wanted: Mapping[str, Any]
    ) -> tuple[list[Hit], int]:
        """The best `top_k` of those that fit the filter, best first, and how many fit it."""
        # EDIT: here ask your library; it may rank and filter by itself
        found = [item for item in namespace.items.values() if fits(item.metadata, wanted)]
        hits = [Hit(item, *METRICS[namespace.metric](vector, item.vector)) for item in found]
        return sorted(hits, key=lambda hit: (-hit.score, hit.item.id))[:top_k], len(found)


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


METRICS: dict[str, Callable[[Vector, Vector], tuple[float, float]]] = {
    "cosine": by_cosine,
    "euclidean": by_distance,
    "dot": by_product,
}
"""Score and distance of a stored vector to that of a query."""
