"""Anthropic: every call of the client."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from anthropic import NOT_GIVEN, AsyncAnthropic

from .context import sent_along
from .errors import broken_off

# At level DEBUG the client logs whole requests, prompts included.
logging.getLogger("anthropic").setLevel(logging.INFO)

FINISHED = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "refusal": "content_filter",
}


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

    models = ("claude-haiku-5-5", "claude-sonnet-5-5")
    context_length = 200_000
    usual_max_tokens = 4096  # Anthropic wants a limit in each request

    def __init__(self, client: AsyncAnthropic) -> None:
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
        answer = await self.client.messages.create(
            model=prompt.model, messages=prompt.messages, **prompt.options, **self.along()
        )
        return reply_of(answer)

    async def stream(self, prompt: Prompt) -> AsyncGenerator[Reply, None]:
        """The answer in parts; the last one says why it ended."""
        ended = False
        async with self.client.messages.stream(
            model=prompt.model, messages=prompt.messages, **prompt.options, **self.along()
        ) as events:
            async for event in events:
                ended = ended or event.type == "message_stop"
                if event.type == "text" and event.text:
                    yield Reply(event.text)
            if not ended:
                raise broken_off()
            last = reply_of(await events.get_final_message())
        last.text = ""  # it came in parts
        yield last

    async def count_tokens(self, model: str, text: str) -> int:
        if not text.strip():
            return len(text)  # Anthropic counts no message without words; no token is shorter than a letter
        counted = await self.client.messages.count_tokens(
            model=model, messages=[{"role": "user", "content": text}], **self.along()
        )
        return counted.input_tokens

    async def is_up(self) -> bool:
        """Whether Anthropic answers."""
        try:
            await self.client.models.list(limit=1, **self.along())
        except Exception:  # noqa: BLE001 - why it does not answer is not the question
            return False
        return True


def reply_of(answer: Any) -> Reply:
    """A message of Anthropic's in the words of the protocol."""
    used, made = answer.usage.input_tokens, answer.usage.output_tokens
    return Reply(
        "".join(block.text for block in answer.content if block.type == "text"),
        FINISHED.get(answer.stop_reason, "stop"),
        calls_in(answer.content),
        {"prompt_tokens": used, "completion_tokens": made, "total_tokens": used + made},
    )


def calls_in(content: Sequence[Any]) -> list[dict[str, Any]]:
    """The calls of tools among the blocks of a message."""
    return [
        {"id": block.id, "type": "function", "function": {"name": block.name, "arguments": json.dumps(block.input)}}
        for block in content
        if block.type == "tool_use"
    ]
