"""The provider: Chroma in a folder.

A namespace is a collection. Chroma's metadata are what filters look at: they cannot hold null, an empty list or a list
of mixed types, so the metadata as they were written stand in the document of an item. Calls block, so they are made in a
thread of their own.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import chromadb
from chromadb.config import Settings
from chromadb.errors import NotFoundError

from .context import sent_along
from .errors import invalid

T = TypeVar("T")
Vector = Sequence[float]

SPACES = {"cosine": "cosine", "euclidean": "l2", "dot": "ip"}


class Probe(Protocol):
    """What a conformance run passes as `provider`."""

    async def reached(self, op: str, **facts: Any) -> object: ...


@dataclass(frozen=True)
class Namespace:
    """Where vectors lie; `dimensions` is None until the first vector of a namespace that was not created."""

    name: str
    metric: str
    dimensions: int | None = None


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
    """One folder; what is written there survives the provider. Several providers of one process may share it."""

    metrics = tuple(SPACES)
    max_dimensions = 4096
    max_batch_size = 1000
    max_top_k = 1000
    max_filter_terms = 32
    largest_component = 1e17  # components are 32-bit floats: the sum of 4096 squares must stay finite

    def __init__(self, path: str, probe: Probe | None = None) -> None:
        self.probe = probe
        self.thread = ThreadPoolExecutor(1, "chroma")
        self.client = chromadb.PersistentClient(path, settings=Settings(anonymized_telemetry=False))

    async def reached(self, op: str, **facts: Any) -> None:
        if self.probe is not None:
            await self.probe.reached(op, **sent_along(), **facts)

    async def run(self, work: Callable[..., T], *args: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self.thread, work, *args)

    async def aclose(self) -> None:
        await self.run(self.client.close)
        self.thread.shutdown()

    async def is_up(self) -> bool:
        """Whether the provider answers."""
        try:
            await self.reached("vector.health")
            await self.run(self.client.heartbeat)
        except Exception:  # noqa: BLE001 - why it does not answer is not the question
            return False
        return True

    async def find_namespace(self, name: str) -> Namespace | None:
        try:
            facts = (await self.run(self.collection, name)).metadata
        except NotFoundError:
            return Namespace(name, "cosine") if name == "default" else None
        return Namespace(name, facts["metric"], facts["dimensions"])

    async def create_namespace(self, namespace: Namespace) -> None:
        """One that is there stays as it is, with its vectors."""
        await self.reached("vector.create_namespace")
        await self.run(self.create, namespace.name, namespace.metric, namespace.dimensions)

    def create(self, name: str, metric: str, dimensions: int | None) -> None:
        self.client.get_or_create_collection(
            collection_name(name),
            metadata={"namespace": name, "metric": metric, "dimensions": dimensions},
            configuration={"hnsw": {"space": SPACES[metric], "ef_search": self.max_top_k}},
            embedding_function=None,
        )

    def collection(self, name: str) -> chromadb.Collection:
        return self.client.get_collection(collection_name(name), embedding_function=None)

    async def delete_namespace(self, name: str) -> bool:
        """Whether there was one."""
        await self.reached("vector.delete_namespace")
        try:
            await self.run(self.client.delete_collection, collection_name(name))
        except NotFoundError:
            return False
        return True

    async def upsert(self, namespace: Namespace, items: Sequence[Item]) -> None:
        """Store all of them, in the place of those with the same id."""
        await self.reached("vector.upsert", items=len(items))
        if items:
            last = {item.id: item for item in items}  # of two items with one id the last one counts
            await self.run(self.write, namespace, last)

    def write(self, namespace: Namespace, items: Mapping[str, Item]) -> None:
        if namespace.dimensions is None:
            self.create(namespace.name, namespace.metric, len(next(iter(items.values())).vector))
        collection = self.collection(namespace.name)
        fields = {id_: searchable(item.metadata) for id_, item in items.items()}
        old = collection.get(list(items), include=["metadatas"])
        for id_, kept in zip(old["ids"], old["metadatas"] or (), strict=True):
            fields[id_] = dict.fromkeys(kept or ()) | fields[id_]  # Chroma keeps old keys, unless they become None
        collection.upsert(
            ids=list(items),
            embeddings=[item.vector for item in items.values()],
            metadatas=[each or None for each in fields.values()],
            documents=[json.dumps(item.metadata) for item in items.values()],
        )

    async def delete(self, namespace: Namespace, ids: Sequence[str], wanted: Mapping[str, Any]) -> int:
        """Delete by ids (none: whatever id), by filter, or what both name; how many that were."""
        await self.reached("vector.delete", items=len(ids))
        return 0 if namespace.dimensions is None else await self.run(self.remove, namespace, ids, condition(wanted))

    def remove(self, namespace: Namespace, ids: Sequence[str], where: Any) -> int:
        collection = self.collection(namespace.name)
        found: list[str] = collection.get(list(ids) or None, where=where, include=[])["ids"]
        if found:
            collection.delete(found)
        return len(found)

    async def search(self, op: str, namespace: Namespace, queries: Sequence[Query]) -> list[tuple[list[Hit], int]]:
        """For each query the hits, best first, and how many vectors fit its filter."""
        await self.reached(op, items=len(queries))
        if namespace.dimensions is None:
            return [([], 0) for _ in queries]
        return [await self.run(self.best, namespace, query) for query in queries]

    def best(self, namespace: Namespace, query: Query) -> tuple[list[Hit], int]:
        collection, where = self.collection(namespace.name), condition(query.wanted)
        total = len(collection.get(where=where, include=[])["ids"]) if where else collection.count()
        found: Any = collection.query(
            query_embeddings=[query.vector],
            n_results=query.top_k,
            where=where,
            include=["embeddings", "documents", "distances"],
        )
        columns = (found[name][0] for name in ("ids", "embeddings", "documents", "distances"))
        return [hit(namespace.metric, *row) for row in zip(*columns, strict=True)], total


def collection_name(name: str) -> str:
    """Chroma takes 3 to 512 letters, digits, dots, dashes and underscores; a namespace may have any name."""
    return f"namespace-{hashlib.sha256(name.encode()).hexdigest()}"


def searchable(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """What a filter can look at. Chroma keeps names such as `$in` and `chroma:document` to itself, hence the dot."""
    return {f".{key}": value for key, value in metadata.items() if isinstance(value, (str, int, float))}


def condition(wanted: Mapping[str, Any]) -> dict[str, Any] | None:
    """A filter in Chroma's words, which knows no equality with null."""
    if any(value is None for value in wanted.values()):
        raise invalid("args.filter", "must not ask for null", error="FilterSyntaxError")
    terms: list[dict[str, Any]] = [{f".{key}": {"$eq": value}} for key, value in wanted.items()]
    return {"$and": terms} if len(terms) > 1 else next(iter(terms), None)


def hit(metric: str, id_: str, vector: Any, document: str, distance: float) -> Hit:
    """What is shown; Chroma's distances are the square of the euclidean one, and 1 less the product."""
    item = Item(id_, vector.tolist(), json.loads(document))
    if metric == "euclidean":
        distance = math.sqrt(max(0.0, distance))
        return Hit(item, 1 / (1 + distance), distance)
    return Hit(item, 1 - distance, distance if metric == "cosine" else distance - 1)
