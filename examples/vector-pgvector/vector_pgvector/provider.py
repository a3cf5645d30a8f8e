"""The provider: PostgreSQL with the extension pgvector. A namespace is a table, with an index if one is chosen."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from corpus_wire import WireError, invalid
from corpus_wire.vector import Hit, Item, Namespace, Query, VectorProvider
from psycopg import AsyncConnection, OperationalError, sql
from psycopg.types.json import Jsonb, set_json_loads
from psycopg.waiting import wait_async

from .indexes import EXACT, Index

# The lock keeps two processes from creating the same thing at once.
LOCK = "SELECT pg_advisory_xact_lock(hashtext('vector-pgvector'))"
SCHEMA = """
CREATE EXTENSION IF NOT EXISTS vector;
CREATE TABLE IF NOT EXISTS namespaces (
    name text PRIMARY KEY, metric text NOT NULL, dimensions integer NOT NULL,
    number integer NOT NULL GENERATED ALWAYS AS IDENTITY
);
"""
COLUMNS = "name, metric, dimensions, number"
ITEMS = "CREATE TABLE {table} (id text PRIMARY KEY, vector vector({dimensions}) NOT NULL, metadata jsonb NOT NULL)"

DISTANCES = {
    "cosine": ("<=>", "vector_cosine_ops"),
    "euclidean": ("<->", "vector_l2_ops"),
    "dot": ("<#>", "vector_ip_ops"),
}
"""The operator of each metric, and its class in an index; the smaller the distance, the better."""

SCORES: dict[str, Callable[[float], float]] = {
    "cosine": lambda distance: 1 - distance,
    "euclidean": lambda distance: 1 / (1 + distance),
    "dot": lambda distance: -distance,
}

EXACT_INTEGER = 2**63


@dataclass(frozen=True)
class Space(Namespace):
    """A namespace with the number of its table; None if it has no table yet."""

    number: int | None = None

    @property
    def table(self) -> sql.Identifier:
        return sql.Identifier(f"items_{self.number}")


class Connection(AsyncConnection[Any]):
    """A call that is given up ends at once; psycopg would first ask a server that may hang to cancel the query."""

    async def wait(self, gen: Any, interval: float = 0.1, timeout: float | None = None) -> Any:
        try:
            return await wait_async(gen, self.pgconn.socket, interval=interval, timeout=timeout)
        except asyncio.CancelledError:
            self.pgconn.finish()  # the server rolls back what it has not committed
            raise


class Provider(VectorProvider):
    """Connections, which are made when they are needed, and kept."""

    metrics = tuple(DISTANCES)
    max_dimensions = 2000  # what an index of pgvector takes
    max_batch_size = 500
    max_connections = 8

    def __init__(self, address: str, index: Index = EXACT) -> None:
        super().__init__()
        self.address, self.index = address, index
        self.places = asyncio.Semaphore(self.max_connections)
        self.idle: list[Connection] = []

    async def connect(self) -> Connection:
        """Return a new connection, prepared."""
        connection = await Connection.connect(self.address, autocommit=True, connect_timeout=5)
        set_json_loads(read_json, connection)
        async with connection.transaction():
            await connection.execute(LOCK)
            await connection.execute(SCHEMA)
            for name, value in self.index.settings.items():
                await connection.execute("SELECT set_config(%s, %s, false)", [name, value])
        return connection

    async def connected(self) -> Connection:
        """Return a connection that works; one from before a restart of the server is replaced."""
        while self.idle:
            connection = self.idle.pop()
            try:
                await connection.execute("")
            except OperationalError:
                await connection.close()
            else:
                return connection
        return await self.connect()

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        """Open a transaction."""
        async with self.places:
            connection = await self.connected()
            try:
                async with connection.transaction():
                    yield connection
            finally:
                if not connection.closed:
                    self.idle.append(connection)

    async def aclose(self) -> None:
        while self.idle:
            await self.idle.pop().close()

    async def ping(self) -> None:
        async with self.connection() as connection:
            await connection.execute("SELECT 1")

    # Namespaces

    async def find_namespace(self, name: str) -> Space | None:
        async with self.connection() as connection:
            found = await self.found(connection, name)
        return found or (Space(name, "cosine") if name == "default" else None)

    async def found(self, connection: Connection, name: str) -> Space | None:
        statement = f"SELECT {COLUMNS} FROM namespaces WHERE name = %s"
        row = await (await connection.execute(statement, [name])).fetchone()
        return Space(*row) if row else None

    async def create_namespace(self, namespace: Namespace) -> None:
        async with self.connection() as connection:
            await self.create(connection, namespace)

    async def create(self, connection: Connection, namespace: Namespace) -> Space:
        """Return the namespace with its table; create it if it is absent."""
        await connection.execute(LOCK)
        if found := await self.found(connection, namespace.name):
            return found
        row = f"INSERT INTO namespaces (name, metric, dimensions) VALUES (%s, %s, %s) RETURNING {COLUMNS}"
        values = [namespace.name, namespace.metric, namespace.dimensions]
        made = Space(*await (await connection.execute(row, values)).fetchone())
        parts = {
            "table": made.table,
            "dimensions": sql.Literal(made.dimensions),
            "operators": sql.SQL(DISTANCES[made.metric][1]),
        }
        for statement in filter(None, (ITEMS, self.index.statement)):
            await connection.execute(sql.SQL(statement).format(**parts))
        return made

    async def delete_namespace(self, name: str) -> bool:
        async with self.connection() as connection:
            await connection.execute(LOCK)
            found = await self.found(connection, name)
            if found is not None:
                await connection.execute("DELETE FROM namespaces WHERE name = %s", [name])
                await connection.execute(sql.SQL("DROP TABLE {}").format(found.table))
        return found is not None

    # Vectors

    async def upsert(self, namespace: Space, items: Sequence[Item]) -> None:
        last = {item.id: item for item in items}  # of two items with one id the last one counts
        rows = [(item.id, stored(namespace, item.vector), Jsonb(item.metadata)) for item in last.values()]
        if not rows:
            return
        async with self.connection() as connection:
            if namespace.dimensions is None:
                dimensions = len(items[0].vector)
                namespace = await self.create(connection, Namespace(namespace.name, namespace.metric, dimensions))
                if namespace.dimensions != dimensions:
                    raise WireError("DimensionMismatch", "The namespace got another dimension from another call")
            statement = (
                "INSERT INTO {} VALUES (%s, %s::real[]::vector, %s)"
                " ON CONFLICT (id) DO UPDATE SET vector = excluded.vector, metadata = excluded.metadata"
            )
            await connection.cursor().executemany(
                sql.SQL(statement).format(namespace.table), sorted(rows, key=itemgetter(0))
            )

    async def delete(self, namespace: Space, ids: Sequence[str], wanted: Mapping[str, Any]) -> int:
        if namespace.dimensions is None:
            return 0
        where, values = condition(wanted)
        if ids:
            where, values = where + sql.SQL(" AND id = ANY(%s)"), [*values, list(ids)]
        statement = sql.SQL("DELETE FROM {} WHERE {}").format(namespace.table, where)
        async with self.connection() as connection:
            return (await connection.execute(statement, values)).rowcount

    async def search(self, op: str, namespace: Space, queries: Sequence[Query]) -> list[tuple[list[Hit], int]]:
        if namespace.dimensions is None:
            return [([], 0) for _ in queries]
        async with self.connection() as connection:
            return [await self.best(connection, namespace, query) for query in queries]

    async def best(self, connection: Connection, namespace: Space, query: Query) -> tuple[list[Hit], int]:
        vector = stored(namespace, query.vector)
        where, values = condition(query.wanted)
        parts = {"table": namespace.table, "where": where, "distance": sql.SQL(DISTANCES[namespace.metric][0])}
        nearest = sql.SQL(
            "SELECT id, vector::real[], metadata, vector {distance} %s::real[]::vector AS distance"
            " FROM {table} WHERE {where} ORDER BY distance LIMIT %s"
        ).format(**parts)
        rows = await (await connection.execute(nearest, [vector, *values, query.top_k])).fetchall()
        count = sql.SQL("SELECT count(*) FROM {table} WHERE {where}").format(**parts)
        (total,) = await (await connection.execute(count, values)).fetchone()
        score = SCORES[namespace.metric]
        return [Hit(Item(*row), score(distance), distance) for *row, distance in rows], total


def stored(namespace: Space, vector: list[float]) -> list[float]:
    """Refuse a vector that an index for cosine leaves out: one of zeros has no direction."""
    if namespace.metric == "cosine" and not any(vector):
        raise invalid("args.vector", "must not be all zeros if the metric is cosine")
    return vector


def condition(wanted: Mapping[str, Any]) -> tuple[sql.Composable, list[Any]]:
    """The condition after WHERE, and its parameters: no name or value ever stands in the text.

    Values of jsonb are equal as in JSON: 1 is 1.0, and not true.
    """
    terms = [sql.SQL("metadata -> %s = %s")] * len(wanted)
    values = [each for key, value in wanted.items() for each in (key, Jsonb(value))]
    return sql.SQL(" AND ").join([sql.SQL("true"), *terms]), values


def read_json(text: str | bytes) -> Any:
    """JSON as it was written: jsonb spells large numbers with a fraction as integers."""
    return json.loads(
        text, parse_int=lambda digits: number if abs(number := int(digits)) < EXACT_INTEGER else float(digits)
    )
