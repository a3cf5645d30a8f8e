"""What an answer shows of the thing that a requirement speaks of: only what was looked at can be kept."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_corpus.kit import expect
from pytest_corpus.kit.audit import telemetry
from pytest_corpus.kit.audit.findings import AuditContext
from pytest_corpus.kit.outcomes import Blocked
from pytest_corpus.kit.reply import Reply, StreamReply

FRAMES = ("COM-STREAM-1", "COM-STREAM-2", "COM-STREAM-3", "COM-STREAM-4")
"""The requirements that speak of success frames."""

ENDS = (expect.SIZE, expect.TERMINAL, "COM-STREAM-7", "COM-NUM-2")
"""Those that speak of any frame."""

WORDS = {
    "COM-ERR-3": ("code", "error"),
    expect.NAMED: ("code", "error"),
    "COM-ERR-10": ("code", "error"),
    "COM-ERR-5": ("message",),
}
"""Those that speak of strings in an error envelope."""


UNENDED = ("timeout", "cut_off")
"""The faults of calls of which no end was seen."""


def shown(requirement: str, reply: Reply | StreamReply, subject: AuditContext) -> bool:
    """Whether an answer that does not break a requirement shows that it is kept.

    Raises:
        Blocked: what should be there is missing, which is the finding of another requirement.
    """
    fault = reply.exchange.fault
    ended = fault is None or fault.kind not in UNENDED
    if requirement == expect.IN_TIME or (requirement == expect.ANSWERS and ended):
        return ended
    expect.readable(reply)
    if requirement.startswith(("COM-OBS", "COM-LEAK")):
        return telemetry.shown(requirement, reply.exchange, subject)
    if requirement.startswith(("COM-ERR", "COM-SUBTYPE")):
        return _error(requirement, reply)
    if requirement in FRAMES:
        return isinstance(reply, StreamReply) and bool(reply.chunks)
    if requirement in ENDS or requirement == expect.ENVELOPE:
        return bool(reply.exchange.frames)
    return not reply.is_error


def _error(requirement: str, reply: Reply | StreamReply) -> bool:
    if not reply.is_error:
        return False
    body = reply.body if isinstance(reply, Reply) else reply.errors[0]
    given: Mapping[str, object] = body
    if not all(isinstance(given.get(key), str) for key in WORDS.get(requirement, ())):
        raise Blocked(expect.WORDED, f"{reply} lacks a string that it must carry", evidence=reply.exchange)
    return True
