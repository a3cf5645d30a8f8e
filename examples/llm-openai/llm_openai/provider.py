"""OpenAI: every call of the client."""

from collections.abc import AsyncGenerator
from typing import Any

from corpus_wire.errors import stream_interrupted
from corpus_wire.llm import LLMProvider, Prompt, Reply
from corpus_wire.provider import seconds_left, trace_headers
from openai import NOT_GIVEN, AsyncOpenAI
from openai.types import CompletionUsage


class Provider(LLMProvider):
    """The models, and the client that asks them; its retries are off, because the protocol leaves them to the caller."""

    models = ("gpt-4o-mini", "gpt-4o")
    context_length = 128_000
    least_tokens = 1
    most_stops = 4

    def __init__(self, client: AsyncOpenAI) -> None:
        super().__init__()
        self.client = client

    async def aclose(self) -> None:
        await self.client.close()

    async def ping(self) -> None:
        await self.client.models.list(**call_options())

    async def complete(self, prompt: Prompt) -> Reply:
        answer = await self.client.chat.completions.create(**arguments(prompt), **call_options())
        choice = answer.choices[0]
        calls = [call.model_dump(include={"id", "type", "function"}) for call in choice.message.tool_calls or ()]
        return Reply(choice.message.content or "", choice.finish_reason, calls, usage_of(answer.usage))

    async def stream(self, prompt: Prompt) -> AsyncGenerator[Reply, None]:
        last = Reply()
        async with await self.client.chat.completions.create(
            **arguments(prompt), stream=True, stream_options={"include_usage": True}, **call_options()
        ) as chunks:
            async for chunk in chunks:
                last.usage = usage_of(chunk.usage) or last.usage
                for choice in chunk.choices:
                    last.finish_reason = choice.finish_reason or last.finish_reason
                    add_calls(last.tool_calls, choice.delta.tool_calls or ())
                    if choice.delta.content:
                        yield Reply(choice.delta.content)
        if last.finish_reason is None:
            raise stream_interrupted()
        yield last

    async def count_tokens(self, model: str, text: str) -> int:
        if not text:
            return 0
        counted = await self.client.responses.input_tokens.count(model=model, input=text, **call_options())
        return counted.input_tokens


def call_options() -> dict[str, Any]:
    """The trace and the deadline of the current call."""
    left = seconds_left()
    return {"extra_headers": trace_headers(), "timeout": NOT_GIVEN if left is None else left}


def arguments(prompt: Prompt) -> dict[str, Any]:
    """A prompt as OpenAI takes it; tools have the shape of the protocol."""
    given = {"model": prompt.model, "messages": list(map(message, prompt.messages)), **prompt.sampling}
    if prompt.max_tokens is not None:
        given["max_completion_tokens"] = prompt.max_tokens
    if prompt.stop_sequences:
        given["stop"] = prompt.stop_sequences
    if prompt.tools:
        forced = {"type": "function", "function": {"name": prompt.forced_tool}} if prompt.forced_tool else None
        given |= {"tools": prompt.tools, "parallel_tool_calls": False}
        given |= {"tool_choice": choice} if (choice := forced or prompt.tool_choice) else {}
    return given


def message(given: dict[str, Any]) -> dict[str, Any]:
    """A message; that of a tool has no name."""
    return {key: value for key, value in given.items() if (key, given["role"]) != ("name", "tool")}


def usage_of(usage: CompletionUsage | None) -> dict[str, int]:
    """The three numbers of the protocol."""
    names = ("prompt_tokens", "completion_tokens", "total_tokens")
    return {} if usage is None else {name: getattr(usage, name) for name in names}


def add_calls(calls: list[dict[str, Any]], deltas: Any) -> None:
    """Add the part of a chunk to the calls of tools: first id and name, then the arguments in pieces."""
    for delta in deltas:
        while len(calls) <= delta.index:
            calls.append({"id": "", "type": "function", "function": {"name": "", "arguments": ""}})
        call = calls[delta.index]
        call["id"] += delta.id or ""
        if delta.function:
            call["function"]["name"] += delta.function.name or ""
            call["function"]["arguments"] += delta.function.arguments or ""
