"""Common parts of the official clients: calls, and errors in the protocol's taxonomy."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from pytest_corpus.bundles.errors import BundleError, Problem
from pytest_corpus.bundles.providers.protocol import Answer, ProviderError

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
    """The request as arguments of a client's method; options unknown to this version go into the body unchanged."""
    known = inspect.signature(create).parameters
    named = {key: value for key, value in asked.items() if key in known}
    rest = {key: value for key, value in asked.items() if key not in known}
    if rest:
        named["extra_body"] = {**rest, **(named.get("extra_body") or {})}
    return named


def refuse_options(options: Mapping[str, Any], file: str) -> None:
    """See that no option says what the bundle says elsewhere.

    Raises:
        BundleError: one does.
    """
    for key, hint in RESERVED.items():
        if key in options:
            raise BundleError(Problem(file, f"provider.options.{key} cannot be passed on; {hint}"))


RESERVED = {
    "messages": "the templates make the messages",
    "model": "name it in provider.model",
    "timeout": "write timeout at the top",
    "stream": "answers are read as a whole",
}


def answer_of(read: Callable[[Any], Answer], found: Any) -> Answer:
    """The answer in what a client gave; a server may have sent anything.

    Raises:
        ProviderError: there is none in it.
    """
    try:
        answer = read(found)
    except (AttributeError, TypeError, LookupError, ValueError):
        raise ProviderError("Unavailable", "the answer is not a completion", is_own=True) from None
    if flaw := answer.flaw():
        raise ProviderError("Unavailable", f"the answer is not a completion: its {flaw}", is_own=True)
    return answer


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
