"""A tree of schema files: documents, the schemas inside them, their references; and findings about the tree."""

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
from pytest_corpus.validation.schema.files import NAMED, table_of


@dataclass(frozen=True, slots=True)
class LintFinding:
    """A fault in a tree of files.

    Attributes:
        file: the file, relative to the root of the tree.
        rule: the name of the violated rule.
        message: the fault and the remedy, without file content that may be a secret.
        path: the place: a JSON pointer in a schema, keys joined by dots in a golden; empty for the whole file.
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
        """The finding as an object with its four fields."""
        return asdict(self)


def root_of(given: Path | str | None, variable: str, name: str) -> Path:
    """The given folder, the folder in an environment variable, or the shipped one. Raises NotADirectoryError."""
    named = os.environ.get(variable) if given is None else None
    root = Path(given or named or resources.folder(name))
    if not root.is_dir():
        by = f", which {variable} names," if named else ""
        raise NotADirectoryError(f"{root}{by} is not a folder; name one that holds the files of {name}/")
    return root


def files_below(root: Path) -> tuple[str, ...]:
    """Every file below a folder, relative to it, in order, except files whose name begins with a dot."""
    found = (path.relative_to(root) for path in root.rglob("*") if not path.is_dir())
    return tuple(sorted(path.as_posix() for path in found if not any(part.startswith(".") for part in path.parts)))


def drift(listed: Iterable[str], found: Iterable[str], table: str) -> Iterator[LintFinding]:
    """Files of the table that are missing, and files that the table does not list (SCHEMA 7.3; R41)."""
    rows, files = set(listed), set(found)
    for file in sorted(rows - files):
        yield LintFinding(file, "missing", f"does not exist, but {table} lists it: restore the file")
    for file in sorted(files - rows):
        yield LintFinding(file, "orphaned", f"is not in {table}: add a row, or remove the file")


def read_bytes(path: Path, limit: int) -> tuple[bytes, str, str]:
    """The bytes of a file, or the violated rule and the reason: the file is unreadable or too large."""
    try:
        return bounded.contents(path, limit), "", ""
    except bounded.FileRefused as fault:
        return b"", "size" if fault.is_too_large else "json", fault.why


def parse_document(data: bytes) -> tuple[Any, str]:
    """Parse a JSON document: its value, and its fault or an empty text (RFC 8259, 7493)."""
    value, flaw = strict_json.read(data)
    return value, str(flaw or "")


MAX_BYTES: Final = 5 * 1024 * 1024
"""The most that one schema may measure (SCHEMA 8.3, 12.E)."""

ONE: Final = frozenset(
    (
        *("additionalProperties", "propertyNames", "unevaluatedProperties", "items", "contains", "unevaluatedItems"),
        *("not", "if", "then", "else", "contentSchema"),
    )
)
"""Keywords whose value is a schema (JSON Schema 2020-12)."""

MANY: Final = frozenset(("allOf", "anyOf", "oneOf", "prefixItems"))
"""Keywords whose value is a list of schemas."""


@dataclass(frozen=True, slots=True)
class SchemaPlace:
    """A schema inside a file: its JSON pointer, the base of its references, and the schema."""

    file: str
    pointer: str
    base: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Reference:
    """A ``$ref``: its place, its text, and its target file and pointer; None for a file outside of the tree.

    `found` is False if the file has no schema at the pointer.
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
        self.files = tuple(file for file in files_below(root) if file.partition("/")[0] not in OWN_FOLDERS)

    @cached_property
    def _read(self) -> tuple[dict[str, dict[str, Any]], dict[str, tuple[str, str]]]:
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
        """Every readable document of the table, by file."""
        return self._read[0]

    @property
    def faults(self) -> dict[str, tuple[str, str]]:
        """The violated rule and the message for each unreadable document, by file."""
        return self._read[1]

    @property
    def complete(self) -> bool:
        """True if every document of the table could be read."""
        return len(self.documents) == len(self.listed)

    @cached_property
    def places(self) -> tuple[SchemaPlace, ...]:
        """Every schema inside every document."""
        return tuple(
            place for file, document in self.documents.items() for place in _places(file, "", BASE_URI + file, document)
        )

    @cached_property
    def _ids(self) -> dict[str, tuple[str, str]]:
        """The place of each document by its registered ``$id``, and of each embedded ``$id``."""
        embedded = {place.base: (place.file, place.pointer) for place in self.places if "$id" in place.schema}
        return embedded | {BASE_URI + file: (file, "") for file in self.listed}

    @cached_property
    def references(self) -> tuple[Reference, ...]:
        """Every ``$ref`` of every document, followed."""
        return tuple(self._follow(place) for place in self.places if isinstance(place.schema.get("$ref"), str))

    def _follow(self, place: SchemaPlace) -> Reference:
        ref: str = place.schema["$ref"]
        try:
            uri, _, fragment = urljoin(place.base, ref).partition("#")
        except ValueError:
            return Reference(place.file, place.pointer, ref, None)
        if uri not in self._ids:
            return Reference(place.file, place.pointer, ref, None)
        file, start = self._ids[uri]
        pointer = (
            start + unquote(fragment) if not fragment or fragment[0] == "/" else self._follow_anchor(uri, fragment)
        )
        found = pointer is not None and isinstance(value_at(self.documents.get(file), pointer), dict | bool)
        return Reference(place.file, place.pointer, ref, file, pointer or "", found)

    def _follow_anchor(self, uri: str, anchor: str) -> str | None:
        anchors = (("$anchor", place) for place in self.places if place.base == uri)
        return next((place.pointer for key, place in anchors if place.schema.get(key) == anchor), None)


def _places(file: str, pointer: str, base: str, schema: Any) -> Iterator[SchemaPlace]:
    if not isinstance(schema, dict):
        return
    if pointer and isinstance(schema.get("$id"), str):
        base = urljoin(base, schema["$id"])
    yield SchemaPlace(file, pointer, base, schema)
    for key, value in schema.items():
        below = f"{pointer}/{escape_key(key)}"
        if key in ONE:
            yield from _places(file, below, base, value)
        elif key in MANY and isinstance(value, list):
            for index, item in enumerate(value):
                yield from _places(file, f"{below}/{index}", base, item)
        elif key in NAMED and isinstance(value, dict):
            for name, item in value.items():
                yield from _places(file, f"{below}/{escape_key(name)}", base, item)
