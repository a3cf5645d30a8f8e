"""The LLM component as its suite speaks to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.audit import payload_problem
from pytest_corpus.kit.component import Subject
from pytest_corpus.kit.fixtures import SUBJECT
from pytest_corpus.kit.outcomes import NotApplicable, NotAssessed, Violation
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.spec.words import FINISH_REASONS
from pytest_corpus.suites.common.claims.tokens import Counting

RANGES = {
    "temperature": (0.0, 2.0),
    "top_p": (0.0, 1.0),
    "frequency_penalty": (-2.0, 2.0),
    "presence_penalty": (-2.0, 2.0),
}
"""The protocol's ranges; only `top_p` leaves out its lower end."""

STATED = {"temperature": "temperature_range", "top_p": "top_p_range"}
"""Under which key of `sampling` an adapter states a range of its own."""

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

SCRIPTS = "Gr\u00fc\u00dfe, e\u0301 \u6771\u4eac \u05e9\u05dc\u05d5\u05dd \U0001f600\U0001d11e"
"""A prompt with letters of several scripts, a combining mark and characters beyond the basic plane."""

MOST_WINDOW = 40_000
"""A larger window is not filled only to see that it holds."""

SMALL = 128
"""A window of fewer tokens may not hold an ordinary prompt where a byte is a token."""


WEATHER: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather of a place.",
        "parameters": {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]},
    },
}
"""A tool that any model can call."""

CALL = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "get_weather", "arguments": '{"place": "Oslo"}'},
}
"""A call of it by an assistant."""

CLOCK = {
    "type": "function",
    "function": {
        "name": "get_time",
        "description": "The time.",
        "parameters": {"type": "object", "properties": {}},
    },
}


def user(content: str) -> dict[str, Any]:
    """A message of the user."""
    return {"role": "user", "content": content}


class LLM(Counting):
    """Requests of the LLM component. `model` is the first listed one, or left out where none is listed."""

    component = "llm"
    principal = "complete"
    principal_stream = "stream"
    checked = "LLM-MSG-4"
    content = ("text", "tool_calls")
    core: Mapping[str, str] = {**Subject.core, "complete": "LLM-COMPLETE-1"}
    payloads: Mapping[str, str] = {
        "capabilities": "COM-CAP-1",
        "health": "COM-HEALTH-1",
        "complete": "LLM-COMPLETE-1",
        "stream": "LLM-STREAM-1",
        "count_tokens": "LLM-TOKENS-1",
    }

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._taken: dict[str, bool] = {}

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
        for name in STATED:
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
        stated = sampling.get(STATED.get(name, "")) if isinstance(sampling, Mapping) else None
        fit = isinstance(stated, list) and len(stated) == 2 and all(isinstance(end, (int, float)) for end in stated)
        return (stated[0], stated[1]) if fit and stated is not None else None

    def takes(self, name: str) -> bool:
        """Whether an optional argument is offered: NOT_SUPPORTED is the answer to one that is not (SPECIFICATION 12.4).

        What capabilities claim, or no adapter can do without, counts as offered whatever the answer.
        """
        claimed = {
            "max_tokens": True,
            "system_message": self.capabilities.flag("supports_system_message"),
            **{name: True for name in STATED if self.stated_range(name)},
        }.get(name)
        if claimed is not None or name not in OPTIONAL:
            return claimed is not False
        if name not in self._taken:
            self._taken[name] = not self.complete(**{name: self.optional()[name]}).is_a("NotSupported")
        return self._taken[name]

    def unique(self, prefix: str = "note") -> str:
        if not self.small:
            return super().unique(prefix)
        self._made.count += 1
        return f"{self.settings.run[:2]}{self._made.count}"

    def minimal(self, name: str) -> dict[str, Any]:
        model = {"model": self.model} if self.model else {}
        if name in ("complete", "stream"):
            return {"messages": [user("hi")], **model}
        return {"text": "hi", **model} if name == "count_tokens" else {}

    def distinct(self, name: str) -> dict[str, Any]:
        args = self.minimal(name)
        if "messages" in args:
            args["messages"] = [user(self.unique())]
        elif "text" in args:
            args["text"] = self.unique()
        return args

    def wrong_types(self, name: str) -> dict[str, Any]:
        if name in ("complete", "stream"):
            return {"messages": "hi"}
        return {"text": 7} if name == "count_tokens" else {}

    def requests_with_number(self, number: float) -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
        names = [name for name in (*RANGES, "max_tokens") if self.takes(name)]
        found: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
            (operation, self.args(**{name: number}), {}) for operation in ("complete", "stream") for name in names
        ]
        return [*found, *((name, self.minimal(name), {"deadline_ms": number}) for name in self.deadlined())]

    def requests_with_integer(self, number: int) -> list[tuple[str, dict[str, Any]]]:
        return [("complete", self.args(max_tokens=number)), ("stream", self.args(max_tokens=number))]

    def distinguishable(self) -> list[dict[str, Any]]:
        self.require("complete")
        many = max(2, min(6, self.capabilities.limit("concurrency") or 6))
        if self.small:
            many = max(2, min(many, self.window() // 4))
        texts = [
            " ".join(word if self.small else f"{word}{self.unique('')}" for word in "abcdef"[: number + 1])
            for number in range(many)
        ]
        prompts = [self.envelope("complete", self.args(messages=[user(text)])) for text in texts]
        if not self.works("count_tokens") or many < 4:
            return prompts
        counts = [self.envelope("count_tokens", {**self.minimal("count_tokens"), "text": text}) for text in texts]
        return [*prompts[: many - many // 2], *counts[many - many // 2 :]]

    def fingerprint(self, reply: Reply) -> Any:
        self.fits(reply)
        result = expect.success(reply, "the answer that the request gets alone")
        if isinstance(result, Mapping) and "usage" in result:
            usage = result["usage"]
            return usage.get("prompt_tokens") if isinstance(usage, Mapping) else None
        return self.tokens_of(result)

    def requests_with_canaries(
        self, *, refused: bool
    ) -> list[tuple[str, dict[str, Any], dict[str, Any], dict[str, str]]]:
        text = self.canary()
        plain = {"messages": [user(text)]}
        counted = {**self.minimal("count_tokens"), "text": text}
        requests: list[tuple[str, dict[str, Any], dict[str, Any]]]
        if not refused:
            good: list[dict[str, Any]] = [plain]
            if self.takes("system_message"):
                good.append({"system_message": text})
            if self.capabilities.flag("supports_roles") is not False:
                good.append({"messages": [user(text), {"role": "assistant", "content": text}, user("hi")]})
            if self.takes("stop_sequences"):
                good.append({"stop_sequences": [text]})
            if self.tools and self.model in (None, *self.able("supports_tools")):
                told = {"role": "tool", "content": text, "tool_call_id": "call_1", "name": "get_weather"}
                asked = {"role": "assistant", "content": "Let me see.", "tool_calls": [CALL]}
                good.append({"tools": [{**WEATHER, "function": {**WEATHER["function"], "description": text}}]})
                good.append({"tools": [WEATHER], "messages": [user("hi"), asked, told]})
            requests = [(operation, self.args(**args), {}) for operation in ("complete", "stream") for args in good]
            requests += [("count_tokens", counted, {})]
        else:
            expired = {"deadline_ms": self.in_ms(-60_000)}
            wrong: list[dict[str, Any]] = [
                {**plain, "temperature": 9},
                {**plain, "max_tokens": -1},
                {"messages": [{"role": "nobody", "content": text}]},
                {"messages": [{"role": "user", "content": [text]}]},
                {"messages": text},
                {**plain, "system_message": [text]},
            ]
            wrong.append({"stop_sequences": [text], "temperature": 9})
            wrong.append({"tools": [{"type": "function", "function": {"description": text}}]})
            wrong += [{**plain, "model": self.unknown_model()}] if self.capabilities.models else []
            window = self.capabilities.context_window(self.model) or 0
            wrong += [{"messages": [user(f"{text} {'w ' * 2 * window}")]}] if 0 < window < MOST_WINDOW else []
            requests = [(operation, self.args(**args), {}) for operation in ("complete", "stream") for args in wrong]
            requests += [("complete", self.args(**plain), expired), ("stream", self.args(**plain), expired)]
            requests += [
                ("count_tokens", {**counted, "text": [text]}, {}),
                ("count_tokens", counted, expired),
            ]
        return [(name, args, ctx, {"content": text}) for name, args, ctx in requests]

    def long(self, name: str) -> dict[str, Any]:
        if name == "count_tokens" or self.small:
            return self.distinct(name)
        return self.args(messages=[user(f"Write two sentences about the sea. {self.unique()}")])

    def args(self, **changed: Any) -> dict[str, Any]:
        """The arguments of a plain completion with some of them changed."""
        return {**self.minimal("complete"), **changed}

    def complete(self, **changed: Any) -> Reply:
        """Complete a plain request with some arguments changed."""
        return self.call("complete", self.args(**changed))

    def streamed(self, **changed: Any) -> StreamReply:
        """Stream a plain request with some arguments changed."""
        return self.stream("stream", self.args(**changed))

    def ask(self, name: str, **changed: Any) -> Reply | StreamReply:
        """`complete` or `stream` by name."""
        return self.invoke(name, self.args(**changed))

    def unknown_model(self) -> str:
        """A name that is surely not listed.

        Raises:
            NotApplicable: capabilities list no models.
        """
        self.models()
        return f"no-such-model-{self.canary()}"

    def unknown_models(self) -> tuple[str, ...]:
        """Names that are surely not listed: a strange one, and one that begins like a listed one.

        Raises:
            NotApplicable: capabilities list no models.
        """
        return self.unknown_model(), f"{self.models()[0]}-{self.canary()}"

    def half_full(self) -> str:
        """A text that takes between a quarter and a half of the context window, by the adapter's own count.

        Raises:
            NotApplicable: no window is stated, or it is too small, or so large that a call would be dear.
            NotAssessed: tokens cannot be counted.
        """
        window = self.window()
        if self.small or window > MOST_WINDOW:
            raise NotApplicable(f"a window of {window} tokens is not filled here")
        self.require("count_tokens")
        words = [f"w{number % 97}" for number in range(window // 2)]
        while words:
            text = " ".join(words)
            reply = self.counted(text)
            if reply.is_success and self.tokens_of(reply.result) <= window // 2:
                return text
            words = words[: len(words) * 3 // 4]
        raise NotAssessed("no text was found that takes half of the window by the adapter's own count")

    def refuses(self, *names: str, **changed: Any) -> None:
        """Each of the operations refuses the changed request with BAD_REQUEST.

        NOT_SUPPORTED says it as well of an argument that is not offered at all.
        """
        offered = all(self.takes(name) for name in changed)
        for name in names:
            expect.refusal(self.ask(name, **changed), "BadRequest", *([] if offered else ["NotSupported"]))

    def window(self) -> int:
        """The context window of the model in use.

        Raises:
            NotApplicable: none is stated.
        """
        window = self.capabilities.context_window(self.model)
        if window is None:
            raise NotApplicable("capabilities state no context length")
        return window

    def too_long(self) -> str:
        """A text with more tokens than the context window.

        Raises:
            NotAssessed: the window is too large, or the length cannot be verified.
        """
        window = self.window()
        if window > 400_000:
            raise NotAssessed(f"a window of {window} tokens is too large to overrun here")
        words = max(8, window + window // 4 + 8)
        text = " ".join(f"w{number % 97}" for number in range(words))
        while self.works("count_tokens"):
            reply = self.counted(text)
            if reply.is_a("BadRequest") or self.tokens_of(expect.success(reply, "a token count")) > window:
                return text
            if len(text) > 64 * window + 4096:
                raise NotAssessed("no text was found that is longer than the window by the adapter's own count")
            text = f"{text} {text}"
        return " ".join([text] * 3)

    # -- what holds for every answer -------------------------------------------------------------------

    def audit_payload(self, name: str, result: Any) -> Iterator[tuple[str, Violation]]:
        if name == "count_tokens":
            for violation in self.token_problems(result):
                yield "LLM-TOKENS-1", violation
        elif name in ("capabilities", "health"):
            if not isinstance(result, Mapping):
                yield self.payloads[name], Violation("an object", type(result).__name__, "result")
        elif name == "complete":
            if problem := payload_problem("llm.types.completion", result, self.settings.edition):
                yield "LLM-COMPLETE-1", problem
            if isinstance(result, Mapping):
                yield from _completion(result)

    def audit_chunk(self, _name: str, chunk: Mapping[str, Any]) -> Iterator[tuple[str, Violation]]:
        if not _adds_up(chunk.get("usage_so_far")):
            yield (
                "LLM-STREAM-2",
                Violation("prompt_tokens + completion_tokens", "another total", "usage_so_far"),
            )


def _completion(result: Mapping[str, Any]) -> Iterator[tuple[str, Violation]]:
    reason = result.get("finish_reason")
    if isinstance(reason, str) and reason not in FINISH_REASONS:
        yield "LLM-COMPLETE-2", Violation(" or ".join(FINISH_REASONS), "another word", "result.finish_reason")
    if not _adds_up(result.get("usage")):
        yield (
            "LLM-COMPLETE-3",
            Violation("prompt_tokens + completion_tokens", "another total", "result.usage.total_tokens"),
        )


def _adds_up(usage: Any) -> bool:
    if not isinstance(usage, Mapping):
        return True
    prompt, completion, total = (usage.get(f"{part}_tokens") for part in ("prompt", "completion", "total"))
    if not (isinstance(prompt, int) and isinstance(completion or 0, int) and isinstance(total, int)):
        return True
    return bool(prompt + (completion or 0) == total)


@pytest.fixture
def llm(request: pytest.FixtureRequest) -> LLM:
    """The LLM component under test."""
    found = request.node.stash[SUBJECT]
    assert isinstance(found, LLM)
    return found


COMPONENT = LLM
