"""Scorers and providers that a plugin or a conftest defines as functions."""

import asyncio
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pytest_corpus.bundles.errors import BundleError, BundleProblem
from pytest_corpus.bundles.evaluation.values import describe_exception
from pytest_corpus.bundles.providers.official import status_error
from pytest_corpus.bundles.providers.protocol import Answer, BundleProvider, CompletionRequest, ProviderError


def collect_functions(hook: str, ask: Callable[[], Iterable[Any]], file: str) -> dict[str, Callable[..., Any]]:
    """Return the functions that a hook returns, by name; a later one replaces an earlier one of the same name.

    Raises:
        BundleError: the hook fails, or does not return functions by name.
    """
    found: dict[str, Callable[..., Any]] = {}
    try:
        given = list(ask())
    except Exception as error:  # noqa: BLE001 - foreign code
        raise BundleError(BundleProblem(file, f"{hook} raised {describe_exception(error)}")) from None
    for each in given:
        if not isinstance(each, Mapping):
            said = f"{hook} gave a {type(each).__name__}, and must give a dict of functions by name"
            raise BundleError(BundleProblem(file, said))
        for name, function in each.items():
            if not isinstance(name, str) or not callable(function):
                said = f"{hook} gave {name!r} with a {type(function).__name__}, and must give functions by name"
                raise BundleError(BundleProblem(file, said))
            found[name] = function
    return found


def call_function(function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    """Call a function and return its result; a coroutine runs in a new event loop."""
    found = function(*arguments, **keywords)
    return asyncio.run(_await_result(found)) if inspect.isawaitable(found) else found


async def _await_result(found: Any) -> Any:
    return await found


Complete = Callable[[CompletionRequest], Any]
"""The function of a provider: it returns an `Answer`, a text, or an awaitable of either, or raises `ProviderError`."""


class HookProvider(BundleProvider):
    """A provider that calls a function. Only failed connections and the statuses 429 and 5xx are retried (R135)."""

    def __init__(self, name: str, model: str | None, complete: Complete) -> None:
        self.label = f"{name}:{model}" if model else name
        self._complete = complete

    def complete(self, request: CompletionRequest) -> Answer:
        try:
            found = call_function(self._complete, request)
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
    """Return the provider error for the first HTTP status or socket error among an exception and its causes."""
    cause: BaseException | None = error
    while cause is not None:
        if found := status_error(cause):
            return found
        if isinstance(cause, OSError):
            return ProviderError("TransientNetwork", f"the provider raised {type(error).__name__}: {str(error)[:300]}")
        cause = cause.__cause__
    return ProviderError("BadRequest", f"the provider raised {type(error).__name__}: {str(error)[:300]}")
