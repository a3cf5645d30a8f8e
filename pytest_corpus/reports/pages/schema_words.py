"""Describes a schema in words: its type, its limits, the keys of an object."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pytest_corpus.authoring.goldens.maker import FILES
from pytest_corpus.authoring.schema_rules import RuleCollector, Schema, SchemaRules
from pytest_corpus.text.values import value_at
from pytest_corpus.validation.schema.registry import registry

BOUNDS = {
    "minimum": "at least {}",
    "exclusiveMinimum": "above {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "below {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
}


@dataclass(frozen=True, slots=True)
class Key:
    """One key of an object.

    Attributes:
        path: the key, with the keys of the objects around it.
        type: the types of its value, in words.
        required: True if the object must have it.
        meaning: its description and further rules.
    """

    path: str
    type: str
    required: bool
    meaning: str


def describe_schema(name: str, *path: str) -> tuple[str, list[Key]]:
    """Return the types of the value at a path in a schema, and the keys of the object or of the array's objects."""
    collector = RuleCollector(lambda uri: registry().get_schema(*FILES[uri]))
    schema: Schema = {"$ref": registry().list_schemas()[name]}
    for key in path:
        schema = collector.collect(schema).schema_of_key(key) or False
    return _type_text(collector, schema), list(_keys(collector, schema, ""))


def _keys(collector: RuleCollector, schema: Schema, prefix: str, depth: int = 0) -> Iterator[Key]:
    rules = _without_null(collector, schema)
    if rules.items and not rules.properties:
        yield from _keys(collector, {"allOf": rules.items}, f"{prefix}[].", depth)
        return
    for key in _key_schemas(collector, rules):
        said = _schema_of_key(collector, rules, key)
        path = f"{prefix}{key}"
        meaning = "; ".join(dict.fromkeys((*_descriptions(said), *_limits(collector, said))))
        yield Key(path, _type_text(collector, said), key in rules.required, meaning)
        inner = _without_null(collector, said)
        if depth < 2 and (inner.properties or inner.items):
            yield from _keys(collector, said, f"{path}." if inner.properties else path, depth + 1)


def _key_schemas(collector: RuleCollector, rules: SchemaRules) -> list[str]:
    """Return the keys that an object may have, including the keys in its unions."""
    names = dict.fromkeys(rules.properties)
    for branches in rules.choices:
        for branch in branches:
            names |= dict.fromkeys(collector.collect(branch).properties)
    return [name for name in names if rules.schema_of_key(name) is not None]


def _schema_of_key(collector: RuleCollector, rules: SchemaRules, key: str) -> Schema:
    if key in rules.properties:
        return rules.schema_of_key(key) or False
    branches = (collector.collect(branch) for choice in rules.choices for branch in choice)
    return {"anyOf": [{"allOf": branch.properties[key]} for branch in branches if key in branch.properties]}


def _without_null(collector: RuleCollector, schema: Schema) -> SchemaRules:
    """Return the collected rules of a schema; if it is a union of null and one branch, add the rules of the branch."""
    rules = collector.collect(schema)
    for choice in rules.choices:
        others = [branch for branch in choice if collector.collect(branch).types != ("null",)]
        if len(others) == 1:
            return collector.narrow(rules, others[0], [])
    return rules


def _type_text(collector: RuleCollector, schema: Schema) -> str:
    rules = collector.collect(schema)
    kinds: dict[str, None] = {}
    for choice in rules.choices:
        for branch in choice:
            narrowed = collector.narrow(rules, branch, [])
            if narrowed.types:
                kinds |= dict.fromkeys(_type_names(collector, narrowed))
    kinds = kinds or dict.fromkeys(_type_names(collector, rules))
    return " or ".join(sorted(kinds, key=lambda kind: kind == "null"))


def _type_names(collector: RuleCollector, rules: SchemaRules) -> Iterator[str]:
    if rules.values is not None:
        kinds: dict[object, str] = {None: "null", True: "boolean", False: "boolean"}
        yield from (
            kinds.get(value, "string") for value in rules.values if not isinstance(value, int | float) or value in kinds
        )
        return
    if len(rules.types) == 7:
        yield "any"
        return
    for name in rules.types:
        if name == "array" and rules.items:
            inner = _type_text(collector, {"allOf": rules.items})
            yield f"array of {inner}s" if inner.isalpha() and inner != "any" else "array"
        else:
            yield name


def _descriptions(schema: Schema) -> Iterator[str]:
    if isinstance(schema, Mapping):
        if "description" in schema:
            yield schema["description"]
        if "$ref" in schema:
            uri, _, pointer = schema["$ref"].partition("#")
            yield from _descriptions(value_at(registry().get_schema(*FILES[uri]), pointer))
        for part in schema.get("allOf", ()):
            yield from _descriptions(part)


def _limits(collector: RuleCollector, schema: Schema) -> Iterator[str]:
    rules = _without_null(collector, schema)
    texts = [value for value in rules.values or () if isinstance(value, str)]
    if texts:
        yield " or ".join(f"`{text}`" for text in texts)
    for bound, limit in rules.bounds.items():
        if limit == rules.bounds.get(bound.replace("m", "exclusiveM", 1)):
            continue
        words = BOUNDS.get(bound, "").format(f"{limit:g}")
        yield words.removesuffix("s") if words.endswith((" 1 items", " 1 characters")) else words
