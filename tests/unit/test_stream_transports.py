"""Streams as bytes: every oddity of NDJSON and of server-sent events has its one outcome, however bytes are cut."""

import io
import json
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stream_frames import ERROR, FINAL, chunk, kinds

from pytest_corpus.stream_validator import (
    MAX_FRAME_BYTES,
    ErrorType,
    StreamReport,
    StreamValidationEngine,
    ValidationConfig,
    validate_frames,
    validate_ndjson_stream,
    validate_sse_stream,
)

DATA = chunk(text="a: é")
D, F, E = (json.dumps(frame).encode() for frame in (DATA, FINAL, ERROR))
NAN = F.replace(b"12.5", b"NaN")
TWICE = F.replace(b'"ms": 12.5', b'"ms": 12.5, "ms": 2')
BOM = b"\xef\xbb\xbf"


NDJSON: tuple[tuple[str, bytes, int, list[tuple[int, str]]], ...] = (
    ("LF", D + b"\n" + F + b"\n", 2, []),
    ("no last line end", D + b"\n" + F, 2, []),
    ("CR LF", D + b"\r\n" + F + b"\r\n", 2, []),
    ("CR LF but for the last", D + b"\r\n" + F + b"\r", 2, []),
    ("compact", json.dumps(FINAL, separators=(",", ":")).encode() + b"\n", 1, []),
    ("blank lines", b"\n\r\n" + D + b"\n \t\n\n" + F + b"\n\n\n", 2, []),
    ("an error envelope", D + b"\n" + E + b"\n", 2, []),
    ("white space around", b"  " + D + b"\t\n " + F, 2, []),
    ("escapes", D + b"\n" + F.replace(b'""', b'"\\u003a\\n\\ud83d\\ude00"') + b"\n", 2, []),
    ("nothing", b"", 0, [(0, ErrorType.NO_TERMINAL)]),
    ("only blank lines", b"\n\n", 0, [(0, ErrorType.NO_TERMINAL)]),
    ("no end", D + b"\n", 1, [(0, ErrorType.NO_TERMINAL)]),
    ("cut off", D + b"\n" + F[:-20], 2, [(2, ErrorType.FRAME_JSON)]),
    ("CR alone", D + b"\r" + F, 1, [(1, ErrorType.FRAME_JSON)]),
    ("two frames in a line", D + F + b"\n" + F, 2, [(1, ErrorType.FRAME_JSON)]),
    ("a frame in two lines", D[:30] + b"\n" + D[30:] + b"\n" + F, 3,
     [(1, ErrorType.FRAME_JSON), (2, ErrorType.FRAME_JSON)]),
    ("a comment", b": hello\n" + F, 2, [(1, ErrorType.FRAME_JSON)]),
    ("done marker", F + b"\n[DONE]\n", 2, [(2, ErrorType.AFTER_TERMINAL)]),
    ("byte order mark", BOM + D + b"\n" + F, 2, [(1, ErrorType.FRAME_JSON)]),
    ("byte order mark and end", BOM + F, 1, [(1, ErrorType.FRAME_JSON)]),
    ("invalid UTF-8", D.replace(b"a: ", b"\xff") + b"\n" + F, 2, [(1, ErrorType.FRAME_UTF8)]),
    ("NaN", D + b"\n" + NAN, 2, [(2, ErrorType.FRAME_JSON)]),
    ("a key twice", D + b"\n" + TWICE, 2, [(2, ErrorType.DUPLICATE_KEY)]),
    ("the end twice", F.replace(b'"is_final": true', b'"is_final": false, "is_final": true'), 1,
     [(1, ErrorType.DUPLICATE_KEY)]),
    ("no object", b"[]\n" + F, 2, [(1, ErrorType.FRAME_TYPE)]),
    ("wrong code", F.replace(b"STREAMING", b"OK"), 1, [(1, ErrorType.FRAME_CODE)]),
    ("after the end", F + b"\n" + D + b"\n" + F + b"\n{", 4, [(2, ErrorType.AFTER_TERMINAL)]),
)  # fmt: skip


def cut(data: bytes, size: int) -> list[bytes]:
    return [data[start : start + size] for start in range(0, len(data), size)]


@pytest.mark.parametrize(("kind", "data", "total", "errors"), NDJSON, ids=[row[0] for row in NDJSON])
def test_ndjson_has_one_outcome(kind: str, data: bytes, total: int, errors: list[tuple[int, str]]) -> None:
    """Each shape of a stream has its report, whole, in pieces, from a file or as text."""
    report = validate_ndjson_stream(data, component="llm")
    assert (report.total_frames, kinds(report)) == (total, errors)
    for source in (cut(data, 1), cut(data, 7), io.BytesIO(data), bytearray(data), memoryview(data)):
        assert validate_ndjson_stream(source, component="llm") == report
    if b"\xff" not in data:
        assert validate_ndjson_stream(data.decode(), component="llm") == report
        assert validate_ndjson_stream(io.StringIO(data.decode(), newline=""), component="llm") == report


def sse(*payloads: bytes) -> bytes:
    return b"".join(b"data: " + payload + b"\n\n" for payload in payloads)


MULTI = b"data: " + json.dumps(FINAL, indent=1).encode().replace(b"\n", b"\ndata:") + b"\n\n"

SSE: tuple[tuple[str, bytes, int, list[tuple[int, str]]], ...] = (
    ("plain", sse(D, F), 2, []),
    ("CR LF", sse(D, F).replace(b"\n", b"\r\n"), 2, []),
    ("CR", sse(D, F).replace(b"\n", b"\r"), 2, []),
    ("mixed line ends", b"data:" + D + b"\r\n\n" + b"data: " + F + b"\r\r\n", 2, []),
    ("byte order mark", BOM + sse(D, F), 2, []),
    ("byte order mark before a blank line", BOM + b"\n" + sse(D, F), 2, []),
    ("no space", sse(D, F).replace(b"data: ", b"data:"), 2, []),
    ("comments", b": hi\n" + sse(D) + b":\n\n: data: x\n" + sse(F), 2, []),
    ("more blank lines", b"\n\n" + sse(D) + b"\n\n" + sse(F) + b"\n", 2, []),
    ("other fields", b"retry: 10\nid: 7\nevent: chunk\nfoo: bar\nfoo\n" + sse(D) + b"event: ping\n\n" + sse(F), 2, []),
    ("data in many lines", sse(D) + MULTI, 2, []),
    ("an error envelope", sse(D, E), 2, []),
    ("nothing", b"", 0, [(0, ErrorType.NO_TERMINAL)]),
    ("no end", sse(D), 1, [(0, ErrorType.NO_TERMINAL)]),
    ("no last blank line", sse(D) + b"data: " + F + b"\n", 2, [(2, ErrorType.UNFINISHED_EVENT)]),
    ("no last line end", sse(D) + b"data: " + F, 2, [(2, ErrorType.UNFINISHED_EVENT)]),
    ("cut off", sse(D) + b"data: " + F[:20], 2, [(2, ErrorType.FRAME_JSON)]),
    ("a trailing comment", sse(D, F) + b": bye", 2, []),
    ("empty data", b"data\n\n" + sse(F), 2, [(1, ErrorType.FRAME_JSON)]),
    ("two frames in an event", b"data: " + D + b"\ndata: " + F + b"\n\n", 1, [(1, ErrorType.FRAME_JSON)]),
    ("a line end in a text", sse(D.replace(b"a: ", b"a\ndata: "), F), 2, [(1, ErrorType.FRAME_JSON)]),
    ("invalid UTF-8", sse(D.replace(b"a: ", b"\xff"), F), 2, [(1, ErrorType.FRAME_UTF8)]),
    ("invalid UTF-8 in a comment", b": \xff\n" + sse(F), 1, []),
    ("NDJSON", D + b"\n" + F + b"\n", 0, [(0, ErrorType.NO_TERMINAL)]),
    ("done marker", sse(F, b"[DONE]"), 2, [(2, ErrorType.AFTER_TERMINAL)]),
    ("a key twice", sse(D, TWICE), 2, [(2, ErrorType.DUPLICATE_KEY)]),
)


@pytest.mark.parametrize(("kind", "data", "total", "errors"), SSE, ids=[row[0] for row in SSE])
def test_sse_has_one_outcome(kind: str, data: bytes, total: int, errors: list[tuple[int, str]]) -> None:
    """Each shape of a stream of events has its report, whole, in pieces or from a file."""
    report = validate_sse_stream(data, component="llm")
    assert (report.total_frames, kinds(report)) == (total, errors)
    for source in (cut(data, 1), cut(data, 7), io.BytesIO(data)):
        assert validate_sse_stream(source, component="llm") == report


@settings(max_examples=150)
@given(data=st.data())
def test_where_bytes_are_cut_makes_no_difference(data: st.DataObject) -> None:
    """The same bytes give the same report in any pieces."""
    parts = data.draw(
        st.lists(st.sampled_from((D, D, D, F, E, TWICE, b"", b"\r", b"{", b"\n", BOM, b"x" * 400)), max_size=8)
    )
    body = b"\n".join(parts)
    stream, check = data.draw(
        st.sampled_from(
            ((body, validate_ndjson_stream), (sse(*parts), validate_sse_stream), (body, validate_sse_stream))
        )
    )
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    pieces = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    assert check(pieces, component="llm", max_frame_bytes=300) == check(stream, component="llm", max_frame_bytes=300)


def test_deep_nesting_is_an_error_of_its_own() -> None:
    """A frame that nests deeper than the limit is refused, where its schema would allow it."""
    for levels, errors in ((250, [(1, ErrorType.FRAME_DEPTH)]), (150, [])):
        deep = F.replace(b'"text": ""', b'"records": [{"a":' + b"[" * levels + b"]" * levels + b"}]")
        for check, data in ((validate_ndjson_stream, deep), (validate_sse_stream, sse(deep))):
            assert kinds(check(data, component="graph")) == errors
        assert kinds(validate_frames([json.loads(deep)], "graph")) == errors


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1: 2}, b"a", "\ud800"], ids=range(5))
def test_what_is_no_json_is_found_where_a_schema_is_open(value: object) -> None:
    """A record of a graph may hold anything, but nothing that JSON does not have."""
    sound = {**FINAL, "chunk": {"records": [{"a": {"b": None}}], "is_final": True}}
    broken = {**FINAL, "chunk": {"records": [{"a": {"b": value, "c": None}}], "is_final": True}}
    assert kinds(validate_frames([sound], "graph")) == []
    (error,) = validate_frames([broken], "graph").validation_errors
    # Some versions of the compiled validator look into what a schema leaves open, and refuse the chunk.
    assert error.error_type in (ErrorType.FRAME_JSON, ErrorType.CHUNK_SCHEMA)
    assert error.path.startswith("chunk.records.0.a.b")


def padded(size: int) -> bytes:
    return D.replace(b"a: ", b"a: " + b"x" * (size - len(D)))


@pytest.mark.parametrize("limit", [1000, MAX_FRAME_BYTES])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_a_line_may_measure_the_limit_and_no_more(limit: int, end: bytes) -> None:
    """The limit is of the frame, without the end of its line, and whole and in pieces the same (R4)."""
    for extra, errors in ((0, []), (1, [(1, ErrorType.FRAME_SIZE)])):
        frame = padded(limit + extra)
        for data in (frame + end + F + end, frame + end + F):
            for source in (data, cut(data, 65_536), cut(data, limit + 1)):
                assert kinds(validate_ndjson_stream(source, component="llm", max_frame_bytes=limit)) == errors
        events = b"data: " + frame + end + end + sse(F)
        for source in (events, cut(events, 65_536), cut(events, limit + 1)):
            assert kinds(validate_sse_stream(source, component="llm", max_frame_bytes=limit)) == errors


def test_a_frame_in_many_data_lines_is_measured_whole() -> None:
    """The limit holds for the data of an event, not for each of its lines."""
    data = b"data: {\n" + b"data: \n" * 500 + b"\n" + sse(F)
    assert kinds(validate_sse_stream(data, component="llm", max_frame_bytes=400)) == [(1, ErrorType.FRAME_SIZE)]


def endless(piece: bytes, size: int) -> Iterator[bytes]:
    for _ in range(size // len(piece)):
        yield piece


ENDLESS: tuple[tuple[str, Callable[..., StreamReport], bytes, str], ...] = (
    ("frames", validate_ndjson_stream, (D + b"\n") * 60, ErrorType.NO_TERMINAL),
    ("events", validate_sse_stream, sse(D) * 60, ErrorType.NO_TERMINAL),
    ("one line", validate_ndjson_stream, b"x" * 16_384, ErrorType.FRAME_SIZE),
    ("one data line", validate_sse_stream, b"data: " + b"x" * 16_384, ErrorType.FRAME_SIZE),
    ("one comment", validate_sse_stream, b":" * 16_384, ErrorType.NO_TERMINAL),
    ("one event", validate_sse_stream, b"data: x\n" * 1_000, ErrorType.FRAME_SIZE),
    ("blank lines", validate_ndjson_stream, b"\n" * 4_096, ErrorType.NO_TERMINAL),
    ("broken frames", validate_ndjson_stream, b"{" + b"x" * 4_000 + b"\n", ErrorType.FRAME_JSON),
)


@pytest.mark.parametrize(("kind", "check", "piece", "first"), ENDLESS, ids=[row[0] for row in ENDLESS])
def test_memory_stays_flat(kind: str, check: Callable[..., StreamReport], piece: bytes, first: str) -> None:
    """However long a stream, a line, an event or a row of defects is, little of it is held."""
    peaks = []
    for size in (500_000, 1_500_000):
        tracemalloc.start()
        report = check(endless(piece, size), component="llm", max_errors=10, max_frame_bytes=50_000)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert report.validation_errors[0].error_type == first
        assert len(report.validation_errors) <= 11
    assert peaks[1] < peaks[0] + 20_000
    assert peaks[1] < 1_000_000


def test_defects_beyond_the_limit_are_counted() -> None:
    """A report holds the first defects, and says how many more there were."""
    report = validate_ndjson_stream(b"{\n" * 20 + F, component="llm", max_errors=3)
    assert kinds(report) == [(number, ErrorType.FRAME_JSON) for number in (1, 2, 3)]
    assert report.errors_omitted == 17
    assert not report.is_valid
    assert report.error_summary.splitlines()[-1] == "and 17 more"


# The engine.


def test_an_engine_reports_at_any_time() -> None:
    """`finish` reports as if nothing followed, also within a line, and changes nothing."""
    engine = StreamValidationEngine("llm")
    engine.feed_ndjson(D + b"\n" + F[:30])
    assert kinds(engine.finish()) == kinds(engine.finish()) == [(2, ErrorType.FRAME_JSON)]
    engine.feed_ndjson(F[30:])
    assert engine.finish().is_valid
    assert engine.finish().total_frames == 2
    engine.feed_ndjson(b"\n" + D)
    assert kinds(engine.finish()) == [(3, ErrorType.AFTER_TERMINAL)]


def test_an_engine_reports_within_an_event() -> None:
    """The same of events, where what is not finished is said to be."""
    engine = StreamValidationEngine("llm")
    for part in (sse(D), b"data: ", F, b"\r"):
        engine.feed_sse(part)
    assert kinds(engine.finish()) == kinds(engine.finish()) == [(2, ErrorType.UNFINISHED_EVENT)]
    engine.feed_sse(b"\n\r\n")
    assert engine.finish().is_valid


def test_an_engine_reads_one_transport() -> None:
    """Bytes of two transports in one stream are the caller's mistake."""
    engine = StreamValidationEngine("llm")
    engine.feed_ndjson(b"")
    with pytest.raises(ValueError, match="one transport"):
        engine.feed_sse(b"")


def test_an_engine_validates_whole_streams_apart() -> None:
    """`validate_ndjson` and its like take whole streams, any number of them, and leave the engine as it is."""
    engine = StreamValidationEngine(ValidationConfig(component="llm"))
    engine.feed(DATA)
    for _ in range(2):
        assert engine.validate_ndjson(D + b"\n" + F).is_valid
        assert engine.validate_sse(sse(D, F)).is_valid
        assert engine.validate_frames([DATA, FINAL]).is_valid
    assert engine.finish().total_frames == 1


@pytest.mark.parametrize("source", [7, None, [7], [None], io.StringIO], ids=range(5))
def test_a_source_that_is_none_is_refused(source: Any) -> None:
    """A source that is not a stream raises, for it is not a defect of a stream."""
    with pytest.raises(TypeError):
        validate_ndjson_stream(source, component="llm")
    with pytest.raises(TypeError):
        validate_sse_stream(source, component="llm")


def test_what_a_source_raises_is_the_callers() -> None:
    """An exception of the caller's own source comes through."""

    def broken() -> Iterable[bytes]:
        yield D
        raise ConnectionError

    with pytest.raises(ConnectionError):
        validate_ndjson_stream(broken(), component="llm")


COMPLETION = {"text": "a", "model": "m", "usage": {"prompt_tokens": 1, "total_tokens": 1}, "finish_reason": "stop"}
EVENTS = [("data", DATA["chunk"]), ("end", COMPLETION)]


def test_the_overlay_comes_in_both_transports() -> None:
    """An overlay frame is an object in a line or in an event, or the name of the event with its data (R1)."""
    whole = [json.dumps({"event": event, "data": data}).encode() for event, data in EVENTS]
    split = b"".join(b"event: %b\ndata: %b\n\n" % (event.encode(), json.dumps(data).encode()) for event, data in EVENTS)
    options: dict[str, Any] = {"component": "llm", "framing": "event"}
    reports = [validate_ndjson_stream(b"\n".join(whole), **options)]
    reports += [validate_sse_stream(data, **options) for data in (sse(*whole), split)]
    assert all(report == StreamReport(2, 2, (), "success") for report in reports)
    failed = split + b"event: error\ndata: " + E + b"\n\n"
    assert kinds(validate_sse_stream(failed, **options)) == [(3, ErrorType.AFTER_TERMINAL)]
    assert validate_sse_stream(b"event: error\ndata: " + E + b"\n\n", **options).terminal == "error"
    assert kinds(validate_sse_stream(split, component="llm"))[0] == (1, ErrorType.FRAME_SHAPE)
