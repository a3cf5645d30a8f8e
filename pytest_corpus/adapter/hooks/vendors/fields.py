"""The members of a vendor's request; each function raises `Refusal` for a value that the vendor would refuse."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_corpus.adapter.hooks.vendors.endpoint import Body, Refusal
from pytest_corpus.adapter.hooks.vendors.stand_in import Tool, count

ANY_ANSWER = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}
"""The schema of a JSON answer if the request names none."""


def texts_of(content: Any) -> list[str]:
    """Return the texts in the content of a message: a string, or a list of parts."""
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


def required(body: Body, name: str, kind: type) -> Any:
    """Return a member that must be present and of a type."""
    value = body.get(name)
    if not isinstance(value, kind) or not value:
        raise Refusal(f"'{name}' is a required property")
    return value


def number(body: Body, name: str, low: float, high: float) -> float | None:
    """Return a number within its limits, or None."""
    value = body.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
        raise Refusal(f"'{name}' must lie between {low:g} and {high:g}")
    return value


def integer(body: Body, name: str, low: int, high: int = 2**31) -> int | None:
    """Return an integer within its limits, or None."""
    value = number(body, name, low, high)
    if value is not None and not isinstance(value, int):
        raise Refusal(f"'{name}' must be an integer")
    return value


def strings(body: Body, name: str, most: int) -> tuple[str, ...]:
    """Return a string, or up to `most` of them, as a tuple."""
    value = body.get(name)
    found = [] if value is None else [value] if isinstance(value, str) else value
    if not isinstance(found, list) or len(found) > most or not all(isinstance(each, str) for each in found):
        raise Refusal(f"'{name}' must be at most {most} strings")
    return tuple(found)


def named(tools: Sequence[Tool], name: Any) -> Tool:
    """Return the tool with a name; the first one if the name is None."""
    for tool in tools:
        if name in (None, tool.name):
            return tool
    raise Refusal("'tool_choice' names no tool of 'tools'")


def check_numbers(body: Body, limits: Mapping[str, tuple[float, float]]) -> None:
    """Refuse numbers beyond their limits."""
    for name, (low, high) in limits.items():
        number(body, name, low, high)


def exceeds(texts: Sequence[str], window: int) -> bool:
    """Return if texts have more tokens than a window."""
    return sum(map(len, texts)) > window and count(texts) > window
