"""Schema files: read, and said to the compiled validator in the words that it knows or is fast with."""

import json
import os
import re
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, Final

from pytest_corpus.spec.schemas import BASE_URI
from pytest_corpus.validation.schema.exceptions import SchemaFileError

Format = Callable[[Any], bool]
"""Decides whether a value is of a format; an error of values, as in SCHEMA 12.C, says no.

It is asked about values of every type. Of a value that is not a string, a TypeError or an AttributeError says that the
format is for another type, which it then passes.
"""

FORMAT_KEYWORD: Final = "x-pytest-corpus-format"
"""The keyword next to ``format`` for the compiled validator, which applies formats to strings alone."""

FORMATS: Final[Mapping[str, Mapping[str, Any]]] = {
    "vector-dimensions": {"minItems": 1, "maxItems": 10_000},
    "timestamp": {"pattern": r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{3})?Z$"},
}
"""The formats of this protocol, by what they mean: an array of 1 to 10000 items (SCHEMA 10.3, 12.C), and ISO 8601 in
UTC with milliseconds or without (10.3). Those of JSON Schema itself the compiled validator knows."""

_BOUNDS: Final = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_DATA: Final = ("const", "enum", "default", "examples")
NAMED: Final = ("properties", "patternProperties", "$defs", "dependentSchemas")
"""Keywords whose value holds schemas by name."""


def read(root: Path, file: str, formats: Collection[str] = ()) -> tuple[dict[str, Any], dict[str, Any], bool]:
    """A schema file as it is and `for_compiler`, and if it may deprecate anything. Raises SchemaFileError."""
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
    compiled = for_compiler(document, formats) if any(sign in text for sign in (*_SIGNS, *formats)) else document
    return document, compiled, '"deprecated"' in text


_SIGNS: Final = (".0,", ".0\n", ".0 ", ".0}", *FORMATS)
"""Signs of a file that may need other words."""


def transformed(node: Any, change: Callable[[dict[str, Any]], object]) -> Any:
    """A copy of a schema in which each schema was changed, the innermost first; data in it stays as it is."""
    if isinstance(node, list):
        return [transformed(item, change) for item in node]
    if not isinstance(node, dict):
        return node
    copy: dict[str, Any] = {}
    for key, value in node.items():
        if key in NAMED and isinstance(value, dict):
            copy[key] = {name: transformed(item, change) for name, item in value.items()}
        else:
            copy[key] = value if key in _DATA else transformed(value, change)
    change(copy)
    return copy


def for_compiler(node: Any, formats: Collection[str] = ()) -> Any:
    """The same schema for the compiled validator.

    It checks formats of strings alone, and is slow with formats that it does not know: these are replaced by equivalent
    keywords, and a user's own formats stand under a keyword, too. It is also several times faster with a bound of 2
    than with one of 2.0.
    """

    def change(schema: dict[str, Any]) -> None:
        rewrite_patterns(schema, spelled_out)
        bounds = {key: schema[key] for key in _BOUNDS if isinstance(schema.get(key), float)}
        schema |= {key: int(bound) for key, bound in bounds.items() if bound.is_integer()}
        name = schema.get("format")
        if isinstance(name, str) and name in FORMATS:
            schema["allOf"] = [*schema.get("allOf", ()), FORMATS[name]]
        if isinstance(name, str) and name in formats:
            schema[FORMAT_KEYWORD] = name

    return transformed(node, change)


ANY_CHARACTER = r"[^\n\r\u2028\u2029]"
"""A dot as ECMA 262 reads it; validators, and their versions, differ in what they take for the end of a line."""

_DOT = re.compile(r"\\.|\[[^\]]*\]|\.", re.DOTALL)


def spelled_out(pattern: str) -> str:
    """A pattern in which no dot is left to the reader."""
    return _DOT.sub(lambda found: ANY_CHARACTER if found[0] == "." else found[0], pattern)


def rewrite_patterns(schema: dict[str, Any], rewrite: Callable[[str], str]) -> None:
    """Write the patterns of one schema in another way."""
    if isinstance(schema.get("pattern"), str):
        schema["pattern"] = rewrite(schema["pattern"])
    if isinstance(schema.get("patternProperties"), dict):
        schema["patternProperties"] = {rewrite(key): it for key, it in schema["patternProperties"].items()}


def careful(check: Format) -> Format:
    """The format check with its errors as yes or no, as `Format` says."""

    def conforms(value: Any) -> bool:
        try:
            return bool(check(value))
        except ValueError:
            return False
        except (TypeError, AttributeError):
            if isinstance(value, str):
                raise
            return True
        except Exception as fault:
            if _is_refusal(fault):
                return False
            raise

    return conforms


def _is_refusal(fault: Exception) -> bool:
    """Return if an error is one that the library of SCHEMA 12.C has for values."""
    from jsonschema.exceptions import FormatError, ValidationError

    return isinstance(fault, FormatError | ValidationError)


def format_keyword(checks: Mapping[str, Format]) -> type:
    """`FORMAT_KEYWORD` as the compiler wants a keyword: the checks, for all but strings."""

    class Keyword:
        def __init__(self, _parent: object, name: str, _path: object) -> None:
            self._check = checks[name]

        def validate(self, instance: object) -> None:
            if not isinstance(instance, str) and not self._check(instance):
                raise ValueError("is of another format")

    return Keyword
