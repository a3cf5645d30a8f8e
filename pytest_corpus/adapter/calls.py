"""One call through a transport: what comes back within its bounds, and why there is no more."""

import asyncio
import time
from collections.abc import Sequence

from pytest_corpus.adapter.event_loop.cancellation import is_collected
from pytest_corpus.adapter.event_loop.loop import TimeLimit
from pytest_corpus.adapter.exchange import CallFault, Exchange
from pytest_corpus.adapter.frame_reader import read_frame
from pytest_corpus.adapter.snapshot import NotJSON
from pytest_corpus.adapter.transports.protocol import CallFailed, Transport

MAX_FRAMES = 10_000
"""No request of the suite asks for a longer stream; one that goes on is cut off."""

MAX_STREAM_BYTES = 64 * 2**20


async def call(transport: Transport, exchange: Exchange) -> None:
    """Send the request of an exchange to the entry point that it names, and note what comes back.

    Raises:
        TimeLimit: an answer came after `until`.
    """
    await (_stream if exchange.streaming else _unary)(transport, exchange)
    await transport.settle()


async def call_all(transport: Transport, exchanges: Sequence[Exchange]) -> None:
    """Carry out several calls at the same time."""
    await asyncio.gather(*(call(transport, each) for each in exchanges))


async def _unary(transport: Transport, exchange: Exchange) -> None:
    started = time.monotonic()
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
                exchange.fault = cut_off(exchange)
                break
    except CallFailed as failed:
        exchange.fault = failed.fault
    finally:
        if not is_collected(task):
            await frames.aclose()


def _keep(data: bytes, started: float, exchange: Exchange) -> bool:
    """Note an answer; whether there may be another.

    Raises:
        TimeLimit: it came too late to be part of the exchange.
    """
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
    """The suite does not read on, and does not know whether the stream would have ended."""
    return CallFault("cut_off", f"still going on after {len(exchange.frames)} frames")


def moves(exchange: Exchange, limit: float) -> bool:
    """Whether a stream that ran into the time limit still went on by then: that is not a hang."""
    return exchange.streaming and bool(exchange.frames) and exchange.frames[-1].at_s > limit / 2


def mark(exchanges: Sequence[Exchange], fault: CallFault) -> None:
    """Note a fault at every exchange that has come to nothing."""
    for exchange in exchanges:
        if not exchange.frames:
            exchange.fault = exchange.fault or fault


def too_late(late: TimeLimit, limit: float) -> CallFault:
    """What a call comes to that did not end in time, or whose loop did."""
    if late.ended:
        return CallFault("raised", f"{late.ended}, which ended the event loop")
    why = (
        f"the event loop was blocked for more than {limit:g} s, or stopped"
        if late.blocked
        else f"no end after {limit:g} s"
    )
    return CallFault("timeout", why)
