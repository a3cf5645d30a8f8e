"""Collects all rules of a schema in one record and generates JSON values that it accepts, many of them at its limits.

The lint uses the values to find out if a later schema is stricter; the maker of goldens fills documents with them.
"""

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
class SchemaRules:
    """The rules of a schema in one record, with its ``$ref`` and ``allOf`` replaced by the rules that they refer to.

    Attributes:
        types: the accepted types.
        values: the values of ``enum`` or ``const``, or None.
        properties: all subschemas of each property.
        required: the required keys.
        closures: for each object that restricts its keys: the known keys, the patterns of keys with their schemas, and
            the schema of all other keys.
        items: all subschemas of items.
        bounds: the strictest value of each limit (``minimum``, ``maxLength``, ...).
        patterns: every pattern.
        choices: for each ``anyOf``, ``oneOf`` or ``if``, the list of its branches.
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

    def schema_of_key(self, key: str) -> Schema | None:
        """Return the schema for the value of a key; None if the key is refused."""
        said = list(self.properties.get(key, ()))
        for keys, patterns, others in self.closures:
            matching = [schema for pattern, schema in patterns.items() if re.search(pattern, key)]
            said += matching if matching or key in keys else [others]
        return None if False in said else {"allOf": [schema for schema in said if schema is not True]}

    @property
    def branch_keys(self) -> frozenset[str]:
        """The keys that at least one branch of a union requires."""
        return frozenset(key for branches in self.choices for branch in branches for key in _required_keys(branch))


def _required_keys(schema: Schema) -> Iterator[str]:
    if isinstance(schema, Mapping):
        yield from schema.get("required", ())
        for key in ("allOf", "anyOf", "oneOf"):
            for part in schema.get(key, ()):
                yield from _required_keys(part)


class RuleCollector:
    """Collects the rules of schemas. `retrieve` returns the document for the ``$id`` in a reference."""

    def __init__(self, retrieve: Callable[[str], Mapping[str, Any]]) -> None:
        self._retrieve = retrieve
        self._documents: dict[str, Any] = {}

    def collect(self, schema: Schema) -> SchemaRules:
        """Return all rules of a schema in one record. Raises RecursionError if the schema refers to itself."""
        rules = SchemaRules()
        self._add_schema(rules, schema)
        return rules

    def narrow(self, rules: SchemaRules, branch: Schema, choices: list[list[Schema]]) -> SchemaRules:
        """Return a copy of `rules` with the rules of one branch of a union added.

        The copy's choices are `choices` and the choices of the branch.
        """
        copy = replace(rules, properties=dict(rules.properties), bounds=dict(rules.bounds), choices=choices)
        self._add_schema(copy, branch)
        return copy

    def _add_schema(self, rules: SchemaRules, schema: Schema) -> None:
        if isinstance(schema, bool):
            rules.types = rules.types if schema else ()
            return
        if "$ref" in schema:
            self._add_schema(rules, self._resolve(schema["$ref"]))
        for part in schema.get("allOf", ()):
            self._add_schema(rules, part)
        self._add_keywords(rules, schema)
        rules.choices = [*rules.choices, *_branches_of(schema)]

    def _add_keywords(self, rules: SchemaRules, schema: Mapping[str, Any]) -> None:
        if "type" in schema:
            rules.types = _common_types(rules.types, schema["type"])
        for values in ([schema["const"]] if "const" in schema else None, schema.get("enum")):
            if values is not None:
                earlier = rules.values
                rules.values = values if earlier is None else [value for value in earlier if value in values]
        for key, value in schema.get("properties", {}).items():
            rules.properties[key] = [*rules.properties.get(key, ()), value]
        rules.required = list(dict.fromkeys((*rules.required, *schema.get("required", ()))))
        if "additionalProperties" in schema or "patternProperties" in schema:
            keys = frozenset(schema.get("properties", ()))
            patterns = schema.get("patternProperties", {})
            closure = (keys, patterns, schema.get("additionalProperties", True))
            rules.closures = [*rules.closures, closure]
        if "items" in schema:
            rules.items = [*rules.items, schema["items"]]
        for bound in (*_LEAST, *_MOST):
            if bound in schema:
                tightest = max if bound in _LEAST else min
                rules.bounds[bound] = tightest(schema[bound], rules.bounds.get(bound, schema[bound]))
        if "pattern" in schema:
            rules.patterns = [*rules.patterns, schema["pattern"]]

    def _resolve(self, ref: str) -> Schema:
        uri, _, pointer = ref.partition("#")
        if pointer and pointer[0] != "/":
            return True  # anchors are not followed
        if uri not in self._documents:
            self._documents[uri] = _make_references_absolute(self._retrieve(uri), uri)
        target: Schema = value_at(self._documents[uri], unquote(pointer))
        return target


def _make_references_absolute(document: Any, uri: str) -> Any:

    def change(schema: dict[str, Any]) -> None:
        if "$ref" in schema:
            schema["$ref"] = urljoin(uri, schema["$ref"])

    return transform(document, change)


def _common_types(types: Iterable[str], given: str | list[str]) -> tuple[str, ...]:
    """Return the types that both sides accept; an integer is also a number."""
    sides = (set(types), {given} if isinstance(given, str) else set(given))
    kept = [name for name in TYPES if all(name in side or (name == "integer" and "number" in side) for side in sides)]
    return tuple(name for name in kept if name != "integer" or "number" not in kept)


def _branches_of(schema: Mapping[str, Any]) -> Iterator[list[Schema]]:
    """Yield the branches of each union. An ``if`` has two: the condition with its ``then``, and the ``else``."""
    yield from (list(schema[union]) for union in ("anyOf", "oneOf") if union in schema)
    if "if" in schema:
        yield [{"allOf": [schema["if"], schema.get("then", True)]}, schema.get("else", True)]


MAX_VARIANTS: Final = 5000
"""The largest number of values that are generated from one schema."""

_MAX_DEPTH: Final = 10
_LONGEST: Final = 1000
_JSON: Final[tuple[Any, ...]] = ("text", 7, 1.5, True, None, [], {}, ["a", 1], {"a": None})
_KEYS: Final = ("x_extra", "Extra", "a b", "", "\u00e9", "$in", "a\nb")
_STRINGS: Final = ("text", "", "OK", "a b", "STREAMING", "1", "\u00e9\n", "2025-01-31T12:00:00Z")
_IDENTIFIERS: Final = (*BY_OP, "req-7f3a-0001", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
_PLAIN: Final = string.ascii_letters + string.digits + string.punctuation + " "
_PARSER: Final = importlib.import_module("re._parser")
"""Python's parser of regular expressions."""

_NUMBERS: Final = (0, 1, 7, -1, 2**40, 0.5, -0.5, 1e9)


def generate_variants(collector: RuleCollector, schema: Schema) -> Iterator[Any]:
    """Yield JSON values made from a schema, the simplest first, at most `MAX_VARIANTS`. A few may be invalid."""
    return islice(_generate_from_schema(collector, schema, 0), MAX_VARIANTS)


@cache
def find_match(patterns: tuple[str, ...]) -> str | None:
    """Return a string that matches all these ECMA 262 patterns, or None. Typical strings are tried first."""
    python = tuple(pattern[:-1] + r"\Z" if pattern.endswith("$") else pattern for pattern in patterns)

    def matches(text: str) -> bool:
        return all(re.search(pattern, text) for pattern in python)

    usual = next(filter(matches, (*_STRINGS, *_IDENTIFIERS)), None)
    if usual is not None:
        return usual
    # The last pattern is often the strictest, so a string made from it is tried first.
    return next(filter(matches, (_shortest_match(_PARSER.parse(pattern)) for pattern in reversed(python))), None)


def _shortest_match(parsed: Iterable[tuple[Any, Any]]) -> str:
    """Return the shortest string that a parsed pattern matches if its assertions (``^``, lookaheads) are ignored."""
    made = ""
    for code, said in parsed:
        name = str(code)
        if name == "LITERAL":
            made += chr(said)
        elif name == "SUBPATTERN":
            made += _shortest_match(said[-1])
        elif name == "BRANCH":
            made += _shortest_match(said[1][0])
        elif name in ("MAX_REPEAT", "MIN_REPEAT"):
            made += _shortest_match(said[2]) * min(int(said[0]), _LONGEST)
        elif name in ("IN", "ANY", "NOT_LITERAL"):
            made += next((char for char in _PLAIN if _accepts_character(ord(char), name, said)), "")
    return made


def _accepts_character(char: int, name: str, said: Any) -> bool:
    """True if an element of a parsed pattern (`name` is its opcode, `said` its argument) accepts a character code."""
    if name != "IN":
        return name == "ANY" or char != said
    negated = any(str(code) == "NEGATE" for code, _ in said)
    inside = any(
        (str(code) == "LITERAL" and char == part) or (str(code) == "RANGE" and part[0] <= char <= part[1])
        for code, part in said
    )
    return inside != negated


def _generate_from_schema(collector: RuleCollector, schema: Schema, depth: int) -> Iterator[Any]:
    if depth > _MAX_DEPTH:
        return
    yield from _generate_from_rules(collector, collector.collect(schema), depth)


def _generate_from_rules(collector: RuleCollector, rules: SchemaRules, depth: int) -> Iterator[Any]:
    if rules.choices:
        branches, *others = rules.choices
        for branch in branches:
            yield from _generate_from_rules(collector, collector.narrow(rules, branch, others), depth)
    elif rules.values is not None:
        yield from rules.values
    else:
        for name in rules.types:
            yield from _generate_of_type(collector, rules, name, depth)


def _generate_of_type(collector: RuleCollector, rules: SchemaRules, name: str, depth: int) -> Iterator[Any]:
    if name == "object":
        yield from _generate_objects(collector, rules, depth)
    elif name == "array":
        yield from _generate_arrays(collector, rules, depth)
    elif name == "string":
        yield from _generate_strings(rules)
    elif name in ("number", "integer"):
        yield from _generate_numbers(rules, name)
    else:
        yield from (True, False) if name == "boolean" else (None,)


def _generate_objects(collector: RuleCollector, rules: SchemaRules, depth: int) -> Iterator[Any]:
    keys = [key for key in dict.fromkeys((*rules.required, *rules.properties)) if rules.schema_of_key(key) is not None]
    made = {key: list(_generate_property_values(collector, rules, key, depth)) for key in keys}
    if any(not made.get(key) for key in rules.required):
        return
    plain = {key: made[key][0] for key in rules.required}
    yield plain
    yield {key: values[0] for key, values in made.items() if values}
    for key, values in made.items():
        yield from ({**plain, key: value} for value in values)
    for key in _KEYS:
        if key not in made and rules.schema_of_key(key) is not None:
            yield from ({**plain, key: value} for value in _generate_property_values(collector, rules, key, depth))


def _generate_property_values(collector: RuleCollector, rules: SchemaRules, key: str, depth: int) -> Iterator[Any]:
    said = rules.schema_of_key(key)
    if said is None:
        return
    if said == {"allOf": []}:
        yield from _JSON
    else:
        yield from _generate_from_schema(collector, said, depth + 1)


def _generate_arrays(collector: RuleCollector, rules: SchemaRules, depth: int) -> Iterator[Any]:
    least = int(rules.bounds.get("minItems", 0))
    most = min(int(rules.bounds.get("maxItems", least + 2)), _LONGEST)
    items = list(_generate_from_schema(collector, {"allOf": rules.items}, depth + 1)) if rules.items else list(_JSON)
    if least == 0:
        yield []
    if items:
        yield from ([item] * max(least, 1) for item in items[:1] if most)
        yield from ([item, *[items[0]] * (least - 1)] for item in items[1:] if most)
        yield [items[0]] * most


def _generate_strings(rules: SchemaRules) -> Iterator[str]:
    least, most = int(rules.bounds.get("minLength", 0)), int(rules.bounds.get("maxLength", 300))
    filler = "x"
    if rules.patterns:
        matched = find_match(tuple(rules.patterns))
        if matched is None:
            return
        yield matched
        filler = matched[:1] or filler
    yield from (text for text in _STRINGS if least <= len(text) <= most and not rules.patterns)
    yield from (filler * size for size in dict.fromkeys((least, min(most, _LONGEST))))


def _generate_numbers(rules: SchemaRules, name: str) -> Iterator[float]:
    bounds = rules.bounds
    low, high = bounds.get("minimum"), bounds.get("maximum")
    above, below = bounds.get("exclusiveMinimum"), bounds.get("exclusiveMaximum")
    near = (low, high, above + 1e-6 if above is not None else None, below - 1e-6 if below is not None else None)
    for number in chain((bound for bound in near if bound is not None), _NUMBERS):
        inside = (low is None or number >= low) and (high is None or number <= high)
        inside = inside and (above is None or number > above) and (below is None or number < below)
        if inside and (name == "number" or float(number).is_integer()):
            yield number
