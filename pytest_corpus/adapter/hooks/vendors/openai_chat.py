"""``POST /v1/chat/completions``."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from pytest_corpus.adapter.hooks.vendors import openai_errors
from pytest_corpus.adapter.hooks.vendors.endpoint import (
    Body,
    Events,
    Refusal,
    completion,
    event,
    integer,
    named,
    number,
    parts_of,
    required,
    strings,
    text_in,
)
from pytest_corpus.adapter.hooks.vendors.stand_in import Question, Reply, Tool, answered

ROLES = ("system", "developer", "user", "assistant", "tool", "function")
REASONS = {"stop": "stop", "length": "length", "tool": "tool_calls", "filtered": "content_filter"}
WINDOW = 128_000
MOST_ANSWERS = 128
ANY = 2.0
"""The upper end of temperature and penalties."""


class Chat:
    """Answers to chats: words, JSON where `response_format` wants it, a call where `tool_choice` wants one."""

    errors = openai_errors.CHAT
    filters = True

    def reached(self, body: Body, /) -> tuple[str, dict[str, Any]]:
        return completion(body), {}

    def answer(self, body: Body, filtered: bool, /) -> Body:
        question, replies = _answers(body, filtered=filtered)
        choices = [_choice(index, reply) for index, reply in enumerate(replies)]
        return {**_head(question, "chat.completion"), "choices": choices, "usage": _usage(replies)}

    def events(self, body: Body, filtered: bool, /) -> Events | None:
        if not body.get("stream"):
            return None
        question, replies = _answers(body, filtered=filtered)
        head = _head(question, "chat.completion.chunk")
        indexed = list(enumerate(replies))
        closing = b"".join(_chunk(head, index, {}, REASONS[reply.reason]) for index, reply in indexed)
        if (body.get("stream_options") or {}).get("include_usage"):
            closing += event({**head, "choices": [], "usage": _usage(replies)})
        return Events(
            b"".join(_chunk(head, index, {"role": "assistant", "content": ""}) for index, _ in indexed),
            [_chunk(head, index, delta) for index, reply in indexed for delta in _deltas(index, reply)],
            closing + event("[DONE]"),
        )


def _answers(body: Body, *, filtered: bool) -> tuple[Question, list[Reply]]:
    question = read(body)
    many = integer(body, "n", 1, MOST_ANSWERS) or 1
    replies = [answered(question, number) for number in range(many)]
    if filtered:
        replies = [Reply(reply.tokens[: len(reply.tokens) // 2], "filtered", reply.prompt_tokens) for reply in replies]
    return question, replies


def read(body: Body) -> Question:
    """What a chat asks for.

    Raises:
        Refusal: OpenAI would refuse it.
    """
    messages = required(body, "messages", list)
    for name, low, high in (
        ("temperature", 0.0, ANY),
        ("top_p", 0.0, 1.0),
        ("frequency_penalty", -ANY, ANY),
        ("presence_penalty", -ANY, ANY),
    ):
        number(body, name, low, high)
    limit = integer(body, "max_completion_tokens", 1) or integer(body, "max_tokens", 1)
    texts = tuple(text for message in messages for text in _message(message))
    question = Question(
        required(body, "model", str),
        texts,
        limit,
        strings(body, "stop", 4),
        _tool(body),
        wanted_schema(body.get("response_format"), "json_schema"),
    )
    check_window(question)
    return question


def check_window(question: Question) -> None:
    """Refuse what is longer than the window.

    Raises:
        Refusal: it is.
    """
    if sum(map(len, question.texts)) > WINDOW and answered(question).prompt_tokens > WINDOW:
        raise Refusal(f"This model's maximum context length is {WINDOW} tokens", "context_length_exceeded")


def _message(message: Any) -> Iterator[str]:
    if not isinstance(message, Mapping) or message.get("role") not in ROLES:
        raise Refusal(f"each of 'messages' must have a 'role' of {', '.join(ROLES)}")
    yield from text_in(message.get("content"))
    for call in message.get("tool_calls") or ():
        yield str(call.get("function", {}).get("arguments", "")) if isinstance(call, Mapping) else ""


def _tool(body: Body) -> Tool | None:
    offered = body.get("tools") or []
    if not isinstance(offered, list) or not all(isinstance(each, Mapping) for each in offered):
        raise Refusal("'tools' must be a list of tools")
    functions = [each.get("function") or {} for each in offered]
    tools = [Tool(required(each, "name", str), each.get("parameters") or {}) for each in functions]
    choice = body.get("tool_choice")
    if choice in (None, "auto", "none"):
        return None
    return named(tools, None if choice == "required" else (choice.get("function") or {}).get("name"))


def wanted_schema(wanted: Any, inside: str = "") -> Mapping[str, Any] | None:
    """The schema of the JSON that is wanted; None where words are."""
    kind = wanted.get("type") if isinstance(wanted, Mapping) else None
    if kind == "json_object":
        return {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}
    if kind != "json_schema":
        return None
    found = (wanted.get(inside) or {}) if inside else wanted
    return found.get("schema") or {}


def _head(question: Question, kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-standin", "object": kind, "created": 1_700_000_000, "model": question.model}


def _usage(replies: list[Reply]) -> dict[str, int]:
    asked, used = replies[0].prompt_tokens, sum(reply.used for reply in replies)
    return {"prompt_tokens": asked, "completion_tokens": used, "total_tokens": asked + used}


def _choice(index: int, reply: Reply) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.text, "refusal": None}
    if reply.tool is not None:
        message |= {"content": None, "tool_calls": [_call(index, reply.tool, json.dumps(reply.arguments))]}
    return {"index": index, "message": message, "logprobs": None, "finish_reason": REASONS[reply.reason]}


def _call(index: int, tool: Tool, arguments: str) -> dict[str, Any]:
    return {"id": f"call_{index}", "type": "function", "function": {"name": tool.name, "arguments": arguments}}


def _deltas(index: int, reply: Reply) -> Iterator[dict[str, Any]]:
    if reply.tool is None:
        yield from ({"content": text} for text in parts_of(reply.tokens))
        return
    yield {"tool_calls": [{"index": 0, **_call(index, reply.tool, "")}]}
    yield {"tool_calls": [{"index": 0, "function": {"arguments": json.dumps(reply.arguments)}}]}


def _chunk(head: Mapping[str, Any], index: int, delta: Mapping[str, Any], reason: str | None = None) -> bytes:
    return event({**head, "choices": [{"index": index, "delta": delta, "logprobs": None, "finish_reason": reason}]})
