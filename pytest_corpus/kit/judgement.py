"""Counts the checks of a test and notes the exchanges that each check is judged on.

A reply notes its exchange whenever it is read. A violation takes the exchanges that were read since the last check that
passed. So a finding shows the requests whose answers were judged, which need not be the last requests.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from pytest_corpus.adapter.exchange import Exchange, Frame
from pytest_corpus.adapter.facts import Capabilities


@dataclass(slots=True)
class Judgement:
    """Holds the number of checks that could have failed, and the exchanges that the current check is judged on.

    `holds` is True if a check of these exchanges has passed. Then the next read begins a new list.
    """

    checks: int = 0
    exchanges: list[Exchange] = field(default_factory=list)
    holds: bool = False


_CURRENT: ContextVar[Judgement | None] = ContextVar("judgement", default=None)


@contextmanager
def judging() -> Iterator[Judgement]:
    """Count the checks in this block, and collect the exchanges that they are judged on.

    Until the block reads an answer, these are the exchanges of the outer block.
    """
    outer = _CURRENT.get()
    before = _CURRENT.set(own := Judgement(exchanges=outer.exchanges if outer else [], holds=True))
    try:
        yield own
    finally:
        _CURRENT.reset(before)


@contextmanager
def reading_separately() -> Iterator[list[Exchange]]:
    """Collect the exchanges that are read in this block, and keep them out of the current check of the test."""
    at_hand = _CURRENT.get()
    if at_hand is None:
        yield []
        return
    before, held = at_hand.exchanges, at_hand.holds
    at_hand.exchanges, at_hand.holds = [], False
    found: list[Exchange] = []
    try:
        yield found
    finally:
        found += at_hand.exchanges
        at_hand.exchanges, at_hand.holds = before, held


def note_check() -> None:
    """Record a check that could have failed. A test without such a check does not decide its requirement."""
    if (at_hand := _CURRENT.get()) is not None:
        at_hand.checks += 1


def note_condition_held() -> None:
    """Record that a condition holds for the exchanges that were read so far."""
    if (at_hand := _CURRENT.get()) is not None:
        at_hand.holds = True


def look_at(*exchanges: Exchange) -> None:
    """Record that a test reads these exchanges. The last exchange counts as read last."""
    at_hand = _CURRENT.get()
    if at_hand is None or not exchanges:
        return
    if at_hand.holds:
        at_hand.exchanges, at_hand.holds = [], False
    for exchange in exchanges:
        if not at_hand.exchanges or at_hand.exchanges[-1] is not exchange:
            at_hand.exchanges = [*(each for each in at_hand.exchanges if each is not exchange), exchange]


def look_at_capabilities(capabilities: Capabilities) -> None:
    """Record that a test reads the capabilities, which were requested before any test."""
    exchange = Exchange({"op": f"{capabilities.component}.capabilities", "ctx": {}, "args": {}}, streaming=False)
    exchange.frames.append(Frame({"ok": True, "code": "OK", "result": capabilities.document}, 0, 0.0))
    look_at(exchange)


def exchanges_read() -> tuple[Exchange, ...]:
    """Return the exchanges that the current condition is judged on, in the order of reading."""
    at_hand = _CURRENT.get()
    return () if at_hand is None else tuple(at_hand.exchanges)
