"""WebSocket and standard output: one message or line for each frame (SPECIFICATION 4.2.4.3; R88)."""

from collections.abc import Iterator
from typing import Any

import pytest

from pytest_corpus.adapter.exchange import looks_like_error
from pytest_corpus.adapter.transports.raw import RawRequest
from pytest_corpus.kit import expect
from pytest_corpus.kit.component import Subject
from pytest_corpus.kit.fixtures import core, deciding, subject
from pytest_corpus.kit.outcomes import Keys, NotAssessed, describe
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.suites.transport import exchanges

SLOW_MS, IN_FLIGHT_S, LISTEN_S = 1_200, 1.0, 1.5
"""The delay of the provider for a chunk, the time for frames that were on their way, and the time to listen."""


@core("TRA-MSG-1")
def test_each_answer_is_an_id_and_a_frame(subject: Subject) -> None:
    """Each message is an object with two keys: `id`, the number of the request, and `frame`."""
    for seen in exchanges.plain_exchanges(subject):
        with exchanges.show_in_findings(seen):
            for number, body in messages(seen, objects_only=exchanges.transport_of(subject) == "stdio"):
                got = describe(Keys(body)) if isinstance(body, dict) else exchanges.kind_of(body)
                is_answer = isinstance(body, dict) and set(body) == {"id", "frame"}
                expect.check(is_answer, "an object with the keys id, frame", got, f"message {number}")
                same = type(body["id"]) is int and 0 < body["id"] <= (seen.answer.number or 0)
                expect.check(same, "the number of the request", kind_of_id(body["id"]), f"message {number}, id")
        exchanges.require_answer(seen)


@core("TRA-MSG-2")
def test_each_message_holds_one_frame(subject: Subject) -> None:
    """`frame` is one JSON object, not a list of frames, and not JSON inside a string."""
    for seen in exchanges.plain_exchanges(subject):
        with exchanges.show_in_findings(seen):
            for number, body in messages(seen, objects_only=True):
                if "frame" in body:
                    frame = body["frame"]
                    expect.check(
                        isinstance(frame, dict), "one frame", exchanges.kind_of(frame), f"message {number}, frame"
                    )
        exchanges.require_answer(seen)


@pytest.mark.requirement("TRA-MSG-3")
def test_nothing_follows_the_terminal_message(subject: Subject) -> None:
    """No message of a call comes after its answer, or after the terminal frame of its stream."""
    for seen in exchanges.plain_exchanges(subject):
        frames = own_frames(exchanges.require_answer(seen))
        last = next((at for at, frame in enumerate(frames) if is_last(seen, frame)), None)
        if last is not None:
            with exchanges.show_in_findings(seen):
                more = len(frames) - last - 1
                expect.check(more == 0, "nothing after the terminal frame", f"{more} more", f"message {last + 1}")


@pytest.mark.requirement("TRA-MSG-4")
def test_a_cancelled_call_falls_silent(subject: Subject) -> None:
    """If a stream is cancelled after a frame, at most one error frame follows."""
    seen = exchanges.ask_once(subject, "cancelled", lambda: cancel_stream(subject), everywhere=True)
    answer = exchanges.require_answer(seen).answer
    if answer.left_s is None:
        raise NotAssessed(Obstacle.ENDED_BEFORE_CANCEL)
    left = answer.left_s
    after = [(piece.at_s - left, exchanges.parse_leniently(piece.data)) for piece in answer.pieces if piece.at_s > left]
    frames = [(at, body["frame"]) for at, body in after if isinstance(body, dict) and body.get("id") == answer.number]
    with exchanges.show_in_findings(seen):
        late = [frame for at, frame in frames if at > IN_FLIGHT_S and not looks_like_error(frame)]
        expect.check(not late, "at most one error frame after `cancel`", f"{len(late)} more frames")
        errors = [frame for _, frame in frames if looks_like_error(frame)]
        expect.check(len(errors) <= 1, "at most one error frame after `cancel`", f"{len(errors)} error frames")


@pytest.mark.core
@deciding("way", websocket="TRA-WS-1", stdio="TRA-STDIO-1")
def test_nothing_but_answers_is_sent(subject: Subject, way: str) -> None:
    """No WebSocket message is binary, and every line on standard output is a JSON object, not a log or banner."""
    for seen in exchanges.plain_exchanges(subject):
        wanted, kind = ("text messages", "binary ones") if way == "websocket" else ("answers only", "other lines")
        with exchanges.show_in_findings(seen):
            others = sum(piece.binary for piece in seen.answer.pieces) if way == "websocket" else seen.answer.noise
            expect.check(not others, wanted, f"{others} {kind}")
        exchanges.require_answer(seen)


def cancel_stream(subject: Subject) -> exchanges.RawExchange:
    """Cancel a stream after a frame, while its provider is slow."""
    name = subject.principal_stream
    plan = subject.faults.plan("slow", name, at_chunk=1, delay_ms=SLOW_MS)
    envelope = subject.envelope(name, subject.requests.long(name))
    seen = exchanges.send(subject, RawRequest(envelope, True, leave_after=1, listen_s=LISTEN_S))
    subject.faults.require_fired(plan)
    return seen


def messages(seen: exchanges.RawExchange, *, objects_only: bool) -> Iterator[tuple[int, Any]]:
    """Yield the values of the text messages with their numbers; another test judges the other messages."""
    for number, piece in enumerate(seen.answer.pieces, start=1):
        body = exchanges.parse_leniently(piece.data)
        if not piece.binary and (isinstance(body, dict) or not objects_only):
            yield number, body


def own_frames(seen: exchanges.RawExchange) -> list[Any]:
    """Return the frames of a call."""
    number = seen.answer.number
    return [body.get("frame") for _, body in messages(seen, objects_only=True) if body.get("id") == number]


def is_last(seen: exchanges.RawExchange, frame: Any) -> bool:
    """True if a frame ends its call; a unary call has one frame."""
    return not seen.request.streaming or exchanges.is_terminal(frame)


def kind_of_id(value: Any) -> str:
    """Describe an id in a word."""
    return "another number" if isinstance(value, int) and not isinstance(value, bool) else exchanges.kind_of(value)
