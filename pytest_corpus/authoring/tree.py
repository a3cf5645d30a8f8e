"""A tree of schema files: its documents, the schemas inside them, their references; and findings about files."""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urljoin

from pytest_corpus import resources
from pytest_corpus.redaction import printable
from pytest_corpus.spec.schemas import BASE_URI, OWN_FOLDERS
from pytest_corpus.text import bounded, strict_json
from pytest_corpus.text.values import escape_key, value_at
from pytest_corpus.validation.schema.files import SCHEMA_MAP_KEYWORDS, table_of


@dataclass(frozen=True, slots=True)
class LintFinding:
    """A fault in a schema file or golden file.

    Attributes:
        file: the file, relative to the root of the tree.
        rule: the name of the violated rule.
        message: the fault and the remedy, without file content that may be a secret.
        path: the position: a JSON pointer in a schema, keys joined by dots in a golden; empty for the whole file.
    """

    file: str
    rule: str
    message: str
    path: str = ""

    def __str__(self) -> str:
        """The finding in one line; unusual characters in file names and keys are escaped."""
        where = f"{self.file}: {self.path}" if self.path else self.file
        return printable(f"{where}: {self.message} [{self.rule}]")

    def as_json(self) -> dict[str, str]:
        """Return the four fields as a JSON object."""
        return asdict(self)


def find_root(given: Path | str | None, variable: str, name: str) -> Path:
    """Return the given folder, else the folder in an environment variable, else the shipped folder of this name.

    Raises:
        NotADirectoryError: that path is not a folder.
    """
    named = os.environ.get(variable) if given is None else None
    root = Path(given or named or resources.folder(name))
    if not root.is_dir():
        by = f", which {variable} names," if named else ""
        raise NotADirectoryError(f"{root}{by} is not a folder; name one that holds the files of {name}/")
    return root


def list_files(root: Path) -> tuple[str, ...]:
    """Return every file below a folder, sorted, as relative paths; files and folders whose names begin with a dot are
    ignored.
    """
    found = (path.relative_to(root) for path in root.rglob("*") if not path.is_dir())
    return tuple(sorted(path.as_posix() for path in found if not any(part.startswith(".") for part in path.parts)))


def compare_with_table(listed: Iterable[str], found: Iterable[str], table: str) -> Iterator[LintFinding]:
    """Find files of the table that are missing, and files that the table does not list (SCHEMA 7.3; R41)."""
    rows, files = set(listed), set(found)
    for file in sorted(rows - files):
        yield LintFinding(file, "missing", f"does not exist, but {table} lists it: restore the file")
    for file in sorted(files - rows):
        yield LintFinding(file, "orphaned", f"is not in {table}: add a row, or remove the file")


def read_bytes(path: Path, limit: int) -> tuple[bytes, str, str]:
    """Return the bytes of a file, and two empty texts.

    If the file is unreadable or too large, return empty bytes, the violated rule and the reason.
    """
    try:
        return bounded.read_contents(path, limit), "", ""
    except bounded.FileRefused as fault:
        return b"", "size" if fault.is_too_large else "json", fault.why


def parse_document(data: bytes) -> tuple[Any, str]:
    """Parse a JSON document; return its value, and its fault (RFC 8259, 7493) or an empty text."""
    value, flaw = strict_json.parse(data)
    return value, str(flaw or "")


MAX_BYTES: Final = 5 * 1024 * 1024
"""The size limit of a schema file (SCHEMA 8.3, 12.E)."""

SCHEMA_KEYWORDS: Final = frozenset(
    (
        *("additionalProperties", "propertyNames", "unevaluatedProperties", "items", "contains", "unevaluatedItems"),
        *("not", "if", "then", "else", "contentSchema"),
    )
)
"""Keywords whose value is a schema (JSON Schema 2020-12)."""

SCHEMA_LIST_KEYWORDS: Final = frozenset(("allOf", "anyOf", "oneOf", "prefixItems"))
"""Keywords whose value is a list of schemas."""


@dataclass(frozen=True, slots=True)
class LocatedSchema:
    """A schema inside a file.

    Attributes:
        file: the file, relative to the root of the tree.
        pointer: the JSON pointer of the schema in the file.
        base: the URI that its references are relative to.
        schema: the schema.
    """

    file: str
    pointer: str
    base: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Reference:
    """A ``$ref`` of a schema.

    Attributes:
        file, pointer: the position of the schema that contains the ``$ref``.
        ref: the text of the ``$ref``.
        target: the file that it refers to, or None for a file outside of the tree.
        target_pointer: the JSON pointer in that file.
        found: True if there is a schema at that pointer.
    """

    file: str
    pointer: str
    ref: str
    target: str | None
    target_pointer: str = ""
    found: bool = False


class Tree:
    """The schema files below a folder, each read once."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.schemas = table_of(root).schemas
        self.listed = tuple(file for schema in self.schemas for file in schema.files)
        self.files = tuple(file for file in list_files(root) if file.partition("/")[0] not in OWN_FOLDERS)

    @cached_property
    def _documents_and_faults(self) -> tuple[dict[str, dict[str, Any]], dict[str, tuple[str, str]]]:
        documents: dict[str, dict[str, Any]] = {}
        faults: dict[str, tuple[str, str]] = {}
        for file in self.listed:
            if file not in self._files_on_disk:
                continue
            data, rule, fault = read_bytes(self.root / file, MAX_BYTES)
            value, flaw = parse_document(data) if not fault else (None, "")
            if fault or flaw:
                faults[file] = (rule or "json", fault or flaw)
            elif not isinstance(value, dict):
                faults[file] = ("json", "is not a JSON object")
            else:
                documents[file] = value
        return documents, faults

    @cached_property
    def _files_on_disk(self) -> frozenset[str]:
        return frozenset(self.files)

    @property
    def documents(self) -> dict[str, dict[str, Any]]:
        """The parsed content of every readable file of the table, by file name."""
        return self._documents_and_faults[0]

    @property
    def faults(self) -> dict[str, tuple[str, str]]:
        """The violated rule and the message for each unreadable file of the table, by file name."""
        return self._documents_and_faults[1]

    @property
    def is_complete(self) -> bool:
        """True if every file of the table could be read."""
        return len(self.documents) == len(self.listed)

    @cached_property
    def located_schemas(self) -> tuple[LocatedSchema, ...]:
        """Every schema inside every file."""
        return tuple(
            place
            for file, document in self.documents.items()
            for place in _find_schemas(file, "", BASE_URI + file, document)
        )

    @cached_property
    def _positions_by_id(self) -> dict[str, tuple[str, str]]:
        """The file and the pointer of each schema with an ``$id``, by this id."""
        embedded = {place.base: (place.file, place.pointer) for place in self.located_schemas if "$id" in place.schema}
        return embedded | {BASE_URI + file: (file, "") for file in self.listed}

    @cached_property
    def references(self) -> tuple[Reference, ...]:
        """Every ``$ref`` of every file, with its target."""
        return tuple(self._follow(place) for place in self.located_schemas if isinstance(place.schema.get("$ref"), str))

    def _follow(self, place: LocatedSchema) -> Reference:
        ref: str = place.schema["$ref"]
        try:
            uri, _, fragment = urljoin(place.base, ref).partition("#")
        except ValueError:
            return Reference(place.file, place.pointer, ref, None)
        if uri not in self._positions_by_id:
            return Reference(place.file, place.pointer, ref, None)
        file, start = self._positions_by_id[uri]
        pointer = (
            start + unquote(fragment) if not fragment or fragment[0] == "/" else self._follow_anchor(uri, fragment)
        )
        found = pointer is not None and isinstance(value_at(self.documents.get(file), pointer), dict | bool)
        return Reference(place.file, place.pointer, ref, file, pointer or "", found)

    def _follow_anchor(self, uri: str, anchor: str) -> str | None:
        anchors = (("$anchor", place) for place in self.located_schemas if place.base == uri)
        return next((place.pointer for key, place in anchors if place.schema.get(key) == anchor), None)


def _find_schemas(file: str, pointer: str, base: str, schema: Any) -> Iterator[LocatedSchema]:
    if not isinstance(schema, dict):
        return
    if pointer and isinstance(schema.get("$id"), str):
        base = urljoin(base, schema["$id"])
    yield LocatedSchema(file, pointer, base, schema)
    for key, value in schema.items():
        below = f"{pointer}/{escape_key(key)}"
        if key in SCHEMA_KEYWORDS:
            yield from _find_schemas(file, below, base, value)
        elif key in SCHEMA_LIST_KEYWORDS and isinstance(value, list):
            for index, item in enumerate(value):
                yield from _find_schemas(file, f"{below}/{index}", base, item)
        elif key in SCHEMA_MAP_KEYWORDS and isinstance(value, dict):
            for name, item in value.items():
                yield from _find_schemas(file, f"{below}/{escape_key(name)}", base, item)
