"""What a schema may be called, and what is meant (SCHEMA 2.3, 6.1, 10.1)."""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache

from pytest_corpus.spec.schemas import BASE_URI, BY_NAME, EDITIONS, LATEST, SCHEMAS, SchemaFile
from pytest_corpus.validation.schema.errors import UnknownEditionError, UnknownSchemaError

VERSION_MARK = "#version/"
"""Between a name and the edition that it pins (SCHEMA 10.1)."""


def edition_of(edition: str | None) -> str:
    """The edition that is meant; None is the newest.

    Raises:
        UnknownEditionError
    """
    if edition is None:
        return LATEST
    if edition not in EDITIONS:
        raise UnknownEditionError(edition)
    return edition


def find_schema(name: str) -> tuple[SchemaFile, str | None]:
    """What a name means: the schema, and the edition that a version in the name pins.

    Raises:
        UnknownSchemaError, UnknownEditionError
    """
    stem, mark, version = name.partition(VERSION_MARK)
    if stem not in _aliases():
        raise UnknownSchemaError(name, suggestions=_nearest(stem))
    schema, pinned = _aliases()[stem]
    if not mark:
        return schema, pinned
    wanted = edition_of(version)
    if not _has(schema, pinned, wanted):
        raise UnknownSchemaError(name, wanted, schema)
    return schema, wanted


def resolve(name: str, edition: str | None) -> tuple[SchemaFile, str]:
    """The schema that a name means, and an edition whose file of it is meant.

    Raises:
        UnknownSchemaError, UnknownEditionError
    """
    wanted = edition_of(edition)
    schema, pinned = find_schema(name)
    if edition is None and pinned:
        return schema, pinned
    if not _has(schema, pinned, wanted):
        raise UnknownSchemaError(name, wanted, schema)
    return schema, wanted


def editions_of(name: str) -> tuple[SchemaFile, tuple[str, ...]]:
    """The schema that a name means, and the editions whose file of it is meant, oldest first.

    Raises:
        UnknownSchemaError
    """
    schema, pinned = find_schema(name)
    return schema, tuple(edition for edition in schema.editions if _has(schema, pinned, edition))


def _has(schema: SchemaFile, pinned: str | None, edition: str) -> bool:
    return edition in schema.editions and (pinned is None or schema.file(edition) == schema.file(pinned))


@cache
def _aliases() -> dict[str, tuple[SchemaFile, str | None]]:
    """Everything that a schema may be called -> it, and the edition that a version in the name pins."""
    aliases: dict[str, tuple[SchemaFile, str | None]] = {}
    for schema in SCHEMAS:
        for own, file in zip(schema.own, schema.files, strict=True):
            meant = (schema, None if own == schema.own[0] else own)
            file_name = file.rpartition("/")[2]
            aliases |= dict.fromkeys((BASE_URI + file, file, file_name, file_name.removesuffix(".json")), meant)
        aliases[schema.name] = (schema, None)
    return aliases


def _nearest(name: str) -> tuple[str, ...]:
    stem = name.removeprefix(BASE_URI).rpartition("/")[2].removesuffix(".json")
    return tuple(get_close_matches(stem, BY_NAME, n=2, cutoff=0.6))
