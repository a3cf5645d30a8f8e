"""A vector adapter as a careful author builds it on the published SDK, over the backend of `vector_backend`.

It overrides the `_do_*` hooks and passes arguments to the constructor, as the SDK asks its authors to; no other
behaviour of the SDK is changed.
"""

from dataclasses import asdict
from functools import partial
from typing import Any

from corpus_sdk.vector.vector_base import (
    BaseVectorAdapter,
    BatchQuerySpec,
    DeleteResult,
    DeleteSpec,
    MetricsSink,
    NamespaceResult,
    NamespaceSpec,
    OperationContext,
    QueryResult,
    QuerySpec,
    SimpleDeadline,
    UpsertResult,
    UpsertSpec,
    VectorCapabilities,
)

from .authoring import CheckedDeadline, Gateway, Provider, Replays, finite
from .vector_backend import METRICS, TAXONOMY, Backend

SERVER, VERSION = "quill-vectors", "1.4.0"
MAX_DIMENSIONS, MAX_BATCH_SIZE, MAX_TOP_K = 256, 64, 50


def tenant_of(ctx: OperationContext | None) -> str | None:
    """The tenant of a call."""
    tenant: str | None = ctx.tenant if ctx else None
    return tenant


class QuillVectorAdapter(BaseVectorAdapter):
    """The hooks of the SDK's base adapter over `Backend`.

    Thin mode, because breakers, limiters and caches belong to the router above; deadlines are enforced here.
    """

    def __init__(self, metrics: MetricsSink | None = None, provider: Provider | None = None) -> None:
        super().__init__(metrics=metrics, mode="thin", deadline_policy=CheckedDeadline(SimpleDeadline(), TAXONOMY))
        self._backend, self._replays = Backend(), Replays()
        self._gateway = Gateway(provider, TAXONOMY)

    async def _do_capabilities(self) -> VectorCapabilities:
        return VectorCapabilities(
            server=SERVER,
            version=VERSION,
            max_dimensions=MAX_DIMENSIONS,
            supported_metrics=tuple(METRICS),
            max_batch_size=MAX_BATCH_SIZE,
            max_top_k=MAX_TOP_K,
            supports_index_management=True,
            supports_batch_queries=True,
            supports_multi_tenant=True,
            idempotent_writes=True,
        )

    async def _do_query(self, spec: QuerySpec, *, ctx: OperationContext | None = None) -> QueryResult:
        TAXONOMY.check_context(ctx)
        self._check_query(spec)
        await self._gateway.reach("vector.query", ctx)
        return self._backend.space(tenant_of(ctx), spec.namespace).search(spec)

    async def _do_batch_query(self, spec: BatchQuerySpec, *, ctx: OperationContext | None = None) -> list[QueryResult]:
        TAXONOMY.check_context(ctx)
        for query in spec.queries:
            self._check_query(query)
        await self._gateway.reach("vector.batch_query", ctx, items=len(spec.queries))
        space = self._backend.space(tenant_of(ctx), spec.namespace)
        return [space.search(query) for query in spec.queries]

    async def _do_upsert(self, spec: UpsertSpec, *, ctx: OperationContext | None = None) -> UpsertResult:
        TAXONOMY.check_context(ctx)
        for vector in spec.vectors:
            TAXONOMY.require(finite(vector.metadata), "vectors[].metadata", "must hold finite numbers only")
        await self._gateway.reach("vector.upsert", ctx, items=len(spec.vectors))

        def work() -> UpsertResult:
            self._backend.space(tenant_of(ctx), spec.namespace).put(spec.vectors)
            return UpsertResult(len(spec.vectors), 0, [])

        return self._replays.once("vector.upsert", asdict(spec), ctx, work)

    async def _do_delete(self, spec: DeleteSpec, *, ctx: OperationContext | None = None) -> DeleteResult:
        TAXONOMY.check_context(ctx)
        TAXONOMY.require(finite(spec.filter), "filter", "must hold finite numbers only")
        await self._gateway.reach("vector.delete", ctx, items=len(spec.ids))

        def work() -> DeleteResult:
            space = self._backend.space(tenant_of(ctx), spec.namespace)
            return DeleteResult(space.remove(spec.ids, spec.filter), 0, [])

        return self._replays.once("vector.delete", asdict(spec), ctx, work)

    async def _do_create_namespace(
        self, spec: NamespaceSpec, *, ctx: OperationContext | None = None
    ) -> NamespaceResult:
        TAXONOMY.check_context(ctx)
        await self._gateway.reach("vector.create_namespace", ctx)
        work = partial(self._backend.create, tenant_of(ctx), spec)
        return self._replays.once("vector.create_namespace", asdict(spec), ctx, work)

    async def _do_delete_namespace(self, namespace: str, *, ctx: OperationContext | None = None) -> NamespaceResult:
        TAXONOMY.check_context(ctx)
        await self._gateway.reach("vector.delete_namespace", ctx)
        work = partial(self._backend.drop, tenant_of(ctx), namespace)
        return self._replays.once("vector.delete_namespace", namespace, ctx, work)

    async def _do_health(self, *, ctx: OperationContext | None = None) -> dict[str, Any]:
        TAXONOMY.check_context(ctx)
        await self._gateway.reach("vector.health", ctx)
        spaces = self._backend.spaces(tenant_of(ctx))
        counts = {name: {"vectors": len(space.vectors)} for name, space in spaces.items()}
        return {"ok": True, "status": "ok", "server": SERVER, "version": VERSION, "namespaces": counts}

    @staticmethod
    def _check_query(spec: QuerySpec) -> None:
        TAXONOMY.require(finite(spec.filter), "filter", "must hold finite numbers only")
