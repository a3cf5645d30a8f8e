"""Schema files: read, and said to the compiled validator in the words that it knows or is fast with."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from pytest_corpus._schema_errors import SchemaFileError

Format = Callable[[str], bool]
"""Decides whether a string is of a format; a ValueError says no."""

VECTOR_DIMENSIONS: Final = "vector-dimensions"
"""The format of an array of 1 to 10000 items (SCHEMA 10.3, 12.C)."""

_VECTOR_BOUNDS: Final = {"minItems": 1, "maxItems": 10_000}
_TIMESTAMP = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{3})?Z", re.ASCII)
_BOUNDS: Final = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_DATA: Final = ("const", "enum", "default", "examples")
_NAMED: Final = ("properties", "patternProperties", "$defs", "dependentSchemas")


def is_timestamp(text: str) -> bool:
    """The format ``timestamp``: ISO 8601 in UTC, with milliseconds or without (SCHEMA 10.3)."""
    return _TIMESTAMP.fullmatch(text) is not None


FORMATS: Final[Mapping[str, Format]] = {"timestamp": is_timestamp}
"""The formats of this protocol; those of JSON Schema itself are known to the compiled validator."""


def read(path: Path, uri: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The document of a schema file, as it is and `for_compiler`.

    Raises:
        SchemaFileError: it cannot be read, is no JSON, or has another ``$id``.
    """
    try:
        with open(path, "rb") as file:
            text = file.read()
        document = json.loads(text)
    except OSError as fault:
        raise SchemaFileError(path, f"cannot be read: {fault.strerror}") from fault
    except (ValueError, RecursionError) as fault:
        raise SchemaFileError(path, f"is no JSON: {fault}") from fault
    if not isinstance(document, dict) or document.get("$id") != uri:
        raise SchemaFileError(path, f"must be a JSON object with $id {uri}")
    return document, for_compiler(document) if any(sign in text for sign in _SIGNS) else document


_SIGNS: Final = (b".0", VECTOR_DIMENSIONS.encode())
"""What stands in each file that may need other words."""


def for_compiler(node: Any) -> Any:
    """The same schema for the compiled validator.

    It asks formats of strings alone, so the one that is of arrays becomes bounds; and it is several times faster
    with a bound of 2 than with one of 2.0.
    """
    if isinstance(node, list):
        return [for_compiler(item) for item in node]
    if not isinstance(node, dict):
        return node
    told: dict[str, Any] = {}
    for key, value in node.items():
        if key in _NAMED and isinstance(value, dict):
            told[key] = {name: for_compiler(item) for name, item in value.items()}
        elif key in _BOUNDS and isinstance(value, float) and value.is_integer():
            told[key] = int(value)
        else:
            told[key] = value if key in _DATA else for_compiler(value)
    if node.get("format") == VECTOR_DIMENSIONS:
        told["allOf"] = [*told.get("allOf", ()), _VECTOR_BOUNDS]
    return told


def careful(check: Format) -> Format:
    """The format check with its ValueError as a no."""

    def conforms(text: str) -> bool:
        try:
            return bool(check(text))
        except ValueError:
            return False

    return conforms
