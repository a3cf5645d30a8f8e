"""Mistakes in what components share (COM-FAULT)."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.llm.adapter import ReferenceLLM
from pytest_corpus.reference.request import Call

from .. import catches

KINDS = ReferenceLLM.fault_kinds
STATUSES = ReferenceLLM.fault_statuses
MESSAGES = {
    **ReferenceLLM.fault_messages,
    "DeadlineExceeded": "The provider took too long",
    "NotSupported": "The provider does not offer this",
}


@catches("COM-FAULT-1")
class RateLimitIsUnavailable(ReferenceLLM):
    """It maps 429 to UNAVAILABLE, because both go away."""

    fault_statuses: Mapping[int, str] = {**STATUSES, 429: "Unavailable"}


@catches("COM-FAULT-1")
class QuotaIsAuthError(ReferenceLLM):
    """It maps an exhausted quota to AUTH_ERROR, as a matter of the account."""

    fault_kinds: Mapping[str, str] = {**KINDS, "quota_exhausted": "AuthError"}


@catches("COM-FAULT-2")
class OverloadIsResourceExhausted(ReferenceLLM):
    """It maps 529 to RESOURCE_EXHAUSTED."""

    fault_kinds: Mapping[str, str] = {**KINDS, "overloaded": "ResourceExhausted"}


@catches("COM-FAULT-2")
class UnavailableIsTransient(ReferenceLLM):
    """It maps 503 to TRANSIENT_NETWORK, like every other 50x."""

    fault_statuses: Mapping[int, str] = {**STATUSES, 503: "TransientNetwork"}


@catches("COM-FAULT-3")
class GatewayTimeoutIsDeadline(ReferenceLLM):
    """It takes the timeout of a gateway for the caller's deadline."""

    fault_statuses: Mapping[int, str] = {**STATUSES, 504: "DeadlineExceeded"}
    fault_messages: Mapping[str, str] = MESSAGES


@catches("COM-FAULT-3")
class BadGatewayIsUnavailable(ReferenceLLM):
    """It maps 502 to UNAVAILABLE, like 503."""

    fault_statuses: Mapping[int, str] = {**STATUSES, 502: "Unavailable"}


@catches("COM-FAULT-4")
class ForbiddenIsNotSupported(ReferenceLLM):
    """It maps 403 to NOT_SUPPORTED."""

    fault_statuses: Mapping[int, str] = {**STATUSES, 403: "NotSupported"}
    fault_messages: Mapping[str, str] = MESSAGES


@catches("COM-FAULT-5")
class FilterIsUnavailable(ReferenceLLM):
    """It does not know content filters and calls them UNAVAILABLE."""

    fault_kinds: Mapping[str, str] = {**KINDS, "content_filtered": "Unavailable"}


@catches("COM-FAULT-6")
class InvalidIsUnavailable(ReferenceLLM):
    """It maps 400 to UNAVAILABLE, because the request passed its own checks."""

    fault_statuses: Mapping[int, str] = {**STATUSES, 400: "Unavailable"}


@catches("COM-FAULT-7")
class UnexpectedIsBadRequest(ReferenceLLM):
    """It calls every fault that it does not know the caller's."""

    def classify(self, fault: Exception) -> str:
        return "BadRequest" if getattr(fault, "kind", None) is None else super().classify(fault)


@catches("COM-FAULT-7")
class UnexpectedCountIsTransient(ReferenceLLM):
    """It calls an unexpected fault of the provider's token counter a network failure."""

    async def count_tokens(self, call: Call) -> dict[str, int]:
        try:
            return await super().count_tokens(call)
        except AdapterError as error:
            if error.kind.name == "Unavailable" and str(error) == self.fault_messages["Unavailable"]:
                raise AdapterError("TransientNetwork", "The counter did not answer") from None
            raise


@catches("COM-FAULT-8")
class HintInSeconds(ReferenceLLM):
    """It passes the provider's hint on in seconds."""

    def retry_after(self, fault: Exception, name: str) -> float | None:
        advice = super().retry_after(fault, name)
        return None if advice is None else advice / 1000


@catches("COM-FAULT-9")
class StreamFaultIsUnavailable(ReferenceLLM):
    """It calls every failure of the provider's stream UNAVAILABLE."""

    async def reach(self, call: Call, **facts: Any) -> None:
        try:
            await super().reach(call, **facts)
        except AdapterError:
            if call.streaming:
                raise AdapterError("Unavailable", "The stream failed") from None
            raise


@catches("COM-FAULT-9")
class StreamAuthIsBadRequest(ReferenceLLM):
    """It maps the provider's 401 to BAD_REQUEST where it streams."""

    async def reach(self, call: Call, **facts: Any) -> None:
        try:
            await super().reach(call, **facts)
        except AdapterError as error:
            if call.streaming and error.kind.name == "AuthError":
                raise AdapterError("BadRequest", "The stream was refused") from None
            raise


@catches("COM-FAULT-10")
class NoBackoffSuggested(ReferenceLLM):
    """It does not say when to retry."""

    def details(self, error: AdapterError, tenant_hash: str | None) -> dict[str, Any]:
        details = super().details(error, tenant_hash)
        details.pop("suggested_backoff_ms", None)
        return details


@catches("COM-FAULT-11")
class FilterIsAnyBadRequest(ReferenceLLM):
    """It does not tell a content filter from other bad requests."""

    fault_kinds: Mapping[str, str] = {**KINDS, "content_filtered": "BadRequest"}


@catches("COM-FAULT-13")
class NoThrottleScope(ReferenceLLM):
    """It does not say whom a rate limit throttles."""

    def details(self, error: AdapterError, tenant_hash: str | None) -> dict[str, Any]:
        details = super().details(error, tenant_hash)
        details.pop("throttle_scope", None)
        return details


@catches("COM-FAULT-14")
class HintOfRateLimitsOnly(ReferenceLLM):
    """It passes the provider's hint on for rate limits alone."""

    def retry_after(self, fault: Exception, name: str) -> float | None:
        return super().retry_after(fault, name) if getattr(fault, "kind", None) == "rate_limited" else None


@catches("COM-FAULT-12")
class CircuitStaysOpen(ReferenceLLM):
    """It opens its circuit breaker at the first failure and never closes it."""

    broken = False

    async def reach(self, call: Call, **facts: Any) -> None:
        if self.broken:
            raise AdapterError("Unavailable", "The circuit is open")
        try:
            await super().reach(call, **facts)
        except AdapterError:
            self.broken = True
            raise


@catches("COM-FAULT-12")
class ClientNotReplaced(ReferenceLLM):
    """It goes on with a client that an unexpected exception has closed."""

    closed = False

    def map_fault(self, fault: Exception) -> AdapterError:
        self.closed = self.closed or getattr(fault, "kind", None) is None
        return super().map_fault(fault)

    async def reach(self, call: Call, **facts: Any) -> None:
        if self.closed:
            raise AdapterError("Unavailable", "The client is closed")
        await super().reach(call, **facts)


@catches("COM-FAULT-15")
class ThrottledByTheRequest(ReferenceLLM):
    """It puts a new number into the scope of each throttled request."""

    def throttle_scope(self, tenant_hash: str | None) -> str:
        return f"{super().throttle_scope(tenant_hash)}:{secrets.token_hex(8)}"


@catches("COM-FAULT-16")
class NoResourceScope(ReferenceLLM):
    """It does not say which resource is exhausted."""

    resource_scopes: Mapping[str, str] = {}


@catches("COM-FAULT-17")
class OverloadIsAnOutage(ReferenceLLM):
    """It does not tell an overloaded model from an outage."""

    fault_kinds: Mapping[str, str] = {**KINDS, "overloaded": "Unavailable"}
