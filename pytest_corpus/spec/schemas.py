"""The table of all schema files of both editions (SCHEMA 2.1, 2.3; R3, R39, R40, R42).

A schema has a short name: its file name without ``.json``, with ``common.`` before it in the common folder. Its first
edition has the file ``<stem>.json``. A later edition that changes it adds ``<stem>.v<major.minor>.json`` next to it;
otherwise the file of the previous edition stays in use.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from pytest_corpus.spec.operations import OPERATIONS

SCHEMA_VERSIONS = ("1.0.0", "1.1.0")
"""Every edition, oldest first; each accepts everything that the previous one accepts."""

LATEST = SCHEMA_VERSIONS[-1]

BASE_URI = "https://corpusos.com/schemas/"
"""The first part of every ``$id`` (SCHEMA 2.3)."""

DIALECT = "https://json-schema.org/draft/2020-12/schema"
"""The value of every ``$schema`` (SCHEMA 8.1)."""

PRINTED_NAMES = ("item-code",)
"""Names of properties in the documents that are not in snake_case (ERRORS 10; R56)."""

OWN_FOLDERS = ("bundle", "report", "transcript")
"""Folders below ``schemas/`` with the schemas of this product's own files, which are not part of the protocol."""


@dataclass(frozen=True, slots=True)
class SchemaFile:
    """A schema: its folder, its file stem, and the editions that have a separate file for it."""

    component: str
    stem: str
    own: tuple[str, ...]

    @property
    def name(self) -> str:
        """The short name, e.g. ``llm.envelope.request`` or ``common.envelope.error``."""
        return f"common.{self.stem}" if self.component == "common" else self.stem

    @property
    def editions(self) -> tuple[str, ...]:
        """The editions that have the schema: its first edition and all later ones."""
        return SCHEMA_VERSIONS[SCHEMA_VERSIONS.index(self.own[0]) :]

    def file(self, edition: str = LATEST) -> str:
        """Return the file of the schema in an edition, relative to ``schemas/``. Raises LookupError if it has none."""
        if edition not in self.editions:
            raise LookupError(f"edition {edition} has no schema {self.name}")
        newest = [own for own in self.own if SCHEMA_VERSIONS.index(own) <= SCHEMA_VERSIONS.index(edition)][-1]
        suffix = "" if newest == self.own[0] else f".v{newest.rpartition('.')[0]}"
        return f"{self.component}/{self.stem}{suffix}.json".lstrip("/")

    @property
    def files(self) -> tuple[str, ...]:
        """Every file of the schema, oldest edition first."""
        return tuple(self.file(edition) for edition in self.own)


_BOTH = SCHEMA_VERSIONS
_PRINTED = SCHEMA_VERSIONS[:1]
_NEW = SCHEMA_VERSIONS[1:]

SHARED: dict[str, dict[tuple[str, ...], str]] = {
    "common": {
        _BOTH: "envelope.request envelope.success envelope.error operation_context",
        _NEW: "envelope.stream.success",
    },
    "llm": {
        _BOTH: """
            envelope.request envelope.success envelope.error complete.request sampling.params tools.schema
            stream.frame.data stream.frame.end stream.frame.error stream.frames.ndjson.schema types.chunk
            types.completion types.completion_spec types.logprobs types.message types.token_usage types.tool
            types.warning
        """,
        _PRINTED: "response_format",
        _NEW: "envelope.stream.success",
    },
    "vector": {
        _BOTH: """
            envelope.request envelope.success envelope.error types.failure_item types.filter
            types.partial_success_result types.query_result types.vector types.vector_match
        """
    },
    "embedding": {
        _BOTH: """
            envelope.request envelope.success envelope.error partial_success.result types.failure
            types.result types.vector types.warning
        """,
        _NEW: "envelope.stream.success types.chunk",
    },
    "graph": {
        _BOTH: """
            envelope.request envelope.success envelope.error stream.frame.data stream.frame.end
            stream.frame.error stream.frames.ndjson.schema types.entity types.partial_success_result
            types.row types.warning
        """,
        _PRINTED: "types.batch_op types.id",
        _NEW: "envelope.stream.success types.chunk types.write_result",
    },
}
"""The schemas of each folder except the schemas of operations, grouped by the editions that have files for them.

Names are written without the component; names in the folder ``common`` have no component.
"""


def _schemas_of(component: str, shared: dict[tuple[str, ...], str]) -> Iterator[SchemaFile]:
    """Yield the schemas of a folder: those in `SHARED`, then request and answer of each operation."""
    prefix = "" if component == "common" else f"{component}."
    listed = [SchemaFile(component, prefix + name, own) for own, names in shared.items() for name in names.split()]
    stems = [stem for row in OPERATIONS if row.component == component for stem in (row.request, row.answer)]
    yield from listed
    known = {schema.stem for schema in listed}
    yield from (SchemaFile(component, stem, _NEW) for stem in stems if stem not in known)


SCHEMAS = tuple(schema for component, shared in SHARED.items() for schema in _schemas_of(component, shared))
"""Every schema, folder by folder."""

BY_NAME = {schema.name: schema for schema in SCHEMAS}
