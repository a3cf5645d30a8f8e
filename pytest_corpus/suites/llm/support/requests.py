"""Valid and invalid requests of the LLM component."""

from collections.abc import Mapping
from typing import Any

from pytest_corpus.kit import expect
from pytest_corpus.kit.outcomes import Blocked
from pytest_corpus.kit.reply import Reply
from pytest_corpus.kit.requests import Request, Requests, canary, deadline_in
from pytest_corpus.suites.llm.support.capabilities import LONG, MINIMUM, MOST_WINDOW, RANGES, UNSIGNED, LLMCapabilities

WEATHER: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather of a place.",
        "parameters": {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]},
    },
}
"""A tool that any model can call."""

CALL = {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": '{"place": "Oslo"}'}}
"""An earlier call of this tool by an assistant."""

CLOCK = {
    "type": "function",
    "function": {"name": "get_time", "description": "The time.", "parameters": {"type": "object", "properties": {}}},
}


def _tools_with(number: float) -> dict[str, dict[str, Any]]:
    """Return arguments with a number inside a tool, and inside an earlier tool call."""
    schema = {"type": "object", "properties": {"place": {"type": "number", "minimum": number}}}
    tool = {**WEATHER, "function": {**WEATHER["function"], "parameters": schema}}
    called = {"role": "assistant", "content": "Let me see.", "tool_calls": [{**CALL, "index": number}]}
    answered = {"role": "tool", "content": "rain", "tool_call_id": "call_1"}
    return {"tool": {"tools": [tool]}, "call": {"tools": [WEATHER], "messages": [user_message("hi"), called, answered]}}


def user_message(content: Any) -> dict[str, Any]:
    """Return a message of the user."""
    return {"role": "user", "content": content}


class LLMRequests(Requests):
    """Requests of the LLM component. They name the first listed model, or no model if none is listed."""

    def __init__(self, llm: LLMCapabilities) -> None:
        self._llm = llm

    def minimal(self, name: str) -> dict[str, Any]:
        model = {"model": self._llm.model} if self._llm.model else {}
        if name in ("complete", "stream"):
            return {"messages": [user_message("hi")], **model, **self._llm.usual_limit}
        return {"text": "hi", **model} if name == "count_tokens" else {}

    def distinct(self, name: str) -> dict[str, Any]:
        args = self.minimal(name)
        if "messages" in args:
            args["messages"] = [user_message(self._llm.unique())]
        elif "text" in args:
            args["text"] = self._llm.unique()
        return args

    def long(self, name: str) -> dict[str, Any]:
        if name == "count_tokens" or self._llm.has_small_limit:
            return self.distinct(name)
        room = {"max_tokens": self._llm.limit(LONG)} if self._llm.usual_limit else {}
        return self.args(messages=[user_message(f"Write two sentences about the sea. {self._llm.unique()}")], **room)

    def short(self, name: str) -> dict[str, Any]:
        return {**self.minimal(name), "max_tokens": MINIMUM}

    def two_streams(self, name: str) -> list[dict[str, Any]]:
        one, other = self.long(name), self.long(name)
        if not self._llm.has_small_limit:
            other["messages"] = [user_message(f"Write two sentences about bread. {self._llm.unique()}")]
        return [one, other]

    def wrong_types(self, name: str) -> dict[str, Any]:
        if name in ("complete", "stream"):
            return {"messages": "hi"}
        return {"text": 7} if name == "count_tokens" else {}

    def with_number(self, number: float) -> list[Request]:
        found = [
            Request(op, self.args(**{name: number}))
            for op in ("complete", "stream")
            for name in self._numeric_parameters(op)
        ]
        if self._llm.offers_tools and self._llm.model in (None, *self._llm.models_with("supports_tools")):
            plain = _tools_with(1)
            for op in ("complete", "stream"):
                taken = [place for place in plain if self._llm.accepts(op, **plain[place])]
                found += [Request(op, self.args(**_tools_with(number)[place])) for place in taken]
        return found + [
            Request(op, self.minimal(op), {"deadline_ms": number}) for op in self._llm.deadline_operations()
        ]

    def _numeric_parameters(self, operation: str) -> list[str]:
        """Return the numeric parameters that an operation accepts and must check (R117)."""
        names = [name for name in (*RANGES, "max_tokens") if operation == "complete" or name not in UNSIGNED]
        return [name for name in names if self._llm.accepts_argument(name, operation)]

    def with_integer(self, number: int) -> list[Request]:
        operations = ("complete", "stream") if number > 0 else ("complete",)  # another test sends -1 to streams
        return [Request(op, self.args(max_tokens=number)) for op in operations]

    def distinct_requests(self) -> list[dict[str, Any]]:
        self._llm.require("complete")
        many = max(2, min(6, self._llm.capabilities.limit("concurrency") or 6))
        if self._llm.has_small_limit:
            many = max(2, min(many, self._llm.window() // 4))
        # Each text has another number of words, so its token count identifies its answer.
        texts = [
            " ".join(
                word if self._llm.has_small_limit else f"{word}{self._llm.unique('')}"
                for word in "abcdef"[: number + 1]
            )
            for number in range(many)
        ]
        prompts = [self._llm.envelope("complete", self.args(messages=[user_message(text)])) for text in texts]
        if not self._llm.works("count_tokens") or many < 4:
            return prompts
        counts = [self._llm.envelope("count_tokens", {**self.minimal("count_tokens"), "text": text}) for text in texts]
        return [*prompts[: many - many // 2], *counts[many - many // 2 :]]

    def fingerprint(self, reply: Reply) -> Any:
        self._llm.require_fit(reply)
        result = expect.success(reply, "the answer that the same request gets when sent alone")
        if reply.exchange.op.endswith(".count_tokens"):
            return self._llm.tokens_of(result)
        usage = result.get("usage") if isinstance(result, Mapping) else None
        if not isinstance(usage, Mapping):
            raise Blocked("LLM-COMPLETE-1", "a completion has no usage", judged_on=(reply.exchange,))
        return usage.get("prompt_tokens")

    def with_canaries(self, *, refused: bool) -> list[Request]:
        text = canary()
        held = {"content": text}
        counted = {**self.minimal("count_tokens"), "text": text}
        requests = [
            Request(op, self.args(**args), {}, held)
            for op in ("complete", "stream")
            for args in (self._invalid_changes(text) if refused else self._valid_changes(op, text))[
                :: 1 + (op == "stream")
            ]
        ]
        if not refused:
            return [*requests, Request("count_tokens", counted, {}, held)]
        expired = {"deadline_ms": deadline_in(-60_000)}
        late = [Request(op, self.args(messages=[user_message(text)]), expired, held) for op in ("complete", "stream")]
        wrong = Request("count_tokens", {**counted, "text": [text]}, {}, held)
        return [*requests, *late, wrong, Request("count_tokens", counted, expired, held)]

    def _valid_changes(self, operation: str, text: str) -> list[dict[str, Any]]:
        """Return valid changes of a plain completion, each with the text in another place."""
        llm = self._llm
        good: list[dict[str, Any]] = [{"messages": [user_message(text)]}]
        if llm.accepts_argument("system_message", operation):
            good.append({"system_message": text})
        if llm.capabilities.flag("supports_roles") is not False:
            good.append({"messages": llm.conversation(text, text, "hi")})
        if llm.accepts_argument("stop_sequences", operation):
            good.append({"stop_sequences": [text]})
        if llm.offers_tools and llm.model in (None, *llm.models_with("supports_tools")):
            answered = {"role": "tool", "content": text, "tool_call_id": "call_1", "name": "get_weather"}
            asked = {"role": "assistant", "content": "Let me see.", "tool_calls": [CALL]}
            good.append({"tools": [{**WEATHER, "function": {**WEATHER["function"], "description": text}}]})
            good.append({"tools": [WEATHER], "messages": [user_message("hi"), asked, answered]})
        return good

    def _invalid_changes(self, text: str) -> list[dict[str, Any]]:
        """Return invalid changes of a plain completion, each of which contains the text."""
        plain = {"messages": [user_message(text)]}
        wrong: list[dict[str, Any]] = [
            {**plain, "temperature": 9},
            {**plain, "max_tokens": -1},
            {"messages": [{"role": "nobody", "content": text}]},
            {"messages": [{"role": "user", "content": [text]}]},
            {"messages": text},
            {**plain, "system_message": [text]},
            {"stop_sequences": [text], "temperature": 9},
            {"tools": [{"type": "function", "function": {"description": text}}]},
        ]
        if self._llm.capabilities.models:
            wrong.append({**plain, "model": self._llm.unknown_model()})
        window = self._llm.capabilities.context_window(self._llm.model) or 0
        if 0 < window < MOST_WINDOW:
            wrong.append({"messages": [user_message(f"{text} {'w ' * 2 * window}")]})
        return wrong

    def args(self, **changed: Any) -> dict[str, Any]:
        """Return the arguments of a plain completion with some of them changed."""
        return self._llm.changed_arguments("complete", changed)
