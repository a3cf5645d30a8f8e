"""A graph adapter as a careful author builds it on the published SDK, over the backend of `graph_backend`.

It overrides the `_do_*` hooks and passes arguments to the constructor, as the SDK asks its authors to; no other
behaviour of the SDK is changed.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any
from uuid import uuid4

from corpus_sdk.graph.graph_base import (
    BaseGraphAdapter,
    BatchOperation,
    BatchResult,
    BulkVerticesResult,
    BulkVerticesSpec,
    DeadlineExceeded,
    DeleteEdgesSpec,
    DeleteNodesSpec,
    DeleteResult,
    GraphCapabilities,
    GraphQuerySpec,
    GraphSchema,
    GraphTraversalSpec,
    MetricsSink,
    OperationContext,
    QueryChunk,
    QueryResult,
    SimpleDeadline,
    TraversalResult,
    UpsertEdgesSpec,
    UpsertNodesSpec,
    UpsertResult,
)

from . import graph_requests as requests
from .authoring import CheckedDeadline, Gateway, Outcome, Provider, Replays
from .graph_backend import DEFAULT, DIALECTS, TAXONOMY, Backend, Store, parsed

SERVER, VERSION = "quill-graphs", "1.4.0"
MAX_BATCH_OPS, MAX_TRAVERSAL_DEPTH = 32, 8
RECORDS_PER_CHUNK, BYTES_PER_CHUNK = 2, 2**19
FRAME_LIMIT = 2**20 - 2**12
"""The largest record in bytes, so that its frame stays below 1 MiB."""


@dataclass(frozen=True)
class Capabilities(GraphCapabilities):
    """The SDK's capabilities, and the `extensions` that it has no field for."""

    extensions: Mapping[str, Any] = field(default_factory=dict)


def tenant_of(ctx: OperationContext | None) -> str | None:
    """The tenant of a call."""
    tenant: str | None = ctx.tenant if ctx else None
    return tenant


class QuillGraphAdapter(BaseGraphAdapter):
    """The hooks of the SDK's base adapter over `Backend`.

    Thin mode, because breakers, limiters and caches belong to the router above; deadlines are enforced here.
    """

    def __init__(self, metrics: MetricsSink | None = None, provider: Provider | None = None) -> None:
        super().__init__(metrics=metrics, mode="thin", deadline_policy=CheckedDeadline(SimpleDeadline(), TAXONOMY))
        self._backend, self._replays = Backend(), Replays()
        self._gateway = Gateway(provider, TAXONOMY)

    async def _do_capabilities(self) -> GraphCapabilities:
        return Capabilities(
            server=SERVER,
            version=VERSION,
            supported_query_dialects=DIALECTS,
            supports_bulk_vertices=True,
            supports_batch=True,
            supports_schema=True,
            idempotent_writes=True,
            supports_multi_tenant=True,
            max_batch_ops=MAX_BATCH_OPS,
            supports_transaction=True,
            supports_traversal=True,
            max_traversal_depth=MAX_TRAVERSAL_DEPTH,
            extensions={"quill:batch_ops": list(requests.OPERATIONS)},
        )

    # -- questions

    async def _do_query(self, spec: GraphQuerySpec, *, ctx: OperationContext | None = None) -> QueryResult:
        TAXONOMY.check_context(ctx)
        requests.check_query(spec)
        query = parsed(spec)
        await within(spec.timeout_ms, self._gateway.reach("graph.query", ctx))
        records = self._store(ctx).records(query, spec)
        return QueryResult(records, {"records": len(records)}, spec.dialect or DIALECTS[0], spec.namespace or DEFAULT)

    async def _do_stream_query(
        self, spec: GraphQuerySpec, *, ctx: OperationContext | None = None
    ) -> AsyncIterator[QueryChunk]:
        with Outcome(self._metrics, "graph", "stream_query") as outcome:
            TAXONOMY.check_context(ctx)
            requests.check_query(spec)
            query = parsed(spec)
            await within(spec.timeout_ms, self._in_time(ctx))
            records = self._store(ctx).records(query, spec)
            parts = list(portions(records)) or [[]]
            for number, part in enumerate(parts):
                await self._in_time(ctx, chunk=number)
                if number < len(parts) - 1:
                    yield QueryChunk(part)
                else:
                    outcome.finish()
                    yield QueryChunk(part, True, {"records": len(records)})

    async def _do_bulk_vertices(
        self, spec: BulkVerticesSpec, *, ctx: OperationContext | None = None
    ) -> BulkVerticesResult:
        TAXONOMY.check_context(ctx)
        wanted = requests.check_page(spec)
        await self._gateway.reach("graph.bulk_vertices", ctx)
        return self._store(ctx).page(wanted)

    async def _do_traversal(self, spec: GraphTraversalSpec, *, ctx: OperationContext | None = None) -> TraversalResult:
        TAXONOMY.check_context(ctx)
        requests.check_traversal(spec)
        await self._gateway.reach("graph.traversal", ctx)
        return self._store(ctx).walk(spec)

    async def _do_get_schema(self, *, ctx: OperationContext | None = None) -> GraphSchema:
        TAXONOMY.check_context(ctx)
        await self._gateway.reach("graph.get_schema", ctx)
        return self._store(ctx).schema()

    async def _do_health(self, *, ctx: OperationContext | None = None) -> Mapping[str, Any]:
        TAXONOMY.check_context(ctx)
        await self._gateway.reach("graph.health", ctx)
        namespaces = self._store(ctx).sizes
        return {"ok": True, "status": "ok", "server": SERVER, "version": VERSION, "namespaces": namespaces}

    # -- changes

    async def _do_upsert_nodes(self, spec: UpsertNodesSpec, *, ctx: OperationContext | None = None) -> UpsertResult:
        TAXONOMY.check_context(ctx)
        requests.check_namespace(spec.namespace)
        for node in spec.nodes:
            requests.check_node(node)
        await self._gateway.reach("graph.upsert_nodes", ctx, items=len(spec.nodes))

        def work() -> UpsertResult:
            return self._store(ctx).put_nodes(spec.nodes, spec.namespace)

        return self._replays.once("graph.upsert_nodes", asdict(spec), ctx, work)

    async def _do_upsert_edges(self, spec: UpsertEdgesSpec, *, ctx: OperationContext | None = None) -> UpsertResult:
        TAXONOMY.check_context(ctx)
        requests.check_namespace(spec.namespace)
        for edge in spec.edges:
            requests.check_edge(edge)
        await self._gateway.reach("graph.upsert_edges", ctx, items=len(spec.edges))

        def work() -> UpsertResult:
            return self._store(ctx).put_edges(spec.edges, spec.namespace)

        return self._replays.once("graph.upsert_edges", asdict(spec), ctx, work)

    async def _do_delete_nodes(self, spec: DeleteNodesSpec, *, ctx: OperationContext | None = None) -> DeleteResult:
        TAXONOMY.check_context(ctx)
        requests.check_victims(spec.ids, spec.filter, spec.namespace)
        await self._gateway.reach("graph.delete_nodes", ctx, items=len(spec.ids))

        def work() -> DeleteResult:
            return self._store(ctx).drop_nodes(spec.ids, spec.filter, spec.namespace)

        return self._replays.once("graph.delete_nodes", asdict(spec), ctx, work)

    async def _do_delete_edges(self, spec: DeleteEdgesSpec, *, ctx: OperationContext | None = None) -> DeleteResult:
        TAXONOMY.check_context(ctx)
        requests.check_victims(spec.ids, spec.filter, spec.namespace)
        await self._gateway.reach("graph.delete_edges", ctx, items=len(spec.ids))

        def work() -> DeleteResult:
            return self._store(ctx).drop_edges(spec.ids, spec.filter, spec.namespace)

        return self._replays.once("graph.delete_edges", asdict(spec), ctx, work)

    async def _do_batch(self, ops: list[BatchOperation], *, ctx: OperationContext | None = None) -> BatchResult:
        """Each on its own: what fails does not keep the others from being done."""
        TAXONOMY.check_context(ctx)
        await self._gateway.reach("graph.batch", ctx, items=len(ops))

        def work() -> BatchResult:
            results = requests.each_done(ops, self._store(ctx))
            failed = sum(not result["ok"] for result in results)
            return BatchResult(results, not failed, f"{failed} operations failed" if failed else None)

        return self._replays.once("graph.batch", [asdict(op) for op in ops], ctx, work)

    async def _do_transaction(
        self, operations: list[BatchOperation], *, ctx: OperationContext | None = None
    ) -> BatchResult:
        """All or nothing: the first failure is that of the whole."""
        TAXONOMY.check_context(ctx)
        await self._gateway.reach("graph.transaction", ctx, items=len(operations))

        def work() -> BatchResult:
            changed = self._store(ctx).copy()
            results = requests.all_done(operations, changed)
            self._backend.commit(tenant_of(ctx), changed)
            return BatchResult(results, True, None, str(uuid4()))

        return self._replays.once("graph.transaction", [asdict(op) for op in operations], ctx, work)

    # -- the backend

    def _store(self, ctx: OperationContext | None) -> Store:
        return self._backend.store(tenant_of(ctx))

    async def _in_time(self, ctx: OperationContext | None, **facts: int) -> None:
        """Reach the provider within the caller's budget: the SDK itself gives a stream no timeout."""
        self._fail_if_deadline_expired(ctx)
        await self._deadline.wrap(self._gateway.reach("graph.stream_query", ctx, **facts), ctx)


async def within(timeout_ms: int | None, work: Awaitable[None]) -> None:
    """Wait no longer than the request's own `timeout_ms`, which the SDK hands on and does not keep."""
    try:
        await asyncio.wait_for(work, timeout_ms / 1000 if timeout_ms else None)
    except TimeoutError:
        raise DeadlineExceeded("the timeout of the request is over") from None


def portions(records: Sequence[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """A few records at a time, as many as a frame can carry."""
    portion: list[dict[str, Any]] = []
    weight = 0
    for record in records:
        size = len(json.dumps(record, ensure_ascii=False).encode("utf-8", "surrogatepass"))
        TAXONOMY.require(size < FRAME_LIMIT, "text", "asks for a record that does not fit into a frame")
        if portion and (len(portion) == RECORDS_PER_CHUNK or weight + size > BYTES_PER_CHUNK):
            yield portion
            portion, weight = [], 0
        portion.append(record)
        weight += size
    if portion:
        yield portion
