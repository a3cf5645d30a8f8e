"""Schema files: their names (SCHEMA 2.3, 6.1, 10.1), and their conversion for the compiled validator."""

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final

from pytest_corpus import resources
from pytest_corpus.spec.schemas import BASE_URI, LATEST, OWN_FOLDERS, SCHEMA_VERSIONS, SCHEMAS, SchemaFile
from pytest_corpus.text import bounded
from pytest_corpus.validation.schema.exceptions import SchemaFileError, UnknownEditionError, UnknownSchemaError

VERSION_MARK = "#version/"
"""The text between the name of a schema and the edition that the name demands (SCHEMA 10.1)."""

_VERSIONED: Final = re.compile(r"(.+)\.v([0-9]+\.[0-9]+)")


def check_edition(edition: str | None) -> str:
    """Return an edition unchanged if it exists; None means the newest. Raises UnknownEditionError."""
    if edition is None:
        return LATEST
    if edition not in SCHEMA_VERSIONS:
        raise UnknownEditionError(edition)
    return edition


class SchemaTable:
    """The schemas of one folder, and the names by which they can be found."""

    def __init__(self, schemas: tuple[SchemaFile, ...]) -> None:
        self.schemas = schemas
        self.editions_of = cache(self._editions_of)  # called for every answer
        """Return the schema with this name, and the editions of its file, oldest first. Raises UnknownSchemaError."""

    def find_schema(self, name: str) -> tuple[SchemaFile, str | None]:
        """Return the schema with this name, and the edition that the name demands (None: any edition).

        Raises:
            UnknownSchemaError, UnknownEditionError
        """
        stem, mark, version = name.partition(VERSION_MARK)
        if stem not in self._aliases:
            plain = stem.removeprefix(BASE_URI).rpartition("/")[2].removesuffix(".json")
            near = get_close_matches(plain, [schema.name for schema in self.schemas], n=2, cutoff=0.6)
            raise UnknownSchemaError(name, suggestions=tuple(near))
        schema, pinned = self._aliases[stem]
        if not mark:
            return schema, pinned
        wanted = check_edition(version)
        if not _has_edition(schema, pinned, wanted):
            raise UnknownSchemaError(name, wanted, schema)
        return schema, wanted

    def resolve(self, name: str, edition: str | None) -> tuple[SchemaFile, str]:
        """Return the schema with this name, and the edition to use. Raises UnknownSchemaError, UnknownEditionError."""
        wanted = check_edition(edition)
        schema, pinned = self.find_schema(name)
        if edition is None and pinned:
            return schema, pinned
        if not _has_edition(schema, pinned, wanted):
            raise UnknownSchemaError(name, wanted, schema)
        return schema, wanted

    def _editions_of(self, name: str) -> tuple[SchemaFile, tuple[str, ...]]:
        schema, pinned = self.find_schema(name)
        return schema, tuple(edition for edition in schema.editions if _has_edition(schema, pinned, edition))

    @cached_property
    def _aliases(self) -> dict[str, tuple[SchemaFile, str | None]]:
        """Every accepted name, with its schema and the edition that the name demands."""
        aliases: dict[str, tuple[SchemaFile, str | None]] = {}
        # The protocol's schemas come last, so that they win over a user's file of the same name.
        for schema in reversed(self.schemas):
            for own, file in zip(schema.own, schema.files, strict=True):
                meant = (schema, None if own == schema.own[0] else own)
                file_name = file.rpartition("/")[2]
                aliases |= dict.fromkeys((BASE_URI + file, file, file_name, file_name.removesuffix(".json")), meant)
            aliases[schema.name] = (schema, None)
        return aliases


SHIPPED: Final = SchemaTable(SCHEMAS)
"""The table of the shipped schemas."""

find_schema = SHIPPED.find_schema


def table_of(root: Path) -> SchemaTable:
    """Return the table of a folder: the protocol's schemas, and any other files of the user (SCHEMA 6.1).

    A user's file may be a newer edition of the protocol file next to it. Its name then ends with the edition, as in
    ``llm.response_format.v1.1.json``. Any other file is a schema with its file name, in every edition. The shipped
    folder contains only the protocol's schemas.
    """
    if root.resolve() == _shipped_root():
        return SHIPPED
    rows = {(schema.component, schema.stem): schema for schema in SCHEMAS}
    for file in _new_files(root):
        folder, _, name = file.rpartition("/")
        stem = name.removesuffix(".json")
        match = _VERSIONED.fullmatch(stem)
        edition = f"{match[2]}.0" if match else ""
        elder = rows.get((folder, match[1])) if match else None
        if elder and edition in SCHEMA_VERSIONS and edition > elder.own[-1]:
            rows[folder, elder.stem] = replace(elder, own=(*elder.own, edition))
        else:
            rows[folder, stem] = SchemaFile(folder, stem, SCHEMA_VERSIONS[:1])
    return SchemaTable(tuple(rows.values()))


@cache
def _shipped_root() -> Path:
    return resources.folder("schemas").resolve()


def _new_files(root: Path) -> Iterator[str]:
    """Yield every ``*.json`` file below a folder that is not a protocol file, shorter names first."""
    known = {file for schema in SCHEMAS for file in schema.files}
    found = (path.relative_to(root).parts for path in root.rglob("*.json") if path.is_file())
    for parts in sorted(found, key=lambda each: (len(each[-1]), each)):
        hidden = any(part.startswith(".") for part in parts)
        if parts[0] not in OWN_FOLDERS and not hidden and "/".join(parts) not in known:
            yield "/".join(parts)


def _has_edition(schema: SchemaFile, pinned: str | None, edition: str) -> bool:
    return edition in schema.editions and (pinned is None or schema.file(edition) == schema.file(pinned))


Format = Callable[[Any], bool]
"""A check of a format that a user adds. It returns a boolean; a ValueError, as in SCHEMA 12.C, means False.

The check gets values of every type. If it raises TypeError or AttributeError for a value that is not a string, the
format does not apply to this type, and the value passes.
"""

FORMAT_KEYWORD: Final = "x-pytest-corpus-format"
"""A keyword next to ``format`` that applies the same check to values that are not strings."""

FORMATS: Final[Mapping[str, Mapping[str, Any]]] = {
    "vector-dimensions": {"minItems": 1, "maxItems": 10_000},
    "timestamp": {"pattern": r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{3})?Z$"},
}
"""The protocol's own formats, each as keywords of JSON Schema that mean the same: an array of 1 to 10000 items (SCHEMA
10.3, 12.C), and ISO 8601 in UTC with or without milliseconds (10.3). The validator knows the formats of JSON Schema."""

_BOUNDS: Final = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_DATA: Final = ("const", "enum", "default", "examples")
SCHEMA_MAP_KEYWORDS: Final = ("properties", "patternProperties", "$defs", "dependentSchemas")
"""Keywords whose value is an object of schemas."""


def read_schema_file(
    root: Path, file: str, formats: Collection[str] = ()
) -> tuple[dict[str, Any], dict[str, Any], bool]:
    """Read a schema file. Raises SchemaFileError.

    Return the document, its form for the compiler, and True if it marks something as deprecated.
    """
    uri = BASE_URI + file
    try:
        text = bounded.read_contents(root / file).decode()
        document = json.loads(text)
    except bounded.FileRefused as fault:
        raise SchemaFileError(root / file, fault.why) from fault
    except (ValueError, RecursionError) as fault:
        raise SchemaFileError(root / file, f"is not JSON: {fault}") from fault
    if not isinstance(document, dict) or document.get("$id") != uri:
        raise SchemaFileError(root / file, f"must be a JSON object with $id {uri}")
    compiled = for_compiler(document, formats) if any(sign in text for sign in (*_SIGNS, *formats)) else document
    return document, compiled, '"deprecated"' in text


_SIGNS: Final = (".0,", ".0\n", ".0 ", ".0}", *FORMATS)
"""Texts in a file that `for_compiler` may have to change."""


def transform(node: Any, change: Callable[[dict[str, Any]], object]) -> Any:
    """Return a copy of a schema in which `change` was called with each subschema, innermost first.

    Data inside, such as enumerations, stays unchanged.
    """
    if isinstance(node, list):
        return [transform(item, change) for item in node]
    if not isinstance(node, dict):
        return node
    copy: dict[str, Any] = {}
    for key, value in node.items():
        if key in SCHEMA_MAP_KEYWORDS and isinstance(value, dict):
            copy[key] = {name: transform(item, change) for name, item in value.items()}
        else:
            copy[key] = value if key in _DATA else transform(value, change)
    change(copy)
    return copy


def for_compiler(node: Any, formats: Collection[str] = ()) -> Any:
    """Return a copy of a schema for the compiled validator.

    The validator checks formats of strings only and is slow with unknown formats, so formats are replaced by equivalent
    keywords; a user's formats also get `FORMAT_KEYWORD`. The validator is also several times faster with a limit of 2
    than with a limit of 2.0.
    """

    def adapt_schema(schema: dict[str, Any]) -> None:
        if isinstance(schema.get("pattern"), str):
            schema["pattern"] = spell_out_dots(schema["pattern"])
        if isinstance(schema.get("patternProperties"), dict):
            schema["patternProperties"] = {spell_out_dots(key): it for key, it in schema["patternProperties"].items()}
        bounds = {key: schema[key] for key in _BOUNDS if isinstance(schema.get(key), float)}
        schema |= {key: int(bound) for key, bound in bounds.items() if bound.is_integer()}
        name = schema.get("format")
        if isinstance(name, str) and name in FORMATS:
            schema["allOf"] = [*schema.get("allOf", ()), FORMATS[name]]
        if isinstance(name, str) and name in formats:
            schema[FORMAT_KEYWORD] = name

    return transform(node, adapt_schema)


ANY_CHARACTER = r"[^\n\r\u2028\u2029]"
"""The meaning of a dot in ECMA 262. Validators differ in the characters that they treat as line ends."""

_DOT = re.compile(r"\\.|\[[^\]]*\]|\.", re.DOTALL)


def spell_out_dots(pattern: str) -> str:
    """Return a pattern in which each dot is written as a character set."""
    return _DOT.sub(lambda found: ANY_CHARACTER if found[0] == "." else found[0], pattern)


def make_safe_check(check: Format) -> Format:
    """Wrap a user's format check in a function that returns a boolean instead of raising, as `Format` describes."""

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
    """True if an exception of `jsonschema`, the library in SCHEMA 12.C, says that a value is invalid."""
    from jsonschema.exceptions import FormatError, ValidationError

    return isinstance(fault, FormatError | ValidationError)


def make_format_keyword(checks: Mapping[str, Format]) -> type:
    """Return the class of `FORMAT_KEYWORD`. It checks values that are not strings; `format` itself checks strings."""

    class Keyword:
        def __init__(self, _parent: object, name: str, _path: object) -> None:
            self._check = checks[name]

        def validate(self, instance: object) -> None:
            if not isinstance(instance, str) and not self._check(instance):
                raise ValueError("is of another format")

    return Keyword
