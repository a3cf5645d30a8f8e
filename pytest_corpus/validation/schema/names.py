"""The names of schemas, and what they mean (SCHEMA 2.3, 6.1, 10.1)."""

import re
from collections.abc import Iterator
from dataclasses import replace
from difflib import get_close_matches
from functools import cache, cached_property
from pathlib import Path
from typing import Final

from pytest_corpus import resources
from pytest_corpus.spec.schemas import BASE_URI, EDITIONS, LATEST, OWN_FOLDERS, SCHEMAS, SchemaFile
from pytest_corpus.validation.schema.exceptions import UnknownEditionError, UnknownSchemaError

VERSION_MARK = "#version/"
"""Between a name and the edition that it pins (SCHEMA 10.1)."""

_VERSIONED: Final = re.compile(r"(.+)\.v([0-9]+\.[0-9]+)")


def edition_of(edition: str | None) -> str:
    """The edition that is meant; None is the newest. Raises UnknownEditionError."""
    if edition is None:
        return LATEST
    if edition not in EDITIONS:
        raise UnknownEditionError(edition)
    return edition


class SchemaTable:
    """The schemas of one folder, and what they may be called."""

    def __init__(self, schemas: tuple[SchemaFile, ...]) -> None:
        self.schemas = schemas

    def find_schema(self, name: str) -> tuple[SchemaFile, str | None]:
        """The schema that a name means, and the edition it pins. Raises UnknownSchemaError, UnknownEditionError."""
        stem, mark, version = name.partition(VERSION_MARK)
        if stem not in self._aliases:
            raise UnknownSchemaError(name, suggestions=self._nearest(stem))
        schema, pinned = self._aliases[stem]
        if not mark:
            return schema, pinned
        wanted = edition_of(version)
        if not _has(schema, pinned, wanted):
            raise UnknownSchemaError(name, wanted, schema)
        return schema, wanted

    def resolve(self, name: str, edition: str | None) -> tuple[SchemaFile, str]:
        """The schema that a name means, and an edition of its file. Raises UnknownSchemaError, UnknownEditionError."""
        wanted = edition_of(edition)
        schema, pinned = self.find_schema(name)
        if edition is None and pinned:
            return schema, pinned
        if not _has(schema, pinned, wanted):
            raise UnknownSchemaError(name, wanted, schema)
        return schema, wanted

    def editions_of(self, name: str) -> tuple[SchemaFile, tuple[str, ...]]:
        """The schema that a name means, and the editions of its file, oldest first. Raises UnknownSchemaError."""
        schema, pinned = self.find_schema(name)
        return schema, tuple(edition for edition in schema.editions if _has(schema, pinned, edition))

    @cached_property
    def _aliases(self) -> dict[str, tuple[SchemaFile, str | None]]:
        """Everything that a schema may be called -> it, and the edition that a version in the name pins."""
        aliases: dict[str, tuple[SchemaFile, str | None]] = {}
        for schema in reversed(self.schemas):  # where a folder's own file has the name of a protocol's, that wins
            for own, file in zip(schema.own, schema.files, strict=True):
                meant = (schema, None if own == schema.own[0] else own)
                file_name = file.rpartition("/")[2]
                aliases |= dict.fromkeys((BASE_URI + file, file, file_name, file_name.removesuffix(".json")), meant)
            aliases[schema.name] = (schema, None)
        return aliases

    def _nearest(self, name: str) -> tuple[str, ...]:
        stem = name.removeprefix(BASE_URI).rpartition("/")[2].removesuffix(".json")
        return tuple(get_close_matches(stem, [schema.name for schema in self.schemas], n=2, cutoff=0.6))


SHIPPED: Final = SchemaTable(SCHEMAS)
"""The schemas of the protocol."""

find_schema = SHIPPED.find_schema


def table_of(root: Path) -> SchemaTable:
    """The schemas of a folder: those of the protocol, and any other files of a user's folder (SCHEMA 6.1).

    A file next to one of the protocol's that names an edition (``llm.response_format.v1.1.json``) is the file of
    that edition; any other is a schema of its own name, in every edition. The shipped folder has only the
    protocol's.
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
        if elder and edition in EDITIONS and edition > elder.own[-1]:
            rows[folder, elder.stem] = replace(elder, own=(*elder.own, edition))
        else:
            rows[folder, stem] = SchemaFile(folder, stem, EDITIONS[:1])
    return SchemaTable(tuple(rows.values()))


@cache
def _shipped_root() -> Path:
    return resources.folder("schemas").resolve()


def _new_files(root: Path) -> Iterator[str]:
    """Every ``*.json`` below a folder that is not a file of the protocol, shorter names first."""
    known = {file for schema in SCHEMAS for file in schema.files}
    found = (path.relative_to(root).parts for path in root.rglob("*.json") if path.is_file())
    for parts in sorted(found, key=lambda each: (len(each[-1]), each)):
        hidden = any(part.startswith(".") for part in parts)
        if parts[0] not in OWN_FOLDERS and not hidden and "/".join(parts) not in known:
            yield "/".join(parts)


def _has(schema: SchemaFile, pinned: str | None, edition: str) -> bool:
    return edition in schema.editions and (pinned is None or schema.file(edition) == schema.file(pinned))
