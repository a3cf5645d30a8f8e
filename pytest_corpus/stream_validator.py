"""Validate streams: frames, newline-delimited JSON, server-sent events (SCHEMA 5 and 6.2).

    report = validate_ndjson_stream(body, component="llm", mode="strict")
    print(report.is_valid, report.error_summary)

A stream has ``{ok, code, ms, chunk}`` frames with code ``STREAMING`` and ends with a frame whose
``chunk.is_final`` is true, or with an error envelope (SPECIFICATION 4.2.3; R1, R2, R4). Faults of a stream are
errors in the report; only wrong arguments and the caller's own source raise exceptions.

For a stream that arrives in pieces, use `StreamValidationEngine`, whose memory stays bounded.
"""

from pytest_corpus.spec.words import MAX_FRAME_BYTES as MAX_FRAME_BYTES
from pytest_corpus.validation.streams.config import FRAME_KEYS as FRAME_KEYS
from pytest_corpus.validation.streams.config import MAX_ERRORS as MAX_ERRORS
from pytest_corpus.validation.streams.config import STREAMING as STREAMING
from pytest_corpus.validation.streams.config import ErrorType as ErrorType
from pytest_corpus.validation.streams.config import FrameError as FrameError
from pytest_corpus.validation.streams.config import Framing as Framing
from pytest_corpus.validation.streams.config import StreamReport as StreamReport
from pytest_corpus.validation.streams.config import Terminal as Terminal
from pytest_corpus.validation.streams.config import ValidationConfig as ValidationConfig
from pytest_corpus.validation.streams.config import ValidationMode as ValidationMode
from pytest_corpus.validation.streams.engine import Bytes as Bytes
from pytest_corpus.validation.streams.engine import Source as Source
from pytest_corpus.validation.streams.engine import StreamValidationEngine as StreamValidationEngine
from pytest_corpus.validation.streams.engine import validate_frames as validate_frames
from pytest_corpus.validation.streams.engine import validate_ndjson_stream as validate_ndjson_stream
from pytest_corpus.validation.streams.engine import validate_sse_stream as validate_sse_stream
from pytest_corpus.validation.streams.machine import EVENT_KEYS as EVENT_KEYS
from pytest_corpus.validation.streams.machine import EVENTS as EVENTS

if __name__ == "__main__":
    from pytest_corpus.cli import run_stream_validator

    raise SystemExit(run_stream_validator())
