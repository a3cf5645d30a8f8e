"""The operations of `graph` (SPECIFICATION 7): arguments are read and checked here, `provider.py` does the work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from .arguments import Arguments
from .provider import DIRECTIONS, Edge, Journey, Node, Provider
from .wire import Call, Metrics, WireHandler

DEFAULT = "default"


class Adapter(WireHandler):
    """A wire handler: `handle` and `handle_stream` are inherited, each operation is a method."""

    component = "graph"
    unary = (
        "capabilities",
        "upsert_nodes",
        "upsert_edges",
        "delete_nodes",
        "delete_edges",
        "bulk_vertices",
        "traversal",
        "get_schema",
        "health",
    )
    denied = ("query", "stream_query", "batch", "transaction")

    def __init__(self, provider: Provider, metrics: Metrics | None = None) -> None:
        super().__init__(metrics)
        self.provider = provider

    async def capabilities(self, call: Call) -> dict[str, Any]:
        """What is offered: everything but queries, for NetworkX has no query language."""
        return {
            "server": "graph-networkx",
            "version": "0.1.0",
            "protocol": "graph/v1.0",
            "dialects": [],
            "max_traversal_depth": self.provider.max_depth,
            "concurrency": 64,
            "rate_limit_qps": 100,
            "supports_stream_query": False,
            "supports_namespaces": True,
            "supports_property_filters": True,
            "supports_bulk_vertices": True,
            "supports_deadline": True,
            "supports_batch": False,
            "supports_transaction": False,
            "supports_traversal": True,
            "supports_schema": True,
            "supports_path_queries": False,
            "supports_multi_tenant": False,
            "supports_caching": False,
            "idempotent_writes": False,
        }

    async def health(self, call: Call) -> dict[str, Any]:
        """A provider that is down is a report, not an error."""
        report = {"server": "graph-networkx", "version": "0.1.0"}
        if await self.provider.is_up():
            return {"ok": True, "status": "ok", **report}
        return {"ok": False, "status": "down", "reason": "the provider does not answer", **report}

    # Reading

    async def traversal(self, call: Call) -> dict[str, Any]:
        """What lies within `max_depth` steps; a path is the ids of nodes and edges in turns."""
        journey = self.read_journey(call.args)
        nodes, edges, paths = await self.provider.traverse(journey)
        return {
            "nodes": [asdict(node) for node in nodes],
            "relationships": [asdict(edge) for edge in edges],
            "paths": paths,
            "summary": {"nodes": len(nodes), "relationships": len(edges)},
            "namespace": journey.namespace,
        }

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

    async def get_schema(self, call: Call) -> dict[str, Any]:
        nodes, edges = await self.provider.labels()
        return {"nodes": nodes, "edges": edges, "metadata": {}}

    def read_journey(self, args: Arguments) -> Journey:
        start: list[str] = args.list_of("a string", "start_nodes", required=True)
        if not start:
            raise args.invalid("start_nodes", "must name a node")
        direction = args.optional_text("direction") or DIRECTIONS[0]
        if direction not in DIRECTIONS:
            raise args.invalid("direction", f"must be one of {', '.join(DIRECTIONS)}")
        return Journey(
            self.namespace(args),
            start,
            args.integer("max_depth", 1, self.provider.max_depth) or 1,
            direction,
            args.list_of("a string", "relationship_types"),
            self.filter(args, "node_filters"),
            self.filter(args, "relationship_filters"),
        )

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

    def filter(self, args: Arguments, name: str = "filter") -> Mapping[str, Any]:
        """Only equality; what is asked beyond it is refused, never ignored."""
        wanted = args.object(name)
        if any(isinstance(value, (Mapping, list)) for value in wanted.values()):
            raise args.invalid(name, "must map names to plain values", error="FilterSyntaxError")
        return wanted

    def selection(self, args: Arguments) -> tuple[str, list[str] | None, Mapping[str, Any]]:
        """What to delete: by ids (None: whatever id), by filter, or what both name."""
        if args.values.get("ids") is None and args.values.get("filter") is None:
            raise args.invalid("ids", "or a filter must say what to delete")
        ids = None if args.values.get("ids") is None else args.list_of("a string", "ids")
        return self.namespace(args), ids, self.filter(args)
