"""The provider: call your library here. The present code is a stand-in that keeps vectors in memory.

Keep the line `await self.reached(...)` before each call of the library. In production it does nothing; in a
conformance run the suite lets the provider fail, hang or be slow there.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from .corpus_wire import Probe
from .corpus_wire.arguments import passes
from .corpus_wire.vector import Hit, Item, Namespace, Query, VectorProvider

Vector = Sequence[float]


class Provider(VectorProvider):
    """EDIT: the limits, and how each method asks your library instead of the dictionaries here.

    `aclose` closes the library's client.
    """

    metrics = ("cosine", "euclidean", "dot")
    max_dimensions = 256
    max_batch_size = 64
    max_top_k = 100
    max_filter_terms = 8

    def __init__(self, probe: Probe | None = None) -> None:
        super().__init__(probe)
        self.namespaces = {"default": Namespace("default", "cosine")}
        self.items: dict[str, dict[str, Item]] = {}

    async def ping(self) -> None:
        """EDIT: make a cheap call of your library."""

    async def find_namespace(self, name: str) -> Namespace | None:
        """Return a namespace; `default` always exists."""
        return self.namespaces.get(name)

    async def create_namespace(self, namespace: Namespace) -> None:
        """Create a namespace; one that exists keeps its vectors."""
        await self.reached("create_namespace")
        found = self.namespaces.get(namespace.name, namespace)
        self.namespaces[namespace.name] = replace(found, dimensions=namespace.dimensions)

    async def delete_namespace(self, name: str) -> bool:
        """Delete a namespace; return if it existed."""
        await self.reached("delete_namespace")
        existed = self.namespaces.pop(name, None) is not None
        self.items.pop(name, None)
        self.namespaces.setdefault("default", Namespace("default", "cosine"))
        return existed

    async def upsert(self, namespace: Namespace, items: Sequence[Item]) -> None:
        """Store all items; each replaces the one with its id."""
        await self.reached("upsert", items=len(items))
        if items:
            self.namespaces[namespace.name] = replace(namespace, dimensions=len(items[0].vector))
        self.items.setdefault(namespace.name, {}).update({item.id: item for item in items})

    async def delete(self, namespace: Namespace, ids: Sequence[str], wanted: Mapping[str, Any]) -> int:
        """Delete the items that have one of the ids (none given: any id) and pass the filter; return their number."""
        await self.reached("delete", items=len(ids))
        chosen = [item.id for item in self.passing(namespace, wanted) if not ids or item.id in ids]
        for id_ in chosen:
            del self.items[namespace.name][id_]
        return len(chosen)

    async def search(self, op: str, namespace: Namespace, queries: Sequence[Query]) -> list[tuple[list[Hit], int]]:
        """Return for each query the hits, best first, and the number of vectors that pass its filter."""
        await self.reached(op, items=len(queries))
        # EDIT: here call your library, which may rank and filter by itself. A vector of zeros has no direction: its
        # cosine score is 0, never NaN.
        answers = []
        for query in queries:
            found = self.passing(namespace, query.wanted)
            hits = [Hit(item, *measure(namespace.metric, query.vector, item.vector)) for item in found]
            best = sorted(hits, key=lambda hit: (-hit.score, hit.item.id))[: query.top_k]
            answers.append((best, len(found)))
        return answers

    # The stand-in: delete it with the last call of it.

    def passing(self, namespace: Namespace, wanted: Mapping[str, Any]) -> list[Item]:
        return [item for item in self.items.get(namespace.name, {}).values() if passes(item.metadata, wanted)]


def measure(metric: str, left: Vector, right: Vector) -> tuple[float, float]:
    """The score and the distance of two vectors."""
    if metric == "euclidean":
        distance = math.dist(left, right)
        return 1 / (1 + distance), distance
    product = math.fsum(a * b for a, b in zip(left, right, strict=True))
    if metric == "dot":
        return product, -product
    lengths = math.hypot(*left) * math.hypot(*right)
    score = product / lengths if lengths else 0.0
    return score, max(0.0, 1 - score)
