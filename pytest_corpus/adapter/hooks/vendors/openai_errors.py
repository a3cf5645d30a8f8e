"""The errors of OpenAI, and of the many servers that speak its API."""

from typing import Any

from pytest_corpus.adapter.hooks.vendors.endpoint import Errors, Trouble, event

WORDS: dict[str, tuple[str, str | None]] = {
    "rate_limited": ("requests", "rate_limit_exceeded"),
    "quota_exhausted": ("insufficient_quota", "insufficient_quota"),
    "overloaded": ("server_error", "server_is_overloaded"),
    "unavailable": ("server_error", None),
    "network": ("server_error", None),
    "gateway_timeout": ("server_error", None),
    "auth": ("invalid_request_error", "invalid_api_key"),
    "forbidden": ("invalid_request_error", "unsupported_country_region_territory"),
    "content_filtered": ("invalid_request_error", "content_filter"),
    "invalid_request": ("invalid_request_error", None),
    "unexpected": ("server_error", "server_error"),
    "not_found": ("invalid_request_error", "unknown_url"),
}
"""The type and the code of each kind of error."""


def error(trouble: Trouble) -> dict[str, Any]:
    """The error object."""
    kind, code = WORDS.get(trouble.kind, ("invalid_request_error", trouble.kind))
    return {"message": trouble.message, "type": kind, "param": None, "code": code}


def _body(trouble: Trouble) -> dict[str, Any]:
    return {"error": error(trouble)}


def _event(trouble: Trouble) -> bytes:
    return event(_body(trouble))


def _typed_event(trouble: Trouble) -> bytes:
    found = error(trouble)
    message, code = found["message"], found["code"] or found["type"]
    return event({"type": "error", "code": code, "message": message, "param": None, "sequence_number": 0}, "error")


HEADERS = {"x-request-id": "req_stand_in"}
CHAT = Errors(_body, _event, HEADERS)
RESPONSES = Errors(_body, _typed_event, HEADERS)
