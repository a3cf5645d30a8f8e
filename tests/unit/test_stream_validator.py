"""The stream validator: legal streams pass, and each defect is one error that says where it lies."""

import copy
import json
import math
from collections.abc import Iterator
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instances import mutated, with_every_text
from stream_frames import CANARY, DATA, ERROR, FINAL, KEEP_ALIVE, chunk, found, frame, kinds, report, without

from pytest_corpus.spec.schemas import SCHEMA_VERSIONS
from pytest_corpus.stream_validator import (
    MAX_FRAME_BYTES,
    ErrorType,
    FrameError,
    StreamValidationEngine,
    validate_frames,
)

LEGAL: tuple[tuple[str, list[object], str], ...] = (
    ("several frames", [DATA, DATA, FINAL], "success"),
    ("one final frame", [FINAL], "success"),
    ("empty final chunk", [DATA, FINAL], "success"),
    ("text in the final chunk", [chunk(is_final=True)], "success"),
    ("keep-alive frames", [KEEP_ALIVE, DATA, KEEP_ALIVE, KEEP_ALIVE, FINAL], "success"),
    ("an error at once", [ERROR], "error"),
    ("an error midway", [DATA, ERROR], "error"),
    ("zero and whole milliseconds", [frame(ms=0), frame(ms=3), FINAL], "success"),
    ("a mapping that is not a dict", [MappingProxyType(DATA), MappingProxyType(FINAL)], "success"),
)


@pytest.mark.parametrize("edition", [None, *SCHEMA_VERSIONS])
@pytest.mark.parametrize(("kind", "frames", "terminal"), LEGAL, ids=[row[0] for row in LEGAL])
def test_legal_streams_pass_under_every_edition(
    kind: str, frames: list[object], terminal: str, edition: str | None
) -> None:
    """No legal shape of a stream is called wrong (R1, R4)."""
    result = report(*frames, edition=edition)
    assert result.is_valid, result.error_summary
    assert (result.terminal, result.total_frames, result.frames_validated) == (terminal, len(frames), len(frames))
    assert result.error_summary == ""


NULLS: tuple[tuple[str, list[object], tuple[int, str, str]], ...] = (
    ("ms", [frame(ms=None), FINAL], (1, ErrorType.FRAME_MS, "ms")),
    ("model", [chunk(model=None), FINAL], (1, ErrorType.CHUNK_SCHEMA, "chunk.model")),
    ("usage_so_far", [chunk(usage_so_far=None), FINAL], (1, ErrorType.CHUNK_SCHEMA, "chunk.usage_so_far")),
    ("tool_calls", [chunk(tool_calls=None), FINAL], (1, ErrorType.CHUNK_SCHEMA, "chunk.tool_calls")),
    ("details", [{**ERROR, "details": None}], (1, ErrorType.ERROR_ENVELOPE, "details")),
    ("ms of the error", [{**ERROR, "ms": None}], (1, ErrorType.ERROR_ENVELOPE, "ms")),
)


@pytest.mark.parametrize(("kind", "frames", "error"), NULLS, ids=[row[0] for row in NULLS])
def test_a_pinned_schema_version_judges_alone(kind: str, frames: list[object], error: tuple[int, str, str]) -> None:
    """Additions of 1.1.0 pass under it and without a pin, and are an error under 1.0.0 (R6, R18)."""
    assert found(*frames) == found(*frames, edition="1.1.0") == []
    assert found(*frames, edition="1.0.0") == [error]


DEFECTS: tuple[tuple[str, object, str, str], ...] = (
    ("a string", CANARY, ErrorType.FRAME_TYPE, ""),
    ("nothing", None, ErrorType.FRAME_TYPE, ""),
    ("an array", [DATA], ErrorType.FRAME_TYPE, ""),
    ("overlay data", {"event": "data", "data": DATA["chunk"]}, ErrorType.FRAMING, ""),
    ("overlay with an id", {"event": "data", "data": {}, "id": 1}, ErrorType.FRAMING, ""),
    ("no chunk", without(DATA, "chunk"), ErrorType.FRAME_SHAPE, "chunk"),
    ("an extra key", frame(seq=1), ErrorType.FRAME_SHAPE, "seq"),
    ("two extra keys", frame(seq=1, op="llm.stream"), ErrorType.FRAME_SHAPE, "seq"),
    ("an error key beside a chunk", frame(error=None), ErrorType.FRAME_SHAPE, "error"),
    ("result for chunk", {**without(DATA, "chunk"), "result": {}}, ErrorType.FRAME_SHAPE, "chunk"),
    ("a unary envelope", {"ok": True, "code": "OK", "ms": 1, "result": {}}, ErrorType.FRAME_SHAPE, "chunk"),
    ("a bare chunk", DATA["chunk"], ErrorType.FRAME_SHAPE, ""),
    ("type and delta", {"type": "delta", "delta": CANARY}, ErrorType.FRAME_SHAPE, ""),
    ("an empty object", {}, ErrorType.FRAME_SHAPE, ""),
    ("no ok", without(DATA, "ok"), ErrorType.FRAME_OK, "ok"),
    ("ok false", frame(ok=False), ErrorType.FRAME_OK, "ok"),
    ("ok one", frame(ok=1), ErrorType.FRAME_OK, "ok"),
    ("ok null", frame(ok=None), ErrorType.FRAME_OK, "ok"),
    ("no code", without(DATA, "code"), ErrorType.FRAME_CODE, "code"),
    ("code OK", frame(code="OK"), ErrorType.FRAME_CODE, "code"),
    ("code in small letters", frame(code="streaming"), ErrorType.FRAME_CODE, "code"),
    ("code null", frame(code=None), ErrorType.FRAME_CODE, "code"),
    ("no ms", without(DATA, "ms"), ErrorType.FRAME_MS, "ms"),
    ("negative ms", frame(ms=-0.1), ErrorType.FRAME_MS, "ms"),
    ("NaN ms", frame(ms=math.nan), ErrorType.FRAME_MS, "ms"),
    ("infinite ms", frame(ms=math.inf), ErrorType.FRAME_MS, "ms"),
    ("ms in a string", frame(ms="12"), ErrorType.FRAME_MS, "ms"),
    ("ms true", frame(ms=True), ErrorType.FRAME_MS, "ms"),
    ("chunk null", frame(chunk=None), ErrorType.CHUNK_SCHEMA, "chunk"),
    ("chunk a string", frame(chunk=CANARY), ErrorType.CHUNK_SCHEMA, "chunk"),
    ("no text", frame(chunk={"is_final": False}), ErrorType.CHUNK_SCHEMA, "chunk.text"),
    ("text a number", chunk(text=7), ErrorType.CHUNK_SCHEMA, "chunk.text"),
    ("no is_final", frame(chunk={"text": ""}), ErrorType.CHUNK_SCHEMA, "chunk.is_final"),
    ("is_final a string", chunk(is_final="no"), ErrorType.CHUNK_SCHEMA, "chunk.is_final"),
    ("a key more in the chunk", chunk(delta=""), ErrorType.CHUNK_SCHEMA, "chunk.delta"),
    ("usage without a total", chunk(usage_so_far={"prompt_tokens": 1}), ErrorType.CHUNK_SCHEMA,
     "chunk.usage_so_far.total_tokens"),
    ("no JSON in the chunk", chunk(text=b"a"), ErrorType.CHUNK_SCHEMA, "chunk.text"),
    ("three defects in a chunk", frame(chunk={"text": 1, "is_final": 2, "x": 3}), ErrorType.CHUNK_SCHEMA, "chunk.text"),
)  # fmt: skip


@pytest.mark.parametrize(("kind", "broken", "error_type", "path"), DEFECTS, ids=[row[0] for row in DEFECTS])
def test_one_defect_is_one_error(kind: str, broken: object, error_type: str, path: str) -> None:
    """A broken frame amid a sound stream is one error of the right type and place, in every edition."""
    for edition in (None, *SCHEMA_VERSIONS):
        assert found(DATA, broken, FINAL, edition=edition) == [(2, error_type, path)]


@pytest.mark.parametrize(("kind", "broken", "error_type", "path"), DEFECTS, ids=[row[0] for row in DEFECTS])
def test_a_broken_last_frame_is_still_one_error(kind: str, broken: object, error_type: str, path: str) -> None:
    """A last frame that is final, or too broken to tell, is not also a missing terminal."""
    part = broken.get("chunk") if isinstance(broken, dict) else None
    if isinstance(broken, dict) and isinstance(part, dict) and part.get("is_final") is False:
        broken = {**broken, "chunk": {**part, "is_final": True}}
    assert found(DATA, broken) == [(2, error_type, path)]


ERRORS: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("no ok", without(ERROR, "ok"), "ok"),
    ("ok true", {**ERROR, "ok": True}, "ok"),
    ("no code", without(ERROR, "code"), "code"),
    ("no error", without(ERROR, "error"), "error"),
    ("no message", without(ERROR, "message"), "message"),
    ("no ms", without(ERROR, "ms"), "ms"),
    ("an extra key", {**ERROR, "http_status": 503}, "http_status"),
    ("a chunk", {**ERROR, "chunk": {}}, "chunk"),
    ("nested", {"error": {"code": "UNAVAILABLE", "message": CANARY}}, "error"),
    ("ok false and nothing else", {"ok": False}, "code"),
    ("negative retry_after_ms", {**ERROR, "retry_after_ms": -1}, "retry_after_ms"),
)


@pytest.mark.parametrize(("kind", "envelope", "path"), ERRORS, ids=[row[0] for row in ERRORS])
def test_a_broken_error_envelope_ends_the_stream_with_one_error(kind: str, envelope: dict[str, Any], path: str) -> None:
    """A frame that means to be an error envelope is checked against its schema, once, and is terminal all the same."""
    result = report(DATA, envelope)
    assert kinds(result) == [(2, ErrorType.ERROR_ENVELOPE)]
    assert result.validation_errors[0].path == path
    assert result.terminal == "error"


def test_two_defects_are_two_errors() -> None:
    """Defects of one frame that do not follow from each other are all reported."""
    broken = {**without(DATA, "ms"), "code": "OK", "seq": 1}
    assert {kind for _, kind, _ in found(broken, FINAL)} == {
        ErrorType.FRAME_MS,
        ErrorType.FRAME_CODE,
        ErrorType.FRAME_SHAPE,
    }


def test_another_key_in_the_place_of_one_is_two_errors() -> None:
    """A frame of four keys is not sound for having four: a key is missing and a key is too many."""
    for edition in (None, *SCHEMA_VERSIONS):
        renamed = {**without(DATA, "ms"), "took_ms": 3}
        assert found(renamed, FINAL, edition=edition) == [
            (1, ErrorType.FRAME_SHAPE, "took_ms"),
            (1, ErrorType.FRAME_MS, "ms"),
        ]


def test_a_null_that_is_allowed_stays_so_beside_a_defect() -> None:
    """A closer look at a frame for another defect does not turn against what its edition allows (R6)."""
    broken = frame(ms=None, code="OK")
    assert found(broken, FINAL) == [(1, ErrorType.FRAME_CODE, "code")]
    assert (1, ErrorType.FRAME_MS, "ms") in found(broken, FINAL, edition="1.0.0")


@pytest.mark.parametrize("frames", [[], [DATA], [DATA, KEEP_ALIVE], [frame(code="OK")]], ids=len)
def test_a_stream_without_an_end_is_an_error_of_the_stream(frames: list[object]) -> None:
    """A stream that just stops has no terminal, reported once as frame 0 (R4)."""
    result = report(*frames)
    assert result.validation_errors[-1].frame_number == 0
    assert [error.error_type for error in result.validation_errors].count(ErrorType.NO_TERMINAL) == 1
    assert result.terminal is None


def test_a_broken_frame_midway_does_not_hide_a_missing_end() -> None:
    """Only the last frame can leave the end in doubt."""
    assert found(CANARY, DATA) == [(1, ErrorType.FRAME_TYPE, ""), (0, ErrorType.NO_TERMINAL, "")]


@pytest.mark.parametrize("terminal", [FINAL, ERROR], ids=["success", "error"])
@pytest.mark.parametrize("after", [[DATA], [FINAL], [ERROR], [CANARY], [DATA, frame(code="OK"), FINAL]], ids=len)
def test_whatever_follows_the_terminal_is_one_error(terminal: object, after: list[object]) -> None:
    """Frames after the terminal are one error at the first of them, and are counted but not checked."""
    result = report(DATA, terminal, *after)
    assert kinds(result) == [(3, ErrorType.AFTER_TERMINAL)]
    assert (result.total_frames, result.frames_validated) == (2 + len(after), 2)
    assert result.terminal == ("success" if terminal is FINAL else "error")


def sized(size: int, letter: str = "x") -> dict[str, object]:
    """A frame that measures exactly `size` bytes as compact UTF-8 JSON."""
    empty = len(json.dumps(chunk(text=""), separators=(",", ":")))
    count, rest = divmod(size - empty, len(json.dumps(letter, ensure_ascii=False).encode()) - 2)
    return chunk(text=letter * count + "x" * rest)


@pytest.mark.parametrize("letter", ["x", "\u00e9", "\u6f22", "\U0001f600", '"', "\u0001"])
@pytest.mark.parametrize("limit", [1000, MAX_FRAME_BYTES])
def test_a_frame_measures_as_utf8_json(letter: str, limit: int) -> None:
    """A frame may measure the limit and not one byte more, in bytes of UTF-8 and not in characters (R4)."""
    assert found(sized(limit, letter), FINAL, max_frame_bytes=limit) == []
    assert found(sized(limit + 1, letter), FINAL, max_frame_bytes=limit) == [(1, ErrorType.FRAME_SIZE, "")]


@settings(deadline=None, max_examples=200)
@given(data=st.data())
def test_the_size_check_is_exact(data: st.DataObject) -> None:
    """For any frame the limit decides on its JSON, however the size is estimated."""
    instance = data.draw(mutated(DATA))
    if isinstance(instance, dict):
        size = len(json.dumps(instance, ensure_ascii=False, separators=(",", ":")).encode())
        limit = data.draw(st.integers(max(1, size - 3), size + 3))
        kinds = {kind for _, kind, _ in found(instance, max_frame_bytes=limit)}
        assert (ErrorType.FRAME_SIZE in kinds) == (size > limit)


def test_bottomless_nesting_is_a_defect_of_the_chunk() -> None:
    """A frame too deep to be written as JSON is refused like any other wrong chunk, without a crash."""
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    assert found(chunk(text=deep), FINAL) == [(1, ErrorType.CHUNK_SCHEMA, "chunk.text")]


def test_a_known_size_is_believed() -> None:
    """The size of a frame that came as bytes is not measured again."""
    engine = StreamValidationEngine("llm", max_frame_bytes=500)
    engine.feed(DATA, size=501)
    engine.feed(sized(600), size=500)
    engine.feed(FINAL)
    assert kinds(engine.finish()) == [(1, ErrorType.FRAME_SIZE)]


def test_frames_may_come_from_any_iterable_and_stay_as_they_are() -> None:
    """A generator is read once, and no frame is changed."""
    frames = [copy.deepcopy(DATA), copy.deepcopy(FINAL)]

    def once() -> Iterator[object]:
        yield from frames

    assert validate_frames(once(), component="llm").is_valid
    assert frames == [DATA, FINAL]


@settings(deadline=None, max_examples=200)
@given(data=st.data())
def test_messages_never_quote_a_frame(data: st.DataObject) -> None:
    """No value of a broken frame stands in any message (R21)."""
    instance = data.draw(st.sampled_from([DATA, ERROR]).flatmap(mutated))
    instance = with_every_text(instance, CANARY)
    result = report(instance, framing=data.draw(st.sampled_from(["canonical", "event"])))
    assert CANARY not in result.error_summary
    assert bool(result.error_summary) is not result.is_valid


def test_an_error_reads_as_a_sentence() -> None:
    """The summary has a line an error, with the frame, the type and the place."""
    assert str(FrameError(2, "FRAME_MS", "is missing", "ms")) == "frame 2: FRAME_MS: ms is missing"
    assert str(FrameError(0, "NO_TERMINAL", "ended")) == "the stream: NO_TERMINAL: ended"
    summary = report(frame(code="OK"), DATA).error_summary.splitlines()
    assert summary == [
        "frame 1: FRAME_CODE: code must be STREAMING on every success frame",
        "the stream: NO_TERMINAL: ended without a final frame or an error envelope",
    ]


def test_many_defects_of_a_chunk_are_counted_not_listed() -> None:
    """A chunk with a dozen defects gives one error of readable length."""
    (error,) = report(frame(chunk={f"key{n}": n for n in range(12)}), FINAL).validation_errors
    assert error.error_type == ErrorType.CHUNK_SCHEMA
    assert error.message.endswith("and 9 more")
