"""Converts calls (exchanges) to JSON values for transcripts and back, and reads calls from HTTP archives."""

import base64
import binascii
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import orjson

from pytest_corpus.adapter.calls import CallBatch, entry_point_of, read_frame
from pytest_corpus.adapter.exchange import CallFault, Exchange, Frame
from pytest_corpus.adapter.reports import Arrival, Count, Observation
from pytest_corpus.adapter.scope import OBSERVATION, OUTCOME
from pytest_corpus.adapter.snapshot import NotJSON, to_bytes
from pytest_corpus.adapter.tracebacks import CodePlace, EscapedException
from pytest_corpus.adapter.transports.raw import Piece, RawAnswer, RawRequest
from pytest_corpus.spec.operations import BY_OP
from pytest_corpus.spec.transports import NDJSON, SSE
from pytest_corpus.text import bounded
from pytest_corpus.text.problems import PlainError
from pytest_corpus.text.strict_json import NOT_PLAIN, read_exactly, read_plainly
from pytest_corpus.validation.schema.evidence import first_flaw
from pytest_corpus.validation.streams.transport import NdjsonReader, SseReader

TEXT = "json_text"
"""The key of an object that replaces a value outside of JSON, such as NaN. Under the key is the text that was sent."""


def encode_value(given: Any) -> Any:
    """Encode a value: plain JSON stays unchanged, any other value becomes text."""
    kind = type(given)
    if kind is bool or (kind is str and given.isascii()) or (kind is float and math.isfinite(given)):
        return given
    if kind is dict and TEXT not in given and all(type(each) is str and each.isascii() for each in given.values()):
        return given
    data = to_bytes(given)
    found = read_plainly(data)
    return {TEXT: data.decode()} if found is NOT_PLAIN or (isinstance(found, dict) and TEXT in found) else found


def encode_fragment(given: Any) -> Any:
    """Encode a value like `encode_value`, but as JSON text that orjson inserts unchanged."""
    data = to_bytes(given)
    is_plain = read_plainly(data) is not NOT_PLAIN and TEXT.encode() not in data
    return orjson.Fragment(data) if is_plain else encode_value(given)


def text_of(written: Any) -> str:
    """Return the original JSON text of an encoded value."""
    if isinstance(written, dict) and set(written) == {TEXT}:
        return str(written[TEXT])
    return to_bytes(written).decode()


def decode_value(written: Any) -> Any:
    """Return the value that `encode_value` encoded."""
    if isinstance(written, dict) and set(written) == {TEXT}:
        return read_exactly(str(written[TEXT]).encode("utf-8", "surrogatepass"))[0]
    return written


def encode_calls(made: CallBatch, requests: Sequence[Any]) -> dict[str, Any]:
    """Encode concurrent calls: the requests as they were sent, the answers, and the adapter's metrics and logs."""
    if made.raw is not None:
        return encode_raw_exchange(made.raw, made.answer, made.component)
    written = list(map(encode_exchange, made.exchanges, requests))
    if made.clients is not None:
        return {"entry_point": made.entry_point, "component": made.component, "calls": written}
    return written[0]


def encode_exchange(made: Exchange, request: Any) -> dict[str, Any]:
    """Encode a call: the request as it was sent, the answer, metrics and logs; empty members are left out."""
    observed = made.observed.wait_for_report(OBSERVATION).wait_for_report(OUTCOME)
    members = {
        "entry_point": entry_point_of(made),
        "component": made.component,
        "frames": [
            {"at_s": round(frame.at_s, 6), "size": frame.size, "body": _encode_body(frame)} for frame in made.frames
        ],
        "fault": _encode_fault(made.fault),
        "elapsed_s": round(made.elapsed_s, 6),
        "started": made.started,
        "observations": [_encode_metric(each) for each in observed.observations],
        "counters": [_encode_metric(each) for each in observed.counts],
        "logs": [encode_value(each) for each in observed.logs],
        "debug_logs": [encode_value(each) for each in observed.debug_logs],
        "headers": [encode_value(each) for each in observed.headers],
        "provider_calls": observed.reached_provider,
        "limited": made.limited,
        "faults_struck": list(observed.faults),
        "retry_hints_ms": [encode_value(each) for each in sorted(observed.hints_ms)],
    }
    present = {key: each for key, each in members.items() if each not in (None, [], "", 0, False, float("inf"))}
    return {**present, "request": request}


def restore_exchange(made: Exchange, written: Mapping[str, Any]) -> None:
    """Set the answer, metrics and logs of an exchange from its encoded form."""
    observed = made.observed
    made.frames = [
        Frame(body := decode_value(each["body"]), each["size"], each["at_s"], finite=body is each["body"])
        for each in written.get("frames", ())
    ]
    made.fault = decode_fault(written.get("fault"))
    made.elapsed_s, made.started = written.get("elapsed_s", 0.0), written.get("started", made.started)
    observed.logs, observed.debug_logs, observed.headers = (
        tuple(str(decode_value(each)) for each in written.get(key, ())) for key in ("logs", "debug_logs", "headers")
    )
    hints = map(decode_value, written.get("retry_hints_ms", ()))
    observed.hints_ms = frozenset(each for each in hints if isinstance(each, int | float))
    observed.observations = [Observation(**_decode_values(each)) for each in written.get("observations", ())]
    observed.counts = [Count(**_decode_values(each)) for each in written.get("counters", ())]


def _decode_values(written: Mapping[str, Any]) -> dict[str, Any]:
    return {key: decode_value(item) for key, item in written.items()}


def decode_fault(written: Mapping[str, Any] | None) -> CallFault | None:
    """Return the encoded fault of a call, or None."""
    if written is None:
        return None
    raised = written.get("raised")
    return CallFault(written["kind"], written["text"], _decode_exception(raised) if raised else None)


def encode_raw_request(request: RawRequest) -> dict[str, Any]:
    """Encode the request of a transport test, which may be any bytes."""
    asked = {each.name: getattr(request, each.name) for each in fields(request)}
    return {
        **asked,
        "headers": dict(request.headers),
        "envelope": encode_value(request.envelope),
        "body": _encode_bytes(request.body),
    }


def encode_raw_exchange(request: RawRequest, made: RawAnswer, component: str) -> dict[str, Any]:
    """Encode the request of a transport test and the bytes that were received."""
    came = {each.name: getattr(made, each.name) for each in fields(made)}
    return {
        "entry_point": "raw",
        "component": component,
        "request": encode_raw_request(request),
        "answer": {
            **came,
            "fault": _encode_fault(made.fault),
            "trailing": {key: _encode_bytes(each) for key, each in made.trailing.items()},
            "pieces": [{**asdict(piece), "data": _encode_bytes(piece.data)} for piece in made.pieces],
        },
    }


def decode_raw_answer(written: Mapping[str, Any]) -> RawAnswer:
    """Return the encoded answer to the request of a transport test."""
    members = {each.name: written[each.name] for each in fields(RawAnswer) if each.name in written}
    members["fault"] = decode_fault(written["fault"])
    members["headers"] = tuple((name, each) for name, each in written["headers"])
    members["trailing"] = {key: _decode_bytes(each) for key, each in written["trailing"].items()}
    members["pieces"] = [Piece(_decode_bytes(each["data"]), each["at_s"], each["binary"]) for each in written["pieces"]]
    return RawAnswer(**members)


def encode_arrivals(made: Sequence[Arrival]) -> list[dict[str, Any]]:
    """Encode the calls that reached the provider: operation, chunk, and the context that was passed on."""
    return [
        {
            "op": each.op,
            **({} if each.chunk is None else {"chunk": encode_value(each.chunk)}),
            **({"facts": encode_value(dict(each.facts))} if each.facts else {}),
        }
        for each in made
    ]


def _encode_fault(made: CallFault | None) -> dict[str, Any] | None:
    if made is None:
        return None
    return {"kind": made.kind, "text": made.text, **({"raised": asdict(made.raised)} if made.raised else {})}


def _decode_exception(written: Mapping[str, Any]) -> EscapedException:
    places = tuple(CodePlace(**each) for each in written["places"])
    return EscapedException(written["type"], written["message"], places, tuple(map(tuple, written["causes"])))


def _encode_body(frame: Frame) -> Any:
    """Encode the value of a frame; it stays unchanged if it was parsed as plain JSON."""
    is_plain = frame.finite and not (isinstance(frame.body, dict) and TEXT in frame.body)
    return frame.body if is_plain else encode_fragment(frame.body)


def _encode_metric(made: Observation | Count) -> dict[str, Any]:
    """Encode an observation or a counter, without default values and without the suite's remarks."""
    members = {each.name: getattr(made, each.name) for each in fields(made) if each.compare}
    return {key: encode_value(each) for key, each in members.items() if each not in ("", {})}


def _encode_bytes(data: str | bytes | None) -> Any:
    """Encode bytes: as text if they are ASCII, otherwise in base64."""
    if not isinstance(data, bytes):
        return data
    return {"ascii": data.decode()} if data.isascii() else {"base64": base64.b64encode(data).decode()}


def _decode_bytes(written: Any) -> Any:
    if not isinstance(written, dict):
        return written
    return written["ascii"].encode() if "ascii" in written else base64.b64decode(written["base64"])


class TrafficError(PlainError, ValueError):
    """A file that is not an HTTP archive. One sentence gives the reason."""


ARCHIVE = "transcript/archive"

MOST_ARCHIVE_BYTES = 32 * 2**20
"""The largest size of an archive, in bytes."""


def read_archive(path: Path) -> Iterator[tuple[int, Exchange]]:
    """Yield the exchanges in an HTTP archive, each with its entry number. Requests that are not envelopes are skipped.

    Raises:
        TrafficError: the file is not an archive.
        FileRefused: the file cannot be read or exceeds the limits of an archive.
    """
    try:
        archive = bounded.parse_value(bounded.read_contents(path, MOST_ARCHIVE_BYTES))
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
        if said := first_flaw(ARCHIVE, entry, "Entry"):
            missing = _MISSING.search(said)
            raise TrafficError(f"{where}, without '{missing[1]}'" if missing else f"{where} ({said})")
        try:
            exchange = _read_entry(entry)
        except binascii.Error as error:
            raise TrafficError(f"{where} ({error})") from None
        if exchange is not None:
            yield number, exchange


_MISSING = re.compile(r'"(\w+)" is a required property')


def _read_entry(entry: Mapping[str, Any]) -> Exchange | None:
    try:
        envelope = bounded.parse_value(((entry["request"].get("postData") or {}).get("text") or "").encode())
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
        if bounded.count_values(body) > bounded.MOST_VALUES:
            raise NotJSON(f"an answer with more than {bounded.MOST_VALUES:,} values")
        for data in _split_body(body, kind):
            made.frames.append(read_frame(data, made.elapsed_s))
    except NotJSON as error:
        made.fault = CallFault("not_json", str(error))
    return made


def _split_body(body: bytes, kind: str) -> Iterator[bytes]:
    """Yield the documents in a body: one per line of NDJSON, one per event of SSE, otherwise the whole body."""
    if kind not in (NDJSON, SSE):
        yield body
        return
    reader = (NdjsonReader if kind == NDJSON else SseReader)(len(body))
    yield from (data for data in (*reader.feed(body), *reader.remaining_payloads()) if data is not None)
