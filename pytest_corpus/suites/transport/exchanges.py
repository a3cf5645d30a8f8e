"""Raw exchanges with a remote adapter. Each exchange is made once, and several tests read it."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from pytest_corpus.adapter.exchange import Exchange, Frame, looks_like_error, looks_like_success, op_of
from pytest_corpus.adapter.opening.remote import RemoteAdapter
from pytest_corpus.adapter.transports.raw import RawAnswer, RawRequest
from pytest_corpus.kit import expect
from pytest_corpus.kit.component import Subject
from pytest_corpus.kit.judgement import look_at
from pytest_corpus.kit.outcomes import Blocked, NotApplicable, NotAssessed
from pytest_corpus.kit.reply import Reply, error_names
from pytest_corpus.kit.requests import deadline_in
from pytest_corpus.redaction import type_name
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.spec.operations import STREAMING
from pytest_corpus.spec.transports import GRPC_ENVELOPE, NDJSON, SSE, STREAM_TYPES
from pytest_corpus.spec.words import BOM
from pytest_corpus.text.frame_message import unpack
from pytest_corpus.validation.streams.transport import SseReader

T = TypeVar("T")

BUSY = ("ResourceExhausted", "Unavailable", "TransientNetwork")
"""Errors of these classes say nothing about the transport."""


@dataclass(frozen=True, slots=True)
class RawExchange:
    """A raw request and its answer."""

    request: RawRequest
    answer: RawAnswer

    @property
    def bodies(self) -> list[Any]:
        """The JSON values in the answer, read leniently; None for each part that is not JSON."""
        return [parse_leniently(each) for each in payloads(self.answer)]

    @property
    def exchange(self) -> Exchange:
        """The exchange in the form that findings show."""
        exchange = Exchange(self.request.envelope, self.request.streaming, fault=self.answer.fault)
        exchange.frames = [Frame(body, 0, 0.0) for body in self.bodies]
        return exchange


def transport_of(subject: Subject) -> str:
    """Return the name of the transport: a module of `adapter/transports/`."""
    return remote_of(subject).address.scheme.module


def remote_of(subject: Subject) -> RemoteAdapter:
    """Return the remote adapter. Tests of transports do not run without one."""
    assert subject.client.remote is not None
    return subject.client.remote


def ask_once(subject: Subject, name: str, ask: Callable[[], T], *, everywhere: bool = False) -> T:
    """Call `ask` once for this component, or once for the whole adapter with `everywhere`; return the result."""
    known, key = remote_of(subject).known, ("" if everywhere else subject.component, name)
    if key not in known or not subject.settings.remembers:
        known[key] = ask()
    found: T = known[key]
    return found


def send_once(subject: Subject, name: str, request: RawRequest, *, everywhere: bool = False) -> RawExchange:
    """Make a raw exchange once for this component, or with `everywhere` once for the whole adapter."""
    return ask_once(subject, name, lambda: send(subject, request), everywhere=everywhere)


def send(subject: Subject, request: RawRequest) -> RawExchange:
    """Make a new raw exchange; wait and repeat it if the adapter asks for a retry."""
    seen: list[RawExchange] = []

    def attempt(_waited_s: float) -> Reply:
        seen.append(RawExchange(request, subject.client.raw_call(request, subject.component)))
        return Reply(seen[-1].exchange)

    subject.retries.call_until_answered(op_of(request.envelope), attempt, subject.transient_errors)
    return seen[-1]


def capabilities(subject: Subject) -> RawExchange:
    """Return a successful unary exchange: a call of `capabilities`."""
    return send_once(subject, "capabilities", RawRequest(subject.envelope("capabilities")))


def refusals(subject: Subject) -> list[RawExchange]:
    """Return unary errors: an unknown operation, a request without arguments, an expired deadline."""

    def ask() -> list[RawExchange]:
        unknown = {**subject.envelope("capabilities"), "op": f"{subject.component}.no_such_operation"}
        lacking = {name: value for name, value in subject.envelope("capabilities").items() if name != "args"}
        expired = subject.envelope(subject.principal, ctx={"deadline_ms": deadline_in(-60_000)})
        return [send(subject, RawRequest(each)) for each in (unknown, lacking, expired)]

    return ask_once(subject, "refused", ask)


def stream(subject: Subject, accept: str = NDJSON) -> RawExchange:
    """Return a plain stream. Over HTTP it has the requested content type."""
    envelope = subject.envelope(subject.principal_stream)
    return send_once(subject, f"stream {accept}", RawRequest(envelope, True, accept=accept))


def working_stream(subject: Subject) -> RawExchange:
    """Return a plain stream. Over HTTP it has one of the offered formats."""
    found = [stream(subject, kind) for kind in stream_kinds(subject)]
    for seen in found:
        if seen.answer.fault is None and not is_refusal(seen) and seen.answer.pieces:
            return seen
    supported = [seen for seen in found if not any("NotSupported" in error_names(body) for body in seen.bodies)]
    if not supported and subject.prerequisites.claim_of(subject.principal_stream) is None:
        raise NotApplicable("streams are not claimed, and the adapter answers NOT_SUPPORTED")
    raise NotAssessed(Obstacle.NO_FRAMES)


def plain_exchanges(subject: Subject) -> Iterator[RawExchange]:
    """Yield a success, errors, and a stream in each format if the component streams."""
    yield capabilities(subject)
    yield from refusals(subject)
    if subject.component in STREAMING and subject.prerequisites.is_callable(subject.principal_stream):
        yield from (stream(subject, kind) for kind in stream_kinds(subject))


def stream_kinds(subject: Subject) -> tuple[str, ...]:
    """Return the kinds of streams that can be requested: one for each content type over HTTP, else one."""
    return tuple(STREAM_TYPES.values()) if transport_of(subject) == "http" else (NDJSON,)


def is_refusal(seen: RawExchange) -> bool:
    """True if the answer is a single error."""
    status = seen.answer.status
    bodies = seen.bodies
    return bool(status and not 200 <= status < 300) or (len(bodies) == 1 and looks_like_error(bodies[0]))


def is_offered(subject: Subject, kind: str) -> bool:
    """True if a plain stream succeeds and its content type is not the one of another format."""
    seen = require_answer(stream(subject, kind))
    bodies = seen.bodies
    expect.assessable(not (bodies and is_busy(bodies[0])), Obstacle.STREAM_REFUSED)
    if is_refusal(seen):
        return False
    others = [each for each in STREAM_TYPES.values() if each != kind]
    in_another = seen.answer.content_type in others and bool(bodies) and all(isinstance(each, dict) for each in bodies)
    return not in_another


def offered_stream(subject: Subject, kind: str) -> RawExchange:
    """Return a plain stream in a format. Raises NotApplicable if the format is not offered."""
    expect.applicable(is_offered(subject, kind), f"{kind} is not offered")
    return stream(subject, kind)


def require_answer(seen: RawExchange) -> RawExchange:
    """Return the exchange. Raises Blocked or NotAssessed if its call has no complete answer."""
    fault = seen.answer.fault
    if fault is None:
        return seen
    expect.assessable(fault.kind != "cut_off", Obstacle.SUITE_STOPPED_READING, fault=fault)
    raise Blocked(expect.BLOCKERS[fault.kind], f"no answer ({fault.kind}: {fault})", judged_on=(seen.exchange,))


@contextmanager
def show_in_findings(seen: RawExchange) -> Iterator[None]:
    """Let the findings of the checks in this block show this exchange."""
    look_at(seen.exchange)
    yield


def payloads(answer: RawAnswer) -> list[bytes]:
    """Return the content of each line, event or message of an answer, and the envelope in gRPC's trailing metadata."""
    if answer.code:
        trailing = answer.trailing.get(GRPC_ENVELOPE)
        found = [unpack_message(piece.data) for piece in answer.pieces]
        return [*found, *([trailing] if isinstance(trailing, bytes) else [])]
    if not answer.status:
        return [_frame_of(piece.data) for piece in answer.pieces]
    if answer.content_type == NDJSON:
        return [line for line in lines(answer.body) if line.strip()]
    if answer.content_type == SSE:
        return events(answer.body)
    return [answer.body] if answer.body else []


def unpack_message(message: bytes) -> bytes:
    """Return the JSON of a gRPC message; empty if it has none."""
    try:
        return unpack(message)
    except ValueError:
        return b""


def _frame_of(message: bytes) -> bytes:
    value = parse_leniently(message)
    return json.dumps(value.get("frame")).encode() if isinstance(value, dict) else message


def lines(body: bytes) -> list[bytes]:
    """Return the lines of a body, which end with LF or CR LF; the last one may lack its end."""
    whole = [line.removesuffix(b"\r") for line in body.split(b"\n")]
    return whole[:-1] if whole[-1] == b"" else whole


def events(body: bytes) -> list[bytes]:
    """Return the data of each server-sent event."""
    return [data for data in SseReader(len(body)).feed(body) if data is not None]


def parse_leniently(data: bytes) -> Any:
    """Parse JSON despite a byte order mark or wrong encoding; None if it is not JSON."""
    try:
        return json.loads(data.removeprefix(BOM).decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None


def is_terminal(body: Any) -> bool:
    """True if a frame ends its stream."""
    chunk = body.get("chunk") if isinstance(body, dict) else None
    return looks_like_error(body) or (isinstance(chunk, dict) and chunk.get("is_final") is True)


def is_envelope(body: Any) -> bool:
    """True if a value looks like the envelope of a unary answer."""
    return looks_like_error(body) or looks_like_success(body)


def require_no_delay(seen: RawExchange) -> RawExchange:
    """Return the exchange. Raises Undecided if the adapter asks for a later retry."""
    expect.assessable(not any(map(is_busy, seen.bodies)), Obstacle.COME_AGAIN)
    return seen


def is_busy(body: Any) -> bool:
    """True if a value is an error of a busy adapter. Such an error shows nothing about the transport."""
    return looks_like_error(body) and bool(set(error_names(body)) & set(BUSY))


def kind_of(body: Any) -> str:
    """Describe a value in a word, without content."""
    if looks_like_error(body):
        return "an error envelope"
    if isinstance(body, dict):
        return "an object"
    return "no JSON" if body is None else f"a {type_name(body)}"


def expect_frames(seen: RawExchange, parts: list[bytes], unit: str) -> None:
    """Check that each part of a stream is a JSON object."""
    with show_in_findings(seen):
        for number, part in enumerate(parts, start=1):
            got = kind_of(parse_leniently(part)) if part.strip() else f"an empty {unit}"
            expect.check(isinstance(parse_leniently(part), dict), "one JSON frame", got, f"{unit} {number}")


def expect_terminal_last(seen: RawExchange, bodies: list[Any], unit: str) -> None:
    """Check that only the last frame of a stream is a terminal one."""
    with show_in_findings(seen):
        places = [number for number, body in enumerate(bodies, start=1) if is_terminal(body)]
        first = places[0] if places else None
        where = f"{unit} {len(bodies)}"
        expect.check(first is not None, f"a terminal frame in the last {unit}", "no terminal frame", where)
        expect.check(
            first == len(bodies), f"nothing after the terminal {unit}", f"{len(bodies)} {unit}s", f"{unit} {first}"
        )
