"""Anthropic: every call of the client."""

import json
import logging
from collections.abc import AsyncGenerator
from typing import Any

from anthropic import AsyncAnthropic
from corpus_wire import invalid
from corpus_wire.errors import stream_interrupted
from corpus_wire.llm import LLMProvider, Prompt, Reply
from corpus_wire.provider import seconds_left, trace_headers

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
ONE_CALL = {"disable_parallel_tool_use": True}
CHOICES = {"auto": {"type": "auto", **ONE_CALL}, "required": {"type": "any", **ONE_CALL}, "none": {"type": "none"}}
USUAL_MAX_TOKENS = 4096
"""Anthropic requires a limit in each request."""

USUAL_TIMEOUT_S = 600
"""Without a timeout the client itself refuses large limits."""


class Provider(LLMProvider):
    """The models, and the client that asks them; its retries are off, because the protocol leaves them to the caller."""

    models = ("claude-haiku-5-5", "claude-sonnet-5-5")
    context_length = 200_000
    least_tokens = 1
    sampling = {}  # noqa: RUF012 - the models have no such parameters any more

    def __init__(self, client: AsyncAnthropic) -> None:
        super().__init__()
        self.client = client

    async def aclose(self) -> None:
        await self.client.close()

    async def ping(self) -> None:
        await self.client.models.list(limit=1, **call_options())

    async def complete(self, prompt: Prompt) -> Reply:
        return reply_of(await self.client.messages.create(**arguments(prompt), **call_options()))

    async def stream(self, prompt: Prompt) -> AsyncGenerator[Reply, None]:
        ended = False
        async with self.client.messages.stream(**arguments(prompt), **call_options()) as events:
            async for event in events:
                ended = ended or event.type == "message_stop"
                if event.type == "text" and event.text:
                    yield Reply(event.text)
            if not ended:
                raise stream_interrupted()
            last = reply_of(await events.get_final_message())
        last.text = ""  # it was sent in parts
        yield last

    async def count_tokens(self, model: str, text: str) -> int:
        if not text.strip():
            return len(text)  # Anthropic refuses a message without words; no token is shorter than a character
        counted = await self.client.messages.count_tokens(
            model=model, messages=[{"role": "user", "content": text}], **call_options()
        )
        return counted.input_tokens


def call_options() -> dict[str, Any]:
    """The trace and the deadline of the current call."""
    left = seconds_left()
    return {"extra_headers": trace_headers(), "timeout": USUAL_TIMEOUT_S if left is None else left}


def arguments(prompt: Prompt) -> dict[str, Any]:
    """A prompt as Anthropic takes it: the system's messages stand apart."""
    system = [each["content"] for each in prompt.messages if each["role"] == "system"]
    given = {
        "model": prompt.model,
        "messages": [message(each) for each in prompt.messages if each["role"] != "system"],
        "max_tokens": prompt.max_tokens or USUAL_MAX_TOKENS,
    }
    if any(system):
        given["system"] = "\n\n".join(filter(None, system))
    if prompt.stop_sequences:
        if not all(map(str.strip, prompt.stop_sequences)):
            raise invalid("args.stop_sequences", "must not consist of white space")
        given["stop_sequences"] = prompt.stop_sequences
    if prompt.tools:
        named = {"type": "tool", "name": prompt.forced_tool, **ONE_CALL}
        given["tools"] = [tool(each["function"]) for each in prompt.tools]
        given["tool_choice"] = named if prompt.forced_tool else CHOICES[prompt.tool_choice or "auto"]
    return given


def message(given: dict[str, Any]) -> dict[str, Any]:
    """A message: the answer of a tool is a block of the user's, a call one of the assistant's."""
    role, text = given["role"], given["content"]
    if role == "tool":
        block = {"type": "tool_result", "tool_use_id": given.get("tool_call_id", ""), "content": text}
        return {"role": "user", "content": [block]}
    if "tool_calls" not in given:
        return {"role": role, "content": text}
    return {"role": role, "content": [*([{"type": "text", "text": text}] if text else []), *calls_to(given)]}


def calls_to(given: dict[str, Any]) -> list[dict[str, Any]]:
    """The calls of tools in a message as blocks."""
    blocks = []
    for call in given["tool_calls"]:
        try:
            arguments = json.loads(call["function"]["arguments"])
        except ValueError:
            arguments = None
        if not isinstance(arguments, dict):
            raise invalid("args.messages", "must have the text of a JSON object as arguments of a tool")
        blocks.append({"type": "tool_use", "id": call["id"], "name": call["function"]["name"], "input": arguments})
    return blocks


def tool(function: dict[str, Any]) -> dict[str, Any]:
    """The definition of a tool."""
    described = {key: value for key, value in function.items() if key != "parameters"}
    return {**described, "input_schema": {"type": "object", **function["parameters"]}}


def reply_of(answer: Any) -> Reply:
    """A message of Anthropic's in the words of the protocol."""
    used, made = answer.usage.input_tokens, answer.usage.output_tokens
    calls = [
        {"id": block.id, "type": "function", "function": {"name": block.name, "arguments": json.dumps(block.input)}}
        for block in answer.content
        if block.type == "tool_use"
    ]
    text = "".join(block.text for block in answer.content if block.type == "text")
    usage = {"prompt_tokens": used, "completion_tokens": made, "total_tokens": used + made}
    return Reply(text, FINISHED.get(answer.stop_reason, "stop"), calls, usage)
