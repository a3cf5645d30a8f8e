"""The round trip through JSON (SCHEMA 6.3): a value must have a JSON text that is parsed to the same value.

A value passes if JSON can represent it: a dict as an object, a list or a tuple as an array, and a str, an int, a float
or an enum of these as its value. It fails if JSON writers or other JSON parsers refuse it (SPECIFICATION 4.1: no NaN,
no infinity, integers of signed 64 bits; 4.2.1: UTF-8), or if it would change, like a key that is not a string.
"""

import json
from collections.abc import Iterator
from typing import Any

from pytest_corpus.text.problems import Problem, json_problems, path_text
from pytest_corpus.validation.requests.exceptions import (
    UNKNOWN_CASE,
    EnvelopeTypeError,
    RoundTripError,
    SerializationError,
)

SMALLEST_INTEGER, LARGEST_INTEGER = -(2**63), 2**63 - 1
"""The range of an integer on the wire (SPECIFICATION 4.1)."""

_Path = tuple[object, ...]


def json_roundtrip(obj: Any, case_id: str = UNKNOWN_CASE) -> dict[str, Any]:
    """Return the dict that is parsed from the JSON text of a dict.

    Raises:
        SerializationError: the dict cannot be written as JSON.
        RoundTripError: the parsed dict is not equal to the original.
    """
    arrived = _write_and_parse(obj, case_id)
    if not isinstance(arrived, dict):
        raise SerializationError(f"{case_id}: round-trip did not produce dict", case_id)
    return arrived


def string_keyed_members(envelope: Any, case_id: str) -> dict[str, Any]:
    """Return the members of an envelope that have string keys. Raises EnvelopeTypeError if it is not a dict."""
    if not issubclass(type(envelope), dict):
        raise EnvelopeTypeError(f"{case_id}: envelope must be dict, not {type(envelope).__name__}", case_id)
    return {str.__str__(key): value for key, value in dict.items(envelope) if issubclass(type(key), str)}


def _write_and_parse(obj: Any, case_id: str) -> Any:
    try:
        if problems := json_problems(obj):
            raise _make_error(obj, problems, case_id)
        _check_integers(obj, (), case_id)
        text = json.dumps(obj, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        arrived = json.loads(text)
        changed = next(_find_changes(obj, arrived, ()), None)
    except SerializationError:
        raise
    except Exception as error:  # a user's object may raise anything when it is read
        raise SerializationError(
            f"{case_id}: JSON serialization failed: {type(error).__name__} while reading it", case_id
        ) from error
    if changed is not None:
        raise RoundTripError(
            f"{case_id}: {_path_text(changed)} does not come back from JSON as it was", case_id, changed
        )
    return arrived


def _make_error(obj: Any, problems: list[Problem], case_id: str) -> SerializationError:
    problem = min(problems, key=lambda each: each.path.count("."))
    holder = _value_at(obj, problem.path)
    if issubclass(type(holder), dict) and _keys_would_change(holder):
        said = f"{case_id}: {_path_text(problem.path)} {problem.message}; JSON turns it into one"
        return RoundTripError(said, case_id, problem.path)
    return SerializationError(
        f"{case_id}: JSON serialization failed: {_path_text(problem.path)} {problem.message}", case_id, problem.path
    )


def _keys_would_change(holder: dict[Any, Any]) -> bool:
    """True if some keys are not strings, and a JSON writer would convert all of these keys to strings."""
    others = [key for key in dict.keys(holder) if not isinstance(key, str)]
    return bool(others) and all(key is None or isinstance(key, int | float) for key in others)


def _value_at(obj: Any, path: str) -> Any:
    """Return the value at the path of a problem; None if it cannot be found, because a key contains a dot."""
    for part in path.split(".") if path else ():
        try:
            obj = obj[int(part)] if isinstance(obj, list | tuple) else dict.__getitem__(obj, part)
        except (LookupError, TypeError, ValueError):
            return None
    return obj


def _path_text(path: str) -> str:
    return path or "the envelope"


def _check_integers(value: Any, path: _Path, case_id: str) -> None:
    if isinstance(value, int) and not SMALLEST_INTEGER <= int.__index__(value) <= LARGEST_INTEGER:
        where = path_text(path)
        raise SerializationError(
            f"{case_id}: JSON serialization failed: {_path_text(where)} is an integer of more than 64 bits",
            case_id,
            where,
        )
    for key, item in _items(value):
        _check_integers(item, (*path, key), case_id)


def _items(value: Any) -> Iterator[tuple[object, Any]]:
    if isinstance(value, dict):
        yield from dict.items(value)
    elif isinstance(value, list | tuple):
        yield from enumerate(value)


def _find_changes(before: Any, after: Any, path: _Path) -> Iterator[str]:
    if isinstance(before, dict):
        same = type(after) is dict and [str.__str__(key) for key in dict.keys(before)] == list(after)
        inside = [(key, item, after[key]) for key, item in dict.items(before)] if same else []
    elif isinstance(before, list | tuple):
        same = type(after) is list and len(before) == len(after)
        inside = [(index, item, after[index]) for index, item in enumerate(before)] if same else []
    else:
        same, inside = _is_same(before, after), []
    if not same:
        yield path_text(path)
    for key, item, arrived in inside:
        yield from _find_changes(item, arrived, (*path, key))


def _is_same(before: Any, after: Any) -> bool:
    if before is None or isinstance(before, bool):
        return before is after
    if isinstance(before, str):
        return type(after) is str and str.__eq__(before, after)
    if isinstance(before, int):
        return type(after) is int and int.__eq__(before, after)
    return type(after) is float and float.__eq__(before, after)
