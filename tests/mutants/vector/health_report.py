"""Mistakes that vector/test_health_report.py finds (COM-HEALTH)."""

from __future__ import annotations

from typing import Any

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.request import Call
from pytest_corpus.reference.vector.adapter import ReferenceVector

from .. import catches


@catches("COM-HEALTH-4")
class HealthFailsWithTheBackend(ReferenceVector):
    """It trips over its namespaces in the health report when the backend is down."""

    async def health(self, call: Call) -> dict[str, Any]:
        report = await super().health(call)
        if not report["ok"]:
            raise AdapterError("BadRequest", "The namespaces are not known")
        return report
