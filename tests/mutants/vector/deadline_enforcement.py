"""Mistakes that vector/test_deadline_enforcement.py finds (COM-DEADLINE)."""

from __future__ import annotations

from typing import Any

from pytest_corpus.reference.request import Call
from pytest_corpus.reference.vector.adapter import ReferenceVector

from .. import catches


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
