"""The request to a provider, its answer, and its errors."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from pytest_corpus.spec.errors import TAXONOMY


@dataclass(frozen=True)
class CompletionRequest:
    """One call. `deadline` is on the monotonic clock; `case`, `expected` and `sample` are for providers of scripts."""

    prompt: str
    system: str | None
    model: str | None
    temperature: float | None
    max_tokens: int | None
    options: Mapping[str, Any]
    deadline: float
    case: str = ""
    input: Mapping[str, Any] = field(default_factory=dict)
    expected: Any = None
    has_expected: bool = False
    sample: int = 0

    def remaining_s(self) -> float:
        """Seconds that are left; above 0 as long as the call makes sense."""
        return max(0.001, self.deadline - time.monotonic())

    @property
    def messages(self) -> list[dict[str, str]]:
        """The prompts as messages, the system prompt first."""
        first = [{"role": "system", "content": self.system}] if self.system is not None else []
        return [*first, {"role": "user", "content": self.prompt}]

    @property
    def options_with_stop_sequences(self) -> dict[str, Any]:
        """The options with OpenAI's `stop`, a text or a list, as the list `stop_sequences` of the protocol."""
        options = dict(self.options)
        if "stop" in options:
            stop = options.pop("stop")
            options["stop_sequences"] = [stop] if isinstance(stop, str) else stop
        return options


@dataclass(frozen=True)
class Answer:
    """The answer of a provider. `id` is the provider's own; `cached`: it says, or is seen, to repeat an earlier one.

    `latency_ms` is the provider's own measure, None where the caller's clock counts.
    """

    text: str
    finish_reason: str = "stop"
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    total_tokens: int | None = None
    id: str = ""
    cached: bool = False
    latency_ms: float | None = None

    def flaw(self) -> str:
        """The field with a value of a wrong type, as a part of a sentence; empty if there is none."""
        for name, kinds in _KINDS.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, kinds):
                return f"{name} is a {type(value).__name__}"
        return ""


_KINDS: Mapping[str, Any] = {
    **dict.fromkeys(("text", "finish_reason", "id"), str),
    **dict.fromkeys(("prompt_tokens", "completion_tokens", "total_tokens"), int | None),
    "latency_ms": int | float | None,
}


class ProviderError(Exception):
    """A call without an answer: the class of the protocol's taxonomy, and what the provider said.

    Args:
        name: the class, such as ``ResourceExhausted``; whether it may be tried again follows from it (ERRORS 4).
        detail: the provider's words, which may be content, unless they are this product's (`is_own`).
    """

    def __init__(
        self, name: str, detail: str = "", retry_after_ms: float | None = None, *, is_own: bool = False
    ) -> None:
        super().__init__(f"{name}: {detail}" if detail else name)
        self.name, self.detail, self.retry_after_ms, self.is_own = name, detail, retry_after_ms, is_own

    @property
    def retryable(self) -> bool:
        """True if another attempt can help."""
        known = TAXONOMY.get(self.name)
        return known is not None and known.retry == "yes"


class Provider(Protocol):
    """Answers prompts. It may block: each call runs in a daemon thread, and is given up at its deadline.

    Attributes:
        label: how reports call it, with its model where one is named.
        calls: the calls that one request costs.
    """

    label: str
    calls: int = 1

    def complete(self, request: CompletionRequest) -> Answer:
        """The answer to one request. Raises ProviderError if there is none."""

    def close(self) -> None:
        """End what it holds, by default nothing."""
        return
