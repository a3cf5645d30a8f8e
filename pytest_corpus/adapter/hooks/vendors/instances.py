"""The plainest instance of a schema, for JSON answers and the arguments of tools."""

from collections.abc import Mapping
from typing import Any

_DEPTH = 12
_PLAIN: Mapping[str, Any] = {"string": "amber", "integer": 1, "number": 1, "boolean": True, "null": None}


def instance(schema: Mapping[str, Any]) -> Any:
    """An instance with nothing but what is required, at the lower bounds; an object where the schema says nothing.

    It knows the part of JSON Schema that vendors allow: types, enums, unions, bounds, and references within the schema.
    """
    return _of(schema, schema, _DEPTH)


def _of(schema: Any, root: Mapping[str, Any], depth: int) -> Any:
    if not isinstance(schema, Mapping) or depth == 0:
        return {}
    if isinstance(target := schema.get("$ref"), str):
        return _of(_found(target, root), root, depth - 1)
    if "const" in schema:
        return schema["const"]
    for name in ("enum", "anyOf", "oneOf"):
        if isinstance(found := schema.get(name), list) and found:
            return found[0] if name == "enum" else _of(found[0], root, depth - 1)
    kind = schema.get("type", "object")
    kind = kind[0] if isinstance(kind, list) and kind else kind
    if kind == "object":
        parts = schema.get("properties") or {}
        return {name: _of(parts.get(name), root, depth - 1) for name in schema.get("required") or ()}
    if kind == "array":
        return [_of(schema.get("items"), root, depth - 1)] * int(schema.get("minItems") or 0)
    return _plain(kind, schema)


def _plain(kind: Any, schema: Mapping[str, Any]) -> Any:
    value = _PLAIN.get(kind)
    if isinstance(value, str):
        least, most = int(schema.get("minLength") or 0), schema.get("maxLength")
        return value.ljust(least, "r")[: None if most is None else int(most)]
    if kind in ("integer", "number"):
        return schema.get("minimum", schema.get("maximum", value))
    return value


def _found(target: str, root: Mapping[str, Any]) -> Any:
    """Return the target of a reference such as ``#/$defs/name``."""
    found: Any = root
    for part in target.removeprefix("#").strip("/").split("/"):
        if part:
            found = found.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(found, Mapping) else None
    return found
