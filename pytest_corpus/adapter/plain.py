"""Plain values from what an adapter hands over: looked at once, and never again by anything else.

An object of the adapter's may raise at each look, or show something else each time. So it is written to text and
read back before anything is judged by it, and whatever goes wrong meanwhile is a fact about the object.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from pytest_corpus.text.problems import MAX_DEPTH, TOO_DEEP
from pytest_corpus.text.redaction import Unreadable, type_name
from pytest_corpus.text.strict_json import nesting

MAX_BITS = 1024
"""Larger integers are no number that a metric or a label can hold."""


class NotJSON(ValueError):
    """A value that no JSON text can hold; `str()` says of which type and where."""


def to_json(value: Any) -> tuple[Any, int]:
    """`value` as it would arrive on the other side, and its size in bytes as compact UTF-8 JSON.

    Any mapping becomes an object, any tuple an array. Non-finite numbers are kept, for a requirement of its
    own to judge; an integer that no double holds counts as infinite.

    Raises:
        NotJSON: it holds something that JSON does not know, is nested too deep, or raises when it is looked at.
    """
    try:
        text = _write(value)
        data = text.encode("utf-8", "surrogatepass")
        if nesting(data) > MAX_DEPTH:
            raise NotJSON(f"an answer that {TOO_DEEP}")
        long = len(data) > _MAX_DIGITS and _TOO_LONG in data.translate(_ZEROS)
        return (_read_closely if long else _read)(text), len(data)
    except NotJSON:
        raise
    except BaseException as error:  # noqa: BLE001 - nothing here waits, so all that is raised comes from the value
        raise NotJSON(f"{type_name(error)} while writing JSON") from None


def _mapping(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise NotJSON(f"a {type_name(value)} is no JSON value")


_write = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=_mapping).encode
_read = json.JSONDecoder().decode

_MAX_DIGITS = 308
_TOO_LONG = b"0" * (_MAX_DIGITS + 1)
_ZEROS = bytes.maketrans(b"123456789", b"0" * 9)


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= _MAX_DIGITS else float(digits)


_read_closely = json.JSONDecoder(parse_int=_integer).decode


def plain(value: Any) -> Any:
    """A copy of what a hook was given, of plain types, made without raising anything."""
    kind = type(value)
    if kind in _ATOMS or (kind is int and value.bit_length() <= MAX_BITS):
        return value
    if issubclass(kind, str):
        return str.__str__(value)
    if issubclass(kind, float):
        return float.__float__(value)
    if issubclass(kind, int):
        exact = int.__int__(value)
        return exact if exact.bit_length() <= MAX_BITS else Unreadable("int")
    try:
        return to_json(value)[0]
    except NotJSON:
        return Unreadable(type_name(value), said(value))


_ATOMS = (str, float, bool, type(None))


def items_of(value: Any) -> dict[str, Any] | None:
    """A plain copy of a mapping, each value for itself; None of what is no mapping or cannot be read."""
    try:
        if not isinstance(value, Mapping):
            return None
        return {key if type(key) is str else said(key): plain(value[key]) for key in list(value)}
    except BaseException:  # noqa: BLE001 - nothing here waits, so all that is raised comes from the mapping
        return None


def said(value: Any) -> str:
    """The text of an object of the adapter's; empty where it has none."""
    return attempted(lambda: str(value)) or ""


def attempted(text: Callable[[], str]) -> str | None:
    """A text that objects of the adapter's make up; None where they raise."""
    try:
        return "".join(text())
    except BaseException:  # noqa: BLE001 - nothing here waits, so all that is raised comes from the objects
        return None
