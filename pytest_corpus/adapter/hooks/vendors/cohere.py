"""Cohere: ``POST /v2/chat``, ``POST /v2/embed`` and ``POST /v1/tokenize``."""

from collections.abc import Iterator, Mapping
from typing import Any

from pytest_corpus.adapter.hooks.vendors import endpoint
from pytest_corpus.adapter.hooks.vendors.endpoint import (
    Body,
    Completion,
    Endpoint,
    Errors,
    Events,
    Refusal,
    Trouble,
    arguments_text,
    embedding_arrival,
    event,
    fragments_of,
    parts_of,
    typed_event,
)
from pytest_corpus.adapter.hooks.vendors.openai import hashed_vector
from pytest_corpus.adapter.hooks.vendors.stand_in import CannedReply, Question, Tool, split_tokens

ROLES = ("system", "user", "assistant", "tool")
REASONS = {"stop": "COMPLETE", "length": "MAX_TOKENS", "tool": "TOOL_CALL"}
LIMITS = {"temperature": (0.0, 1.0), "p": (0.01, 0.99), "frequency_penalty": (0.0, 1.0), "presence_penalty": (0.0, 1.0)}
WINDOW = 128_000
MOST_STOPS = 5
MOST_CHARACTERS = 65_536
"""The longest text that is tokenized."""

MOST_TEXTS = 96
DIMENSIONS = 1024
FILTERED = "blocked output: please adjust your prompt and try again"
IN_STREAM = ("overloaded", "unavailable", "network", "gateway_timeout", "unexpected")
"""The errors that the last event of a stream can express. The event reports each of them as a failure of the model."""


def _error(trouble: Trouble) -> dict[str, Any]:
    message = f"{FILTERED}: {trouble.message}" if trouble.kind == "content_filtered" else trouble.message
    return {"id": "standin", "message": message}


def _event(trouble: Trouble) -> bytes | None:
    if trouble.kind not in IN_STREAM:
        return None
    return typed_event("message-end", id="standin", delta={"finish_reason": "ERROR", "error": trouble.message})


ERRORS = Errors(_error, _event)


class Chat(Completion):
    """Answers chats with words, with JSON for `response_format`, or with a call for `tool_choice`."""

    errors = ERRORS
    window, too_long = WINDOW, (f"too many tokens: the limit of this model is {WINDOW} tokens", None)

    def question(self, body: Body) -> Question:
        endpoint.check_numbers(body, LIMITS)
        texts = tuple(
            text for message in endpoint.required_member(body, "messages", list) for text in _message_texts(message)
        )
        model, limit = endpoint.required_member(body, "model", str), endpoint.integer(body, "max_tokens", 1)
        stop = endpoint.strings(body, "stop_sequences", MOST_STOPS)
        return Question(model, texts, limit, stop, _tool(body), _schema(body))

    def whole_answer(self, _body: Body, replies: list[CannedReply]) -> Body:
        (reply,) = replies
        message: dict[str, Any] = {"role": "assistant"}
        if reply.tool is None:
            message["content"] = [{"type": "text", "text": reply.text}]
        else:
            call = {"name": reply.tool.name, "arguments": arguments_text(reply.arguments)}
            message["tool_calls"] = [{"id": "call_standin", "type": "function", "function": call}]
        return {"id": "standin", "message": message, **_ending_fields(reply)}

    def stream(self, _body: Body, replies: list[CannedReply]) -> Events:
        (reply,) = replies
        start = {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": [], "citations": []}
        opening = typed_event("message-start", id="standin", delta={"message": start})
        if reply.tool is None:
            opening += _part("content-start", {"content": {"type": "text", "text": ""}})
            chunks = [_part("content-delta", {"content": {"text": text}}) for text in parts_of(reply.tokens)]
            closing = typed_event("content-end", index=0)
        else:
            call = {"id": "call_standin", "type": "function", "function": {"name": reply.tool.name, "arguments": ""}}
            opening += _part("tool-call-start", {"tool_calls": call})
            parts = fragments_of(arguments_text(reply.arguments))
            chunks = [_part("tool-call-delta", {"tool_calls": {"function": {"arguments": part}}}) for part in parts]
            closing = typed_event("tool-call-end", index=0)
        closing += typed_event("message-end", id="standin", delta=_ending_fields(reply))
        return Events(opening, chunks, closing + event("[DONE]"))


def tokenize(body: Body) -> Body:
    """Answer with the tokens of a text, as numbers and as strings."""
    text = endpoint.required_member(body, "text", str)
    endpoint.required_member(body, "model", str)
    if len(text) > MOST_CHARACTERS:
        raise Refusal(f"text must be at most {MOST_CHARACTERS} characters")
    tokens = split_tokens(text)
    return {"tokens": list(range(len(tokens))), "token_strings": tokens, "meta": {"api_version": {"version": "1"}}}


class Embed(Endpoint):
    """Answers with unit vectors; texts that share words have similar vectors."""

    errors = ERRORS

    def reached(self, body: Body, /) -> tuple[str, dict[str, Any]]:
        return embedding_arrival(body.get("texts") or ())

    def answer(self, body: Body, _filtered: bool, /) -> Body:
        endpoint.required_member(body, "model", str)
        endpoint.required_member(body, "input_type", str)
        texts = endpoint.required_member(body, "texts", list)
        if len(texts) > MOST_TEXTS or not all(isinstance(text, str) and text for text in texts):
            raise Refusal(f"texts must be at most {MOST_TEXTS} texts that are not empty")
        dimensions = endpoint.integer(body, "output_dimension", 1, DIMENSIONS) or DIMENSIONS
        vectors = [hashed_vector(text.lower().split() or [text], dimensions) for text in texts]
        used = {"billed_units": {"input_tokens": sum(len(split_tokens(text)) for text in texts)}}
        return {"id": "standin", "texts": texts, "embeddings": {"float": vectors}, "meta": used}


def _message_texts(message: Any) -> Iterator[str]:
    if not isinstance(message, Mapping) or message.get("role") not in ROLES:
        raise Refusal(f"each of messages must have a role of {', '.join(ROLES)}")
    yield from endpoint.texts_of(message.get("content"))
    for call in message.get("tool_calls") or ():
        yield str(call["function"].get("arguments", ""))


def _tool(body: Body) -> Tool | None:
    functions = [endpoint.required_member(each, "function", dict) for each in body.get("tools") or ()]
    tools = [Tool(endpoint.required_member(each, "name", str), each.get("parameters") or {}) for each in functions]
    choice = body.get("tool_choice")
    if choice not in (None, "REQUIRED", "NONE"):
        raise Refusal("tool_choice must be REQUIRED or NONE")
    return endpoint.find_tool(tools, None) if choice == "REQUIRED" else None


def _schema(body: Body) -> Mapping[str, Any] | None:
    wanted = body.get("response_format") or {}
    if wanted.get("type") != "json_object":
        return None
    return wanted.get("json_schema") or wanted.get("schema") or endpoint.ANY_ANSWER


def _ending_fields(reply: CannedReply) -> dict[str, Any]:
    used = {"input_tokens": reply.prompt_tokens, "output_tokens": reply.token_count}
    reason = "STOP_SEQUENCE" if reply.stopped_at is not None else REASONS[reply.reason]
    return {"finish_reason": reason, "usage": {"billed_units": used, "tokens": used}}


def _part(kind: str, message: Mapping[str, Any]) -> bytes:
    return typed_event(kind, index=0, delta={"message": message})
