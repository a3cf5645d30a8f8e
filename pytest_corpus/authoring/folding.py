"""Folds a schema into a single one and makes boundary instances of it, to find out if another schema is stricter."""

import importlib
import re
import string
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain, islice
from typing import Any, Final
from urllib.parse import unquote, urljoin

from pytest_corpus.spec.operations import BY_OP
from pytest_corpus.text.values import value_at
from pytest_corpus.validation.schema.files import transform

Schema = Mapping[str, Any] | bool

TYPES: Final = ("object", "array", "string", "number", "integer", "boolean", "null")

_LEAST: Final = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
_MOST: Final = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")


@dataclass
class Folded:
    """A schema with its ``$ref`` and ``allOf`` folded in.

    Attributes:
        types: the accepted types.
        values: the values of ``enum`` or ``const``, or None.
        properties: all subschemas of each property.
        required: the required keys.
        closures: for each closed object the keys, the patterns and the schema of other keys.
        items: all subschemas of items.
        bounds: the strictest value of each bound.
        patterns: every pattern.
        choices: its unions and conditions, each a list of branches.
    """

    types: tuple[str, ...] = TYPES
    values: list[Any] | None = None
    properties: dict[str, list[Schema]] = field(default_factory=dict)
    required: list[str] = field(default_factory=list)
    closures: list[tuple[frozenset[str], dict[str, Schema], Schema]] = field(default_factory=list)
    items: list[Schema] = field(default_factory=list)
    bounds: dict[str, float] = field(default_factory=dict)
    patterns: list[str] = field(default_factory=list)
    choices: list[list[Schema]] = field(default_factory=list)

    def of_key(self, key: str) -> Schema | None:
        """The schema for the value of a key; None if the key is refused."""
        said = list(self.properties.get(key, ()))
        for keys, patterns, others in self.closures:
            matching = [schema for pattern, schema in patterns.items() if re.search(pattern, key)]
            said += matching if matching or key in keys else [others]
        return None if False in said else {"allOf": [schema for schema in said if schema is not True]}

    @property
    def alternatives(self) -> frozenset[str]:
        """The keys that some branches require and others do not."""
        return frozenset(key for branches in self.choices for branch in branches for key in _required_keys(branch))


def _required_keys(schema: Schema) -> Iterator[str]:
    if isinstance(schema, Mapping):
        yield from schema.get("required", ())
        for key in ("allOf", "anyOf", "oneOf"):
            for part in schema.get(key, ()):
                yield from _required_keys(part)


class Folder:
    """Folds schemas. `retrieve` returns the document of the ``$id`` of a reference."""

    def __init__(self, retrieve: Callable[[str], Mapping[str, Any]]) -> None:
        self._retrieve = retrieve
        self._documents: dict[str, Any] = {}

    def fold(self, schema: Schema) -> Folded:
        """Fold a schema. Raises RecursionError if it refers to itself."""
        folded = Folded()
        self._into(folded, schema)
        return folded

    def narrow(self, folded: Folded, branch: Schema, choices: list[list[Schema]]) -> Folded:
        """Fold one branch of a union into a folded schema; only `choices` and the branch's choices remain."""
        copy = replace(folded, properties=dict(folded.properties), bounds=dict(folded.bounds), choices=choices)
        self._into(copy, branch)
        return copy

    def _into(self, folded: Folded, schema: Schema) -> None:
        if isinstance(schema, bool):
            folded.types = folded.types if schema else ()
            return
        if "$ref" in schema:
            self._into(folded, self._target(schema["$ref"]))
        for part in schema.get("allOf", ()):
            self._into(folded, part)
        self._say(folded, schema)
        folded.choices = [*folded.choices, *_choices(schema)]

    def _say(self, folded: Folded, schema: Mapping[str, Any]) -> None:
        if "type" in schema:
            folded.types = _both(folded.types, schema["type"])
        for values in ([schema["const"]] if "const" in schema else None, schema.get("enum")):
            if values is not None:
                earlier = folded.values
                folded.values = values if earlier is None else [value for value in earlier if value in values]
        for key, value in schema.get("properties", {}).items():
            folded.properties[key] = [*folded.properties.get(key, ()), value]
        folded.required = list(dict.fromkeys((*folded.required, *schema.get("required", ()))))
        if "additionalProperties" in schema or "patternProperties" in schema:
            keys = frozenset(schema.get("properties", ()))
            patterns = schema.get("patternProperties", {})
            closure = (keys, patterns, schema.get("additionalProperties", True))
            folded.closures = [*folded.closures, closure]
        if "items" in schema:
            folded.items = [*folded.items, schema["items"]]
        for bound in (*_LEAST, *_MOST):
            if bound in schema:
                tightest = max if bound in _LEAST else min
                folded.bounds[bound] = tightest(schema[bound], folded.bounds.get(bound, schema[bound]))
        if "pattern" in schema:
            folded.patterns = [*folded.patterns, schema["pattern"]]

    def _target(self, ref: str) -> Schema:
        uri, _, pointer = ref.partition("#")
        if pointer and pointer[0] != "/":
            return True  # an anchor, of which nothing is known here
        if uri not in self._documents:
            self._documents[uri] = _absolute(self._retrieve(uri), uri)
        target: Schema = value_at(self._documents[uri], unquote(pointer))
        return target


def _absolute(document: Any, uri: str) -> Any:

    def change(schema: dict[str, Any]) -> None:
        if "$ref" in schema:
            schema["$ref"] = urljoin(uri, schema["$ref"])

    return transform(document, change)


def _both(types: Iterable[str], given: str | list[str]) -> tuple[str, ...]:
    """The types that both accept; every integer is a number."""
    sides = (set(types), {given} if isinstance(given, str) else set(given))
    kept = [name for name in TYPES if all(name in side or (name == "integer" and "number" in side) for side in sides)]
    return tuple(name for name in kept if name != "integer" or "number" not in kept)


def _choices(schema: Mapping[str, Any]) -> Iterator[list[Schema]]:
    """The branches of each union. For a condition: the condition with its consequence, or the alternative."""
    yield from (list(schema[union]) for union in ("anyOf", "oneOf") if union in schema)
    if "if" in schema:
        yield [{"allOf": [schema["if"], schema.get("then", True)]}, schema.get("else", True)]


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
    """Instances of a schema, the simplest first. The schema may refuse a few of them."""
    return islice(_instances(folder, schema, 0), MAX_VARIANTS)


@cache
def find_match(patterns: tuple[str, ...]) -> str | None:
    """A string that all these ECMA 262 patterns match, a common one if possible; None if none was found."""
    python = tuple(pattern[:-1] + r"\Z" if pattern.endswith("$") else pattern for pattern in patterns)

    def matches(text: str) -> bool:
        return all(re.search(pattern, text) for pattern in python)

    usual = next(filter(matches, (*_STRINGS, *_IDENTIFIERS)), None)
    if usual is not None:
        return usual
    # What follows from the closest pattern, which is often the last, is tried first.
    return next(filter(matches, (_shortest(_PARSER.parse(pattern)) for pattern in reversed(python))), None)


def _shortest(parsed: Iterable[tuple[Any, Any]]) -> str:
    """The shortest string that the parts of a pattern produce, without its assertions."""
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
    """True if a pattern's set contains a character."""
    if name != "IN":
        return name == "ANY" or char != said
    negated = any(str(code) == "NEGATE" for code, _ in said)
    inside = any(
        (str(code) == "LITERAL" and char == part) or (str(code) == "RANGE" and part[0] <= char <= part[1])
        for code, part in said
    )
    return inside != negated


def _instances(folder: Folder, schema: Schema, depth: int) -> Iterator[Any]:
    if depth > _MAX_DEPTH:
        return
    yield from _generate_from_folded(folder, folder.fold(schema), depth)


def _generate_from_folded(folder: Folder, folded: Folded, depth: int) -> Iterator[Any]:
    if folded.choices:
        branches, *others = folded.choices
        for branch in branches:
            yield from _generate_from_folded(folder, folder.narrow(folded, branch, others), depth)
    elif folded.values is not None:
        yield from folded.values
    else:
        for name in folded.types:
            yield from _type_instances(folder, folded, name, depth)


def _type_instances(folder: Folder, folded: Folded, name: str, depth: int) -> Iterator[Any]:
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
        yield from _instances(folder, said, depth + 1)


def _arrays(folder: Folder, folded: Folded, depth: int) -> Iterator[Any]:
    least = int(folded.bounds.get("minItems", 0))
    most = min(int(folded.bounds.get("maxItems", least + 2)), _LONGEST)
    items = list(_instances(folder, {"allOf": folded.items}, depth + 1)) if folded.items else list(_JSON)
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
        matched = find_match(tuple(folded.patterns))
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
