"""Exchanges as JSON values, and back: what a transcript holds of a call, and what an HTTP archive has of one."""

import base64
import binascii
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import orjson

from pytest_corpus.adapter.calls import Sending, entry_point_of, read_frame
from pytest_corpus.adapter.exchange import CallFault, Exchange, Frame
from pytest_corpus.adapter.reports import Arrival, Count, Observation
from pytest_corpus.adapter.scope import OBSERVATION, OUTCOME
from pytest_corpus.adapter.snapshot import NotJSON, to_bytes
from pytest_corpus.adapter.tracebacks import EscapedException, Place
from pytest_corpus.adapter.transports.raw import Piece, RawAnswer, RawRequest
from pytest_corpus.spec.operations import BY_OP
from pytest_corpus.spec.transports import NDJSON, SSE
from pytest_corpus.text import bounded
from pytest_corpus.text.problems import PlainError
from pytest_corpus.text.strict_json import NOT_PLAIN, read_exactly, read_plainly
from pytest_corpus.validation.schema.evidence import flaw
from pytest_corpus.validation.streams.transport import NdjsonReader, SseReader

TEXT = "json_text"
"""The key of a value that JSON itself cannot hold, such as NaN or half a character: its text as it travelled."""


def value(given: Any) -> Any:
    """A value that is written as it is, or by its text if it is not plain JSON."""
    kind = type(given)
    if kind is bool or (kind is str and given.isascii()) or (kind is float and math.isfinite(given)):
        return given
    if kind is dict and TEXT not in given and all(type(each) is str and each.isascii() for each in given.values()):
        return given
    data = to_bytes(given)
    found = read_plainly(data)
    return {TEXT: data.decode()} if found is NOT_PLAIN or (isinstance(found, dict) and TEXT in found) else found


def fragment(given: Any) -> Any:
    """A value as `value` has it, already written."""
    data = to_bytes(given)
    return orjson.Fragment(data) if read_plainly(data) is not NOT_PLAIN and TEXT.encode() not in data else value(given)


def text_of(written: Any) -> str:
    """The JSON text of a value that `value` wrote, as it travelled."""
    if isinstance(written, dict) and set(written) == {TEXT}:
        return str(written[TEXT])
    return to_bytes(written).decode()


def given(written: Any) -> Any:
    """The value that `value` wrote."""
    if isinstance(written, dict) and set(written) == {TEXT}:
        return read_exactly(str(written[TEXT]).encode("utf-8", "surrogatepass"))[0]
    return written


def calls(made: Sending, requests: Sequence[Any]) -> dict[str, Any]:
    """What was sent together: the requests as they were written, with the answers and the reports."""
    if made.raw is not None:
        return raw(made.raw, made.answer, made.component)
    written = list(map(exchange, made.exchanges, requests))
    if made.clients is not None:
        return {"entry_point": made.entry_point, "component": made.component, "calls": written}
    return written[0]


def exchange(made: Exchange, request: Any) -> dict[str, Any]:
    """The request as it was written, the answer and the reports of a call, without what is empty."""
    observed = made.observed.awaited(OBSERVATION).awaited(OUTCOME)
    members = {
        "entry_point": entry_point_of(made),
        "component": made.component,
        "frames": [{"at_s": round(frame.at_s, 6), "size": frame.size, "body": _body(frame)} for frame in made.frames],
        "fault": _fault(made.fault),
        "elapsed_s": round(made.elapsed_s, 6),
        "started": made.started,
        "observations": [_report(each) for each in observed.observations],
        "counters": [_report(each) for each in observed.counts],
        "logs": [value(each) for each in observed.logs],
        "debug_logs": [value(each) for each in observed.debug_logs],
        "headers": [value(each) for each in observed.headers],
        "provider_calls": observed.reached_provider,
        "limited": made.limited,
        "faults_struck": list(observed.faults),
        "retry_hints_ms": [value(each) for each in sorted(observed.hints_ms)],
    }
    present = {key: each for key, each in members.items() if each not in (None, [], "", 0, False, float("inf"))}
    return {**present, "request": request}


def fill(made: Exchange, written: Mapping[str, Any]) -> None:
    """Give an exchange the answer and the reports that were recorded."""
    observed = made.observed
    made.frames = [
        Frame(body := given(each["body"]), each["size"], each["at_s"], finite=body is each["body"])
        for each in written.get("frames", ())
    ]
    made.fault = fault(written.get("fault"))
    made.elapsed_s, made.started = written.get("elapsed_s", 0.0), written.get("started", made.started)
    observed.logs, observed.debug_logs, observed.headers = (
        tuple(str(given(each)) for each in written.get(key, ())) for key in ("logs", "debug_logs", "headers")
    )
    hints = map(given, written.get("retry_hints_ms", ()))
    observed.hints_ms = frozenset(each for each in hints if isinstance(each, int | float))
    observed.observations = [Observation(**_members(each)) for each in written.get("observations", ())]
    observed.counts = [Count(**_members(each)) for each in written.get("counters", ())]


def _members(written: Mapping[str, Any]) -> dict[str, Any]:
    return {key: given(item) for key, item in written.items()}


def fault(written: Mapping[str, Any] | None) -> CallFault | None:
    """The fault that was recorded."""
    if written is None:
        return None
    raised = written.get("raised")
    return CallFault(written["kind"], written["text"], _raised(raised) if raised else None)


def raw_request(request: RawRequest) -> dict[str, Any]:
    """A raw request of a transport test."""
    asked = {each.name: getattr(request, each.name) for each in fields(request)}
    return {
        **asked,
        "headers": dict(request.headers),
        "envelope": value(request.envelope),
        "body": _bytes(request.body),
    }


def raw(request: RawRequest, made: RawAnswer, component: str) -> dict[str, Any]:
    """A raw request of a transport test, and the bytes that came back."""
    came = {each.name: getattr(made, each.name) for each in fields(made)}
    return {
        "entry_point": "raw",
        "component": component,
        "request": raw_request(request),
        "answer": {
            **came,
            "fault": _fault(made.fault),
            "trailing": {key: _bytes(each) for key, each in made.trailing.items()},
            "pieces": [{**asdict(piece), "data": _bytes(piece.data)} for piece in made.pieces],
        },
    }


def raw_answer(written: Mapping[str, Any]) -> RawAnswer:
    """The raw answer that was recorded."""
    members = {each.name: written[each.name] for each in fields(RawAnswer) if each.name in written}
    members["fault"] = fault(written["fault"])
    members["headers"] = tuple((name, each) for name, each in written["headers"])
    members["trailing"] = {key: _unbytes(each) for key, each in written["trailing"].items()}
    members["pieces"] = [Piece(_unbytes(each["data"]), each["at_s"], each["binary"]) for each in written["pieces"]]
    return RawAnswer(**members)


def arrivals(made: Sequence[Arrival]) -> list[dict[str, Any]]:
    """The arrivals at the provider: the operation, the chunk, and what was handed on."""
    return [
        {
            "op": each.op,
            **({} if each.chunk is None else {"chunk": value(each.chunk)}),
            **({"facts": value(dict(each.facts))} if each.facts else {}),
        }
        for each in made
    ]


def _fault(made: CallFault | None) -> dict[str, Any] | None:
    if made is None:
        return None
    return {"kind": made.kind, "text": made.text, **({"raised": asdict(made.raised)} if made.raised else {})}


def _raised(written: Mapping[str, Any]) -> EscapedException:
    places = tuple(Place(**each) for each in written["places"])
    return EscapedException(written["type"], written["message"], places, tuple(map(tuple, written["causes"])))


def _body(frame: Frame) -> Any:
    """The value of a frame; one that was read as plain JSON is written as it is."""
    is_plain = frame.finite and not (isinstance(frame.body, dict) and TEXT in frame.body)
    return frame.body if is_plain else fragment(frame.body)


def _report(made: Observation | Count) -> dict[str, Any]:
    """An observation or a counter, without the defaults of the interface and without what the suite notes of it."""
    members = {each.name: getattr(made, each.name) for each in fields(made) if each.compare}
    return {key: value(each) for key, each in members.items() if each not in ("", {})}


def _bytes(data: str | bytes | None) -> Any:
    """Bytes as text if they are ASCII, else in base64."""
    if not isinstance(data, bytes):
        return data
    return {"ascii": data.decode()} if data.isascii() else {"base64": base64.b64encode(data).decode()}


def _unbytes(written: Any) -> Any:
    if not isinstance(written, dict):
        return written
    return written["ascii"].encode() if "ascii" in written else base64.b64decode(written["base64"])


class TrafficError(PlainError, ValueError):
    """A file that is not an HTTP archive: one sentence that says why."""


ARCHIVE = "transcript/archive"

MOST_OF_ARCHIVE = 32 * 2**20
"""The bytes of an archive."""


def entries(path: Path) -> Iterator[tuple[int, Exchange]]:
    """The exchanges of an archive, each with the number of its entry; other requests than envelopes are left out.

    Raises:
        TrafficError: it is not an archive.
        FileRefused: it cannot be read, or is beyond the limits of an archive.
    """
    try:
        archive = bounded.value(bounded.contents(path, MOST_OF_ARCHIVE))
        listed = archive["log"]["entries"]
    except bounded.FileRefused:
        raise
    except (ValueError, KeyError, TypeError) as error:
        why = f": {error}" if isinstance(error, ValueError) else ""
        raise TrafficError(f"{path}: not an HTTP archive (HAR): it has no log with entries{why}") from None
    if not isinstance(listed, list):
        raise TrafficError(f"{path}: not an HTTP archive (HAR): its entries are not a list")
    for number, entry in enumerate(listed, 1):
        where = f"{path}, entry {number}: not as HAR 1.2 has it"
        if said := flaw(ARCHIVE, entry, "Entry"):
            missing = _MISSING.search(said)
            raise TrafficError(f"{where}, without '{missing[1]}'" if missing else f"{where} ({said})")
        try:
            exchange = _exchange(entry)
        except binascii.Error as error:
            raise TrafficError(f"{where} ({error})") from None
        if exchange is not None:
            yield number, exchange


_MISSING = re.compile(r'"(\w+)" is a required property')


def _exchange(entry: Mapping[str, Any]) -> Exchange | None:
    try:
        envelope = bounded.value(((entry["request"].get("postData") or {}).get("text") or "").encode())
    except ValueError:
        return None
    if not isinstance(envelope, dict) or not isinstance(envelope.get("op"), str):
        return None
    content = entry["response"]["content"]
    text = content.get("text") or ""
    kind = (content.get("mimeType") or "").partition(";")[0].strip().lower()
    kind = kind if envelope["op"] in BY_OP and BY_OP[envelope["op"]].streaming else ""
    made = Exchange(envelope, kind in (NDJSON, SSE), elapsed_s=float(entry.get("time") or 0) / 1000)
    try:
        body = base64.b64decode(text) if content.get("encoding") == "base64" else text.encode("utf-8", "surrogatepass")
        if bounded.counted(body) > bounded.MOST_VALUES:
            raise NotJSON(f"an answer with more than {bounded.MOST_VALUES:,} values")
        for data in _parts(body, kind):
            made.frames.append(read_frame(data, made.elapsed_s))
    except NotJSON as error:
        made.fault = CallFault("not_json", str(error))
    return made


def _parts(body: bytes, kind: str) -> Iterator[bytes]:
    """The documents of a body: one, a line each, or an event each."""
    if kind not in (NDJSON, SSE):
        yield body
        return
    reader = (NdjsonReader if kind == NDJSON else SseReader)(len(body))
    yield from (data for data in (*reader.feed(body), *reader.rest()) if data is not None)
