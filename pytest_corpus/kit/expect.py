"""Expectations. Each function returns the value that the test needs next, or raises a `Violation`.

If an answer is not an envelope, another requirement reports it, and the test is blocked.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from pytest_corpus.kit.judgement import Judgement, judging, look_at, note_check, note_condition_held
from pytest_corpus.kit.outcomes import (
    ABSENT,
    Blocked,
    NotApplicable,
    NotAssessed,
    UnexpectedSuccess,
    Violation,
    WrongRefusal,
)
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
"""The requirements that every readable answer meets."""

BLOCKERS = {"raised": ANSWERS, "timeout": IN_TIME, "not_json": ENVELOPE, "no_stream": ENVELOPE, "endless": IN_TIME}


@contextmanager
def resting_on(requirement: str) -> Iterator[None]:
    """Report a violation in this block as a violation of another requirement, on which the test depends."""
    try:
        with judging() as own:
            yield
        look_at(*own.exchanges)
    except Violation as violation:
        raise Blocked(requirement, str(violation), violation=violation) from None


def readable(reply: Reply | StreamReply) -> None:
    """Block the test if the answer is not an envelope."""
    fault = reply.exchange.fault
    # The suite stopped reading or waiting earlier than its limit: that says nothing about the adapter.
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
    """Return the `result` of a unary success."""
    readable(reply)
    note_check()
    if not reply.is_success:
        raise Violation(claim, str(reply)).attach_exchanges(reply.exchange)
    return reply.result


def full_success(reply: Reply, claim: str) -> Any:
    """Return the `result` of a unary success that reports no failed item."""
    result = success(reply, claim)
    check(not reply.failed_items, claim, "a failed item", "result.failures")
    return result


def finished(stream: StreamReply, claim: str = "a stream that ends with a final chunk") -> StreamReply:
    """Return the stream if it ended with a final chunk."""
    readable(stream)
    note_check()
    if stream.is_error:
        raise Violation(claim, str(stream)).attach_exchanges(stream.exchange)
    if not stream.is_finished:
        raise Blocked(TERMINAL, str(stream), judged_on=(stream.exchange,))
    return stream


def works(reply: Reply | StreamReply, claim: str) -> None:
    """Expect a success from a unary call or a stream."""
    if isinstance(reply, StreamReply):
        finished(reply, claim)
    else:
        success(reply, claim)


def refusal(reply: Reply | StreamReply, *families: str, claim: str = "") -> None:
    """Expect an error of one of the classes or their subtypes."""
    readable(reply)
    note_check()
    wanted = claim or f"an error of class {' or '.join(families)}"
    if not reply.is_error:
        raise UnexpectedSuccess(wanted, str(reply), families).attach_exchanges(reply.exchange)
    known_class(reply)
    if not reply.is_a(*families):
        raise WrongRefusal(wanted, str(reply), families, reply.names).attach_exchanges(reply.exchange)
    note_condition_held()


def failure(reply: Reply | StreamReply, *families: str) -> None:
    """Expect an error of one of the classes, or a result whose failed items all have one of these classes (R14)."""
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
    """Expect at least one error among the answers to bad requests."""
    note_check()
    accepted = list(replies)
    if not any(reply.is_error for reply in accepted):
        exchanges = (reply.exchange for reply in accepted)
        raise UnexpectedSuccess(claim, "successes only", ("BadRequest",)).attach_exchanges(*exchanges)
    note_condition_held()


def known_class(reply: Reply | StreamReply) -> None:
    """Block the test if an error names no class of the taxonomy."""
    if reply.is_error and not reply.names:
        worded = all(isinstance(reply.error.get(key), str) for key in ("error", "code"))
        raise Blocked(NAMED if worded else WORDED, f"{reply} is not in the taxonomy", judged_on=(reply.exchange,))


def either(reply: Reply | StreamReply, *families: str) -> bool:
    """Expect a success or an error of one of the classes, and return True for a success."""
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
    """Expect a condition; `got` or `found`, `frame` and `about` are as in `Violation`.

    The check is judged on the answers `on`; by default, on the answers that were read since the last check that passed.
    """
    note_check()
    if not holds:
        violation = Violation(expected, got, path, found=found, frame=frame, about=about)
        raise violation.attach_exchanges(*(reply.exchange for reply in on)) if on else violation
    note_condition_held()


def applicable(holds: T | None, otherwise: str) -> T:
    """Return a value that the adapter offers. If the value is empty, raises NotApplicable with `otherwise`."""
    if not holds:
        raise NotApplicable(otherwise)
    note_condition_held()
    return holds


def assessable(holds: T | None, otherwise: Obstacle, **values: object) -> T:
    """Return a value that the test needs. If the value is empty, raises NotAssessed with the obstacle `otherwise`."""
    if not holds:
        raise NotAssessed(otherwise, **values)
    note_condition_held()
    return holds


def describe_empty_test(judgement: Judgement) -> str:
    """Return the reason why a test checked nothing: no answer contains the subject of its requirement."""
    replies = [StreamReply(each) if each.streaming else Reply(each) for each in judgement.exchanges]
    answers = dict.fromkeys(f"; {each.exchange.op or 'a request'} is answered with {each}" for each in replies)
    return Obstacle.NOTHING_SHOWN.reason(answers="".join([*answers][:3]))
