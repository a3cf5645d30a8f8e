"""Mistakes that graph/test_deadline_enforcement.py finds (COM-DEADLINE)."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from pytest_corpus.reference.foundation import Chunk
from pytest_corpus.reference.graph.adapter import ReferenceGraph
from pytest_corpus.reference.request import Call

from .. import catches


@catches("COM-DEADLINE-1")
class TransactionsHaveTime(ReferenceGraph):
    """It begins a transaction whose deadline has passed."""

    def seconds_left(self, call: Call) -> float | None:
        left = super().seconds_left(call)
        return None if call.op == "transaction" and left is not None and left <= 0 else left


@catches("COM-DEADLINE-4")
class BatchesHaveTime(ReferenceGraph):
    """It looks at the deadline of a batch when it begins, and never again."""

    def seconds_left(self, call: Call) -> float | None:
        left = super().seconds_left(call)
        return None if call.op == "batch" and left is not None and left > 0 else left


@catches("COM-DEADLINE-5")
class ChunksHaveTime(ReferenceGraph):
    """It bounds the wait for the first chunk and not the wait for others."""

    async def stream_query(self, call: Call) -> AsyncGenerator[Chunk, None]:
        async for chunk in super().stream_query(call):
            call.deadline_ms = None
            yield chunk
