"""Ollama: every request to its API."""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
from corpus_wire.errors import stream_interrupted
from corpus_wire.llm import LLMProvider, Prompt, Reply
from corpus_wire.provider import seconds_left, trace_headers

CONTEXT = 8192
"""The tokens of context that are asked for: the longer, the more memory a model takes."""

KINDS = {"exceeds the context length": "too long", "server busy": "overloaded"}
"""The words of refusals that have a subtype."""

OVERLOADED = 529
REASONS = {"stop": "stop", "length": "length"}


class OllamaError(Exception):
    """A refusal or a failure; its text is looked at, and never passed on."""

    def __init__(self, text: str, status_code: int | None = None, headers: Mapping[str, str] | None = None) -> None:
        super().__init__("Ollama refused or failed")
        self.status_code, self.headers = status_code, headers or {}
        found = (kind for words, kind in KINDS.items() if status_code and words in text)
        self.kind = "overloaded" if status_code == OVERLOADED else next(found, None)


class Provider(LLMProvider):
    """The models that are there when the adapter starts, and the client that asks them."""

    least_tokens = 1

    def __init__(self, session: aiohttp.ClientSession, address: str) -> None:
        super().__init__()
        self.session, self.address = session, address

    async def load(self) -> None:
        """Read the models, and the shortest of their contexts."""
        models, context = [], CONTEXT
        for model in (await self.ask("tags"))["models"]:
            known = await self.ask("show", {"model": model["name"]})
            if "completion" in known.get("capabilities", ("completion",)):
                models.append(model["name"])
                lengths = (each for name, each in known["model_info"].items() if name.endswith(".context_length"))
                context = min(context, *lengths)
        self.models, self.context_length = tuple(models), context

    async def ping(self) -> None:
        await self.ask("tags")

    async def complete(self, prompt: Prompt) -> Reply:
        answer = await self.ask("chat", self.request(prompt, stream=False))
        if not answer.get("done"):
            raise stream_interrupted()
        return end_of(answer, calls_of(answer), answer["message"].get("content") or "")

    async def stream(self, prompt: Prompt) -> AsyncGenerator[Reply, None]:
        calls: list[dict[str, Any]] = []
        async with self.asked("chat", self.request(prompt, stream=True)) as answer:
            async for line in answer.content:
                part = read(line)
                calls += calls_of(part, len(calls))
                if text := part["message"].get("content"):
                    yield Reply(text)
                if part.get("done"):
                    yield end_of(part, calls)
                    return
        raise stream_interrupted()

    async def count_tokens(self, model: str, text: str) -> int:
        """Ollama has no tokenizer."""
        raise NotImplementedError

    def request(self, prompt: Prompt, *, stream: bool) -> dict[str, Any]:
        """A prompt as Ollama takes it. Without `truncate` and `shift` it would drop the beginning of a long one."""
        options: dict[str, Any] = {"num_ctx": self.context_length, **prompt.sampling}
        if prompt.max_tokens is not None:
            options["num_predict"] = prompt.max_tokens
        if prompt.stop_sequences:
            options["stop"] = prompt.stop_sequences
        whole = {"truncate": False, "shift": False, "stream": stream, "options": options}
        return {"model": prompt.model, "messages": messages(prompt), **whole, **given_tools(prompt)}

    async def ask(self, path: str, body: Any = None) -> dict[str, Any]:
        """Return the answer to a request."""
        async with self.asked(path, body) as answer:
            return read(await answer.read())

    @asynccontextmanager
    async def asked(self, path: str, body: Any = None) -> AsyncIterator[aiohttp.ClientResponse]:
        """Send a request, with the trace and the deadline of the current call."""
        method, timeout = "GET" if body is None else "POST", aiohttp.ClientTimeout(total=seconds_left())
        async with self.session.request(
            method, f"{self.address}/api/{path}", json=body, headers=trace_headers(), timeout=timeout
        ) as answer:
            if answer.status != 200:
                raise OllamaError((await answer.read()).decode("utf-8", "replace"), answer.status, answer.headers)
            yield answer


def read(data: bytes) -> dict[str, Any]:
    """An answer, or a line of one. Raises OllamaError if it speaks of a failure, ValueError if it is something else."""
    value = json.loads(data)
    if not isinstance(value, dict):
        raise ValueError("not an object")  # noqa: TRY004 - the answer is at fault
    if "error" in value:
        raise OllamaError(str(value["error"]))
    return value


def messages(prompt: Prompt) -> list[dict[str, Any]]:
    """The messages: arguments of calls are objects, and a result has the name of its tool instead of an id."""
    named: dict[str, str] = {}
    found = []
    for given in prompt.messages:
        message = {"role": given["role"], "content": given["content"]}
        calls = [call["function"] for call in given.get("tool_calls", ())]
        named |= {call["id"]: call["function"]["name"] for call in given.get("tool_calls", ())}
        if calls:
            message["tool_calls"] = [
                {"function": {**call, "arguments": as_object(call["arguments"])}} for call in calls
            ]
        if given["role"] == "tool":
            message["tool_name"] = named.get(given.get("tool_call_id", ""), given.get("name", ""))
        found.append(message)
    return found


def as_object(arguments: str) -> dict[str, Any]:
    """The arguments of a call; none if they are not an object."""
    try:
        value = json.loads(arguments)
    except ValueError:
        value = None
    return value if isinstance(value, dict) else {}


def given_tools(prompt: Prompt) -> dict[str, Any]:
    return {"tools": prompt.tools} if prompt.tools else {}


def calls_of(answer: Mapping[str, Any], first: int = 0) -> list[dict[str, Any]]:
    """The calls of an answer, as the protocol has them: older servers give no ids."""
    calls = []
    for number, call in enumerate(answer["message"].get("tool_calls") or (), first):
        function = {"name": call["function"]["name"], "arguments": json.dumps(call["function"]["arguments"])}
        calls.append({"id": call.get("id") or f"call_{number}", "type": "function", "function": function})
    return calls


def end_of(last: Mapping[str, Any], calls: list[dict[str, Any]], text: str = "") -> Reply:
    """The end of an answer. What a server had in its cache, it may leave out of the counts."""
    reason = "tool_calls" if calls else REASONS.get(last.get("done_reason", "stop"), "stop")
    asked, used = last.get("prompt_eval_count", 0), last.get("eval_count", 0)
    usage = {"prompt_tokens": asked, "completion_tokens": used, "total_tokens": asked + used}
    return Reply(text, reason, calls, usage)
