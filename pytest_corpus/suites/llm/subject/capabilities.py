"""What an LLM adapter says of itself, and what follows for what may be asked of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pytest_corpus.kit.answer_cache import cached
from pytest_corpus.kit.outcomes import NotApplicable, NotAssessed
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.kit.requests import canary
from pytest_corpus.kit.run_state import Shared
from pytest_corpus.spec.capabilities import SAMPLING_RANGES
from pytest_corpus.suites.common.claims.tokens import Counting

RANGES = {
    "temperature": (0.0, 2.0),
    "top_p": (0.0, 1.0),
    "frequency_penalty": (-2.0, 2.0),
    "presence_penalty": (-2.0, 2.0),
}
"""The protocol's ranges; only `top_p` leaves out its lower end."""


UNSIGNED = ("stop_sequences", "top_p", "frequency_penalty", "presence_penalty")
"""Arguments that stand in no signature of `stream`, the first one in none at all (SPECIFICATION 8.3; R117)."""

NO_STOPS: tuple[Any, ...] = (7, "###", [7], {"a": 1})
"""What is no list of stop sequences."""

PERMANENT = ("BadRequest", "NotSupported")
"""The classes that refuse a valid value that a provider does not take (R117)."""

MINIMUM = 16
"""A provider may ask for a `max_tokens` of at least so many, or fewer (R117)."""


OPTIONAL = {
    "stop_sequences": ["###"],
    "max_tokens": 16,
    "temperature": 0.5,
    "top_p": 0.9,
    "frequency_penalty": 0.1,
    "presence_penalty": 0.1,
    "system_message": "Be brief.",
}
"""Every optional argument of a completion without tools, with a valid value."""


MOST_WINDOW = 40_000
"""A larger window is not filled only to see that it holds."""


SMALL = 128
"""A window of fewer tokens may not hold an ordinary prompt where a byte is a token."""


@dataclass(slots=True)
class LLMShared(Shared):
    """By operation and optional argument whether it is taken."""

    learnt = (*Shared.learnt, "taken")

    taken: dict[tuple[str, str], bool] = field(default_factory=dict)


class LLMCapabilities(Counting):
    """Models, tools, windows and sampling of the LLM component."""

    component = "llm"
    principal = "complete"
    principal_stream = "stream"
    checked = "LLM-MSG-4"
    content = ("text", "tool_calls")

    shared_type = LLMShared
    shared: LLMShared

    @cached_property
    def model(self) -> str | None:
        """The model that plain requests name: the listed one whose entry denies least, or None."""
        return min(self.capabilities.models, key=lambda model: len(self.capabilities.denials(model)), default=None)

    def able(self, flag: str) -> list[str]:
        """The listed models but for those whose own entry denies a flag."""
        return [model for model in self.capabilities.models if flag not in self.capabilities.denials(model)]

    @property
    def tools(self) -> bool | None:
        """Whether tools are offered, by the flag or by the entries of the models; None where nothing says so."""
        flag, models = self.capabilities.flag("supports_tools"), self.capabilities.models
        if flag is None and models and not self.able("supports_tools"):
            return False
        entries = [entry.get("supports_tools") for entry in self.capabilities.model_entries]
        return True if flag is None and True in entries else flag

    @property
    def small(self) -> bool:
        """Whether the context window is so small that an ordinary prompt may not fit."""
        return not self.holds(" " * SMALL)

    def holds(self, text: str) -> bool:
        """Whether a text surely fits the stated window, even where each byte is a token."""
        window = self.capabilities.context_window(self.model)
        return window is None or len(text.encode()) <= window

    def allowed(self, tokens: int) -> int:
        """So many tokens of a completion, or fewer where prompt and completion must share a small window."""
        window = self.capabilities.context_window(self.model)
        return tokens if window is None else max(1, min(tokens, window // 4))

    def limit(self, tokens: int, operation: str = "complete") -> int:
        """A `max_tokens` of so many, or fewer in a small window, or the most that a provider may ask for (R117)."""
        limit = self.allowed(tokens)
        if limit < MINIMUM and not self.accepts(operation, max_tokens=limit):
            return MINIMUM if self.accepts(operation, max_tokens=MINIMUM) else limit
        return limit

    def fits(self, reply: Reply | StreamReply) -> None:
        """Leave it open where a request may have been refused for a small window.

        Raises:
            NotAssessed: it was a bad request, and the window is small.
        """
        if self.small and reply.is_a("BadRequest"):
            raise NotAssessed(f"a window of {self.window()} tokens may be too small for this request")

    def optional(self) -> dict[str, Any]:
        """Every optional argument of a completion without tools, with a value that the adapter says it takes."""
        values: dict[str, Any] = {**OPTIONAL, "max_tokens": self.allowed(16)}
        for name in SAMPLING_RANGES:
            low, high = self.range_of(name)
            values[name] = min(max(float(values[name]), low), high)
        return values

    def range_of(self, name: str) -> tuple[float, float]:
        """The range of a sampling parameter that both the protocol and the adapter's own statement admit."""
        low, high = RANGES[name]
        stated = self.stated_range(name)
        return (max(low, stated[0]), min(high, stated[1])) if stated else (low, high)

    def stated_range(self, name: str) -> tuple[float, float] | None:
        """The range of a sampling parameter that capabilities state (SPECIFICATION 8.4), or None."""
        sampling = self.capabilities.document.get("sampling")
        stated = sampling.get(SAMPLING_RANGES.get(name, "")) if isinstance(sampling, Mapping) else None
        fit = isinstance(stated, list) and len(stated) == 2 and all(isinstance(end, (int, float)) for end in stated)
        return (stated[0], stated[1]) if fit and stated is not None else None

    def turns(self, *texts: str) -> list[dict[str, Any]]:
        """Messages in the order that any LLM must take: user and assistant in turns (R53); without roles the user's."""
        roles = ("user",) if self.capabilities.flag("supports_roles") is False else ("user", "assistant")
        return [{"role": roles[number % len(roles)], "content": text} for number, text in enumerate(texts)]

    def claims(self, name: str, operation: str = "complete") -> bool | None:
        """Whether an optional argument is offered by capabilities, or by every adapter; None where nothing says so."""
        if name == "system_message":
            return self.capabilities.flag("supports_system_message")
        stated = self.stated_range(name) and not (operation == "stream" and name in UNSIGNED)
        return True if stated or name not in OPTIONAL or name == "max_tokens" else None

    def takes(self, name: str, operation: str = "complete") -> bool:
        """Whether an operation takes an optional argument: what nothing claims may be refused permanently (R117).

        What is claimed counts as taken whatever the answer.
        """
        claimed = self.claims(name, operation)
        if claimed is not None:
            return claimed
        if (operation, name) not in self.shared.taken:
            self.shared.taken[operation, name] = self.accepts(operation, **{name: self.optional()[name]})
        return self.shared.taken[operation, name]

    def accepts(self, operation: str, **changed: Any) -> bool:
        """Whether `complete` or `stream` does not refuse a plain request with some arguments changed permanently."""
        return not self.known(operation, **changed).is_a(*PERMANENT)

    def known(self, name: str, **changed: Any) -> Reply | StreamReply:
        """The answer that `complete` or `stream` gives to a plain request with some arguments changed, once a run."""
        key = ("asked", name, json.dumps(changed, sort_keys=True))
        return cached(self, key, lambda: self.invoke(name, {**self.requests.minimal(name), **changed}))

    def unique(self, prefix: str = "note") -> str:
        if not self.small:
            return super().unique(prefix)
        return f"{self.settings.run[:2]}{self.shared.number()}"

    def unknown_model(self) -> str:
        """A name that is surely not listed.

        Raises:
            NotApplicable: capabilities list no models.
        """
        self.models()
        return f"no-such-model-{canary()}"

    def unknown_models(self) -> tuple[str, ...]:
        """Names that are surely not listed: a strange one, and one that begins like a listed one.

        Raises:
            NotApplicable: capabilities list no models.
        """
        return self.unknown_model(), f"{self.models()[0]}-{canary()}"

    def window(self) -> int:
        """The context window of the model in use.

        Raises:
            NotApplicable: none is stated.
        """
        window = self.capabilities.context_window(self.model)
        if window is None:
            raise NotApplicable("capabilities state no context length")
        return window
