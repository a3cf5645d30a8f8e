"""The provider: PostgreSQL with the extension pgvector. A namespace is a table, with an index if one is chosen."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Protocol

from psycopg import AsyncConnection, sql
from psycopg.types.json import Jsonb, set_json_loads
from psycopg_pool import AsyncConnectionPool

from .context import sent_along
from .errors import WireError, invalid
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


class Probe(Protocol):
    """What a conformance run passes as `provider`."""

    async def reached(self, op: str, **facts: Any) -> object: ...


@dataclass(frozen=True)
class Namespace:
    """Where vectors lie; `dimensions` is None until the first vector of a namespace that was not created."""

    name: str
    metric: str
    dimensions: int | None = None
    number: int | None = None

    @property
    def table(self) -> sql.Identifier:
        return sql.Identifier(f"items_{self.number}")


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
    """A pool of connections, which are made when they are needed."""

    metrics = tuple(DISTANCES)
    max_dimensions = 2000  # what an index of pgvector takes
    max_batch_size = 500
    max_top_k = 1000
    max_filter_terms = 32
    largest_component = 1e17  # components are 32-bit floats: the sum of 2000 squares must stay finite

    def __init__(self, address: str, index: Index = EXACT, probe: Probe | None = None) -> None:
        self.index = index
        self.probe = probe
        self.pool = AsyncConnectionPool(
            address,
            min_size=0,
            max_size=4,
            timeout=5,
            open=False,
            configure=self.configure,
            check=AsyncConnectionPool.check_connection,  # a connection from before a restart is replaced
        )

    async def configure(self, connection: AsyncConnection[Any]) -> None:
        """Prepare a new connection."""
        set_json_loads(read_json, connection)
        await connection.execute(LOCK)
        await connection.execute(SCHEMA)
        for name, value in self.index.settings.items():
            await connection.execute("SELECT set_config(%s, %s, false)", [name, value])
        await connection.commit()

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[AsyncConnection[Any]]:
        """A connection and a transaction: all of it is done, or nothing."""
        await self.pool.open()
        async with self.pool.connection() as connection:
            yield connection

    async def aclose(self) -> None:
        await self.pool.close()

    async def reached(self, op: str, **facts: Any) -> None:
        if self.probe is not None:
            await self.probe.reached(op, **sent_along(), **facts)

    async def is_up(self) -> bool:
        """Whether the provider answers."""
        try:
            await self.reached("vector.health")
            async with self.connection() as connection:
                await connection.execute("SELECT 1")
        except Exception:  # noqa: BLE001 - why it does not answer is not the question
            return False
        return True

    # Namespaces

    async def find_namespace(self, name: str) -> Namespace | None:
        async with self.connection() as connection:
            found = await self.found(connection, name)
        return found or (Namespace(name, "cosine") if name == "default" else None)

    async def found(self, connection: AsyncConnection[Any], name: str) -> Namespace | None:
        statement = "SELECT name, metric, dimensions, number FROM namespaces WHERE name = %s"
        row = await (await connection.execute(statement, [name])).fetchone()
        return Namespace(*row) if row else None

    async def create_namespace(self, namespace: Namespace) -> None:
        """One that is there stays as it is, with its vectors."""
        await self.reached("vector.create_namespace")
        async with self.connection() as connection:
            await self.create(connection, namespace)

    async def create(self, connection: AsyncConnection[Any], namespace: Namespace) -> Namespace:
        """The namespace with its table, made if it is not there."""
        await connection.execute(LOCK)
        if found := await self.found(connection, namespace.name):
            return found
        row = "INSERT INTO namespaces (name, metric, dimensions) VALUES (%s, %s, %s) RETURNING name, metric, dimensions, number"
        values = [namespace.name, namespace.metric, namespace.dimensions]
        made = Namespace(*await (await connection.execute(row, values)).fetchone())
        parts = {
            "table": made.table,
            "dimensions": sql.Literal(made.dimensions),
            "operators": sql.SQL(DISTANCES[made.metric][1]),
        }
        for statement in filter(None, (ITEMS, self.index.statement)):
            await connection.execute(sql.SQL(statement).format(**parts))
        return made

    async def delete_namespace(self, name: str) -> bool:
        """Whether there was one."""
        await self.reached("vector.delete_namespace")
        async with self.connection() as connection:
            await connection.execute(LOCK)
            found = await self.found(connection, name)
            if found is not None:
                await connection.execute("DELETE FROM namespaces WHERE name = %s", [name])
                await connection.execute(sql.SQL("DROP TABLE {}").format(found.table))
        return found is not None

    # Vectors

    async def upsert(self, namespace: Namespace, items: Sequence[Item]) -> None:
        """Store all of them, in the place of those with the same id."""
        await self.reached("vector.upsert", items=len(items))
        last = {item.id: item for item in items}  # of two items with one id the last one counts
        rows = [(item.id, stored(namespace, item.vector), Jsonb(item.metadata)) for item in last.values()]
        if not rows:
            return
        async with self.connection() as connection:
            if namespace.dimensions is None:
                dimensions = len(items[0].vector)
                namespace = await self.create(connection, Namespace(namespace.name, namespace.metric, dimensions))
                if namespace.dimensions != dimensions:
                    raise WireError("DimensionMismatch", "The namespace got another dimension meanwhile")
            statement = (
                "INSERT INTO {} VALUES (%s, %s::real[]::vector, %s)"
                " ON CONFLICT (id) DO UPDATE SET vector = excluded.vector, metadata = excluded.metadata"
            )
            await connection.cursor().executemany(
                sql.SQL(statement).format(namespace.table), sorted(rows, key=itemgetter(0))
            )

    async def delete(self, namespace: Namespace, ids: Sequence[str], wanted: Mapping[str, Any]) -> int:
        """Delete by ids (none: whatever id), by filter, or what both name; how many that were."""
        await self.reached("vector.delete", items=len(ids))
        if namespace.dimensions is None:
            return 0
        where, values = condition(wanted)
        if ids:
            where, values = where + sql.SQL(" AND id = ANY(%s)"), [*values, list(ids)]
        statement = sql.SQL("DELETE FROM {} WHERE {}").format(namespace.table, where)
        async with self.connection() as connection:
            return (await connection.execute(statement, values)).rowcount

    async def search(self, op: str, namespace: Namespace, queries: Sequence[Query]) -> list[tuple[list[Hit], int]]:
        """For each query the hits, best first, and how many vectors fit its filter."""
        await self.reached(op, items=len(queries))
        if namespace.dimensions is None:
            return [([], 0) for _ in queries]
        async with self.connection() as connection:
            return [await self.best(connection, namespace, query) for query in queries]

    async def best(self, connection: AsyncConnection[Any], namespace: Namespace, query: Query) -> tuple[list[Hit], int]:
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


def stored(namespace: Namespace, vector: list[float]) -> list[float]:
    """A vector as it is stored. One of zeros has no direction, and an index for cosine leaves it out."""
    if namespace.metric == "cosine" and not any(vector):
        raise invalid("args.vector", "must not be all zeros where the metric is cosine")
    return vector


def condition(wanted: Mapping[str, Any]) -> tuple[sql.Composable, list[Any]]:
    """What follows WHERE, and its parameters: no name or value ever stands in the text. Values of jsonb are equal as
    JSON has it: 1 is 1.0, and not true.
    """
    terms = [sql.SQL("metadata -> %s = %s")] * len(wanted)
    values = [each for key, value in wanted.items() for each in (key, Jsonb(value))]
    return sql.SQL(" AND ").join([sql.SQL("true"), *terms]), values


def read_json(text: str | bytes) -> Any:
    """JSON as it was written: jsonb spells large numbers with a fraction as integers."""
    return json.loads(
        text, parse_int=lambda digits: number if abs(number := int(digits)) < EXACT_INTEGER else float(digits)
    )
