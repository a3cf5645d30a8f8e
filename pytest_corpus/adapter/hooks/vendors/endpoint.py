"""The interface of an endpoint: its operation, its answer, its events, its errors."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from pytest_corpus.adapter.hooks.vendors.stand_in import CannedReply, Question, Tool, count_tokens, make_reply

Body = Mapping[str, Any]

TOKENS_IN_CHUNK = 3


class Refusal(Exception):
    """The error for a request that the vendor would refuse with 400; the message names the field, never its value."""

    def __init__(self, message: str, code: str | None = None) -> None:
        self.message, self.code = message, code
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Trouble:
    """An error of the provider: its kind in the suite's words, and a message. `Errors` puts it into a vendor's form."""

    kind: str
    message: str


@dataclass(frozen=True, slots=True)
class Events:
    """An answer as a stream: the bytes that open it, one part per chunk, and the bytes that close it."""

    opening: bytes
    chunks: Sequence[bytes]
    closing: bytes


@dataclass(frozen=True, slots=True)
class Errors:
    """The form of a vendor's errors.

    `body` makes the body of an answer, `event` an event for a stream that has begun (None: the vendor has no event for
    this error, which then does not occur in streams); `headers` are the headers of every answer.
    """

    body: Callable[[Trouble], Body]
    event: Callable[[Trouble], bytes | None] = lambda _trouble: None
    headers: Mapping[str, str] = field(default_factory=dict)


class Endpoint(Protocol):
    """An endpoint of a vendor.

    If `filters` is True, the argument `filtered` requests an answer that a content filter cuts off.
    """

    errors: Errors
    filters: bool = False

    def reached(self, body: Body, /) -> tuple[str, dict[str, Any]]:
        """Return the operation of a request, and other facts about the request."""
        ...

    def answer(self, body: Body, filtered: bool, /) -> Body:
        """Return the answer to a request; raise `Refusal` if the vendor would refuse it."""
        ...

    def events(self, body: Body, filtered: bool, /) -> Events | None:  # noqa: ARG002 - one that never streams is done
        """Return the answer as a stream, or None if the request does not ask for a stream."""
        return None


class Completion(Endpoint):
    """An endpoint that makes its answers and its streams from the same replies.

    Attributes:
        window: the largest number of tokens in a question.
        too_long: the message and the code of the refusal of a longer question.
    """

    window: int
    too_long: tuple[str, str | None]

    def reached(self, body: Body, /) -> tuple[str, dict[str, Any]]:
        """Return the operation of a request for a completion, and other facts about the request."""
        return "llm.stream" if body.get("stream") else "llm.complete", {}

    def answer(self, body: Body, filtered: bool, /) -> Body:
        """Return one answer that contains all replies to the request."""
        return self.whole_answer(body, self.replies(body, filtered))

    def events(self, body: Body, filtered: bool, /) -> Events | None:
        """Return all replies to the request as one stream; None if it does not ask for a stream."""
        return self.stream(body, self.replies(body, filtered)) if body.get("stream") else None

    def replies(self, body: Body, filtered: bool) -> list[CannedReply]:
        """Return the replies to a request: one reply, unless the vendor can give several."""
        question = self.question(body)
        if sum(map(len, question.texts)) > self.window and count_tokens(question.texts) > self.window:
            raise Refusal(*self.too_long)
        replies = [make_reply(question, number) for number in range(self.reply_count(body))]
        return [reply.cut_by_filter() for reply in replies] if filtered else replies

    def question(self, body: Body) -> Question:
        """Return the question in a request; raise `Refusal` if the vendor would refuse the request."""
        raise NotImplementedError

    def reply_count(self, _body: Body) -> int:
        """Return the number of replies that a request asks for."""
        return 1

    def whole_answer(self, body: Body, replies: list[CannedReply]) -> Body:
        """Return an answer with all replies, in the vendor's form."""
        raise NotImplementedError

    def stream(self, body: Body, replies: list[CannedReply]) -> Events:
        """Return replies as the vendor's events."""
        raise NotImplementedError


class FunctionEndpoint(Endpoint):
    """An endpoint of one operation; a function makes its answers."""

    def __init__(self, op: str, errors: Errors, make: Callable[[Body], Body]) -> None:
        self._op, self.errors, self._make = op, errors, make

    def reached(self, _body: Body, /) -> tuple[str, dict[str, Any]]:
        """Return the operation, without further facts."""
        return self._op, {}

    def answer(self, body: Body, _filtered: bool, /) -> Body:
        """Return the answer that the function makes."""
        return self._make(body)


def embedding_arrival(inputs: Sequence[Any]) -> tuple[str, dict[str, Any]]:
    """Return the operation that embeds these inputs, and the number of inputs if there are several."""
    return ("embedding.embed_batch", {"items": len(inputs)}) if len(inputs) > 1 else ("embedding.embed", {})


Endpoints = Mapping[tuple[str, str], Endpoint]
"""Endpoints by method and path; a `*` in a path stands for any text."""


def event(data: Any, name: str = "") -> bytes:
    """Return a server-sent event. Non-ASCII letters are escaped only if the data contains a lone surrogate."""
    head = f"event: {name}\n" if name else ""
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    try:
        return f"{head}data: {text}\n\n".encode()
    except UnicodeEncodeError:
        return f"{head}data: {json.dumps(data)}\n\n".encode()


def typed_event(kind: str, **members: Any) -> bytes:
    """Return a server-sent event whose name is the `type` in its data."""
    return event({"type": kind, **members}, kind)


def parts_of(tokens: Sequence[str]) -> list[str]:
    """Split tokens into the texts of a stream's chunks; there is at least one chunk."""
    starts = range(0, len(tokens) or 1, TOKENS_IN_CHUNK)
    return ["".join(tokens[start : start + TOKENS_IN_CHUNK]) for start in starts]


def arguments_text(arguments: Mapping[str, Any]) -> str:
    """Return the arguments of a tool call as JSON text."""
    return json.dumps(arguments, ensure_ascii=False)


FRAGMENTS = 5
"""The largest number of parts into which a stream splits the arguments of a tool call."""


def fragments_of(text: str) -> list[str]:
    """Split the arguments of a tool call, as JSON text, into the parts that a stream sends."""
    size = -(-len(text) // FRAGMENTS) or 1
    return [text[start : start + size] for start in range(0, len(text), size)]


ANY_ANSWER = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}
"""The schema of a JSON answer if the request names none."""


def texts_of(content: Any) -> list[str]:
    """Return the texts in the content of a message, which is a string or a list of parts."""
    if content is None:
        return []
    if isinstance(content, str):
        return [content]
    if not isinstance(content, list) or not all(isinstance(part, Mapping) for part in content):
        raise Refusal("content must be a string or a list of parts")
    return [text for part in content for text in _part_texts(part)]


def _part_texts(part: Mapping[str, Any]) -> list[str]:
    for name in ("text", "content", "input"):
        if isinstance(found := part.get(name), str):
            return [found]
        if isinstance(found, list):
            return texts_of(found)
        if isinstance(found, Mapping):
            return [json.dumps(found)]
    return []


def required_member(body: Body, name: str, kind: type) -> Any:
    """Return a required member of this type. Raises Refusal if it is absent or has another type."""
    value = body.get(name)
    if not isinstance(value, kind) or not value:
        raise Refusal(f"'{name}' is a required property")
    return value


def number(body: Body, name: str, low: float, high: float) -> float | None:
    """Return a number in a request, or None. Raises Refusal if it is beyond the limits."""
    value = body.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
        raise Refusal(f"'{name}' must lie between {low:g} and {high:g}")
    return value


def integer(body: Body, name: str, low: int, high: int = 2**31) -> int | None:
    """Return an integer in a request, or None. Raises Refusal if it is beyond the limits."""
    value = number(body, name, low, high)
    if value is not None and not isinstance(value, int):
        raise Refusal(f"'{name}' must be an integer")
    return value


def strings(body: Body, name: str, most: int) -> tuple[str, ...]:
    """Return the strings in a member that is a string or a list of up to `most` strings."""
    value = body.get(name)
    found = [] if value is None else [value] if isinstance(value, str) else value
    if not isinstance(found, list) or len(found) > most or not all(isinstance(each, str) for each in found):
        raise Refusal(f"'{name}' must be at most {most} strings")
    return tuple(found)


def find_tool(tools: Sequence[Tool], name: Any) -> Tool:
    """Return the tool with this name, or the first tool if the name is None."""
    for tool in tools:
        if name in (None, tool.name):
            return tool
    raise Refusal("'tool_choice' names no tool of 'tools'")


def check_numbers(body: Body, limits: Mapping[str, tuple[float, float]]) -> None:
    """Raise Refusal if a number in a request is beyond its limits."""
    for name, (low, high) in limits.items():
        number(body, name, low, high)
