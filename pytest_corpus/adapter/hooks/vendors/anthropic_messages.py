"""``POST /v1/messages`` and ``POST /v1/messages/count_tokens``."""

from collections.abc import Mapping
from typing import Any

from pytest_corpus.adapter.hooks.vendors import endpoint
from pytest_corpus.adapter.hooks.vendors.endpoint import (
    Body,
    Completion,
    Errors,
    Events,
    FunctionEndpoint,
    Refusal,
    Trouble,
    arguments_text,
    event,
    fragments_of,
    parts_of,
    typed_event,
)
from pytest_corpus.adapter.hooks.vendors.stand_in import CannedReply, Question, Tool, count_tokens

ROLES = ("user", "assistant", "system")
REASONS = {"stop": "end_turn", "length": "max_tokens", "tool": "tool_use", "filtered": "refusal"}
LIMITS = {"temperature": (0.0, 1.0), "top_p": (0.0, 1.0)}
WINDOW = 200_000
REQUEST_ID = "req_standin"

TYPES = {
    "rate_limited": "rate_limit_error",
    "quota_exhausted": "rate_limit_error",
    "overloaded": "overloaded_error",
    "gateway_timeout": "timeout_error",
    "auth": "authentication_error",
    "forbidden": "permission_error",
    "not_found": "not_found_error",
    "unavailable": "api_error",
    "network": "api_error",
    "unexpected": "api_error",
}
"""The type of each kind of error; any other is `invalid_request_error`."""

FILTERED = "Output blocked by content filtering policy"


def _error(trouble: Trouble) -> dict[str, Any]:
    message = f"{FILTERED}: {trouble.message}" if trouble.kind == "content_filtered" else trouble.message
    kind = TYPES.get(trouble.kind, "invalid_request_error")
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": REQUEST_ID}


def _event(trouble: Trouble) -> bytes:
    return event(_error(trouble), "error")


ERRORS = Errors(_error, _event, {"request-id": REQUEST_ID})


class MessagesEndpoint(Completion):
    """Answers conversations with words, with JSON for `output_config`, or with a call for `tool_choice`."""

    errors = ERRORS
    filters = True
    window, too_long = WINDOW, (f"prompt is too long: more than {WINDOW} tokens maximum", None)

    def question(self, body: Body) -> Question:
        endpoint.check_numbers(body, LIMITS)
        limit = endpoint.integer(body, "max_tokens", 1)
        if limit is None:
            raise Refusal("max_tokens: Field required")
        stop = endpoint.strings(body, "stop_sequences", 2**10)
        if not all(map(str.strip, stop)):
            raise Refusal("stop_sequences: each stop sequence must contain non-whitespace")
        return Question(
            endpoint.required_member(body, "model", str), _prompt_texts(body), limit, stop, _tool(body), _schema(body)
        )

    def whole_answer(self, body: Body, replies: list[CannedReply]) -> Body:
        (reply,) = replies
        usage = {"input_tokens": reply.prompt_tokens, "output_tokens": reply.token_count}
        return {**_answer_head(body), "content": _content(reply), **_ending_fields(reply), "usage": usage}

    def stream(self, body: Body, replies: list[CannedReply]) -> Events:
        (reply,) = replies
        usage = {"input_tokens": reply.prompt_tokens, "output_tokens": 0}
        head = {**_answer_head(body), "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
        block = {"type": "text", "text": ""} if reply.tool is None else {**_content(reply)[0], "input": {}}
        opening = typed_event("message_start", message=head) + typed_event(
            "content_block_start", index=0, content_block=block
        )
        if reply.tool is None:
            deltas = [{"type": "text_delta", "text": text} for text in parts_of(reply.tokens)]
        else:
            parts = fragments_of(arguments_text(reply.arguments))
            deltas = [{"type": "input_json_delta", "partial_json": part} for part in parts]
        closing = typed_event("content_block_stop", index=0)
        closing += typed_event("message_delta", delta=_ending_fields(reply), usage={"output_tokens": reply.token_count})
        chunks = [typed_event("content_block_delta", index=0, delta=delta) for delta in deltas]
        return Events(opening + typed_event("ping"), chunks, closing + typed_event("message_stop"))


COUNT_TOKENS = FunctionEndpoint(
    "llm.count_tokens", ERRORS, lambda body: {"input_tokens": count_tokens(_prompt_texts(body))}
)


def _prompt_texts(body: Body) -> tuple[str, ...]:
    messages = endpoint.required_member(body, "messages", list)
    found = endpoint.texts_of(body.get("system"))
    for index, message in enumerate(messages):
        if not isinstance(message, Mapping) or message.get("role") not in ROLES:
            raise Refusal(f"messages.{index}.role: Input should be one of {', '.join(ROLES)}")
        texts = endpoint.texts_of(message.get("content"))
        if not any(map(str.strip, texts)) and index < len(messages) - 1:
            raise Refusal(f"messages.{index}: all messages must have non-empty content")
        found += texts
    return tuple(found)


def _tool(body: Body) -> Tool | None:
    offered = [each for each in body.get("tools") or () if isinstance(each, Mapping)]
    tools = [Tool(endpoint.required_member(each, "name", str), each.get("input_schema") or {}) for each in offered]
    choice = body.get("tool_choice") or {}
    if choice.get("type", "auto") in ("auto", "none"):
        return None
    return endpoint.find_tool(tools, choice.get("name"))


def _schema(body: Body) -> Mapping[str, Any] | None:
    wanted = (body.get("output_config") or {}).get("format") or {}
    return wanted.get("schema") if wanted.get("type") == "json_schema" else None


def _answer_head(body: Body) -> dict[str, Any]:
    return {"id": "msg_standin", "type": "message", "role": "assistant", "model": body["model"]}


def _content(reply: CannedReply) -> list[dict[str, Any]]:
    if reply.tool is None:
        return [{"type": "text", "text": reply.text}]
    return [{"type": "tool_use", "id": "toolu_standin", "name": reply.tool.name, "input": reply.arguments}]


def _ending_fields(reply: CannedReply) -> dict[str, Any]:
    reason = "stop_sequence" if reply.stopped_at is not None else REASONS[reply.reason]
    return {"stop_reason": reason, "stop_sequence": reply.stopped_at}
