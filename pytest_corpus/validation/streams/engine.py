"""The public engine of stream validation: it takes frames or bytes as they arrive, and returns a report."""

import copy
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol, TypedDict, Unpack

import orjson

from pytest_corpus.spec.words import MAX_FRAME_BYTES
from pytest_corpus.text.problems import TOO_DEEP, Problem, json_problems
from pytest_corpus.text.strict_json import Fault, parse, write_json
from pytest_corpus.validation.schema.registry import SchemaRegistry, registry
from pytest_corpus.validation.streams.config import (
    MAX_ERRORS,
    ErrorType,
    Framing,
    StreamReport,
    ValidationConfig,
    ValidationMode,
    plan_of,
)
from pytest_corpus.validation.streams.machine import EVENTS, StreamMachine
from pytest_corpus.validation.streams.transport import NdjsonReader, Payloads, Reader, SseReader

BLOCK_BYTES = 262_144
"""The size of the pieces in which a large source is read."""


class Readable(Protocol):
    """A file opened for bytes or for text."""

    def read(self, size: int, /) -> bytes | str: ...


Bytes = bytes | bytearray | memoryview | str
"""A part of a byte stream; text is encoded as UTF-8."""

Source = Bytes | Readable | Iterable[Bytes]
"""A complete byte stream: in one piece, as an open file, or in several pieces."""


class StreamValidationEngine:
    """Validates one stream as it arrives: `feed` frames or the bytes of one transport, then call `finish`.

    Memory is bounded for any input: at most one incomplete frame is kept, and the configured number of defects.

    Args:
        component: the component of the stream, or a complete `ValidationConfig`.
        edition, max_frame_bytes, framing, mode: as in `ValidationConfig`.
        schemas: a registry; by default the shared one.

    Raises:
        ValueError, UnknownEditionError, UnknownSchemaError: as `ValidationConfig`.
        UnknownSchemaError: the component's overlay frames have no schema.
        SchemaFileError: a schema file is broken.
    """

    def __init__(
        self,
        component: str | ValidationConfig,
        edition: str | None = None,
        max_frame_bytes: int = MAX_FRAME_BYTES,
        framing: Framing = "canonical",
        mode: ValidationMode | str = ValidationMode.STRICT,
        *,
        schemas: SchemaRegistry | None = None,
    ) -> None:
        if isinstance(component, ValidationConfig):
            self.config = component
        else:
            self.config = ValidationConfig(None, component, mode, max_frame_bytes, 0.1, edition, framing)
        self._schemas = schemas or registry()
        plan = plan_of(self._schemas, self.config.component, self.config.edition, self.config.framing)
        self._machine = StreamMachine(self.config, plan, self._schemas)
        self._reader: Reader | None = None

    def feed(self, frame: object, *, size: int | None = None) -> None:
        """Validate the next frame; `size` is its length in bytes, if it arrived as bytes."""
        machine = self._machine
        if isinstance(frame, Mapping) and not isinstance(frame, dict):
            frame = dict(frame)
        if machine.terminal or not isinstance(frame, dict):
            machine.check_frame(frame)
            return
        text = write_json(frame)
        before = machine.defects
        machine.check_frame(frame, _frame_size(frame, text, self.config.max_frame_bytes) if size is None else size)
        if machine.defects == before and (problem := _first_json_fault(frame, text)):
            error_type = ErrorType.FRAME_DEPTH if problem.message == TOO_DEEP else ErrorType.FRAME_JSON
            machine.add_defect(error_type, problem.message, problem.path)

    def feed_ndjson(self, data: Bytes) -> None:
        """Validate the next bytes of newline-delimited JSON, split at any position."""
        self._feed_bytes(data, NdjsonReader)

    def feed_sse(self, data: Bytes) -> None:
        """Validate the next bytes of server-sent events, split at any position."""
        self._feed_bytes(data, SseReader)

    def finish(self) -> StreamReport:
        """Return the report on the stream so far, as if it ended here; more frames may follow."""
        reader = self._reader
        if reader is None or not (rest := reader.frames_of(reader.remaining_payloads())):
            return self._machine.report()
        ended = copy.copy(self)
        ended._machine = self._machine.copy()
        before = ended._machine.defects
        ended._take(rest, reader)
        if reader.rest_is_lost and ended._machine.defects == before:
            ended._machine.add_defect(ErrorType.UNFINISHED_EVENT, "is not ended by a blank line; clients discard it")
        return ended._machine.report()

    def validate_ndjson(self, source: Source) -> StreamReport:
        """Validate a complete stream of newline-delimited JSON, independent of this engine's stream."""
        return StreamValidationEngine(self.config, schemas=self._schemas).read_ndjson(source)

    def validate_sse(self, source: Source) -> StreamReport:
        """Validate a complete stream of server-sent events, independent of this engine's stream."""
        return StreamValidationEngine(self.config, schemas=self._schemas).read_sse(source)

    def validate_frames(self, frames: Iterable[object]) -> StreamReport:
        """Validate a complete stream of frames, independent of this engine's stream."""
        return StreamValidationEngine(self.config, schemas=self._schemas).read_frames(frames)

    def read_ndjson(self, source: Source) -> StreamReport:
        """Validate the remaining bytes of this stream as newline-delimited JSON, and return the report."""
        if isinstance(source, str):
            source = source if source.endswith("\n") or len(source) > BLOCK_BYTES else source + "\n"
        elif isinstance(source, bytes):
            source = source if source.endswith(b"\n") or len(source) > BLOCK_BYTES else source + b"\n"
        for data in _read_pieces(source):
            self.feed_ndjson(data)
        return self.finish()

    def read_sse(self, source: Source) -> StreamReport:
        """Validate the remaining bytes of this stream as server-sent events, and return the report."""
        for data in _read_pieces(source):
            self.feed_sse(data)
        return self.finish()

    def read_frames(self, frames: Iterable[object]) -> StreamReport:
        """Validate the remaining frames of this stream, and return the report."""
        for frame in frames:
            self.feed(frame)
        return self.finish()

    def _feed_bytes(self, data: Bytes, kind: type[Reader]) -> None:
        if self._reader is None:
            self._reader = kind(self.config.max_frame_bytes)
        reader = self._reader
        if not isinstance(reader, kind):
            raise ValueError("an engine reads one transport; make another for another stream")
        for piece in _split_into_blocks(data):
            if payloads := reader.feed(piece):
                self._take(payloads, reader)

    def _take(self, payloads: Payloads, reader: Reader) -> None:
        """Validate payloads: try all at once, then all but the last at once, and finally one by one."""
        if len(payloads) > 1 and self._accept_valid_payloads(payloads):
            return
        frames = reader.frames_of(payloads)
        if 1 < len(frames) < len(payloads) and self._accept_valid_payloads(frames):
            return
        first = len(frames) - 1 if len(frames) > 1 and self._accept_valid_payloads(frames[:-1]) else 0
        for index in range(first, len(frames)):
            if self._machine.terminal:
                self._machine.skip_frames(len(frames) - index)
                return
            self._validate_payload(frames[index], reader.events[index] if reader.events else "")

    def _accept_valid_payloads(self, payloads: Payloads) -> bool:
        """Count payloads that a fast check finds valid, and return True; otherwise return False without counting."""
        if self._machine.terminal:
            return False
        try:
            frames = [orjson.loads(payload) for payload in payloads]  # type: ignore[arg-type]
        except orjson.JSONDecodeError:  # also for None
            return False
        return self._machine.accept(payloads, frames)  # type: ignore[arg-type]

    def _validate_payload(self, payload: bytes | None, event: str) -> None:
        if payload is None:
            limit = self.config.max_frame_bytes
            self._machine.report_unreadable(ErrorType.FRAME_SIZE, f"measures more than {limit} bytes")
            return
        value, flaw = parse(payload, closely=self._machine.must_validate_next)
        if self.config.framing == "event" and event in EVENTS and not (isinstance(value, dict) and "event" in value):
            value = {"event": event, "data": value}
        if flaw:
            self._machine.report_unreadable(_ERROR_TYPES[flaw.fault], flaw.message, flaw.path, value)
        else:
            self._machine.check_frame(value)


_ERROR_TYPES = {
    Fault.UTF8: ErrorType.FRAME_UTF8,
    Fault.SYNTAX: ErrorType.FRAME_JSON,
    Fault.DUPLICATE_KEY: ErrorType.DUPLICATE_KEY,
    Fault.DEPTH: ErrorType.FRAME_DEPTH,
}


def _read_pieces(source: Source) -> Iterator[Bytes]:
    if isinstance(source, str | bytes | bytearray | memoryview):
        yield source
    elif hasattr(source, "read"):
        while data := source.read(BLOCK_BYTES):
            yield data
    elif isinstance(source, Iterable):
        yield from source
    else:
        raise TypeError(f"a stream is bytes, text, an open file or pieces of these, not {type(source).__name__}")


def _split_into_blocks(data: Bytes) -> Iterator[bytes]:
    """Yield data as bytes, in blocks of limited size."""
    if not isinstance(data, str | bytes | bytearray | memoryview):
        raise TypeError(f"a piece of a stream is bytes or text, not {type(data).__name__}")
    for start in range(0, len(data), BLOCK_BYTES):
        piece = data[start : start + BLOCK_BYTES] if len(data) > BLOCK_BYTES else data
        # A lone surrogate becomes invalid UTF-8, which the frame's check reports.
        yield piece.encode("utf-8", "surrogatepass") if isinstance(piece, str) else bytes(piece)


_STRICT = json.JSONEncoder(allow_nan=False)


def _frame_size(frame: dict[Any, Any], text: bytes | None, limit: int) -> int:
    """Return the size of a frame as compact UTF-8 JSON, or the length of `text` if that is far below the limit.

    `text` is the frame as it arrived, or None.
    """
    # The same number may have texts of different lengths, but none is twice as long.
    if text is not None and 2 * len(text) <= limit:
        return len(text)
    try:
        return len(json.dumps(frame, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass"))
    except (TypeError, ValueError, RecursionError):
        return 0  # not JSON; the schemas report it


def _first_json_fault(frame: dict[Any, Any], text: bytes | None) -> Problem | None:
    """Return the fault of the first invalid JSON value in a frame, or None. `text` is the frame as it arrived."""
    if text is not None:
        if b"null" not in text:
            return None
        try:
            _STRICT.encode(frame)
        except (TypeError, ValueError):
            pass
        else:
            return None
    return next(iter(json_problems(frame)), None)


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
    """Validate a complete stream of frames, as `json.loads` returns them; the arguments are those of
    `ValidationConfig`.
    """
    options = (mode, max_frame_bytes, sample_rate, edition, framing, max_errors)
    return StreamValidationEngine(ValidationConfig(envelope_schema_id, component, *options)).read_frames(frames)


class StreamOptions(TypedDict, total=False):
    """The keyword arguments of `ValidationConfig` that byte streams accept."""

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
    **options: Unpack[StreamOptions],
) -> StreamReport:
    """Validate a complete stream of newline-delimited JSON: bytes, text, an open file, or pieces of bytes or text.

    Lines end with LF or CR LF; blank lines are skipped.
    """
    return StreamValidationEngine(ValidationConfig(envelope_schema_id, component, mode, **options)).read_ndjson(source)


def validate_sse_stream(
    source: Source,
    envelope_schema_id: str | None = None,
    component: str = "",
    mode: ValidationMode | str = ValidationMode.STRICT,
    **options: Unpack[StreamOptions],
) -> StreamReport:
    """Validate a complete stream of server-sent events; the ``data`` of each is one frame (SPECIFICATION 4.2.4.2).

    With ``framing="event"`` a frame is an ``{event, data}`` object, or the ``event`` field together with the data.
    """
    return StreamValidationEngine(ValidationConfig(envelope_schema_id, component, mode, **options)).read_sse(source)
