"""Schema files: read, and said to the compiled validator in the words that it knows or is fast with."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from pytest_corpus.spec.schemas import BASE_URI
from pytest_corpus.validation.schema.errors import SchemaFileError

Format = Callable[[str], bool]
"""Decides whether a string is of a format; a ValueError says no."""

FORMATS: Final[Mapping[str, Mapping[str, Any]]] = {
    "vector-dimensions": {"minItems": 1, "maxItems": 10_000},
    "timestamp": {"pattern": r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{3})?Z$"},
}
"""The formats of this protocol, by what they mean: an array of 1 to 10000 items (SCHEMA 10.3, 12.C), and ISO 8601 in
UTC with milliseconds or without (10.3). Those of JSON Schema itself the compiled validator knows."""

_BOUNDS: Final = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_DATA: Final = ("const", "enum", "default", "examples")
_NAMED: Final = ("properties", "patternProperties", "$defs", "dependentSchemas")


def read(root: Path, file: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The document of a schema file below a folder, as it is and `for_compiler`.

    Raises:
        SchemaFileError: it cannot be read, is not JSON, or has another ``$id``.
    """
    path, uri = os.path.join(root, file), BASE_URI + file
    try:
        with open(path, "rb", buffering=0) as opened:
            text = opened.read().decode()
        document = json.loads(text)
    except OSError as fault:
        raise SchemaFileError(root / file, f"cannot be read: {fault.strerror}") from fault
    except (ValueError, RecursionError) as fault:
        raise SchemaFileError(root / file, f"is not JSON: {fault}") from fault
    if not isinstance(document, dict) or document.get("$id") != uri:
        raise SchemaFileError(root / file, f"must be a JSON object with $id {uri}")
    return document, for_compiler(document) if any(sign in text for sign in _SIGNS) else document


_SIGNS: Final = (".0,", ".0\n", ".0 ", ".0}", *FORMATS)
"""What stands in each file that may need other words."""


def for_compiler(node: Any) -> Any:
    """The same schema for the compiled validator.

    It asks formats of strings alone, and takes its time for those that it does not know itself, so these become what
    they mean; and it is several times faster with a bound of 2 than with one of 2.0.
    """
    if isinstance(node, list):
        return [for_compiler(item) for item in node]
    if not isinstance(node, dict):
        return node
    converted: dict[str, Any] = {}
    for key, value in node.items():
        if key in _NAMED and isinstance(value, dict):
            converted[key] = {name: for_compiler(item) for name, item in value.items()}
        elif key in _BOUNDS and isinstance(value, float) and value.is_integer():
            converted[key] = int(value)
        else:
            converted[key] = value if key in _DATA else for_compiler(value)
    name = node.get("format")
    if isinstance(name, str) and name in FORMATS:
        converted["allOf"] = [*converted.get("allOf", ()), FORMATS[name]]
    return converted


def careful(check: Format) -> Format:
    """The format check with its ValueError as a no."""

    def conforms(text: str) -> bool:
        try:
            return bool(check(text))
        except ValueError:
            return False

    return conforms
