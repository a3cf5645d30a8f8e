"""The operations of `graph` (SPECIFICATION 7): arguments are read and checked here, the provider does the work."""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass
from typing import Any

from .arguments import Arguments, passes
from .errors import WireError
from .provider import Provider
from .wire import Call, WireHandler

DEFAULT = "default"


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


class GraphProvider(Provider, ABC):
    """The dialects, the limits, and the methods of a graph database."""

    component = "graph"
    dialects: tuple[str, ...] = ()
    max_query_length = 8192

    async def query(self, query: Query) -> list[dict[str, Any]]:
        """Return the records of a query."""
        await self.reached("query")
        return await self.records(query)

    async def stream(self, query: Query) -> AsyncGenerator[dict[str, Any], None]:
        """Yield the records of a query one by one; the probe is reached before each of them."""
        await self.reached("stream_query")
        for number, record in enumerate(await self.records(query)):
            await self.reached("stream_query", chunk=number)
            yield record

    async def records(self, query: Query) -> list[dict[str, Any]]:
        """Evaluate a query; raise `QueryParseError` if it cannot be read."""
        raise NotImplementedError

    @abstractmethod
    async def upsert_nodes(self, namespace: str, nodes: Sequence[Node]) -> None:
        """Write all nodes; each replaces the one with its id. The first write creates a namespace."""

    @abstractmethod
    async def upsert_edges(self, namespace: str, edges: Sequence[Edge]) -> None:
        """Write all edges, or none if one lacks a node."""

    @abstractmethod
    async def delete_nodes(self, namespace: str, ids: Sequence[str] | None, wanted: Mapping[str, Any]) -> int:
        """Delete the nodes that have one of the ids (None: any id) and pass the filter, and their edges; count the nodes."""

    @abstractmethod
    async def delete_edges(self, namespace: str, ids: Sequence[str] | None, wanted: Mapping[str, Any]) -> int:
        """Delete edges likewise."""

    @abstractmethod
    async def nodes(self, namespace: str, after: str, limit: int, wanted: Mapping[str, Any]) -> list[Node]:
        """Return the first nodes that pass a filter, in the order of their ids, after one id."""


class GraphAdapter(WireHandler[GraphProvider]):
    """The wire handler of `graph`. To offer a denied operation, add a method, move it to `unary`, and claim it."""

    component = "graph"
    unary: tuple[str, ...] = (
        "capabilities",
        "query",
        "upsert_nodes",
        "upsert_edges",
        "delete_nodes",
        "delete_edges",
        "bulk_vertices",
        "health",
    )
    streams: tuple[str, ...] = ("stream_query",)
    denied: tuple[str, ...] = ("batch", "transaction", "traversal", "get_schema")
    claims: Mapping[str, Any] = {
        "supports_stream_query": True,
        "supports_namespaces": True,
        "supports_property_filters": True,
        "supports_bulk_vertices": True,
        "concurrency": 64,
        "rate_limit_qps": 100,
        "supports_deadline": True,
        "supports_batch": False,
        "supports_transaction": False,
        "supports_traversal": False,
        "supports_schema": False,
        "supports_path_queries": False,
        "supports_multi_tenant": False,
        "supports_caching": False,
        "idempotent_writes": False,
    }

    def limits(self) -> dict[str, Any]:
        """The dialects and the length of a query."""
        limits = {"limits": {"max_query_length": self.provider.max_query_length}} if self.provider.dialects else {}
        return {"dialects": list(self.provider.dialects), **limits}

    # Queries

    async def query(self, call: Call) -> dict[str, Any]:
        dialect, query = self.read_query(call.args)
        records = await call.in_time(lambda: self.provider.query(query), query.timeout_ms)
        summary = {"records": len(records)}
        return {"records": records, "summary": summary, "dialect": dialect, "namespace": query.namespace}

    async def stream_query(self, call: Call) -> AsyncIterator[dict[str, Any]]:
        _, query = self.read_query(call.args)
        count = 0
        async with aclosing(self.provider.stream(query)) as records:
            while (record := await call.in_time(lambda: anext(records, None), query.timeout_ms)) is not None:
                count += 1
                yield {"records": [record], "is_final": False}
        yield {"records": [], "is_final": True, "summary": {"records": count}}

    def read_query(self, args: Arguments) -> tuple[str, Query]:
        """The dialect and the query; parameters are never put into the text."""
        dialect = args.optional_text("dialect") or self.provider.dialects[0]
        if dialect not in self.provider.dialects:
            supported = list(self.provider.dialects)
            raise WireError("NotSupported", "args.dialect is not supported", supported_dialects=supported)
        text, most = args.text("text"), self.provider.max_query_length
        if len(text) > most:
            raise args.invalid("text", f"must have at most {most} characters", max_query_length=most)
        timeout_ms = args.number("timeout_ms", 0) or None
        return dialect, Query(self.namespace(args), text, args.object("params"), timeout_ms)

    # Writes: an item that cannot be written refuses the whole request (R14), so that none of it is ever lost

    async def upsert_nodes(self, call: Call) -> dict[str, Any]:
        items = call.args.objects("nodes", required=True)
        namespace = self.namespace_of(call.args, items)
        nodes = [Node(item.filled("id"), self.labels(item), self.properties(item)) for item in items]
        await self.provider.upsert_nodes(namespace, nodes)
        return {"processed_count": len(nodes), "failed_count": 0, "failures": []}

    async def upsert_edges(self, call: Call) -> dict[str, Any]:
        items = call.args.objects("edges", required=True)
        namespace = self.namespace_of(call.args, items)
        edges = [self.edge(item) for item in items]
        await self.provider.upsert_edges(namespace, edges)
        return {"processed_count": len(edges), "failed_count": 0, "failures": []}

    async def delete_nodes(self, call: Call) -> dict[str, Any]:
        deleted = await self.provider.delete_nodes(*self.selection(call.args))
        return {"processed_count": deleted, "failed_count": 0, "failures": []}

    async def delete_edges(self, call: Call) -> dict[str, Any]:
        deleted = await self.provider.delete_edges(*self.selection(call.args))
        return {"processed_count": deleted, "failed_count": 0, "failures": []}

    async def bulk_vertices(self, call: Call) -> dict[str, Any]:
        """Return a page of nodes in the order of their ids; the cursor is the last id of the page before."""
        args, prefix = call.args, "after:"
        namespace, wanted = self.namespace(args), self.filter(args)
        limit, cursor = args.integer("limit", 1) or 100, args.optional_text("cursor") or prefix
        if not cursor.startswith(prefix):
            raise args.invalid("cursor", "must come from the page before")
        nodes = await self.provider.nodes(namespace, cursor.removeprefix(prefix), limit + 1, wanted)
        more = len(nodes) > limit
        return {
            "nodes": [{**asdict(node), "namespace": namespace} for node in nodes[:limit]],
            "next_cursor": prefix + nodes[limit - 1].id if more else None,
            "has_more": more,
        }

    # Arguments

    def namespace(self, args: Arguments) -> str:
        name = args.optional_text("namespace") or DEFAULT
        if name != DEFAULT and not self.claims["supports_namespaces"]:
            raise args.invalid("namespace", "does not exist", error="NamespaceNotFound")
        return name

    def namespace_of(self, args: Arguments, items: Sequence[Arguments]) -> str:
        """Return the one namespace of all items, which the request or each of them names."""
        named = args.optional_text("namespace")
        found = {self.namespace(item) if item.optional_text("namespace") else self.namespace(args) for item in items}
        found = found or {self.namespace(args)}
        if len(found) > 1 or (named and found != {named}):
            raise args.invalid("namespace", "must be that of each item")
        return found.pop()

    def edge(self, item: Arguments) -> Edge:
        name, src, dst, label = map(item.filled, ("id", "src", "dst", "label"))
        return Edge(name, src, dst, label, self.properties(item))

    def labels(self, item: Arguments) -> list[str]:
        labels: list[str] = item.list_of("a string", "labels")
        if not all(labels):
            raise item.invalid("labels", "must not be empty")
        return labels

    def properties(self, item: Arguments) -> dict[str, Any]:
        properties = dict(item.object("properties"))
        if any(isinstance(value, Mapping) for value in properties.values()):
            raise item.invalid("properties", "must hold plain values or lists of them")
        return properties

    def filter(self, args: Arguments, name: str = "filter") -> Mapping[str, Any]:
        """Read a filter: only equality. A filter that the provider cannot serve must be refused, never ignored."""
        wanted = args.object(name)
        if any(isinstance(value, (Mapping, list)) for value in wanted.values()):
            raise args.invalid(name, "must map names to plain values", error="FilterSyntaxError")
        return wanted

    def selection(self, args: Arguments) -> tuple[str, list[str] | None, Mapping[str, Any]]:
        """Read a selection to delete: by ids (None: any id), by filter, or by both."""
        if args.values.get("ids") is None and args.values.get("filter") is None:
            raise args.invalid("ids", "or a filter must say what to delete")
        ids = None if args.values.get("ids") is None else args.list_of("a string", "ids")
        return self.namespace(args), ids, self.filter(args)


def selected(item: Node | Edge, ids: Sequence[str] | None, wanted: Mapping[str, Any]) -> bool:
    """Tell if an item has one of the ids (None: any id), and all wanted properties."""
    return (ids is None or item.id in ids) and passes(item.properties, wanted)
