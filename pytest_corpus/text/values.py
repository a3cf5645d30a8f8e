"""JSON values: traversal, comparison, JSON pointers, and conversion from and to dataclasses."""

import json
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from difflib import get_close_matches
from functools import cache
from typing import Any, Final, TypeVar, get_args, get_origin, get_type_hints

CLOSE: Final = 0.65
"""The share of letters that two words must have in common for one to be a misspelling of the other."""


def nearest(wrong: str, known: Iterable[str]) -> str:
    """The known word that is most similar to a misspelt word; empty if none is similar."""
    return next(iter(get_close_matches(wrong, list(known), n=1, cutoff=CLOSE)), "")


def suggest(wrong: str, known: Iterable[str], otherwise: str = "", *, before: str = "") -> str:
    """A "did you mean" question with the most similar known word; another text if none is similar."""
    near = nearest(wrong, known)
    return f"did you mean {before}{near}?" if near else otherwise


def strings_of(value: Any) -> Iterator[str]:
    """Every string in a JSON value, except keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from strings_of(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings_of(item)


def same(left: Any, right: Any) -> bool:
    """True if two JSON values are equal: true is not 1, and 1 is 1.0."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    return bool(left == right)


def escape_key(key: str) -> str:
    """Escape a key for a JSON pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")


def value_at(document: Any, pointer: str) -> Any:
    """The value at a JSON pointer, or None."""
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
    """Convert a record to a JSON value, without fields that have their default, and without the named fields."""
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
    """Convert a JSON value to a record. Raises TypeError or AttributeError if it does not fit."""
    hints = _hints_of(kind)  # type: ignore[arg-type]  # mypy: a type is not hashable
    return kind(**{name: _part(hints.get(name), each) for name, each in value.items()})


@cache
def _hints_of(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)


def _part(hint: Any, value: Any) -> Any:
    if get_origin(hint) is tuple:
        return tuple(_part(get_args(hint)[0], each) for each in value)
    record: Any = next(filter(is_dataclass, (hint, *get_args(hint))), None)
    return value if record is None or value is None else from_json_value(record, value)


def abridge(body: Any, path: str) -> Any:
    """Abridge an answer: long values outside of a path are left out.

    A path may begin within the answer (`metadata.word`). Then the first place with this path counts, or with the
    longest part of it.
    """
    steps = _STEP.findall(path.partition(",")[0].partition(" ")[0])
    for end in range(len(steps), 0, -1):
        if way := next(_places(body, steps[:end]), None):
            return _abridge(body, way)
    return body


_STEP: Final = re.compile(r"[^.\[\]]+")
_LONG: Final = 80


def _places(body: Any, steps: Sequence[str]) -> Iterator[list[str]]:
    """The paths in a JSON value at which some of the steps are possible, with these steps; shortest first."""
    level: list[tuple[list[str], Any]] = [([], body)]
    while level:
        yield from ([*way, *steps] for way, value in level if _can_go(value, steps))
        level = [([*way, name], item) for way, value in level for name, item in _members(value).items()]


def _can_go(value: Any, steps: Sequence[str]) -> bool:
    for step in steps:
        if step not in (members := _members(value)):
            return False
        value = members[step]
    return True


def _members(value: Any) -> Mapping[str, Any]:
    if isinstance(value, list):
        return {str(at): item for at, item in enumerate(value)}
    return value if isinstance(value, Mapping) else {}


def _abridge(value: Any, way: Sequence[str]) -> Any:
    if not way:
        return value
    step, *others = way
    if isinstance(value, Mapping):
        return {name: _abridge(item, others) if name == step else _placeholder(item) for name, item in value.items()}
    at = int(step)
    before, after = [f"... {at} before"] * (at > 0), [f"... {len(value) - at - 1} more"] * (at + 1 < len(value))
    return [*before, _abridge(value[at], others), *after]


def _placeholder(value: Any) -> Any:
    return value if len(json.dumps(value, default=str)) <= _LONG else "..."
