"""Calls over any transport: concurrent, abandoned, unreadable (SPECIFICATION 1.3, 4.2.1; R75, R87, R88)."""

import codecs
import re
from collections.abc import Iterator, Sequence
from itertools import cycle, islice
from typing import Any

import pytest

from pytest_corpus.adapter import inputs
from pytest_corpus.adapter.exceptions import Unresponsive
from pytest_corpus.adapter.exchange import looks_like_error
from pytest_corpus.adapter.transports.raw import RawRequest
from pytest_corpus.kit import expect
from pytest_corpus.kit.component import Subject
from pytest_corpus.kit.fixtures import subject
from pytest_corpus.kit.outcomes import NotAssessed, Violation
from pytest_corpus.kit.reply import Reply, error_names
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.spec.transports import JSON, NDJSON, TRANSPORT_GROUPS
from pytest_corpus.spec.words import BOM
from pytest_corpus.suites.transport.exchanges import (
    RawExchange,
    ask_once,
    is_busy,
    kind_of,
    lines,
    parse_leniently,
    plain_exchanges,
    refusals,
    require_no_delay,
    send,
    send_once,
    show_in_findings,
    transport_of,
    unpack_message,
    working_stream,
)

NO_JSON = b'{"op": "llm.capabilities", '
MANY, LEAVERS = 50, 4
WORK_MS, FREED_S = 3_000, 1.0
SLACK_S = 0.5
"""The additional time that a busy machine may need."""

CHARSETS = ("", "utf-8", "utf8", "us-ascii")
_CHARSET = re.compile(r';\s*charset\s*=\s*"?([^";\s]+)', re.IGNORECASE)


@pytest.mark.requirement("TRA-CALL-1")
def test_what_is_no_json_is_a_bad_request(subject: Subject) -> None:
    """Half a JSON object gets BAD_REQUEST (a message channel may ignore the object), and the next call works."""
    seen = ask_once(subject, "no json", lambda: send_invalid_json(subject), everywhere=True)
    with show_in_findings(seen):
        bodies, fault = list(answers_to_invalid_input(seen)), seen.answer.fault
        silent = transport_of(subject) in TRANSPORT_GROUPS["messages"] and not bodies and fault is None
        for body in [] if silent else bodies or [None]:
            got = f"no answer ({fault.kind})" if fault else name_answer(body)
            expect.check("BadRequest" in error_names(body), "the error BAD_REQUEST", got)
        plain_call = RawRequest(subject.envelope("capabilities"))
        after = send_once(subject, "after no json", plain_call, everywhere=True)
    with show_in_findings(after):
        works = after.answer.fault is None and after.answer.pieces
        expect.check(works, "an answer to the next call", "no answer")


@pytest.mark.requirement("TRA-CALL-2")
def test_what_is_sent_is_utf_8(subject: Subject) -> None:
    """Answers and streams are UTF-8 and name no other charset. Only event streams may begin with a byte order mark."""
    for seen in plain_exchanges(subject):
        with show_in_findings(seen):
            found = _CHARSET.search(seen.answer.header("Content-Type"))
            charset = found[1].lower() if found else ""
            expect.check(charset in CHARSETS, "no charset but utf-8", found=charset, path="Content-Type")
            for number, text in enumerate(received_documents(seen), start=1):
                expect.check(
                    is_utf8(text, is_whole=seen.answer.fault is None), "UTF-8", "other bytes", f"part {number}"
                )
                expect.check(not text.startswith(BOM), "no byte order mark", "a byte order mark", f"part {number}")


@pytest.mark.requirement("TRA-CALL-3")
def test_calls_side_by_side_get_their_own_answers(subject: Subject) -> None:
    """50 concurrent requests get the answers that they get alone."""
    pairs = ask_once(subject, "side by side", lambda: call_alone_and_together(subject), everywhere=True)
    decided = [(alone, beside) for alone, beside in pairs if beside]
    expect.assessable(decided, Obstacle.ALL_REFUSED)
    wrong = sum(alone != beside for alone, beside in decided)
    expect.check(
        not wrong, f"the right answer to each of {MANY} requests", f"{wrong} requests got a wrong answer or no answer"
    )


@pytest.mark.requirement("TRA-CALL-4")
def test_clients_that_go_away_leave_the_adapter_working(subject: Subject) -> None:
    """The adapter still answers a call and a stream after clients have abandoned four other streams."""
    unary, streamed = ask_once(subject, "leavers", lambda: call_after_abandoned_streams(subject), everywhere=True)
    for seen in (unary, streamed):
        with show_in_findings(seen):
            fault = seen.answer.fault
            got = f"no answer ({fault.kind})" if fault else "nothing"
            expect.check(fault is None and seen.bodies, "an answer, although other clients disconnected", got)
    if any(len(seen.bodies) == 1 and looks_like_error(seen.bodies[0]) for seen in (unary, streamed)):
        raise NotAssessed(Obstacle.REFUSED_AFTER)


@pytest.mark.requirement("TRA-CALL-5")
def test_a_client_that_goes_away_ends_the_work(subject: Subject) -> None:
    """Within a second after a client is gone, the adapter stops waiting for its slow provider."""
    seen, freed = ask_once(subject, "freed", lambda: abandon_stream(subject), everywhere=True)
    with show_in_findings(seen):
        expect.check(freed, "the work to end within a second", "the adapter still waits for the provider")


def name_answer(body: Any) -> str:
    """Describe an answer by the class that it names."""
    names = error_names(body)
    return names[0] if names else kind_of(body)


def send_invalid_json(subject: Subject) -> RawExchange:
    """Send input that is not JSON; send it again if the adapter asks for a retry."""
    seen = send(subject, RawRequest(body=NO_JSON))
    if any(map(is_busy, seen.bodies)):
        require_no_delay(send(subject, RawRequest(subject.envelope("capabilities"))))
        seen = send(subject, RawRequest(body=NO_JSON))
    if any("ResourceExhausted" in error_names(body) for body in seen.bodies):
        raise NotAssessed(Obstacle.COME_AGAIN)
    return seen


def answers_to_invalid_input(seen: RawExchange) -> Iterator[Any]:
    """Yield the frames that answer input that is not a request; on a message channel, the frames without an id."""
    if seen.answer.status or seen.answer.code:
        yield from seen.bodies
        return
    for piece in seen.answer.pieces:
        body = parse_leniently(piece.data)
        if isinstance(body, dict) and body.get("id", 0) is None:
            yield body.get("frame")


def received_documents(seen: RawExchange) -> list[bytes]:
    """Return the received documents as bytes."""
    answer = seen.answer
    if answer.header("Content-Encoding").strip().lower() not in ("", "identity"):
        return []
    if answer.code:
        return [unpack_message(piece.data) for piece in answer.pieces]
    if not answer.status:
        return [piece.data for piece in answer.pieces]
    if answer.content_type == NDJSON:
        return lines(answer.body)
    return [answer.body] if answer.content_type == JSON else [answer.body.removeprefix(BOM)]


def is_utf8(data: bytes, *, is_whole: bool) -> bool:
    """True if bytes are UTF-8. Incomplete bytes may end within a character."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data, final=is_whole)
    except UnicodeDecodeError:
        return False
    return True


def call_alone_and_together(subject: Subject) -> list[tuple[str, str]]:
    """Send requests alone and then concurrently; return the fingerprints of both answers to each request."""
    requests: Sequence[Any] = [subject.envelope("capabilities"), *(seen.request.envelope for seen in refusals(subject))]
    alone = [fingerprint(subject.send(request)) for request in requests]
    if len(set(alone)) < len(requests) - 1 or "" in alone or any(text.startswith("no answer") for text in alone):
        raise NotAssessed(Obstacle.NOT_DISTINGUISHED)
    turns = list(islice(cycle(zip(requests, alone, strict=True)), MANY))
    try:
        exchanges = subject.send_all([request for request, _ in turns])
    except Unresponsive:
        raise Violation(f"{MANY} answers", "calls that are not answered in time") from None
    return [(own, fingerprint(Reply(each))) for (_, own), each in zip(turns, exchanges, strict=True)]


def fingerprint(reply: Reply) -> str:
    """Return a text that distinguishes answers; empty if an answer is unreadable or asks to retry."""
    fault = reply.exchange.fault
    if is_busy(reply.body) or (fault is not None and fault.kind == "not_json"):
        return ""
    result = reply.result
    return f"a success {sorted(result) if isinstance(result, dict) else ''}" if reply.is_success else str(reply)


def call_after_abandoned_streams(subject: Subject) -> tuple[RawExchange, RawExchange]:
    """Make a unary call and a stream after clients abandoned several streams."""
    usual = working_stream(subject).request
    name = subject.principal_stream
    for _ in range(LEAVERS):
        envelope = subject.envelope(name, subject.requests.long(name))
        send(subject, RawRequest(envelope, True, accept=usual.accept, leave_after=1, disconnect=True, listen_s=0.0))
    return send(subject, RawRequest(subject.envelope("capabilities"))), send(subject, usual)


def abandon_stream(subject: Subject) -> tuple[RawExchange, bool]:
    """Abandon a stream while its provider is slow; return the exchange, and True if the work ended in time."""
    name = subject.principal_stream
    kind = working_stream(subject).request.accept
    plan = subject.faults.plan("slow", name, at_chunk=1, delay_ms=WORK_MS)
    envelope = subject.envelope(name, subject.requests.long(name))
    seen = send(subject, RawRequest(envelope, True, accept=kind, leave_after=1, disconnect=True, listen_s=0.0))
    if seen.answer.left_s is None:
        raise NotAssessed(Obstacle.ENDED_BEFORE_LEAVING)
    until = seen.answer.started + seen.answer.left_s + FREED_S + SLACK_S
    while inputs.monotonic() < until and inputs.read("at work", lambda: bool(plan.waiting or not plan.fired)):
        inputs.sleep(0.01)
    waiting = inputs.read("waiting", lambda: plan.waiting)
    subject.faults.require_fired(plan)
    return seen, not waiting
