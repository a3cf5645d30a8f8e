"""The provider: Redis without modules. A namespace is one hash, from the id of an item to its vector and metadata.

Redis cannot search, so a query reads the whole hash and measures every vector with NumPy.
"""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from corpus_wire import WireError
from corpus_wire.arguments import passes
from corpus_wire.vector import Hit, Item, Namespace, Query, VectorProvider
from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.client import Pipeline
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

NAMESPACES = "corpus:namespaces"
"""The key of the hash from the name of a namespace to its metric and its dimensions."""

Rows = Mapping[str, bytes]
Array = np.ndarray[Any, np.dtype[np.float64]]

COMPONENT = np.dtype("<f4")


def cosine(vectors: Array, query: Array) -> Array:
    """A vector of zeros has no direction; its cosine is 0."""
    lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(query)
    return 1 - np.divide(vectors @ query, lengths, out=np.zeros(len(vectors)), where=lengths > 0)


DISTANCES: dict[str, Callable[[Array, Array], Array]] = {
    "cosine": cosine,
    "euclidean": lambda vectors, query: np.linalg.norm(vectors - query, axis=1),
    "dot": lambda vectors, query: -(vectors @ query),
}
"""The distance of each vector to the query; the smaller, the better."""

SCORES: dict[str, Callable[[float], float]] = {
    "cosine": lambda distance: 1 - distance,
    "euclidean": lambda distance: 1 / (1 + distance),
    "dot": lambda distance: -distance,
}


class Provider(VectorProvider):
    """A pool of connections, which are made when they are needed."""

    metrics = tuple(DISTANCES)
    max_batch_size = 500

    def __init__(self, url: str) -> None:
        super().__init__()
        # One retry replaces a connection from before a restart of the server.
        settings = {"max_connections": 16, "timeout": 5, "socket_connect_timeout": 5, "retry": Retry(NoBackoff(), 1)}
        self.redis = Redis.from_pool(BlockingConnectionPool.from_url(url, **settings))

    async def aclose(self) -> None:
        await self.redis.aclose()

    async def ping(self) -> None:
        await self.redis.ping()

    # Namespaces

    async def find_namespace(self, name: str) -> Namespace | None:
        return await self.found(self.redis, name)

    async def found(self, redis: Redis, name: str) -> Namespace | None:
        return namespace_of(name, await redis.hget(NAMESPACES, name))

    async def create_namespace(self, namespace: Namespace) -> None:
        await self.redis.hsetnx(NAMESPACES, namespace.name, json.dumps(asdict(namespace)))

    async def delete_namespace(self, name: str) -> bool:
        async with self.redis.pipeline() as pipe:
            deleted, _ = await pipe.hdel(NAMESPACES, name).delete(items_of(name)).execute()
        return bool(deleted)

    # Vectors

    async def upsert(self, namespace: Namespace, items: Sequence[Item]) -> None:
        if not items:
            return
        wanted = Namespace(namespace.name, namespace.metric, len(items[0].vector))
        rows = {item.id: stored(item) for item in items}  # of two with one id the last one counts

        async def write(pipe: Pipeline) -> None:
            found = await self.found(pipe, wanted.name)
            pipe.multi()
            if found == namespace and namespace.dimensions is None:
                pipe.hset(NAMESPACES, wanted.name, json.dumps(asdict(wanted)))
            elif found != wanted:
                raise changed()
            pipe.hset(items_of(wanted.name), mapping=rows)

        await self.redis.transaction(write, NAMESPACES)  # begins again if a namespace was made or deleted meanwhile

    async def delete(self, namespace: Namespace, ids: Sequence[str], wanted: Mapping[str, Any]) -> int:
        key = items_of(namespace.name)
        if not wanted:
            return await self.redis.hdel(key, *ids)

        async def remove(pipe: Pipeline) -> int:
            found = passing(decoded(await pipe.hgetall(key)), namespace, wanted)
            chosen = found.keys() & ids if ids else found.keys()
            pipe.multi()
            if chosen:
                pipe.hdel(key, *chosen)
            return len(chosen)

        return await self.redis.transaction(remove, key, value_from_callable=True)

    async def search(self, op: str, namespace: Namespace, queries: Sequence[Query]) -> list[tuple[list[Hit], int]]:
        async with self.redis.pipeline() as pipe:
            found, items = await pipe.hget(NAMESPACES, namespace.name).hgetall(items_of(namespace.name)).execute()
        if namespace_of(namespace.name, found) != namespace:
            raise changed()
        rows = decoded(items)
        return [await asyncio.to_thread(best, namespace, rows, query) for query in queries]


def items_of(name: str) -> str:
    """The key of a namespace's items. The name stands last and as it is, so two namespaces never share a key."""
    return f"corpus:items:{name}"


def namespace_of(name: str, value: bytes | None) -> Namespace | None:
    """The namespace that is stored under a name; `default` is there without having been created."""
    if value is not None:
        return Namespace(**json.loads(value))
    return Namespace(name, "cosine") if name == "default" else None


def changed() -> WireError:
    return WireError("NamespaceNotFound", "The namespace was deleted or made anew by another call")


def stored(item: Item) -> bytes:
    """The value of an item: its components as 32-bit floats, then its metadata as JSON."""
    return np.array(item.vector, COMPONENT).tobytes() + json.dumps(item.metadata).encode()


def decoded(items: Mapping[bytes, bytes]) -> Rows:
    return {id_.decode(): value for id_, value in items.items()}


def passing(rows: Rows, namespace: Namespace, wanted: Mapping[str, Any]) -> Rows:
    """The items that pass a filter."""
    if not wanted:
        return rows
    return {id_: value for id_, value in rows.items() if passes(metadata(namespace, value), wanted)}


def metadata(namespace: Namespace, value: bytes) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(value[(namespace.dimensions or 0) * COMPONENT.itemsize :])
    return found


def best(namespace: Namespace, rows: Rows, query: Query) -> tuple[list[Hit], int]:
    """Filter first and search afterwards, so that a filter never costs a match. Returns the hits, and what passed."""
    rows = passing(rows, namespace, query.wanted)
    ids = sorted(rows)
    if not ids:
        return [], 0
    vectors = np.array([np.frombuffer(rows[id_], COMPONENT, len(query.vector)) for id_ in ids], np.float64)
    distances = DISTANCES[namespace.metric](vectors, np.array(query.vector))
    hits = []
    for place in np.argsort(distances, kind="stable")[: query.top_k]:
        item = Item(ids[place], vectors[place].tolist(), metadata(namespace, rows[ids[place]]))
        distance = float(distances[place])
        hits.append(Hit(item, SCORES[namespace.metric](distance), distance))
    return hits, len(ids)
