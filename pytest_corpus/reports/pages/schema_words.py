"""Describes a schema in words: its type, its limits, the keys of an object."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pytest_corpus.authoring.folding import Folded, Folder, Schema
from pytest_corpus.authoring.goldens.maker import FILES
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
    folder = Folder(lambda uri: registry().get_schema(*FILES[uri]))
    schema: Schema = {"$ref": registry().list_schemas()[name]}
    for key in path:
        schema = folder.fold(schema).schema_of_key(key) or False
    return _type_text(folder, schema), list(_keys(folder, schema, ""))


def _keys(folder: Folder, schema: Schema, prefix: str, depth: int = 0) -> Iterator[Key]:
    folded = _without_null(folder, schema)
    if folded.items and not folded.properties:
        yield from _keys(folder, {"allOf": folded.items}, f"{prefix}[].", depth)
        return
    for key in _key_schemas(folder, folded):
        said = _schema_of_key(folder, folded, key)
        path = f"{prefix}{key}"
        yield Key(path, _type_text(folder, said), key in folded.required, _meaning(folder, said))
        inner = _without_null(folder, said)
        if depth < 2 and (inner.properties or inner.items):
            yield from _keys(folder, said, f"{path}." if inner.properties else path, depth + 1)


def _key_schemas(folder: Folder, folded: Folded) -> list[str]:
    """Return the keys that an object may have, including the keys in its unions."""
    names = dict.fromkeys(folded.properties)
    for branches in folded.choices:
        for branch in branches:
            names |= dict.fromkeys(folder.fold(branch).properties)
    return [name for name in names if folded.schema_of_key(name) is not None]


def _schema_of_key(folder: Folder, folded: Folded, key: str) -> Schema:
    if key in folded.properties:
        return folded.schema_of_key(key) or False
    branches = (folder.fold(branch) for choice in folded.choices for branch in choice)
    return {"anyOf": [{"allOf": branch.properties[key]} for branch in branches if key in branch.properties]}


def _without_null(folder: Folder, schema: Schema) -> Folded:
    """Return the collected rules of a schema; if it is a union of null and one branch, add the rules of the branch."""
    folded = folder.fold(schema)
    for choice in folded.choices:
        others = [branch for branch in choice if folder.fold(branch).types != ("null",)]
        if len(others) == 1:
            return folder.narrow(folded, others[0], [])
    return folded


def _type_text(folder: Folder, schema: Schema) -> str:
    folded = folder.fold(schema)
    kinds: dict[str, None] = {}
    for choice in folded.choices:
        for branch in choice:
            narrowed = folder.narrow(folded, branch, [])
            if narrowed.types:
                kinds |= dict.fromkeys(_type_names(folder, narrowed))
    kinds = kinds or dict.fromkeys(_type_names(folder, folded))
    return " or ".join(sorted(kinds, key=lambda kind: kind == "null"))


def _type_names(folder: Folder, folded: Folded) -> Iterator[str]:
    if folded.values is not None:
        kinds: dict[object, str] = {None: "null", True: "boolean", False: "boolean"}
        yield from (
            kinds.get(value, "string")
            for value in folded.values
            if not isinstance(value, int | float) or value in kinds
        )
        return
    if len(folded.types) == 7:
        yield "any"
        return
    for name in folded.types:
        if name == "array" and folded.items:
            inner = _type_text(folder, {"allOf": folded.items})
            yield f"array of {inner}s" if inner.isalpha() and inner != "any" else "array"
        else:
            yield name


def _meaning(folder: Folder, schema: Schema) -> str:
    said = [*_descriptions(folder, schema), *_limits(folder, schema)]
    return "; ".join(dict.fromkeys(said))


def _descriptions(folder: Folder, schema: Schema) -> Iterator[str]:
    if isinstance(schema, Mapping):
        if "description" in schema:
            yield schema["description"]
        if "$ref" in schema:
            yield from _descriptions(folder, _resolve(schema["$ref"]))
        for part in schema.get("allOf", ()):
            yield from _descriptions(folder, part)


def _resolve(ref: str) -> Schema:
    uri, _, pointer = ref.partition("#")
    found: Schema = value_at(registry().get_schema(*FILES[uri]), pointer)
    return found


def _limits(folder: Folder, schema: Schema) -> Iterator[str]:
    folded = _without_null(folder, schema)
    texts = [value for value in folded.values or () if isinstance(value, str)]
    if texts:
        yield " or ".join(f"`{text}`" for text in texts)
    for bound, limit in folded.bounds.items():
        if limit == folded.bounds.get(bound.replace("m", "exclusiveM", 1)):
            continue
        words = BOUNDS.get(bound, "").format(f"{limit:g}")
        yield words.removesuffix("s") if words.endswith((" 1 items", " 1 characters")) else words
