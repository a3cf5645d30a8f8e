"""Streams over HTTP: newline-delimited JSON and server-sent events (SPECIFICATION 4.2.4.1, 4.2.4.2; R87)."""

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.component import Subject
from pytest_corpus.kit.fixtures import core, deciding, subject
from pytest_corpus.spec.transports import NDJSON, STREAM_TYPES
from pytest_corpus.suites.transport import exchanges

PARTS = {"ndjson": ("line", exchanges.lines), "sse": ("event", exchanges.events)}
"""For each format the part of a stream that holds a frame, and the function that splits a body into these parts."""


@pytest.mark.core
@deciding("name", ndjson="TRA-NDJSON-1", sse="TRA-SSE-1")
def test_a_stream_has_its_content_type(subject: Subject, name: str) -> None:
    """A stream has the requested content type: application/x-ndjson or text/event-stream."""
    kind = STREAM_TYPES[name]
    seen = exchanges.offered_stream(subject, kind)
    found = seen.answer.content_type
    with exchanges.show_in_findings(seen):
        expect.check(found == kind, kind, found=found or None, path="Content-Type")


@core("TRA-NDJSON-2")
def test_ndjson_is_chunked(subject: Subject) -> None:
    """A stream of NDJSON is sent in chunks, without a content length."""
    seen = exchanges.offered_stream(subject, NDJSON)
    coding = seen.answer.header("Transfer-Encoding").lower()
    with exchanges.show_in_findings(seen):
        length = "a content length" if seen.answer.header("Content-Length") else "no transfer encoding"
        got = f"{length}, HTTP/{seen.answer.version}"
        expect.check("chunked" in coding, "Transfer-Encoding: chunked", got, "Transfer-Encoding")


@pytest.mark.core
@deciding("name", ndjson="TRA-NDJSON-3", sse="TRA-SSE-2")
def test_each_part_is_one_frame(subject: Subject, name: str) -> None:
    """Each line, or the joined `data` lines of each event, is a JSON object."""
    frames_in(subject, name)


@deciding("name", ndjson="TRA-NDJSON-4", sse="TRA-SSE-3")
def test_the_last_part_is_the_terminal(subject: Subject, name: str) -> None:
    """Only the last line, or the last event with data, has a terminal frame."""
    with expect.resting_on("TRA-NDJSON-3" if name == "ndjson" else "TRA-SSE-2"):
        seen, found = frames_in(subject, name)
    exchanges.expect_terminal_last(seen, [exchanges.parse_leniently(each) for each in found], PARTS[name][0])


def frames_in(subject: Subject, name: str) -> tuple[exchanges.RawExchange, list[bytes]]:
    """Return a stream in a format, and its lines or events. Raises the violation if one of them is not a frame."""
    seen = exchanges.offered_stream(subject, STREAM_TYPES[name])
    part, split = PARTS[name]
    found = split(seen.answer.body)
    with exchanges.show_in_findings(seen):
        expect.check(found, f"a frame in each {part}", f"no {part} with data", "body")
    exchanges.expect_frames(seen, found, part)
    return seen, found
