"""The provider: Ladybug, an embedded property graph that speaks Cypher. One database is one namespace."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import ladybug

from .context import sent_along
from .errors import WireError, invalid
from .tables import KEY, Rows, Tables, as_json, one_label, quoted, stored

POOL_BYTES = 256 * 2**20


class Probe(Protocol):
    """What a conformance run passes as `provider`."""

    async def reached(self, op: str, **facts: Any) -> object: ...


@dataclass(frozen=True)
class Node:
    """A vertex."""

    id: str
    labels: list[str]
    properties: dict[str, Any]


@dataclass(frozen=True)
class Edge:
    """A relationship from `src` to `dst`."""

    id: str
    src: str
    dst: str
    label: str
    properties: dict[str, Any]


@dataclass(frozen=True)
class Query:
    """A query that was read and checked; its text is in one of the `dialects`."""

    namespace: str
    text: str
    params: Mapping[str, Any]
    timeout_ms: float | None


class Provider:
    """One database; `:memory:` is one that ends with the provider."""

    dialects = ("cypher",)
    max_query_length = 8192

    def __init__(self, probe: Probe | None = None, path: str = ":memory:") -> None:
        self.probe = probe
        self.database = ladybug.Database(path, buffer_pool_size=POOL_BYTES)
        self.connection = ladybug.AsyncConnection(self.database, max_concurrent_queries=1)
        self.lock = asyncio.Lock()
        self.tables: Tables | None = None

    async def reached(self, op: str, **facts: Any) -> None:
        if self.probe is not None:
            await self.probe.reached(op, **sent_along(), **facts)

    async def aclose(self) -> None:
        self.connection.close()
        self.database.close()

    async def run(self, statement: str, **params: Any) -> Rows:
        """The rows of a statement; what is cancelled is interrupted."""
        result = await self.connection.execute(statement, params)
        rows: Rows = [] if isinstance(result, list) else result.get_all()
        return rows

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[Tables]:
        """One request at a time: all share a connection."""
        async with self.lock:
            if self.tables is None:
                self.tables = Tables()
                await self.tables.load(self.run)
            try:
                yield self.tables
            except BaseException:
                self.tables = None  # who knows what came of it
                raise

    @asynccontextmanager
    async def transaction(self, kind: str = "") -> AsyncIterator[None]:
        """All of it or nothing. Tables are prepared before: what is set in a column that the same transaction added is
        lost (Ladybug 0.22).
        """
        await self.run(f"BEGIN TRANSACTION {kind}")
        try:
            yield
            await self.run("COMMIT")
        except BaseException:
            await asyncio.shield(self.undo())
            raise

    async def undo(self) -> None:
        try:
            await self.run("ROLLBACK")
        except RuntimeError:  # some errors end the transaction by themselves
            pass

    async def is_up(self) -> bool:
        """Whether the provider answers."""
        try:
            await self.reached("graph.health")
            async with self.turn():
                await self.run("RETURN 1")
        except Exception:  # noqa: BLE001 - why it does not answer is not the question
            return False
        return True

    # Queries

    async def query(self, asked: Query) -> list[dict[str, Any]]:
        """The records of a query."""
        await self.reached("graph.query")
        return await self.records(asked)

    async def stream(self, asked: Query) -> AsyncGenerator[dict[str, Any], None]:
        """The records of a query one by one; the probe is reached once more before each of them."""
        await self.reached("graph.stream_query")
        for number, record in enumerate(await self.records(asked)):
            await self.reached("graph.stream_query", chunk=number)
            yield record

    async def records(self, asked: Query) -> list[dict[str, Any]]:
        """In a transaction that can write nothing: writing is for the operations that check what is written."""
        text, params = with_quoted_parameters(asked)
        async with self.turn(), self.transaction("READ ONLY"):
            try:
                result = await self.connection.execute(text, params)
            except RuntimeError as error:
                raise refusal(error) from None
            except (ValueError, TypeError):  # a parameter of no type that Ladybug knows
                raise invalid("args.params", "must hold plain values, or lists of one type") from None
            if isinstance(result, list):
                raise invalid("args.text", "must be one statement", error="QueryParseError")
            names = result.get_column_names()
            return [dict(zip(names, map(as_json, row), strict=True)) for row in result.get_all()]

    # Writes

    async def upsert_nodes(self, nodes: Sequence[Node]) -> None:
        """Write all of them, in the place of those with the same id."""
        await self.reached("graph.upsert_nodes", items=len(nodes))
        async with self.turn() as tables:
            for node in nodes:
                await tables.prepare(self.run, "NODE", one_label(node.labels), stored(node.properties))
            async with self.transaction():
                for node in nodes:
                    table = one_label(node.labels)
                    before = await self.found("NODE", tables, [node.id])
                    await self.leave([place for place in before if place[0] != table])
                    await self.run(f"MERGE (n:{quoted(table)} {{node_id: $id}})", id=node.id)
                    await self.fill(tables, "NODE", table, node.id, stored(node.properties))

    async def leave(self, places: Sequence[tuple[str, str]]) -> None:
        """Delete nodes from tables of labels that they have no more.

        Raises:
            WireError: there are edges at one, which would be lost.
        """
        for table, id_ in places:
            if await self.run(f"MATCH (x:{quoted(table)} {{node_id: $id}})-[r]-() RETURN count(r) AS n", id=id_) != [
                [0]
            ]:
                raise invalid("args.nodes", "must not change the label of a node that has edges")
        await self.remove("NODE", places)

    async def upsert_edges(self, edges: Sequence[Edge]) -> None:
        """Write all of them, or none where one lacks a node."""
        await self.reached("graph.upsert_edges", items=len(edges))
        async with self.turn() as tables:
            ends = {id_: quoted(table) for table, id_ in await self.found("NODE", tables, ends_of(edges))}
            if not ends.keys() >= set(ends_of(edges)):
                raise WireError("VertexNotFound", "src and dst of an edge must be nodes that exist")
            for edge in edges:
                way = f"FROM {ends[edge.src]} TO {ends[edge.dst]}"
                await tables.prepare(self.run, "REL", edge.label, stored(edge.properties), way)
            async with self.transaction():
                for edge in edges:
                    await self.remove("REL", await self.found("REL", tables, [edge.id]))
                    await self.run(
                        f"MATCH (a:{ends[edge.src]} {{node_id: $src}}), (b:{ends[edge.dst]} {{node_id: $dst}})"
                        f" CREATE (a)-[:{quoted(edge.label)} {{edge_id: $id}}]->(b)",
                        src=edge.src,
                        dst=edge.dst,
                        id=edge.id,
                    )
                    await self.fill(tables, "REL", edge.label, edge.id, stored(edge.properties))

    async def fill(self, tables: Tables, kind: str, table: str, id_: str, properties: Mapping[str, Any]) -> None:
        """Write each property, and null in the place of those that are not there any more."""
        for column in tables.columns[kind][table].keys() - {KEY[kind]}:
            value = properties.get(column)
            assignment = f"x.{quoted(column)} = " + ("NULL" if value is None else "$value")
            params = {} if value is None else {"value": value}
            await self.run(f"{pattern(kind, table)} WHERE x.{KEY[kind]} = $id SET {assignment}", id=id_, **params)

    async def delete(self, kind: str, op: str, ids: Sequence[str] | None, wanted: Mapping[str, Any]) -> int:
        """Delete by ids (None: whatever id) and filter, with the edges at nodes; how many items that were."""
        await self.reached(op)
        async with self.turn() as tables, self.transaction():
            chosen = await self.found(kind, tables, ids, wanted)
            await self.remove(kind, chosen)
            return len(chosen)

    async def remove(self, kind: str, chosen: Sequence[tuple[str, str]]) -> None:
        for table, id_ in chosen:
            verb = "DETACH DELETE" if kind == "NODE" else "DELETE"
            await self.run(f"{pattern(kind, table)} WHERE x.{KEY[kind]} = $id {verb} x", id=id_)

    # Reading

    async def nodes(self, after: str, limit: int, wanted: Mapping[str, Any]) -> list[Node]:
        """The first nodes that fit a filter, in the order of their ids, after one id."""
        await self.reached("graph.bulk_vertices")
        found: list[Node] = []
        async with self.turn() as tables:
            for table in tables.holding("NODE", wanted):
                where, params = conditions(wanted)
                rows = await self.run(
                    f"{pattern('NODE', table)} WHERE x.node_id > $after{where}"
                    f" RETURN x ORDER BY x.node_id LIMIT {limit}",
                    after=after,
                    **params,
                )
                found += [Node(**as_json(row[0])) for row in rows]
        return sorted(found, key=lambda node: node.id)[:limit]

    async def found(
        self, kind: str, tables: Tables, ids: Sequence[str] | None, wanted: Mapping[str, Any] | None = None
    ) -> list[tuple[str, str]]:
        """The table and the id of each item with one of the ids (None: whatever id) that fits a filter."""
        found: list[tuple[str, str]] = []
        where, params = conditions(wanted or {})
        if ids is not None:
            where, params = f" AND x.{KEY[kind]} IN $ids{where}", {"ids": list(ids), **params}
        for table in tables.holding(kind, wanted or {}) if ids != [] else []:
            rows = await self.run(f"{pattern(kind, table)} WHERE true{where} RETURN x.{KEY[kind]}", **params)
            found += [(table, row[0]) for row in rows]
        return found


def ends_of(edges: Sequence[Edge]) -> list[str]:
    return [end for edge in edges for end in (edge.src, edge.dst)]


def with_quoted_parameters(asked: Query) -> tuple[str, dict[str, Any]]:
    """The query with `` $`group` `` for `$group`, which is a word of Ladybug's Cypher.

    Raises:
        WireError: a parameter is not given, which Ladybug would take for null.
    """

    def replaced(found: re.Match[str]) -> str:
        name = found["name"]
        if name is None:
            return found[0]
        if name not in asked.params:
            raise invalid("args.params", "must have all parameters of the query")
        return f"$`{name}`"

    texts = r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`[^`]*`"""
    text = re.sub(rf"{texts}|\$(?P<name>\w+)", replaced, asked.text, flags=re.DOTALL)
    return text, {f"`{name}`": value for name, value in asked.params.items()}


def pattern(kind: str, table: str) -> str:
    """What finds the items of a table, as `x`."""
    return f"MATCH (x:{quoted(table)})" if kind == "NODE" else f"MATCH ()-[x:{quoted(table)}]->()"


def conditions(wanted: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """What follows WHERE for a filter, and its parameters: no value ever stands in the text."""
    terms = "".join(f" AND x.{quoted(key)} = $value{number}" for number, key in enumerate(wanted))
    return terms, {f"value{number}": value for number, value in enumerate(wanted.values())}


def refusal(error: RuntimeError) -> Exception:
    """What Ladybug says about a query, which quotes it; only the first words are looked at."""
    kind = re.match(r"(\w+) exception:", str(error))
    if kind is None:
        return error
    if kind[1] in ("Parser", "Binder", "Catalog", "Connection"):
        return invalid("args.text", "is not a query that can be read", error="QueryParseError")
    if kind[1] in ("Conversion", "Overflow", "Runtime", "TransactionManager"):
        return invalid("args.text", "is a query that cannot be carried out with these parameters")
    return error
