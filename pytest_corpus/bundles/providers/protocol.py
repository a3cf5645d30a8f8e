"""The request to a provider, its answer and its errors."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from pytest_corpus.spec.errors import TAXONOMY


@dataclass(frozen=True)
class CompletionRequest:
    """A request to a provider.

    Attributes:
        system: the system prompt, or None.
        options: further options of the provider.
        deadline: the time at which the case must end, on the monotonic clock.
        case, input, expected: the case of the request, for scripts.
        sample: the number of the answer, from 0.
    """

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
        """Return the seconds before the deadline, at least 0.001."""
        return max(0.001, self.deadline - time.monotonic())

    @property
    def messages(self) -> list[dict[str, str]]:
        """The prompts as messages, the system prompt first."""
        first = [{"role": "system", "content": self.system}] if self.system is not None else []
        return [*first, {"role": "user", "content": self.prompt}]

    @property
    def options_with_stop_sequences(self) -> dict[str, Any]:
        """The options, with OpenAI's `stop` (a text or a list) converted to the protocol's list `stop_sequences`."""
        options = dict(self.options)
        if "stop" in options:
            stop = options.pop("stop")
            options["stop_sequences"] = [stop] if isinstance(stop, str) else stop
        return options


@dataclass(frozen=True)
class Answer:
    """The answer of a provider.

    Attributes:
        id: the provider's id of the answer.
        cached: True if the provider repeats an earlier answer.
        latency_ms: measured by the provider; None if the caller measures it.
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
        """Return a description of a field whose value has a wrong type, as a part of a sentence; empty if there is
        none.
        """
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
    """A failed call of a provider.

    Args:
        name: the error class of the protocol, such as ``ResourceExhausted``; it determines if a retry is allowed
            (ERRORS 4).
        detail: the provider's message, which may contain content.
        is_own: True if this product wrote the message, so that it contains no content.
    """

    def __init__(
        self, name: str, detail: str = "", retry_after_ms: float | None = None, *, is_own: bool = False
    ) -> None:
        super().__init__(f"{name}: {detail}" if detail else name)
        self.name, self.detail, self.retry_after_ms, self.is_own = name, detail, retry_after_ms, is_own

    @property
    def retryable(self) -> bool:
        """True if a retry can succeed."""
        known = TAXONOMY.get(self.name)
        return known is not None and known.retry == "yes"


class BundleProvider(Protocol):
    """Answers requests. It may block, because each call runs in a daemon thread and is abandoned at its deadline.

    Attributes:
        label: the name in reports, with the model if one is named.
        calls: the number of calls that one request needs.
    """

    label: str
    calls: int = 1

    def complete(self, request: CompletionRequest) -> Answer:
        """Answer one request. Raises ProviderError if there is no answer."""

    def close(self) -> None:
        """Release resources, if the provider has any."""
        return
