"""The `vector` adapter; its vectors are kept in memory."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from corpus_wire import Metrics, Probe
from corpus_wire.arguments import passes
from corpus_wire.vector import Hit, Item, Namespace, Query, VectorAdapter, VectorProvider

DEFAULT = Namespace("default", "cosine")


class Provider(VectorProvider):
    """A stand-in that knows no library."""

    metrics = ("cosine", "euclidean")
    max_dimensions = 256
    max_batch_size = 64
    max_top_k = 100
    max_filter_terms = 8

    def __init__(self, probe: Probe | None = None) -> None:
        super().__init__(probe)
        self.namespaces = {DEFAULT.name: DEFAULT}
        self.items: dict[str, dict[str, Item]] = {}

    async def find_namespace(self, name: str) -> Namespace | None:
        return self.namespaces.get(name)

    async def create_namespace(self, namespace: Namespace) -> None:
        await self.reached("create_namespace")
        found = self.namespaces.get(namespace.name, namespace)
        self.namespaces[namespace.name] = replace(found, dimensions=namespace.dimensions)

    async def delete_namespace(self, name: str) -> bool:
        await self.reached("delete_namespace")
        self.items.pop(name, None)
        existed = self.namespaces.pop(name, None) is not None
        self.namespaces.setdefault(DEFAULT.name, DEFAULT)
        return existed

    async def upsert(self, namespace: Namespace, items: Sequence[Item]) -> None:
        await self.reached("upsert", items=len(items))
        if items:
            self.namespaces[namespace.name] = replace(namespace, dimensions=len(items[0].vector))
        self.items.setdefault(namespace.name, {}).update({item.id: item for item in items})

    async def delete(self, namespace: Namespace, ids: Sequence[str], wanted: Mapping[str, Any]) -> int:
        await self.reached("delete", items=len(ids))
        chosen = [item.id for item in self.passing(namespace, wanted) if not ids or item.id in ids]
        for id_ in chosen:
            del self.items[namespace.name][id_]
        return len(chosen)

    async def search(self, op: str, namespace: Namespace, queries: Sequence[Query]) -> list[tuple[list[Hit], int]]:
        await self.reached(op, items=len(queries))
        return [self.nearest(namespace, query) for query in queries]

    def nearest(self, namespace: Namespace, query: Query) -> tuple[list[Hit], int]:
        found = self.passing(namespace, query.wanted)
        hits = [Hit(item, *measure(namespace.metric, query.vector, item.vector)) for item in found]
        return sorted(hits, key=lambda hit: (-hit.score, hit.item.id))[: query.top_k], len(found)

    def passing(self, namespace: Namespace, wanted: Mapping[str, Any]) -> list[Item]:
        return [item for item in self.items.get(namespace.name, {}).values() if passes(item.metadata, wanted)]


def measure(metric: str, left: Sequence[float], right: Sequence[float]) -> tuple[float, float]:
    """The score and the distance of two vectors."""
    if metric == "euclidean":
        distance = math.dist(left, right)
        return 1 / (1 + distance), distance
    lengths = math.hypot(*left) * math.hypot(*right)
    score = math.fsum(a * b for a, b in zip(left, right, strict=True)) / lengths if lengths else 0.0
    return score, max(0.0, 1 - score)


class Adapter(VectorAdapter):
    """The adapter."""

    server = "multi-vector"


def factory(metrics: Metrics | None = None, provider: Probe | None = None) -> Adapter:
    """Return the adapter for `pytest --corpus-adapter=multi.vector:factory`."""
    return Adapter(Provider(provider), metrics)
