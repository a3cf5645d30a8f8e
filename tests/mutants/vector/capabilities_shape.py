"""Mistakes that vector/test_capabilities_shape.py finds (COM-CAP, VEC-CAP)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.request import Call
from pytest_corpus.reference.vector.adapter import ReferenceVector
from pytest_corpus.reference.vector.arguments import Query
from pytest_corpus.reference.vector.store import Item, Space

from .. import catches
from .legal import BatchQueriesDenied, Uncached


@catches("COM-READ-1", control=Uncached)
class StrongInWordsOnly(Uncached):
    """It claims strong consistency, and its index is a moment behind."""

    async def capabilities(self, call: Call) -> dict[str, Any]:
        facts = await super().capabilities(call)
        return {**facts, "extensions": {**facts["extensions"], "acme:read_after_write_consistency": "strong"}}

    def store(self, space: Space, item: Item) -> None:
        super().store(space, item)
        self.fresh[id(space), item.id] = time.monotonic() + 0.03

    @cached_property
    def fresh(self) -> dict[tuple[int, str], float]:
        """Until when an item does not show."""
        return {}

    def select(self, space: Space, query: Query) -> list[Item]:
        now = time.monotonic()
        return [item for item in super().select(space, query) if self.fresh[id(space), item.id] <= now]


@catches("COM-CAP-6")
class BatchQueriesInVain(ReferenceVector):
    """It claims batches of queries and refuses them."""

    async def batch_query(self, call: Call) -> dict[str, Any]:
        raise AdapterError("NotSupported", "Batches of queries are not offered")


@catches("COM-CAP-6", others=4)
class NamespacesAreNeverDeleted(ReferenceVector):
    """It claims namespaces and cannot delete one."""

    async def delete_namespace(self, call: Call) -> dict[str, Any]:
        raise AdapterError("NotSupported", "Namespaces cannot be deleted")


@catches("COM-CAP-7", control=BatchQueriesDenied)
class DeniedBatchQueriesFail(BatchQueriesDenied):
    """It denies batches of queries, and trips over one that comes all the same."""

    def require(self, feature: str) -> None:
        if feature == "supports_batch_queries":
            raise AdapterError("Unavailable", "The service is temporarily unavailable")
        super().require(feature)


@catches("COM-CAP-8", control=BatchQueriesDenied)
class DeniedBatchQueriesWork(BatchQueriesDenied):
    """It denies batches of queries and answers them."""

    def require(self, feature: str) -> None:
        if feature != "supports_batch_queries":
            super().require(feature)


@catches("VEC-CAP-1")
class MetricsAreNotListed(ReferenceVector):
    """It does not say which metrics it has."""

    async def capabilities(self, call: Call) -> dict[str, Any]:
        facts = await super().capabilities(call)
        del facts["supported_metrics"]
        return facts


@catches("VEC-CAP-1")
class MetricsByOtherNames(ReferenceVector):
    """It lists its metrics by the names of its backend."""

    async def capabilities(self, call: Call) -> dict[str, Any]:
        return {**await super().capabilities(call), "supported_metrics": ["l2", "ip"]}


@catches("VEC-CAP-2")
class DotIsListedInVain(ReferenceVector):
    """It lists a metric that it refuses."""

    def read_metric(self, call: Call) -> str:
        metric = super().read_metric(call)
        if metric == "dot":
            raise AdapterError("NotSupported", "The metric is not offered")
        return metric


@catches("VEC-CAP-2")
class EuclideanSpacesAreNotFilled(ReferenceVector):
    """It creates a namespace of a metric that it lists, and takes no vectors there."""

    def write(self, call: Call, namespace: str, items: Sequence[Item]) -> dict[str, Any]:
        if self.space(call, namespace).metric == "euclidean":
            raise AdapterError("NotSupported", "The metric is not offered")
        return super().write(call, namespace, items)


@catches("VEC-CAP-3")
class MaxTopKIsSecret(ReferenceVector):
    """It does not publish `max_top_k`."""

    async def capabilities(self, call: Call) -> dict[str, Any]:
        facts = await super().capabilities(call)
        del facts["max_top_k"]
        return facts


@catches("VEC-CAP-4")
class NoLimitIsZero(ReferenceVector):
    """It states zero for a limit that it does not have."""

    max_filter_terms = 10_000

    async def capabilities(self, call: Call) -> dict[str, Any]:
        return {**await super().capabilities(call), "max_filter_terms": 0}


@catches("VEC-CAP-4")
class LimitOfNegativeOne(ReferenceVector):
    """It states -1 for the largest batch that it does not bound."""

    max_batch_size = 10_000

    async def capabilities(self, call: Call) -> dict[str, Any]:
        return {**await super().capabilities(call), "max_batch_size": -1}


@catches("VEC-CAP-5")
class NamespaceIsALabel(ReferenceVector):
    """It labels its observations with the namespace."""

    def spaces(self, call: Call) -> dict[str, Space]:
        name = call.args.values.get("namespace")
        if isinstance(name, str):
            call.labels["namespace"] = name
        return super().spaces(call)


@catches("VEC-CAP-5")
class BestIdIsALabel(ReferenceVector):
    """It counts which vectors are found, by their ids."""

    def search(self, call: Call, query: Query) -> dict[str, Any]:
        result = super().search(call, query)
        for match in result["matches"][:1]:
            self.count("vectors_found_total", 1, {"id": match["vector"]["id"]})
        return result


@catches("VEC-CAP-5")
class DeletedIdsAreLabels(ReferenceVector):
    """It labels a delete with the ids that it is to remove."""

    async def delete(self, call: Call) -> dict[str, Any]:
        call.labels["ids"] = ",".join(self.read_ids(call))
        return await super().delete(call)


@catches("VEC-CAP-6")
class NamespaceOfAQueryIsALabel(ReferenceVector):
    """It labels a query with its namespace where that is there."""

    def check_query(self, call: Call, query: Query) -> None:
        super().check_query(call, query)
        call.labels["namespace"] = query.namespace


@catches("VEC-CAP-2")
class ManhattanIsListedInVain(ReferenceVector):
    """It lists a metric of its own, and refuses it."""

    async def capabilities(self, call: Call) -> dict[str, Any]:
        facts = await super().capabilities(call)
        return {**facts, "supported_metrics": [*facts["supported_metrics"], "manhattan"]}
