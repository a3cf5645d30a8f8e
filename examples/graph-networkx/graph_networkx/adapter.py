"""The adapter for NetworkX, which has no query language: traversals and a schema instead of queries."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from corpus_wire import Arguments, Call
from corpus_wire.graph import GraphAdapter

from .provider import DIRECTIONS, Journey, Provider


class Adapter(GraphAdapter):
    """Every operation but queries, batches and transactions."""

    provider: Provider
    server = "graph-networkx"
    unary = (*(op for op in GraphAdapter.unary if op != "query"), "traversal", "get_schema")
    streams = ()
    denied = ("query", "stream_query", "batch", "transaction")
    claims: Mapping[str, Any] = {
        **GraphAdapter.claims,
        "supports_stream_query": False,
        "supports_traversal": True,
        "supports_schema": True,
        "max_traversal_depth": Provider.max_depth,
    }

    async def traversal(self, call: Call) -> dict[str, Any]:
        """Return everything within `max_depth` steps; a path is the ids of nodes and edges in turns."""
        journey = self.read_journey(call.args)
        nodes, edges, paths = await self.provider.traverse(journey)
        return {
            "nodes": [asdict(node) for node in nodes],
            "relationships": [asdict(edge) for edge in edges],
            "paths": paths,
            "summary": {"nodes": len(nodes), "relationships": len(edges)},
            "namespace": journey.namespace,
        }

    async def get_schema(self, call: Call) -> dict[str, Any]:
        """Return the labels of nodes and edges."""
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
