"""Streams over HTTP: newline-delimited JSON and server-sent events (SPECIFICATION 4.2.4.1, 4.2.4.2; R87)."""

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.component import Subject
from pytest_corpus.kit.fixtures import subject
from pytest_corpus.spec.transports import NDJSON, SSE
from pytest_corpus.suites.transport.exchanges import (
    Seen,
    ends_with_terminal,
    events,
    kind_of,
    lenient,
    lines,
    offered,
    shown,
)


@pytest.mark.core
@pytest.mark.requirement("TRA-NDJSON-1")
def test_ndjson_has_its_content_type(subject: Subject) -> None:
    """A stream that is asked for as NDJSON has the content type application/x-ndjson."""
    has_content_type(offered(subject, NDJSON), NDJSON)


@pytest.mark.core
@pytest.mark.requirement("TRA-NDJSON-2")
def test_ndjson_is_chunked(subject: Subject) -> None:
    """A stream of NDJSON is sent in chunks, without a content length."""
    seen = offered(subject, NDJSON)
    coding = seen.answer.header("Transfer-Encoding").lower()
    with shown(seen):
        length = "a content length" if seen.answer.header("Content-Length") else "no transfer encoding"
        got = f"{length}, HTTP/{seen.answer.version}"
        expect.that("chunked" in coding, "Transfer-Encoding: chunked", got, "Transfer-Encoding")


@pytest.mark.core
@pytest.mark.requirement("TRA-NDJSON-3")
def test_each_line_is_one_frame(subject: Subject) -> None:
    """Each line of a stream of NDJSON is a JSON object."""
    lines_are_frames(offered(subject, NDJSON))


@pytest.mark.requirement("TRA-NDJSON-4")
def test_the_last_line_is_the_terminal(subject: Subject) -> None:
    """The last line of a stream of NDJSON is a terminal frame, and no other is."""
    seen = offered(subject, NDJSON)
    with expect.resting_on("TRA-NDJSON-3"):
        lines_are_frames(seen)
    ends_with_terminal(seen, [lenient(line) for line in lines(seen.answer.body)], "line")


@pytest.mark.core
@pytest.mark.requirement("TRA-SSE-1")
def test_sse_has_its_content_type(subject: Subject) -> None:
    """A stream that is asked for as server-sent events has the content type text/event-stream."""
    has_content_type(offered(subject, SSE), SSE)


@pytest.mark.core
@pytest.mark.requirement("TRA-SSE-2")
def test_the_data_of_each_event_is_one_frame(subject: Subject) -> None:
    """The `data` lines of an event form one JSON object together."""
    events_are_frames(offered(subject, SSE))


@pytest.mark.requirement("TRA-SSE-3")
def test_the_last_event_is_the_terminal(subject: Subject) -> None:
    """The last event with data holds a terminal frame, and no other does."""
    seen = offered(subject, SSE)
    with expect.resting_on("TRA-SSE-2"):
        events_are_frames(seen)
    ends_with_terminal(seen, [lenient(data) for data in events(seen.answer.body)], "event")


def has_content_type(seen: Seen, kind: str) -> None:
    """The content type of a stream is the one that was asked for."""
    found = seen.answer.content_type
    with shown(seen):
        expect.that(found == kind, kind, found=found or None, path="Content-Type")


def lines_are_frames(seen: Seen) -> None:
    """Every line is a JSON object."""
    with shown(seen):
        found = lines(seen.answer.body)
        expect.that(found, "one frame on each line", "an empty body", "body")
        for number, line in enumerate(found, start=1):
            got = "a blank line" if not line.strip() else kind_of(lenient(line))
            expect.that(isinstance(lenient(line), dict), "one JSON frame", got, f"line {number}")


def events_are_frames(seen: Seen) -> None:
    """The data of every event is a JSON object."""
    with shown(seen):
        found = events(seen.answer.body)
        expect.that(found, "an event with `data` a frame", "no event with data", "body")
        for number, data in enumerate(found, start=1):
            expect.that(isinstance(lenient(data), dict), "one JSON frame", kind_of(lenient(data)), f"event {number}")
