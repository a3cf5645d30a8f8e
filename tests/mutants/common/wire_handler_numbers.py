"""Mistakes in what components share (COM-CONC, COM-NUM)."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping
from typing import Any

from pytest_corpus.reference.llm.adapter import ReferenceLLM
from pytest_corpus.reference.request import Call, Fields

from .. import catches
from .shared import op_of

Envelope = dict[str, Any]


@catches("COM-NUM-1")
class InfinityAccepted(ReferenceLLM):
    """It refuses NaN and forgets infinities."""

    def check_number(self, value: float, path: str) -> None:
        if not math.isinf(value):
            super().check_number(value, path)


@catches("COM-NUM-1")
class NanInStreamsAccepted(ReferenceLLM):
    """It checks the numbers of a completion and not those of a stream."""

    def read_section(self, envelope: Mapping[str, Any], name: str) -> Fields:
        if op_of(envelope) == "llm.stream" and name == "args":
            values = Fields(envelope, "request").member(name).values
            finite = {
                key: 1 if isinstance(value, float) and not math.isfinite(value) else value
                for key, value in values.items()
            }
            return super().read_section({**envelope, name: finite}, name)
        return super().read_section(envelope, name)


@catches("COM-NUM-1")
class InfiniteDeadlineAccepted(ReferenceLLM):
    """It checks the numbers of `args` and not those of `ctx`."""

    def check_number(self, value: float, path: str) -> None:
        if not (path.startswith("ctx") and value == math.inf):
            super().check_number(value, path)


@catches("COM-NUM-2")
class LoadIsNan(ReferenceLLM):
    """It divides by nothing in its health report, which gives NaN."""

    async def health(self, call: Call) -> Envelope:
        return {**await super().health(call), "load": math.nan}


@catches("COM-NUM-2")
class ErrorMsIsInfinite(ReferenceLLM):
    """It gives the milliseconds of a refused call as infinity."""

    def failure(self, call: Call, fault: Exception) -> Envelope:
        return {**super().failure(call, fault), "ms": math.inf}


@catches("COM-NUM-3")
class AnyIntegerAccepted(ReferenceLLM):
    """It does not look at the size of integers."""

    def check_number(self, value: float, path: str) -> None:
        if not isinstance(value, int):
            super().check_number(value, path)


@catches("COM-CONC-1")
class CallKeptInTheAdapter(ReferenceLLM):
    """It keeps the current call in the adapter object across an await."""

    current: Call

    async def complete(self, call: Call) -> Envelope:
        self.current = call
        await asyncio.sleep(0)
        return await super().complete(self.current)


@catches("COM-CONC-1")
class TextKeptInTheAdapter(ReferenceLLM):
    """It keeps the text to count in the adapter object while it waits for the provider."""

    text = ""

    async def count_tokens(self, call: Call) -> dict[str, int]:
        self.text = str(call.args.values.get("text"))
        await super().count_tokens(call)
        await asyncio.sleep(0)
        return {"tokens": self.tokens(self.text)}


@catches("COM-NUM-4")
class AbsurdDeadlineOverflows(ReferenceLLM):
    """It divides a deadline unchecked, which makes one beyond the floats UNAVAILABLE."""

    def check_number(self, value: float, path: str) -> None:
        if path == "ctx.deadline_ms" and isinstance(value, int):
            value / 1000
        super().check_number(value, path)


class CheckingPaths(ReferenceLLM):
    """The reference with one place that tells which numbers are looked at."""

    def check_number(self, value: float, path: str) -> None:
        if self.checked(path):
            super().check_number(value, path)

    def checked(self, path: str) -> bool:
        return bool(path)


@catches("COM-NUM-5", control=CheckingPaths)
class AttributesNotChecked(CheckingPaths):
    """It takes NaN and infinities deep inside `attrs`."""

    def checked(self, path: str) -> bool:
        return not path.startswith("ctx.attrs")


@catches("COM-NUM-1", control=CheckingPaths)
class ToolSchemasNotChecked(CheckingPaths):
    """It takes NaN and infinities inside the parameters of a tool."""

    def checked(self, path: str) -> bool:
        return not path.startswith("args.tools")


@catches("COM-NUM-1", control=CheckingPaths)
class ToolCallsNotChecked(CheckingPaths):
    """It takes NaN and infinities inside the messages."""

    def checked(self, path: str) -> bool:
        return not path.startswith("args.messages")
