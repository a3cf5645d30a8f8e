"""Mistakes with the context, capabilities and health (COM-CTX, COM-CAP, COM-HEALTH)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.llm_adapter import ReferenceLLM
from pytest_corpus.reference.request import Call, Fields

from . import catches

Envelope = dict[str, Any]

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
