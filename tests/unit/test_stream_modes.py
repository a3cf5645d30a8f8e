"""Modes, components and framings: how closely a stream is looked at, and how that is said."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instances import mutated
from stream_frames import CANARY, CHUNKS, DATA, EMBEDDED, ERROR, FINAL, USAGE, found, frame, kinds, report, without

from pytest_corpus.schema_registry import UnknownEditionError, UnknownSchemaError, registry
from pytest_corpus.spec.errors import PROTOCOL_ERROR_CODES, STREAM_ERROR_CODES
from pytest_corpus.spec.schemas import BASE_URI, SCHEMA_VERSIONS
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


COMPLETION = {"text": "a", "model": "m", "usage": USAGE, "finish_reason": "stop"}
EVENT_DATA = {"event": "data", "data": {"text": "a", "is_final": False}}
EVENT_END = {"event": "end", "data": COMPLETION}
EVENT_ERROR = {"event": "error", "data": ERROR}
OVERLAY: tuple[tuple[str, list[object], str | None, list[tuple[int, str, str]]], ...] = (
    ("data and end", [EVENT_DATA, EVENT_DATA, EVENT_END], "success", []),
    ("end alone", [EVENT_END], "success", []),
    ("data and error", [EVENT_DATA, EVENT_ERROR], "error", []),
    ("no end", [EVENT_DATA], None, [(0, ErrorType.NO_TERMINAL, "")]),
    ("after the end", [EVENT_END, EVENT_DATA], "success", [(2, ErrorType.AFTER_TERMINAL, "")]),
    ("canonical frames", [DATA, EVENT_END], "success", [(1, ErrorType.FRAMING, "")]),
    ("a canonical end", [EVENT_DATA, FINAL], "success", [(2, ErrorType.FRAMING, "")]),
    ("unknown event", [{"event": CANARY, "data": {}}, EVENT_END], "success", [(1, ErrorType.FRAME_SHAPE, "event")]),
    ("no event", [{"data": {}}, EVENT_END], "success", [(1, ErrorType.FRAME_SHAPE, "event")]),
    ("no data", [{"event": "data"}, EVENT_END], "success", [(1, ErrorType.FRAME_SHAPE, "data")]),
    ("an extra key", [{**EVENT_DATA, "id": 1}, EVENT_END], "success", [(1, ErrorType.FRAME_SHAPE, "id")]),
    ("bad chunk", [{"event": "data", "data": {"text": "a"}}, EVENT_END], "success",
     [(1, ErrorType.CHUNK_SCHEMA, "data.is_final")]),
    ("bad completion", [{"event": "end", "data": without(COMPLETION, "usage")}], "success",
     [(1, ErrorType.CHUNK_SCHEMA, "data.usage")]),
    ("bad error", [{"event": "error", "data": without(ERROR, "code")}], "error",
     [(1, ErrorType.ERROR_ENVELOPE, "data.code")]),
    ("no object", [7, EVENT_END], "success", [(1, ErrorType.FRAME_TYPE, "")]),
)  # fmt: skip


@pytest.mark.parametrize(("kind", "frames", "terminal", "errors"), OVERLAY, ids=[row[0] for row in OVERLAY])
def test_the_overlay_is_checked_on_request(
    kind: str, frames: list[object], terminal: str | None, errors: list[tuple[int, str, str]]
) -> None:
    """With ``framing="event"`` the gateway's frames are held to their own schemas (R1)."""
    assert found(*frames, framing="event") == errors
    assert report(*frames, framing="event").terminal == terminal


@pytest.mark.parametrize("edition", [None, "1.1.0"])
def test_an_overlay_frame_holds_what_its_edition_has(edition: str | None) -> None:
    """Additions of edition 1.1.0 to chunks, results and errors are in its overlay too, not in that of 1.0.0 (R57)."""
    newer = (
        [{"event": "data", "data": {"text": "a", "is_final": False, "model": None}}, EVENT_END],
        [EVENT_DATA, {"event": "end", "data": {**COMPLETION, "warnings": None}}],
        [EVENT_DATA, {"event": "error", "data": {**ERROR, "details": None}}],
    )
    for frames in newer:
        assert found(*frames, framing="event", edition=edition) == []
        assert found(*frames, framing="event", edition="1.0.0") != []


def test_the_graph_overlay_is_checked_on_request() -> None:
    """Overlay frames of a graph carry records, then the result of the whole query (R1)."""
    data = {"event": "data", "data": CHUNKS["graph"]}
    end = {"event": "end", "data": {"records": [{"name": CANARY}], "summary": {}}}
    assert validate_frames([data, end], "graph", framing="event").is_valid
    assert validate_frames([data, EVENT_ERROR], "graph", framing="event").terminal == "error"
    (error,) = validate_frames([data, {"event": "end", "data": {}}], "graph", framing="event").validation_errors
    assert (error.error_type, error.path) == (ErrorType.CHUNK_SCHEMA, "data.records")


def test_a_component_without_an_overlay_is_refused() -> None:
    """No engine is made for overlay frames that no schema describes (SCHEMA 5.1)."""
    with pytest.raises(UnknownSchemaError, match=r"embedding\.stream\.frame\.data"):
        StreamValidationEngine("embedding", framing="event")


EMPTY: dict[str, dict[str, Any]] = {"llm": {"text": ""}, "embedding": {"embeddings": []}, "graph": {"records": []}}


@pytest.mark.parametrize("edition", [None, *SCHEMA_VERSIONS])
@pytest.mark.parametrize("component", CHUNKS)
def test_legal_streams_of_every_component_pass(component: str, edition: str | None) -> None:
    """Several frames, one final frame, an empty final chunk, keep-alives and a late error are legal (R4)."""
    data = frame(chunk=CHUNKS[component])
    final = frame(chunk={**CHUNKS[component], "is_final": True})
    keep_alive = frame(chunk={**EMPTY[component], "is_final": False})
    empty_end = frame(chunk={**EMPTY[component], "is_final": True})
    for frames in ([final], [data, final], [keep_alive, data, keep_alive, empty_end], [empty_end], [data, ERROR]):
        result = validate_frames(frames, component, edition)
        assert result.is_valid, result.error_summary
        assert result.terminal == ("error" if frames[-1] is ERROR else "success")


OWN: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("embedding", {"usage": None, "model": None}, ""),
    ("embedding", {"usage": {"prompt_tokens": 3, "total_tokens": 3}}, ""),
    ("embedding", {"embeddings": [{**EMBEDDED, "index": 0, "metadata": None}]}, ""),
    ("embedding", {"embeddings": None}, "chunk.embeddings"),
    ("embedding", {"embeddings": [{**EMBEDDED, "vector": []}]}, "chunk.embeddings.0.vector"),
    ("embedding", {"embeddings": [{**EMBEDDED, "norm": 1}]}, "chunk.embeddings.0.norm"),
    ("embedding", {"usage": 3}, "chunk.usage"),
    ("embedding", {"text": CANARY}, "chunk.text"),
    ("embedding", {"is_final": None}, "chunk.is_final"),
    ("graph", {"summary": None}, ""),
    ("graph", {"summary": {"rows": 1}}, ""),
    ("graph", {"records": {}}, "chunk.records"),
    ("graph", {"records": [{"a": 1}, [1]]}, "chunk.records.1"),
    ("graph", {"rows": []}, "chunk.rows"),
    ("graph", {"is_final": 1}, "chunk.is_final"),
)


@pytest.mark.parametrize(("component", "changed", "path"), OWN, ids=[f"{row[0]}-{n}" for n, row in enumerate(OWN)])
def test_chunks_are_held_to_the_schema_of_their_component(component: str, changed: dict[str, Any], path: str) -> None:
    """Every component has a chunk schema; a pin to the edition before it existed asks the first that has it."""
    frames = [frame(chunk={**CHUNKS[component], **changed}), frame(chunk={**EMPTY[component], "is_final": True})]
    for edition in (None, *SCHEMA_VERSIONS):
        errors = validate_frames(frames, component, edition).validation_errors
        assert [(e.error_type, e.path) for e in errors] == ([(ErrorType.CHUNK_SCHEMA, path)] if path else [])


@pytest.mark.parametrize("component", ["embedding", "graph"])
def test_chunks_of_another_component_are_refused(component: str) -> None:
    """A chunk belongs to one component."""
    errors = validate_frames([FINAL], component).validation_errors
    assert [error.error_type for error in errors] == [ErrorType.CHUNK_SCHEMA]


@settings(deadline=None, max_examples=600)
@given(data=st.data())
def test_engine_and_frame_schema_agree_in_every_component(data: st.DataObject) -> None:
    """A single frame passes the engine exactly when it meets the component's frame schema or error envelope."""
    component = data.draw(st.sampled_from(sorted(CHUNKS)))
    chunk = CHUNKS[component]
    seeds = [frame(chunk=chunk), frame(chunk={**chunk, "is_final": True}), ERROR]
    instance = data.draw(st.sampled_from(seeds).flatmap(mutated))
    names = (f"{component}.envelope.stream.success", f"{component}.envelope.error")
    valid = any(registry().is_valid(name, instance) for name in names)
    errors = [error for error in validate_frames([instance], component).validation_errors if error.frame_number]
    assert valid == (errors == [])
