"""Instances for property-based tests: mutations of a seed, and instances made from a schema."""

import copy
import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from hypothesis import strategies as st

from pytest_corpus import resources
from pytest_corpus.spec.schemas import OWN_FOLDERS

Path = tuple[str | int, ...]

FINITE: dict[str, Any] = {"allow_nan": False, "allow_infinity": False}

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(**FINITE),
    st.sampled_from((-1, 0, 1, 1.0, -0.5, 2**70, 1e308, "", "OK", "STREAMING", "llm.stream", "a\n", "stop")),
    st.text(st.characters(codec="utf-8"), max_size=8),
)
JSON = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(("id", "text", "tokens", "x")), inner, max_size=3)
    ),
    max_leaves=6,
)


@cache
def documents() -> Mapping[str, dict[str, Any]]:
    """Every schema document of the protocol by its `$id`, as the files have it."""
    paths = sorted(resources.folder("schemas").rglob("*.json"))
    read = [json.loads(path.read_text()) for path in paths if path.parent.name not in OWN_FOLDERS]
    return {document["$id"]: document for document in read}


@st.composite
def mutated(draw: st.DrawFn, seed: Any, edits: int = 3) -> Any:
    """The seed with up to `edits` values replaced, nulled, removed or added."""
    root = [copy.deepcopy(seed)]
    keys = sorted({part for path in paths(seed) for part in path if isinstance(part, str)} | {"extra", "code"})
    for _ in range(draw(st.integers(1, edits))):
        path = draw(st.sampled_from([(0, *path) for path in paths(root[0])]))
        edit = draw(st.sampled_from(("replace", "null", "remove", "add")))
        holder: Any = root
        for part in path[:-1]:
            holder = holder[part]
        target = holder[path[-1]]
        if edit == "replace":
            holder[path[-1]] = draw(JSON)
        elif edit == "null":
            holder[path[-1]] = None
        elif edit == "remove" and len(path) > 1:
            del holder[path[-1]]
        elif isinstance(target, dict):
            target[draw(st.sampled_from(keys))] = draw(JSON)
        elif isinstance(target, list):
            target.append(draw(JSON))
    return root[0]


def paths(value: Any, here: Path = ()) -> Iterator[Path]:
    """The path of every value in a JSON value, its own first."""
    yield here
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from paths(item, (*here, key))


@cache
def from_schema(uri: str) -> st.SearchStrategy[Any]:
    """Instances that the schema with an `$id` accepts, but for keys that only a closed base refuses."""
    return _made({"$ref": uri})


def _made(schema: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    merged = _merged(schema)
    if "const" in merged or "enum" in merged:
        return st.sampled_from([merged["const"]] if "const" in merged else merged["enum"])
    if merged["choices"]:
        branches, *others = merged["choices"]
        rest = {**merged, "choices": others}
        open_ones = [branch for branch in branches if _kinds(rest) & _kinds(branch)]
        return st.one_of([_made({"allOf": [rest, branch]}) for branch in open_ones])
    types = merged.get("type", ["object", "string", "null"])
    return st.one_of([_of_type(name, merged) for name in ([types] if isinstance(types, str) else types)])


def _kinds(schema: Mapping[str, Any]) -> set[str]:
    """The types that a schema names itself, or all."""
    named = schema.get("type", ["object", "array", "string", "number", "integer", "boolean", "null"])
    return {named} if isinstance(named, str) else set(named)


def _of_type(name: str, schema: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    low, high = schema.get("exclusiveMinimum", schema.get("minimum")), schema.get("maximum")
    if name == "object":
        return _object(schema)
    if name == "array":
        least = schema.get("minItems", 0)
        return st.lists(_made(schema.get("items", {})), min_size=least, max_size=least + 2)
    if name == "string" and "pattern" in schema:
        return st.from_regex(schema["pattern"].replace("$", r"\Z"))
    if name == "number":
        return st.floats(low, high, exclude_min="exclusiveMinimum" in schema, **FINITE)
    return {
        "string": st.text(st.characters(codec="utf-8"), min_size=schema.get("minLength", 0), max_size=12),
        "integer": st.integers(low, high),
        "boolean": st.booleans(),
        "null": st.none(),
    }[name]


def _object(schema: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    made = {key: _made(value) for key, value in schema.get("properties", {}).items()}
    required = {key: made.pop(key, JSON) for key in schema.get("required", ())}
    others = schema.get("additionalProperties", True)
    if others is not False:
        made["extra"] = JSON if others is True else _made(others)
    fixed = st.fixed_dictionaries(required, optional=made)
    patterned = [
        st.dictionaries(st.from_regex(pattern.replace("$", r"\Z")), _made(value), max_size=2)
        for pattern, value in schema.get("patternProperties", {}).items()
    ]
    return st.tuples(fixed, *patterned).map(lambda parts: {key: part[key] for part in parts for key in part})


def _merged(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with its `$ref` and `allOf` folded in; what stands closer wins.

    Its unions, and each condition as the union of what it leads to, become lists of branches in `choices`.
    """
    merged: dict[str, Any] = {"properties": {}, "required": [], "choices": []}
    parts = [_merged(inner) for inner in schema.get("allOf", ())]
    if "$ref" in schema:
        parts.append(_merged(_target(schema["$ref"])))
    for part in (*parts, schema):
        for key, value in part.get("properties", {}).items():
            own = merged["properties"].get(key)
            merged["properties"][key] = {"allOf": [own, value]} if own else value
        merged["required"] = list(dict.fromkeys((*merged["required"], *part.get("required", ()))))
        merged["choices"] += [*part.get("choices", ()), *_choices(part)]
        merged |= {key: value for key, value in part.items() if key not in _FOLDED}
    return merged


_FOLDED = ("$ref", "allOf", "properties", "required", "choices", "anyOf", "oneOf", "if", "then", "else")


def _choices(schema: Mapping[str, Any]) -> Iterator[list[Mapping[str, Any]]]:
    """The branches of each union of a schema; of a condition: it and what follows, or what follows without it."""
    yield from (schema[union] for union in ("anyOf", "oneOf") if union in schema)
    if "if" in schema:
        yield [{"allOf": [schema["if"], schema.get("then", {})]}, schema.get("else", {})]


def _target(ref: str) -> Mapping[str, Any]:
    uri, _, pointer = ref.partition("#")
    target: Any = _absolute(documents()[uri], uri)
    for part in pointer.split("/")[1:]:
        target = target[part]
    return target  # type: ignore[no-any-return]


def _absolute(node: Any, uri: str) -> Any:
    """The document with its local references made absolute."""
    if isinstance(node, dict):
        local = {"$ref": uri + node["$ref"]} if str(node.get("$ref")).startswith("#") else {}
        return {key: _absolute(value, uri) for key, value in node.items()} | local
    return [_absolute(item, uri) for item in node] if isinstance(node, list) else node
