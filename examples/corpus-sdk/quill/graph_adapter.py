"""A graph adapter as a careful author builds it on the published SDK, over a service that speaks JSON.

It overrides the `_do_*` hooks and passes arguments to the constructor, as the SDK asks its authors to; no other
behaviour of the SDK is changed.
"""

from collections.abc import AsyncIterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from corpus_sdk.graph import graph_base as sdk

from .authoring import CheckedDeadline, Outcome, Provider, Taxonomy
from .service import Service, changed, made, victims

SERVER, VERSION = "quill-graphs", "1.4.0"
TAXONOMY = Taxonomy(sdk)


@dataclass(frozen=True)
class Capabilities(sdk.GraphCapabilities):
    """The SDK's capabilities, and the `extensions` that it has no field for."""

    extensions: Mapping[str, Any] = field(default_factory=dict)


class QuillGraphAdapter(sdk.BaseGraphAdapter):
    """The hooks of the SDK's base adapter over a service.

    Thin mode, because breakers, limiters and caches belong to the router above; deadlines are enforced here.
    """

    def __init__(self, metrics: sdk.MetricsSink | None = None, provider: Provider | None = None) -> None:
        super().__init__(metrics=metrics, mode="thin", deadline_policy=CheckedDeadline(sdk.SimpleDeadline(), TAXONOMY))
        self._service = Service("graph", TAXONOMY, provider)

    async def _do_capabilities(self) -> sdk.GraphCapabilities:
        stated = await self._service.ask("capabilities", {}, None)
        return Capabilities(
            server=SERVER,
            version=VERSION,
            supported_query_dialects=tuple(stated["dialects"]),
            supports_bulk_vertices=True,
            supports_batch=True,
            supports_schema=True,
            idempotent_writes=True,
            supports_multi_tenant=True,
            max_batch_ops=stated["limits"]["max_batch_ops"],
            supports_transaction=True,
            supports_traversal=True,
            max_traversal_depth=stated["limits"]["max_traversal_depth"],
            extensions={"quill:batch_ops": stated["extensions"]["reference:batch_ops"]},
        )

    async def _do_health(self, *, ctx: sdk.OperationContext | None = None) -> Mapping[str, Any]:
        report = await self._service.ask("health", {}, ctx)
        if not report["ok"]:
            raise sdk.Unavailable("the service is down")
        return {**report, "server": SERVER, "version": VERSION}

    async def _do_query(self, spec: sdk.GraphQuerySpec, *, ctx: sdk.OperationContext | None = None) -> sdk.QueryResult:
        return made(sdk.QueryResult, await self._service.ask("query", asked(spec), ctx))

    async def _do_stream_query(
        self, spec: sdk.GraphQuerySpec, *, ctx: sdk.OperationContext | None = None
    ) -> AsyncIterator[sdk.QueryChunk]:
        with Outcome(self._metrics, "graph", "stream_query") as outcome:
            async for chunk in self._service.stream("stream_query", asked(spec), ctx):
                if chunk["is_final"]:
                    outcome.finish()
                yield made(sdk.QueryChunk, chunk)

    async def _do_bulk_vertices(
        self, spec: sdk.BulkVerticesSpec, *, ctx: sdk.OperationContext | None = None
    ) -> sdk.BulkVerticesResult:
        page = await self._service.ask("bulk_vertices", spec, ctx)
        return sdk.BulkVerticesResult(
            [made(sdk.Node, node) for node in page["nodes"]], page.get("next_cursor"), page["has_more"]
        )

    async def _do_traversal(
        self, spec: sdk.GraphTraversalSpec, *, ctx: sdk.OperationContext | None = None
    ) -> sdk.TraversalResult:
        found = await self._service.ask("traversal", spec, ctx)
        nodes = [made(sdk.Node, node) for node in found.pop("nodes")]
        return sdk.TraversalResult(nodes, [made(sdk.Edge, edge) for edge in found.pop("relationships")], **found)

    async def _do_get_schema(self, *, ctx: sdk.OperationContext | None = None) -> sdk.GraphSchema:
        return made(sdk.GraphSchema, await self._service.ask("get_schema", {}, ctx))

    async def _do_upsert_nodes(
        self, spec: sdk.UpsertNodesSpec, *, ctx: sdk.OperationContext | None = None
    ) -> sdk.UpsertResult:
        return changed(sdk.UpsertResult, await self._service.ask("upsert_nodes", spec, ctx))

    async def _do_upsert_edges(
        self, spec: sdk.UpsertEdgesSpec, *, ctx: sdk.OperationContext | None = None
    ) -> sdk.UpsertResult:
        return changed(sdk.UpsertResult, await self._service.ask("upsert_edges", spec, ctx))

    async def _do_delete_nodes(
        self, spec: sdk.DeleteNodesSpec, *, ctx: sdk.OperationContext | None = None
    ) -> sdk.DeleteResult:
        return changed(sdk.DeleteResult, await self._service.ask("delete_nodes", victims(spec), ctx))

    async def _do_delete_edges(
        self, spec: sdk.DeleteEdgesSpec, *, ctx: sdk.OperationContext | None = None
    ) -> sdk.DeleteResult:
        return changed(sdk.DeleteResult, await self._service.ask("delete_edges", victims(spec), ctx))

    async def _do_batch(
        self, ops: list[sdk.BatchOperation], *, ctx: sdk.OperationContext | None = None
    ) -> sdk.BatchResult:
        return made(sdk.BatchResult, await self._service.ask("batch", {"ops": list(map(asdict, ops))}, ctx))

    async def _do_transaction(
        self, operations: list[sdk.BatchOperation], *, ctx: sdk.OperationContext | None = None
    ) -> sdk.BatchResult:
        return made(
            sdk.BatchResult, await self._service.ask("transaction", {"operations": list(map(asdict, operations))}, ctx)
        )


def asked(spec: sdk.GraphQuerySpec) -> dict[str, Any]:
    """A query without the field that says which of the two operations it is for."""
    return {key: value for key, value in asdict(spec).items() if key != "stream"}
