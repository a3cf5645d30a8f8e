"""Functions from a conftest or a plugin, by name: providers and scorers."""

import asyncio
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pytest_corpus.bundles.errors import BundleError, Problem
from pytest_corpus.bundles.evaluation.values import refusal


def functions(hook: str, ask: Callable[[], Iterable[Any]], file: str) -> dict[str, Callable[..., Any]]:
    """The functions that a hook returns, by name; later ones win. Raises BundleError if the hook fails."""
    found: dict[str, Callable[..., Any]] = {}
    try:
        given = list(ask())
    except Exception as error:  # noqa: BLE001 - foreign code
        raise BundleError(Problem(file, f"{hook} raised {refusal(error)}")) from None
    for each in given:
        if not isinstance(each, Mapping):
            said = f"{hook} gave a {type(each).__name__}, and must give a dict of functions by name"
            raise BundleError(Problem(file, said))
        for name, function in each.items():
            if not isinstance(name, str) or not callable(function):
                said = f"{hook} gave {name!r} with a {type(function).__name__}, and must give functions by name"
                raise BundleError(Problem(file, said))
            found[name] = function
    return found


def called(function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    """Call a function, or run a coroutine function in a loop of its own."""
    found = function(*arguments, **keywords)
    return asyncio.run(_awaited(found)) if inspect.isawaitable(found) else found


async def _awaited(found: Any) -> Any:
    return await found
