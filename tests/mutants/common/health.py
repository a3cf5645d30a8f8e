"""Mistakes in what components share (COM-HEALTH)."""

from __future__ import annotations

from typing import Any

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.llm.adapter import ReferenceLLM
from pytest_corpus.reference.request import Call

from .. import catches
from .shared import Envelope


@catches("COM-HEALTH-1")
class HealthIsAWord(ReferenceLLM):
    """It answers `health` with a word."""

    async def health(self, call: Call) -> Any:
        return (await super().health(call))["status"]


@catches("COM-HEALTH-2")
class StatusIsHealthy(ReferenceLLM):
    """It has a word of its own for a good status."""

    async def health(self, call: Call) -> Envelope:
        report = await super().health(call)
        return {**report, "status": "healthy"} if report["ok"] else report


@catches("COM-HEALTH-3")
class DownWithoutReason(ReferenceLLM):
    """It reports itself down without a reason."""

    async def health(self, call: Call) -> Envelope:
        report = await super().health(call)
        report.pop("reason", None)
        return report


@catches("COM-HEALTH-4")
class CutOffIsBadRequest(ReferenceLLM):
    """It says BAD_REQUEST to a health check while the network is down."""

    async def health(self, call: Call) -> Envelope:
        report = await super().health(call)
        if report.get("reason") == "TRANSIENT_NETWORK":
            raise AdapterError("BadRequest", "The provider cannot be reached")
        return report


@catches("COM-HEALTH-5")
class AlwaysHealthy(ReferenceLLM):
    """It reports that all is well, whatever the provider says."""

    async def health(self, call: Call) -> Envelope:
        return {**await super().health(call), "ok": True, "status": "ok"}


@catches("COM-HEALTH-11")
class OkIsFalseWhereAllIsWell(ReferenceLLM):
    """It says that it is not ok, beside a good status."""

    async def health(self, call: Call) -> Envelope:
        report = await super().health(call)
        return {**report, "ok": False}
