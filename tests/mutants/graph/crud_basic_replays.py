"""Mistakes that graph/test_crud_basic_replays.py finds (COM-IDEM)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.foundation import digest
from pytest_corpus.reference.graph.adapter import ReferenceGraph
from pytest_corpus.reference.request import Call

from .. import catches


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


@catches("COM-IDEM-1")
class KeyHoldsInEveryNamespace(ReferenceGraph):
    """It takes a write of the same key in another namespace for a replay."""

    def replay_key(self, call: Call) -> str | None:
        plain = replace(call.args, values={key: value for key, value in call.args.values.items() if key != "namespace"})
        return super().replay_key(replace(call, args=plain))


@catches("COM-IDEM-3")
class ReplayIsAnotherTransaction(ReferenceGraph):
    """It gives the replay of a transaction the id of another one."""

    async def perform(self, call: Call) -> Any:
        again = (key := self.replay_key(call)) is not None and key in self.replays
        result = await super().perform(call)
        if call.op != "transaction":
            return result
        return {**result, "transaction_id": f"t-{call.idempotency_key}-{again}"}


@catches("COM-IDEM-3")
class ReplayForgetsFailures(ReferenceGraph):
    """It replays what was written and not what failed."""

    async def perform(self, call: Call) -> Any:
        again = (key := self.replay_key(call)) is not None and key in self.replays
        result = await super().perform(call)
        return {**result, "failed_count": 0, "failures": []} if again and "failures" in result else result


@catches("COM-IDEM-4")
class FirstAnswersAreLookedForTooSoon(ReferenceGraph):
    """It looks for a first answer before the first call has come to one."""

    async def perform(self, call: Call) -> Any:
        key = self.replay_key(call)
        if key is None or key in self.replays:
            return await super().perform(call)
        self.replays[key] = await getattr(self, call.op)(call)
        return self.replays[key]


@catches("COM-IDEM-5")
class FailuresAreReplayed(ReferenceGraph):
    """It keeps a failure under its key, and answers with it again."""

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
