"""Validate streams: frames, newline-delimited JSON, server-sent events (SCHEMA 5 and 6.2).

    report = validate_ndjson_stream(body, component="llm", mode="strict")
    print(report.is_valid, report.error_summary)

A stream has ``{ok, code, ms, chunk}`` frames with code ``STREAMING`` and ends with a frame whose
``chunk.is_final`` is true, or with an error envelope (SPECIFICATION 4.2.3; R1, R2, R4). Whatever is in a stream
becomes an error of the report; only wrong arguments raise, and what the caller's own source raises.

What arrives bit by bit goes into a `StreamValidationEngine`, whose memory stays bounded.
"""

from __future__ import annotations

from collections.abc import Iterable

from pytest_corpus.streams.config import (
    MAX_ERRORS,
    MAX_FRAME_BYTES,
    Framing,
    ValidationConfig,
    ValidationMode,
)
from pytest_corpus.streams.engine import Bytes, Source, StreamValidationEngine
from pytest_corpus.streams.machine import EVENT_KEYS, EVENTS
from pytest_corpus.streams.plan import FRAME_KEYS, STREAMING
from pytest_corpus.streams.report import ErrorType, FrameError, StreamReport, Terminal

__all__ = [
    "EVENTS",
    "EVENT_KEYS",
    "FRAME_KEYS",
    "MAX_ERRORS",
    "MAX_FRAME_BYTES",
    "STREAMING",
    "Bytes",
    "ErrorType",
    "FrameError",
    "Framing",
    "Source",
    "StreamReport",
    "StreamValidationEngine",
    "Terminal",
    "ValidationConfig",
    "ValidationMode",
    "validate_frames",
    "validate_ndjson_stream",
    "validate_sse_stream",
]


def validate_frames(
    frames: Iterable[object],
    component: str = "",
    edition: str | None = None,
    max_frame_bytes: int = MAX_FRAME_BYTES,
    framing: Framing = "canonical",
    *,
    envelope_schema_id: str | None = None,
    mode: ValidationMode | str = ValidationMode.STRICT,
    sample_rate: float = 0.1,
    max_errors: int = MAX_ERRORS,
) -> StreamReport:
    """Check a whole stream of frames, in the shapes of `json.loads`; the arguments are those of `ValidationConfig`."""
    config = ValidationConfig(
        envelope_schema_id, component, mode, max_frame_bytes, sample_rate, edition, framing, max_errors
    )
    return StreamValidationEngine(config).read_frames(frames)


def validate_ndjson_stream(
    source: Source,
    envelope_schema_id: str | None = None,
    component: str = "",
    mode: ValidationMode | str = ValidationMode.STRICT,
    *,
    max_frame_bytes: int = MAX_FRAME_BYTES,
    sample_rate: float = 0.1,
    edition: str | None = None,
    framing: Framing = "canonical",
    max_errors: int = MAX_ERRORS,
) -> StreamReport:
    """Check a whole stream of newline-delimited JSON: bytes, text, an open file, or pieces of bytes or text.

    Lines end with LF or CR LF; those of white space alone are skipped.
    """
    config = ValidationConfig(
        envelope_schema_id, component, mode, max_frame_bytes, sample_rate, edition, framing, max_errors
    )
    return StreamValidationEngine(config).read_ndjson(source)


def validate_sse_stream(
    source: Source,
    envelope_schema_id: str | None = None,
    component: str = "",
    mode: ValidationMode | str = ValidationMode.STRICT,
    *,
    max_frame_bytes: int = MAX_FRAME_BYTES,
    sample_rate: float = 0.1,
    edition: str | None = None,
    framing: Framing = "canonical",
    max_errors: int = MAX_ERRORS,
) -> StreamReport:
    """Check a whole stream of server-sent events, each of whose ``data`` is one frame (SPECIFICATION 4.2.4.2).

    With ``framing="event"`` a frame is an ``{event, data}`` object, or the ``event`` field and the data beside it.
    """
    config = ValidationConfig(
        envelope_schema_id, component, mode, max_frame_bytes, sample_rate, edition, framing, max_errors
    )
    return StreamValidationEngine(config).read_sse(source)


if __name__ == "__main__":
    from pytest_corpus.cli import stream_validator

    raise SystemExit(stream_validator())
