"""The state machine of a stream: canonical frames, one terminal, nothing after it (SPECIFICATION 4.2.3).

A stream is a sequence of ``{ok, code, ms, chunk}`` frames with code ``STREAMING``. It ends with a frame whose
``chunk.is_final`` is true, or with an error envelope (R1, R2, R4). The ``{event, data}`` overlay of gateways
(SPECIFICATION 4.2.3.5) is checked on request. One defect is one error, and no message repeats a value.
"""

from __future__ import annotations

import json
import marshal
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from pytest_corpus.schema_registry import Problem, SchemaRegistry, UnknownEditionError, registry
from pytest_corpus.spec.operations import operations_of
from pytest_corpus.spec.schemas import BY_NAME, EDITIONS

Framing = Literal["canonical", "event"]
Terminal = Literal["success", "error"]

FRAME_KEYS: Final = ("ok", "code", "ms", "chunk")
"""The keys of a success frame; there are no others (SPECIFICATION 4.2.1)."""

STREAMING: Final = "STREAMING"
"""The code of every success frame (SPECIFICATION 4.2.3.1)."""

MAX_FRAME_BYTES: Final = 1_048_576
"""The most that one frame may measure as UTF-8 JSON (SPECIFICATION 4.2.3.4)."""

EVENT_KEYS: Final = ("event", "data")
"""The keys of an overlay frame (SCHEMA 4.1.4)."""

EVENTS: Final = ("data", "end", "error")
"""The events of the overlay; the last two are terminal (SCHEMA 5.1)."""


class ErrorType:
    """What can be wrong with a stream; `FrameError.error_type` is one of these."""

    FRAME_TYPE: Final = "FRAME_TYPE"  # a frame that is no JSON object
    FRAMING: Final = "FRAMING"  # an overlay frame where canonical was expected, or the reverse
    FRAME_SHAPE: Final = "FRAME_SHAPE"  # a missing chunk, or keys that do not belong
    FRAME_OK: Final = "FRAME_OK"
    FRAME_CODE: Final = "FRAME_CODE"
    FRAME_MS: Final = "FRAME_MS"
    CHUNK_SCHEMA: Final = "CHUNK_SCHEMA"
    ERROR_ENVELOPE: Final = "ERROR_ENVELOPE"
    FRAME_SIZE: Final = "FRAME_SIZE"
    NO_TERMINAL: Final = "NO_TERMINAL"
    AFTER_TERMINAL: Final = "AFTER_TERMINAL"


@dataclass(frozen=True, slots=True)
class FrameError:
    """One defect: in frame `frame_number` (from 1; 0 is the stream), at `path` as in `Problem.path`."""

    frame_number: int
    error_type: str
    message: str
    path: str = ""

    def __str__(self) -> str:
        where = f"frame {self.frame_number}" if self.frame_number else "the stream"
        return f"{where}: {self.error_type}: {f'{self.path} ' if self.path else ''}{self.message}"


@dataclass(frozen=True, slots=True)
class StreamReport:
    """What a whole stream amounts to.

    Attributes:
        total_frames: all frames, those after the terminal included.
        frames_validated: the frames that were checked: up to the terminal, itself included.
        validation_errors: every defect, in the order of the frames.
        terminal: how the stream ended; None where no frame ended it.
    """

    total_frames: int
    frames_validated: int
    validation_errors: tuple[FrameError, ...]
    terminal: Terminal | None

    @property
    def is_valid(self) -> bool:
        """Whether the stream has no defect. A stream that ends with a proper error envelope is valid."""
        return not self.validation_errors

    @property
    def error_summary(self) -> str:
        """All defects, a line each; empty for a valid stream."""
        return "\n".join(str(error) for error in self.validation_errors)


class StreamValidationEngine:
    """Checks the frames of one stream as they come: `feed` each of them, then `finish`.

    Args:
        component: the component whose stream it is; it must have a streaming operation.
        edition: the schema edition that alone decides (R18); None accepts whatever any edition accepts. Where
            the pinned edition has no schema for the chunks, the first edition that has one decides on them.
        max_frame_bytes: the most that a frame may measure as UTF-8 JSON.
        framing: ``canonical`` for what adapters emit, ``event`` for the gateway overlay.
        schemas: another registry than the shared one.

    Raises:
        ValueError: the component does not stream, or the framing is unknown.
        UnknownEditionError: there is no such edition.
        UnknownSchemaError: no schema says what the component's chunks, or its overlay frames, are.
    """

    def __init__(
        self,
        component: str,
        edition: str | None = None,
        max_frame_bytes: int = MAX_FRAME_BYTES,
        framing: Framing = "canonical",
        *,
        schemas: SchemaRegistry | None = None,
    ) -> None:
        if framing not in ("canonical", "event"):
            raise ValueError(f"framing must be 'canonical' or 'event', not {framing!r}")
        if edition not in (None, *EDITIONS):
            raise UnknownEditionError(str(edition))
        self._schemas = schemas or registry()
        self._component = component
        self._edition = edition
        self._max_frame_bytes = max_frame_bytes
        self._framing = framing
        self._chunk_schema = _chunk_schema(component)
        self._schemas.get_validator(self._chunk_schema, self._edition_of(self._chunk_schema))
        if framing == "event":
            self._schemas.get_validator(f"{component}.stream.frame.data", edition)
        self._null_ms = edition != EDITIONS[0]
        self._errors: list[FrameError] = []
        self._total = 0
        self._checked = 0
        self._terminal: Terminal | None = None
        self._unclear_end = False

    def feed(self, frame: object, *, size: int | None = None) -> None:
        """Check the next frame; `size` is its length in bytes where it came as bytes."""
        self._total += 1
        if self._terminal:
            if self._total == self._checked + 1:
                self._note(ErrorType.AFTER_TERMINAL, "comes after the terminal frame; nothing may")
            return
        self._checked += 1
        self._unclear_end = False
        if not isinstance(frame, Mapping):
            self._unclear_end = True
            self._note(ErrorType.FRAME_TYPE, "is no JSON object")
            return
        if not isinstance(frame, dict):
            frame = dict(frame)
        if self._is_too_large(frame, size):
            self._note(ErrorType.FRAME_SIZE, f"measures more than {self._max_frame_bytes} bytes")
        if self._framing == "event":
            self._event_frame(frame)
        elif not self._is_sound(frame):
            self._canonical_frame(frame)

    def finish(self) -> StreamReport:
        """The report on all frames so far; a stream without an end has one error more."""
        errors = tuple(self._errors)
        # A last frame too broken to show whether it is final is one defect, reported where it lies.
        if self._terminal is None and not self._unclear_end:
            errors += (FrameError(0, ErrorType.NO_TERMINAL, "ended without a final frame or an error envelope"),)
        return StreamReport(self._total, self._checked, errors, self._terminal)

    def _is_sound(self, frame: dict[Any, Any]) -> bool:
        """The common case, decided with as little work as it takes; false only means: look closer."""
        if len(frame) != len(FRAME_KEYS) or frame.get("ok") is not True or frame.get("code") != STREAMING:
            return False
        ms = frame.get("ms")
        if not (_is_duration(ms) or (ms is None and "ms" in frame and self._null_ms)):
            return False
        chunk = frame.get("chunk")
        if not (isinstance(chunk, dict) and self._accepts_chunk(chunk)):
            return False
        if chunk.get("is_final") is True:
            self._terminal = "success"
        return True

    def _canonical_frame(self, frame: dict[Any, Any]) -> None:
        if _is_error_envelope(frame):
            self._terminal = "error"
            problems = self._problems(f"{self._component}.envelope.error", frame)
            self._note_problems(ErrorType.ERROR_ENVELOPE, problems)
            return
        self._read_end(frame.get("chunk"))
        if "chunk" in frame:
            self._check_keys(frame)
            self._check_envelope(frame)
            problems = self._problems(self._chunk_schema, frame["chunk"])
            self._note_problems(ErrorType.CHUNK_SCHEMA, problems, "chunk")
        elif frame.keys() >= set(EVENT_KEYS):
            self._note(ErrorType.FRAMING, "is an {event, data} frame; adapters emit {ok, code, ms, chunk}")
        elif not frame.keys() & set(FRAME_KEYS):
            self._note(ErrorType.FRAME_SHAPE, f"has none of the keys {', '.join(FRAME_KEYS)}")
        elif "result" in frame:
            self._note(ErrorType.FRAME_SHAPE, "is missing: this is a unary success envelope", "chunk")
        else:
            self._note(ErrorType.FRAME_SHAPE, "is missing", "chunk")
            self._check_envelope(frame)

    def _check_keys(self, frame: dict[Any, Any]) -> None:
        extra = [str(key) for key in frame if key not in FRAME_KEYS]
        if extra:
            others = f", nor must {', '.join(extra[1:])}" if extra[1:] else ""
            self._note(ErrorType.FRAME_SHAPE, f"must not be there{others}", extra[0])

    def _check_envelope(self, frame: dict[Any, Any]) -> None:
        if frame.get("ok") is not True and "chunk" in frame:
            self._note(ErrorType.FRAME_OK, "must be true on a frame with a chunk", "ok")
        if frame.get("code") != STREAMING:
            self._note(ErrorType.FRAME_CODE, f"must be {STREAMING} on every success frame", "code")
        ms = frame.get("ms")
        if "ms" not in frame:
            self._note(ErrorType.FRAME_MS, "is missing", "ms")
        elif ms is None and not self._null_ms:
            self._note(ErrorType.FRAME_MS, "must not be null in this edition", "ms")
        elif ms is not None and not _is_duration(ms):
            self._note(ErrorType.FRAME_MS, "must be a finite number, at least 0", "ms")

    def _event_frame(self, frame: dict[Any, Any]) -> None:
        event = frame.get("event")
        self._unclear_end = event not in EVENTS
        if not frame.keys() & set(EVENT_KEYS) and frame.keys() & set(FRAME_KEYS):
            self._note(ErrorType.FRAMING, "is a canonical frame; {event, data} was expected")
            self._read_end(frame.get("chunk"))
            return
        if event in ("end", "error"):
            self._terminal = "success" if event == "end" else "error"
        if not isinstance(event, str) or event not in EVENTS:
            self._note(ErrorType.FRAME_SHAPE, f"must be one of {', '.join(EVENTS)}", "event")
            return
        content = ErrorType.ERROR_ENVELOPE if event == "error" else ErrorType.CHUNK_SCHEMA
        problems = self._problems(f"{self._component}.stream.frame.{event}", frame)
        inside = [problem for problem in problems if "data" in frame and problem.path.split(".")[0] == "data"]
        outside = [problem for problem in problems if problem not in inside]
        self._note_problems(ErrorType.FRAME_SHAPE, outside)
        self._note_problems(content, inside)

    def _read_end(self, chunk: object) -> None:
        final = chunk.get("is_final") if isinstance(chunk, Mapping) else None
        if final is True:
            self._terminal = "success"
        self._unclear_end = not isinstance(final, bool)

    def _edition_of(self, schema: str) -> str | None:
        """The edition that decides on a schema: the pinned one, or the first that has the schema."""
        known = BY_NAME.get(schema)
        if known is None or self._edition is None or self._edition in known.editions:
            return self._edition
        return known.editions[0]

    def _accepts_chunk(self, chunk: object) -> bool:
        return self._schemas.is_valid(self._chunk_schema, chunk, self._edition_of(self._chunk_schema))

    def _problems(self, schema: str, instance: object) -> list[Problem]:
        return self._schemas.problems(schema, instance, self._edition_of(schema))

    def _is_too_large(self, frame: dict[Any, Any], size: int | None) -> bool:
        if size is None:
            try:
                # No value grows more than sixfold from here to JSON ("\x01" to "\u0001"), and this is cheap.
                if 6 * len(marshal.dumps(frame, 2)) <= self._max_frame_bytes:
                    return False
            except ValueError:
                pass  # not a plain value: measured below, if it is JSON at all
            size = _json_size(frame)
        return size > self._max_frame_bytes

    def _note(self, error_type: str, message: str, path: str = "") -> None:
        self._errors.append(FrameError(self._total, error_type, message, path))

    def _note_problems(self, error_type: str, problems: list[Problem], below: str = "") -> None:
        """One error for all problems of one part of a frame, at the first of them."""
        if not problems:
            return
        first, *others = problems
        path = ".".join(part for part in (below, first.path) if part)
        more = "; ".join(f"{problem.path} {problem.message}" for problem in others[:_SHOWN])
        if len(others) > _SHOWN:
            more += f"; and {len(others) - _SHOWN} more"
        self._note(error_type, f"{first.message}{'; ' if more else ''}{more}", path)


_SHOWN = 4


def validate_frames(
    frames: Iterable[object],
    component: str,
    edition: str | None = None,
    max_frame_bytes: int = MAX_FRAME_BYTES,
    framing: Framing = "canonical",
) -> StreamReport:
    """Check a whole stream at once; the arguments are those of `StreamValidationEngine`."""
    engine = StreamValidationEngine(component, edition, max_frame_bytes, framing)
    for frame in frames:
        engine.feed(frame)
    return engine.finish()


def _chunk_schema(component: str) -> str:
    for operation in operations_of(component, streaming=True):
        if operation.payload:
            return operation.payload
    raise ValueError(f"{component} has no streaming operation")


def _is_duration(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < math.inf


def _is_error_envelope(frame: Mapping[Any, object]) -> bool:
    """Whether a frame means to be an error envelope; one with a chunk must say so in `error` and `ok`."""
    if "chunk" in frame:
        return "error" in frame and frame.get("ok") is not True
    return frame.get("ok") is False or "error" in frame


def _json_size(frame: dict[Any, Any]) -> int:
    try:
        text = json.dumps(frame, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        return 0  # no JSON: the schemas say so
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
