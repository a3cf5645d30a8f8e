"""Cohere: every call of the client."""

import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any

from cohere import AsyncClientV2
from corpus_wire import WireError
from corpus_wire.errors import MESSAGES, stream_interrupted
from corpus_wire.llm import LLMProvider, Prompt, Reply
from corpus_wire.provider import seconds_left, trace_headers

REASONS = {"COMPLETE": "stop", "STOP_SEQUENCE": "stop", "MAX_TOKENS": "length", "TOOL_CALL": "tool_calls"}
CHOICES = {"required": "REQUIRED", "none": "NONE"}
NAMES = {"top_p": "p"}
"""The sampling parameters that have another name at Cohere."""


class WithoutAnswers(logging.Filter):
    """Drops the records of the client in the root logger: events that it cannot read, with their text."""

    def filter(self, record: logging.LogRecord) -> bool:
        return "/cohere/" not in record.pathname.replace("\\", "/")


WITHOUT_ANSWERS = WithoutAnswers()


class Provider(LLMProvider):
    """The models, and the client that asks them; its retries are off, because the protocol leaves them to the caller."""

    models = ("command-a-03-2025", "command-r7b-12-2024")
    context_length = 128_000
    least_tokens = 1
    most_stops = 5
    longest_text = 65_536
    """The most characters that can be tokenized at once."""
    sampling: Mapping[str, tuple[float, float]] = {
        "temperature": (0, 1),
        "top_p": (0.01, 0.99),
        "frequency_penalty": (0, 1),
        "presence_penalty": (0, 1),
    }

    def __init__(self, client: AsyncClientV2) -> None:
        super().__init__()
        self.client = client
        logging.getLogger().addFilter(WITHOUT_ANSWERS)
        logging.getLogger("cohere").setLevel(logging.ERROR)  # its warnings quote answers

    async def ping(self) -> None:
        await self.client.models.list(**call_options())

    async def complete(self, prompt: Prompt) -> Reply:
        answer = await self.client.chat(**arguments(prompt), **call_options())
        text = "".join(part.text for part in answer.message.content or () if part.type == "text")
        calls = [call.model_dump(include={"id", "type", "function"}) for call in answer.message.tool_calls or ()]
        return Reply(text, finish_reason(answer.finish_reason), calls, usage_of(answer.usage))

    async def stream(self, prompt: Prompt) -> AsyncGenerator[Reply, None]:
        last = Reply()
        async with aclosing(self.client.chat_stream(**arguments(prompt), **call_options())) as events:
            async for event in events:
                if event.type == "content-delta" and event.delta.message.content.text:
                    yield Reply(event.delta.message.content.text)
                elif event.type == "tool-call-start":
                    call = event.delta.message.tool_calls
                    last.tool_calls.append(call.model_dump(include={"id", "type", "function"}))
                elif event.type == "tool-call-delta":
                    last.tool_calls[-1]["function"]["arguments"] += event.delta.message.tool_calls.function.arguments
                elif event.type == "message-end":
                    last.finish_reason = finish_reason(event.delta.finish_reason)
                    last.usage = usage_of(event.delta.usage)
        if last.finish_reason is None:
            raise stream_interrupted()
        yield last

    async def count_tokens(self, model: str, text: str) -> int:
        """Ask the API: with `offline`, the default, the client downloads a tokenizer first."""
        count = 0
        for start in range(0, len(text), self.longest_text):
            part = text[start : start + self.longest_text]
            counted = await self.client.tokenize(model=model, text=part, offline=False, **call_options())
            count += len(counted.tokens)
        return count


def call_options() -> dict[str, Any]:
    """The trace and the deadline of the current call."""
    left = seconds_left()
    options = {"additional_headers": trace_headers(), **({} if left is None else {"timeout": left})}
    return {"request_options": options}


def arguments(prompt: Prompt) -> dict[str, Any]:
    """A prompt as Cohere takes it. It has no names of speakers, and no named tool: that is offered alone, and required."""
    messages = [{key: value for key, value in each.items() if key != "name"} for each in prompt.messages]
    sampling = {NAMES.get(name, name): value for name, value in prompt.sampling.items()}
    given = {"model": prompt.model, "messages": messages, **sampling}
    if prompt.max_tokens is not None:
        given["max_tokens"] = prompt.max_tokens
    if prompt.stop_sequences:
        given["stop_sequences"] = prompt.stop_sequences
    if prompt.tools:
        named = [tool for tool in prompt.tools if tool["function"]["name"] == prompt.forced_tool]
        given["tools"] = named or prompt.tools
        choice = CHOICES.get("required" if named else prompt.tool_choice or "")
        given |= {"tool_choice": choice} if choice else {}
    return given


def finish_reason(reason: str) -> str:
    """The finish reason of an answer; Cohere ends a failed one with `ERROR` or `TIMEOUT`, and gives no more details."""
    if reason not in REASONS:
        raise WireError("Unavailable", MESSAGES["Unavailable"], suggested_backoff_ms=500)
    return REASONS[reason]


def usage_of(usage: Any) -> dict[str, int]:
    """The three numbers of the protocol."""
    if usage is None or usage.tokens is None:
        return {}
    asked, used = int(usage.tokens.input_tokens or 0), int(usage.tokens.output_tokens or 0)
    return {"prompt_tokens": asked, "completion_tokens": used, "total_tokens": asked + used}
