"""What every endpoint is asked: the operation that it serves, its answer, its events, its errors."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from pytest_corpus.adapter.hooks.vendors.stand_in import Tool

Body = Mapping[str, Any]

TOKENS_IN_CHUNK = 3


def completion(body: Body) -> str:
    """The operation that a request for a completion serves."""
    return "llm.stream" if body.get("stream") else "llm.complete"


class Refusal(Exception):
    """A request that the vendor would refuse with 400; the message names the field, never its value."""

    def __init__(self, message: str, code: str | None = None) -> None:
        self.message, self.code = message, code
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Trouble:
    """An error of a vendor's: how its body says it."""

    kind: str
    message: str


@dataclass(frozen=True, slots=True)
class Events:
    """A stream: what opens it, one part a chunk, what closes it. Each part is the bytes of one event or more."""

    opening: bytes
    chunks: Sequence[bytes]
    closing: bytes


@dataclass(frozen=True, slots=True)
class Errors:
    """How a vendor words its errors.

    `body` makes the body of an answer, `event` the event of a stream that has begun (None: the vendor has no event for
    this error, so it does not happen there); `headers` is what each answer has.
    """

    body: Callable[[Trouble], Body]
    event: Callable[[Trouble], bytes | None] = lambda _trouble: None
    headers: Mapping[str, str] = field(default_factory=dict)


class Endpoint(Protocol):
    """An endpoint of a vendor. `filtered` says that the answer breaks off at a content filter, where it can."""

    errors: Errors
    filters: bool = False

    def reached(self, body: Body, /) -> tuple[str, dict[str, Any]]:
        """The op that a request of it is, and what more there is to tell of it."""
        ...

    def answer(self, body: Body, filtered: bool, /) -> Body:
        """The answer to a request.

        Raises:
            Refusal: the vendor would refuse it.
        """
        ...

    def events(self, body: Body, filtered: bool, /) -> Events | None:  # noqa: ARG002 - one that never streams is done
        """The answer as a stream; None if none is asked for."""
        return None


Endpoints = Mapping[tuple[str, str], Endpoint]
"""Endpoints by method and path; a `*` in a path stands for any text."""


def event(data: Any, name: str = "") -> bytes:
    """A server-sent event."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {data if isinstance(data, str) else json.dumps(data)}\n\n".encode()


def text_in(content: Any) -> list[str]:
    """The texts in the content of a message: a string, or a list of parts.

    Raises:
        Refusal: it is neither.
    """
    if content is None:
        return []
    if isinstance(content, str):
        return [content]
    if not isinstance(content, list) or not all(isinstance(part, Mapping) for part in content):
        raise Refusal("content must be a string or a list of parts")
    return [text for part in content for text in _texts(part)]


def _texts(part: Mapping[str, Any]) -> list[str]:
    for name in ("text", "content", "input"):
        if isinstance(found := part.get(name), str):
            return [found]
        if isinstance(found, list):
            return text_in(found)
        if isinstance(found, Mapping):
            return [json.dumps(found)]
    return []


def required(body: Body, name: str, kind: type) -> Any:
    """A member that must be there, and of a type.

    Raises:
        Refusal: it is not.
    """
    value = body.get(name)
    if not isinstance(value, kind) or not value:
        raise Refusal(f"'{name}' is a required property")
    return value


def number(body: Body, name: str, low: float, high: float) -> float | None:
    """A number within its limits, or None.

    Raises:
        Refusal: it is something else.
    """
    value = body.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
        raise Refusal(f"'{name}' must lie between {low:g} and {high:g}")
    return value


def integer(body: Body, name: str, low: int, high: int = 2**31) -> int | None:
    """An integer of at least `low`, or None.

    Raises:
        Refusal: it is something else.
    """
    value = number(body, name, low, high)
    if value is not None and not isinstance(value, int):
        raise Refusal(f"'{name}' must be an integer")
    return value


def strings(body: Body, name: str, most: int) -> tuple[str, ...]:
    """A string, or up to `most` of them.

    Raises:
        Refusal: it is something else.
    """
    value = body.get(name)
    found = [] if value is None else [value] if isinstance(value, str) else value
    if not isinstance(found, list) or len(found) > most or not all(isinstance(each, str) for each in found):
        raise Refusal(f"'{name}' must be at most {most} strings")
    return tuple(found)


def named(tools: Sequence[Tool], name: Any) -> Tool:
    """The tool of a name, or the first one where that is None.

    Raises:
        Refusal: there is none.
    """
    for tool in tools:
        if name in (None, tool.name):
            return tool
    raise Refusal("'tool_choice' names no tool of 'tools'")


def parts_of(tokens: Sequence[str]) -> list[str]:
    """The texts of the chunks of a stream; at least one."""
    starts = range(0, len(tokens) or 1, TOKENS_IN_CHUNK)
    return ["".join(tokens[start : start + TOKENS_IN_CHUNK]) for start in starts]
