"""Functions that check a whole stream: frames, newline-delimited JSON, server-sent events."""

from collections.abc import Iterable
from typing import TypedDict, Unpack

from pytest_corpus.spec.wire_format import MAX_FRAME_BYTES
from pytest_corpus.validation.streams.config import MAX_ERRORS, Framing, ValidationConfig, ValidationMode
from pytest_corpus.validation.streams.engine import Source, StreamValidationEngine
from pytest_corpus.validation.streams.report import StreamReport


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
    options = (mode, max_frame_bytes, sample_rate, edition, framing, max_errors)
    return StreamValidationEngine(ValidationConfig(envelope_schema_id, component, *options)).read_frames(frames)


class Options(TypedDict, total=False):
    """The arguments of `ValidationConfig` that a stream of bytes takes by keyword."""

    max_frame_bytes: int
    sample_rate: float
    edition: str | None
    framing: Framing
    max_errors: int


def validate_ndjson_stream(
    source: Source,
    envelope_schema_id: str | None = None,
    component: str = "",
    mode: ValidationMode | str = ValidationMode.STRICT,
    **options: Unpack[Options],
) -> StreamReport:
    """Check a whole stream of newline-delimited JSON: bytes, text, an open file, or pieces of bytes or text.

    Lines end with LF or CR LF; those of white space alone are skipped.
    """
    return StreamValidationEngine(ValidationConfig(envelope_schema_id, component, mode, **options)).read_ndjson(source)


def validate_sse_stream(
    source: Source,
    envelope_schema_id: str | None = None,
    component: str = "",
    mode: ValidationMode | str = ValidationMode.STRICT,
    **options: Unpack[Options],
) -> StreamReport:
    """Check a whole stream of server-sent events, each of whose ``data`` is one frame (SPECIFICATION 4.2.4.2).

    With ``framing="event"`` a frame is an ``{event, data}`` object, or the ``event`` field with the data.
    """
    return StreamValidationEngine(ValidationConfig(envelope_schema_id, component, mode, **options)).read_sse(source)
