"""Errors in the words of the protocol (ERRORS 1): the adapter's own refusals, and the provider's failures."""

import email.utils
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

STATUSES = {
    400: "BadRequest",
    401: "AuthError",
    403: "AuthError",
    404: "BadRequest",
    413: "BadRequest",
    422: "BadRequest",
    429: "ResourceExhausted",
    502: "TransientNetwork",
    504: "TransientNetwork",
}
"""The classes of HTTP statuses; any other status is `Unavailable`."""

MESSAGES = {
    "BadRequest": "The provider refused the request",
    "NotSupported": "The provider does not support the request",
    "AuthError": "The provider refused the credentials",
    "ResourceExhausted": "The provider's rate limit or quota is exceeded",
    "TransientNetwork": "The provider could not be reached",
    "Unavailable": "The provider is temporarily unavailable",
    "DeadlineExceeded": "The provider did not answer in time",
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


@dataclass(frozen=True)
class Failures:
    """The table from a provider's failures to the classes of the protocol.

    An exception is looked up by its class, then by its HTTP status, then by the provider's own words for it. An unknown one is
    `Unavailable`. Its text is never passed on: it may hold prompts or credentials.

    Attributes:
        classes: the classes of exceptions; a subclass stands before its base.
        statuses: the classes of HTTP statuses.
        codes: the classes of the provider's own words, as `words` returns them.
        subtypes: the subtypes of errors by the provider's own words.
    """

    classes: Mapping[type[Exception], str] = field(default_factory=dict)
    statuses: Mapping[int, str] = field(default_factory=lambda: STATUSES)
    codes: Mapping[str, str] = field(default_factory=dict)
    subtypes: Mapping[str, str] = field(default_factory=dict)

    def error(self, fault: Exception) -> WireError:
        """The error of the protocol for an exception of the provider's client."""
        name = self.class_of(fault) or "Unavailable"
        retry_after_ms = retry_after(fault) if name in RETRYABLE else None
        details: dict[str, Any] = {}
        if name in RETRYABLE and retry_after_ms is None:
            details["suggested_backoff_ms"] = 500
        if name == "ResourceExhausted":
            details.update(throttle_scope="provider", resource_scope="rate_limit")
        subtype = next((self.subtypes[word] for word in self.words(fault) if word in self.subtypes), name)
        return WireError(subtype, MESSAGES[name], retry_after_ms=retry_after_ms, **details)

    def class_of(self, fault: Exception) -> str | None:
        """The class of an exception; None if nothing is known of it."""
        for kind, name in self.classes.items():
            if isinstance(fault, kind):
                return name
        status, words = status_of(fault), self.words(fault)
        if status is not None and status in self.statuses:
            return self.statuses[status]
        unnamed = None if status is None and not words else "Unavailable"
        return next((self.codes[word] for word in words if word in self.codes), unnamed)

    def words(self, fault: Exception) -> list[str]:
        """The provider's own words for an exception."""
        found = (getattr(fault, name, None) for name in ("kind", "code", "type"))
        return [word for word in found if isinstance(word, str)]


def stream_interrupted() -> WireError:
    """The error for a stream that ends without its last event: many clients raise nothing."""
    return WireError("TransientNetwork", "The provider's stream broke off", suggested_backoff_ms=500)


def status_of(fault: Exception) -> int | None:
    """The HTTP status of an exception: `http_status` in a conformance run, `status_code` in most clients."""
    statuses = (getattr(fault, name, None) for name in ("http_status", "status_code"))
    return next((status for status in statuses if isinstance(status, int)), None)


def retry_after(fault: Exception) -> float | None:
    """The retry hint in milliseconds: an attribute of the exception, or a header in milliseconds, in seconds or as a date."""
    for name, factor in (("retry_after_ms", 1.0), ("retry_after_s", 1000.0)):
        if isinstance(hint := getattr(fault, name, None), (int, float)):
            return hint * factor
    headers = getattr(getattr(fault, "response", fault), "headers", None) or {}
    for name, factor in (("retry-after-ms", 1.0), ("retry-after", 1000.0)):
        try:
            return max(0.0, float(headers[name]) * factor)
        except (KeyError, ValueError):
            continue
    date = email.utils.parsedate_tz(headers.get("retry-after", ""))
    return None if date is None else max(0.0, (email.utils.mktime_tz(date) - time.time()) * 1000)
