"""The provider: Qdrant, on a server, in a folder or in memory; the client is the same for all three.

A namespace is a collection, and an item is a point with the payload `{"id", "metadata", "length"}`.
"""

import asyncio
import math
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote
from uuid import NAMESPACE_OID, uuid5

from corpus_wire import Probe, invalid
from corpus_wire.vector import Hit, Item, Namespace, Query, VectorProvider
from qdrant_client import AsyncQdrantClient, models

DISTANCES = {"cosine": models.Distance.COSINE, "euclidean": models.Distance.EUCLID, "dot": models.Distance.DOT}
LONGEST_NAME = 255
EXACT = 2**53  # up to here a float is as good as an integer


class Provider(VectorProvider):
    """The calls of a client that the factory opens and closes."""

    metrics = tuple(DISTANCES)
    max_batch_size = 256

    def __init__(self, client: AsyncQdrantClient, probe: Probe | None = None) -> None:
        super().__init__(probe)
        self.client = client

    async def ping(self) -> None:
        await self.client.get_collections()

    async def find_namespace(self, name: str) -> Namespace | None:
        if await self.client.collection_exists(collection(name)):
            found = (await self.client.get_collection(collection(name))).config.params.vectors
            if isinstance(found, models.VectorParams):
                metric = next(metric for metric, distance in DISTANCES.items() if distance == found.distance)
                return Namespace(name, metric, found.size)
        return Namespace(name, "cosine") if name == "default" else None

    async def create_namespace(self, namespace: Namespace) -> None:
        await self.reached("create_namespace")
        name, size, distance = collection(namespace.name), namespace.dimensions or 0, DISTANCES[namespace.metric]
        if not await self.client.collection_exists(name):
            await self.client.create_collection(name, models.VectorParams(size=size, distance=distance))

    async def delete_namespace(self, name: str) -> bool:
        await self.reached("delete_namespace")
        existed = await self.client.collection_exists(collection(name))
        if existed:
            await self.client.delete_collection(collection(name))
        return existed

    async def upsert(self, namespace: Namespace, items: Sequence[Item]) -> None:
        await self.reached("upsert", items=len(items))
        name = collection(namespace.name)
        if namespace.dimensions is None and items:
            size, distance = len(items[0].vector), DISTANCES[namespace.metric]
            await self.client.create_collection(name, models.VectorParams(size=size, distance=distance))
        last = {item.id: item for item in items}  # of two items with one id the last one counts
        if last:
            await self.client.upsert(name, [point(item) for item in last.values()], wait=True)

    async def delete(self, namespace: Namespace, ids: Sequence[str], wanted: Mapping[str, Any]) -> int:
        await self.reached("delete", items=len(ids))
        if namespace.dimensions is None:
            return 0
        chosen = condition(wanted)
        if ids:
            chosen.must.append(models.HasIdCondition(has_id=[point_id(id_) for id_ in ids]))
        name = collection(namespace.name)
        found = await self.client.count(name, chosen)
        await self.client.delete(name, models.FilterSelector(filter=chosen), wait=True)
        return found.count

    async def search(self, op: str, namespace: Namespace, queries: Sequence[Query]) -> list[tuple[list[Hit], int]]:
        await self.reached(op, items=len(queries))
        if namespace.dimensions is None:
            return [([], 0) for _ in queries]
        return list(await asyncio.gather(*(self.best(namespace, query) for query in queries)))

    async def best(self, namespace: Namespace, query: Query) -> tuple[list[Hit], int]:
        name, chosen = collection(namespace.name), condition(query.wanted)
        total = await self.client.count(name, chosen)
        found = await self.client.query_points(
            name, query=query.vector, query_filter=chosen, limit=query.top_k, with_payload=True, with_vectors=True
        )
        return [hit(each, namespace.metric) for each in found.points], total.count


def collection(name: str) -> str:
    """The name of a namespace's collection: Qdrant refuses some characters, such as `/` and `:`."""
    quoted = quote(name, safe=" ")
    if len(quoted) > LONGEST_NAME:
        raise invalid("args.namespace", f"must have at most {LONGEST_NAME} characters as a part of a URL")
    return quoted


def point_id(id_: str) -> str:
    """Qdrant takes only numbers and UUIDs; the id itself stands in the payload."""
    return str(uuid5(NAMESPACE_OID, id_))


def point(item: Item) -> models.PointStruct:
    """The point of an item, with the length of its vector: Qdrant only keeps the direction if the metric is cosine."""
    payload = {"id": item.id, "metadata": item.metadata, "length": math.hypot(*item.vector)}
    return models.PointStruct(id=point_id(item.id), vector=item.vector, payload=payload)


def hit(found: models.ScoredPoint, metric: str) -> Hit:
    """The hit for a point; its score is a distance if the metric is euclidean."""
    payload: dict[str, Any] = found.payload or {}
    vector: list[float] = found.vector  # type: ignore[assignment]  # a collection of ours has one vector a point
    if metric == "cosine":
        vector = [component * payload["length"] for component in vector]
    item = Item(payload["id"], vector, payload["metadata"])
    if metric == "euclidean":
        return Hit(item, 1 / (1 + found.score), found.score)
    return Hit(item, found.score, 1 - found.score if metric == "cosine" else -found.score)


def condition(wanted: Mapping[str, Any]) -> models.Filter:
    """A filter for equality; a list is excluded, because for Qdrant it equals each of its elements."""
    must: list[models.Condition] = []
    for key, value in wanted.items():
        if '"' in key:
            raise invalid("args.filter", "must not have a quotation mark in a name", error="FilterSyntaxError")
        path = f'metadata."{key}"'
        elements = models.PayloadField(key=f"{path}[]")
        must += [equality(path, value), models.IsEmptyCondition(is_empty=elements)]
    return models.Filter(must=must)


def equality(path: str, value: Any) -> models.Condition:
    """A match of 1 does not find 1.0, but the range from 1 to 1 finds both."""
    if value is None:
        return models.IsNullCondition(is_null=models.PayloadField(key=path))
    if isinstance(value, (bool, str)) or (isinstance(value, int) and abs(value) > EXACT):
        return models.FieldCondition(key=path, match=models.MatchValue(value=value))
    return models.FieldCondition(key=path, range=models.Range(gte=value, lte=value))
