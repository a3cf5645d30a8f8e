"""Mistakes in what components share (COM-ENV, COM-WIRE)."""

from __future__ import annotations

from typing import Any

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.foundation import ReferenceAdapter
from pytest_corpus.reference.request import Call


class WrongClass(ReferenceAdapter):
    """Answers every bad request with UNAVAILABLE."""

    def failure(self, call: Call, fault: Exception) -> dict[str, Any]:
        if isinstance(fault, AdapterError) and fault.kind.family == "BadRequest":
            fault = AdapterError("Unavailable", "The service is temporarily unavailable")
        return super().failure(call, fault)
