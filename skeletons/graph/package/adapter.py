"""The operations of `graph` (SPECIFICATION 7): arguments are read and checked here, `provider.py` does the work."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import asdict
from typing import Any, TypeVar

from .arguments import Arguments
from .errors import WireError
from .provider import Edge, Graph, Node, Provider
from .query import QueryError
from .wire import Call, Metrics, WireHandler

DEFAULT = "default"
T = TypeVar("T")


class Adapter(WireHandler):
    """A wire handler: `handle` and `handle_stream` are inherited, each operation is a method."""

    component = "graph"
    unary = (
        "capabilities",
        "query",
        "upsert_nodes",
        "upsert_edges",
        "delete_nodes",
        "delete_edges",
        "bulk_vertices",
        "health",
    )
    streams = ("stream_query",)
    # EDIT: to offer one of these, add a method, move its name to `unary`, and claim its flag
    denied = ("batch", "transaction", "traversal", "get_schema")

    def __init__(self, provider: Provider, metrics: Metrics | None = None) -> None:
        super().__init__(metrics)
        self.provider = provider

    async def capabilities(self, call: Call) -> dict[str, Any]:
        """EDIT: what you offer. What is claimed is tested, and what is denied is not applicable."""
        return {
            "server": "COMPONENT-adapter",
            "version": "0.1.0",
            "protocol": "graph/v1.0",
            "dialects": list(self.provider.dialects),
            "limits": {"max_query_length": self.provider.max_query_length},
            "supports_stream_query": True,
            "supports_namespaces": True,
            "supports_property_filters": True,
            "supports_bulk_vertices": True,
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

    async def health(self, call: Call) -> dict[str, Any]:
        """A provider that is down is a report, not an error."""
        report = {"server": "COMPONENT-adapter", "version": "0.1.0"}
        if await self.provider.is_up():
            return {"ok": True, "status": "ok", **report}
        return {"ok": False, "status": "down", "reason": "the provider does not answer", **report}

    # Queries

    async def query(self, call: Call) -> dict[str, Any]:
        asked, graph = self.read_query(call.args), self.to_read(call.args)
        records = await self.in_time(call, lambda: self.provider.query(graph, asked["text"], asked["params"]))
        summary = {"records": len(records)}
        return {"records": records, "summary": summary, "dialect": asked["dialect"], "namespace": asked["namespace"]}

    async def stream_query(self, call: Call) -> AsyncIterator[dict[str, Any]]:
        asked, graph = self.read_query(call.args), self.to_read(call.args)
        count = 0
        async with aclosing(self.provider.stream(graph, asked["text"], asked["params"])) as records:
            while (record := await self.in_time(call, lambda: anext(records, None))) is not None:
                count += 1
                yield {"records": [record], "is_final": False}
        yield {"records": [], "is_final": True, "summary": {"records": count}}

    async def in_time(self, call: Call, work: Callable[[], Awaitable[T]]) -> T:
        """Await the library until the deadline, or for the `timeout_ms` of the request."""
        try:
            return await call.in_time(work, call.args.number("timeout_ms", 0) or None)
        except QueryError as error:  # EDIT: what your library raises for a text that it cannot read
            raise WireError("QueryParseError", f"args.text {error}") from None

    def read_query(self, args: Arguments) -> dict[str, Any]:
        dialect = args.optional_text("dialect") or self.provider.dialects[0]
        if dialect not in self.provider.dialects:
            supported = list(self.provider.dialects)
            raise WireError("NotSupported", "args.dialect is not supported", supported_dialects=supported)
        text, most = args.text("text"), self.provider.max_query_length
        if len(text) > most:
            raise args.invalid("text", f"must have at most {most} characters", max_query_length=most)
        return {
            "dialect": dialect,
            "text": text,
            "params": args.object("params"),
            "namespace": args.optional_text("namespace") or DEFAULT,
        }

    # Writes: an item that cannot be written refuses the whole request (R14), so that none of it is ever lost

    async def upsert_nodes(self, call: Call) -> dict[str, Any]:
        items = call.args.objects("nodes", required=True)
        namespace = self.namespace_of(call.args, items)
        nodes = [Node(item.filled("id"), self.labels(item), self.properties(item)) for item in items]
        await self.provider.upsert_nodes(self.provider.graphs.setdefault(namespace, Graph(namespace)), nodes)
        return {"processed_count": len(nodes), "failed_count": 0, "failures": []}

    async def upsert_edges(self, call: Call) -> dict[str, Any]:
        items = call.args.objects("edges", required=True)
        namespace = self.namespace_of(call.args, items)
        graph = self.provider.graphs.get(namespace, Graph(namespace))
        edges = [self.edge(item) for item in items]
        if not all(end in graph.nodes for edge in edges for end in (edge.src, edge.dst)):
            raise WireError("VertexNotFound", "src and dst of an edge must be nodes that exist")
        await self.provider.upsert_edges(graph, edges)
        return {"processed_count": len(edges), "failed_count": 0, "failures": []}

    async def delete_nodes(self, call: Call) -> dict[str, Any]:
        graph, ids, wanted = self.selection(call.args)
        deleted = await self.provider.delete_nodes(graph, ids, wanted)
        return {"processed_count": deleted, "failed_count": 0, "failures": []}

    async def delete_edges(self, call: Call) -> dict[str, Any]:
        graph, ids, wanted = self.selection(call.args)
        deleted = await self.provider.delete_edges(graph, ids, wanted)
        return {"processed_count": deleted, "failed_count": 0, "failures": []}

    async def bulk_vertices(self, call: Call) -> dict[str, Any]:
        """A page of nodes in the order of their ids; the cursor is the id that the page comes after."""
        args, prefix = call.args, "after:"
        graph, wanted = self.to_read(args), self.filter(args)
        limit, cursor = args.integer("limit", 1) or 100, args.optional_text("cursor") or prefix
        if not cursor.startswith(prefix):
            raise args.invalid("cursor", "must come from the page before")
        nodes = await self.provider.nodes(graph, cursor.removeprefix(prefix), limit + 1, wanted)
        more = len(nodes) > limit
        return {
            "nodes": [{**asdict(node), "namespace": graph.namespace} for node in nodes[:limit]],
            "next_cursor": prefix + nodes[limit - 1].id if more else None,
            "has_more": more,
        }

    # Reading arguments

    def to_read(self, args: Arguments) -> Graph:
        """The graph of a namespace, which the first write to it makes."""
        graph = self.provider.graphs.get(args.optional_text("namespace") or DEFAULT)
        if graph is None:
            raise args.invalid("namespace", "does not exist", error="NamespaceNotFound")
        return graph

    def namespace_of(self, args: Arguments, items: Sequence[Arguments]) -> str:
        """Where items are written: all of them to one namespace, which the request or each of them names."""
        named = args.optional_text("namespace")
        found = {item.optional_text("namespace") or named or DEFAULT for item in items} or {named or DEFAULT}
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

    def filter(self, args: Arguments) -> Mapping[str, Any]:
        """EDIT: here only equality; what your library cannot serve has to be refused, never ignored."""
        wanted = args.object("filter")
        if any(isinstance(value, (Mapping, list)) for value in wanted.values()):
            raise args.invalid("filter", "must map names to plain values", error="FilterSyntaxError")
        return wanted

    def selection(self, args: Arguments) -> tuple[Graph, list[str] | None, Mapping[str, Any]]:
        """What to delete: by ids (None: whatever id), by filter, or what both name."""
        if args.values.get("ids") is None and args.values.get("filter") is None:
            raise args.invalid("ids", "or a filter must say what to delete")
        ids = None if args.values.get("ids") is None else args.list_of("a string", "ids")
        namespace = args.optional_text("namespace") or DEFAULT
        return self.provider.graphs.get(namespace, Graph(namespace)), ids, self.filter(args)
