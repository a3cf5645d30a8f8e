"""JSON as it travels: bytes read strictly, and every way of being no JSON told apart.

A document that one reader understands and the next one refuses, or reads otherwise, is a fault even where
Python's own reader is lenient: NaN, a key that stands twice, a lone surrogate, a number that no double holds,
nesting without measure (RFC 8259, RFC 7493).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from enum import Enum
from typing import Any

import orjson

from pytest_corpus._problems import MAX_DEPTH, TOO_DEEP, dotted, json_problems

BOM = b"\xef\xbb\xbf"

_COLON = re.compile(rb"\\u003[aA]")
_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_MAX_DIGITS = 400


class Fault(Enum):
    """The ways of being no JSON."""

    UTF8 = "invalid UTF-8"
    SYNTAX = "no JSON"
    DUPLICATE_KEY = "a key that stands twice"
    DEPTH = "nested too deep"


@dataclass(frozen=True, slots=True)
class Flaw:
    """What is wrong with a document, and where: a path as in `Problem.path`, empty where it has none."""

    fault: Fault
    message: str
    path: str = ""


def read(data: bytes) -> tuple[Any, Flaw | None]:
    """The value of a JSON document, and its flaw.

    A document with a flaw has its value as far as a lenient reader makes it out, or else None; of keys that
    stand twice the last counts.
    """
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        return _explained(data, f"is no JSON: {error.msg}")
    if may_be_deep(data) and _depth(data) > MAX_DEPTH:
        return value, _TOO_DEEP
    if has_each_key_once(data, value):
        return value, None
    return _explained(data, "")


def has_each_key_once(data: bytes, value: object) -> bool:
    """Whether no key stood twice where `value` came from; False only means: look closer.

    Outside of strings a colon follows a key and nothing else, and inside of strings each stays when they are
    written again, unless one was escaped. So what was read writes as many colons as stood there, or else a key
    was dropped. `data` may hold several documents and `value` their values, so that one look is enough.
    """
    try:
        written = orjson.dumps(value)
    except TypeError:  # nested deeper than it writes
        return False
    return data.count(b":") == written.count(b":") and not (b"\\" in data and _COLON.search(data))


def may_be_deep(data: bytes) -> bool:
    """Whether there are brackets enough for documents in `data` to nest too deep; mostly there are not."""
    return data.count(b"{") + data.count(b"[") > MAX_DEPTH


_TOO_DEEP = Flaw(Fault.DEPTH, TOO_DEEP)


def _depth(data: bytes) -> int:
    """How deep brackets outside of strings nest, counted up to one beyond the limit."""
    depth = deepest = 0
    for bracket in _STRING.sub(b"", data).translate(None, _NO_BRACKETS):
        depth += 1 if bracket in b"[{" else -1
        deepest = max(deepest, depth)
        if deepest > MAX_DEPTH:
            break
    return deepest


class _Twice(dict[str, Any]):
    """An object that names a key twice."""

    key = ""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    plain = dict(pairs)
    if len(plain) == len(pairs):
        return plain
    twice, seen = _Twice(plain), set[str]()
    twice.key = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
    return twice


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= _MAX_DIGITS else float(digits)


def _explained(data: bytes, otherwise: str) -> tuple[Any, Flaw | None]:
    """The value and the flaw of a document that is not plainly sound; `otherwise` is what the fast reader said."""
    flaw = None
    if data.startswith(BOM):
        flaw = Flaw(Fault.SYNTAX, "begins with a byte order mark, which JSON does not have")
        data = data[len(BOM) :]
    if not data.strip():
        return None, flaw or Flaw(Fault.SYNTAX, "is empty")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        flaw = flaw or Flaw(Fault.UTF8, f"is not UTF-8 at byte {error.start + 1}")
        text = data.decode(errors="replace")
    if may_be_deep(data) and _depth(data) > MAX_DEPTH:
        return None, flaw or _TOO_DEEP
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_int=_integer)
    except (ValueError, RecursionError):
        return None, flaw or Flaw(Fault.SYNTAX, otherwise)
    return value, flaw or _flaw_of(value) or (Flaw(Fault.SYNTAX, otherwise) if otherwise else None)


def _flaw_of(value: object) -> Flaw | None:
    """What is wrong with a value that a lenient reader accepted."""
    for problem in json_problems(value):
        return Flaw(Fault.SYNTAX, problem.message, problem.path)
    for path, twice in _walk_twice(value, ()):
        return Flaw(Fault.DUPLICATE_KEY, "stands twice in one object", dotted((*path, twice)))
    return None


def _walk_twice(value: object, path: tuple[object, ...]) -> Any:
    if isinstance(value, _Twice):
        yield path, value.key
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from _walk_twice(item, (*path, key))
