"""Mistakes in state, numbers and capabilities, in the form that they take in graphs (COM-...)."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping
from typing import Any

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.foundation import digest
from pytest_corpus.reference.graph_adapter import ReferenceGraph
from pytest_corpus.reference.graph_arguments import Question
from pytest_corpus.reference.graph_store import Space
from pytest_corpus.reference.request import Call, Fields

from . import catches

Result = dict[str, Any]


@catches("COM-IDEM-1")
class KeyAloneReplays(ReferenceGraph):
    """It knows a write by its tenant and key, whatever its arguments."""

    def replay_key(self, call: Call) -> str | None:
        return super().replay_key(call) and digest([call.tenant_hash, call.op, call.idempotency_key])


@catches("COM-IDEM-1")
class ReplayKnowsIdsOnly(ReferenceGraph):
    """It knows a write by its key and the ids in it, and takes other properties for a replay."""

    def replay_key(self, call: Call) -> str | None:
        nodes = call.args.values.get("nodes")
        if call.op != "upsert_nodes" or not isinstance(nodes, list):
            return super().replay_key(call)
        ids = [node.get("id") if isinstance(node, dict) else None for node in nodes]
        return super().replay_key(call) and digest([call.tenant_hash, call.op, ids, call.idempotency_key])


@catches("COM-IDEM-2")
class KeyReplaysForAll(ReferenceGraph):
    """It answers another tenant's write with the replay of the first."""

    def replay_key(self, call: Call) -> str | None:
        return super().replay_key(call) and digest([call.op, call.args.values, call.idempotency_key])


@catches("COM-IDEM-3")
class NothingIsReplayed(ReferenceGraph):
    """It claims idempotent writes and applies a replay again."""

    replayable = frozenset()


@catches("COM-IDEM-3")
class DeletesAreApplied(ReferenceGraph):
    """It replays upserts and applies deletes again."""

    replayable = ReferenceGraph.replayable - {"delete_nodes", "delete_edges"}


@catches("COM-IDEM-3")
class BatchesAreApplied(ReferenceGraph):
    """It replays single writes and applies batches again."""

    replayable = ReferenceGraph.replayable - {"batch"}


@catches("COM-IDEM-3")
class TransactionsAreApplied(ReferenceGraph):
    """It replays single writes and batches, and applies transactions again."""

    replayable = ReferenceGraph.replayable - {"transaction"}


@catches("COM-IDEM-3")
class ReplayIsEmpty(ReferenceGraph):
    """It applies a replay once and counts nothing in its answer."""

    async def perform(self, call: Call) -> Any:
        key = self.replay_key(call)
        again = key is not None and key in self.replays
        result = await super().perform(call)
        return {**result, "processed_count": 0} if again and "processed_count" in result else result


@catches("COM-TENANT-1")
class TenantsShareData(ReferenceGraph):
    """It keeps one graph for all tenants."""

    def space(self, call: Call) -> Space:
        return self.tenants.get(None) or super().space(call)

    def commit(self, call: Call, draft: Space) -> None:
        super().commit(call, draft)
        self.tenants[None] = draft


@catches("COM-TENANT-1")
class BatchesAreShared(ReferenceGraph):
    """It writes what comes by a batch for every tenant."""

    def commit(self, call: Call, draft: Space) -> None:
        super().commit(call, draft)
        if call.op == "batch":
            for tenant in self.tenants:
                self.tenants[tenant] = {namespace: graph.draft() for namespace, graph in draft.items()}


@catches("COM-TENANT-1")
class DeletesCrossTenants(ReferenceGraph):
    """It deletes the nodes of every tenant."""

    async def delete_nodes(self, call: Call) -> Result:
        result = await super().delete_nodes(call)
        change = self.read_change(call.op, call.args)
        for space in self.tenants.values():
            change(space)
        return result


@catches("COM-TENANT-1")
class TraversalsCrossTenants(ReferenceGraph):
    """It traverses the graphs of all tenants where the caller's own has no such node."""

    async def traversal(self, call: Call) -> Result:
        try:
            return await super().traversal(call)
        except AdapterError as error:
            if error.kind.name not in ("VertexNotFound", "NamespaceNotFound"):
                raise
        for tenant in [*self.tenants]:
            call.tenant_hash = tenant
            try:
                return await super().traversal(call)
            except AdapterError:
                continue
        raise AdapterError("VertexNotFound", "A start node does not exist")


@catches("COM-CACHE-1")
class CacheIsShared(ReferenceGraph):
    """It caches queries for all tenants together."""

    def cache_key(self, call: Call, question: Question) -> str | None:
        return digest([question.dialect, call.args.values])


@catches("COM-CONC-1")
class ReadsTheLastCall(ReferenceGraph):
    """It keeps the current request in the adapter, where the next one finds it."""

    async def answer(self, call: Call, question: Question) -> Result:
        self.question = question
        await asyncio.sleep(0.01)
        return await super().answer(call, self.question)


@catches("COM-NUM-1")
class NanParametersAccepted(ReferenceGraph):
    """It does not look for NaN in the parameters of a query."""

    def check_number(self, value: float, path: str) -> None:
        if not path.startswith("args.params"):
            super().check_number(value, path)


@catches("COM-NUM-1")
class NanFiltersAccepted(ReferenceGraph):
    """It does not look for NaN in filters."""

    def check_number(self, value: float, path: str) -> None:
        if "filter" not in path:
            super().check_number(value, path)


@catches("GRA-NODE-8")
class NanInBatchesAccepted(ReferenceGraph):
    """It checks the numbers of single writes and not those of batches."""

    def check_number(self, value: float, path: str) -> None:
        if not path.startswith(("args.ops", "args.operations")) or isinstance(value, int):
            super().check_number(value, path)

    def perform_step(self, draft: Space, op: str, args: Fields) -> Result:
        return super().perform_step(draft, op, Fields(finite(args.values), args.path))


def finite(value: Any) -> Any:
    """The value with zero for each number that is not finite."""
    if isinstance(value, Mapping):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [finite(item) for item in value]
    return 0 if isinstance(value, float) and not math.isfinite(value) else value


@catches("COM-NUM-2")
class SummaryIsNan(ReferenceGraph):
    """It divides nodes by relationships in the summary of a traversal."""

    async def traversal(self, call: Call) -> Result:
        result = await super().traversal(call)
        count = len(result["relationships"])
        return {**result, "summary": {"nodes_per_relationship": len(result["nodes"]) / count if count else math.nan}}


@catches("COM-NUM-3")
class WideIntegersStored(ReferenceGraph):
    """It stores integers of any width."""

    def check_number(self, value: float, path: str) -> None:
        if not isinstance(value, int):
            super().check_number(value, path)


@catches("COM-CAP-6")
class TraversalIsClaimedOnly(ReferenceGraph):
    """It claims traversals and does not offer them."""

    async def traversal(self, call: Call) -> Result:
        raise AdapterError("NotSupported", "Traversals are not offered")


@catches("COM-CAP-6")
class SchemaIsClaimedOnly(ReferenceGraph):
    """It claims schema operations, and has none to read the schema with."""

    async def get_schema(self, call: Call) -> Result:
        raise AdapterError("Unavailable", "The schema cannot be read")


class Modest(ReferenceGraph):
    """A legal variant that offers neither batches nor transactions nor traversals."""

    features: Mapping[str, bool] = {
        **ReferenceGraph.features,
        "supports_batch": False,
        "supports_txn": False,
        "supports_traversal": False,
    }


@catches("COM-CAP-7", control=Modest)
class DeniedIsABadRequest(Modest):
    """It calls a traversal that it does not offer a bad request."""

    def require(self, feature: str) -> None:
        if feature == "supports_traversal":
            raise AdapterError("BadRequest", "Traversals are not offered")
        super().require(feature)


@catches("COM-CAP-7", control=Modest)
class DeniedIsDown(Modest):
    """It takes an operation that it does not offer for an outage."""

    def require(self, feature: str) -> None:
        if feature == "supports_txn":
            raise AdapterError("Unavailable", "Transactions are not offered")
        super().require(feature)
