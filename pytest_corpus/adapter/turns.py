"""Bodies of tests in flight take turns: one runs at a time, and gives way while it waits.

A body gives way while its call is under way, and in every pause. So the code of tests needs no locks: between two waits
nothing else of the suite runs. What belongs to the test at hand but hangs on objects that all tests share is put away
when a body gives way, and back when it goes on.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

Place = tuple[Any, str]
"""An object and the name of an attribute of it."""

LOOK_S = 0.5
"""The time after which one that waits for a fact looks again, in case that nothing wakes it."""


class Disturbed(Exception):
    """A test in flight met something that it must be run alone for; `crowded` if the adapter takes fewer calls."""

    def __init__(self, crowded: bool = False) -> None:
        self.crowded = crowded
        super().__init__(crowded)


class Turns:
    """Lets one of several bodies run. The thread that makes it has the first turn.

    Attributes:
        stopped: no body goes on.
        asked: the facts that are being found out, by whom.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._owner: int | None = None
        self.stopped = False
        self.asked: dict[Hashable, tuple[Body, threading.Event]] = {}
        self.take()

    def take(self) -> None:
        """Wait for a turn."""
        self._lock.acquire()
        self._owner = threading.get_ident()

    def give(self) -> None:
        """Let another one run, if it is this thread's turn: one that was interrupted as it waited has none."""
        if self._owner == threading.get_ident():
            self._owner = None
            self._lock.release()


class Body:
    """The body of a test in flight.

    Attributes:
        turns: those that it takes part in.
        lost_s: the seconds for which it could have gone on and another body ran.
        awaits: the fact that it waits for.
    """

    def __init__(self, turns: Turns, places: Sequence[Place], values: Sequence[Any]) -> None:
        self.turns, self._places, self._values = turns, places, list(values)
        self.lost_s = 0.0
        self.awaits: Hashable = None

    def leave(self) -> None:
        """Give way."""
        self._values = [getattr(holder, name) for holder, name in self._places]
        self.turns.give()

    def go_on(self) -> None:
        """Wait for a turn. Raises Disturbed if the run has ended."""
        since = time.monotonic()
        self.turns.take()
        self.lost_s += time.monotonic() - since
        for (holder, name), value in zip(self._places, self._values, strict=True):
            setattr(holder, name, value)
        if self.turns.stopped:
            raise Disturbed

    def would_wait_for(self, key: Hashable) -> bool:
        """True if another body finds out a fact, and does not wait for this one meanwhile."""
        known = self.turns.asked
        while key in known:
            owner = known[key][0]
            if owner is self:
                return False
            key = owner.awaits
            if key is None:
                return True
        return False


_BODY: ContextVar[Body | None] = ContextVar("corpus_body", default=None)


def run_as(body: Body, work: Callable[[], None]) -> None:
    """Do something as a body."""
    _BODY.set(body)
    work()


def is_in_flight() -> bool:
    """True in a body that runs beside others."""
    return _BODY.get() is not None


def lost_s() -> float:
    """The seconds that the body at hand has lost to others; 0 outside of any."""
    body = _BODY.get()
    return 0.0 if body is None else body.lost_s


def disturbed(*, crowded: bool = False) -> None:
    """Break off the body at hand, which is then run alone. Does nothing outside of any."""
    if _BODY.get() is not None:
        raise Disturbed(crowded)


@contextmanager
def giving_way() -> Iterator[None]:
    """Let other bodies run within; nothing else than waiting may be done here."""
    body = _BODY.get()
    if body is None:
        yield
        return
    body.leave()
    try:
        yield
    finally:
        body.go_on()


@contextmanager
def finding_out(*key: Hashable, undo: Callable[[], object] = lambda: None) -> Iterator[None]:
    """Find out a fact within, once: other bodies that need it wait until it is known.

    Args:
        undo: takes back what was noted of it if the body is broken off.
    """
    body = _BODY.get()
    if body is None:
        yield
        return
    asked = body.turns.asked
    while body.would_wait_for(key):
        body.awaits, (_, known) = key, asked[key]
        try:
            with giving_way():
                known.wait(LOOK_S)
        finally:
            body.awaits = None
    if key in asked:
        yield
        return
    asked[key] = body, threading.Event()
    try:
        yield
    except Disturbed:
        undo()
        raise
    finally:
        asked.pop(key)[1].set()
