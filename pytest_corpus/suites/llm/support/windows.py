"""The models of an LLM, and the prompts that their context windows hold."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pytest_corpus.adapter import inputs
from pytest_corpus.kit import expect
from pytest_corpus.kit.outcomes import NotAssessed
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.kit.run_state import MOST_WORDS, Shared
from pytest_corpus.suites.shared.claims.tokens import ListedModels

MOST_WINDOW = 40_000
"""A larger window is not filled only to see that it holds."""

SMALL = 128
"""A window of fewer tokens may not hold an ordinary prompt where a byte is a token."""


@dataclass(slots=True)
class LLMShared(Shared):
    """By operation and optional argument whether it is taken."""

    learnt = (*Shared.learnt, "taken")

    taken: dict[tuple[str, str], bool] = field(default_factory=dict)


class Windows(ListedModels):
    """Models, and requests that fit their windows."""

    component = "llm"
    principal = "complete"
    principal_stream = "stream"
    checked = "LLM-MSG-4"
    unknown = "LLM-MODEL-2"
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
    def small(self) -> bool:
        """Return whether the context window is so small that an ordinary prompt may not fit."""
        return not self.holds(" " * SMALL)

    def holds(self, text: str) -> bool:
        """Return whether a text surely fits the stated window, even where each byte is a token."""
        window = self.capabilities.context_window(self.model)
        return window is None or len(text.encode()) <= window

    def allowed(self, tokens: int) -> int:
        """Return this number of tokens, or fewer if prompt and completion must share a small window."""
        window = self.capabilities.context_window(self.model)
        return tokens if window is None else max(1, min(tokens, window // 4))

    def fits(self, reply: Reply | StreamReply) -> None:
        """Give no verdict (NotAssessed) on a bad request that may have been refused for a small window."""
        if self.small and reply.is_a("BadRequest"):
            raise NotAssessed(f"a window of {self.window()} tokens may be too small for this request")

    def turns(self, *texts: str) -> list[dict[str, Any]]:
        """Messages in the order that any LLM must take: user and assistant in turns (R53); without roles the user's."""
        roles = ("user",) if self.capabilities.flag("supports_roles") is False else ("user", "assistant")
        return [{"role": roles[number % len(roles)], "content": text} for number, text in enumerate(texts)]

    def unique(self, prefix: str = "note") -> str:
        if not self.small:
            return super().unique(prefix)
        return f"{self.settings.run[:2]}{inputs.ordinal(MOST_WORDS)}"

    def window(self, model: str | None = None) -> int:
        """The context window of a model, else of the one in use. Raises NotApplicable if none is stated."""
        window = self.capabilities.context_window(model or self.model)
        return expect.applicable(window, "capabilities state no context length")
