"""The provider: SQLite with the extension sqlite-vec, which measures distances in SQL.

SQLite blocks, so everything it does happens in one thread of its own; a call that is given up ends at once, and what
the thread is busy with ends in its own time. It is `apsw` that calls SQLite, for the `sqlite3` of many a Python cannot
load extensions.
"""

from __future__ import annotations

import asyncio
import json
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import apsw
import sqlite_vec

from .context import sent_along
from .errors import WireError

T = TypeVar("T")
Vector = Sequence[float]

SCHEMA = """
CREATE TABLE IF NOT EXISTS namespaces (name TEXT PRIMARY KEY, metric TEXT NOT NULL, dimensions INTEGER);
CREATE TABLE IF NOT EXISTS items (
    namespace TEXT NOT NULL REFERENCES namespaces ON DELETE CASCADE,
    id TEXT NOT NULL,
    vector BLOB NOT NULL,
    metadata TEXT NOT NULL,
    PRIMARY KEY (namespace, id)
) WITHOUT ROWID;
INSERT OR IGNORE INTO namespaces VALUES ('default', 'cosine', NULL);
"""

# A vector of zeros has no direction, and sqlite-vec says NULL: its cosine is 0.
DISTANCE = {
    "cosine": "coalesce(vec_distance_cosine(vector, :vector), 1.0)",
    "euclidean": "vec_distance_L2(vector, :vector)",
}
SCORE: dict[str, Callable[[float], float]] = {
    "cosine": lambda distance: 1 - distance,
    "euclidean": lambda distance: 1 / (1 + distance),
}


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
    """One database file; `:memory:` is one that ends with the provider."""

    metrics = tuple(DISTANCE)
    max_dimensions = 4096
    max_batch_size = 1000
    max_top_k = 1000
    max_filter_terms = 32
    largest_component = 1e17  # components are 32-bit floats: the sum of 4096 squares must stay finite

    def __init__(self, probe: Probe | None = None, path: str = ":memory:") -> None:
        self.probe = probe
        self.thread = ThreadPoolExecutor(1, "sqlite")
        self.database = self.thread.submit(connect, path).result()

    async def reached(self, op: str, **facts: Any) -> None:
        if self.probe is not None:
            await self.probe.reached(op, **sent_along(), **facts)

    async def run(self, work: Callable[..., T], *args: Any) -> T:
        """Do something in the thread of the database, all of it or nothing."""

        def transaction() -> T:
            with self.database:
                return work(*args)

        return await asyncio.get_running_loop().run_in_executor(self.thread, transaction)

    async def aclose(self) -> None:
        self.database.interrupt()
        self.thread.submit(self.database.close)
        self.thread.shutdown()

    async def is_up(self) -> bool:
        """Whether the provider answers."""
        try:
            await self.reached("vector.health")
            await self.run(self.rows, "SELECT vec_version()")
        except Exception:  # noqa: BLE001 - why it does not answer is not the question
            return False
        return True

    async def find_namespace(self, name: str) -> Namespace | None:
        found = await self.run(self.rows, "SELECT name, metric, dimensions FROM namespaces WHERE name = ?", [name])
        return Namespace(*found[0]) if found else None

    async def create_namespace(self, namespace: Namespace) -> None:
        """One that is there stays as it is, with its vectors."""
        await self.reached("vector.create_namespace")
        await self.run(
            self.change,
            "INSERT INTO namespaces VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET dimensions = excluded.dimensions",
            [namespace.name, namespace.metric, namespace.dimensions],
        )

    async def delete_namespace(self, name: str) -> bool:
        """Whether there was one."""
        await self.reached("vector.delete_namespace")
        deleted = await self.run(self.change, "DELETE FROM namespaces WHERE name = ?", [name])
        await self.run(self.change, SCHEMA)
        return deleted > 0

    async def upsert(self, namespace: Namespace, items: Sequence[Item]) -> None:
        """Store all of them, in the place of those with the same id."""
        await self.reached("vector.upsert", items=len(items))
        rows = [(namespace.name, item.id, blob(item.vector), json.dumps(item.metadata)) for item in items]
        await self.run(self.write, namespace.name, len(items[0].vector) if items else None, rows)

    def write(self, name: str, dimensions: int | None, rows: Iterable[tuple[str, str, bytes, str]]) -> None:
        first = "UPDATE namespaces SET dimensions = coalesce(dimensions, ?) WHERE name = ? RETURNING dimensions"
        if self.rows(first, [dimensions, name]) != [(dimensions,)] and dimensions is not None:
            raise WireError("DimensionMismatch", "The namespace got another dimension meanwhile")
        self.database.executemany("INSERT OR REPLACE INTO items VALUES (?, ?, ?, ?)", rows)

    async def delete(self, namespace: Namespace, ids: Sequence[str], wanted: Mapping[str, Any]) -> int:
        """Delete by ids (none: whatever id), by filter, or what both name; how many that were."""
        await self.reached("vector.delete", items=len(ids))
        where, values = condition(wanted)
        if ids:
            where += " AND id IN (SELECT value FROM json_each(:ids))"
        values |= {"namespace": namespace.name, "ids": json.dumps(ids)}
        return await self.run(self.change, f"DELETE FROM items WHERE {where}", values)

    async def search(self, op: str, namespace: Namespace, queries: Sequence[Query]) -> list[tuple[list[Hit], int]]:
        """For each query the hits, best first, and how many vectors fit its filter."""
        await self.reached(op, items=len(queries))
        return [await self.run(self.best, namespace, query) for query in queries]

    def best(self, namespace: Namespace, query: Query) -> tuple[list[Hit], int]:
        where, values = condition(query.wanted)
        values |= {"namespace": namespace.name, "vector": blob(query.vector), "top_k": query.top_k}
        rows = self.rows(
            f"SELECT {DISTANCE[namespace.metric]} AS distance, count(*) OVER (), id, vector, metadata "
            f"FROM items WHERE {where} ORDER BY distance, id LIMIT :top_k",
            values,
        )
        hits = [
            Hit(Item(id_, floats(vector), json.loads(metadata)), SCORE[namespace.metric](distance), distance)
            for distance, _, id_, vector, metadata in rows
        ]
        return hits, rows[0][1] if rows else 0

    def rows(self, statement: str, values: Any = ()) -> list[Any]:
        return self.database.execute(statement, values).fetchall()

    def change(self, statement: str, values: Any = ()) -> int:
        """How many rows it changed."""
        self.database.execute(statement, values).fetchall()
        return self.database.changes()


def connect(path: str) -> apsw.Connection:
    """A database that knows the functions of sqlite-vec."""
    database = apsw.Connection(path)
    database.set_busy_timeout(10_000)  # another process may be writing
    database.enable_load_extension(True)
    database.load_extension(sqlite_vec.loadable_path())
    database.enable_load_extension(False)
    database.execute("PRAGMA foreign_keys = ON; PRAGMA journal_mode = WAL;" + SCHEMA).fetchall()
    return database


def condition(wanted: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """What follows WHERE, and its parameters: no name or value ever stands in the text."""
    terms, values = ["namespace = :namespace"], {}
    for number, (key, value) in enumerate(wanted.items()):
        terms.append(
            f"EXISTS (SELECT 1 FROM json_each(metadata) WHERE key = :key{number} AND atom IS :value{number}"
            f" AND replace(type, 'real', 'integer') = :type{number})"
        )
        values |= {f"key{number}": key, f"value{number}": value, f"type{number}": json_type(value)}
    return " AND ".join(terms), values


def json_type(value: Any) -> str:
    """The word of `json_each` for a plain value, so that true is not 1; all numbers count as integers."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    return "text" if isinstance(value, str) else "integer"


def blob(vector: Vector) -> bytes:
    return struct.pack(f"<{len(vector)}f", *vector)


def floats(stored: bytes) -> list[float]:
    return list(struct.unpack(f"<{len(stored) // 4}f", stored))
