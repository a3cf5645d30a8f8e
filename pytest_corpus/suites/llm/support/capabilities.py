"""The options of an LLM adapter, stated or found out; its models, and the prompts that their windows hold."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pytest_corpus.adapter import inputs
from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import cached, remembered
from pytest_corpus.kit.judgement import reading_apart
from pytest_corpus.kit.outcomes import NotAssessed
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.kit.run_state import MOST_WORDS, Shared
from pytest_corpus.kit.vocabulary import texts
from pytest_corpus.spec.capabilities import SAMPLING_RANGES
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.suites.shared.claims.tokens import ListedModels

MOST_WINDOW = 40_000
"""A larger window is not filled only to see that it holds."""

SMALL = 128
"""A window of fewer tokens may not hold an ordinary prompt where a byte is a token."""


@dataclass(slots=True)
class LLMShared(Shared):
    """By operation and optional argument whether it is taken; whether short completions are."""

    learnt = (*Shared.learnt, "taken", "brief", "roomy")

    taken: dict[tuple[str, str], bool] = field(default_factory=dict)
    brief: bool | None = None
    roomy: bool | None = None


class Windows(ListedModels):
    """Models, and requests that fit their windows."""

    component = "llm"
    principal = "complete"
    principal_stream = "stream"
    checked = "LLM-MSG-4"
    unknown = "LLM-MODEL-2"

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
        """True if the context window is so small that an ordinary prompt may not fit."""
        return not self.holds(" " * SMALL)

    def holds(self, text: str) -> bool:
        """True if a text surely fits the stated window, even where each byte is a token."""
        window = self.capabilities.context_window(self.model)
        return window is None or len(text.encode()) <= window

    def allowed(self, tokens: int) -> int:
        """Return this number of tokens, or fewer if prompt and completion must share a small window."""
        window = self.capabilities.context_window(self.model)
        return tokens if window is None else min(tokens, max(1, window // 4))

    def fits(self, reply: Reply | StreamReply) -> None:
        """Give no verdict (NotAssessed) on a bad request that may have been refused for a small window."""
        if self.small and reply.is_a("BadRequest"):
            raise NotAssessed(Obstacle.SMALL_WINDOW, tokens=self.window())

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


RANGES = {
    "temperature": (0.0, 2.0),
    "top_p": (0.0, 1.0),
    "frequency_penalty": (-2.0, 2.0),
    "presence_penalty": (-2.0, 2.0),
}
"""The protocol's ranges; only `top_p` leaves out its lower end."""

UNSIGNED = ("stop_sequences", "top_p", "frequency_penalty", "presence_penalty")
"""Arguments that stand in no signature of `stream`, the first one in none at all (SPECIFICATION 8.3; R117)."""

NO_STOPS: tuple[Any, ...] = (7, "###", [7])
"""Values that are not a list of stop sequences."""

PERMANENT = ("BadRequest", "NotSupported")
"""The classes that refuse a valid value that a provider does not take (R117)."""

MOST_MODELS = 5
"""Listed models that are tried; a catalogue may be long, and each call costs."""

MINIMUM = 16
"""The largest minimum of `max_tokens` that a provider may ask for (R117)."""

BRIEF, LONG = 16, 64
"""The `max_tokens` of requests that do not speak of length, and of those that ask for a long text."""

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


class LLMCapabilities(Windows):
    """Tools, sampling and the optional arguments that an operation takes."""

    @property
    def tools(self) -> bool | None:
        """True if tools are offered, by the flag or by the entries of the models; None if nothing says so."""
        flag, models = self.capabilities.flag("supports_tools"), self.capabilities.models
        if flag is None and models and not self.able("supports_tools"):
            return False
        entries = [entry.get("supports_tools") for entry in self.capabilities.model_entries]
        return True if flag is None and True in entries else flag

    @property
    def brief(self) -> dict[str, int]:
        """The `max_tokens` of requests that do not speak of length.

        There is none in a window that holds few tokens, nor if a model refuses so few, as one that has to think may.
        """
        if self.allowed(BRIEF) < BRIEF or not self.shared.once("brief", lambda: self._takes(BRIEF)):
            return {}
        return {"max_tokens": BRIEF}

    def _takes(self, tokens: int) -> bool:
        args = {"messages": [{"role": "user", "content": "hi"}], **({"model": self.model} if self.model else {})}
        with self.client.provider.paused():
            refused = self.call("complete", {**args, "max_tokens": tokens}).is_a(*PERMANENT)
            return not (refused and self.call("complete", args).is_success)

    def other_limit(self, operation: str) -> int:
        """A `max_tokens` that plain requests do not have."""
        return BRIEF + 1 if self.brief else self.limit(BRIEF // 2, operation)

    def limit(self, tokens: int, operation: str = "complete") -> int:
        """This `max_tokens`; fewer if the adapter refuses it, or the least that the adapter takes (R117)."""
        if tokens > BRIEF and self.brief and not self.shared.once("roomy", lambda: self._takes(LONG)):
            tokens = BRIEF
        limit = self.allowed(tokens)
        if limit < MINIMUM and not self.accepts(operation, max_tokens=limit):
            return MINIMUM if self.accepts(operation, max_tokens=MINIMUM) else limit
        return limit

    def optional(self) -> dict[str, Any]:
        """Every optional argument of a completion without tools, with a value that the adapter says it takes."""
        values: dict[str, Any] = {**OPTIONAL, "max_tokens": self.allowed(BRIEF)}
        if not self.small:  # the same words all through a run, for answers are asked for once
            values["system_message"] += " " + cached(self, "odd texts", lambda: " ".join(texts(3)))
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

    def claims(self, name: str, operation: str = "complete") -> bool | None:
        """True if capabilities, or every adapter, offer an optional argument; None if nothing states it."""
        if name == "system_message":
            return self.capabilities.flag("supports_system_message")
        stated = self.stated_range(name) and not (operation == "stream" and name in UNSIGNED)
        return True if stated or name not in OPTIONAL or name == "max_tokens" else None

    @reading_apart()
    def takes(self, name: str, operation: str = "complete") -> bool:
        """True if an operation takes an optional argument: an unclaimed one may be refused (R117).

        What is claimed counts as taken whatever the answer.
        """
        claimed = self.claims(name, operation)
        if claimed is not None:
            return claimed
        if (operation, name) not in self.shared.taken:
            self.shared.taken[operation, name] = self.accepts(operation, **{name: self.optional()[name]})
        return self.shared.taken[operation, name]

    @reading_apart()
    def able_to(self, name: str) -> list[str]:
        flag = self.operation(name).capability or "supports_completion"
        self.require("complete")
        self.models()
        models = self.able(flag)[:MOST_MODELS]
        expect.applicable(models, f"every listed model denies {flag}")
        with expect.resting_on("LLM-MODEL-1"):
            for model in models:
                expect.works(self.known("complete", model=model), "a completion by every listed model")
        return models

    @reading_apart()
    def accepts(self, operation: str, **changed: Any) -> bool:
        """True if `complete` or `stream` takes a plain request with some arguments changed."""
        return self.works(operation) and not self.known(operation, **changed).is_a(*PERMANENT)

    @remembered
    def known(self, name: str, **changed: Any) -> Reply | StreamReply:
        """The answer that `complete` or `stream` gives to a plain request with some arguments changed, once a run."""
        reply = self.invoke(name, self.changed(name, changed))
        if changed.keys() == {"model"} and self.brief and reply.is_a(*PERMANENT):  # another model may have to think
            plain = self.changed(name, changed)
            del plain["max_tokens"]
            return self.invoke(name, plain)
        return reply

    def changed(self, name: str, changed: Mapping[str, Any]) -> dict[str, Any]:
        """Plain arguments of an operation with some of them changed. A call of a tool may not be cut: no limit."""
        plain = self.requests.minimal(name)
        if "tools" in changed:
            plain.pop("max_tokens", None)
        return {**plain, **changed}

    def known_model(self, name: str, model: str) -> Reply | StreamReply:
        return self.known(name, model=model)

    def known_complete(self, **changed: Any) -> Reply:
        """The answer of `complete` to a plain request with some arguments changed, once a run."""
        reply = self.known("complete", **changed)
        assert isinstance(reply, Reply)
        return reply
