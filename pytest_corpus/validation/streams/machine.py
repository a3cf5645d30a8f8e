"""The state machine of a stream: success frames, one terminal, nothing after it (SPECIFICATION 4.2.3).

A stream is a sequence of ``{ok, code, ms, chunk}`` frames with code ``STREAMING``. The frame that ends it, the
terminal, has ``chunk.is_final`` true or is an error envelope (R1, R2, R4). Each defect is one error, and messages never
repeat a value.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from pytest_corpus.text.problems import Problem
from pytest_corpus.text.strict_json import are_flawless
from pytest_corpus.validation.schema.registry import SchemaRegistry
from pytest_corpus.validation.streams.config import (
    FRAME_KEYS,
    STREAMING,
    ErrorType,
    FrameError,
    StreamPlan,
    StreamReport,
    Terminal,
    ValidationConfig,
    ValidationMode,
    edition_for,
)

EVENT_KEYS: Final = ("event", "data")
"""The keys of an overlay frame (SCHEMA 4.1.4)."""

EVENTS: Final = ("data", "end", "error")
"""The events of overlay frames; the last two end the stream (SCHEMA 5.1)."""

Defect = tuple[str, str, str]
"""The type of a defect, its message, and its path in the frame."""

_SHOWN = 4
"""The number of further problems that an error names after the first one."""

_ALL_CHUNKS = (ValidationMode.STRICT, ValidationMode.COLLECT_ERRORS)


class StreamMachine:
    """The state of one stream: the number of frames, the terminal, and the defects."""

    def __init__(self, config: ValidationConfig, plan: StreamPlan, schemas: SchemaRegistry) -> None:
        self.config = config
        self.plan = plan
        self.total = 0
        self.terminal: Terminal | None = None
        self._schemas = schemas
        self._errors: list[FrameError] = []
        self._omitted = 0
        self._ended_at = 0
        self._validated = 0
        self._unclear_end = False
        self._samples = config.mode is ValidationMode.SAMPLED
        self._is_due = config.mode in _ALL_CHUNKS

    def copy(self) -> StreamMachine:
        """Return an independent copy of the state."""
        other = copy.copy(self)
        other._errors = list(self._errors)
        return other

    @property
    def must_validate_next(self) -> bool:
        """True if the content of the next frame must be validated. A sampled stream also validates its last frame."""
        return bool(self._sample_indexes(1)) if self._samples else self._is_due

    def report(self) -> StreamReport:
        """Return the report on all frames so far. A stream without a terminal has one additional error."""
        errors = tuple(self._errors)
        # If the last frame is too broken to show if it is final, its own defect is enough.
        if self.terminal is None and not self._unclear_end:
            errors += (FrameError(0, ErrorType.NO_TERMINAL, "ended without a final frame or an error envelope"),)
        return StreamReport(self.total, self._validated, errors, self.terminal, self._omitted)

    # Batches: the common case of many frames that are all valid.

    def accept(self, payloads: Sequence[bytes], frames: list[Any]) -> bool:
        """Count frames that a fast check finds valid, and return True; otherwise return False without counting.

        `frames` are the values of `payloads`.
        """
        if self.terminal or self.config.framing != "canonical":
            return False
        if self.config.mode in _ALL_CHUNKS:
            if not (self.plan.accepts_frames(frames) and are_flawless(payloads, frames)):
                return False
            final = [frame["chunk"]["is_final"] for frame in frames]
            chosen = len(frames)
        else:
            if not self.plan.accepts_shells(frames):
                return False
            final = [frame["chunk"].get("is_final") for frame in frames]
            if set(map(type, final)) != {bool}:
                return False
            if (chosen := self._accept_samples(payloads, frames, ends=final[-1])) < 0:
                return False
        if True in final[:-1]:
            return False
        self._validated += chosen
        self.total += len(frames)
        self._unclear_end = False
        if final[-1]:
            self._end("success")
        return True

    def _accept_samples(self, payloads: Sequence[bytes], frames: list[Any], *, ends: bool) -> int:
        """Return the number of sampled frames among these frames; -1 if a sampled frame is not valid."""
        due = self._sample_indexes(len(frames)) if self._samples else []
        if ends and self._samples and due[-1:] != [len(frames) - 1]:
            due.append(len(frames) - 1)
        if not due:
            return 0
        sampled = [frames[index] for index in due]
        sound = self.plan.accepts_chunks([frame["chunk"] for frame in sampled])
        return len(due) if sound and are_flawless([payloads[index] for index in due], sampled) else -1

    def _sample_indexes(self, count: int) -> list[int]:
        """Return the indexes of sampled frames among the next `count` frames, evenly spaced in the stream."""
        distance = min(1 / self.config.sample_rate, 1e18)
        step, due = int(self.total / distance), list[int]()
        while (index := int(step * distance) - self.total) < count:
            due += [index] if index >= 0 else []
            step += 1
        return due

    # Single frames.

    def check_frame(self, frame: object, size: int | None = None) -> None:
        """Check the next frame; `size` is its length in bytes, if known."""
        if not self._count_next():
            return
        if not isinstance(frame, dict):
            self._unclear_end = True
            self._validated += self._is_due
            self.add_defect(ErrorType.FRAME_TYPE, "is not a JSON object")
            return
        if size is not None and size > self.config.max_frame_bytes:
            self.add_defect(ErrorType.FRAME_SIZE, f"measures more than {self.config.max_frame_bytes} bytes")
        if self.config.framing == "event":
            self._check_event_frame(frame)
        elif not self._accept_valid_frame(frame):
            self._check_canonical_frame(frame)

    def report_unreadable(self, error_type: str, message: str, path: str = "", value: object = None) -> None:
        """Count a frame that is not JSON. `value` is the result of a lenient parser and may be a terminal."""
        if not self._count_next():
            return
        self._validated += self._is_due
        self._unclear_end = True
        self.add_defect(error_type, message, path)
        if isinstance(value, dict):
            self._end_if_terminal(value)

    def skip_frames(self, count: int) -> None:
        """Count frames after the terminal without checking them."""
        first = self.total == self._ended_at
        numbers = range(self.total + 1, self.total + count + 1)
        self.total += count
        if self.config.mode is not ValidationMode.COLLECT_ERRORS:
            numbers = numbers[: int(first)]
        for number in numbers:
            self.add_defect(ErrorType.AFTER_TERMINAL, "comes after the terminal frame; nothing may", number=number)

    def add_defect(self, error_type: str, message: str, path: str = "", *, number: int | None = None) -> None:
        """Add a defect of the current frame to the report; if there are too many, only count it."""
        if len(self._errors) < self.config.max_errors:
            self._errors.append(FrameError(self.total if number is None else number, error_type, message, path))
        else:
            self._omitted += 1

    @property
    def defects(self) -> int:
        """The number of defects."""
        return len(self._errors) + self._omitted

    def _count_next(self) -> bool:
        """Count the next frame; return True if its content must be checked, because the stream has not ended."""
        if self.terminal:
            self.skip_frames(1)
            return False
        if self._samples:
            self._is_due = bool(self._sample_indexes(1))
        self.total += 1
        self._unclear_end = False
        return True

    def _end(self, terminal: Terminal) -> None:
        self.terminal = terminal
        self._ended_at = self.total

    def _must_validate(self, *, last: bool) -> bool:
        return self._is_due or (last and self._samples)

    def _accept_valid_frame(self, frame: dict[Any, Any]) -> bool:
        """Count a frame and return True if a compiled schema accepts it; otherwise return False."""
        chunk = frame.get("chunk")
        final = chunk.get("is_final") if isinstance(chunk, dict) else None
        if not isinstance(final, bool):
            return False
        chosen = self._must_validate(last=final)
        try:
            if not (self.plan.accepts_frames([frame]) if chosen else self.plan.accepts_shells([frame])):
                return False
        except ValueError:  # the value is not JSON
            return False
        self._validated += chosen
        if final:
            self._end("success")
        return True

    def _check_canonical_frame(self, frame: dict[Any, Any]) -> None:
        if is_error_envelope(frame):
            self._end("error")
            self._validated += 1
            problems = self._problems(f"{self.config.component}.envelope.error", frame)
            self._add_problems(ErrorType.ERROR_ENVELOPE, problems)
            return
        self._read_end(frame.get("chunk"))
        chosen = self._must_validate(last=self.terminal is not None)
        self._validated += chosen
        for defect in canonical_defects(frame, null_ms=self.plan.null_ms):
            self.add_defect(*defect)
        if "chunk" in frame:
            chunk = frame["chunk"]
            problems = self._problems(self.plan.chunk, chunk) if chosen else finality_problems(chunk)
            self._add_problems(ErrorType.CHUNK_SCHEMA, problems, "chunk")

    def _check_event_frame(self, frame: dict[Any, Any]) -> None:
        event = frame.get("event")
        if not frame.keys() & set(EVENT_KEYS) and frame.keys() & set(FRAME_KEYS):
            self._validated += self._is_due
            self.add_defect(ErrorType.FRAMING, "is a canonical frame; {event, data} was expected")
            self._read_end(frame.get("chunk"))
            return
        self._read_event(event)
        chosen = event == "error" or self._must_validate(last=self.terminal is not None)
        self._validated += chosen
        if not isinstance(event, str) or event not in EVENTS:
            self.add_defect(ErrorType.FRAME_SHAPE, f"must be one of {', '.join(EVENTS)}", "event")
            return
        if not chosen:
            for defect in event_defects(frame):
                self.add_defect(*defect)
            return
        content = ErrorType.ERROR_ENVELOPE if event == "error" else ErrorType.CHUNK_SCHEMA
        problems = self._problems(f"{self.config.component}.stream.frame.{event}", frame)
        inside = [problem for problem in problems if "data" in frame and problem.path.split(".")[0] == "data"]
        outside = [problem for problem in problems if problem not in inside]
        self._add_problems(ErrorType.FRAME_SHAPE, outside)
        self._add_problems(content, inside)

    def _end_if_terminal(self, frame: dict[Any, Any]) -> None:
        """End the stream if a frame that is not valid JSON is nevertheless a terminal."""
        if self.config.framing == "event":
            self._read_event(frame.get("event"))
        elif is_error_envelope(frame):
            self._end("error")
        else:
            self._read_end(frame.get("chunk"))

    def _read_event(self, event: object) -> None:
        self._unclear_end = event not in EVENTS
        if event in ("end", "error"):
            self._end("success" if event == "end" else "error")

    def _read_end(self, chunk: object) -> None:
        final = chunk.get("is_final") if isinstance(chunk, Mapping) else None
        if final is True:
            self._end("success")
        self._unclear_end = not isinstance(final, bool)

    def _problems(self, schema: str, instance: object) -> list[Problem]:
        return self._schemas.problems(schema, instance, edition_for(schema, self.config.edition))

    def _add_problems(self, error_type: str, problems: list[Problem], below: str = "") -> None:
        """Add one error for all problems in a part of a frame; in mode COLLECT_ERRORS one for each problem."""
        if self.config.mode is ValidationMode.COLLECT_ERRORS:
            for problem in problems:
                self.add_defect(error_type, problem.message, ".".join(filter(None, (below, problem.path))))
        elif problems:
            first, *others = problems
            more = "; ".join(f"{problem.path} {problem.message}" for problem in others[:_SHOWN])
            if len(others) > _SHOWN:
                more += f"; and {len(others) - _SHOWN} more"
            message = f"{first.message}{'; ' if more else ''}{more}"
            self.add_defect(error_type, message, ".".join(filter(None, (below, first.path))))


def is_error_envelope(frame: Mapping[Any, object]) -> bool:
    """True if a frame is meant as an error envelope: `ok` is false or there is an `error`.

    A frame with a chunk only counts as one if there is an `error` and `ok` is not true.
    """
    if "chunk" in frame:
        return "error" in frame and frame.get("ok") is not True
    return frame.get("ok") is False or "error" in frame


def canonical_defects(frame: dict[Any, Any], *, null_ms: bool) -> Iterator[Defect]:
    """Yield the defects of a success frame, except the defects in its chunk."""
    if "chunk" in frame:
        if extra := [str(key) for key in frame if key not in FRAME_KEYS]:
            others = f", nor must {', '.join(extra[1:])}" if extra[1:] else ""
            yield ErrorType.FRAME_SHAPE, f"must not be there{others}", extra[0]
        if frame.get("ok") is not True:
            yield ErrorType.FRAME_OK, "must be true on a frame with a chunk", "ok"
    elif frame.keys() >= set(EVENT_KEYS):
        yield ErrorType.FRAMING, "is an {event, data} frame; adapters emit {ok, code, ms, chunk}", ""
        return
    elif not frame.keys() & set(FRAME_KEYS):
        yield ErrorType.FRAME_SHAPE, f"has none of the keys {', '.join(FRAME_KEYS)}", ""
        return
    elif "result" in frame:
        yield ErrorType.FRAME_SHAPE, "is missing: this is a unary success envelope", "chunk"
        return
    else:
        yield ErrorType.FRAME_SHAPE, "is missing", "chunk"
    if frame.get("code") != STREAMING:
        yield ErrorType.FRAME_CODE, f"must be {STREAMING} on every success frame", "code"
    ms = frame.get("ms")
    if "ms" not in frame:
        yield ErrorType.FRAME_MS, "is missing", "ms"
    elif ms is None and not null_ms:
        yield ErrorType.FRAME_MS, "must not be null in this edition", "ms"
    elif ms is not None and not (isinstance(ms, int | float) and not isinstance(ms, bool) and 0 <= ms < math.inf):
        yield ErrorType.FRAME_MS, "must be a finite number, at least 0", "ms"


def event_defects(frame: dict[Any, Any]) -> Iterator[Defect]:
    """Yield the defects in the keys of an overlay frame, for frames that are not checked by a schema."""
    if "data" not in frame:
        yield ErrorType.FRAME_SHAPE, "is missing", "data"
    extra = [str(key) for key in frame if key not in EVENT_KEYS]
    for key in extra[:1]:
        yield ErrorType.FRAME_SHAPE, "is a key that is not allowed here", key


def finality_problems(chunk: object) -> list[Problem]:
    """Return the problem of the key `is_final` of a chunk, as a list; the list is empty if the value is a boolean."""
    if not isinstance(chunk, dict):
        return [Problem("", "type", "must be object", "")]
    if "is_final" not in chunk:
        return [Problem("is_final", "required", "is missing", "")]
    is_stated = isinstance(chunk["is_final"], bool)
    return [] if is_stated else [Problem("is_final", "type", "must be boolean", "")]
