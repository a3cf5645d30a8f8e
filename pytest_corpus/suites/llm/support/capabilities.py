"""The options of an LLM adapter, as stated or tried; its models; and prompts that fit their context windows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pytest_corpus.adapter import inputs
from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import cached, remembered_by_all
from pytest_corpus.kit.judgement import reading_separately
from pytest_corpus.kit.outcomes import NotAssessed
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.kit.run_state import MOST_WORDS, Shared
from pytest_corpus.kit.vocabulary import texts
from pytest_corpus.spec.capabilities import SAMPLING_RANGES
from pytest_corpus.spec.errors import FILTERED, PERMANENT
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.suites.shared.claims.tokens import ListedModels

MOST_WINDOW = 40_000
"""A larger window is not filled in a test, because that would be expensive."""

SMALL = 128
"""If each byte is a token, a window of fewer tokens may not hold an ordinary prompt."""


@dataclass(slots=True)
class LLMShared(Shared):
    """The results of trials. By operation and argument, `taken` is True if the operation accepts the argument.

    `brief` is True if a small `max_tokens` is accepted, `roomy` if a large one is; None before the trial.
    """

    learnt = (*Shared.learnt, "taken", "brief", "roomy")

    taken: dict[tuple[str, str], bool] = field(default_factory=dict)
    brief: bool | None = None
    roomy: bool | None = None


class ContextWindows(ListedModels):
    """Chooses models, and makes requests that fit their context windows."""

    component = "llm"
    principal = "complete"
    principal_stream = "stream"
    wrong_type_requirement = "LLM-MSG-4"
    unknown = "LLM-MODEL-2"

    shared: LLMShared

    @cached_property
    def model(self) -> str | None:
        """The model in plain requests: the listed model whose entry denies the fewest features, or None."""
        return min(self.capabilities.models, key=lambda model: len(self.capabilities.denied_flags(model)), default=None)

    def models_with(self, flag: str) -> list[str]:
        """Return the listed models whose own entry does not deny a feature."""
        return [model for model in self.capabilities.models if flag not in self.capabilities.denied_flags(model)]

    @property
    def has_small_limit(self) -> bool:
        """True if an ordinary prompt may exceed the context window."""
        return not self.can_take_text(" " * SMALL)

    def can_take_text(self, text: str) -> bool:
        """True if a text certainly fits the stated window, even if each byte is a token."""
        window = self.capabilities.context_window(self.model)
        return window is None or len(text.encode()) <= window

    def limit_to_window(self, tokens: int) -> int:
        """Return this number of tokens, or fewer if the prompt and the completion must share a small window."""
        window = self.capabilities.context_window(self.model)
        return tokens if window is None else min(tokens, max(1, window // 4))

    def require_fit(self, reply: Reply | StreamReply) -> None:
        """Raise NotAssessed if a request may have been refused because of a small window."""
        if self.has_small_limit and reply.is_a("BadRequest"):
            raise NotAssessed(Obstacle.SMALL_WINDOW, tokens=self.window())
        expect.assessable(not exceeds_unstated_window(self, reply), Obstacle.UNSTATED_WINDOW)

    def conversation(self, *texts: str) -> list[dict[str, Any]]:
        """Return messages with these texts that every LLM accepts (R53): user and assistant in turn, or user alone."""
        roles = ("user",) if self.capabilities.flag("supports_roles") is False else ("user", "assistant")
        return [{"role": roles[number % len(roles)], "content": text} for number, text in enumerate(texts)]

    def unique(self, prefix: str = "note") -> str:
        if not self.has_small_limit:
            return super().unique(prefix)
        return f"{self.settings.run[:2]}{inputs.unique_ordinal(MOST_WORDS)}"

    def window(self, model: str | None = None) -> int:
        """Return the context window of a model, by default of the plain one. Raises NotApplicable if none is stated."""
        window = self.capabilities.context_window(model or self.model)
        return expect.applicable(window, "capabilities state no context length")


def exceeds_unstated_window(llm: ContextWindows, reply: Reply | StreamReply) -> bool:
    """True if a prompt is too long for a window that capabilities do not state."""
    return llm.capabilities.context_window(llm.model) is None and reply.is_a("PromptTooLong")


RANGES = {
    "temperature": (0.0, 2.0),
    "top_p": (0.0, 1.0),
    "frequency_penalty": (-2.0, 2.0),
    "presence_penalty": (-2.0, 2.0),
}
"""The protocol's ranges; only `top_p` excludes its lower end."""

UNSIGNED = ("stop_sequences", "top_p", "frequency_penalty", "presence_penalty")
"""Arguments that the signature of `stream` lacks; `complete` lacks only the first of them (SPECIFICATION 8.3; R117)."""

NO_STOPS: tuple[Any, ...] = (7, "###", [7])
"""Values that are not a list of stop sequences."""

MOST_MODELS = 5
"""The suite tries at most this many listed models; a catalogue may be long, and each call costs money."""

MINIMUM = 16
"""The largest minimum of `max_tokens` that a provider may have (R117)."""

BRIEF, LONG = 16, 64
"""The `max_tokens` of ordinary requests, and of requests for a long text."""

OPTIONAL = {
    "stop_sequences": ["###"],
    "max_tokens": BRIEF,
    "temperature": 0.5,
    "top_p": 0.9,
    "frequency_penalty": 0.1,
    "presence_penalty": 0.1,
    "system_message": "Be brief.",
}
"""Every optional argument of a completion without tools, with a valid value."""


class LLMCapabilities(ContextWindows):
    """Tools, sampling, and the optional arguments that an operation accepts."""

    @property
    def offers_tools(self) -> bool | None:
        """True if the flag or a model's entry offers tools; None if nothing is stated."""
        flag, models = self.capabilities.flag("supports_tools"), self.capabilities.models
        if flag is None and models and not self.models_with("supports_tools"):
            return False
        entries = [entry.get("supports_tools") for entry in self.capabilities.model_entries]
        return True if flag is None and True in entries else flag

    @property
    def usual_limit(self) -> dict[str, int]:
        """The `max_tokens` of ordinary requests, as an argument.

        Empty if the window is small, or if the model (such as a reasoning model) refuses so small a limit.
        """
        if self.limit_to_window(BRIEF) < BRIEF or not self.shared.find_once(
            "brief", lambda: self._accepts_limit(BRIEF)
        ):
            return {}
        return {"max_tokens": BRIEF}

    def _accepts_limit(self, tokens: int) -> bool:
        args = {"messages": [{"role": "user", "content": "hi"}], **({"model": self.model} if self.model else {})}
        with self.client.provider.paused():
            refused = self.call("complete", {**args, "max_tokens": tokens}).is_a(*PERMANENT)
            return not (refused and self.call("complete", args).is_success)

    def other_limit(self, operation: str) -> int:
        """Return a `max_tokens` that differs from the one in ordinary requests."""
        return BRIEF + 1 if self.usual_limit else self.limit(BRIEF // 2, operation)

    def limit(self, tokens: int, operation: str = "complete") -> int:
        """Return a `max_tokens` that the adapter accepts: `tokens` if possible, else another number (R117)."""
        if (
            tokens > BRIEF
            and self.usual_limit
            and not self.shared.find_once("roomy", lambda: self._accepts_limit(LONG))
        ):
            tokens = BRIEF
        limit = self.limit_to_window(tokens)
        if limit < MINIMUM and not self.accepts(operation, max_tokens=limit):
            return MINIMUM if self.accepts(operation, max_tokens=MINIMUM) else limit
        return limit

    def optional_arguments(self) -> dict[str, Any]:
        """Return every optional argument of a completion without tools, with a value that should be accepted."""
        values: dict[str, Any] = {**OPTIONAL, "max_tokens": self.limit_to_window(BRIEF)}
        if not self.has_small_limit:  # the same words in the whole run, because its answer is shared
            values["system_message"] += cached(self, "odd texts", self._odd_words, common=True)
        for name in SAMPLING_RANGES:
            low, high = self.range_of(name)
            values[name] = min(max(float(values[name]), low), high)
        return values

    def _odd_words(self) -> str:
        """Return unusual words for a system message; an empty string if a content filter refuses them."""
        words = " ".join(["", *texts(3)])
        asked = {"system_message": f"{OPTIONAL['system_message']}{words}"}
        return "" if self.works("complete") and self.ask_once("complete", **asked).is_a(*FILTERED) else words

    def range_of(self, name: str) -> tuple[float, float]:
        """Return the range of a sampling parameter that both the protocol and capabilities allow."""
        low, high = RANGES[name]
        stated = self.stated_range(name)
        return (max(low, stated[0]), min(high, stated[1])) if stated else (low, high)

    def stated_range(self, name: str) -> tuple[float, float] | None:
        """Return the range of a sampling parameter that capabilities state (SPECIFICATION 8.4), or None."""
        sampling = self.capabilities.document.get("sampling")
        stated = sampling.get(SAMPLING_RANGES.get(name, "")) if isinstance(sampling, Mapping) else None
        fit = isinstance(stated, list) and len(stated) == 2 and all(isinstance(end, (int, float)) for end in stated)
        return (stated[0], stated[1]) if fit and stated is not None else None

    def claims(self, name: str, operation: str = "complete") -> bool | None:
        """True if capabilities or the protocol promise an optional argument, False if they deny it, else None."""
        if name == "system_message":
            return self.capabilities.flag("supports_system_message")
        stated = self.stated_range(name) and not (operation == "stream" and name in UNSIGNED)
        return True if stated or name not in OPTIONAL or name == "max_tokens" else None

    @reading_separately()
    def accepts_argument(self, name: str, operation: str = "complete") -> bool:
        """True if an operation accepts an optional argument. It may refuse an argument that is not claimed (R117).

        A claimed argument counts as accepted, whatever the answer.
        """
        claimed = self.claims(name, operation)
        if claimed is not None:
            return claimed
        if (operation, name) not in self.shared.taken:
            self.shared.taken[operation, name] = self.accepts(operation, **{name: self.optional_arguments()[name]})
        return self.shared.taken[operation, name]

    @reading_separately()
    def models_able_to(self, name: str) -> list[str]:
        flag = self.operation(name).capability or "supports_completion"
        self.require("complete")
        self.models()
        models = self.models_with(flag)[:MOST_MODELS]
        expect.applicable(models, f"every listed model denies {flag}")
        with expect.resting_on("LLM-MODEL-1"):
            for model in models:
                expect.works(self.ask_once("complete", model=model), "a completion by every listed model")
        return models

    @reading_separately()
    def accepts(self, operation: str, **changed: Any) -> bool:
        """True if `complete` or `stream` accepts a plain request with some arguments changed."""
        return self.works(operation) and not self.ask_once(operation, **changed).is_a(*PERMANENT)

    @remembered_by_all
    def ask_once(self, name: str, **changed: Any) -> Reply | StreamReply:
        """Call `complete` or `stream`, once a run, with a plain request in which some arguments are changed."""
        reply = self.invoke(name, self.changed_arguments(name, changed))
        if (
            changed.keys() == {"model"} and self.usual_limit and reply.is_a(*PERMANENT)
        ):  # a reasoning model may need more tokens
            plain = self.changed_arguments(name, changed)
            del plain["max_tokens"]
            return self.invoke(name, plain)
        return reply

    def changed_arguments(self, name: str, changed: Mapping[str, Any]) -> dict[str, Any]:
        """Return plain arguments with these changes. With tools, omit `max_tokens`, which could cut a tool call off."""
        plain = self.requests.minimal(name)
        if "tools" in changed:
            plain.pop("max_tokens", None)
        return {**plain, **changed}

    def ask_model_once(self, name: str, model: str) -> Reply | StreamReply:
        return self.ask_once(name, model=model)

    def complete_once(self, **changed: Any) -> Reply:
        """Call `complete`, once a run, with a plain request in which some arguments are changed."""
        reply = self.ask_once("complete", **changed)
        assert isinstance(reply, Reply)
        return reply
