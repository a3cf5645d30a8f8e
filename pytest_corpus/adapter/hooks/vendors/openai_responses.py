"""``POST /v1/responses`` and ``POST /v1/responses/input_tokens``."""

import json
from collections.abc import Mapping
from itertools import count as counting
from typing import Any

from pytest_corpus.adapter.hooks.vendors import fields
from pytest_corpus.adapter.hooks.vendors.endpoint import Body, Completion, Events, Plain, Refusal, event, parts_of
from pytest_corpus.adapter.hooks.vendors.openai_chat import RESPONSES_ERRORS, SAMPLING, check_window, wanted_schema
from pytest_corpus.adapter.hooks.vendors.stand_in import Question, Reply, Tool, answered, count

LEAST_ANSWER = 1
REASONS = {"length": "max_output_tokens", "filtered": "content_filter"}


class Responses(Completion):
    """Answers to a text or to the items of a conversation; nothing is stored."""

    errors = RESPONSES_ERRORS
    filters = True

    def reply(self, body: Body) -> Reply:
        fields.check_numbers(body, SAMPLING)
        limit = fields.integer(body, "max_output_tokens", LEAST_ANSWER)
        schema = wanted_schema((body.get("text") or {}).get("format"))
        question = Question(fields.required(body, "model", str), _texts(body), limit, (), _tool(body), schema)
        check_window(question)
        return answered(question)

    def whole(self, body: Body, replies: list[Reply]) -> Body:
        return _response(body, replies[0])

    def stream(self, body: Body, replies: list[Reply]) -> Events:
        (reply,) = replies
        whole, numbers = _response(body, reply), counting()
        item = whole["output"][0]

        def made(kind: str, **members: Any) -> bytes:
            return event({"type": f"response.{kind}", "sequence_number": next(numbers), **members}, f"response.{kind}")

        begun = {**whole, "status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
        opening = made("created", response=begun) + made("in_progress", response=begun)
        inside = {"item_id": item["id"], "output_index": 0}
        empty = {**item, "status": "in_progress", **({"arguments": ""} if reply.tool else {"content": []})}
        opening += made("output_item.added", output_index=0, item=empty)
        if reply.tool is None:
            part = item["content"][0]
            inside |= {"content_index": 0}
            opening += made("content_part.added", **inside, part={**part, "text": ""})
            chunks = [made("output_text.delta", **inside, delta=text, logprobs=[]) for text in parts_of(reply.tokens)]
            closing = made("output_text.done", **inside, text=reply.text, logprobs=[])
            closing += made("content_part.done", **inside, part=part)
        else:
            arguments = item["arguments"]
            chunks = [made("function_call_arguments.delta", **inside, delta=arguments)]
            closing = made("function_call_arguments.done", **inside, name=item["name"], arguments=arguments)
        closing += made("output_item.done", output_index=0, item=item)
        closing += made(whole["status"], response=whole)
        return Events(opening, chunks, closing)


INPUT_TOKENS = Plain(
    "llm.count_tokens",
    RESPONSES_ERRORS,
    lambda body: {"object": "response.input_tokens", "input_tokens": count(_texts(body))},
)


def _texts(body: Body) -> tuple[str, ...]:
    given = body.get("input")
    items = [{"content": given}] if isinstance(given, str) else given
    if not isinstance(items, list) or not all(isinstance(each, Mapping) for each in items):
        raise Refusal("'input' must be a string or a list of items")
    found = fields.texts_of(body.get("instructions"))
    for item in items:
        found += fields.texts_of(item.get("content"))
        found += [str(item[name]) for name in ("arguments", "output") if name in item]
    return tuple(found)


def _tool(body: Body) -> Tool | None:
    choice = body.get("tool_choice")
    if choice in (None, "auto", "none"):
        return None
    offered = [each for each in body.get("tools") or () if isinstance(each, Mapping) and "name" in each]
    tools = [Tool(str(each["name"]), each.get("parameters") or {}) for each in offered]
    return fields.named(tools, None if choice == "required" else choice.get("name"))


def _response(body: Body, reply: Reply) -> dict[str, Any]:
    reason = REASONS.get(reply.reason)
    asked, used = reply.prompt_tokens, reply.used
    if reply.tool is not None:
        item: dict[str, Any] = {"id": "fc_standin", "type": "function_call", "status": "completed", "call_id": "call_0",
                "name": reply.tool.name, "arguments": json.dumps(reply.arguments)}  # fmt: skip
    else:
        part = {"type": "output_text", "text": reply.text, "annotations": [], "logprobs": []}
        item = {"id": "msg_standin", "type": "message", "role": "assistant", "content": [part],
                "status": "incomplete" if reason else "completed"}  # fmt: skip
    usual = {"instructions": None, "temperature": 1.0, "top_p": 1.0}
    given = {"tool_choice": "auto", "tools": [], "text": {"format": {"type": "text"}}}
    return {
        "id": "resp_standin", "object": "response", "created_at": 1_700_000_000, "model": body["model"],
        "status": "incomplete" if reason else "completed",
        "incomplete_details": {"reason": reason} if reason else None,
        "error": None, "metadata": {}, "output": [item], "parallel_tool_calls": True,
        **{name: body.get(name, value) for name, value in usual.items()},
        **{name: body.get(name) or value for name, value in given.items()},
        "usage": {
            "input_tokens": asked, "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": used, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": asked + used,
        },
    }  # fmt: skip
