"""Mistakes of vector adapters in what all components share: replays, tenants, caches, numbers, leaks, deadlines."""

from __future__ import annotations

import asyncio
import json
import logging
import math
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.foundation import digest
from pytest_corpus.reference.request import Call, Fields
from pytest_corpus.reference.vector_adapter import ReferenceVector
from pytest_corpus.reference.vector_request import Query
from pytest_corpus.reference.vector_space import Condition, Item, Space

from . import catches
from .common_wire import op_of
from .vector_legal import BatchQueriesDenied

log = logging.getLogger("mutants.vector")


class Replaying(ReferenceVector):
    """It knows a call that was answered before."""

    def is_replay(self, call: Call) -> bool:
        """Whether tenant, operation, arguments and key are those of an answered call."""
        return self.replay_key(call) in self.replays


@catches("COM-IDEM-1")
class KeyOfTheNamespace(ReferenceVector):
    """It replays by tenant, operation, namespace and key, whatever the vectors."""

    def replay_key(self, call: Call) -> str | None:
        key = super().replay_key(call)
        return key and digest([call.tenant_hash, call.op, call.args.values.get("namespace"), call.idempotency_key])


@catches("COM-IDEM-1")
class KeyOfTheIds(ReferenceVector):
    """It replays an upsert by the ids and not by the vectors under them."""

    def replay_key(self, call: Call) -> str | None:
        key = super().replay_key(call)
        if key is None or call.op != "upsert":
            return key
        ids = [fields.values.get("id") for fields in call.args.objects("vectors")]
        return digest([call.tenant_hash, call.args.values.get("namespace"), ids, call.idempotency_key])


@catches("COM-IDEM-2")
class WritesByKeyOfAnyTenant(ReferenceVector):
    """It replays by key and arguments, whoever writes."""

    def replay_key(self, call: Call) -> str | None:
        key = super().replay_key(call)
        return key and digest([call.op, call.args.values, call.idempotency_key])


@catches("COM-IDEM-3")
class ReplaysAreIgnored(ReferenceVector):
    """It claims idempotent writes and does not look at the key."""

    def replay_key(self, call: Call) -> str | None:
        return None


@catches("COM-IDEM-3")
class ReplayIsAppliedAgain(Replaying):
    """It answers a replay as the first time, and applies it again all the same."""

    async def perform(self, call: Call) -> Any:
        if self.is_replay(call):
            await getattr(self, call.op)(call)
        return await super().perform(call)


@catches("COM-IDEM-3")
class DeletesAreNotReplayed(ReferenceVector):
    """It replays upserts and applies a delete of the same key again."""

    replayable = frozenset({"upsert"})


@catches("COM-IDEM-3")
class ReplayCountsNothing(Replaying):
    """It answers the replay of an upsert that nothing was stored."""

    async def perform(self, call: Call) -> Any:
        replay = self.is_replay(call) and call.op == "upsert"
        result = await super().perform(call)
        return {**result, "processed_count": 0} if replay else result


@catches("COM-IDEM-3")
class ReplayIsRefused(Replaying):
    """It refuses a key that it has seen."""

    async def perform(self, call: Call) -> Any:
        if self.is_replay(call):
            raise AdapterError("BadRequest", "The idempotency key was used before")
        return await super().perform(call)


@catches("COM-TENANT-1")
class TenantsShareTheirData(ReferenceVector):
    """It keeps the data of all tenants in one place."""

    def owner(self, call: Call) -> str | None:
        return None


@catches("COM-TENANT-1")
class TenantsShareDeletes(ReferenceVector):
    """It deletes an id from the namespaces of that name of all tenants."""

    def erase(self, call: Call, namespace: str, ids: Sequence[str], conditions: Sequence[Condition]) -> int:
        for owner, spaces in self.tenants.items():
            for each in ids if owner != self.owner(call) and namespace in spaces else []:
                spaces[namespace].items.pop(each, None)
                self.touch(spaces[namespace])
        return super().erase(call, namespace, ids, conditions)


@catches("COM-TENANT-1")
class TenantsShareQueries(ReferenceVector):
    """It queries what the tenant wrote who wrote last."""

    last: str | None = None

    def write(self, call: Call, namespace: str, items: Sequence[Item]) -> dict[str, Any]:
        self.last = self.owner(call)
        return super().write(call, namespace, items)

    def search(self, call: Call, query: Query) -> dict[str, Any]:
        others = self.tenants.get(self.last, {})
        if self.last != self.owner(call) and query.namespace in others:
            call.tenant_hash, asking = self.last, call.tenant_hash
            try:
                return super().search(call, query)
            finally:
                call.tenant_hash = asking
        return super().search(call, query)


@catches("COM-CACHE-1")
class CachedForAnyTenant(ReferenceVector):
    """It keys cached answers by how often the namespace was written to, whoever's it is."""

    def touch(self, space: Space) -> None:
        space.version += 1

    def cache_key(self, call: Call, namespace: str) -> str | None:
        return digest([call.op, namespace, self.space(call, namespace).version, call.args.values])


@catches("COM-CONC-1")
class QueryKeptInTheAdapter(ReferenceVector):
    """It keeps the query in the adapter object while it waits for the provider."""

    current: Query

    async def answer(self, call: Call, query: Query) -> dict[str, Any]:
        self.current = query
        await asyncio.sleep(0)
        await self.reach(call)
        return self.search(call, self.current)


@catches("COM-NUM-1")
class NanIsStoredAsZero(ReferenceVector):
    """It stores zero where a component of a vector is NaN."""

    def read_section(self, envelope: Mapping[str, Any], name: str) -> Fields:
        if op_of(envelope) == "vector.upsert" and name == "args":
            return super().read_section({**envelope, name: tamed(envelope.get(name))}, name)
        return super().read_section(envelope, name)


@catches("COM-NUM-1")
class InfiniteMetadataAreTaken(ReferenceVector):
    """It looks at the numbers of vectors and not at those of metadata."""

    def read_section(self, envelope: Mapping[str, Any], name: str) -> Fields:
        args = envelope.get(name)
        if op_of(envelope) != "vector.upsert" or not isinstance(args, Mapping):
            return super().read_section(envelope, name)
        vectors = args.get("vectors")
        if isinstance(vectors, list):
            args = {**args, "vectors": [self.tamed(each) for each in vectors]}
        return super().read_section({**envelope, name: args}, name)

    def tamed(self, item: Any) -> Any:
        """The item with zeros in its metadata where they are not finite."""
        if not isinstance(item, Mapping) or not isinstance(item.get("metadata"), Mapping):
            return item
        return {**item, "metadata": tamed(item["metadata"])}


@catches("COM-NUM-1")
class NanInBatchesIsZero(ReferenceVector):
    """It takes NaN for zero in the queries of a batch."""

    def read_section(self, envelope: Mapping[str, Any], name: str) -> Fields:
        if op_of(envelope) == "vector.batch_query" and name == "args":
            return super().read_section({**envelope, name: tamed(envelope.get(name))}, name)
        return super().read_section(envelope, name)


@catches("COM-NUM-2")
class CosineOfZeroIsNan(ReferenceVector):
    """It divides by the length of a vector that has none."""

    def cosine(self, left: Sequence[float], right: Sequence[float]) -> tuple[float, float]:
        return super().cosine(left, right) if any(left) and any(right) else (math.nan, math.nan)


@catches("COM-CAP-6")
class BatchQueriesInVain(ReferenceVector):
    """It claims batches of queries and refuses them."""

    async def batch_query(self, call: Call) -> dict[str, Any]:
        raise AdapterError("NotSupported", "Batches of queries are not offered")


@catches("COM-CAP-6")
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


@catches("COM-LEAK-1")
class FilterIsQuoted(ReferenceVector):
    """It quotes a filter that it cannot read."""

    def read_filter(self, fields: Fields) -> list[Condition]:
        try:
            return super().read_filter(fields)
        except AdapterError as error:
            raise AdapterError("FilterSyntaxError", f"{error}: {json.dumps(fields.values['filter'])}") from None


@catches("COM-LEAK-1")
class RefusedVectorsInDetails(ReferenceVector):
    """It gives a vector of a wrong dimension back in the details."""

    def mismatch(self, namespace: str, dimensions: int | None, vector: Sequence[float]) -> AdapterError | None:
        error = super().mismatch(namespace, dimensions, vector)
        if error:
            error.details["vector"] = list(vector)
        return error


@catches("COM-LEAK-1")
class RefusedItemsInDetails(ReferenceVector):
    """It gives an item that it refuses back in the details, metadata and all."""

    def read_item(self, fields: Fields, namespace: str) -> Item:
        try:
            return super().read_item(fields, namespace)
        except AdapterError as error:
            error.details["item"] = dict(fields.values)
            raise


@catches("COM-LEAK-2")
class VectorsAreLabels(ReferenceVector):
    """It labels a query with its vector."""

    def check_query(self, call: Call, query: Query) -> None:
        call.labels["vector"] = str(query.vector)
        super().check_query(call, query)


@catches("COM-LEAK-2")
class FilterValuesAreLabels(ReferenceVector):
    """It labels a query with what it filters by."""

    async def query(self, call: Call) -> dict[str, Any]:
        for condition in self.read_filter(call.args):
            call.labels[f"filter_{condition.name}"] = condition.operand
        return await super().query(call)


@catches("COM-LEAK-2")
class MetadataAreCounted(ReferenceVector):
    """It counts what it stores by the metadata."""

    def store(self, space: Space, item: Item) -> None:
        self.count("vectors_stored_total", 1, dict(item.metadata))
        super().store(space, item)


@catches("COM-LEAK-3")
class StoredVectorsAreLogged(ReferenceVector):
    """It logs the vectors that it stores."""

    def store(self, space: Space, item: Item) -> None:
        log.warning("storing %s", item.vector)
        super().store(space, item)


@catches("COM-LEAK-3")
class DeleteFiltersAreLogged(ReferenceVector):
    """It logs by which filter it deletes."""

    def erase(self, call: Call, namespace: str, ids: Sequence[str], conditions: Sequence[Condition]) -> int:
        if conditions:
            log.warning("deleting by %s", conditions)
        return super().erase(call, namespace, ids, conditions)


@catches("COM-LEAK-3")
class BatchedVectorsAreLogged(ReferenceVector):
    """It logs the queries of a batch."""

    async def answers(self, call: Call, queries: Sequence[Query]) -> dict[str, Any]:
        log.warning("asking %s", [query.vector for query in queries])
        return await super().answers(call, queries)


@catches("COM-DEADLINE-1")
class LateWritesServed(ReferenceVector):
    """It compares no deadline with the clock before it writes."""

    def seconds_left(self, call: Call) -> float | None:
        return None if call.op == "upsert" else super().seconds_left(call)


@catches("COM-DEADLINE-2")
class LateBatchesReachTheProvider(ReferenceVector):
    """It sends a batch of queries to the provider before it looks at the deadline."""

    async def within_budget(self, call: Call, work: Any) -> Any:
        left = self.seconds_left(call)
        if call.op == "batch_query" and left is not None and left <= 0:
            await self.reach(call)
        return await super().within_budget(call, work)


@catches("COM-DEADLINE-4")
class WritesWaitForEver(ReferenceVector):
    """It looks at the deadline of a write once, and then waits for the provider for ever."""

    def seconds_left(self, call: Call) -> float | None:
        left = super().seconds_left(call)
        return None if call.op in ("upsert", "delete") and left is not None and left > 0 else left


@catches("COM-OBS-1")
class EveryQueryOfABatchIsObserved(ReferenceVector):
    """It observes a batch of queries once for each."""

    async def answers(self, call: Call, queries: Sequence[Query]) -> dict[str, Any]:
        answers = await super().answers(call, queries)
        for _ in queries[1:] or queries:
            self.observe(call, "OK")
        return answers


@catches("COM-FAULT-12")
class FailedNamespaceStaysBroken(ReferenceVector):
    """It takes its backend for down for good once a query has failed."""

    broken = False

    async def reach(self, call: Call, **facts: Any) -> None:
        if self.broken:
            raise AdapterError("Unavailable", "The backend is down")
        try:
            await super().reach(call, **facts)
        except AdapterError:
            self.broken = call.op != "health"
            raise


@catches("COM-HEALTH-4")
class HealthFailsWithTheBackend(ReferenceVector):
    """It trips over its namespaces in the health report when the backend is down."""

    async def health(self, call: Call) -> dict[str, Any]:
        report = await super().health(call)
        if not report["ok"]:
            raise AdapterError("BadRequest", "The namespaces are not known")
        return report


def tamed(value: Any) -> Any:
    """The same with zeros where numbers are not finite."""
    if isinstance(value, Mapping):
        return {key: tamed(each) for key, each in value.items()}
    if isinstance(value, list):
        return [tamed(each) for each in value]
    return 0.0 if isinstance(value, float) and not math.isfinite(value) else value
