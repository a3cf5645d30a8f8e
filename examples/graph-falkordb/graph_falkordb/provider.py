"""The provider: FalkorDB, a module of Redis that speaks openCypher. A namespace is a graph, which the first write makes."""

import asyncio
import math
from collections.abc import Mapping, Sequence
from typing import Any

from corpus_wire import WireError, invalid
from corpus_wire.graph import Edge, GraphProvider, Node, Query
from corpus_wire.provider import seconds_left
from falkordb.asyncio.graph import AsyncGraph
from falkordb.asyncio.query_result import QueryResult
from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ResponseError

from .cypher import ID, ITEM, KEY, as_json, conditions, key_of, quoted, refusal, stored, with_parameters

Statement = tuple[str, Mapping[str, Any]]

NODE, EDGE = f"(x:{ITEM})", "()-[x]->()"
CHOSEN = f"{NODE} WHERE x.{KEY} IN $keys"

ABSENT = "Invalid graph operation on empty key"
INDEXED = f"Attribute '{KEY}' is already indexed"


class Provider(GraphProvider):
    """A pool of connections, which are made when they are needed."""

    dialects = ("cypher",)

    def __init__(self, url: str) -> None:
        super().__init__()
        # One retry replaces a connection from before a restart of the server.
        retry = Retry(NoBackoff(), 1)
        settings = {"max_connections": 16, "timeout": 5, "socket_connect_timeout": 5, "decode_responses": True}
        self.redis = Redis.from_pool(BlockingConnectionPool.from_url(url, **settings, retry=retry))
        self.lock = asyncio.Lock()
        self.indexed: set[str] = set()

    async def aclose(self) -> None:
        await self.redis.aclose()

    async def ping(self) -> None:
        await self.redis.ping()

    def graph(self, namespace: str) -> AsyncGraph:
        """A graph of the client, new for each call: it remembers names by their numbers, which a graph made anew changes."""
        if "\0" in namespace:  # the name would end there
            raise invalid("args.namespace", "must not have a NUL")
        return AsyncGraph(self.redis, namespace)

    async def read(
        self, namespace: str, text: str, params: Mapping[str, Any], timeout: int | None = None
    ) -> QueryResult:
        """Return the result of a query that cannot write; a graph that does not exist is an empty one."""
        graph = self.graph(namespace)
        try:
            return await graph.ro_query(text, dict(params), timeout)
        except ResponseError as error:
            if str(error) != ABSENT:
                raise
            return QueryResult(graph)

    async def write(self, namespace: str, statements: Sequence[Statement]) -> None:
        """Carry out statements that no other client sees in part."""
        async with self.redis.pipeline(transaction=True) as pipe:
            for text, params in statements:
                pipe.execute_command("GRAPH.QUERY", namespace, with_parameters(text, params), "--compact")
            await pipe.execute()

    async def prepare(self, namespace: str) -> None:
        """Make the graph, and the index that finds nodes by their id."""
        if namespace not in self.indexed:
            try:
                await self.graph(namespace).query(f"CREATE INDEX FOR (x:{ITEM}) ON (x.{KEY})")
            except ResponseError as error:
                if str(error) != INDEXED:
                    raise
            self.indexed.add(namespace)

    # Queries

    async def records(self, query: Query) -> list[dict[str, Any]]:
        """Evaluate a query that cannot write: only the operations that check their items may. The server ends it in time."""
        if "\0" in query.text:  # the query would end there
            raise invalid("args.text", "must not have a NUL", error="QueryParseError")
        budget = min(1000 * (seconds_left() or math.inf), query.timeout_ms or math.inf)
        timeout = None if math.isinf(budget) else math.ceil(budget)
        try:
            result = await self.read(query.namespace, query.text, query.params, timeout)
        except ValueError:  # a name that cannot stand in a query
            raise invalid("args.params", "must have names that a query can have") from None
        except ResponseError as error:
            raise refusal(error) if type(error) is ResponseError else error from None
        names = [name for _, name in result.header]
        return [dict(zip(names, map(as_json, row), strict=True)) for row in result.result_set]

    # Writes

    async def upsert_nodes(self, namespace: str, nodes: Sequence[Node]) -> None:
        last = {key_of(node.id): node for node in nodes}  # of two with one id the last one counts
        items = [{**stored(node.properties), ID: node.id, KEY: key} for key, node in last.items()]
        wanted = {key: {quoted(label) for label in node.labels} for key, node in last.items()}
        statements: list[Statement] = [
            (f"UNWIND $items AS item MERGE (x:{ITEM} {{{KEY}: item.{KEY}}}) SET x = item", {"items": items})
        ]
        async with self.lock:
            await self.prepare(namespace)
            before = await self.labels(namespace, list(last))
            for label in sorted(set().union(*wanted.values(), *before.values())):
                for verb, new, old in (("SET", wanted, before), ("REMOVE", before, wanted)):
                    keys = [key for key in last if label in new.get(key, ()) and label not in old.get(key, ())]
                    statements += [(f"MATCH {CHOSEN} {verb} x:{label}", {"keys": keys})] if keys else []
            await self.write(namespace, statements)

    async def labels(self, namespace: str, keys: Sequence[str]) -> dict[str, set[str]]:
        """Return the labels, in backticks, of those nodes that exist."""
        found = await self.read(namespace, f"MATCH {CHOSEN} RETURN x.{KEY}, labels(x)", {"keys": keys})
        return {key: {f"`{label}`" for label in labels if label != ITEM} for key, labels in found.result_set}

    async def upsert_edges(self, namespace: str, edges: Sequence[Edge]) -> None:
        last = {edge.id: edge for edge in edges}
        ends = {key_of(end) for edge in edges for end in (edge.src, edge.dst)}
        statements: list[Statement] = [(f"MATCH {EDGE} WHERE x.{ID} IN $ids DELETE x", {"ids": list(last)})]
        for label in {edge.label for edge in last.values()}:
            items = [
                {
                    "src": key_of(edge.src),
                    "dst": key_of(edge.dst),
                    "properties": {**stored(edge.properties), ID: edge.id},
                }
                for edge in last.values()
                if edge.label == label
            ]
            nodes = f"(a:{ITEM} {{{KEY}: item.src}}), (b:{ITEM} {{{KEY}: item.dst}})"
            text = f"UNWIND $items AS item MATCH {nodes} CREATE (a)-[x:{quoted(label)}]->(b) SET x = item.properties"
            statements.append((text, {"items": items}))
        async with self.lock:
            if (await self.labels(namespace, list(ends))).keys() != ends:
                raise WireError("VertexNotFound", "src and dst of an edge must be nodes that exist")
            await self.write(namespace, statements if edges else [])

    async def delete_nodes(self, namespace: str, ids: Sequence[str] | None, wanted: Mapping[str, Any]) -> int:
        return int((await self.delete(namespace, NODE, ids, wanted)).nodes_deleted)  # and their edges

    async def delete_edges(self, namespace: str, ids: Sequence[str] | None, wanted: Mapping[str, Any]) -> int:
        return int((await self.delete(namespace, EDGE, ids, wanted)).relationships_deleted)

    async def delete(
        self, namespace: str, pattern: str, ids: Sequence[str] | None, wanted: Mapping[str, Any]
    ) -> QueryResult:
        where, params = conditions(wanted)
        if ids is not None:
            where, params = f" AND x.{ID} IN $ids{where}", {"ids": list(ids), **params}
        async with self.lock:
            return await self.graph(namespace).query(f"MATCH {pattern} WHERE true{where} DELETE x", params)

    # Reading

    async def nodes(self, namespace: str, after: str, limit: int, wanted: Mapping[str, Any]) -> list[Node]:
        where, params = conditions(wanted)
        text = f"MATCH {NODE} WHERE x.{ID} > $after{where} RETURN x ORDER BY x.{ID} LIMIT {limit}"
        result = await self.read(namespace, text, {"after": after, **params})
        return [Node(**as_json(node)) for [node] in result.result_set]
