"""The provider: Chroma in a folder.

A namespace is a collection. Filters read Chroma's metadata, which cannot hold null, an empty list or a list of mixed types;
so the original metadata are kept in the document of an item. Calls block, so they run in a thread of their own.
"""

import asyncio
import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import chromadb
from chromadb.config import Settings
from chromadb.errors import NotFoundError
from corpus_wire import Probe, invalid
from corpus_wire.vector import Hit, Item, Namespace, Query, VectorProvider

T = TypeVar("T")
Vector = Sequence[float]

SPACES = {"cosine": "cosine", "euclidean": "l2", "dot": "ip"}


class Provider(VectorProvider):
    """One folder, which outlives the provider. Several providers of one process may share it."""

    metrics = tuple(SPACES)

    def __init__(self, path: str, probe: Probe | None = None) -> None:
        super().__init__(probe)
        self.thread = ThreadPoolExecutor(1, "chroma")
        self.client = chromadb.PersistentClient(path, settings=Settings(anonymized_telemetry=False))

    async def run(self, work: Callable[..., T], *args: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self.thread, work, *args)

    async def aclose(self) -> None:
        await self.run(self.client.close)
        self.thread.shutdown()

    async def ping(self) -> None:
        await self.run(self.client.heartbeat)

    async def find_namespace(self, name: str) -> Namespace | None:
        try:
            facts = (await self.run(self.collection, name)).metadata
        except NotFoundError:
            return Namespace(name, "cosine") if name == "default" else None
        return Namespace(name, facts["metric"], facts["dimensions"])

    async def create_namespace(self, namespace: Namespace) -> None:
        await self.reached("create_namespace")
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
        await self.reached("delete_namespace")
        try:
            await self.run(self.client.delete_collection, collection_name(name))
        except NotFoundError:
            return False
        return True

    async def upsert(self, namespace: Namespace, items: Sequence[Item]) -> None:
        await self.reached("upsert", items=len(items))
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
        await self.reached("delete", items=len(ids))
        return 0 if namespace.dimensions is None else await self.run(self.remove, namespace, ids, condition(wanted))

    def remove(self, namespace: Namespace, ids: Sequence[str], where: Any) -> int:
        collection = self.collection(namespace.name)
        found: list[str] = collection.get(list(ids) or None, where=where, include=[])["ids"]
        if found:
            collection.delete(found)
        return len(found)

    async def search(self, op: str, namespace: Namespace, queries: Sequence[Query]) -> list[tuple[list[Hit], int]]:
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
    """The metadata that a filter can read. Chroma reserves names such as `$in` and `chroma:document`, hence the dot."""
    return {f".{key}": value for key, value in metadata.items() if isinstance(value, (str, int, float))}


def condition(wanted: Mapping[str, Any]) -> dict[str, Any] | None:
    """A filter in Chroma's words, which knows no equality with null."""
    if any(value is None for value in wanted.values()):
        raise invalid("args.filter", "must not ask for null", error="FilterSyntaxError")
    terms: list[dict[str, Any]] = [{f".{key}": {"$eq": value}} for key, value in wanted.items()]
    return {"$and": terms} if len(terms) > 1 else next(iter(terms), None)


def hit(metric: str, id_: str, vector: Any, document: str, distance: float) -> Hit:
    """The hit of a row; Chroma's distances are the square of the euclidean one, and 1 minus the product."""
    item = Item(id_, vector.tolist(), json.loads(document))
    if metric == "euclidean":
        distance = math.sqrt(max(0.0, distance))
        return Hit(item, 1 / (1 + distance), distance)
    return Hit(item, 1 - distance, distance if metric == "cosine" else distance - 1)
