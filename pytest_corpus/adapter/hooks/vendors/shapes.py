"""The forms of vendors' errors by name, and the form that belongs to a host or a path."""

import json
import re
from collections.abc import Mapping

from pytest_corpus.adapter.hooks.http_server import PHRASES
from pytest_corpus.adapter.hooks.vendors import anthropic_messages, cohere, openai
from pytest_corpus.adapter.hooks.vendors.endpoint import Errors, Trouble, event
from pytest_corpus.spec.errors import BY_KIND

_STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
"""Google's name of each status."""


def _status_of(trouble: Trouble) -> int:
    fault = BY_KIND.get(trouble.kind)
    return (fault.http_status if fault else 404) or 500


def _google_error(trouble: Trouble) -> dict[str, object]:
    status = _status_of(trouble)
    found = {"code": status, "message": trouble.message, "status": _STATUSES.get(status, "UNAVAILABLE")}
    return {"error": found}


def _problem_error(trouble: Trouble) -> dict[str, object]:
    status = _status_of(trouble)
    title = PHRASES.get(status, "Overloaded")
    return {"type": "about:blank", "title": title, "status": status, "detail": trouble.message}


def _ollama_error(trouble: Trouble) -> dict[str, object]:
    return {"error": trouble.message}


def _ollama_line(trouble: Trouble) -> bytes | None:
    return json.dumps(_ollama_error(trouble)).encode() + b"\n" if trouble.kind in cohere.IN_STREAM else None


SHAPES: Mapping[str, Errors] = {
    "openai": openai.ERRORS,
    "anthropic": anthropic_messages.ERRORS,
    "cohere": cohere.ERRORS,
    "google": Errors(_google_error, lambda trouble: event(_google_error(trouble))),
    "ollama": Errors(_ollama_error, _ollama_line),
    "problem+json": Errors(_problem_error, headers={"Content-Type": "application/problem+json"}),
}

_HOSTS = {"anthropic": "anthropic", "cohere": "cohere", "googleapis": "google"}
_PATHS = {re.compile(r"(^|/)api/(chat|generate|embed|embeddings|tags|show)$"): "ollama"}


def error_shape_of_host(host: str) -> Errors | None:
    """Return the form of the errors of the vendor whose name is in a host; None if the host is unknown."""
    return next((SHAPES[shape] for name, shape in _HOSTS.items() if name in host.lower()), None)


def error_shape_of_path(path: str) -> Errors | None:
    """Return the form of the errors of the vendor whose API has this path; None for other paths."""
    return next((SHAPES[shape] for pattern, shape in _PATHS.items() if pattern.search(path)), None)
