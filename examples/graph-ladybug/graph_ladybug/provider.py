"""The provider: Ladybug, an embedded property graph that speaks Cypher. One database is one namespace."""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import ladybug
from corpus_wire import Probe, WireError, invalid
from corpus_wire.graph import Edge, GraphProvider, Node, Query

from .tables import KEY, Rows, Tables, as_json, one_label, quoted, stored

POOL_BYTES = 512 * 2**20


class Provider(GraphProvider):
    """One database; `:memory:` ends with the provider."""

    dialects = ("cypher",)

    def __init__(self, probe: Probe | None = None, path: str = ":memory:") -> None:
        super().__init__(probe)
        self.database = ladybug.Database(path, buffer_pool_size=POOL_BYTES)
        self.connection = ladybug.AsyncConnection(self.database, max_concurrent_queries=1)
        self.lock = asyncio.Lock()
        self.tables: Tables | None = None

    async def aclose(self) -> None:
        self.connection.close()
        self.database.close()

    async def run(self, statement: str, **params: Any) -> Rows:
        """Return the rows of a statement; a cancelled call interrupts it."""
        result = await self.connection.execute(statement, params)
        rows: Rows = [] if isinstance(result, list) else result.get_all()
        return rows

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[Tables]:
        """Wait for the connection, which all requests share."""
        async with self.lock:
            if self.tables is None:
                self.tables = Tables()
                await self.tables.load(self.run)
            try:
                yield self.tables
            except BaseException:
                self.tables = None  # their state is unknown
                raise

    @asynccontextmanager
    async def transaction(self, kind: str = "") -> AsyncIterator[None]:
        """Open a transaction. Prepare tables before: a value for a column that the same transaction added is lost (0.22)."""
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

    async def ping(self) -> None:
        async with self.turn():
            await self.run("RETURN 1")

    # Queries

    async def records(self, query: Query) -> list[dict[str, Any]]:
        """Evaluate a query in a transaction that cannot write: only the operations that check their items may write."""
        text, params = with_quoted_parameters(query)
        async with self.turn(), self.transaction("READ ONLY"):
            try:
                result = await self.connection.execute(text, params)
            except RuntimeError as error:
                raise refusal(error) from None
            except (ValueError, TypeError):  # a parameter of a type that Ladybug does not know
                raise invalid("args.params", "must hold plain values, or lists of one type") from None
            if isinstance(result, list):
                raise invalid("args.text", "must be one statement", error="QueryParseError")
            names = result.get_column_names()
            return [dict(zip(names, map(as_json, row), strict=True)) for row in result.get_all()]

    # Writes

    async def upsert_nodes(self, namespace: str, nodes: Sequence[Node]) -> None:
        await self.reached("upsert_nodes", items=len(nodes))
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
        """Delete nodes from the tables of their former labels.

        Raises:
            WireError: a node has edges, which would be lost.
        """
        for table, id_ in places:
            edges = await self.run(f"MATCH (x:{quoted(table)} {{node_id: $id}})-[r]-() RETURN count(r)", id=id_)
            if edges != [[0]]:
                raise invalid("args.nodes", "must not change the label of a node that has edges")
        await self.remove("NODE", places)

    async def upsert_edges(self, namespace: str, edges: Sequence[Edge]) -> None:
        await self.reached("upsert_edges", items=len(edges))
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
        """Write each property, and null for those that are absent."""
        for column in tables.columns[kind][table].keys() - {KEY[kind]}:
            value = properties.get(column)
            assignment = f"x.{quoted(column)} = " + ("NULL" if value is None else "$value")
            params = {} if value is None else {"value": value}
            await self.run(f"{pattern(kind, table)} WHERE x.{KEY[kind]} = $id SET {assignment}", id=id_, **params)

    async def delete_nodes(self, namespace: str, ids: Sequence[str] | None, wanted: Mapping[str, Any]) -> int:
        await self.reached("delete_nodes")
        return await self.delete("NODE", ids, wanted)

    async def delete_edges(self, namespace: str, ids: Sequence[str] | None, wanted: Mapping[str, Any]) -> int:
        await self.reached("delete_edges")
        return await self.delete("REL", ids, wanted)

    async def delete(self, kind: str, ids: Sequence[str] | None, wanted: Mapping[str, Any]) -> int:
        async with self.turn() as tables, self.transaction():
            chosen = await self.found(kind, tables, ids, wanted)
            await self.remove(kind, chosen)
            return len(chosen)

    async def remove(self, kind: str, chosen: Sequence[tuple[str, str]]) -> None:
        for table, id_ in chosen:
            verb = "DETACH DELETE" if kind == "NODE" else "DELETE"
            await self.run(f"{pattern(kind, table)} WHERE x.{KEY[kind]} = $id {verb} x", id=id_)

    # Reading

    async def nodes(self, namespace: str, after: str, limit: int, wanted: Mapping[str, Any]) -> list[Node]:
        await self.reached("bulk_vertices")
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
        """Return the table and the id of each item that has one of the ids (None: any id) and passes a filter."""
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


def with_quoted_parameters(query: Query) -> tuple[str, dict[str, Any]]:
    """The query with `` $`group` `` for `$group`, which is a word of Ladybug's Cypher.

    Raises:
        WireError: a parameter is missing, which Ladybug would read as null.
    """

    def replaced(found: re.Match[str]) -> str:
        name = found["name"]
        if name is None:
            return found[0]
        if name not in query.params:
            raise invalid("args.params", "must have all parameters of the query")
        return f"$`{name}`"

    texts = r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`[^`]*`"""
    text = re.sub(rf"{texts}|\$(?P<name>\w+)", replaced, query.text, flags=re.DOTALL)
    return text, {f"`{name}`": value for name, value in query.params.items()}


def pattern(kind: str, table: str) -> str:
    """The pattern that finds the items of a table, as `x`."""
    return f"MATCH (x:{quoted(table)})" if kind == "NODE" else f"MATCH ()-[x:{quoted(table)}]->()"


def conditions(wanted: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The condition of a filter after WHERE, and its parameters: no value ever stands in the text."""
    terms = "".join(f" AND x.{quoted(key)} = $value{number}" for number, key in enumerate(wanted))
    return terms, {f"value{number}": value for number, value in enumerate(wanted.values())}


def refusal(error: RuntimeError) -> Exception:
    """The error for an exception about a query; its text quotes the query, so only the first word is read."""
    kind = re.match(r"(\w+) exception:", str(error))
    if kind is None:
        return error
    if kind[1] in ("Parser", "Binder", "Catalog", "Connection"):
        return invalid("args.text", "is not a query that can be read", error="QueryParseError")
    if kind[1] in ("Conversion", "Overflow", "Runtime", "TransactionManager"):
        return invalid("args.text", "is a query that cannot be carried out with these parameters")
    return error
