"""The operations of `graph` (SPECIFICATION 7): arguments are read and checked here, `provider.py` does the work."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import asdict
from typing import Any

from .arguments import Arguments
from .errors import WireError
from .provider import Edge, Node, Provider, Query
from .wire import Call, Metrics, WireHandler

DEFAULT = "default"


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
    denied = ("batch", "transaction", "traversal", "get_schema")

    def __init__(self, provider: Provider, metrics: Metrics | None = None) -> None:
        super().__init__(metrics)
        self.provider = provider

    async def capabilities(self, call: Call) -> dict[str, Any]:
        """What is offered."""
        return {
            "server": "graph-oxigraph",
            "version": "0.1.0",
            "protocol": "graph/v1.0",
            "dialects": list(self.provider.dialects),
            "limits": {"max_query_length": self.provider.max_query_length},
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

    async def health(self, call: Call) -> dict[str, Any]:
        """A provider that is down is a report, not an error."""
        report = {"server": "graph-oxigraph", "version": "0.1.0"}
        if await self.provider.is_up():
            return {"ok": True, "status": "ok", **report}
        return {"ok": False, "status": "down", "reason": "the provider does not answer", **report}

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
        """The dialect and the query; parameters stay beside the text, and are never put into it."""
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
        """A page of nodes in the order of their ids; the cursor is the id that the page comes after."""
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

    # Reading arguments

    def namespace(self, args: Arguments) -> str:
        return args.optional_text("namespace") or DEFAULT

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
        """Only equality; what is asked beyond it is refused, never ignored."""
        wanted = args.object("filter")
        if any(isinstance(value, (Mapping, list)) for value in wanted.values()):
            raise args.invalid("filter", "must map names to plain values", error="FilterSyntaxError")
        return wanted

    def selection(self, args: Arguments) -> tuple[str, list[str] | None, Mapping[str, Any]]:
        """What to delete: by ids (None: whatever id), by filter, or what both name."""
        if args.values.get("ids") is None and args.values.get("filter") is None:
            raise args.invalid("ids", "or a filter must say what to delete")
        ids = None if args.values.get("ids") is None else args.list_of("a string", "ids")
        return self.namespace(args), ids, self.filter(args)
