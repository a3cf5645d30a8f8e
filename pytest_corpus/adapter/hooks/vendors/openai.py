"""OpenAI and the many servers that speak its API: chat completions, embeddings, and ``POST /v1/responses``."""

import base64
import hashlib
import math
import struct
from collections.abc import Iterator, Mapping
from itertools import count as counting
from typing import Any

from pytest_corpus.adapter.hooks.vendors import endpoint
from pytest_corpus.adapter.hooks.vendors.endpoint import (
    Body,
    Completion,
    Endpoint,
    Errors,
    Events,
    FunctionEndpoint,
    Refusal,
    Trouble,
    arguments_text,
    embedding_arrival,
    event,
    fragments_of,
    parts_of,
)
from pytest_corpus.adapter.hooks.vendors.stand_in import CannedReply, Question, Tool, count_tokens, split_tokens

ROLES = ("system", "developer", "user", "assistant", "tool", "function")
REASONS = {"stop": "stop", "length": "length", "tool": "tool_calls", "filtered": "content_filter"}
WINDOW = 128_000
TOO_LONG = f"This model's maximum context length is {WINDOW} tokens", "context_length_exceeded"
MOST_ANSWERS = 128
SAMPLING = {"temperature": (0.0, 2.0), "top_p": (0.0, 1.0)}
LIMITS = {**SAMPLING, "frequency_penalty": (-2.0, 2.0), "presence_penalty": (-2.0, 2.0)}


ERROR_NAMES: dict[str, tuple[str, str | None]] = {
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
    """Return an error object."""
    kind, code = ERROR_NAMES.get(trouble.kind, ("invalid_request_error", trouble.kind))
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


class ChatCompletions(Completion):
    """Answers chats with words, with JSON for `response_format`, or with a call for `tool_choice`."""

    errors = ERRORS
    filters = True
    window, too_long = WINDOW, TOO_LONG

    def question(self, body: Body) -> Question:
        messages = endpoint.required_member(body, "messages", list)
        endpoint.check_numbers(body, LIMITS)
        limit = endpoint.integer(body, "max_completion_tokens", 1) or endpoint.integer(body, "max_tokens", 1)
        texts = tuple(text for message in messages for text in _message_texts(message))
        model, stop = endpoint.required_member(body, "model", str), endpoint.strings(body, "stop", 4)
        schema = wanted_schema(body.get("response_format"), "json_schema")
        return Question(model, texts, limit, stop, _tool(body), schema)

    def reply_count(self, body: Body) -> int:
        return endpoint.integer(body, "n", 1, MOST_ANSWERS) or 1

    def whole_answer(self, body: Body, replies: list[CannedReply]) -> Body:
        choices = [_choice(index, reply) for index, reply in enumerate(replies)]
        return {**_answer_head(body, "chat.completion"), "choices": choices, "usage": _usage(replies)}

    def stream(self, body: Body, replies: list[CannedReply]) -> Events:
        head = _answer_head(body, "chat.completion.chunk")
        indexed = list(enumerate(replies))
        closing = b"".join(_chunk_event(head, index, {}, REASONS[reply.reason]) for index, reply in indexed)
        if (body.get("stream_options") or {}).get("include_usage"):
            closing += event({**head, "choices": [], "usage": _usage(replies)})
        return Events(
            b"".join(_chunk_event(head, index, {"role": "assistant", "content": ""}) for index, _ in indexed),
            [_chunk_event(head, index, delta) for index, reply in indexed for delta in _deltas(index, reply)],
            closing + event("[DONE]"),
        )


def _message_texts(message: Any) -> Iterator[str]:
    if not isinstance(message, Mapping) or message.get("role") not in ROLES:
        raise Refusal(f"each of 'messages' must have a 'role' of {', '.join(ROLES)}")
    yield from endpoint.texts_of(message.get("content"))
    for call in message.get("tool_calls") or ():
        yield str(call.get("function", {}).get("arguments", "")) if isinstance(call, Mapping) else ""


def _tool(body: Body) -> Tool | None:
    offered = body.get("tools") or []
    if not isinstance(offered, list) or not all(isinstance(each, Mapping) for each in offered):
        raise Refusal("'tools' must be a list of tools")
    functions = [each.get("function") or {} for each in offered]
    tools = [Tool(endpoint.required_member(each, "name", str), each.get("parameters") or {}) for each in functions]
    choice = body.get("tool_choice")
    if choice in (None, "auto", "none"):
        return None
    return endpoint.find_tool(tools, None if choice == "required" else (choice.get("function") or {}).get("name"))


def wanted_schema(wanted: Any, inside: str = "") -> Mapping[str, Any] | None:
    """Return the schema of the required JSON; None if the answer may be words."""
    kind = wanted.get("type") if isinstance(wanted, Mapping) else None
    if kind == "json_object":
        return endpoint.ANY_ANSWER
    if kind != "json_schema":
        return None
    found = (wanted.get(inside) or {}) if inside else wanted
    return found.get("schema") or {}


def _answer_head(body: Body, kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-standin", "object": kind, "created": 1_700_000_000, "model": body["model"]}


def _usage(replies: list[CannedReply]) -> dict[str, int]:
    asked, used = replies[0].prompt_tokens, sum(reply.token_count for reply in replies)
    return {"prompt_tokens": asked, "completion_tokens": used, "total_tokens": asked + used}


def _choice(index: int, reply: CannedReply) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.text, "refusal": None}
    if reply.tool is not None:
        message |= {"content": None, "tool_calls": [_tool_call(index, reply.tool, arguments_text(reply.arguments))]}
    return {"index": index, "message": message, "logprobs": None, "finish_reason": REASONS[reply.reason]}


def _tool_call(index: int, tool: Tool, arguments: str) -> dict[str, Any]:
    return {"id": f"call_{index}", "type": "function", "function": {"name": tool.name, "arguments": arguments}}


def _deltas(index: int, reply: CannedReply) -> Iterator[dict[str, Any]]:
    if reply.tool is None:
        yield from ({"content": text} for text in parts_of(reply.tokens))
        return
    first, *others = fragments_of(arguments_text(reply.arguments))
    yield {"tool_calls": [{"index": 0, **_tool_call(index, reply.tool, first)}]}
    yield from ({"tool_calls": [{"index": 0, "function": {"arguments": each}}]} for each in others)


def _chunk_event(head: Mapping[str, Any], index: int, delta: Mapping[str, Any], reason: str | None = None) -> bytes:
    return event({**head, "choices": [{"index": index, "delta": delta, "logprobs": None, "finish_reason": reason}]})


DIMENSIONS = {"text-embedding-3-large": 3072}
USUAL_DIMENSIONS = 1536
MOST_INPUTS = 2048
MOST_TOKENS = 8192


class Embeddings(Endpoint):
    """Answers with unit vectors, in reverse order; texts that share words have similar vectors."""

    errors = ERRORS

    def reached(self, body: Body, /) -> tuple[str, dict[str, Any]]:
        return embedding_arrival(_inputs(body))

    def answer(self, body: Body, _filtered: bool, /) -> Body:
        model, inputs = endpoint.required_member(body, "model", str), _inputs(body)
        whole = DIMENSIONS.get(model, USUAL_DIMENSIONS)
        dimensions = endpoint.integer(body, "dimensions", 1, whole) or whole
        if not inputs or len(inputs) > MOST_INPUTS or not all(map(_is_input, inputs)):
            raise Refusal(f"'input' must be 1 to {MOST_INPUTS} texts of 1 to {MOST_TOKENS} tokens")
        as_text = body.get("encoding_format") == "base64"
        vectors = [hashed_vector(_words_of(each), dimensions) for each in inputs]
        used = sum(map(_token_count, inputs))
        return {
            "object": "list",
            "model": model,
            "data": [
                {"object": "embedding", "index": index, "embedding": _encode_components(each) if as_text else each}
                for index, each in reversed([*enumerate(vectors)])
            ],
            "usage": {"prompt_tokens": used, "total_tokens": used},
        }


def _inputs(body: Body) -> list[Any]:
    """Return the texts, or lists of token numbers, in a request."""
    given = body.get("input")
    if isinstance(given, list) and given and not isinstance(given[0], int):
        return given
    return [] if given is None or given == [] else [given]


def _is_input(given: Any) -> bool:
    numbers = isinstance(given, list) and all(isinstance(each, int) for each in given)
    return (isinstance(given, str) or numbers) and 0 < _token_count(given) <= MOST_TOKENS


def _token_count(given: Any) -> int:
    return len(split_tokens(given)) if isinstance(given, str) else len(given)


def _words_of(given: Any) -> list[str]:
    return given.lower().split() or [given] if isinstance(given, str) else [str(each) for each in given]


def hashed_vector(words: list[str], dimensions: int) -> list[float]:
    """Return a unit vector with this number of components. The hash of each word changes up to 8 components."""
    components = [0.0] * dimensions
    for word in words:
        numbers = struct.unpack("<16H", hashlib.sha256(word.encode("utf-8", "surrogatepass")).digest())
        for place, weight in zip(numbers[::2], numbers[1::2], strict=True):
            components[place % dimensions] += weight / 32768 - 1
    length = math.hypot(*components)
    return [each / length for each in components] if length else [1.0, *[0.0] * (dimensions - 1)]


def _encode_components(components: list[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(components)}f", *components)).decode()


LEAST_ANSWER = 1
_INCOMPLETE = {"length": "max_output_tokens", "filtered": "content_filter"}


class Responses(Completion):
    """Answers a text or the items of a conversation, and stores nothing."""

    errors = RESPONSES_ERRORS
    filters = True
    window, too_long = WINDOW, TOO_LONG

    def question(self, body: Body) -> Question:
        endpoint.check_numbers(body, SAMPLING)
        limit = endpoint.integer(body, "max_output_tokens", LEAST_ANSWER)
        schema = wanted_schema((body.get("text") or {}).get("format"))
        return Question(
            endpoint.required_member(body, "model", str), _prompt_texts(body), limit, (), _function_tool(body), schema
        )

    def whole_answer(self, body: Body, replies: list[CannedReply]) -> Body:
        return _response(body, replies[0])

    def stream(self, body: Body, replies: list[CannedReply]) -> Events:
        (reply,) = replies
        whole, numbers = _response(body, reply), counting()
        item = whole["output"][0]

        def response_event(kind: str, **members: Any) -> bytes:
            return event({"type": f"response.{kind}", "sequence_number": next(numbers), **members}, f"response.{kind}")

        begun = {**whole, "status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
        opening = response_event("created", response=begun) + response_event("in_progress", response=begun)
        inside = {"item_id": item["id"], "output_index": 0}
        empty = {**item, "status": "in_progress", **({"arguments": ""} if reply.tool else {"content": []})}
        opening += response_event("output_item.added", output_index=0, item=empty)
        if reply.tool is None:
            part = item["content"][0]
            inside |= {"content_index": 0}
            opening += response_event("content_part.added", **inside, part={**part, "text": ""})
            chunks = [
                response_event("output_text.delta", **inside, delta=text, logprobs=[])
                for text in parts_of(reply.tokens)
            ]
            closing = response_event("output_text.done", **inside, text=reply.text, logprobs=[])
            closing += response_event("content_part.done", **inside, part=part)
        else:
            arguments = item["arguments"]
            chunks = [
                response_event("function_call_arguments.delta", **inside, delta=each)
                for each in fragments_of(arguments)
            ]
            closing = response_event("function_call_arguments.done", **inside, name=item["name"], arguments=arguments)
        closing += response_event("output_item.done", output_index=0, item=item)
        closing += response_event(whole["status"], response=whole)
        return Events(opening, chunks, closing)


INPUT_TOKENS = FunctionEndpoint(
    "llm.count_tokens",
    RESPONSES_ERRORS,
    lambda body: {"object": "response.input_tokens", "input_tokens": count_tokens(_prompt_texts(body))},
)


def _prompt_texts(body: Body) -> tuple[str, ...]:
    given = body.get("input")
    items = [{"content": given}] if isinstance(given, str) else given
    if not isinstance(items, list) or not all(isinstance(each, Mapping) for each in items):
        raise Refusal("'input' must be a string or a list of items")
    found = endpoint.texts_of(body.get("instructions"))
    for item in items:
        found += endpoint.texts_of(item.get("content"))
        found += [str(item[name]) for name in ("arguments", "output") if name in item]
    return tuple(found)


def _function_tool(body: Body) -> Tool | None:
    choice = body.get("tool_choice")
    if choice in (None, "auto", "none"):
        return None
    offered = [each for each in body.get("tools") or () if isinstance(each, Mapping) and "name" in each]
    tools = [Tool(str(each["name"]), each.get("parameters") or {}) for each in offered]
    return endpoint.find_tool(tools, None if choice == "required" else choice.get("name"))


def _response(body: Body, reply: CannedReply) -> dict[str, Any]:
    reason = _INCOMPLETE.get(reply.reason)
    asked, used = reply.prompt_tokens, reply.token_count
    if reply.tool is not None:
        item: dict[str, Any] = {"id": "fc_standin", "type": "function_call", "status": "completed", "call_id": "call_0",
                "name": reply.tool.name, "arguments": arguments_text(reply.arguments)}  # fmt: skip
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
