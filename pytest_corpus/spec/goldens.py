"""Every golden file, and what it must be valid under (SCHEMA 7; R40, R41)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pytest_corpus.spec.schemas import BY_NAME, EDITIONS


@dataclass(frozen=True, slots=True)
class Golden:
    """One golden file.

    Attributes:
        file: where it lies, relative to ``golden/``.
        schema: short name of the schema of the document; of an NDJSON file, of each line.
        editions: the editions under which it must be valid.
        also: schemas that it meets too, in those of its editions that have them.
        last_line: the schema of an NDJSON file's last line where that is another.
    """

    file: str
    schema: str
    editions: tuple[str, ...] = EDITIONS
    also: tuple[str, ...] = ()
    last_line: str | None = None

    @property
    def component(self) -> str:
        return self.file.partition("/")[0]

    @property
    def is_stream(self) -> bool:
        """Whether it is NDJSON, one frame a line."""
        return self.file.endswith(".ndjson")

    def checks(self, *, last_line: bool = False) -> Iterator[tuple[str, str]]:
        """Every (schema, edition) that the document or a line of it, perhaps the last, must meet."""
        schemas = (self.last_line,) if last_line and self.last_line else (self.schema, *self.also)
        for schema in schemas:
            for edition in self.editions:
                if edition in BY_NAME[schema].editions:
                    yield schema, edition


_FRAMES = ("1.1.0",)
"""Canonical frames are valid from this edition on (R3)."""


def _exchange(component: str, operation: str) -> tuple[Golden, Golden]:
    """The request and the success golden of one operation, in the plain naming of SCHEMA 7.2."""
    return (
        Golden(
            f"{component}/{component}_{operation}_request.json",
            f"{component}.envelope.request",
            also=(f"{component}.{operation}.request",),
        ),
        Golden(
            f"{component}/{component}_{operation}_success.json",
            f"{component}.envelope.success",
            also=(f"{component}.{operation}.success",),
        ),
    )


def _type(component: str, name: str) -> Golden:
    """The golden of one type."""
    return Golden(f"{component}/{component}_types_{name}.json", f"{component}.types.{name}")


def _overlay(component: str, event: str) -> Golden:
    """The golden of one overlay frame, which is a line of the overlay's NDJSON too."""
    return Golden(
        f"{component}/{component}_stream_frame_{event}.json",
        f"{component}.stream.frame.{event}",
        also=(f"{component}.stream.frames.ndjson.schema",),
    )


_LLM = (
    *_exchange("llm", "capabilities"),
    *_exchange("llm", "complete"),
    *_exchange("llm", "count_tokens"),
    *_exchange("llm", "health"),
    Golden("llm/llm_error_envelope.json", "llm.envelope.error", also=("common.envelope.error",)),
    Golden("llm/llm_response_format.json", "llm.response_format"),
    Golden("llm/llm_sampling_params.json", "llm.sampling.params"),
    Golden("llm/llm_stream.ndjson", "llm.stream.frame", _FRAMES, ("llm.envelope.stream.success",)),
    Golden("llm/llm_stream_chunk.json", "llm.stream.frame", _FRAMES, ("llm.envelope.stream.success",)),
    Golden("llm/llm_stream_error.ndjson", "llm.stream.frame", _FRAMES, last_line="llm.envelope.error"),
    _overlay("llm", "data"),
    _overlay("llm", "end"),
    _overlay("llm", "error"),
    Golden("llm/llm_tools_schema.json", "llm.tools.schema"),
    _type("llm", "chunk"),
    _type("llm", "completion"),
    _type("llm", "logprobs"),
    _type("llm", "message"),
    _type("llm", "token_usage"),
    _type("llm", "tool"),
    _type("llm", "warning"),
)

GOLDENS = _LLM
"""Every golden, folder by folder."""
