"""Mistakes with the context, deadlines, capabilities and health (COM-CTX, COM-DEADLINE, COM-CAP, COM-HEALTH)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Coroutine, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.llm_adapter import ReferenceLLM
from pytest_corpus.reference.request import Call, Fields

from . import catches

Envelope = dict[str, Any]
T = TypeVar("T")

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


@catches("COM-CAP-1")
class CapabilitiesAreAList(ReferenceLLM):
    """It gives its capabilities as a list of features."""

    async def capabilities(self, call: Call) -> Any:
        return sorted(await super().capabilities(call))


@catches("COM-CAP-1")
class CapabilitiesOnce(ReferenceLLM):
    """It answers `capabilities` once and asks whoever comes again to come later."""

    told = False

    async def capabilities(self, call: Call) -> Envelope:
        if self.told:
            raise AdapterError("Unavailable", "Capabilities do not change: keep them")
        self.told = True
        return await super().capabilities(call)


@catches("COM-CAP-2")
class VersionIsMissing(ReferenceLLM):
    """It does not state its version."""

    async def capabilities(self, call: Call) -> Envelope:
        facts = await super().capabilities(call)
        del facts["version"]
        return facts


@catches("COM-CAP-2")
class ServerIsEmpty(ReferenceLLM):
    """It states an empty server name."""

    async def capabilities(self, call: Call) -> Envelope:
        return {**await super().capabilities(call), "server": ""}


@catches("COM-CAP-3")
class ProtocolWithoutMinor(ReferenceLLM):
    """It states its protocol without the minor version."""

    async def capabilities(self, call: Call) -> Envelope:
        return {**await super().capabilities(call), "protocol": "llm/v1"}


@catches("COM-CAP-3")
class ProtocolOfTheFamily(ReferenceLLM):
    """It states the family of protocols instead of the component's."""

    async def capabilities(self, call: Call) -> Envelope:
        return {**await super().capabilities(call), "protocol": "corpus/v1.0"}


@catches("COM-CAP-4")
class FlagIsAWord(ReferenceLLM):
    """It writes a flag as a string."""

    async def capabilities(self, call: Call) -> Envelope:
        return {**await super().capabilities(call), "supports_json_output": "no"}


@catches("COM-CAP-4")
class LimitIsAText(ReferenceLLM):
    """It writes a limit with its unit."""

    async def capabilities(self, call: Call) -> Envelope:
        limits = {"max_context_length": f"{self.context_window} tokens"}
        return {**await super().capabilities(call), "limits": limits}


@catches("COM-CAP-4")
class ModelsInOneText(ReferenceLLM):
    """It lists its models in one string."""

    async def capabilities(self, call: Call) -> Envelope:
        return {**await super().capabilities(call), "supported_models": ", ".join(self.models)}


@catches("COM-CAP-5")
class BareExtension(ReferenceLLM):
    """It adds an extension without a namespace."""

    async def capabilities(self, call: Call) -> Envelope:
        return {**await super().capabilities(call), "extensions": {"deterministic": True}}


@catches("COM-CAP-6")
class ClaimedCountMissing(ReferenceLLM):
    """It claims to count tokens and does not."""

    async def count_tokens(self, call: Call) -> dict[str, int]:
        raise AdapterError("NotSupported", "Token counts are not offered yet")


@catches("COM-CAP-6")
class ClaimedStreamFails(ReferenceLLM):
    """It claims to stream and fails."""

    def read_messages(self, call: Call) -> list[str]:
        if call.streaming:
            raise AdapterError("Unavailable", "Streams are not offered yet")
        return super().read_messages(call)


class WithoutStreams(ReferenceLLM):
    """A legal adapter that denies streaming."""

    features: Mapping[str, bool] = {**ReferenceLLM.features, "supports_streaming": False}


class WithoutCounts(ReferenceLLM):
    """A legal adapter that denies token counts."""

    features: Mapping[str, bool] = {**ReferenceLLM.features, "supports_count_tokens": False}


@catches("COM-CAP-7", control=WithoutStreams)
class DeniedStreamFails(WithoutStreams):
    """It fails with UNAVAILABLE where it denies to stream."""

    def require(self, feature: str) -> None:
        if feature == "supports_streaming":
            raise AdapterError("Unavailable", "Streams are not offered")
        super().require(feature)


@catches("COM-CAP-7", control=WithoutCounts)
class DeniedCountIsBadRequest(WithoutCounts):
    """It calls a request for a token count bad where it denies to count."""

    def require(self, feature: str) -> None:
        if feature == "supports_count_tokens":
            raise AdapterError("BadRequest", "Token counts are not offered")
        super().require(feature)


@catches("COM-CAP-8", control=WithoutStreams)
class DeniedStreamWorks(WithoutStreams):
    """It streams although it denies it."""

    def require(self, feature: str) -> None:
        if feature != "supports_streaming":
            super().require(feature)


@catches("COM-CAP-9")
class NoStreamingDoor(ReferenceLLM):
    """It claims to stream and has no `handle_stream`."""

    handle_stream = None  # type: ignore[assignment]


@catches("COM-HEALTH-1")
class HealthIsAWord(ReferenceLLM):
    """It answers `health` with a word."""

    async def health(self, call: Call) -> Any:
        return (await super().health(call))["status"]


@catches("COM-HEALTH-1")
class HealthWantsArguments(ReferenceLLM):
    """It refuses `health` without a depth."""

    async def health(self, call: Call) -> Envelope:
        call.args.required_text("depth")
        return await super().health(call)


@catches("COM-HEALTH-2")
class StatusIsHealthy(ReferenceLLM):
    """It has a word of its own for a good status."""

    async def health(self, call: Call) -> Envelope:
        report = await super().health(call)
        return {**report, "status": "healthy"} if report["ok"] else report


@catches("COM-HEALTH-2")
class HealthWithoutServer(ReferenceLLM):
    """It does not say in its health report who it is."""

    async def health(self, call: Call) -> Envelope:
        report = await super().health(call)
        del report["server"]
        return report


@catches("COM-HEALTH-3")
class DownWithoutReason(ReferenceLLM):
    """It reports itself down without a reason."""

    async def health(self, call: Call) -> Envelope:
        report = await super().health(call)
        report.pop("reason", None)
        return report


@catches("COM-HEALTH-4")
class DownIsNotSupported(ReferenceLLM):
    """It says NOT_SUPPORTED to a health check while the provider is down."""

    async def health(self, call: Call) -> Envelope:
        report = await super().health(call)
        if not report["ok"]:
            raise AdapterError("NotSupported", "There is no provider to check")
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


class Expiring(ReferenceLLM):
    """The reference, which tells apart calls that came too late."""

    def expired(self, call: Call) -> bool:
        left = super().seconds_left(call)
        return left is not None and left <= 0


@catches("COM-DEADLINE-1")
class LateCallsServed(Expiring):
    """It compares no deadline with the clock before a unary call."""

    def seconds_left(self, call: Call) -> float | None:
        return None if not call.streaming and self.expired(call) else super().seconds_left(call)


@catches("COM-DEADLINE-1")
class LateCountsServed(Expiring):
    """It counts tokens whatever the deadline."""

    def seconds_left(self, call: Call) -> float | None:
        return None if call.op == "count_tokens" else super().seconds_left(call)


@catches("COM-DEADLINE-1")
class LateByALittleServed(ReferenceLLM):
    """It allows unary calls a second and a half for clocks that differ."""

    def seconds_left(self, call: Call) -> float | None:
        left = super().seconds_left(call)
        return left + 1.5 if left is not None and not call.streaming and left <= 0 else left


@catches("COM-DEADLINE-1")
class LateIsUnavailable(Expiring):
    """It calls itself unavailable to a unary call that comes too late."""

    async def within_budget(self, call: Call, work: Coroutine[Any, Any, T]) -> T:
        if not call.streaming and self.expired(call):
            work.close()
            raise AdapterError("Unavailable", "There is no time left")
        return await super().within_budget(call, work)


@catches("COM-DEADLINE-2")
class WorksBeforeItLooks(Expiring):
    """It looks at the deadline when the work is done."""

    async def within_budget(self, call: Call, work: Coroutine[Any, Any, T]) -> T:
        if self.expired(call):
            await work
            raise AdapterError("DeadlineExceeded", "The time budget of the operation is spent")
        return await super().within_budget(call, work)


@catches("COM-DEADLINE-2")
class StreamReachesBeforeItLooks(Expiring):
    """It opens the provider's stream before it looks at the deadline."""

    async def within_budget(self, call: Call, work: Coroutine[Any, Any, T]) -> T:
        if call.streaming and self.expired(call):
            await self.reach(call)
        return await super().within_budget(call, work)


OPENING = {"ok": True, "code": "STREAMING", "ms": 0.1, "chunk": {"text": "", "is_final": False}}


@catches("COM-DEADLINE-3")
class LateStreamOpens(ReferenceLLM):
    """It sends an empty chunk before it finds that the deadline has passed."""

    async def handle_stream(self, envelope: Mapping[str, Any]) -> AsyncGenerator[Envelope, None]:
        async for frame in super().handle_stream(envelope):
            if frame.get("error") == "DeadlineExceeded":
                yield OPENING
            yield frame


@catches("COM-DEADLINE-3")
class LateStreamsServed(Expiring):
    """It compares no deadline with the clock before a stream."""

    def seconds_left(self, call: Call) -> float | None:
        return None if call.streaming and self.expired(call) else super().seconds_left(call)


@catches("COM-DEADLINE-3")
class LateStreamIsTransient(Expiring):
    """It calls a stream that comes too late a network failure."""

    async def within_budget(self, call: Call, work: Coroutine[Any, Any, T]) -> T:
        if call.streaming and self.expired(call):
            work.close()
            raise AdapterError("TransientNetwork", "The stream timed out")
        return await super().within_budget(call, work)


@catches("COM-DEADLINE-4")
class DeadlineOnlyAtTheStart(Expiring):
    """It looks at the deadline of a unary call once, and then waits for the provider for ever."""

    def seconds_left(self, call: Call) -> float | None:
        return super().seconds_left(call) if call.streaming or self.expired(call) else None


@catches("COM-DEADLINE-4")
class CountWaitsForEver(Expiring):
    """It waits for the provider's token count for ever."""

    def seconds_left(self, call: Call) -> float | None:
        return None if call.op == "count_tokens" and not self.expired(call) else super().seconds_left(call)


@catches("COM-DEADLINE-4")
class SpentBudgetIsTransient(Expiring):
    """It calls it a network failure when the budget of a unary call runs out on the way."""

    async def within_budget(self, call: Call, work: Coroutine[Any, Any, T]) -> T:
        if call.streaming or self.expired(call):
            return await super().within_budget(call, work)
        try:
            return await asyncio.wait_for(work, self.seconds_left(call))
        except asyncio.TimeoutError:
            raise AdapterError("TransientNetwork", "The provider did not answer") from None


@catches("COM-DEADLINE-5")
class StreamDeadlineOnlyAtTheStart(Expiring):
    """It looks at the deadline of a stream once, and then waits for the provider for ever."""

    def seconds_left(self, call: Call) -> float | None:
        return None if call.streaming and not self.expired(call) else super().seconds_left(call)


@catches("COM-DEADLINE-5")
class OnlyTheFirstChunkInTime(Expiring):
    """It bounds the wait for the first chunk and not for those that follow."""

    begun: Call | None = None

    def frame(self, call: Call, chunk: Envelope) -> Envelope:
        self.begun = call
        return super().frame(call, chunk)

    def seconds_left(self, call: Call) -> float | None:
        return None if call is self.begun else super().seconds_left(call)


@catches("COM-DEADLINE-5")
class SpentStreamEndsWell(Expiring):
    """It ends a stream as if it were complete when the budget runs out on the way."""

    async def handle_stream(self, envelope: Mapping[str, Any]) -> AsyncGenerator[Envelope, None]:
        begun = False
        async for frame in super().handle_stream(envelope):
            cut = begun and frame.get("error") == "DeadlineExceeded"
            yield {**OPENING, "chunk": {"text": "", "is_final": True}} if cut else frame
            begun = True


@catches("COM-DEADLINE-6")
class DeadlineTooFarAhead(ReferenceLLM):
    """It refuses a deadline that lies more than ten minutes ahead."""

    def read_deadline(self, ctx: Fields) -> float | None:
        deadline = super().read_deadline(ctx)
        left = Call(streaming=False, deadline_ms=deadline).seconds_left
        if left is not None and left > 600:
            raise ctx.invalid("deadline_ms", "OUT_OF_RANGE", "lies too far ahead")
        return deadline


@catches("COM-DEADLINE-6")
class ImpatientWithTheProvider(ReferenceLLM):
    """It gives the provider 20 ms, whatever the budget."""

    async def reach(self, call: Call, **facts: Any) -> None:
        await asyncio.wait_for(super().reach(call, **facts), 0.02 if call.deadline_ms else None)


@catches("COM-DEADLINE-7")
class NegativeIsNoDeadline(ReferenceLLM):
    """It takes a deadline of zero or less for none."""

    def read_deadline(self, ctx: Fields) -> float | None:
        deadline = ctx.number("deadline_ms")
        return None if deadline is None or deadline <= 0 else deadline


@catches("COM-DEADLINE-7")
class ZeroIsNoDeadline(ReferenceLLM):
    """It takes a deadline of zero for none, because zero is false."""

    def read_deadline(self, ctx: Fields) -> float | None:
        return super().read_deadline(ctx) if ctx.number("deadline_ms") else None
