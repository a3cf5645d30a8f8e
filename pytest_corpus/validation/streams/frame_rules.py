"""The rules that frames meet apart from the schemas of their content (SPECIFICATION 4.2.3; SCHEMA 4.1.4)."""

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final

from pytest_corpus.text.problems import Problem
from pytest_corpus.validation.streams.plan import FRAME_KEYS, STREAMING
from pytest_corpus.validation.streams.report import ErrorType

EVENT_KEYS: Final = ("event", "data")
"""The keys of an overlay frame (SCHEMA 4.1.4)."""

EVENTS: Final = ("data", "end", "error")
"""The events of the overlay; the last two are terminal (SCHEMA 5.1)."""

Defect = tuple[str, str, str]
"""The type of an error, its message and its path in the frame."""


def is_error_envelope(frame: Mapping[Any, object]) -> bool:
    """Return if a frame means to be an error envelope; one with a chunk must say so in `error` and `ok`."""
    if "chunk" in frame:
        return "error" in frame and frame.get("ok") is not True
    return frame.get("ok") is False or "error" in frame


def is_duration(value: object) -> bool:
    """Return if a value is a finite number that is not negative."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < math.inf


def canonical_defects(frame: dict[Any, Any], *, null_ms: bool) -> Iterator[Defect]:
    """The defects of a success frame around its chunk."""
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
    elif ms is not None and not is_duration(ms):
        yield ErrorType.FRAME_MS, "must be a finite number, at least 0", "ms"


def event_defects(frame: dict[Any, Any]) -> Iterator[Defect]:
    """The defects of the keys of an overlay frame whose schema is not asked."""
    if "data" not in frame:
        yield ErrorType.FRAME_SHAPE, "is missing", "data"
    extra = [str(key) for key in frame if key not in EVENT_KEYS]
    for key in extra[:1]:
        yield ErrorType.FRAME_SHAPE, "is a key that is not allowed here", key


def end_problems(chunk: object) -> list[Problem]:
    """The problems that keep a chunk from stating whether it is final."""
    if not isinstance(chunk, dict):
        return [Problem("", "type", "must be object", "")]
    if "is_final" not in chunk:
        return [Problem("is_final", "required", "is missing", "")]
    is_stated = isinstance(chunk["is_final"], bool)
    return [] if is_stated else [Problem("is_final", "type", "must be boolean", "")]
