"""One call through a transport: its frames within the limits, or the fault that ended it."""

import asyncio
import re
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

from pytest_corpus.adapter.event_loop.loop import TimeLimit, is_collected
from pytest_corpus.adapter.exceptions import Unresponsive
from pytest_corpus.adapter.exchange import CallFault, Exchange, Frame, context_of, is_not_offered, is_observed
from pytest_corpus.adapter.hooks.fault_plan import Plan
from pytest_corpus.adapter.hooks.late_reports import Expected, LateReports
from pytest_corpus.adapter.hooks.provider import ProviderProbe
from pytest_corpus.adapter.snapshot import NotJSON
from pytest_corpus.adapter.transports.protocol import MAX_STREAM_BYTES, TOO_LARGE, CallFailed, Transport
from pytest_corpus.adapter.transports.raw import RawAnswer, RawRequest
from pytest_corpus.spec.errors import TAXONOMY
from pytest_corpus.spec.operations import BY_OP
from pytest_corpus.text.strict_json import NOT_PLAIN, Fault, read_exactly, read_plainly

MAX_FRAMES = 10_000
"""No request of the suite asks for a longer stream; one that goes on does not end."""

_PERHAPS_INFINITE = re.compile(rb"NaN|Infinity|[eE]\+?\d{3}|\d{309}")
"""A pattern in every text whose value is not finite, and in few others."""

MOST_OF_ONE_OPERATION = 2
"""An operation with this number of timeouts is not called again."""

MOST_WITHOUT_ANSWER = 2
"""A remote adapter with this number of timeouts, of any operation, and no answer at all is not called again."""


@dataclass(frozen=True, slots=True)
class Circumstances:
    """The context of a call.

    Attributes:
        plans: what was planned at the provider before it.
        arrivals: what has reached the provider since the call before: op, chunk or None, and what was handed on.
        generation: how often the instance was opened.
        called: the hooks that an adapter elsewhere has called so far.
    """

    plans: Sequence[Plan]
    arrivals: Sequence[tuple[str, Any, Mapping[str, Any]]]
    generation: int
    called: frozenset[str]


class CallRecorder(Protocol):
    """Keeps calls, of which reports may still come."""

    def sent(self, exchange: Exchange, around: Circumstances) -> None:
        """Take a call."""

    def sent_together(self, exchanges: Sequence[Exchange], component: str, around: Circumstances) -> None:
        """Take calls that were made at the same time."""

    def sent_raw(self, request: RawRequest, answer: RawAnswer, component: str, around: Circumstances) -> None:
        """Take a raw call of a transport test."""

    def unanswered(self, op: str, silent: Unresponsive) -> None:
        """Take a call that was not made, or has no record, because the operation does not answer."""


async def call(transport: Transport, exchange: Exchange) -> None:
    """Send the request of an exchange to its entry point, and note the answer; raise `TimeLimit` if it is too late."""
    await (_stream if exchange.streaming else _unary)(transport, exchange)
    if transport.turns:
        await asyncio.sleep(0)
        for _ in range(transport.turns - 1) if len(asyncio.all_tasks()) > 1 else ():
            await asyncio.sleep(0)


async def call_all(transport: Transport, lanes: Iterable[Sequence[Exchange]]) -> None:
    """Carry out lanes of calls at the same time, those of one lane one after the other."""

    async def one_after_the_other(lane: Sequence[Exchange]) -> None:
        for exchange in lane:
            await call(transport, exchange)

    await asyncio.gather(*map(one_after_the_other, lanes))


async def _unary(transport: Transport, exchange: Exchange) -> None:
    started = exchange.started = time.monotonic()
    try:
        _keep(await transport.send(exchange.request), started, exchange)
    except CallFailed as failed:
        exchange.fault = failed.fault


async def _stream(transport: Transport, exchange: Exchange) -> None:
    started, total, task = time.monotonic(), 0, asyncio.current_task()
    frames = transport.stream(exchange.request)
    try:
        async for data in frames:
            if not _keep(data, started, exchange):
                break
            total += len(data)
            if len(exchange.frames) >= MAX_FRAMES or total > MAX_STREAM_BYTES:
                exchange.fault = CallFault("endless", f"still going on after {len(exchange.frames)} frames")
                break
    except CallFailed as failed:
        exchange.fault = failed.fault
    finally:
        if not is_collected(task):
            await frames.aclose()


def _keep(data: bytes, started: float, exchange: Exchange) -> bool:
    """Note an answer, and return if there may be another."""
    if len(data) > MAX_STREAM_BYTES:
        exchange.fault = CallFault("cut_off", TOO_LARGE)
        return False
    try:
        frame = read_frame(data, time.monotonic() - started)
    except NotJSON as error:
        exchange.fault = CallFault("not_json", str(error))
        return False
    if time.monotonic() > exchange.until:
        raise TimeLimit(blocked=False)
    exchange.frames.append(frame)
    return True


def cut_off(exchange: Exchange) -> CallFault:
    """Return the fault of a stream that is not read on: it is not known if it would have ended."""
    return CallFault("cut_off", f"still going on after {len(exchange.frames)} frames")


def moves(exchange: Exchange, limit: float) -> bool:
    """Return if a stream that ran into the time limit was still sending: that is not a hang."""
    return exchange.streaming and bool(exchange.frames) and exchange.frames[-1].at_s > limit / 2


AGAIN = "; the answer to a short request goes on for ever, too"


def goes_on(exchange: Exchange) -> bool:
    """True if a stream still sent frames at the time limit, so that it may only be long."""
    fault = exchange.fault
    if fault is None or not exchange.streaming:
        return False
    return fault == cut_off(exchange) or (fault.kind == "endless" and fault.text.endswith(AGAIN))


def is_steady(exchange: Exchange, limit: float) -> bool:
    """True if frames came all the time up to the limit, so neither the adapter nor the machine has paused."""
    times = [0.0, *(frame.at_s for frame in exchange.frames), limit]
    return max(after - before for before, after in pairwise(times)) < limit / 4


def endless(exchange: Exchange) -> CallFault:
    """The fault of a stream that does not end although a short request was sent as well."""
    return CallFault("endless", f"still going on after {len(exchange.frames)} frames{AGAIN}")


def mark(exchanges: Sequence[Exchange], fault: CallFault) -> None:
    """Note a fault in every exchange that has no answer."""
    for exchange in exchanges:
        if not exchange.frames:
            exchange.fault = exchange.fault or fault


def too_late(late: TimeLimit, limit: float) -> CallFault:
    """Return the fault of a call that did not end in time, or whose loop ended."""
    if late.ended:
        return CallFault("raised", f"{late.ended}, which ended the event loop")
    why = (
        f"the event loop was blocked for more than {limit:g} s, or stopped"
        if late.blocked
        else f"no end after {limit:g} s"
    )
    return CallFault("timeout", why)


def read_frame(data: bytes, at_s: float) -> Frame:
    """Return the frame of an answer that came after `at_s` seconds: the one reader of all transports.

    Non-finite numbers and lone surrogates are kept, for requirements of their own to judge; an integer that no
    double holds counts as infinite.

    Raises:
        NotJSON: the bytes are not UTF-8 or not JSON, begin with a byte order mark, name a key twice in one object,
            or nest too deep (RFC 8259).
    """
    if (value := read_plainly(data)) is not NOT_PLAIN:
        return Frame(value, len(data), at_s, finite=True)
    value, flaw = read_exactly(data)
    if flaw is not None:
        fault = f"with {flaw.fault.value}" if flaw.fault is Fault.DUPLICATE_KEY else f"that {flaw.message}"
        raise NotJSON(f"an answer {fault}")
    return Frame(value, len(data), at_s, finite=_PERHAPS_INFINITE.search(data) is None)


def unresponsive(op: str, recorder: CallRecorder | None, *, moving: bool = False) -> Unresponsive:
    """Return the reason why an operation is not called, after the recorder was told of it."""
    silent = Unresponsive(op, moving=moving)
    if recorder is not None:
        recorder.unanswered(op, silent)
    return silent


class Timeouts:
    """Counts timeouts, and stops the calls of operations that have too many.

    Attributes:
        has_answered: the adapter has sent a frame.
    """

    def __init__(self) -> None:
        self.has_answered = False
        self._number: Counter[str] = Counter()
        self._moving: set[str] = set()

    def add(self, op: str, *, moving: bool = False) -> None:
        """Count a timeout; `moving` if the stream still sent frames."""
        self._number[op] += 1
        if moving:
            self._moving.add(op)

    def check(self, op: str, *, remote: bool, recorder: CallRecorder | None) -> None:
        """Pass if an operation may be called. Raises Unresponsive if it ran into the time limit too often."""
        is_silent = remote and not self.has_answered and self._number.total() >= MOST_WITHOUT_ANSWER
        if self._number[op] >= MOST_OF_ONE_OPERATION or is_silent:
            raise unresponsive(op, recorder, moving=op in self._moving)


class Recording:
    """Everything that an adapter reports to its hooks from now on; `turn` is that of the hooks over the wire."""

    def __init__(self, late: LateReports, provider: ProviderProbe, turn: int | None) -> None:
        self._late, self._provider, self._turn = late, provider, turn
        self._observed, self._counted = len(late.sink.observations), len(late.sink.counts)
        self._reached, self._struck, self._arrived = provider.calls(), len(provider.struck), len(provider.handed_on)
        self._begun = time.monotonic()

    def end(self, exchanges: Sequence[Exchange], *, observes: bool) -> None:
        """Take the reports of calls that have ended, or let them come late; `observes`: the adapter makes some."""
        ended = time.monotonic()
        for exchange in exchanges:
            exchange.reports.call = self.expected(exchange, ended, observes=observes)
        self._late.finish([exchange.reports for exchange in exchanges], self._observed, self._counted)

    def complete(self, exchange: Exchange) -> None:
        """Add what reached the provider."""
        provider = self._provider
        exchange.reached_provider = provider.calls() - self._reached
        exchange.faults, exchange.hints_ms = provider.struck_since(self._struck)
        exchange.handed_on = tuple(provider.handed_on[self._arrived :])
        if canaries := {f"provider text {number}": text for number, text in enumerate(provider.canaries)}:
            exchange.secrets = {**exchange.secrets, **canaries}

    def expected(self, exchange: Exchange, ended: float, *, observes: bool) -> Expected:
        """The facts by which a report is recognized.

        A retryable answer that no plan explains may be that of a gateway, which observes nothing (R114).
        """
        operation, last = BY_OP.get(exchange.op), exchange.frames[-1].body if exchange.frames else None
        body = last if isinstance(last, dict) else {}
        error, struck = body.get("error"), len(self._provider.struck) > self._struck
        given = context_of(exchange.request) or {}
        may_be_foreign = not struck and isinstance(error, str) and error in TAXONOMY and TAXONOMY[error].retry == "yes"
        failed = exchange.fault is not None or error is not None
        misdirected = operation is None or operation.streaming != exchange.streaming
        misdirected |= exchange.op.endswith(".capabilities") and error == "NotSupported"  # the component is not offered
        return Expected(
            component=operation.component if operation else "",
            ops=(operation.name, operation.op) if operation and not is_not_offered(exchange) else (),
            is_due=observes and is_observed(exchange) and not (may_be_foreign or misdirected),
            misdirected=misdirected,
            streaming=exchange.streaming or (operation is not None and operation.streaming),
            failed=None if not failed and (struck or last is None) else failed,
            codes=(str(body.get("code")), str(error)) if error is not None else (),
            labels={label for key, label in LABELS.items() if given.get(key) not in (None, "")},
            begun=self._begun,
            ended=ended,
            turn=self._turn,
        )


LABELS = {"tenant": "tenant_hash", "deadline_ms": "deadline_bucket"}
"""The label of an observation that a key of the context leads to."""
