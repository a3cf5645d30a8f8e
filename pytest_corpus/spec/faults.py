"""The behaviours of a `ProviderProbe`, and the error that each must lead to on the wire."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FaultKind:
    """A planned behaviour of the provider.

    `http_status` is None where the provider raises something of no kind (or nothing); `canonical` is the
    class that must come out (None: no failure); `passes_retry_after` says that the provider's
    `retry_after_ms` must be passed on (ERRORS 8; SPECIFICATION 12.4).
    """

    kind: str
    http_status: int | None
    canonical: str | None
    passes_retry_after: bool = False


FAULTS = (
    FaultKind("rate_limited", 429, "ResourceExhausted", passes_retry_after=True),
    FaultKind("quota_exhausted", 429, "ResourceExhausted"),
    FaultKind("overloaded", 529, "Unavailable"),
    FaultKind("unavailable", 503, "Unavailable"),
    FaultKind("network", 502, "TransientNetwork"),
    FaultKind("gateway_timeout", 504, "TransientNetwork"),
    FaultKind("auth", 401, "AuthError"),
    FaultKind("forbidden", 403, "AuthError"),
    FaultKind("content_filtered", 400, "BadRequest"),
    FaultKind("invalid_request", 400, "BadRequest"),
    FaultKind("unexpected", None, "Unavailable"),
    FaultKind("hang", None, "DeadlineExceeded"),
    FaultKind("slow", None, None),
)

BY_KIND = {fault.kind: fault for fault in FAULTS}

FORMS: dict[str, tuple[str, ...]] = {
    "retry_after_seconds": ("rate_limited", "quota_exhausted", "overloaded", "unavailable"),
    "retry_after_date": ("rate_limited", "quota_exhausted", "overloaded", "unavailable"),
    "in_answer": ("content_filtered",),
    "reset": ("network",),
    "truncated": ("network", "gateway_timeout"),
    "unfinished": ("network",),
    "garbage": ("unexpected",),
}
"""Other forms of a kind on the wire of a provider with an address, each with the kinds that have it.

``retry_after_seconds``, ``retry_after_date``: the hint stands in `Retry-After` alone, in whole seconds or as a date.
``in_answer``: a good answer says that the rest of it was filtered. ``reset``: the connection is reset. ``truncated``:
it is closed in the middle of the answer. ``unfinished``: a stream that has begun comes to an orderly end without its
last event; elsewhere it is ``truncated``. ``garbage``: what comes is no JSON.
"""

IN_STREAM = {"network": "reset", "gateway_timeout": "truncated"}
"""The forms of kinds for which a stream that has begun has no event."""
