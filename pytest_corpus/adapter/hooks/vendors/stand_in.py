"""Makes the answers of a model's stand-in. Equal questions get equal answers, which obey the limits in the question."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Literal

from pytest_corpus.text.values import value_at

Reason = Literal["stop", "length", "tool", "filtered"]

_TOKEN = re.compile(r" ?\S{1,8}|\s")
_WORDS = (
    "amber", "bo\u0301gen", "c\u00e8dre", "\u0434\u0435\u043b\u044c\u0442\u0430", "ember",
    "fj\u00f8rd", "grove", "\u6e2f\u53e3", "\U0001f3dd\ufe0f", "\u05d9\u05dd",
)  # fmt: skip
"""Words of several scripts, of one to four bytes a character."""

_LENGTH = 32
"""The number of words in an answer without a limit."""

_DEPTH = 12
_PLAIN: Mapping[str, Any] = {"string": "\u00e1mber", "integer": 1, "number": 1, "boolean": True, "null": None}


def split_tokens(text: str) -> list[str]:
    """Split a text into tokens, which give the text again when joined."""
    tokens: list[str] = _TOKEN.findall(text)
    return tokens


def count_tokens(texts: Sequence[str]) -> int:
    """Return the number of tokens in texts."""
    return sum(len(split_tokens(text)) for text in texts)


@dataclass(frozen=True, slots=True)
class Tool:
    """An offered function, with the schema of its arguments."""

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Question:
    """The question in a vendor's request.

    Attributes:
        texts: everything that counts as prompt.
        limit: the largest number of tokens in an answer; None if the request sets no limit.
        tool: the function that must be called; None if no call is required.
        schema: the schema of a JSON answer; None for an answer in words.
    """

    model: str
    texts: tuple[str, ...]
    limit: int | None = None
    stop: tuple[str, ...] = ()
    tool: Tool | None = None
    schema: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class CannedReply:
    """A reply of the stand-in: its tokens, or the JSON arguments of a call of `tool`.

    `stopped_at` is the stop sequence that ended it.
    """

    tokens: tuple[str, ...]
    reason: Reason
    prompt_tokens: int
    stopped_at: str | None = None
    tool: Tool | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The words of the answer."""
        return "".join(self.tokens)

    @property
    def token_count(self) -> int:
        """The number of tokens in the answer, including the arguments of a call."""
        return len(self.tokens) + (count_tokens([json.dumps(self.arguments)]) if self.tool else 0)

    def cut_by_filter(self) -> CannedReply:
        """Return a copy of the reply whose end a content filter cut off."""
        return CannedReply(self.tokens[: len(self.tokens) // 2], "filtered", self.prompt_tokens)


def make_reply(question: Question, number: int = 0) -> CannedReply:
    """Return the reply with this number, from 0, to a question that may ask for several."""
    asked = count_tokens(question.texts)
    if question.tool is not None:
        return CannedReply((), "tool", asked, tool=question.tool, arguments=_make_arguments(question.tool))
    text = _answer_text(question, number) if question.schema is None else json.dumps(minimal_instance(question.schema))
    found = [(text.index(stop), stop) for stop in question.stop if stop and stop in text]
    end, stopped_at = min(found, default=(len(text), None))
    tokens = split_tokens(text[:end])
    if question.limit is not None and len(tokens) > question.limit:
        return CannedReply(tuple(tokens[: question.limit]), "length", asked)
    return CannedReply(tuple(tokens), "stop", asked, stopped_at)


def _make_arguments(tool: Tool) -> Mapping[str, Any]:
    found = minimal_instance({"type": "object", **tool.parameters})
    return found if isinstance(found, dict) else {}


def _answer_text(question: Question, number: int) -> str:
    seed = hashlib.sha256(repr((question.model, question.texts, number)).encode("utf-8", "surrogatepass")).digest()
    return " ".join(Random(seed).choices(_WORDS, k=_LENGTH))


def minimal_instance(schema: Mapping[str, Any]) -> Any:
    """Return a small value that is valid for a schema; an object if the schema states nothing.

    It has only the required members, at their lower bounds. This covers the JSON Schema that vendors allow: types,
    enums, unions, bounds, and references within the schema.
    """
    return _value_of_schema(schema, schema, _DEPTH)


def _value_of_schema(schema: Any, root: Mapping[str, Any], depth: int) -> Any:
    if not isinstance(schema, Mapping) or depth == 0:
        return {}
    if isinstance(target := schema.get("$ref"), str):
        return _value_of_schema(value_at(root, target.removeprefix("#")), root, depth - 1)
    if "const" in schema:
        return schema["const"]
    for name in ("enum", "anyOf", "oneOf"):
        if isinstance(found := schema.get(name), list) and found:
            return found[0] if name == "enum" else _value_of_schema(found[0], root, depth - 1)
    kind = schema.get("type", "object")
    kind = kind[0] if isinstance(kind, list) and kind else kind
    if kind == "object":
        parts = schema.get("properties") or {}
        return {name: _value_of_schema(parts.get(name), root, depth - 1) for name in schema.get("required") or ()}
    if kind == "array":
        return [_value_of_schema(schema.get("items"), root, depth - 1)] * int(schema.get("minItems") or 0)
    value = _PLAIN.get(kind)
    if isinstance(value, str):
        least, most = int(schema.get("minLength") or 0), schema.get("maxLength")
        return value.ljust(least, "r")[: None if most is None else int(most)]
    if kind in ("integer", "number"):
        return schema.get("minimum", schema.get("maximum", value))
    return value
