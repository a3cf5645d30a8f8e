"""Mistakes that embedding/test_deadline_enforcement.py finds (COM-DEADLINE)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_corpus.reference.embedding.adapter import ReferenceEmbedding
from pytest_corpus.reference.embedding.arguments import Job
from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.request import Call

from .. import catches
from ..common.shared import op_of
from .shared import Envelope


@catches("COM-DEADLINE-1")
class LateBatchesServed(ReferenceEmbedding):
    """It compares no deadline with the clock before a batch."""

    def seconds_left(self, call: Call) -> float | None:
        left = super().seconds_left(call)
        return None if call.op == "embed_batch" and left is not None and left <= 0 else left


@catches("COM-DEADLINE-2")
class LateBatchAsksTheProvider(ReferenceEmbedding):
    """It asks the provider for a batch before it looks at the deadline."""

    async def within_budget(self, call: Call, work: Any) -> Any:
        left = self.seconds_left(call)
        if call.op == "embed_batch" and left is not None and left <= 0:
            await work
            raise AdapterError("DeadlineExceeded", "The time budget of the operation is spent")
        return await super().within_budget(call, work)


@catches("COM-DEADLINE-4")
class BatchWaitsForEver(ReferenceEmbedding):
    """It waits for the provider's answer to a batch for ever."""

    def seconds_left(self, call: Call) -> float | None:
        left = super().seconds_left(call)
        return None if call.op == "embed_batch" and left is not None and left > 0 else left


@catches("COM-DEADLINE-4")
class SpentBudgetOfABatchIsTransient(ReferenceEmbedding):
    """It reports a network failure for each text when the budget of a batch runs out on the way."""

    async def handle(self, envelope: Mapping[str, Any]) -> Envelope:
        answer = await super().handle(envelope)
        late = answer.get("error") == "DeadlineExceeded" and answer["ms"] > 20
        if not late or op_of(envelope) != "embedding.embed_batch":
            return answer
        args = envelope["args"]
        failure = {"error": "TransientNetwork", "message": "The provider did not answer"}
        failed = [{"index": index, "text": text, **failure} for index, text in enumerate(args["texts"])]
        result = {"embeddings": [], "model": args["model"], "total_texts": len(failed), "failed_texts": failed}
        return {"ok": True, "code": "OK", "ms": answer["ms"], "result": result}


@catches("COM-DEADLINE-5")
class StreamEmbedWaitsForEver(ReferenceEmbedding):
    """It looks at the deadline of a stream once, and then waits for the provider for ever."""

    def seconds_left(self, call: Call) -> float | None:
        left = super().seconds_left(call)
        return None if call.streaming and left is not None and left > 0 else left


@catches("COM-DEADLINE-8")
class BudgetForEachText(ReferenceEmbedding):
    """It embeds a batch text by text, and gives each of them the whole budget."""

    def seconds_left(self, call: Call) -> float | None:
        left = super().seconds_left(call)
        return None if call.op == "embed_batch" and left is not None and left > 0 else left

    async def outcomes(self, call: Call, jobs: Sequence[Job]) -> list[Any]:
        budget, found = super().seconds_left(call), []
        for job in jobs:
            try:
                found += await asyncio.wait_for(super().outcomes(call, [job]), budget)
            except asyncio.TimeoutError:
                raise AdapterError("DeadlineExceeded", "The time budget of the operation is spent") from None
        return found
