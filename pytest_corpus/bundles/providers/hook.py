"""Providers that a plugin or conftest brings: any callable that answers a request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pytest_corpus.bundles.brought import called
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
            found = called(self._complete, request)
        except ProviderError:
            raise
        except BaseException as error:  # noqa: BLE001 - foreign code; sys.exit and pytest.fail end this case alone
            said = f"the provider raised {type(error).__name__}: {str(error)[:300]}"
            raise ProviderError("BadRequest", said) from None
        if isinstance(found, str):
            return Answer(found)
        if fault := _fault(found):
            raise ProviderError("BadRequest", f"the provider gave {fault}", is_own=True)
        assert isinstance(found, Answer)
        return found

    def close(self) -> None:
        pass


def _fault(found: Any) -> str:
    """What is wrong with what a function gave; empty where nothing is."""
    if not isinstance(found, Answer):
        return f"a {type(found).__name__}, and must give an Answer or a text"
    for name, kinds in _KINDS.items():
        value = getattr(found, name)
        if isinstance(value, bool) or not isinstance(value, kinds):
            return f"an Answer whose {name} is a {type(value).__name__}"
    return ""


_KINDS: dict[str, tuple[type, ...]] = {
    "text": (str,),
    "finish_reason": (str,),
    "prompt_tokens": (int, type(None)),
    "completion_tokens": (int, type(None)),
    "total_tokens": (int, type(None)),
    "id": (str,),
    "latency_ms": (int, float, type(None)),
}
