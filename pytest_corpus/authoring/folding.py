"""A schema folded into one: what it refers to and what it combines, as far as an instance of it can be made of that.

Folding loses ``not`` and the relations between two branches, so an instance of a folded schema is checked against the
schema itself afterwards.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final
from urllib.parse import unquote, urljoin

from pytest_corpus.text.values import at
from pytest_corpus.validation.schema.files import transformed

Schema = Mapping[str, Any] | bool

TYPES: Final = ("object", "array", "string", "number", "integer", "boolean", "null")

_LEAST: Final = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
_MOST: Final = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")


@dataclass
class Folded:
    """A schema with its ``$ref`` and ``allOf`` folded in.

    Attributes:
        types: the types that it accepts.
        values: the values of ``enum`` or ``const``, or None.
        properties: of each property all that is said of it.
        required: the keys that must be there.
        closures: of each closed object in it the keys, the patterns and what holds for other keys.
        items: all that is said of items.
        bounds: the tightest of each bound.
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
        """The keys that only some of the branches require."""
        return frozenset(key for branches in self.choices for branch in branches for key in _required(branch))


def _required(schema: Schema) -> Iterator[str]:
    if isinstance(schema, Mapping):
        yield from schema.get("required", ())
        for key in ("allOf", "anyOf", "oneOf"):
            for part in schema.get(key, ()):
                yield from _required(part)


class Folder:
    """Folds schemas whose references lead to what `retrieve` gives: the document of an ``$id``."""

    def __init__(self, retrieve: Callable[[str], Mapping[str, Any]]) -> None:
        self._retrieve = retrieve
        self._documents: dict[str, Any] = {}

    def fold(self, schema: Schema) -> Folded:
        """The schema folded. Raises RecursionError if it refers to itself."""
        folded = Folded()
        self._into(folded, schema)
        return folded

    def narrowed(self, folded: Folded, branch: Schema, choices: list[list[Schema]]) -> Folded:
        """The folded schema with one branch of a union folded in, and these choices left with those of the branch."""
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
        target: Schema = at(self._documents[uri], unquote(pointer))
        return target


def _absolute(document: Any, uri: str) -> Any:

    def change(schema: dict[str, Any]) -> None:
        if "$ref" in schema:
            schema["$ref"] = urljoin(uri, schema["$ref"])

    return transformed(document, change)


def _both(types: Iterable[str], given: str | list[str]) -> tuple[str, ...]:
    """The types that are in both; every integer is a number."""
    sides = (set(types), {given} if isinstance(given, str) else set(given))
    kept = [name for name in TYPES if all(name in side or (name == "integer" and "number" in side) for side in sides)]
    return tuple(name for name in kept if name != "integer" or "number" not in kept)


def _choices(schema: Mapping[str, Any]) -> Iterator[list[Schema]]:
    """The branches of each union; of a condition: it and what follows, or what follows without it."""
    yield from (list(schema[union]) for union in ("anyOf", "oneOf") if union in schema)
    if "if" in schema:
        yield [{"allOf": [schema["if"], schema.get("then", True)]}, schema.get("else", True)]
