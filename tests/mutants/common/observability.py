"""Mistakes in what components share (COM-OBS)."""

from __future__ import annotations

import base64
import hashlib
import secrets
from collections.abc import AsyncGenerator, Mapping
from typing import Any

from pytest_corpus.reference.llm.adapter import ReferenceLLM
from pytest_corpus.reference.request import Call, Fields

from .. import catches

Labels = dict[str, Any]


class Reporting(ReferenceLLM):
    """The reference with each observation as a mapping, so that a mutant changes just one member of it."""

    def observe(self, call: Call, outcome: str) -> None:
        if self.metrics is not None:
            self.metrics.observe(**self.observation(call, outcome))

    def observation(self, call: Call, outcome: str) -> dict[str, Any]:
        """The arguments of `observe`."""
        labels = dict(call.labels)
        ok = outcome == "OK"
        return {
            "component": "llm", "op": call.op, "ms": call.ms, "ok": ok, "code": outcome, "extra": labels
        }  # fmt: skip


@catches("COM-OBS-1")
class HealthNotObserved(ReferenceLLM):
    """It does not observe `health`, because monitoring calls it so often."""

    def observe(self, call: Call, outcome: str) -> None:
        if call.op != "health" or outcome != "OK":
            super().observe(call, outcome)


@catches("COM-OBS-2")
class FailureNotObserved(ReferenceLLM):
    """It observes unary calls that succeed and no others."""

    def observe(self, call: Call, outcome: str) -> None:
        if call.streaming or outcome == "OK":
            super().observe(call, outcome)


@catches("COM-OBS-2")
class RefusalNotObserved(ReferenceLLM):
    """It begins to observe a unary call when its arguments are read."""

    def observe(self, call: Call, outcome: str) -> None:
        if call.streaming or call.args.values or call.op in ("health", "capabilities"):
            super().observe(call, outcome)


@catches("COM-OBS-3")
class FailingStreamObservedTwice(ReferenceLLM):
    """It observes a failing stream where it fails and again where it ends."""

    def failure(self, call: Call, fault: Exception) -> dict[str, Any]:
        error = super().failure(call, fault)
        if call.streaming:
            self.observe(call, error["error"])
        return error


@catches("COM-OBS-3")
class BrokenStreamNotObserved(ReferenceLLM):
    """It does not observe a stream that fails on the way."""

    def observe(self, call: Call, outcome: str) -> None:
        if not (call.streaming and outcome == "Unavailable"):
            super().observe(call, outcome)


@catches("COM-OBS-4")
class StreamsAreAComponent(Reporting):
    """It observes streams under a component of their own."""

    def observation(self, call: Call, outcome: str) -> dict[str, Any]:
        return {**super().observation(call, outcome), "component": "llm-stream" if call.streaming else "llm"}


@catches("COM-OBS-5")
class FailingStreamOk(Reporting):
    """It calls a failing stream a success, because its iterator ended."""

    def observation(self, call: Call, outcome: str) -> dict[str, Any]:
        return {**super().observation(call, outcome), "ok": outcome == "OK" or call.streaming}


@catches("COM-OBS-6")
class CodeIsError(Reporting):
    """It gives every failure the same code."""

    def observation(self, call: Call, outcome: str) -> dict[str, Any]:
        return {**super().observation(call, outcome), "code": "OK" if outcome == "OK" else "ERROR"}


@catches("COM-OBS-6")
class LateStreamIsOk(Reporting):
    """It gives a stream that came too late the code of a success."""

    def observation(self, call: Call, outcome: str) -> dict[str, Any]:
        late = call.streaming and outcome == "DeadlineExceeded"
        return {**super().observation(call, outcome), "code": "OK" if late else outcome}


@catches("COM-OBS-7")
class FailureWithoutMs(Reporting):
    """It does not tell how long a failure took."""

    def observation(self, call: Call, outcome: str) -> dict[str, Any]:
        return {**super().observation(call, outcome), "ms": call.ms if outcome == "OK" else None}


@catches("COM-OBS-8")
class StreamTenantNotLabelled(ReferenceLLM):
    """It does not label streams by tenant."""

    def context_labels(self, call: Call) -> Labels:
        labels = super().context_labels(call)
        if call.streaming:
            labels.pop("tenant_hash", None)
        return labels


@catches("COM-OBS-8")
class LateTenantNotLabelled(ReferenceLLM):
    """It does not label a failure by tenant."""

    def failure(self, call: Call, fault: Exception) -> dict[str, Any]:
        call.labels.pop("tenant_hash", None)
        return super().failure(call, fault)


@catches("COM-OBS-9")
class OneHashForAll(ReferenceLLM):
    """It hashes the kind of a tenant, which is the same for all."""

    def context_labels(self, call: Call) -> Labels:
        labels = super().context_labels(call)
        return {**labels, "tenant_hash": self.tenant_hash("tenant")} if "tenant_hash" in labels else labels


@catches("COM-OBS-9")
class ANewHashEachTime(ReferenceLLM):
    """It salts the hash of a tenant anew for every call."""

    def context_labels(self, call: Call) -> Labels:
        labels = super().context_labels(call)
        return {**labels, "tenant_hash": secrets.token_hex(16)} if "tenant_hash" in labels else labels


@catches("COM-OBS-15")
class HashWithoutSalt(ReferenceLLM):
    """It labels a tenant with the beginning of the plain SHA-256 of its id."""

    def tenant_hash(self, tenant: str) -> str:
        return hashlib.sha256(tenant.encode("utf-8", "surrogatepass")).hexdigest()[:12]


@catches("COM-OBS-10")
class NoDeadlineLabelled(ReferenceLLM):
    """It labels a call without a deadline as one of a bucket."""

    def deadline_bucket(self, call: Call) -> str | None:
        return super().deadline_bucket(call) or "none"


@catches("COM-OBS-10")
class LateDeadlineNotLabelled(ReferenceLLM):
    """It has no bucket for a deadline that has passed."""

    def deadline_bucket(self, call: Call) -> str | None:
        bucket = super().deadline_bucket(call)
        return None if bucket == "expired" else bucket


@catches("COM-OBS-11")
class OutcomeOfFailureNotCounted(ReferenceLLM):
    """It counts the outcome of a stream that ends well and of no other."""

    def count_stream(self, call: Call, outcome: str) -> None:
        if outcome == "OK":
            super().count_stream(call, outcome)


@catches("COM-OBS-11")
class EveryChunkIsAnOutcome(ReferenceLLM):
    """It counts an outcome with every chunk that it takes from the provider."""

    async def stream(self, call: Call) -> AsyncGenerator[dict[str, Any], None]:
        async for chunk in super().stream(call):
            if not chunk["is_final"]:
                self.count_stream(call, "OK")
            yield chunk


@catches("COM-OBS-11")
class BrokenStreamCountedTwice(ReferenceLLM):
    """It counts a stream that fails on the way as begun and as failed."""

    def count_stream(self, call: Call, outcome: str) -> None:
        super().count_stream(call, outcome)
        if outcome == "Unavailable":
            super().count_stream(call, outcome)


@catches("COM-OBS-12")
class LabelsByAnotherName(Reporting):
    """It passes `observe` an argument that the interface does not have."""

    def observation(self, call: Call, outcome: str) -> dict[str, Any]:
        return {**super().observation(call, outcome), "labels": {}}


@catches("COM-OBS-12")
class CounterByPosition(ReferenceLLM):
    """It passes `counter` its arguments by position."""

    def count(self, name: str, value: int, extra: Any) -> None:
        if self.metrics is not None and not name.startswith("count_stream"):
            self.metrics.counter("llm", name, value, extra)  # type: ignore[call-arg]
        else:
            super().count(name, value, extra)


@catches("COM-OBS-13")
class ModelLabelledUnchecked(ReferenceLLM):
    """It labels by model before it knows the model."""

    def read_model(self, call: Call) -> str:
        if call.args.values.get("model"):
            call.labels["model"] = call.args.values["model"]
        return super().read_model(call)


@catches("COM-OBS-13")
class UnknownModelsCounted(ReferenceLLM):
    """It counts the unknown models of token counts by name."""

    def read_model(self, call: Call) -> str:
        model = call.args.values.get("model")
        if call.op == "count_tokens" and model not in (None, *self.models):
            self.count("unknown_models", 1, {"model": model})
        return super().read_model(call)


@catches("COM-OBS-14")
class RequestLabelled(ReferenceLLM):
    """It labels by request id."""

    def read_context(self, call: Call, ctx: Fields) -> None:
        super().read_context(call, ctx)
        if ctx.values.get("request_id"):
            call.labels["request_id"] = ctx.values["request_id"]


@catches("COM-OBS-16")
class TenantInBase64(ReferenceLLM):
    """It encodes the tenant where it should hash it."""

    def tenant_hash(self, tenant: str) -> str:
        return base64.b64encode(tenant.encode()).decode()


@catches("COM-OBS-16")
class TenantAsLongAsItself(ReferenceLLM):
    """It replaces each letter of the tenant by another one."""

    def tenant_hash(self, tenant: str) -> str:
        return "".join(super(TenantAsLongAsItself, self).tenant_hash(letter)[:1] for letter in tenant)


@catches("COM-OBS-17")
class UptimeForATime(Reporting):
    """It reports how long it has been running in place of how long the call took."""

    def observation(self, call: Call, outcome: str) -> dict[str, Any]:
        return {**super().observation(call, outcome), "ms": 86_400_000.0}


@catches("COM-OBS-17")
class SecondsForMilliseconds(Reporting):
    """It reports the time of a call in seconds."""

    def observation(self, call: Call, outcome: str) -> dict[str, Any]:
        return {**super().observation(call, outcome), "ms": call.ms / 1000}


@catches("COM-OBS-18")
class OutcomeWithoutAClass(ReferenceLLM):
    """It counts the outcomes of streams and does not say which they are."""

    def count_stream(self, call: Call, outcome: str) -> None:
        self.count("count_stream_final_outcome", 1, dict(call.labels))


@catches("COM-OBS-18")
class EveryStreamIsAnError(ReferenceLLM):
    """It counts a stream that came to a good end as UNAVAILABLE."""

    def count_stream(self, call: Call, outcome: str) -> None:
        super().count_stream(call, "Unavailable" if outcome == "OK" else outcome)


@catches("COM-OBS-19")
class BucketIsTheDeadline(ReferenceLLM):
    """It labels a call with the milliseconds that are left."""

    def deadline_bucket(self, call: Call) -> str | None:
        left = call.seconds_left
        return None if left is None else f"{left * 1000:.0f}"


@catches("COM-OBS-25")
class CancelledCallsAreForgotten(ReferenceLLM):
    """It observes calls that end, and none that is cancelled."""

    async def handle(self, envelope: Mapping[str, Any]) -> dict[str, Any]:
        call = Call(streaming=False)
        try:
            self.admit(call, envelope)
            return self.success(call, await self.within_budget(call, self.perform(call)))
        except Exception as fault:
            return self.failure(call, fault)


@catches("COM-OBS-17")
class StreamsTakeNoTime(Reporting):
    """It reports how long it took to open a stream, not how long the stream took."""

    def observation(self, call: Call, outcome: str) -> dict[str, Any]:
        seen = super().observation(call, outcome)
        return {**seen, "ms": 0.2} if call.streaming else seen
