"""What went wrong, in the words of the protocol (ERRORS 1): refusals of our own, and what Cohere's client raises."""

from __future__ import annotations

import email.utils
import logging
import re
import time
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
from cohere.core.api_error import ApiError

# The client lets errors of its HTTP library through. A subclass stands before its base.
CLASSES: dict[type[Exception], str] = {
    httpx.TimeoutException: "DeadlineExceeded",
    httpx.TransportError: "TransientNetwork",
    httpx.DecodingError: "Unavailable",
}

# The client has a class for some statuses and `ApiError` for all others, so the status decides. An answer that is not
# JSON is an `ApiError` with the status 200.
STATUSES = {
    400: "BadRequest",
    401: "AuthError",
    403: "AuthError",
    404: "BadRequest",
    422: "BadRequest",
    429: "ResourceExhausted",
    498: "AuthError",
    501: "NotSupported",
    502: "TransientNetwork",
    504: "TransientNetwork",
}
OVERLOADED = 529
FILTERED = ("blocked output", "blocked input")
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

logger = logging.getLogger(__name__)


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


def broken_off() -> WireError:
    """The error for a stream that ends without its last event: the client raises nothing."""
    return WireError("TransientNetwork", "The provider's stream broke off", suggested_backoff_ms=500)


def failed() -> WireError:
    """The error for an answer that ends with `ERROR` or `TIMEOUT`: Cohere says no more than that."""
    return WireError("Unavailable", MESSAGES["Unavailable"], suggested_backoff_ms=500)


def from_provider(fault: Exception, kinds: Mapping[str, str]) -> WireError:
    """The error for what the client raised; `kinds` has subtypes by `kind_of`.

    What nobody foresaw is `Unavailable`. The fault's own text stays behind: it may hold prompts or credentials.
    """
    name = class_of(fault)
    retry_after_ms = retry_after(fault) if name in RETRYABLE else None
    details: dict[str, Any] = {}
    if name in RETRYABLE and retry_after_ms is None:
        details["suggested_backoff_ms"] = 500
    if name == "ResourceExhausted":
        details.update(throttle_scope="provider", resource_scope="rate_limit")
    return WireError(kinds.get(kind_of(fault), name), MESSAGES[name], retry_after_ms=retry_after_ms, **details)


def class_of(fault: Exception) -> str:
    """The class of the protocol for an exception."""
    for kind, name in CLASSES.items():
        if isinstance(fault, kind):
            return name
    if not isinstance(fault, ApiError):
        log_unforeseen(fault)
        return "Unavailable"
    return STATUSES.get(fault.status_code or 0, "Unavailable")


def kind_of(fault: Exception) -> str:
    """What Cohere means beyond the status: it has no codes, so the first words of its message decide."""
    if not isinstance(fault, ApiError):
        return ""
    if fault.status_code == OVERLOADED:
        return "overloaded"
    message = fault.body.get("message") if isinstance(fault.body, Mapping) else None
    return "blocked" if str(message).startswith(FILTERED) else ""


def retry_after(fault: Exception) -> float | None:
    """What `retry-after` says, in milliseconds: it is written in them, or in seconds, or as a date."""
    headers = (fault.headers or {}) if isinstance(fault, ApiError) else {}
    for name, factor in (("retry-after-ms", 1.0), ("retry-after", 1000.0)):
        try:
            return max(0.0, float(headers[name]) * factor)
        except (KeyError, ValueError):
            continue
    date = email.utils.parsedate_tz(headers.get("retry-after", ""))
    return None if date is None else max(0.0, (email.utils.mktime_tz(date) - time.time()) * 1000)


def log_unforeseen(fault: Exception) -> None:
    """Log which exception it was and where in this package: a bug, or an exception that is not in the table yet."""
    frames = traceback.extract_tb(fault.__traceback__)
    own = [frame for frame in frames if Path(frame.filename).parent == Path(__file__).parent]
    where = " < ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in own[:-4:-1])
    logger.error("unforeseen %s at %s", type(fault).__name__, where)  # never its text: it may hold a prompt
