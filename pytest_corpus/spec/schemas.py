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
        return f"{self.component}/{self.stem}{suffix}.json"

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
        "llm.stream.frame.data",
        "llm.stream.frame.end",
        "llm.stream.frame.error",
        "llm.stream.frames.ndjson.schema",
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
)
"""Every schema, folder by folder."""

BY_NAME = {schema.name: schema for schema in SCHEMAS}
