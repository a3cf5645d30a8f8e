"""What went wrong, in the words of the protocol (ERRORS 1): your own refusals, and the provider's failures."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

# Oxigraph raises Python's own exceptions; what a query is refused for is sorted out in provider.py.
CLASSES: dict[type[Exception], str] = {
    UnicodeEncodeError: "BadRequest",  # a lone surrogate
}

# Oxigraph has no statuses; the faults of a conformance run have them.
STATUSES = {
    400: "BadRequest",
    401: "AuthError",
    403: "AuthError",
    429: "ResourceExhausted",
    502: "TransientNetwork",
    503: "Unavailable",
    504: "TransientNetwork",
    529: "Unavailable",
}
MESSAGES = {
    "BadRequest": "The provider refused the request",
    "AuthError": "The provider refused the credentials",
    "ResourceExhausted": "The provider's rate limit or quota is exceeded",
    "TransientNetwork": "The provider could not be reached",
    "Unavailable": "The provider is temporarily unavailable",
}
RETRYABLE = ("ResourceExhausted", "TransientNetwork", "Unavailable")


class WireError(Exception):
    """An error of a class of the protocol. Its message names fields and rules, and never quotes a value."""

    def __init__(self, name: str, message: str, *, retry_after_ms: float | None = None, **details: Any) -> None:
        super().__init__(message)
        self.name = name
        self.retry_after_ms = retry_after_ms
        self.details = details

    @property
    def code(self) -> str:
        """The class name in upper-case words: `TextTooLong` becomes `TEXT_TOO_LONG`."""
        return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", self.name).upper()


def invalid(path: str, rule: str, *, error: str = "BadRequest", **details: Any) -> WireError:
    """A refusal of one field of the request."""
    return WireError(error, f"{path} {rule}", validation_errors=[{"field": path, "code": "INVALID"}], **details)


def from_provider(fault: Exception, kinds: Mapping[str, str]) -> WireError:
    """The error for what your provider's client raised; `kinds` has subtypes by the provider's own word for them.

    What nobody foresaw is `Unavailable`. The fault's own text stays behind: it may hold prompts or credentials.
    """
    name = class_of(fault)
    retry_after_ms = getattr(fault, "retry_after_ms", None)
    details: dict[str, Any] = {}
    if name not in RETRYABLE:
        retry_after_ms = None
    elif retry_after_ms is None:
        details["suggested_backoff_ms"] = 500
    if name == "ResourceExhausted":
        details.update(throttle_scope="provider", resource_scope="rate_limit")
    subtype = kinds.get(getattr(fault, "kind", ""), name)
    return WireError(subtype, MESSAGES[name], retry_after_ms=retry_after_ms, **details)


def class_of(fault: Exception) -> str:
    """The class of the protocol for an exception."""
    for kind, name in CLASSES.items():
        if isinstance(fault, kind):
            return name
    status = getattr(fault, "http_status", None)
    return STATUSES.get(status or 0, "Unavailable")
