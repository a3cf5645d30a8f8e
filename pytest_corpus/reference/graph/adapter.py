"""The embedded reference adapter for graphs: a property graph in memory instead of a database.

Each operation reads its arguments, calls the provider and only then uses the data, so a failed call changes nothing.
`foundation` has everything that is not specific to graphs.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from functools import partial
from typing import Any

from pytest_corpus.reference.foundation import Chunk, Provider, digest, remember
from pytest_corpus.reference.graph.batches import Batches
from pytest_corpus.reference.graph.pages import Pages
from pytest_corpus.reference.graph.queries import GraphQuestion
from pytest_corpus.reference.graph.store import Entity, Space
from pytest_corpus.reference.graph.traversals import Traversals
from pytest_corpus.reference.graph.writes import GraphWrites
from pytest_corpus.reference.request import Call
from pytest_corpus.reference.telemetry import MetricsSink


class ReferenceGraph(Batches, Traversals, Pages):
    """All operations of SPECIFICATION 7, including the optional ones."""

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
    replayable = frozenset({*GraphWrites.writes, "batch", "transaction"})

    def __init__(self, *, metrics: MetricsSink | None = None, provider: Provider | None = None) -> None:
        super().__init__(metrics=metrics, provider=provider)
        self.tenants: dict[str | None, Space] = {}

    async def capabilities(self, call: Call) -> dict[str, Any]:
        """Return the common facts, dialects and limits (SPECIFICATION 7.2), and the operations allowed in a batch."""
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
        """Carry out one write; return its `graph.types.partial_success_result`."""
        change = self.read_change(call.op, call.args)
        await self.reach(call)
        draft = self.draft(call)
        outcome = change(draft)
        self.commit(call, draft)
        return self.partial_success(outcome)

    async def query(self, call: Call) -> dict[str, Any]:
        """Return `{records, summary, dialect, namespace}`."""
        question = self.read_question(call.args)
        return await remember(self.cache, self.cache_key(call, question), partial(self.answer, call, question))

    async def answer(self, call: Call, question: GraphQuestion) -> dict[str, Any]:
        await self.reach_in_time(call, question.timeout_ms)
        return self.query_result(self.space(call), question)

    async def stream_query(self, call: Call) -> AsyncGenerator[Chunk, None]:
        """Yield chunks `{records, is_final}`, the last one with a `summary`."""
        question = self.read_question(call.args)
        await self.reach_in_time(call, question.timeout_ms)
        for index, chunk in enumerate(self.chunks(self.records(self.space(call), question))):
            await self.reach(call, chunk=index)
            yield chunk

    async def bulk_vertices(self, call: Call) -> dict[str, Any]:
        """Return one page of `nodes` in the order of their ids, with `next_cursor` and `has_more`."""
        namespace, limit = self.read_namespace(call.args), self.read_limit(call.args)
        after, wanted = self.read_cursor(call.args), self.read_filter(call.args, "filter")
        await self.reach(call)
        return self.page(self.vertices(self.graph(self.space(call), namespace), wanted, after), limit)

    async def traversal(self, call: Call) -> dict[str, Any]:
        """Return the `nodes`, `relationships` and `paths` within `max_depth` steps of the start nodes."""
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
        """Return the labels of the tenant's `nodes` and `edges`, each with `count` and the types of `properties`."""
        await self.reach(call)
        graphs = self.space(call).values()
        nodes = [(label, node) for graph in graphs for node in graph.nodes.values() for label in node.labels]
        edges = [(edge.label, edge) for graph in graphs for edge in graph.edges.values()]
        namespaces = {"namespaces": sorted(self.space(call))}
        return {"nodes": self.describe(nodes), "edges": self.describe(edges), "metadata": namespaces}

    def cache_key(self, call: Call, question: GraphQuestion) -> str | None:
        """Return a hash over tenant, dialect, text, parameters and namespace (SPECIFICATION 16.3)."""
        if not self.features["supports_caching"]:
            return None
        return digest([call.tenant_hash, question.dialect, call.args.values])

    def describe(self, labelled: Sequence[tuple[str, Entity]]) -> dict[str, Any]:
        """Return for each label the number of its entities and the types of their properties, without values."""
        described: dict[str, Any] = {}
        for label, entity in labelled:
            entry = described.setdefault(label, {"count": 0, "properties": {}})
            entry["count"] += 1
            entry["properties"] |= {key: type(value).__name__ for key, value in entity.properties.items()}
        return described
