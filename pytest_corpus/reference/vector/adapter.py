"""The embedded reference adapter for vectors: exact search over namespaces in memory.

Everything that is not particular to vectors is in `foundation`, how a request is read in `vector_request`, how
vectors and metadata compare in `vector_space`.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import count
from typing import Any

from pytest_corpus.reference.errors import AdapterError, invalid
from pytest_corpus.reference.foundation import Provider, ReferenceAdapter, digest, remembered
from pytest_corpus.reference.request import Call
from pytest_corpus.reference.telemetry import MetricsSink
from pytest_corpus.reference.vector.arguments import Query, VectorRequests
from pytest_corpus.reference.vector.store import Condition, Hit, Item, Space

Failures = list[tuple[int, AdapterError]]


class ReferenceVector(VectorRequests, ReferenceAdapter):
    """The eight operations of SPECIFICATION 9, for tenants that know nothing of each other."""

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
    item_by_item = False
    """Whether an upsert leaves out what fails, or is refused whole: edition 1.0.0 cannot tell by index what failed."""
    vectors_always = True
    """Whether matches hold their vectors unasked: edition 1.0.0 has no match without one."""

    def __init__(self, *, metrics: MetricsSink | None = None, provider: Provider | None = None) -> None:
        super().__init__(metrics=metrics, provider=provider)
        self.tenants: dict[str | None, dict[str, Space]] = {}
        self.versions = count(1)

    # Capabilities and health

    async def capabilities(self, call: Call) -> dict[str, Any]:
        """The common facts, and the metrics and limits that are enforced."""
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
        """The common report, and the namespaces of the tenant who asks."""
        report = await super().health(call)
        return {**report, "namespaces": dict.fromkeys(self.spaces(call), report["status"])}

    # Queries

    async def query(self, call: Call) -> dict[str, Any]:
        """`{matches, query_vector, namespace, total_matches}`."""
        query = self.read_query(call.args, self.read_namespace(call.args))
        self.check_query(call, query)
        key = self.cache_key(call, query.namespace)
        return await remembered(self.cache, key, partial(self.answer, call, query))

    async def answer(self, call: Call, query: Query) -> dict[str, Any]:
        await self.reach(call)
        return self.search(call, query)

    async def batch_query(self, call: Call) -> dict[str, Any]:
        """`{results}`, in the order of the queries, in an object because edition 1.0.0 wants one (R10)."""
        namespace = self.read_namespace(call.args)
        queries = [self.read_batched(fields, namespace) for fields in call.args.objects("queries", required=True)]
        for query in queries:
            self.check_query(call, query)
        key = self.cache_key(call, namespace)
        return await remembered(self.cache, key, partial(self.answers, call, queries))

    async def answers(self, call: Call, queries: Sequence[Query]) -> dict[str, Any]:
        await self.reach(call, items=len(queries))
        return {"results": [self.search(call, query) for query in queries]}

    def cache_key(self, call: Call, namespace: str) -> str | None:
        """A hash over tenant, operation, all arguments and the state of the namespace: a write makes a new one."""
        if not self.features["supports_caching"]:
            return None
        version = self.space(call, namespace).version
        return digest([call.tenant_hash, call.op, version, call.args.values])

    def search(self, call: Call, query: Query) -> dict[str, Any]:
        """Filter, then rank, then cut (SPECIFICATION 9.3)."""
        space = self.space(call, query.namespace)
        found = self.select(space, query)
        ranked = self.rank(space, [self.hit(space, query, item) for item in found])
        return {
            "matches": [self.match(query, hit) for hit in ranked[: query.top_k]],
            "query_vector": list(query.vector),
            "namespace": query.namespace,
            "total_matches": len(found),
        }

    def select(self, space: Space, query: Query) -> list[Item]:
        return [item for item in space.items.values() if self.passes(item.metadata, query.conditions)]

    def hit(self, space: Space, query: Query, item: Item) -> Hit:
        return Hit(item, *self.measure(space.metric, query.vector, item.vector))

    def rank(self, space: Space, hits: list[Hit]) -> list[Hit]:  # noqa: ARG002 - has what a variant may rank by
        """Best first; equals in the order of their ids."""
        return sorted(hits, key=lambda hit: (-hit.score, hit.distance, hit.item.id))

    def match(self, query: Query, hit: Hit) -> dict[str, Any]:
        """`vector.types.vector_match`."""
        vector: dict[str, Any] = {"id": hit.item.id, "namespace": query.namespace}
        if query.include_vectors or self.vectors_always:
            vector["vector"] = list(hit.item.vector)
        if query.include_metadata:
            vector["metadata"] = copy.deepcopy(hit.item.metadata)
        return {"vector": vector, "score": hit.score, "distance": hit.distance}

    # Writes: checked, then sent to the provider, then applied in one go

    async def upsert(self, call: Call) -> dict[str, Any]:
        """Insert or replace by id; `{processed_count, failed_count, failures}`."""
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
        self.touch(space)
        return self.counts(len(accepted), [self.failed_item(index, items[index], error) for index, error in failures])

    def store(self, space: Space, item: Item) -> None:
        space.dimensions = space.dimensions or len(item.vector)
        space.items[item.id] = item

    def touch(self, space: Space) -> None:
        """Make the answers that are cached for a namespace unreachable."""
        space.version = next(self.versions)

    def failed_item(self, index: int, item: Item, error: AdapterError) -> dict[str, Any]:
        """`vector.types.failure_item`."""
        return {"index": index, "id": item.id, "error": error.kind.name, "detail": str(error)}

    def counts(self, processed: int, failures: list[dict[str, Any]]) -> dict[str, Any]:
        """`vector.types.partial_success_result`."""
        return {"processed_count": processed, "failed_count": len(failures), "failures": failures}

    async def delete(self, call: Call) -> dict[str, Any]:
        """Remove by `ids`, by `filter`, or what both name; what is not there counts for nothing."""
        namespace = self.read_namespace(call.args)
        ids, conditions = self.read_ids(call), self.read_filter(call.args)
        if not ids and not conditions:
            raise call.args.invalid("ids", "REQUIRED", "or a filter must name what to delete")
        self.space(call, namespace)
        await self.reach(call, items=len(ids))
        return self.counts(self.erase(call, namespace, ids, conditions), [])

    def erase(self, call: Call, namespace: str, ids: Sequence[str], conditions: Sequence[Condition]) -> int:
        space = self.space(call, namespace)
        victims = [item for item in space.items.values() if self.is_meant(item, ids, conditions)]
        for item in victims:
            del space.items[item.id]
        self.touch(space)
        return len(victims)

    def is_meant(self, item: Item, ids: Sequence[str], conditions: Sequence[Condition]) -> bool:
        return (not ids or item.id in ids) and self.passes(item.metadata, conditions)

    # Namespaces

    async def create_namespace(self, call: Call) -> dict[str, Any]:
        """`{success, namespace, details}`; creating once more what is there changes nothing."""
        name, wanted = self.read_name(call), Space(self.read_metric(call), self.read_dimensions(call))
        self.check_existing(call, name, wanted)
        await self.reach(call)
        self.create(call, name, wanted)
        details = {"dimensions": wanted.dimensions, "distance_metric": wanted.metric}
        return {"success": True, "namespace": name, "details": details}

    def create(self, call: Call, name: str, wanted: Space) -> None:
        existing = self.check_existing(call, name, wanted)
        if existing is None or existing.dimensions is None:
            self.spaces(call)[name] = wanted
            self.touch(wanted)

    async def delete_namespace(self, call: Call) -> dict[str, Any]:
        """`{success, namespace, details}`; deleting what is not there succeeds."""
        name = self.read_name(call)
        await self.reach(call)
        existed = self.drop(call, name)
        return {"success": True, "namespace": name, "details": {"existed": existed}}

    def drop(self, call: Call, name: str) -> bool:
        return self.spaces(call).pop(name, None) is not None

    def spaces(self, call: Call) -> dict[str, Space]:
        """The namespaces of the tenant; the default one is always there."""
        spaces = self.tenants.setdefault(self.owner(call), {})
        spaces.setdefault(self.default_namespace, Space(self.default_metric))
        return spaces

    def owner(self, call: Call) -> str | None:
        """Whose data a call works on (SPECIFICATION 14.1)."""
        return call.tenant_hash

    def space(self, call: Call, name: str) -> Space:
        space = self.spaces(call).get(name)
        if space is None:
            raise invalid("args.namespace", "NOT_FOUND", "does not exist", error="NamespaceNotFound", namespace=name)
        return space

    # Checks against what is stored

    def check_query(self, call: Call, query: Query) -> None:
        """Refuse an unknown namespace, or a vector that cannot lie in it."""
        space = self.space(call, query.namespace)
        if mismatch := self.mismatch(query.namespace, space.dimensions, query.vector):
            raise mismatch

    def check_items(self, call: Call, namespace: str, items: Sequence[Item]) -> Failures:
        """The items that cannot be stored; where they are not told one by one, they refuse the others too."""
        failures: Failures = []
        dimensions = self.space(call, namespace).dimensions
        for index, item in enumerate(items):
            if mismatch := self.mismatch(namespace, dimensions, item.vector):
                failures.append((index, mismatch))
            else:
                dimensions = len(item.vector)
        if failures and not self.item_by_item:
            raise failures[0][1]
        return failures

    def mismatch(self, namespace: str, dimensions: int | None, vector: Sequence[float]) -> AdapterError | None:
        """What is wrong with the length of a vector (ERRORS 6.3)."""
        provided = len(vector)
        if provided == dimensions or (dimensions is None and provided <= self.max_dimensions):
            return None
        expected = self.max_dimensions if dimensions is None else dimensions
        return AdapterError(
            "DimensionMismatch",
            f"expected {expected} dimensions, got {provided}",
            expected=expected,
            provided=provided,
            namespace=namespace,
        )

    def check_existing(self, call: Call, name: str, wanted: Space) -> Space | None:
        """The namespace of that name, which must be like the wanted one."""
        existing = self.spaces(call).get(name)
        if existing is None or existing.dimensions is None:
            return existing
        if (existing.dimensions, existing.metric) != (wanted.dimensions, wanted.metric):
            raise invalid("args.namespace", "EXISTS", "exists with other dimensions or another metric")
        return existing
