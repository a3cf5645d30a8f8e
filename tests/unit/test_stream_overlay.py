"""The gateway's overlay of events, where it is asked for."""

import pytest
from stream_frames import CANARY, CHUNKS, DATA, ERROR, FINAL, USAGE, found, report, without

from pytest_corpus.schema_registry import UnknownSchemaError
from pytest_corpus.stream_validator import ErrorType, StreamValidationEngine, validate_frames

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
