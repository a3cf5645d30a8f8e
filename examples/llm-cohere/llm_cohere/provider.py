"""Cohere: every call of the client."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from cohere import AsyncClientV2

from .context import sent_along
from .errors import broken_off, failed

REASONS = {"COMPLETE": "stop", "STOP_SEQUENCE": "stop", "MAX_TOKENS": "length", "TOOL_CALL": "tool_calls"}


class NoAnswers(logging.Filter):
    """Drops what the client logs with the root logger: events that it cannot read, whole."""

    def filter(self, record: logging.LogRecord) -> bool:
        return "/cohere/" not in record.pathname.replace("\\", "/")


NO_ANSWERS = NoAnswers()


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

    models = ("command-a-03-2025", "command-r7b-12-2024")
    context_length = 128_000
    most_stops = 5
    longest_text = 65_536
    """How many characters can be tokenized at once."""

    def __init__(self, client: AsyncClientV2) -> None:
        self.client = client
        logging.getLogger().addFilter(NO_ANSWERS)
        logging.getLogger("cohere").setLevel(logging.ERROR)  # its warnings quote answers

    def along(self) -> dict[str, Any]:
        """What goes along with every call: the trace and the deadline of its context, and what is left of that."""
        context = sent_along()
        headers = {"traceparent": context.get("traceparent"), "X-Deadline-Ms": context.get("deadline_ms")}
        options: dict[str, Any] = {
            "additional_headers": {name: str(value) for name, value in headers.items() if value is not None}
        }
        if (deadline := context.get("deadline_ms")) is not None:
            options["timeout"] = max(0.001, deadline / 1000 - time.time())
        return {"request_options": options}

    async def complete(self, prompt: Prompt) -> Reply:
        answer = await self.client.chat(model=prompt.model, messages=prompt.messages, **prompt.options, **self.along())
        check_reason(answer.finish_reason)
        text = "".join(part.text for part in answer.message.content or () if part.type == "text")
        calls = [call.model_dump(include={"id", "type", "function"}) for call in answer.message.tool_calls or ()]
        return Reply(text, REASONS[answer.finish_reason], calls, usage_of(answer.usage))

    async def stream(self, prompt: Prompt) -> AsyncGenerator[Reply, None]:
        """The answer in parts; the last one says why it ended."""
        last = Reply()
        events = self.client.chat_stream(model=prompt.model, messages=prompt.messages, **prompt.options, **self.along())
        async with aclosing(events):
            async for event in events:
                if event.type == "content-delta" and event.delta.message.content.text:
                    yield Reply(event.delta.message.content.text)
                elif event.type == "tool-call-start":
                    last.tool_calls.append(
                        event.delta.message.tool_calls.model_dump(include={"id", "type", "function"})
                    )
                elif event.type == "tool-call-delta":
                    last.tool_calls[-1]["function"]["arguments"] += event.delta.message.tool_calls.function.arguments
                elif event.type == "message-end":
                    check_reason(event.delta.finish_reason)
                    last.finish_reason = REASONS[event.delta.finish_reason]
                    last.usage = usage_of(event.delta.usage)
        if last.finish_reason is None:
            raise broken_off()
        yield last

    async def count_tokens(self, model: str, text: str) -> int:
        """By the API: with `offline`, which is usual, the client downloads a tokenizer first."""
        count = 0
        for start in range(0, len(text), self.longest_text):
            part = text[start : start + self.longest_text]
            counted = await self.client.tokenize(model=model, text=part, offline=False, **self.along())
            count += len(counted.tokens)
        return count

    async def is_up(self) -> bool:
        """Whether Cohere answers."""
        try:
            await self.client.models.list(**self.along())
        except Exception:  # noqa: BLE001 - why it does not answer is not the question
            return False
        return True


def check_reason(reason: str) -> None:
    """Raise for an answer that the model did not finish."""
    if reason not in REASONS:
        raise failed()


def usage_of(usage: Any) -> dict[str, int]:
    """The three numbers of the protocol."""
    if usage is None or usage.tokens is None:
        return {}
    asked, used = int(usage.tokens.input_tokens or 0), int(usage.tokens.output_tokens or 0)
    return {"prompt_tokens": asked, "completion_tokens": used, "total_tokens": asked + used}
