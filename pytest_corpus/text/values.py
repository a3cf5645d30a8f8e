"""JSON values: traversal, comparison, JSON pointers, and conversion from and to dataclasses."""

import json
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from difflib import get_close_matches
from functools import cache
from typing import Any, Final, TypeVar, get_args, get_origin, get_type_hints

CLOSE: Final = 0.65
"""The least similarity, from 0 to 1, at which a word counts as a misspelling of another."""


def most_similar(wrong: str, known: Iterable[str]) -> str:
    """Return the known word that is most similar to a misspelt word; empty if none is similar."""
    return next(iter(get_close_matches(wrong, list(known), n=1, cutoff=CLOSE)), "")


def suggest(wrong: str, known: Iterable[str], otherwise: str = "", *, before: str = "") -> str:
    """Return the question "did you mean ...?" with the most similar known word; `otherwise` if none is similar."""
    near = most_similar(wrong, known)
    return f"did you mean {before}{near}?" if near else otherwise


def strings_of(value: Any) -> Iterator[str]:
    """Yield every string in a JSON value, except keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from strings_of(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings_of(item)


def are_equal_json(left: Any, right: Any) -> bool:
    """True if two JSON values are equal: true is not 1, and 1 is 1.0."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(are_equal_json, left, right))
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(are_equal_json(left[key], right[key]) for key in left)
    return bool(left == right)


def escape_key(key: str) -> str:
    """Escape a key for a JSON pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")


def value_at(document: Any, pointer: str) -> Any:
    """Return the value at a JSON pointer, or None if there is none."""
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(document, dict):
            document = document.get(key)
        elif isinstance(document, list) and key.isdigit() and int(key) < len(document):
            document = document[int(key)]
        else:
            return None
    return document


T = TypeVar("T")


def to_json_value(value: Any, without: Container[str] = ()) -> Any:
    """Convert a dataclass to a JSON value. Default values and the fields in `without` are left out."""
    if is_dataclass(value):
        kept = {each.name: (getattr(value, each.name), each.default) for each in fields(value)}
        return {
            name: to_json_value(found, without)
            for name, (found, default) in kept.items()
            if name not in without and found != default and found not in ((), {})
        }
    if isinstance(value, tuple | list):
        return [to_json_value(each, without) for each in value]
    return dict(value) if isinstance(value, Mapping) else value


def from_json_value(kind: type[T], value: Mapping[str, Any]) -> T:
    """Convert a JSON value to a dataclass of this type. Raises TypeError or AttributeError if it does not fit."""
    hints = _hints_of(kind)  # type: ignore[arg-type]  # mypy: a type is not hashable
    return kind(**{name: _convert_member(hints.get(name), each) for name, each in value.items()})


@cache
def _hints_of(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)


def _convert_member(hint: Any, value: Any) -> Any:
    if get_origin(hint) is tuple:
        return tuple(_convert_member(get_args(hint)[0], each) for each in value)
    record: Any = next(filter(is_dataclass, (hint, *get_args(hint))), None)
    return value if record is None or value is None else from_json_value(record, value)


def abridge(body: Any, path: str) -> Any:
    """Shorten an answer for a report: replace long values that are not on the path by dots.

    A path may begin inside the answer (`metadata.word`). It then means the first position with this path. If
    no position has the complete path, its last steps are ignored until one fits.
    """
    steps = _STEP.findall(path.partition(",")[0].partition(" ")[0])
    for end in range(len(steps), 0, -1):
        if way := next(_find_paths(body, steps[:end]), None):
            return _abridge_around(body, way)
    return body


_STEP: Final = re.compile(r"[^.\[\]]+")
_LONG: Final = 80


def _find_paths(body: Any, steps: Sequence[str]) -> Iterator[list[str]]:
    """Yield each path in a JSON value that ends with these steps, shortest first."""
    level: list[tuple[list[str], Any]] = [([], body)]
    while level:
        yield from ([*way, *steps] for way, value in level if _has_steps(value, steps))
        level = [([*way, name], item) for way, value in level for name, item in _members(value).items()]


def _has_steps(value: Any, steps: Sequence[str]) -> bool:
    for step in steps:
        if step not in (members := _members(value)):
            return False
        value = members[step]
    return True


def _members(value: Any) -> Mapping[str, Any]:
    if isinstance(value, list):
        return {str(at): item for at, item in enumerate(value)}
    return value if isinstance(value, Mapping) else {}


def _abridge_around(value: Any, way: Sequence[str]) -> Any:
    if not way:
        return value
    step, *others = way
    if isinstance(value, Mapping):
        return {
            name: _abridge_around(item, others) if name == step else _placeholder(item) for name, item in value.items()
        }
    at = int(step)
    before, after = [f"... {at} before"] * (at > 0), [f"... {len(value) - at - 1} more"] * (at + 1 < len(value))
    return [*before, _abridge_around(value[at], others), *after]


def _placeholder(value: Any) -> Any:
    return value if len(json.dumps(value, default=str)) <= _LONG else "..."
