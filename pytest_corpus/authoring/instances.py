"""Instances of a schema that stand at its borders, to see whether another schema draws them more tightly.

Of each object: with nothing but what it requires, with each key in each of its variants, with all keys, with keys of
its own; of each number and length: the bounds; of each union: every branch. It is the same list each time.
"""

import importlib
import re
import string
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain, islice
from typing import Any, Final

from pytest_corpus.authoring.folding import Folded, Folder, Schema
from pytest_corpus.spec.operations import BY_OP

MAX_VARIANTS: Final = 5000
"""The most instances that are made of one schema."""

_MAX_DEPTH: Final = 10
_LONGEST: Final = 1000
_JSON: Final[tuple[Any, ...]] = ("text", 7, 1.5, True, None, [], {}, ["a", 1], {"a": None})
_KEYS: Final = ("x_extra", "Extra", "a b", "", "\u00e9", "$in", "a\nb")
_STRINGS: Final = ("text", "", "OK", "a b", "STREAMING", "1", "\u00e9\n", "2025-01-31T12:00:00Z")
_IDENTIFIERS: Final = (*BY_OP, "req-7f3a-0001", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
_PLAIN: Final = string.ascii_letters + string.digits + string.punctuation + " "
_PARSER: Final = importlib.import_module("re._parser")
"""Python's own reader of patterns."""

_NUMBERS: Final = (0, 1, 7, -1, 2**40, 0.5, -0.5, 1e9)


def variants(folder: Folder, schema: Schema) -> Iterator[Any]:
    """Instances of a schema, the plainest first; a few that it refuses may be among them."""
    return islice(_of(folder, schema, 0), MAX_VARIANTS)


@cache
def matching(patterns: tuple[str, ...]) -> str | None:
    """A string that all of these patterns of ECMA 262 match, a usual one if there is any; None if none was found."""
    python = tuple(pattern[:-1] + r"\Z" if pattern.endswith("$") else pattern for pattern in patterns)

    def matches(text: str) -> bool:
        return all(re.search(pattern, text) for pattern in python)

    usual = next(filter(matches, (*_STRINGS, *_IDENTIFIERS)), None)
    if usual is not None:
        return usual
    # What follows from the closest pattern, which is often the last, is tried first.
    return next(filter(matches, (_shortest(_PARSER.parse(pattern)) for pattern in reversed(python))), None)


def _shortest(parsed: Iterable[tuple[Any, Any]]) -> str:
    """The shortest string that the parts of a pattern make, its assertions aside."""
    made = ""
    for code, said in parsed:
        name = str(code)
        if name == "LITERAL":
            made += chr(said)
        elif name == "SUBPATTERN":
            made += _shortest(said[-1])
        elif name == "BRANCH":
            made += _shortest(said[1][0])
        elif name in ("MAX_REPEAT", "MIN_REPEAT"):
            made += _shortest(said[2]) * min(int(said[0]), _LONGEST)
        elif name in ("IN", "ANY", "NOT_LITERAL"):
            made += next((char for char in _PLAIN if _is_in(ord(char), name, said)), "")
    return made


def _is_in(char: int, name: str, said: Any) -> bool:
    """Return if a character is in a set of a pattern."""
    if name != "IN":
        return name == "ANY" or char != said
    negated = any(str(code) == "NEGATE" for code, _ in said)
    inside = any(
        (str(code) == "LITERAL" and char == part) or (str(code) == "RANGE" and part[0] <= char <= part[1])
        for code, part in said
    )
    return inside != negated


def _of(folder: Folder, schema: Schema, depth: int) -> Iterator[Any]:
    if depth > _MAX_DEPTH:
        return
    yield from _of_folded(folder, folder.fold(schema), depth)


def _of_folded(folder: Folder, folded: Folded, depth: int) -> Iterator[Any]:
    if folded.choices:
        branches, *others = folded.choices
        for branch in branches:
            yield from _of_folded(folder, folder.narrowed(folded, branch, others), depth)
    elif folded.values is not None:
        yield from folded.values
    else:
        for name in folded.types:
            yield from _of_type(folder, folded, name, depth)


def _of_type(folder: Folder, folded: Folded, name: str, depth: int) -> Iterator[Any]:
    if name == "object":
        yield from _objects(folder, folded, depth)
    elif name == "array":
        yield from _arrays(folder, folded, depth)
    elif name == "string":
        yield from _strings(folded)
    elif name in ("number", "integer"):
        yield from _numbers(folded, name)
    else:
        yield from (True, False) if name == "boolean" else (None,)


def _objects(folder: Folder, folded: Folded, depth: int) -> Iterator[Any]:
    keys = [key for key in dict.fromkeys((*folded.required, *folded.properties)) if folded.of_key(key) is not None]
    made = {key: list(_values(folder, folded, key, depth)) for key in keys}
    if any(not made.get(key) for key in folded.required):
        return
    plain = {key: made[key][0] for key in folded.required}
    yield plain
    yield {key: values[0] for key, values in made.items() if values}
    for key, values in made.items():
        yield from ({**plain, key: value} for value in values)
    for key in _KEYS:
        if key not in made and folded.of_key(key) is not None:
            yield from ({**plain, key: value} for value in _values(folder, folded, key, depth))


def _values(folder: Folder, folded: Folded, key: str, depth: int) -> Iterator[Any]:
    said = folded.of_key(key)
    if said is None:
        return
    if said == {"allOf": []}:
        yield from _JSON
    else:
        yield from _of(folder, said, depth + 1)


def _arrays(folder: Folder, folded: Folded, depth: int) -> Iterator[Any]:
    least = int(folded.bounds.get("minItems", 0))
    most = min(int(folded.bounds.get("maxItems", least + 2)), _LONGEST)
    items = list(_of(folder, {"allOf": folded.items}, depth + 1)) if folded.items else list(_JSON)
    if least == 0:
        yield []
    if items:
        yield from ([item] * max(least, 1) for item in items[:1] if most)
        yield from ([item, *[items[0]] * (least - 1)] for item in items[1:] if most)
        yield [items[0]] * most


def _strings(folded: Folded) -> Iterator[str]:
    least, most = int(folded.bounds.get("minLength", 0)), int(folded.bounds.get("maxLength", 300))
    filler = "x"
    if folded.patterns:
        matched = matching(tuple(folded.patterns))
        if matched is None:
            return
        yield matched
        filler = matched[:1] or filler
    yield from (text for text in _STRINGS if least <= len(text) <= most and not folded.patterns)
    yield from (filler * size for size in dict.fromkeys((least, min(most, _LONGEST))))


def _numbers(folded: Folded, name: str) -> Iterator[float]:
    bounds = folded.bounds
    low, high = bounds.get("minimum"), bounds.get("maximum")
    above, below = bounds.get("exclusiveMinimum"), bounds.get("exclusiveMaximum")
    near = (low, high, above + 1e-6 if above is not None else None, below - 1e-6 if below is not None else None)
    for number in chain((bound for bound in near if bound is not None), _NUMBERS):
        inside = (low is None or number >= low) and (high is None or number <= high)
        inside = inside and (above is None or number > above) and (below is None or number < below)
        if inside and (name == "number" or float(number).is_integer()):
            yield number
