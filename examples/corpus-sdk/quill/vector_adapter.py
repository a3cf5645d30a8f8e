"""A vector adapter as a careful author builds it on the published SDK, over a service that speaks JSON.

It overrides the `_do_*` hooks and passes arguments to the constructor, as the SDK asks its authors to; no other
behaviour of the SDK is changed.
"""

from collections.abc import Mapping
from typing import Any

from corpus_sdk.vector import vector_base as sdk

from .authoring import CheckedDeadline, Provider, Taxonomy
from .service import Service, changed, given, made, victims

SERVER, VERSION = "quill-vectors", "1.4.0"
TAXONOMY = Taxonomy(sdk)


class QuillVectorAdapter(sdk.BaseVectorAdapter):
    """The hooks of the SDK's base adapter over a service.

    Thin mode, because breakers, limiters and caches belong to the router above; deadlines are enforced here.
    """

    def __init__(self, metrics: sdk.MetricsSink | None = None, provider: Provider | None = None) -> None:
        super().__init__(metrics=metrics, mode="thin", deadline_policy=CheckedDeadline(sdk.SimpleDeadline(), TAXONOMY))
        self._service = Service("vector", TAXONOMY, provider)

    async def _do_capabilities(self) -> sdk.VectorCapabilities:
        stated = await self._service.ask("capabilities", {}, None)
        limits = {name: stated[name] for name in ("max_dimensions", "max_batch_size", "max_top_k", "max_filter_terms")}
        return sdk.VectorCapabilities(
            server=SERVER,
            version=VERSION,
            supported_metrics=("cosine", "euclidean", "dotproduct"),
            supports_index_management=True,
            supports_batch_queries=True,
            supports_multi_tenant=True,
            idempotent_writes=True,
            text_storage_strategy="none",
            **limits,
        )

    async def _do_health(self, *, ctx: sdk.OperationContext | None = None) -> dict[str, Any]:
        report = await self._service.ask("health", {}, ctx)
        if not report["ok"]:
            raise sdk.Unavailable("the service is down")
        return {**report, "server": SERVER, "version": VERSION}

    async def _do_query(self, spec: sdk.QuerySpec, *, ctx: sdk.OperationContext | None = None) -> sdk.QueryResult:
        return found(await self._service.ask("query", spec, ctx))

    async def _do_batch_query(
        self, spec: sdk.BatchQuerySpec, *, ctx: sdk.OperationContext | None = None
    ) -> list[sdk.QueryResult]:
        args = given(spec)
        queries = [{key: value for key, value in query.items() if key != "namespace"} for query in args["queries"]]
        return [
            found(each)
            for each in (await self._service.ask("batch_query", {**args, "queries": queries}, ctx))["results"]
        ]

    async def _do_upsert(self, spec: sdk.UpsertSpec, *, ctx: sdk.OperationContext | None = None) -> sdk.UpsertResult:
        return changed(sdk.UpsertResult, await self._service.ask("upsert", spec, ctx))

    async def _do_delete(self, spec: sdk.DeleteSpec, *, ctx: sdk.OperationContext | None = None) -> sdk.DeleteResult:
        return changed(sdk.DeleteResult, await self._service.ask("delete", victims(spec), ctx))

    async def _do_create_namespace(
        self, spec: sdk.NamespaceSpec, *, ctx: sdk.OperationContext | None = None
    ) -> sdk.NamespaceResult:
        return made(sdk.NamespaceResult, await self._service.ask("create_namespace", spec, ctx))

    async def _do_delete_namespace(
        self, namespace: str, *, ctx: sdk.OperationContext | None = None
    ) -> sdk.NamespaceResult:
        return made(sdk.NamespaceResult, await self._service.ask("delete_namespace", {"namespace": namespace}, ctx))


def found(result: Mapping[str, Any]) -> sdk.QueryResult:
    """The SDK's result of a query."""
    matches = [
        sdk.VectorMatch(sdk.Vector(**{"vector": [], **match["vector"]}), match["score"], match["distance"])
        for match in result["matches"]
    ]
    return sdk.QueryResult(matches, result["query_vector"], result["namespace"], result["total_matches"])
