"""Modes and configurations: how closely a stream is looked at, and how that is said."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stream_frames import DATA, ERROR, FINAL, kinds

from pytest_corpus.schema_registry import UnknownEditionError, UnknownSchemaError
from pytest_corpus.spec.errors import PROTOCOL_ERROR_CODES, STREAM_ERROR_CODES
from pytest_corpus.spec.schemas import BASE_URI
from pytest_corpus.stream_validator import (
    MAX_FRAME_BYTES,
    ErrorType,
    FrameError,
    StreamReport,
    StreamValidationEngine,
    ValidationConfig,
    ValidationMode,
    validate_frames,
    validate_ndjson_stream,
    validate_sse_stream,
)
from pytest_corpus.wire import WireValidationError

BAD_CHUNK = {**DATA, "chunk": {"is_final": False, "text": 7, "extra": 1}}
ENVELOPE = f"{BASE_URI}llm/llm.envelope.success.json"


def ndjson(*frames: object) -> bytes:
    return b"".join(json.dumps(frame).encode() + b"\n" for frame in frames)


def both(*frames: object, **options: Any) -> StreamReport:
    """The report on frames, which must be the same for bytes at once, bytes line by line, and objects."""
    lines = ndjson(*frames).splitlines(keepends=True)
    options = {"component": "llm", **options}
    report = validate_ndjson_stream(b"".join(lines), **options)
    assert validate_ndjson_stream(lines, **options) == report
    assert validate_frames(frames, **options) == report
    return report


@pytest.mark.parametrize("mode", ValidationMode)
def test_a_mode_is_given_by_its_name_in_any_case(mode: ValidationMode) -> None:
    """A member, its name and its value mean the same, however they are written."""
    for name in (mode, mode.name, mode.value, mode.name.title(), mode.name.swapcase()):
        assert ValidationConfig(component="llm", mode=name).mode is mode
        assert StreamValidationEngine("llm", mode=name).config.mode is mode


@pytest.mark.parametrize("mode", ["strikt", "", "STRICT ", "all", None, 1, True, b"strict", ["strict"]], ids=range(9))
def test_a_mode_that_does_not_exist_is_an_error(mode: Any) -> None:
    """No wrong name is taken for a mode, wherever it is given."""
    for call in (
        lambda: ValidationConfig(component="llm", mode=mode),
        lambda: StreamValidationEngine("llm", mode=mode),
        lambda: validate_ndjson_stream(b"", component="llm", mode=mode),
        lambda: validate_sse_stream(b"", component="llm", mode=mode),
        lambda: validate_frames([], "llm", mode=mode),
    ):
        with pytest.raises(ValueError, match="there are STRICT, SAMPLED, LAZY, COLLECT_ERRORS"):
            call()


@pytest.mark.parametrize("mode", ValidationMode)
def test_every_mode_checks_the_protocol(mode: ValidationMode) -> None:
    """Envelopes, order and end are checked in each mode (SCHEMA 6.2)."""
    assert both(DATA, DATA, FINAL, mode=mode).is_valid
    assert both(DATA, ERROR, mode=mode).terminal == "error"
    assert kinds(both(DATA, mode=mode)) == [(0, ErrorType.NO_TERMINAL)]
    assert kinds(both(FINAL, DATA, mode=mode)) == [(2, ErrorType.AFTER_TERMINAL)]
    assert kinds(both(DATA, {**DATA, "code": "OK"}, FINAL, mode=mode)) == [(2, ErrorType.FRAME_CODE)]
    assert kinds(both(DATA, {**DATA, "seq": 1}, FINAL, mode=mode)) == [(2, ErrorType.FRAME_SHAPE)]
    assert kinds(both(DATA, {**ERROR, "message": 7}, mode=mode)) == [(2, ErrorType.ERROR_ENVELOPE)]
    chunks: tuple[Any, ...] = ({"text": "a"}, {"text": "a", "is_final": 1}, [], None)
    for chunk in chunks:
        assert kinds(both(DATA, {**DATA, "chunk": chunk}, FINAL, mode=mode)) == [(2, ErrorType.CHUNK_SCHEMA)]
    broken = ndjson(DATA) + b"{\n\xff\n" + ndjson(FINAL)
    errors = [(2, ErrorType.FRAME_JSON), (3, ErrorType.FRAME_UTF8)]
    assert kinds(validate_ndjson_stream(broken, component="llm", mode=mode)) == errors


def test_strict_holds_every_chunk_to_its_schema() -> None:
    """STRICT finds each wrong chunk, one error each."""
    report = both(BAD_CHUNK, DATA, BAD_CHUNK, FINAL)
    assert kinds(report) == [(1, ErrorType.CHUNK_SCHEMA), (3, ErrorType.CHUNK_SCHEMA)]
    assert report.frames_validated == report.total_frames == 4


def test_lazy_holds_no_chunk_to_its_schema() -> None:
    """LAZY passes wrong chunks, keys that appear twice in them included, and says that none was validated."""
    assert both(BAD_CHUNK, DATA, BAD_CHUNK, FINAL, mode="lazy") == StreamReport(4, 0, (), "success")
    twice = ndjson(DATA).replace(b'"a"', b'"a", "text": "b"')
    assert validate_ndjson_stream(twice + ndjson(FINAL), component="llm", mode="lazy").is_valid
    assert both(DATA, ERROR, mode="lazy").frames_validated == 1


def test_collect_errors_tells_every_problem() -> None:
    """COLLECT_ERRORS has an error for each problem of a chunk and for each frame after the terminal."""
    report = both(BAD_CHUNK, FINAL, DATA, DATA, mode="collect_errors")
    assert [(error.frame_number, error.error_type, error.path) for error in report.validation_errors] == [
        (1, ErrorType.CHUNK_SCHEMA, "chunk.text"),
        (1, ErrorType.CHUNK_SCHEMA, "chunk.extra"),
        (3, ErrorType.AFTER_TERMINAL, ""),
        (4, ErrorType.AFTER_TERMINAL, ""),
    ] or [error.path for error in report.validation_errors[:2]] == ["chunk.extra", "chunk.text"]
    assert len(report.validation_errors) == 4
    assert report.frames_validated == 2


@pytest.mark.parametrize(("rate", "chosen"), [
    (0.1, [1, 11, 21, 25]),
    (0.5, [1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25]),
    (1, range(1, 26)),
    (1e-300, [1, 25]),
])  # fmt: skip
def test_sampled_holds_chunks_at_even_distances(rate: float, chosen: list[int]) -> None:
    """SAMPLED looks at the first chunk, at the last, and at those at even distances, always at the same."""
    wrong_end = {**FINAL, "chunk": {**BAD_CHUNK["chunk"], "is_final": True}}
    report = both(*[BAD_CHUNK] * 24, wrong_end, mode="sampled", sample_rate=rate)
    assert [number for number, _ in kinds(report)] == list(chosen)
    assert report.frames_validated == len(chosen)
    sound = both(*[DATA] * 24, FINAL, mode="sampled", sample_rate=rate)
    assert (sound.is_valid, sound.frames_validated) == (True, len(chosen))


@given(
    frames=st.lists(st.sampled_from([DATA, DATA, DATA, BAD_CHUNK, {**DATA, "ms": -1}, [], None]), max_size=30),
    rate=st.sampled_from([0.05, 0.1, 0.3, 0.7, 1.0]),
    mode=st.sampled_from(["sampled", "lazy", "strict", "collect_errors"]),
)
def test_batches_and_single_frames_agree_in_every_mode(frames: list[Any], rate: float, mode: str) -> None:
    """Frames at once and frames one by one are sampled alike and have the same findings."""
    both(*frames, FINAL, mode=mode, sample_rate=rate)


@pytest.mark.parametrize("mode", ValidationMode)
def test_the_overlay_has_its_modes(mode: ValidationMode) -> None:
    """Overlay frames are held to their schemas as the mode says, and to their shape in each."""
    completion = {"text": "a", "model": "m", "usage": {"prompt_tokens": 1, "total_tokens": 1}, "finish_reason": "stop"}
    end = {"event": "end", "data": completion}
    options: dict[str, Any] = {"mode": mode, "framing": "event", "sample_rate": 1.0}
    assert both({"event": "data", "data": DATA["chunk"]}, end, **options).is_valid
    lazy = mode is ValidationMode.LAZY
    assert (kinds(both({"event": "data", "data": {"text": 7}}, end, **options)) == []) is lazy
    for wrong in ({"event": "data"}, {"event": "data", "data": DATA["chunk"], "id": 1}, {"event": "x", "data": {}}):
        assert kinds(both(wrong, end, **options)) == [(1, ErrorType.FRAME_SHAPE)]


@pytest.mark.parametrize("name", [
    ENVELOPE, "llm.envelope.success", "llm.envelope.stream.success", "llm.stream.frame", "common.envelope.success",
    "envelope.stream.success", f"{ENVELOPE}#version/1.1.0",
])  # fmt: skip
def test_a_schema_may_name_the_stream(name: str) -> None:
    """The schema that SCHEMA 6.2 gives, and the others that mean a stream's frames, all mean its frames (R3)."""
    config = ValidationConfig(
        envelope_schema_id=name, component="llm", mode=ValidationMode.STRICT, max_frame_bytes=1_048_576
    )
    assert config.max_frame_bytes == MAX_FRAME_BYTES
    assert StreamValidationEngine(config).validate_ndjson(ndjson(DATA, FINAL).decode()).is_valid
    report = validate_ndjson_stream(ndjson(DATA).decode(), envelope_schema_id=name, component="llm", mode="strict")
    assert kinds(report) == [(0, ErrorType.NO_TERMINAL)]


def test_a_schema_says_component_edition_and_framing() -> None:
    """A schema's name replaces the arguments that it implies."""
    config = ValidationConfig("graph.envelope.success")
    assert (config.component, config.edition, config.framing) == ("graph", None, "canonical")
    assert ValidationConfig("llm.envelope.success.v1.1").edition == "1.1.0"
    assert ValidationConfig(f"{ENVELOPE}#version/1.0.0").edition == "1.0.0"
    assert ValidationConfig("llm.stream.frames.ndjson.schema").framing == "event"


@pytest.mark.parametrize("options", [
    {},
    {"component": "vector"},
    {"component": "nothing"},
    {"envelope_schema_id": "vector.envelope.success"},
    {"envelope_schema_id": "common.envelope.success"},
    {"envelope_schema_id": "llm.envelope.request"},
    {"envelope_schema_id": "llm.types.chunk"},
    {"envelope_schema_id": "llm.envelope.success", "component": "graph"},
    {"envelope_schema_id": "llm.envelope.success.v1.1", "edition": "1.0.0"},
    {"component": "llm", "framing": "sse"},
    {"component": "llm", "sample_rate": 0},
    {"component": "llm", "sample_rate": 1.1},
    {"component": "llm", "sample_rate": float("nan")},
    {"component": "llm", "max_frame_bytes": 0},
    {"component": "llm", "max_frame_bytes": 1.5},
    {"component": "llm", "max_errors": 0},
], ids=str)  # fmt: skip
def test_a_configuration_that_means_nothing_is_refused(options: dict[str, Any]) -> None:
    """An impossible configuration is refused when it is made."""
    with pytest.raises(ValueError):
        ValidationConfig(**options)


def test_unknown_names_are_refused_with_the_nearest() -> None:
    """An unknown schema or edition raises its own error."""
    with pytest.raises(UnknownSchemaError, match=r"llm\.envelope\.success"):
        ValidationConfig("llm.envelope.sucess")
    with pytest.raises(UnknownEditionError):
        ValidationConfig(component="llm", edition="3.0.0")


def test_every_defect_has_its_code() -> None:
    """Each defect of a stream has a code of SCHEMA 11.2, but for what stands in a chunk."""
    types = {value for key, value in vars(ErrorType).items() if key.isupper()}
    assert STREAM_ERROR_CODES.keys() == types - {ErrorType.CHUNK_SCHEMA}
    assert set(STREAM_ERROR_CODES.values()) <= PROTOCOL_ERROR_CODES.keys()
    assert FrameError(0, ErrorType.CHUNK_SCHEMA, "").code == "CHUNK_SCHEMA"


def test_every_protocol_code_is_given_by_something() -> None:
    """No code of SCHEMA 11.2 is never said: errors of envelopes and defects of streams have all of them."""

    def below(kind: Any) -> list[Any]:
        return [kind, *(inner for one in kind.__subclasses__() for inner in below(one))]

    said = {one.code for one in below(WireValidationError) if isinstance(vars(one).get("code"), str)}
    assert said | set(STREAM_ERROR_CODES.values()) == PROTOCOL_ERROR_CODES.keys()


@pytest.mark.parametrize(("frames", "code"), [
    ([DATA], "STREAM_TERMINATION"),
    ([FINAL, DATA], "STREAM_TERMINATION"),
    ([{**DATA, "ms": -1}, FINAL], "STREAM_ENVELOPE"),
    ([7, FINAL], "ENVELOPE_TYPE"),
])  # fmt: skip
def test_a_stream_tells_the_codes_of_its_defects(frames: list[object], code: str) -> None:
    """The rules that SCHEMA 5.3 prints end in the codes of 11.2."""
    (error,) = validate_frames(frames, "llm").validation_errors
    assert error.code == code
