"""What the official clients have in common: how they are called, and their errors in the protocol's taxonomy."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from pytest_corpus.bundles.providers.protocol import ProviderError

_BY_STATUS = {
    401: "AuthError",
    403: "AuthError",
    404: "ModelNotFound",
    408: "TransientNetwork",
    409: "Unavailable",
    429: "ResourceExhausted",
    502: "TransientNetwork",
    504: "TransientNetwork",
    529: "ModelOverloaded",
}


def arguments(create: Callable[..., Any], asked: Mapping[str, Any]) -> dict[str, Any]:
    """What is asked, as arguments of a client's method; what this version does not name goes into the body as it is."""
    known = inspect.signature(create).parameters
    named = {key: value for key, value in asked.items() if key in known}
    rest = {key: value for key, value in asked.items() if key not in known}
    if rest:
        named["extra_body"] = {**rest, **(named.get("extra_body") or {})}
    return named


def as_provider_error(client: Any, error: Exception) -> ProviderError:
    """The error of a client module (`openai`, `anthropic`), both of which name their exceptions alike."""
    if isinstance(error, client.APITimeoutError):
        return ProviderError("DeadlineExceeded", "the client timed out")
    if isinstance(error, client.APIConnectionError):
        return ProviderError("TransientNetwork", _said(error))
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        name = _BY_STATUS.get(status, "Unavailable" if status >= 500 else "BadRequest")
        response = getattr(error, "response", None)
        return ProviderError(name, _said(error), _retry_after(getattr(response, "headers", {})))
    return ProviderError("Unavailable", _said(error))


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error)[:300]}"


def _retry_after(headers: Mapping[str, str]) -> float | None:
    for name, factor in (("retry-after-ms", 1), ("retry-after", 1000)):
        try:
            return max(0.0, float(headers[name]) * factor)
        except (KeyError, ValueError):
            continue
    return None
