"""Providers that a plugin or conftest brings: any callable that answers a request."""

from collections.abc import Callable
from typing import Any

from pytest_corpus.bundles.plugin_functions import called
from pytest_corpus.bundles.providers.official import by_status
from pytest_corpus.bundles.providers.protocol import Answer, CompletionRequest, Provider, ProviderError

Complete = Callable[[CompletionRequest], Any]
"""Gives an `Answer`, a text, or an awaitable of one; raises `ProviderError` where it has none."""


class HookProvider(Provider):
    """A provider behind a function: a failed connection, a 429 and a 5xx are tried again, others not (R135)."""

    def __init__(self, name: str, model: str | None, complete: Complete) -> None:
        self.label = f"{name}:{model}" if model else name
        self._complete = complete

    def complete(self, request: CompletionRequest) -> Answer:
        try:
            found = called(self._complete, request)
        except ProviderError:
            raise
        except BaseException as error:  # noqa: BLE001 - foreign code; sys.exit and pytest.fail end this case alone
            raise _provider_error(error) from None
        if isinstance(found, str):
            return Answer(found)
        if not isinstance(found, Answer):
            said = f"the provider gave a {type(found).__name__}, and must give an Answer or a text"
            raise ProviderError("BadRequest", said, is_own=True)
        if flaw := found.flaw():
            raise ProviderError("BadRequest", f"the provider gave an Answer whose {flaw}", is_own=True)
        return found


def _provider_error(error: BaseException) -> ProviderError:
    """The error of an exception, or of one that it was raised from, as clients do with those of sockets."""
    cause: BaseException | None = error
    while cause is not None:
        if found := by_status(cause):
            return found
        if isinstance(cause, OSError):
            return ProviderError("TransientNetwork", f"the provider raised {type(error).__name__}: {str(error)[:300]}")
        cause = cause.__cause__
    return ProviderError("BadRequest", f"the provider raised {type(error).__name__}: {str(error)[:300]}")
