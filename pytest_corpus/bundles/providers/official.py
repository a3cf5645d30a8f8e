"""A provider that calls a vendor's official client and converts its errors to error classes of the protocol."""

import inspect
import os
from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any

from pytest_corpus.bundles.errors import BundleError, BundleProblem, import_library
from pytest_corpus.bundles.loading.bundle import ProviderChoice
from pytest_corpus.bundles.providers.protocol import Answer, CompletionRequest, ProviderError

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


_RESERVED = {
    "messages": "the templates make the messages",
    "model": "name it in provider.model",
    "timeout": "write timeout at the top",
    "stream": "answers are read as a whole",
}
"""Options that other keys of the bundle set, with the hint for the user."""


class OfficialProvider:
    """Calls the API of a vendor with the vendor's client, whose built-in retries are off (R78).

    Attributes:
        vendor: the name of the provider and of the client's module.
        client: the name of the client's class in that module.
        method: the path of the client's method for completions.
        default_model: the model if the bundle names none; empty if the bundle must name one.
    """

    vendor: str
    client: str
    method: str
    default_model = ""
    calls = 1

    def __init__(self, choice: ProviderChoice, file: str, *, plays: bool = False) -> None:
        self.model = choice.model or self.default_model
        if not self.model:
            said = f"the provider {self.vendor} has no default model; name one in provider.model"
            raise BundleError(BundleProblem(file, said))
        self.label = f"{self.vendor}:{self.model}"
        self._client: Any = None
        for key, hint in _RESERVED.items():
            if key in choice.options:
                raise BundleError(BundleProblem(file, f"provider.options.{key} cannot be passed on; {hint}"))
        if plays:
            return
        self._module = import_library(self.vendor, file)
        variable = f"{self.vendor.upper()}_API_KEY"
        if not os.environ.get(variable):
            said = f"the provider {self.vendor} needs a key; set the environment variable {variable}"
            raise BundleError(BundleProblem(file, said))
        # By default the clients follow redirects, which could send the API key to another host.
        direct = self._module.DefaultHttpxClient(follow_redirects=False)
        self._client = getattr(self._module, self.client)(base_url=choice.base_url, max_retries=0, http_client=direct)

    def complete(self, request: CompletionRequest) -> Answer:
        try:
            create = attrgetter(self.method)(self._client)
            found = create(**_fit_arguments(create, self.arguments(request)), timeout=request.remaining_s())
        except Exception as error:  # noqa: BLE001 - foreign code; whatever it raises is an error of the case
            raise _provider_error(self._module, error) from None
        try:
            answer = self.answer(found)
        except (AttributeError, TypeError, LookupError, ValueError):
            raise ProviderError("Unavailable", "the answer is not a completion", is_own=True) from None
        if flaw := answer.flaw():
            raise ProviderError("Unavailable", f"the answer is not a completion: its {flaw}", is_own=True)
        return answer

    def close(self) -> None:
        if self._client is not None:
            self._client.close()

    def arguments(self, request: CompletionRequest) -> dict[str, Any]:
        """Return the arguments of a request, by their names in the vendor's API."""
        raise NotImplementedError

    def answer(self, found: Any) -> Answer:
        """Convert the client's result to an answer. Raises LookupError, TypeError or AttributeError."""
        raise NotImplementedError


def _fit_arguments(create: Callable[..., Any], asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments for the client's method. Options that this client version does not know go into the body."""
    known = inspect.signature(create).parameters
    named = {key: value for key, value in asked.items() if key in known}
    rest = {key: value for key, value in asked.items() if key not in known}
    if rest:
        named["extra_body"] = {**rest, **(named.get("extra_body") or {})}
    return named


def _provider_error(client: Any, error: Exception) -> ProviderError:
    """Convert an exception of a client module (`openai`, `anthropic`); both use the same exception names."""
    if isinstance(error, client.APITimeoutError):
        return ProviderError("DeadlineExceeded", "the client timed out")
    if isinstance(error, client.APIConnectionError):
        return ProviderError("TransientNetwork", _error_message(error))
    return status_error(error) or ProviderError("Unavailable", _error_message(error))


def status_error(error: BaseException) -> ProviderError | None:
    """Convert an exception with an HTTP status to a provider error; None if the exception has no status."""
    response = getattr(error, "response", None)
    for holder, name in ((error, "status_code"), (response, "status_code"), (error, "status"), (error, "code")):
        status = getattr(holder, name, None)
        if isinstance(status, int) and 300 <= status < 600:  # a redirect is not followed
            known = _BY_STATUS.get(status, "Unavailable" if status >= 500 else "BadRequest")
            headers = getattr(response, "headers", None) or getattr(error, "headers", None)
            return ProviderError(known, _error_message(error), _retry_after(headers or {}))
    return None


def _error_message(error: BaseException) -> str:
    return f"{type(error).__name__}: {str(error)[:300]}"


def _retry_after(headers: Mapping[str, str]) -> float | None:
    for name, factor in (("retry-after-ms", 1), ("retry-after", 1000)):
        try:
            return max(0.0, float(headers[name]) * factor)
        except (LookupError, ValueError, TypeError):
            continue
    return None
