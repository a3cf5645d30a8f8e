"""The embedded reference adapter for graphs: a property graph in memory instead of a database.

Each operation reads its arguments, reaches the provider and only then looks at the data, so that what fails on
the way has changed nothing. Everything that is not particular to graphs is in `foundation`.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from pytest_corpus.reference.errors import AdapterError, invalid
from pytest_corpus.reference.foundation import Chunk, Provider, ReferenceAdapter, digest, remembered
from pytest_corpus.reference.graph.arguments import Journey, Question
from pytest_corpus.reference.graph.store import DEFAULT_NAMESPACE, Edge, Entity, Graph, Node, Space
from pytest_corpus.reference.graph.writes import Writes
from pytest_corpus.reference.request import Call
from pytest_corpus.reference.telemetry import MetricsSink


class ReferenceGraph(Writes, ReferenceAdapter):
    """All operations of SPECIFICATION 7, with every optional one."""

    component = "graph"
    features: Mapping[str, bool] = {
        "supports_streaming": True,
        "supports_namespaces": True,
        "supports_property_filters": True,
        "supports_bulk_ops": True,
        "supports_batch": True,
        "supports_schema_ops": True,
        "supports_txn": True,
        "supports_traversal": True,
        "supports_path_queries": False,
        "supports_deadline": True,
        "supports_multi_tenant": True,
        "supports_caching": True,
        "idempotent_writes": True,
    }
    replayable = frozenset({*Writes.writes, "batch", "transaction"})
    max_batch_ops = 24
    records_in_chunk = 2

    def __init__(self, *, metrics: MetricsSink | None = None, provider: Provider | None = None) -> None:
        super().__init__(metrics=metrics, provider=provider)
        self.tenants: dict[str | None, Space] = {}

    # Operations

    async def capabilities(self, call: Call) -> dict[str, Any]:
        """The common facts, dialects and limits (SPECIFICATION 7.2), and what a batch may hold."""
        common = await super().capabilities(call)
        return {
            **common,
            "dialects": [*self.dialects],
            "limits": {
                **common["limits"],
                "max_batch_ops": self.max_batch_ops,
                "max_traversal_depth": self.max_traversal_depth,
                "max_query_length": self.max_query_length,
            },
            "extensions": {**common["extensions"], "reference:batch_ops": [*self.batch_operations]},
        }

    async def upsert_nodes(self, call: Call) -> dict[str, Any]:
        return await self.write(call)

    async def upsert_edges(self, call: Call) -> dict[str, Any]:
        return await self.write(call)

    async def delete_nodes(self, call: Call) -> dict[str, Any]:
        return await self.write(call)

    async def delete_edges(self, call: Call) -> dict[str, Any]:
        return await self.write(call)

    async def write(self, call: Call) -> dict[str, Any]:
        """`graph.types.partial_success_result` of one write."""
        change = self.read_change(call.op, call.args)
        await self.reach(call)
        draft = self.draft(call)
        outcome = change(draft)
        self.commit(call, draft)
        return self.partial_success(outcome)

    async def query(self, call: Call) -> dict[str, Any]:
        """`{records, summary, dialect, namespace}`."""
        question = self.read_question(call.args)
        return await remembered(self.cache, self.cache_key(call, question), partial(self.answer, call, question))

    async def answer(self, call: Call, question: Question) -> dict[str, Any]:
        await self.reach_in_time(call, question.timeout_ms)
        return self.query_result(self.space(call), question)

    async def stream_query(self, call: Call) -> AsyncGenerator[Chunk, None]:
        """Chunks `{records, is_final}`, the last one with a `summary`."""
        question = self.read_question(call.args)
        await self.reach_in_time(call, question.timeout_ms)
        for index, chunk in enumerate(self.chunks(self.records(self.space(call), question))):
            await self.reach(call, chunk=index)
            yield chunk

    async def bulk_vertices(self, call: Call) -> dict[str, Any]:
        """One page of `nodes` in the order of their ids, `next_cursor` and `has_more`."""
        namespace, limit = self.read_namespace(call.args), self.read_limit(call.args)
        after, wanted = self.read_cursor(call.args), self.read_filter(call.args, "filter")
        await self.reach(call)
        return self.page(self.vertices(self.graph(self.space(call), namespace), wanted, after), limit)

    async def batch(self, call: Call) -> dict[str, Any]:
        """One of `results` for each operation, in order; each is applied wholly or not at all."""
        operations = self.read_operations(call.args, "ops")
        self.check_batch_size(len(operations))
        await self.reach(call, items=len(operations))
        results = []
        for index, (op, args) in enumerate(operations):
            draft = self.draft(call)
            result = self.step(draft, index, op, args)
            if result["ok"]:
                self.commit(call, draft)
            results.append(result)
        return {"results": results, "success": all(result["ok"] for result in results)}

    async def transaction(self, call: Call) -> dict[str, Any]:
        """All operations, or none and the one that failed."""
        operations = self.read_operations(call.args, "operations")
        self.read_namespace(call.args)
        await self.reach_in_time(call, self.read_timeout(call.args), items=len(operations))
        draft, results = self.draft(call), []
        for index, (op, args) in enumerate(operations):
            result = self.step(draft, index, op, args)
            if not result["ok"]:
                return {"results": [result], "success": False, "error": result["error"]}
            results.append(result)
        self.commit(call, draft)
        return {"results": results, "success": True}

    async def traversal(self, call: Call) -> dict[str, Any]:
        """The `nodes`, `relationships` and `paths` within `max_depth` steps of the start nodes."""
        journey = self.read_journey(call.args)
        await self.reach(call)
        graph = self.graph(self.space(call), journey.namespace)
        paths, crossed = self.travel(graph, journey)
        return {
            "nodes": [graph.nodes[reached].to_wire() for reached in paths],
            "relationships": [edge.to_wire() for edge in crossed],
            "paths": [path for path in paths.values() if len(path) > 1],
            "summary": {"nodes": len(paths), "relationships": len(crossed)},
            "namespace": journey.namespace,
        }

    async def get_schema(self, call: Call) -> dict[str, Any]:
        """What labels of `nodes` and `edges` the tenant has, each with its `count` and the types of `properties`."""
        await self.reach(call)
        graphs = self.space(call).values()
        nodes = [(label, node) for graph in graphs for node in graph.nodes.values() for label in node.labels]
        edges = [(edge.label, edge) for graph in graphs for edge in graph.edges.values()]
        namespaces = {"namespaces": sorted(self.space(call))}
        return {"nodes": self.describe(nodes), "edges": self.describe(edges), "metadata": namespaces}

    # The data of a tenant

    def space(self, call: Call) -> Space:
        return self.tenants.get(call.tenant_hash) or {DEFAULT_NAMESPACE: Graph()}

    def draft(self, call: Call) -> Space:
        return {namespace: graph.draft() for namespace, graph in self.space(call).items()}

    def commit(self, call: Call, draft: Space) -> None:
        self.tenants[call.tenant_hash] = draft
        self.cache.clear()

    # Pages and batches

    def vertices(self, graph: Graph, wanted: Mapping[str, Any], after: str | None) -> list[Node]:
        """The nodes that fit a filter, in the order of their ids, from one id on."""
        nodes = sorted(graph.nodes.values(), key=lambda node: node.id)
        return [node for node in nodes if self.matches(node, wanted) and (after is None or node.id > after)]

    def page(self, nodes: Sequence[Node], limit: int) -> dict[str, Any]:
        """The first `limit` nodes, and what leads to the rest of them."""
        has_more = len(nodes) > limit
        cursor = self.cursor(nodes[limit - 1]) if has_more else None
        return {"nodes": [node.to_wire() for node in nodes[:limit]], "next_cursor": cursor, "has_more": has_more}

    def check_batch_size(self, size: int) -> None:
        if size > self.max_batch_ops:
            raise invalid(
                "args.ops",
                "TOO_MANY",
                f"must be at most {self.max_batch_ops}",
                max_batch_ops=self.max_batch_ops,
                suggested_batch_reduction=math.ceil(100 - 100 * self.max_batch_ops / size),
            )

    # Queries

    async def reach_in_time(self, call: Call, timeout_ms: float | None, **facts: Any) -> None:
        """Call the provider for no longer than the request's own `timeout_ms` allows."""
        try:
            await asyncio.wait_for(self.reach(call, **facts), timeout_ms / 1000 if timeout_ms else None)
        except asyncio.TimeoutError:
            raise AdapterError("DeadlineExceeded", "The timeout of the request is over") from None

    def chunks(self, records: Sequence[dict[str, Any]]) -> Iterator[Chunk]:
        """`graph.types.chunk` objects, a few records each; without records it is one final chunk."""
        for start in range(0, len(records) or 1, self.records_in_chunk):
            end = start + self.records_in_chunk
            chunk = {"records": [*records[start:end]], "is_final": end >= len(records)}
            yield {**chunk, "summary": {"records": len(records)}} if chunk["is_final"] else chunk

    def cache_key(self, call: Call, question: Question) -> str | None:
        """A hash over tenant, dialect, text, parameters and namespace (SPECIFICATION 16.3)."""
        if not self.features["supports_caching"]:
            return None
        return digest([call.tenant_hash, question.dialect, call.args.values])

    # Traversals and the schema

    def travel(self, graph: Graph, journey: Journey) -> tuple[dict[str, list[str]], list[Edge]]:
        """The path of ids to each node that is reached, shortest first, and the edges that were crossed."""
        if not set(journey.start_nodes) <= graph.nodes.keys():
            raise AdapterError("VertexNotFound", "args.start_nodes must be nodes of the namespace")
        paths = {start: [start] for start in journey.start_nodes}
        crossed: dict[str, Edge] = {}
        front = list(paths)
        for _ in range(journey.max_depth):
            following = []
            for here in front:
                for edge, there in graph.neighbours(here, journey.direction):
                    if not self.crosses(journey, edge, graph.nodes[there]):
                        continue
                    crossed[edge.id] = edge
                    if there not in paths:
                        paths[there] = [*paths[here], edge.id, there]
                        following.append(there)
            front = following
        return paths, list(crossed.values())

    def crosses(self, journey: Journey, edge: Edge, node: Node) -> bool:
        """Whether a traversal goes over an edge to a node."""
        typed = not journey.relationship_types or edge.label in journey.relationship_types
        return typed and self.matches(edge, journey.relationship_filters) and self.matches(node, journey.node_filters)

    def describe(self, labelled: Sequence[tuple[str, Entity]]) -> dict[str, Any]:
        """By label: how many entities have it, and of what type their properties are; never a value of one."""
        described: dict[str, Any] = {}
        for label, entity in labelled:
            entry = described.setdefault(label, {"count": 0, "properties": {}})
            entry["count"] += 1
            entry["properties"] |= {key: type(value).__name__ for key, value in entity.properties.items()}
        return described
