"""Mistakes that graph/test_error_mapping_retryable.py finds (COM-FAULT)."""

from __future__ import annotations

from typing import Any

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.graph.adapter import ReferenceGraph
from pytest_corpus.reference.request import Call

from .. import catches


@catches("COM-FAULT-8")
class ListsForgetTheHint(ReferenceGraph):
    """It does not say when to list nodes again."""

    def failure(self, call: Call, fault: Exception) -> dict[str, Any]:
        error = super().failure(call, fault)
        return {**error, "retry_after_ms": None} if call.op == "bulk_vertices" else error


@catches("COM-FAULT-9")
class StreamFaultsAreUnavailable(ReferenceGraph):
    """It classifies what the database says in a query, and nothing of what it says in a stream."""

    async def reach(self, call: Call, **facts: Any) -> None:
        try:
            await super().reach(call, **facts)
        except AdapterError:
            if not call.streaming:
                raise
            raise AdapterError("Unavailable", "The stream failed") from None
