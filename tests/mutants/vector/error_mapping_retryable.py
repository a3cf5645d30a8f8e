"""Mistakes that vector/test_error_mapping_retryable.py finds (COM-FAULT)."""

from __future__ import annotations

from typing import Any

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.request import Call
from pytest_corpus.reference.vector.adapter import ReferenceVector

from .. import catches


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
