"""The provider: SQLite with the extension sqlite-vec, which measures distances in SQL.

SQLite blocks, so it runs in one thread of its own; a call that is cancelled ends at once, and its statement later. `apsw` calls
SQLite, because the `sqlite3` of many builds of Python cannot load extensions.
"""

import asyncio
import json
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import apsw
import sqlite_vec
from corpus_wire import Probe, WireError
from corpus_wire.vector import Hit, Item, Namespace, Query, VectorProvider

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

# A vector of zeros has no direction; sqlite-vec returns NULL. Its cosine is 0.
DISTANCE = {
    "cosine": "coalesce(vec_distance_cosine(vector, :vector), 1.0)",
    "euclidean": "vec_distance_L2(vector, :vector)",
}
SCORE: dict[str, Callable[[float], float]] = {
    "cosine": lambda distance: 1 - distance,
    "euclidean": lambda distance: 1 / (1 + distance),
}


class Provider(VectorProvider):
    """One database file; `:memory:` is one that ends with the provider."""

    metrics = tuple(DISTANCE)

    def __init__(self, probe: Probe | None = None, path: str = ":memory:") -> None:
        super().__init__(probe)
        self.thread = ThreadPoolExecutor(1, "sqlite")
        self.database = self.thread.submit(connect, path).result()

    async def run(self, work: Callable[..., T], *args: Any) -> T:
        """Run a transaction in the thread of the database."""

        def transaction() -> T:
            with self.database:
                return work(*args)

        return await asyncio.get_running_loop().run_in_executor(self.thread, transaction)

    async def aclose(self) -> None:
        self.database.interrupt()
        self.thread.submit(self.database.close)
        self.thread.shutdown()

    async def ping(self) -> None:
        await self.run(self.rows, "SELECT vec_version()")

    async def find_namespace(self, name: str) -> Namespace | None:
        found = await self.run(self.rows, "SELECT name, metric, dimensions FROM namespaces WHERE name = ?", [name])
        return Namespace(*found[0]) if found else None

    async def create_namespace(self, namespace: Namespace) -> None:
        await self.reached("create_namespace")
        await self.run(
            self.change,
            "INSERT INTO namespaces VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET dimensions = excluded.dimensions",
            [namespace.name, namespace.metric, namespace.dimensions],
        )

    async def delete_namespace(self, name: str) -> bool:
        await self.reached("delete_namespace")
        deleted = await self.run(self.change, "DELETE FROM namespaces WHERE name = ?", [name])
        await self.run(self.change, SCHEMA)
        return deleted > 0

    async def upsert(self, namespace: Namespace, items: Sequence[Item]) -> None:
        await self.reached("upsert", items=len(items))
        rows = [(namespace.name, item.id, blob(item.vector), json.dumps(item.metadata)) for item in items]
        await self.run(self.write, namespace.name, len(items[0].vector) if items else None, rows)

    def write(self, name: str, dimensions: int | None, rows: Iterable[tuple[str, str, bytes, str]]) -> None:
        first = "UPDATE namespaces SET dimensions = coalesce(dimensions, ?) WHERE name = ? RETURNING dimensions"
        if self.rows(first, [dimensions, name]) != [(dimensions,)] and dimensions is not None:
            raise WireError("DimensionMismatch", "The namespace got another dimension from another call")
        self.database.executemany("INSERT OR REPLACE INTO items VALUES (?, ?, ?, ?)", rows)

    async def delete(self, namespace: Namespace, ids: Sequence[str], wanted: Mapping[str, Any]) -> int:
        await self.reached("delete", items=len(ids))
        where, values = condition(wanted)
        if ids:
            where += " AND id IN (SELECT value FROM json_each(:ids))"
        values |= {"namespace": namespace.name, "ids": json.dumps(ids)}
        return await self.run(self.change, f"DELETE FROM items WHERE {where}", values)

    async def search(self, op: str, namespace: Namespace, queries: Sequence[Query]) -> list[tuple[list[Hit], int]]:
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
        """Return the number of changed rows."""
        self.database.execute(statement, values).fetchall()
        return self.database.changes()


def connect(path: str) -> apsw.Connection:
    """Open a database with the functions of sqlite-vec."""
    database = apsw.Connection(path)
    database.set_busy_timeout(10_000)  # another process may be writing
    database.enable_load_extension(True)
    database.load_extension(sqlite_vec.loadable_path())
    database.enable_load_extension(False)
    database.execute("PRAGMA foreign_keys = ON; PRAGMA journal_mode = WAL;" + SCHEMA).fetchall()
    return database


def condition(wanted: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The condition after WHERE, and its parameters: no name or value ever stands in the text."""
    terms = ["namespace = :namespace"]
    values: dict[str, Any] = {}
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
