"""Validate streams: frames, newline-delimited JSON, server-sent events (SCHEMA 5 and 6.2).

    report = validate_ndjson_stream(body, component="llm", mode="strict")
    print(report.is_valid, report.error_summary)

A stream has ``{ok, code, ms, chunk}`` frames with code ``STREAMING`` and ends with a frame whose
``chunk.is_final`` is true, or with an error envelope (SPECIFICATION 4.2.3; R1, R2, R4). Whatever is in a stream
becomes an error of the report; only wrong arguments raise, and what the caller's own source raises.

What arrives bit by bit goes into a `StreamValidationEngine`, whose memory stays bounded.
"""

from pytest_corpus.spec.wire_format import MAX_FRAME_BYTES
from pytest_corpus.validation.streams.config import MAX_ERRORS, Framing, ValidationConfig, ValidationMode
from pytest_corpus.validation.streams.engine import Bytes, Source, StreamValidationEngine
from pytest_corpus.validation.streams.frame_rules import EVENT_KEYS, EVENTS
from pytest_corpus.validation.streams.plan import FRAME_KEYS, STREAMING
from pytest_corpus.validation.streams.report import ErrorType, FrameError, StreamReport, Terminal
from pytest_corpus.validation.streams.validate import validate_frames, validate_ndjson_stream, validate_sse_stream

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

if __name__ == "__main__":
    from pytest_corpus.cli import stream_validator

    raise SystemExit(stream_validator())
