"""Streams over HTTP: newline-delimited JSON and server-sent events (SPECIFICATION 4.2.4.1, 4.2.4.2; R87)."""

from __future__ import annotations

from pytest_corpus.spec.operations import STREAMING
from pytest_corpus.spec.requirements.model import Requirement


def _stream(name: str, text: str, source: tuple[str, ...], hint: str) -> Requirement:
    return Requirement(
        f"TRA-{name}", "MUST", text, source, needs=("http", "supports_streaming"), components=STREAMING, hint=hint
    )


REQUIREMENTS = (
    _stream(
        "NDJSON-1",
        "A stream of NDJSON has the content type application/x-ndjson.",
        ("SPECIFICATION 4.2.4.1", "R87"),
        "answer Accept: application/x-ndjson with that content type; a charset may follow it",
    ),
    _stream(
        "NDJSON-2",
        "A stream of NDJSON is sent with Transfer-Encoding: chunked.",
        ("SPECIFICATION 4.2.4.1", "R87"),
        "write each frame when it is there, without a content length; a buffered body is no stream",
    ),
    _stream(
        "NDJSON-3",
        "Each line of a stream of NDJSON is one complete JSON frame, and nothing else.",
        ("SPECIFICATION 4.2.4.1", "SCHEMA 5.2", "R87"),
        "write compact JSON and one line feed a frame: no blank lines, comments or `data:`, no indentation",
    ),
    _stream(
        "NDJSON-4",
        "The last line of a stream of NDJSON, and no other, is a terminal frame.",
        ("SPECIFICATION 4.2.4.1", "SPECIFICATION 4.2.3.2", "SCHEMA 5.3"),
        "end the response right after the terminal line; send no [DONE], no summary and no line after it",
    ),
    _stream(
        "SSE-1",
        "A stream of server-sent events has the content type text/event-stream.",
        ("SPECIFICATION 4.2.4.2", "R87"),
        "answer Accept: text/event-stream with that content type, or browsers refuse the stream",
    ),
    _stream(
        "SSE-2",
        "The data of each event is one complete JSON frame.",
        ("SPECIFICATION 4.2.4.2", "R87"),
        "put the whole frame into `data:`, also where `event:` names it; keep alive with comments, not with data",
    ),
    _stream(
        "SSE-3",
        "The last event that has data, and no other, is a terminal frame.",
        ("SPECIFICATION 4.2.4.2", "SPECIFICATION 4.2.3.2", "SCHEMA 5.3"),
        "close the response after the terminal event; `data: [DONE]` and pings after it are frames that are none",
    ),
)
