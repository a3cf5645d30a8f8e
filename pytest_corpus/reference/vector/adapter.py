"""The embedded reference adapter for vectors: exact search over namespaces in memory.

`foundation` has everything that is not specific to vectors. `arguments` reads requests, `store` compares vectors and
metadata, `namespaces` has the data, and `search` answers queries.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import count
from typing import Any

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.foundation import Provider, ReferenceAdapter, digest, remember
from pytest_corpus.reference.request import Call
from pytest_corpus.reference.telemetry import MetricsSink
from pytest_corpus.reference.vector.arguments import QueryArguments
from pytest_corpus.reference.vector.search import Search
from pytest_corpus.reference.vector.store import Item, Space


class ReferenceVector(Search, ReferenceAdapter):
    """The eight operations of SPECIFICATION 9. Tenants are isolated from each other."""

    component = "vector"
    features: Mapping[str, bool] = {
        "supports_namespaces": True,
        "supports_index_management": True,
        "supports_filters": True,
        "supports_batch_operations": True,
        "supports_batch_queries": True,
        "supports_pagination": False,
        "supports_deadline": True,
        "supports_multi_tenant": True,
        "supports_caching": True,
        "idempotent_writes": True,
    }
    replayable = frozenset({"upsert", "delete", "create_namespace", "delete_namespace"})

    def __init__(self, *, metrics: MetricsSink | None = None, provider: Provider | None = None) -> None:
        super().__init__(metrics=metrics, provider=provider)
        self.tenants: dict[str | None, dict[str, Space]] = {}
        self.versions = count(1)

    async def capabilities(self, call: Call) -> dict[str, Any]:
        """Return the common facts, plus the metrics and the limits in force."""
        common = await super().capabilities(call)
        return {
            **common,
            "supported_metrics": list(self.measures),
            "max_dimensions": self.max_dimensions,
            "max_batch_size": self.max_batch_size,
            "max_top_k": self.max_top_k,
            "max_filter_terms": self.max_filter_terms,
            "text_storage_strategy": "none",
            "extensions": {**common["extensions"], "reference:filter_operators": list(self.operators)},
        }

    async def health(self, call: Call) -> dict[str, Any]:
        """Return the common report, plus the namespaces of the requesting tenant."""
        report = await super().health(call)
        return {**report, "namespaces": dict.fromkeys(self.spaces(call), report["status"])}

    async def query(self, call: Call) -> dict[str, Any]:
        """Return `{matches, query_vector, namespace, total_matches}`."""
        query = self.read_query(call.args, self.read_namespace(call.args))
        self.check_query(call, query)
        key = self.cache_key(call, query.namespace)
        return await remember(self.cache, key, partial(self.answer, call, query))

    async def answer(self, call: Call, query: QueryArguments) -> dict[str, Any]:
        await self.reach(call)
        return self.search(call, query)

    async def batch_query(self, call: Call) -> dict[str, Any]:
        """Return `{results}` in the order of the queries, in an object because edition 1.0.0 requires one (R10)."""
        namespace = self.read_namespace(call.args)
        queries = [self.read_batch_query(fields, namespace) for fields in call.args.objects("queries", required=True)]
        for query in queries:
            self.check_query(call, query)
        key = self.cache_key(call, namespace)
        return await remember(self.cache, key, partial(self.answers, call, queries))

    async def answers(self, call: Call, queries: Sequence[QueryArguments]) -> dict[str, Any]:
        await self.reach(call, items=len(queries))
        return {"results": [self.search(call, query) for query in queries]}

    def cache_key(self, call: Call, namespace: str) -> str | None:
        """Return a hash over tenant, operation, arguments and the namespace's version, which every write changes."""
        if not self.features["supports_caching"]:
            return None
        version = self.space(call, namespace).version
        return digest([call.tenant_hash, call.op, version, call.args.values])

    async def upsert(self, call: Call) -> dict[str, Any]:
        """Insert or replace vectors by id; return `{processed_count, failed_count, failures}`."""
        namespace = self.read_namespace(call.args)
        items = self.read_items(call, namespace)
        self.check_items(call, namespace, items)
        await self.reach(call, items=len(items))
        return self.write(call, namespace, items)

    def write(self, call: Call, namespace: str, items: Sequence[Item]) -> dict[str, Any]:
        space, failures = self.space(call, namespace), self.check_items(call, namespace, items)
        failed = {index for index, _ in failures}
        accepted = [item for index, item in enumerate(items) if index not in failed]
        for item in accepted:
            self.store(space, item)
        self.mark_changed(space)
        return self.partial_success(
            len(accepted), [self.failed_item(index, items[index], error) for index, error in failures]
        )

    def failed_item(self, index: int, item: Item, error: AdapterError) -> dict[str, Any]:
        """Return a `vector.types.failure_item`."""
        return {"index": index, "id": item.id, "error": error.kind.name, "detail": str(error)}

    def partial_success(self, processed: int, failures: list[dict[str, Any]]) -> dict[str, Any]:
        """Return a `vector.types.partial_success_result`."""
        return {"processed_count": processed, "failed_count": len(failures), "failures": failures}

    async def delete(self, call: Call) -> dict[str, Any]:
        """Remove vectors by `ids`, by `filter`, or by both; absent vectors are not counted."""
        namespace = self.read_namespace(call.args)
        ids, conditions = self.read_ids(call), self.read_filter(call.args)
        if not ids and not conditions:
            raise call.args.invalid("ids", "REQUIRED", "or a filter must name what to delete")
        self.space(call, namespace)
        await self.reach(call, items=len(ids))
        return self.partial_success(self.erase(call, namespace, ids, conditions), [])

    async def create_namespace(self, call: Call) -> dict[str, Any]:
        """Return `{success, namespace, details}`; creating an existing namespace changes nothing."""
        name, wanted = self.read_name(call), Space(self.read_metric(call), self.read_dimensions(call))
        self.check_existing(call, name, wanted)
        await self.reach(call)
        self.create(call, name, wanted)
        details = {"dimensions": wanted.dimensions, "distance_metric": wanted.metric}
        return {"success": True, "namespace": name, "details": details}

    async def delete_namespace(self, call: Call) -> dict[str, Any]:
        """Return `{success, namespace, details}`; deleting an absent namespace succeeds."""
        name = self.read_name(call)
        await self.reach(call)
        existed = self.drop(call, name)
        return {"success": True, "namespace": name, "details": {"existed": existed}}

    # Checks against what is stored
