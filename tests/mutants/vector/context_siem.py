"""Mistakes that vector/test_context_siem.py finds (COM-CACHE, COM-IDEM, COM-LEAK, COM-OBS, COM-TENANT)."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.foundation import digest
from pytest_corpus.reference.request import Call, Fields
from pytest_corpus.reference.vector.adapter import ReferenceVector
from pytest_corpus.reference.vector.arguments import Query
from pytest_corpus.reference.vector.store import Condition, Item, Space

from .. import catches

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


@catches("COM-OBS-1")
class EveryQueryOfABatchIsObserved(ReferenceVector):
    """It observes a batch of queries once for each."""

    async def answers(self, call: Call, queries: Sequence[Query]) -> dict[str, Any]:
        answers = await super().answers(call, queries)
        for _ in queries[1:] or queries:
            self.observe(call, "OK")
        return answers


@catches("COM-IDEM-3")
class ReplayedCreationWithoutDetails(Replaying):
    """It answers the replay of a creation without its details."""

    async def perform(self, call: Call) -> Any:
        again = self.is_replay(call)
        result = await super().perform(call)
        return {**result, "details": {}} if again and call.op == "create_namespace" else result


@catches("COM-IDEM-4")
class FirstAnswersAreLookedForTooSoon(ReferenceVector):
    """It looks for a first answer before the first call has come to one."""

    async def perform(self, call: Call) -> Any:
        key = self.replay_key(call)
        if key is None or key in self.replays:
            return await super().perform(call)
        self.replays[key] = await getattr(self, call.op)(call)
        return self.replays[key]


@catches("COM-IDEM-5")
class FailuresAreReplayed(ReferenceVector):
    """It keeps the failure of a write under its key, and answers with it again."""

    async def perform(self, call: Call) -> Any:
        key = self.replay_key(call)
        if key is not None and isinstance(failure := self.replays.get(key), AdapterError):
            raise failure
        try:
            return await super().perform(call)
        except AdapterError as failure:
            if key is not None:
                self.replays[key] = failure
            raise


@catches("COM-TENANT-2")
class HealthOfAllNamespaces(ReferenceVector):
    """It reports the namespaces of all tenants to each of them."""

    async def health(self, call: Call) -> dict[str, Any]:
        report = await super().health(call)
        every = {name: report["status"] for spaces in self.tenants.values() for name in spaces}
        return {**report, "namespaces": every}


@catches("COM-OBS-25")
class CancelledCallsOfAStoreAreForgotten(ReferenceVector):
    """It observes calls that end, and none that is cancelled; what prepares a call is observed."""

    async def handle(self, envelope: Mapping[str, Any]) -> dict[str, Any]:
        call = Call(streaming=False)
        try:
            self.admit(call, envelope)
            return self.success(call, await self.within_budget(call, self.perform(call)))
        except Exception as fault:
            return self.failure(call, fault)
