"""Cohere: ``POST /v2/chat``, ``POST /v2/embed`` and ``POST /v1/tokenize``."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from pytest_corpus.adapter.hooks.vendors.endpoint import (
    Body,
    Errors,
    Events,
    Refusal,
    Trouble,
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
from pytest_corpus.adapter.hooks.vendors.openai_embeddings import vector
from pytest_corpus.adapter.hooks.vendors.stand_in import Question, Reply, Tool, answered, split

ROLES = ("system", "user", "assistant", "tool")
REASONS = {"stop": "COMPLETE", "length": "MAX_TOKENS", "tool": "TOOL_CALL"}
LIMITS = (("temperature", 0.0, 1.0), ("p", 0.01, 0.99), ("frequency_penalty", 0.0, 1.0), ("presence_penalty", 0.0, 1.0))
WINDOW = 128_000
MOST_STOPS = 5
MOST_CHARACTERS = 65_536
"""The longest text that is tokenized."""

MOST_TEXTS = 96
DIMENSIONS = 1024
FILTERED = "blocked output: please adjust your prompt and try again"
IN_STREAM = ("overloaded", "unavailable", "network", "gateway_timeout", "unexpected")
"""What the last event of a stream can tell: that the model failed. It has no word for anything else."""


def _error(trouble: Trouble) -> dict[str, Any]:
    message = f"{FILTERED}: {trouble.message}" if trouble.kind == "content_filtered" else trouble.message
    return {"id": "standin", "message": message}


def _event(trouble: Trouble) -> bytes | None:
    if trouble.kind not in IN_STREAM:
        return None
    return _typed("message-end", id="standin", delta={"finish_reason": "ERROR", "error": trouble.message})


ERRORS = Errors(_error, _event)


class Chat:
    """Answers to chats: words, JSON where `response_format` wants it, a call where `tool_choice` wants one."""

    errors = ERRORS
    filters = False

    def reached(self, body: Body, /) -> tuple[str, dict[str, Any]]:
        return completion(body), {}

    def answer(self, body: Body, _filtered: bool, /) -> Body:
        reply = answered(_question(body))
        message: dict[str, Any] = {"role": "assistant"}
        if reply.tool is None:
            message["content"] = [{"type": "text", "text": reply.text}]
        else:
            call = {"name": reply.tool.name, "arguments": json.dumps(reply.arguments)}
            message["tool_calls"] = [{"id": "call_standin", "type": "function", "function": call}]
        return {"id": "standin", "message": message, **_end(reply)}

    def events(self, body: Body, _filtered: bool, /) -> Events | None:
        if not body.get("stream"):
            return None
        reply = answered(_question(body))
        start = {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": [], "citations": []}
        opening = _typed("message-start", id="standin", delta={"message": start})
        if reply.tool is None:
            opening += _part("content-start", {"content": {"type": "text", "text": ""}})
            chunks = [_part("content-delta", {"content": {"text": text}}) for text in parts_of(reply.tokens)]
            closing = _typed("content-end", index=0)
        else:
            call = {"id": "call_standin", "type": "function", "function": {"name": reply.tool.name, "arguments": ""}}
            opening += _part("tool-call-start", {"tool_calls": call})
            text = json.dumps(reply.arguments)
            chunks = [_part("tool-call-delta", {"tool_calls": {"function": {"arguments": text}}})]
            closing = _typed("tool-call-end", index=0)
        closing += _typed("message-end", id="standin", delta=_end(reply))
        return Events(opening, chunks, closing + event("[DONE]"))


class Tokenize:
    """The tokens of a text, as numbers and as strings."""

    errors = ERRORS
    filters = False

    def reached(self, _body: Body, /) -> tuple[str, dict[str, Any]]:
        return "llm.count_tokens", {}

    def answer(self, body: Body, _filtered: bool, /) -> Body:
        text = required(body, "text", str)
        required(body, "model", str)
        if len(text) > MOST_CHARACTERS:
            raise Refusal(f"text must be at most {MOST_CHARACTERS} characters")
        tokens = split(text)
        return {"tokens": list(range(len(tokens))), "token_strings": tokens, "meta": {"api_version": {"version": "1"}}}

    def events(self, _body: Body, _filtered: bool, /) -> Events | None:
        return None


class Embed:
    """Unit vectors; texts that share words are alike."""

    errors = ERRORS
    filters = False

    def reached(self, body: Body, /) -> tuple[str, dict[str, Any]]:
        many = len(body.get("texts") or ())
        return ("embedding.embed_batch", {"items": many}) if many > 1 else ("embedding.embed", {})

    def answer(self, body: Body, _filtered: bool, /) -> Body:
        required(body, "model", str)
        required(body, "input_type", str)
        texts = required(body, "texts", list)
        if len(texts) > MOST_TEXTS or not all(isinstance(text, str) and text for text in texts):
            raise Refusal(f"texts must be at most {MOST_TEXTS} texts that are not empty")
        dimensions = integer(body, "output_dimension", 1, DIMENSIONS) or DIMENSIONS
        vectors = [vector(text.lower().split() or [text], dimensions) for text in texts]
        used = {"billed_units": {"input_tokens": sum(len(split(text)) for text in texts)}}
        return {"id": "standin", "texts": texts, "embeddings": {"float": vectors}, "meta": used}

    def events(self, _body: Body, _filtered: bool, /) -> Events | None:
        return None


def _question(body: Body) -> Question:
    for name, low, high in LIMITS:
        number(body, name, low, high)
    texts = tuple(text for message in required(body, "messages", list) for text in _message(message))
    question = Question(
        required(body, "model", str),
        texts,
        integer(body, "max_tokens", 1),
        strings(body, "stop_sequences", MOST_STOPS),
        _tool(body),
        _schema(body),
    )
    if sum(map(len, texts)) > WINDOW and answered(question).prompt_tokens > WINDOW:
        raise Refusal(f"too many tokens: the limit of this model is {WINDOW} tokens")
    return question


def _message(message: Any) -> Iterator[str]:
    if not isinstance(message, Mapping) or message.get("role") not in ROLES:
        raise Refusal(f"each of messages must have a role of {', '.join(ROLES)}")
    yield from text_in(message.get("content"))
    for call in message.get("tool_calls") or ():
        yield str(call["function"].get("arguments", ""))


def _tool(body: Body) -> Tool | None:
    functions = [required(each, "function", dict) for each in body.get("tools") or ()]
    tools = [Tool(required(each, "name", str), each.get("parameters") or {}) for each in functions]
    choice = body.get("tool_choice")
    if choice not in (None, "REQUIRED", "NONE"):
        raise Refusal("tool_choice must be REQUIRED or NONE")
    return named(tools, None) if choice == "REQUIRED" else None


def _schema(body: Body) -> Mapping[str, Any] | None:
    wanted = body.get("response_format") or {}
    if wanted.get("type") != "json_object":
        return None
    usual = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}
    return wanted.get("json_schema") or wanted.get("schema") or usual


def _end(reply: Reply) -> dict[str, Any]:
    used = {"input_tokens": reply.prompt_tokens, "output_tokens": reply.used}
    reason = "STOP_SEQUENCE" if reply.stopped_at is not None else REASONS[reply.reason]
    return {"finish_reason": reason, "usage": {"billed_units": used, "tokens": used}}


def _part(kind: str, message: Mapping[str, Any]) -> bytes:
    return _typed(kind, index=0, delta={"message": message})


def _typed(kind: str, **members: Any) -> bytes:
    return event({"type": kind, **members}, kind)
