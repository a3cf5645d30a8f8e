"""OpenAI: every call of the client."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from typing import Any

from openai import NOT_GIVEN, AsyncOpenAI
from openai.types import CompletionUsage

from .context import sent_along
from .errors import broken_off


@dataclass(frozen=True)
class Prompt:
    """A request that was read and checked; in `options` are only those that it gives."""

    model: str
    messages: list[Any]
    options: Mapping[str, Any]


@dataclass
class Reply:
    """What has come of an answer, or of a part of it in a stream: there all but `text` come with the last part."""

    text: str = ""
    finish_reason: str | None = None
    tool_calls: list[dict[str, Any]] = field(default_factory=list)
    usage: Mapping[str, int] = field(default_factory=dict)


class Provider:
    """The models, and the client that asks them; its own retries are off, for the protocol leaves them to the caller."""

    models = ("gpt-4o-mini", "gpt-4o")
    context_length = 128_000
    most_stops = 4

    def __init__(self, client: AsyncOpenAI) -> None:
        self.client = client

    async def aclose(self) -> None:
        await self.client.close()

    def along(self) -> dict[str, Any]:
        """What goes along with every call: the trace and the deadline of its context, and what is left of that."""
        context = sent_along()
        headers = {"traceparent": context.get("traceparent"), "X-Deadline-Ms": context.get("deadline_ms")}
        deadline = context.get("deadline_ms")
        return {
            "extra_headers": {name: str(value) for name, value in headers.items() if value is not None},
            "timeout": NOT_GIVEN if deadline is None else max(0.001, deadline / 1000 - time.time()),
        }

    async def complete(self, prompt: Prompt) -> Reply:
        answer = await self.client.chat.completions.create(
            model=prompt.model, messages=prompt.messages, **prompt.options, **self.along()
        )
        choice = answer.choices[0]
        calls = [call.model_dump(include={"id", "type", "function"}) for call in choice.message.tool_calls or ()]
        return Reply(choice.message.content or "", choice.finish_reason, calls, usage_of(answer.usage))

    async def stream(self, prompt: Prompt) -> AsyncGenerator[Reply, None]:
        """The answer in parts; the last one says why it ended."""
        last = Reply()
        async with await self.client.chat.completions.create(
            model=prompt.model,
            messages=prompt.messages,
            stream=True,
            stream_options={"include_usage": True},
            **prompt.options,
            **self.along(),
        ) as chunks:
            async for chunk in chunks:
                last.usage = usage_of(chunk.usage) or last.usage
                for choice in chunk.choices:
                    last.finish_reason = choice.finish_reason or last.finish_reason
                    add_calls(last.tool_calls, choice.delta.tool_calls or ())
                    if choice.delta.content:
                        yield Reply(choice.delta.content)
        if last.finish_reason is None:
            raise broken_off()
        yield last

    async def count_tokens(self, model: str, text: str) -> int:
        if not text:
            return 0
        counted = await self.client.responses.input_tokens.count(model=model, input=text, **self.along())
        return counted.input_tokens

    async def is_up(self) -> bool:
        """Whether OpenAI answers."""
        try:
            await self.client.models.list(**self.along())
        except Exception:  # noqa: BLE001 - why it does not answer is not the question
            return False
        return True


def usage_of(usage: CompletionUsage | None) -> dict[str, int]:
    """The three numbers of the protocol."""
    names = ("prompt_tokens", "completion_tokens", "total_tokens")
    return {} if usage is None else {name: getattr(usage, name) for name in names}


def add_calls(calls: list[dict[str, Any]], deltas: Any) -> None:
    """Add to calls of tools what a chunk has of them: first id and name, then the arguments in pieces."""
    for delta in deltas:
        while len(calls) <= delta.index:
            calls.append({"id": "", "type": "function", "function": {"name": "", "arguments": ""}})
        call = calls[delta.index]
        call["id"] += delta.id or ""
        if delta.function:
            call["function"]["name"] += delta.function.name or ""
            call["function"]["arguments"] += delta.function.arguments or ""
