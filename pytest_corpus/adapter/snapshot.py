"""Plain copies of an adapter's objects. Each object is read once.

An object of the adapter may raise when it is read, or change its value. So the suite first converts the object to
JSON text, and parses the text. If this fails, the object is at fault.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from pytest_corpus.redaction import UnreadableValue, redact_path, type_name
from pytest_corpus.text.strict_json import read_exactly

MAX_BITS = 1024
"""The largest number of bits of an integer that a metric or a label can hold."""


class NotJSON(ValueError):
    """The error for a value that JSON cannot express, or for invalid JSON; `str()` is the reason, without content."""


class _Foreign(NotJSON):
    """The error for an object that JSON cannot express."""

    def __init__(self, value: object) -> None:
        super().__init__(f"a value of type {type_name(value)} is not JSON")
        self.value = value

    def name_place_in(self, whole: object) -> NotJSON:
        """Return the same error with the place of the object in the whole value."""
        path = _path_to(self.value, whole)
        return NotJSON(f"{self}  (at {redact_path(path)})" if path else str(self))


def to_bytes(value: Any) -> bytes:
    """Return `value` as compact UTF-8 JSON, as a transport would send it.

    Any mapping becomes an object, any tuple an array. Non-finite numbers are written as Python writes them, for a
    separate requirement to judge; half a character (a lone surrogate) is escaped.

    Raises:
        NotJSON: the value contains itself or an object that JSON cannot express, or raises when it is read.
    """
    try:
        return _write(value).encode("utf-8", "backslashreplace")
    except _Foreign as found:
        raise found.name_place_in(value) from None
    except BaseException as error:  # noqa: BLE001 - nothing here waits, so all that is raised comes from the value
        raise NotJSON(f"{type_name(error)} while writing JSON") from None


def is_longer_than(most: int, value: Any) -> bool:
    """True if the JSON text of a value has more than `most` bytes. The text is not written.

    No methods of the adapter's classes are called; only Python's texts and containers and their subclasses are read.
    Each number counts as one byte, so the result may be False for a text that is slightly longer.
    """
    try:
        return _least_length(value, {}) > most
    except (RecursionError, RuntimeError):  # too deep, or changed by another thread
        return False


def _least_length(value: Any, known: dict[int, int]) -> int:
    """Return a lower bound for the length of a value's JSON text. `known` has the bounds of containers by their id."""
    kind = type(value)
    if kind is str:
        return len(value) + 2
    if kind is int or kind in _ATOMS:
        return 1
    base = kind if kind in _PLAIN else next((each for each in _PLAIN if issubclass(kind, each)), None)
    if base is None:
        return 1
    if base is str:
        return str.__len__(value) + 2
    if id(value) not in known:
        known[id(value)] = 0  # a cycle is found on writing
        plain = value if base is kind else _PLAIN[base](value)
        items = plain.values() if base is dict else plain
        total = sum(_least_length(item, known) for item in items if type(item) is not float)
        total += sum(len(key) + 3 for key in plain if type(key) is str) if base is dict else 0
        known[id(value)] = total + len(plain) + 1
    return known[id(value)]


_PLAIN: Mapping[type, Callable[[Any], Any]] = {
    dict: dict.copy,
    list: list.copy,
    tuple: lambda value: tuple.__getitem__(value, slice(None)),
    str: str.__str__,
}
"""Maps a Python class to the function that converts an object of a subclass to this class."""


def _mapping(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise _Foreign(value)


def _path_to(sought: object, whole: object) -> str:
    """Return the path of an object within dictionaries and lists; empty if it is not found there."""
    waiting: list[tuple[object, str]] = [(whole, "")]
    for _ in range(_MOST_LOOKS):
        if not waiting:
            break
        value, path = waiting.pop()
        if value is sought:
            return path
        if type(value) is dict:
            waiting += [(item, f"{path}.{key}".lstrip(".")) for key, item in value.items() if type(key) is str]
        elif type(value) is list or type(value) is tuple:
            waiting += [(item, f"{path}[{index}]") for index, item in enumerate(value)]
    return ""


_MOST_LOOKS = 10_000


_write = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=_mapping).encode


def snapshot(value: Any) -> Any:
    """Return a copy of a hook's argument that has only plain types. Nothing is raised."""
    kind = type(value)
    if kind in _ATOMS or (kind is int and value.bit_length() <= MAX_BITS):
        return value
    if issubclass(kind, str):
        return str.__str__(value)
    if issubclass(kind, float):
        return float.__float__(value)
    if issubclass(kind, int):
        exact = int.__int__(value)
        return exact if exact.bit_length() <= MAX_BITS else UnreadableValue("int")
    try:
        copy, flaw = read_exactly(to_bytes(value))
        if flaw is None:
            return copy
    except NotJSON:
        pass
    return UnreadableValue(type_name(value), safe_str(value))


_ATOMS = (str, float, bool, type(None))


def items_of(value: Any) -> dict[str, Any] | None:
    """Return a plain copy of a mapping, value by value; None if it is not a mapping or cannot be read."""
    try:
        if not isinstance(value, (dict, Mapping)):
            return None
        return {key if type(key) is str else safe_str(key): snapshot(value[key]) for key in list(value)}
    except BaseException:  # noqa: BLE001 - nothing here waits, so all that is raised comes from the mapping
        return None


def safe_str(value: Any) -> str:
    """Return the text of an adapter's object; empty if it has none."""
    return safe_call(lambda: str(value)) or ""


def safe_call(text: Callable[[], str]) -> str | None:
    """Return the result of `text`, which calls methods of the adapter's objects; None if they raise."""
    try:
        return "".join(text())
    except BaseException:  # noqa: BLE001 - nothing here waits, so all that is raised comes from the objects
        return None
