"""Errors of the taxonomy (ERRORS 1): the adapter's own refusals, and faults of its provider."""

from collections.abc import Mapping
from typing import Any, ClassVar

from pytest_corpus.spec.errors import TAXONOMY


class AdapterError(Exception):
    """A failure with an error class; its message names fields and rules, never a value."""

    def __init__(self, name: str, message: str, *, retry_after_ms: float | None = None, **details: Any) -> None:
        super().__init__(message)
        self.kind = TAXONOMY[name]
        self.retry_after_ms = retry_after_ms
        self.details = details


def invalid(path: str, code: str, rule: str, *, error: str = "BadRequest", **details: Any) -> AdapterError:
    """Return a refusal that names the invalid field in `details.validation_errors` (BEHAVIORAL_CONFORMANCE 6.3)."""
    return AdapterError(error, f"{path} {rule}", validation_errors=[{"field": path, "code": code}], **details)


class FaultMapping:
    """Converts the provider's exceptions to errors of the taxonomy (ERRORS 8), with the hints of ERRORS 7."""

    component: ClassVar[str]
    fault_kinds: Mapping[str, str] = {"quota_exhausted": "ProviderQuotaExceeded"}
    fault_statuses: Mapping[int, str] = {
        400: "BadRequest",
        401: "AuthError",
        403: "AuthError",
        429: "ResourceExhausted",
        502: "TransientNetwork",
        503: "Unavailable",
        504: "TransientNetwork",
        529: "Unavailable",
    }
    fault_messages: Mapping[str, str] = {
        "BadRequest": "The provider refused the request",
        "AuthError": "The provider refused the credentials",
        "ResourceExhausted": "The provider's rate limit or quota is exceeded",
        "TransientNetwork": "The provider could not be reached",
        "Unavailable": "The service is temporarily unavailable",
    }
    resource_scopes: Mapping[str, str] = {
        "ResourceExhausted": "rate_limit",
        "TransientNetwork": "compute",
        "Unavailable": "compute",
        "DeadlineExceeded": "time_budget",
    }
    suggested_backoff_ms = 500

    def map_fault(self, fault: Exception) -> AdapterError:
        """Return the error for an exception, with a neutral message instead of the provider's text."""
        name = self.classify(fault)
        message = self.fault_messages[TAXONOMY[name].family]
        return AdapterError(name, message, retry_after_ms=self.retry_after(fault, name))

    def classify(self, fault: Exception) -> str:
        """Return the error class of a fault; Unavailable if its kind and status are unknown."""
        kind, status = getattr(fault, "kind", None), getattr(fault, "http_status", None)
        return self.fault_kinds.get(str(kind)) or self.fault_statuses.get(status or 0, "Unavailable")

    def retry_after(self, fault: Exception, name: str) -> float | None:
        """Return the milliseconds that the provider advises to wait; None for a class that must not be retried."""
        advice: float | None = getattr(fault, "retry_after_ms", None)
        return advice if TAXONOMY[name].retry == "yes" else None

    def details(self, error: AdapterError, tenant_hash: str | None) -> dict[str, Any]:
        """Return the machine-readable hints (SPECIFICATION 12.1), plus the details of the error."""
        kind = error.kind
        hints: dict[str, Any] = {}
        if scope := self.resource_scopes.get(kind.name) or self.resource_scopes.get(kind.family):
            hints["resource_scope"] = scope
        if kind.family == "ResourceExhausted":
            hints["throttle_scope"] = self.throttle_scope(tenant_hash)
        if kind.retry == "yes" and error.retry_after_ms is None:
            hints["suggested_backoff_ms"] = self.suggested_backoff_ms
        return {**hints, **error.details}

    def throttle_scope(self, tenant_hash: str | None) -> str:
        """Return the throttled party; a tenant is named by its hash only (R21)."""
        return f"tenant:{tenant_hash or 'none'}:{self.component}"
