"""Providers that a plugin or conftest brings: any callable that answers a request."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any

from pytest_corpus.bundles.providers.protocol import Answer, CompletionRequest, ProviderError

Complete = Callable[[CompletionRequest], Any]
"""Gives an `Answer`, a text, or an awaitable of one; raises `ProviderError` where it has none."""


class HookProvider:
    """A provider behind a function; whatever else it raises is an error that is not tried again."""

    def __init__(self, name: str, model: str | None, complete: Complete) -> None:
        self.label = f"{name}:{model}" if model else name
        self._complete = complete

    def complete(self, request: CompletionRequest) -> Answer:
        try:
            found = self._complete(request)
            if inspect.isawaitable(found):
                found = asyncio.run(_awaited(found))
        except ProviderError:
            raise
        except Exception as error:  # noqa: BLE001 - foreign code; whatever it raises is an error of the case
            raise ProviderError(
                "BadRequest", f"the provider raised {type(error).__name__}: {str(error)[:300]}"
            ) from None
        if isinstance(found, str):
            return Answer(found)
        if not isinstance(found, Answer):
            raise ProviderError("BadRequest", f"the provider gave a {type(found).__name__}, no Answer and no text")
        return found

    def close(self) -> None:
        pass


async def _awaited(found: Any) -> Any:
    return await found
