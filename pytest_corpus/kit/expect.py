"""Expectations: each returns what the test goes on with, or raises a `Violation`.

Where an answer is not even an envelope, that is the finding of another requirement, and the claim at hand is
blocked by it.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from pytest_corpus.kit.judgement import Judgement, judging, look_at, note_check, note_held
from pytest_corpus.kit.outcomes import ABSENT, Accepted, Blocked, Misclassified, NotApplicable, NotAssessed, Violation
from pytest_corpus.kit.reply import Reply, StreamReply, error_names
from pytest_corpus.spec.errors import is_a
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.spec.words import MAX_FRAME_BYTES

T = TypeVar("T")

ANSWERS, IN_TIME, ENVELOPE, WORDED, NAMED, SIZE, TERMINAL = (
    "COM-WIRE-1",
    "COM-WIRE-2",
    "COM-WIRE-3",
    "COM-ERR-2",
    "COM-ERR-4",
    "COM-STREAM-5",
    "COM-STREAM-6",
)
"""The requirements without which nothing else can be read."""

BLOCKERS = {"raised": ANSWERS, "timeout": IN_TIME, "not_json": ENVELOPE, "no_stream": ENVELOPE, "endless": IN_TIME}


@contextmanager
def resting_on(requirement: str) -> Iterator[None]:
    """Report a violation that is found here as one of another requirement, which the test rests on."""
    try:
        with judging() as own:
            yield
        look_at(*own.exchanges)
    except Violation as violation:
        raise Blocked(requirement, str(violation), violation=violation) from None


def readable(reply: Reply | StreamReply) -> None:
    """Block the test where the answer is not an envelope at all."""
    fault = reply.exchange.fault
    if fault is not None and fault.kind == "cut_off":
        cut = Obstacle.CUT_OFF if reply.exchange.streaming else Obstacle.CUT_ANSWER
        raise NotAssessed(cut, fault=fault)
    if fault is not None and fault.kind == "timeout" and reply.exchange.limited:
        raise NotAssessed(Obstacle.LESS_TIME, reply=reply)
    if fault is not None:
        raise Blocked(BLOCKERS[fault.kind], str(reply), judged_on=(reply.exchange,))
    if isinstance(reply, StreamReply) and any(frame.size > MAX_FRAME_BYTES for frame in reply.exchange.frames):
        raise Blocked(SIZE, "a frame is larger than 1 MiB", judged_on=(reply.exchange,))
    if isinstance(reply, Reply) and not (reply.is_error or reply.is_success):
        raise Blocked(ENVELOPE, f"the answer is {reply}", judged_on=(reply.exchange,))


def success(reply: Reply, claim: str = "a success") -> Any:
    """The `result` of a unary success."""
    readable(reply)
    note_check()
    if not reply.is_success:
        raise Violation(claim, str(reply)).seen_in(reply.exchange)
    return reply.result


def finished(stream: StreamReply, claim: str = "a stream that ends with a final chunk") -> StreamReply:
    """A stream that came to a successful end."""
    readable(stream)
    note_check()
    if stream.is_error:
        raise Violation(claim, str(stream)).seen_in(stream.exchange)
    if not stream.finished:
        raise Blocked(TERMINAL, str(stream), judged_on=(stream.exchange,))
    return stream


def works(reply: Reply | StreamReply, claim: str) -> None:
    """A success of either kind."""
    if isinstance(reply, StreamReply):
        finished(reply, claim)
    else:
        success(reply, claim)


def refusal(reply: Reply | StreamReply, *families: str, claim: str = "") -> None:
    """An error of one of the classes, subtypes included."""
    readable(reply)
    note_check()
    wanted = claim or f"an error of class {' or '.join(families)}"
    if not reply.is_error:
        raise Accepted(wanted, str(reply), families).seen_in(reply.exchange)
    known_class(reply)
    if not reply.is_a(*families):
        raise Misclassified(wanted, str(reply), families, reply.names).seen_in(reply.exchange)
    note_held()


def failure(reply: Reply | StreamReply, *families: str) -> None:
    """An error of one of the classes, or a result each of whose failed items has one (R14)."""
    failed = reply.failed_items if isinstance(reply, Reply) else []
    if not failed:
        refusal(reply, *families)
    for item in failed:
        names = error_names(item)
        right = any(is_a(name, family) for name in names for family in families)
        check(
            right,
            f"failed items of class {' or '.join(families)}",
            " and ".join(names) or "an error that names no class of the taxonomy",
            "result",
        )


def some_refused(replies: Iterable[Reply], claim: str) -> None:
    """At least one error among the answers to bad requests."""
    note_check()
    accepted = list(replies)
    if not any(reply.is_error for reply in accepted):
        exchanges = (reply.exchange for reply in accepted)
        raise Accepted(claim, "successes only", ("BadRequest",)).seen_in(*exchanges)
    note_held()


def known_class(reply: Reply | StreamReply) -> None:
    """Block the test where an error names no class of the taxonomy."""
    if reply.is_error and not reply.names:
        worded = all(isinstance(reply.error.get(key), str) for key in ("error", "code"))
        raise Blocked(NAMED if worded else WORDED, f"{reply} is none of the taxonomy", judged_on=(reply.exchange,))


def either(reply: Reply | StreamReply, *families: str) -> bool:
    """A success (true), or an error of one of the classes."""
    readable(reply)
    note_check()
    if reply.is_error:
        refusal(reply, *families, claim=f"a success or an error of class {' or '.join(families)}")
    return not reply.is_error


def check(
    holds: object,
    expected: str,
    got: str = "",
    path: str = "",
    *,
    found: object = ABSENT,
    frame: int = 0,
    about: Iterable[str] = (),
    on: Sequence[Reply | StreamReply] = (),
) -> None:
    """A plain condition; `got` or `found`, `frame` and `about`, as in `Violation`.

    It is judged on what was read since the last one that held, or on the answers `on`, if another one was read last.
    """
    note_check()
    if not holds:
        violation = Violation(expected, got, path, found=found, frame=frame, about=about)
        raise violation.seen_in(*(reply.exchange for reply in on)) if on else violation
    note_held()


def applicable(holds: T | None, otherwise: str) -> T:
    """What the adapter offers, to go on with. Raises NotApplicable, for the reason `otherwise`, if there is none."""
    if not holds:
        raise NotApplicable(otherwise)
    note_held()
    return holds


def assessable(holds: T | None, otherwise: Obstacle, **values: object) -> T:
    """Return a value that the test needs to go on. Raises NotAssessed for the obstacle `otherwise` if it is empty."""
    if not holds:
        raise NotAssessed(otherwise, **values)
    note_held()
    return holds


def nothing_shown(judgement: Judgement) -> str:
    """The reason if a test checked nothing: no answer that it looked at shows what its requirement speaks of."""
    replies = [StreamReply(each) if each.streaming else Reply(each) for each in judgement.exchanges]
    answers = dict.fromkeys(f"; {each.exchange.op or 'a request'} is answered with {each}" for each in replies)
    return Obstacle.NOTHING_SHOWN.reason(answers="".join([*answers][:3]))
