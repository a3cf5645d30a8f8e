"""Makes calls through a transport, and notes the frames of each answer, or the fault that ended the call."""

import asyncio
import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from pytest_corpus.adapter.event_loop.loop import TimeLimit, is_collected
from pytest_corpus.adapter.exchange import CallFault, Exchange, Frame, is_not_offered, is_observed
from pytest_corpus.adapter.fault_plan import Plan
from pytest_corpus.adapter.reports import Arrival
from pytest_corpus.adapter.scope import call_scope
from pytest_corpus.adapter.snapshot import NotJSON
from pytest_corpus.adapter.transports.protocol import MAX_STREAM_BYTES, TOO_LARGE, CallFailed, Transport
from pytest_corpus.adapter.transports.raw import RawAnswer, RawRequest
from pytest_corpus.spec.errors import TAXONOMY
from pytest_corpus.spec.operations import BY_OP
from pytest_corpus.text.strict_json import NOT_PLAIN, Fault, read_exactly, read_plainly

MAX_FRAMES = 10_000
"""The suite never requests a longer stream, so a longer one counts as endless."""

_PERHAPS_INFINITE = re.compile(rb"NaN|Infinity|[eE]\+?\d{3}|\d{309}")
"""Matches every JSON text that contains a non-finite number, and a few other texts."""


@dataclass(slots=True)
class CallBatch:
    """One call of the adapter, several concurrent calls, or the raw call of a transport test.

    Attributes:
        limit_s: the seconds after which the suite abandons the calls.
        debug_logs: True if log records below INFO are collected, too.
        clients: the client of each call, if there are several calls; the calls of one client are sequential.
        raw: the raw request of a transport test, or None.
        answer: the raw answer.
        plans: the plans that the provider had before the calls.
        arrivals: the arrivals at the provider since the previous calls.
        generation: the number of times that the instance was opened.
        called: the hooks that a remote adapter has called so far.
    """

    exchanges: list[Exchange]
    component: str
    limit_s: float
    debug_logs: bool = False
    clients: Sequence[int] | None = None
    raw: RawRequest | None = None
    answer: RawAnswer = field(default_factory=RawAnswer)
    plans: Sequence[Plan] = ()
    arrivals: Sequence[Arrival] = ()
    generation: int = 0
    called: frozenset[str] = frozenset()

    @property
    def entry_point(self) -> str:
        """The kind of the calls as transcripts name it: `raw`, `together`, `handle` or `handle_stream`."""
        if self.raw is not None:
            return "raw"
        return "together" if self.clients is not None else entry_point_of(self.exchanges[0])

    @property
    def calls_by_client(self) -> list[list[Exchange]]:
        """One list of calls for each client."""
        calls: dict[int, list[Exchange]] = {}
        for client, exchange in zip(self.clients or range(len(self.exchanges)), self.exchanges, strict=True):
            calls.setdefault(client, []).append(exchange)
        return list(calls.values())


def entry_point_of(exchange: Exchange) -> str:
    """Return the entry point of the wire handler to which a request goes."""
    return "handle_stream" if exchange.streaming else "handle"


def expect_reports(batch: CallBatch, *, observes: bool) -> None:
    """Mark each ended call whose reports must arrive. `observes` is True if the adapter can report at all.

    A retryable answer that no planned fault explains may come from a gateway, which sends no reports (R114).
    """
    struck = any(exchange.observed.applied_plans for exchange in batch.exchanges)
    for exchange in batch.exchanges:
        operation, last = BY_OP.get(exchange.op), exchange.frames[-1].body if exchange.frames else None
        error = last.get("error") if isinstance(last, dict) else None
        foreign = not struck and isinstance(error, str) and error in TAXONOMY and TAXONOMY[error].retry == "yes"
        unoffered = exchange.op.endswith(".capabilities") and error == "NotSupported"
        observed = exchange.observed
        observed.is_due = observes and is_observed(exchange) and not (foreign or unoffered)
        if operation is not None and is_not_offered(exchange):
            observed.ops = ()


async def call(transport: Transport, exchange: Exchange) -> None:
    """Send the request of an exchange to its entry point, and note the answer. Raises `TimeLimit` after the limit."""
    with call_scope(exchange.observed):
        await (_call_stream if exchange.streaming else _call_unary)(transport, exchange)
    if transport.late_iterations:
        await asyncio.sleep(0)
        for _ in range(transport.late_iterations - 1) if len(asyncio.all_tasks()) > 1 else ():
            await asyncio.sleep(0)


async def call_all(transport: Transport, calls_by_client: Iterable[Sequence[Exchange]]) -> None:
    """Make the calls of all clients concurrently, and the calls of one client one after the other."""

    async def call_in_order(exchanges: Sequence[Exchange]) -> None:
        for exchange in exchanges:
            await call(transport, exchange)

    await asyncio.gather(*map(call_in_order, calls_by_client))


async def _call_unary(transport: Transport, exchange: Exchange) -> None:
    started = exchange.started = time.monotonic()
    try:
        _note_answer(await transport.send(exchange.request), started, exchange)
    except CallFailed as failed:
        exchange.fault = failed.fault


async def _call_stream(transport: Transport, exchange: Exchange) -> None:
    started, total, task = time.monotonic(), 0, asyncio.current_task()
    frames = transport.stream(exchange.request)
    try:
        async for data in frames:
            if not _note_answer(data, started, exchange):
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


def _note_answer(data: bytes, started: float, exchange: Exchange) -> bool:
    """Record an answer; return True if another answer may follow."""
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


def cut_off_fault(exchange: Exchange) -> CallFault:
    """Return the fault of a stream that the suite stopped reading, although the stream might have ended later."""
    return CallFault("cut_off", f"still going on after {len(exchange.frames)} frames")


def was_sending_at_limit(exchange: Exchange, limit: float) -> bool:
    """True if frames of a stream arrived in the second half of the time limit, so the stream did not hang."""
    return exchange.streaming and bool(exchange.frames) and exchange.frames[-1].at_s > limit / 2


AGAIN = "; the answer to a short request goes on for ever, too"


def is_still_sending(exchange: Exchange) -> bool:
    """True if the suite stopped reading a stream that still sent frames. The stream may be endless, or only long."""
    fault = exchange.fault
    if fault is None or not exchange.streaming:
        return False
    return fault == cut_off_fault(exchange) or (fault.kind == "endless" and fault.text.endswith(AGAIN))


def is_steady(exchange: Exchange, limit: float) -> bool:
    """True if frames arrived steadily up to the limit, so the adapter and the machine did not pause."""
    times = [0.0, *(frame.at_s for frame in exchange.frames), limit]
    return max(after - before for before, after in pairwise(times)) < limit / 4


def endless_fault(exchange: Exchange) -> CallFault:
    """Return the fault of an endless stream. A later, short request also led to a stream that did not end."""
    return CallFault("endless", f"still going on after {len(exchange.frames)} frames{AGAIN}")


def note_fault(exchanges: Sequence[Exchange], fault: CallFault) -> None:
    """Record a fault in every exchange that has no answer."""
    for exchange in exchanges:
        if not exchange.frames:
            exchange.fault = exchange.fault or fault


def timeout_fault(late: TimeLimit, limit: float) -> CallFault:
    """Return the fault of a call that did not end in time, or whose loop ended."""
    if late.ended:
        return CallFault("raised", f"{late.ended}, which ended the event loop")
    if late.blocked:
        return CallFault("timeout", f"the event loop was blocked for more than {limit:g} s, or stopped")
    return CallFault("timeout", f"no end after {limit:g} s")


def read_frame(data: bytes, at_s: float) -> Frame:
    """Return the frame in `data`, which arrived after `at_s` seconds. All transports use this one reader.

    Non-finite numbers and lone surrogates are kept, because other requirements judge them; an integer beyond the range
    of a double counts as infinite.

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
