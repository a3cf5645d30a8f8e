"""``POST /v1/chat/completions``, and the errors of OpenAI and of the many servers that speak its API."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from pytest_corpus.adapter.hooks.vendors import fields
from pytest_corpus.adapter.hooks.vendors.endpoint import (
    Body,
    Completion,
    Errors,
    Events,
    Refusal,
    Trouble,
    event,
    parts_of,
)
from pytest_corpus.adapter.hooks.vendors.stand_in import Question, Reply, Tool, answered

ROLES = ("system", "developer", "user", "assistant", "tool", "function")
REASONS = {"stop": "stop", "length": "length", "tool": "tool_calls", "filtered": "content_filter"}
WINDOW = 128_000
MOST_ANSWERS = 128
SAMPLING = {"temperature": (0.0, 2.0), "top_p": (0.0, 1.0)}
LIMITS = {**SAMPLING, "frequency_penalty": (-2.0, 2.0), "presence_penalty": (-2.0, 2.0)}


WORDS: dict[str, tuple[str, str | None]] = {
    "rate_limited": ("requests", "rate_limit_exceeded"),
    "quota_exhausted": ("insufficient_quota", "insufficient_quota"),
    "overloaded": ("server_error", "server_is_overloaded"),
    "unavailable": ("server_error", None),
    "network": ("server_error", None),
    "gateway_timeout": ("server_error", None),
    "auth": ("invalid_request_error", "invalid_api_key"),
    "forbidden": ("invalid_request_error", "unsupported_country_region_territory"),
    "content_filtered": ("invalid_request_error", "content_filter"),
    "invalid_request": ("invalid_request_error", None),
    "unexpected": ("server_error", "server_error"),
    "not_found": ("invalid_request_error", "unknown_url"),
}
"""The type and the code of each kind of error."""


def error(trouble: Trouble) -> dict[str, Any]:
    """The error object."""
    kind, code = WORDS.get(trouble.kind, ("invalid_request_error", trouble.kind))
    return {"message": trouble.message, "type": kind, "param": None, "code": code}


def _body(trouble: Trouble) -> dict[str, Any]:
    return {"error": error(trouble)}


def _event(trouble: Trouble) -> bytes:
    return event(_body(trouble))


def _typed_event(trouble: Trouble) -> bytes:
    found = error(trouble)
    message, code = found["message"], found["code"] or found["type"]
    return event({"type": "error", "code": code, "message": message, "param": None, "sequence_number": 0}, "error")


HEADERS = {"x-request-id": "req_stand_in"}
ERRORS = Errors(_body, _event, HEADERS)
RESPONSES_ERRORS = Errors(_body, _typed_event, HEADERS)


class Chat(Completion):
    """Answers to chats: words, JSON where `response_format` wants it, a call where `tool_choice` wants one."""

    errors = ERRORS
    filters = True

    def replies(self, body: Body, filtered: bool) -> list[Reply]:
        question = read(body)
        replies = [answered(question, number) for number in range(fields.integer(body, "n", 1, MOST_ANSWERS) or 1)]
        return [reply.filtered() for reply in replies] if filtered else replies

    def whole(self, body: Body, replies: list[Reply]) -> Body:
        choices = [_choice(index, reply) for index, reply in enumerate(replies)]
        return {**_head(body, "chat.completion"), "choices": choices, "usage": _usage(replies)}

    def stream(self, body: Body, replies: list[Reply]) -> Events:
        head = _head(body, "chat.completion.chunk")
        indexed = list(enumerate(replies))
        closing = b"".join(_chunk(head, index, {}, REASONS[reply.reason]) for index, reply in indexed)
        if (body.get("stream_options") or {}).get("include_usage"):
            closing += event({**head, "choices": [], "usage": _usage(replies)})
        return Events(
            b"".join(_chunk(head, index, {"role": "assistant", "content": ""}) for index, _ in indexed),
            [_chunk(head, index, delta) for index, reply in indexed for delta in _deltas(index, reply)],
            closing + event("[DONE]"),
        )


def read(body: Body) -> Question:
    """Return the question of a chat; raise `Refusal` if OpenAI would refuse it."""
    messages = fields.required(body, "messages", list)
    fields.check_numbers(body, LIMITS)
    limit = fields.integer(body, "max_completion_tokens", 1) or fields.integer(body, "max_tokens", 1)
    texts = tuple(text for message in messages for text in _message(message))
    model, stop = fields.required(body, "model", str), fields.strings(body, "stop", 4)
    schema = wanted_schema(body.get("response_format"), "json_schema")
    question = Question(model, texts, limit, stop, _tool(body), schema)
    check_window(question)
    return question


def check_window(question: Question) -> None:
    """Refuse a question that is longer than the window."""
    if fields.exceeds(question.texts, WINDOW):
        raise Refusal(f"This model's maximum context length is {WINDOW} tokens", "context_length_exceeded")


def _message(message: Any) -> Iterator[str]:
    if not isinstance(message, Mapping) or message.get("role") not in ROLES:
        raise Refusal(f"each of 'messages' must have a 'role' of {', '.join(ROLES)}")
    yield from fields.texts_of(message.get("content"))
    for call in message.get("tool_calls") or ():
        yield str(call.get("function", {}).get("arguments", "")) if isinstance(call, Mapping) else ""


def _tool(body: Body) -> Tool | None:
    offered = body.get("tools") or []
    if not isinstance(offered, list) or not all(isinstance(each, Mapping) for each in offered):
        raise Refusal("'tools' must be a list of tools")
    functions = [each.get("function") or {} for each in offered]
    tools = [Tool(fields.required(each, "name", str), each.get("parameters") or {}) for each in functions]
    choice = body.get("tool_choice")
    if choice in (None, "auto", "none"):
        return None
    return fields.named(tools, None if choice == "required" else (choice.get("function") or {}).get("name"))


def wanted_schema(wanted: Any, inside: str = "") -> Mapping[str, Any] | None:
    """Return the schema of the JSON that is wanted; None if words are."""
    kind = wanted.get("type") if isinstance(wanted, Mapping) else None
    if kind == "json_object":
        return fields.ANY_ANSWER
    if kind != "json_schema":
        return None
    found = (wanted.get(inside) or {}) if inside else wanted
    return found.get("schema") or {}


def _head(body: Body, kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-standin", "object": kind, "created": 1_700_000_000, "model": body["model"]}


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
