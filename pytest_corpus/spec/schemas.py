"""Every schema file of both editions (SCHEMA 2.1, 2.3; R3, R39, R40, R42).

A schema has a short name: its file name without ``.json``, with ``common.`` before it in the common folder.
It is born in one edition as ``<stem>.json``; a later edition that changes it adds
``<stem>.v<major.minor>.json`` beside it, and one that does not change it uses the file of the edition before.
"""

from __future__ import annotations

from dataclasses import dataclass

EDITIONS = ("1.0.0", "1.1.0")
"""Every edition, oldest first; each accepts whatever the one before accepts."""

LATEST = EDITIONS[-1]

BASE_URI = "https://corpusos.com/schemas/"
"""What every ``$id`` begins with (SCHEMA 2.3)."""

DIALECT = "https://json-schema.org/draft/2020-12/schema"
"""What every ``$schema`` says (SCHEMA 8.1)."""

PRINTED_NAMES = ("item-code",)
"""Names of properties that a document prints though they are not in snake_case (ERRORS 10; R56)."""

OWN_FOLDERS = ("bundle", "report")
"""Folders below ``schemas/`` whose files describe what this product writes; they are not part of the protocol."""


@dataclass(frozen=True, slots=True)
class SchemaFile:
    """One schema: its folder, its file stem, and the editions that have a file of their own for it."""

    component: str
    stem: str
    own: tuple[str, ...]

    @property
    def name(self) -> str:
        """The short name, e.g. ``llm.envelope.request`` or ``common.envelope.error``."""
        return f"common.{self.stem}" if self.component == "common" else self.stem

    @property
    def editions(self) -> tuple[str, ...]:
        """The editions that know the schema: the one it was born in and every later one."""
        return EDITIONS[EDITIONS.index(self.own[0]) :]

    def file(self, edition: str = LATEST) -> str:
        """The file that holds the schema in an edition, relative to ``schemas/``.

        Raises:
            LookupError: the edition does not know the schema.
        """
        if edition not in self.editions:
            raise LookupError(f"edition {edition} has no schema {self.name}")
        newest = [own for own in self.own if EDITIONS.index(own) <= EDITIONS.index(edition)][-1]
        suffix = "" if newest == self.own[0] else f".v{newest.rpartition('.')[0]}"
        return f"{self.component}/{self.stem}{suffix}.json".lstrip("/")

    @property
    def files(self) -> tuple[str, ...]:
        """Every file of the schema, oldest edition first."""
        return tuple(self.file(edition) for edition in self.own)


_BOTH = EDITIONS
_PRINTED = EDITIONS[:1]
_NEW = EDITIONS[1:]


def _rows(component: str, own: tuple[str, ...], *stems: str) -> tuple[SchemaFile, ...]:
    return tuple(SchemaFile(component, stem, own) for stem in stems)


SCHEMAS = (
    *_rows(
        "common",
        _BOTH,
        "envelope.request",
        "envelope.success",
        "envelope.error",
        "operation_context",
    ),
    *_rows("common", _NEW, "envelope.stream.success"),
    *_rows(
        "llm",
        _BOTH,
        "llm.envelope.request",
        "llm.envelope.success",
        "llm.envelope.error",
        "llm.complete.request",
        "llm.sampling.params",
        "llm.tools.schema",
        "llm.stream.frame.data",
        "llm.stream.frame.end",
        "llm.stream.frame.error",
        "llm.stream.frames.ndjson.schema",
        "llm.types.chunk",
        "llm.types.completion",
        "llm.types.completion_spec",
        "llm.types.logprobs",
        "llm.types.message",
        "llm.types.token_usage",
        "llm.types.tool",
        "llm.types.warning",
    ),
    *_rows(
        "llm",
        _PRINTED,
        "llm.response_format",
    ),
    *_rows(
        "llm",
        _NEW,
        "llm.envelope.stream.success",
        "llm.capabilities.request",
        "llm.capabilities.success",
        "llm.complete.success",
        "llm.stream.request",
        "llm.stream.frame",
        "llm.count_tokens.request",
        "llm.count_tokens.success",
        "llm.health.request",
        "llm.health.success",
    ),
    *_rows(
        "vector",
        _BOTH,
        "vector.envelope.request",
        "vector.envelope.success",
        "vector.envelope.error",
        "vector.types.failure_item",
        "vector.types.filter",
        "vector.types.partial_success_result",
        "vector.types.query_result",
        "vector.types.vector",
        "vector.types.vector_match",
    ),
    *_rows(
        "vector",
        _NEW,
        "vector.capabilities.request",
        "vector.capabilities.success",
        "vector.query.request",
        "vector.query.success",
        "vector.batch_query.request",
        "vector.batch_query.success",
        "vector.upsert.request",
        "vector.upsert.success",
        "vector.delete.request",
        "vector.delete.success",
        "vector.create_namespace.request",
        "vector.create_namespace.success",
        "vector.delete_namespace.request",
        "vector.delete_namespace.success",
        "vector.health.request",
        "vector.health.success",
    ),
    *_rows(
        "embedding",
        _BOTH,
        "embedding.envelope.request",
        "embedding.envelope.success",
        "embedding.envelope.error",
        "embedding.partial_success.result",
        "embedding.types.failure",
        "embedding.types.result",
        "embedding.types.vector",
        "embedding.types.warning",
    ),
    *_rows(
        "embedding",
        _NEW,
        "embedding.envelope.stream.success",
        "embedding.types.chunk",
        "embedding.capabilities.request",
        "embedding.capabilities.success",
        "embedding.embed.request",
        "embedding.embed.success",
        "embedding.embed_batch.request",
        "embedding.embed_batch.success",
        "embedding.stream_embed.request",
        "embedding.stream_embed.frame",
        "embedding.count_tokens.request",
        "embedding.count_tokens.success",
        "embedding.get_stats.request",
        "embedding.get_stats.success",
        "embedding.health.request",
        "embedding.health.success",
    ),
    *_rows(
        "graph",
        _BOTH,
        "graph.envelope.request",
        "graph.envelope.success",
        "graph.envelope.error",
        "graph.stream.frame.data",
        "graph.stream.frame.end",
        "graph.stream.frame.error",
        "graph.stream.frames.ndjson.schema",
        "graph.types.entity",
        "graph.types.partial_success_result",
        "graph.types.row",
        "graph.types.warning",
    ),
    *_rows(
        "graph",
        _PRINTED,
        "graph.types.batch_op",
        "graph.types.id",
    ),
    *_rows(
        "graph",
        _NEW,
        "graph.envelope.stream.success",
        "graph.types.chunk",
        "graph.types.write_result",
        "graph.capabilities.request",
        "graph.capabilities.success",
        "graph.upsert_nodes.request",
        "graph.upsert_nodes.success",
        "graph.upsert_edges.request",
        "graph.upsert_edges.success",
        "graph.delete_nodes.request",
        "graph.delete_nodes.success",
        "graph.delete_edges.request",
        "graph.delete_edges.success",
        "graph.query.request",
        "graph.query.success",
        "graph.stream_query.request",
        "graph.stream_query.frame",
        "graph.bulk_vertices.request",
        "graph.bulk_vertices.success",
        "graph.batch.request",
        "graph.batch.success",
        "graph.get_schema.request",
        "graph.get_schema.success",
        "graph.health.request",
        "graph.health.success",
        "graph.transaction.request",
        "graph.transaction.success",
        "graph.traversal.request",
        "graph.traversal.success",
    ),
)
"""Every schema, folder by folder."""

BY_NAME = {schema.name: schema for schema in SCHEMAS}
