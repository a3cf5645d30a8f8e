"""Mistakes in what components share (COM-CTX)."""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import replace
from typing import Any

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.llm.adapter import ReferenceLLM
from pytest_corpus.reference.request import Call, Fields

from .. import catches

DOCUMENTED = {"request_id", "idempotency_key", "deadline_ms", "traceparent", "tenant", "attrs"}


@catches("COM-CTX-1")
class ContextIsClosed(ReferenceLLM):
    """It refuses keys in `ctx` that it does not know."""

    def read_context(self, call: Call, ctx: Fields) -> None:
        if unknown := sorted(set(ctx.values) - DOCUMENTED):
            raise ctx.invalid(unknown[0], "UNKNOWN", "is not known")
        super().read_context(call, ctx)


@catches("COM-CTX-1")
class StreamContextIsATypeError(ReferenceLLM):
    """It passes the `ctx` of a stream on as keyword arguments, which makes an unknown key UNAVAILABLE."""

    def read_context(self, call: Call, ctx: Fields) -> None:
        if call.streaming and not set(ctx.values) <= DOCUMENTED:
            raise TypeError("unexpected keyword argument")
        super().read_context(call, ctx)


@catches("COM-CTX-2")
class AttrsUnchecked(ReferenceLLM):
    """It does not look at the type of `attrs`."""

    def read_context(self, call: Call, ctx: Fields) -> None:
        known = {key: value for key, value in ctx.values.items() if key != "attrs"}
        super().read_context(call, replace(ctx, values=known))


@catches("COM-CTX-2")
class DeadlineIsAValueError(ReferenceLLM):
    """It turns the deadline into a number unchecked, which makes a word UNAVAILABLE."""

    def read_deadline(self, ctx: Fields) -> float | None:
        if ctx.values.get("deadline_ms") is not None:
            float(ctx.values["deadline_ms"])
        return super().read_deadline(ctx)


@catches("COM-CTX-2")
class TenantIsWritten(ReferenceLLM):
    """It turns a tenant of any type into a string."""

    def read_context(self, call: Call, ctx: Fields) -> None:
        tenant = ctx.values.get("tenant")
        written = ctx.values if tenant is None else {**ctx.values, "tenant": str(tenant)}
        super().read_context(call, replace(ctx, values=written))


@catches("COM-CTX-3")
class TraceRefused(ReferenceLLM):
    """It refuses a `traceparent`, because it does not trace."""

    def read_context(self, call: Call, ctx: Fields) -> None:
        if ctx.values.get("traceparent") is not None:
            raise ctx.invalid("traceparent", "UNKNOWN", "is not known")
        super().read_context(call, ctx)


@catches("COM-CTX-3")
class StreamKeyRefused(ReferenceLLM):
    """It refuses an idempotency key on a stream, because nothing is replayed there."""

    def read_context(self, call: Call, ctx: Fields) -> None:
        super().read_context(call, ctx)
        if call.streaming and call.idempotency_key is not None:
            raise AdapterError("NotSupported", "A stream is not replayed")


@catches("COM-CTX-4")
class AttrsAreFlat(ReferenceLLM):
    """It accepts strings alone in `attrs`."""

    def read_context(self, call: Call, ctx: Fields) -> None:
        super().read_context(call, ctx)
        attrs = ctx.values.get("attrs") or {}
        if any(not isinstance(value, str) for value in attrs.values()):
            raise ctx.invalid("attrs", "WRONG_TYPE", "must hold strings")


@catches("COM-CTX-5")
class SpanOfItsOwn(ReferenceLLM):
    """It hands on the trace with the id of a new span."""

    def handed_on(self, call: Call) -> dict[str, Any]:
        told = super().handed_on(call)
        if call.traceparent is not None:
            version, trace, _, flags = call.traceparent.split("-")
            told["traceparent"] = f"{version}-{trace}-{secrets.token_hex(8)}-{flags}"
        return told


@catches("COM-CTX-5")
class StreamForgetsTheTrace(ReferenceLLM):
    """It hands on no trace where it streams."""

    def handed_on(self, call: Call) -> dict[str, Any]:
        told = super().handed_on(call)
        return {**told, "traceparent": None} if call.streaming else told


class RemembersTheTrace(ReferenceLLM):
    """The reference with one place for the trace, outside the call."""

    trace: str | None = None

    def handed_on(self, call: Call) -> dict[str, Any]:
        return {**super().handed_on(call), "traceparent": self.trace}


@catches("COM-CTX-5")
class LatestTrace(RemembersTheTrace):
    """It keeps the trace in the adapter and not in the call, so that calls at the same time take each other's."""

    def read_context(self, call: Call, ctx: Fields) -> None:
        super().read_context(call, ctx)
        self.trace = call.traceparent

    async def reach(self, call: Call, **facts: Any) -> None:
        await asyncio.sleep(0.01)  # as for a connection from a pool
        await super().reach(call, **facts)


@catches("COM-CTX-5")
class TraceStays(RemembersTheTrace):
    """It goes on with the trace of an earlier call where a call has none."""

    def read_context(self, call: Call, ctx: Fields) -> None:
        super().read_context(call, ctx)
        self.trace = call.traceparent or self.trace

    def handed_on(self, call: Call) -> dict[str, Any]:
        return {**super().handed_on(call), "traceparent": call.traceparent or self.trace}
