"""Runs tests concurrently: one body (the code of a test) runs at a time, and gives way to others while it waits.

A body gives way during its calls and in every pause. So the code of tests needs no locks: between two waits no other
body runs. Shared objects have attributes that belong to the current test. They are saved when a body gives way, and
restored when it goes on.
"""

from __future__ import annotations

import functools
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from typing import Any, TypeVar

T = TypeVar("T")

AttributePlace = tuple[Any, str]
"""An object and the name of one of its attributes."""

RECHECK_S = 0.5
"""The seconds after which a body that waits for a fact checks again, in case it was not woken."""


class MustRunAlone(Exception):
    """The error for a concurrent test that must run alone; `crowded` is True if the adapter refused a call."""

    def __init__(self, crowded: bool = False) -> None:
        self.crowded = crowded
        super().__init__(crowded)


class Turns:
    """Lets one of several bodies run. The thread that creates this object runs first.

    Attributes:
        stopped: True if no body may go on.
        asked: the facts that are being found out, and the bodies that find them out.
        bodies: the bodies that have not ended.
        splits: the pieces of work that bodies wait for.
        fill: the function that begins more tests if there is room.
    """

    def __init__(self, fill: Callable[[], None] = lambda: None) -> None:
        self._lock = threading.Lock()
        self._owner: int | None = None
        self.stopped, self.fill = False, fill
        self.asked: dict[Hashable, tuple[Body, threading.Event]] = {}
        self.bodies: list[Body] = []
        self.splits: list[Split] = []
        self.take_turn()

    @property
    def helper_count(self) -> int:
        """The number of threads that do pieces of work, minus the number of bodies that wait for their pieces."""
        return sum(split.busy - 1 for split in self.splits)

    def take_turn(self) -> None:
        """Wait until no other body runs."""
        self._lock.acquire()
        self._owner = threading.get_ident()

    def give_turn(self) -> None:
        """Let another body run. Do nothing in a thread without a turn: its wait for the turn was interrupted."""
        if self._owner == threading.get_ident():
            self._owner = None
            self._lock.release()


class Body:
    """The code of a concurrent test, or of a piece of its work, in a thread.

    Attributes:
        turns: decides which body runs.
        parent: the body whose piece of work this body does; None for a test.
        lost_s: the seconds in which this body could have run while another one ran.
        awaits: the fact that the body waits for.
        is_resting: True if the body waits for a time to pass, and needs nothing of the adapter until then.
    """

    def __init__(
        self, turns: Turns, places: Sequence[AttributePlace], values: Sequence[Any], parent: Body | None = None
    ) -> None:
        self.turns, self._places, self._values, self.parent = turns, places, list(values), parent
        self.lost_s = 0.0
        self.awaits: Hashable = None
        self.is_resting = False

    def piece_body_maker(self) -> Callable[[], Body]:
        """Return a function that makes new bodies; each of them does one piece of the work of this body."""
        values = [getattr(holder, name) for holder, name in self._places]
        return lambda: Body(self.turns, self._places, values, self)

    def value_of(self, holder: object, name: str) -> Any:
        """Return the saved value of an attribute of a body that has given way."""
        return self._values[next(at for at, (each, own) in enumerate(self._places) if each is holder and own == name)]

    def leave(self) -> None:
        """Save the attributes of the test, and let another body run."""
        self._values = [getattr(holder, name) for holder, name in self._places]
        self.turns.give_turn()

    def resume(self) -> None:
        """Wait until no other body runs, and restore the test's attributes. Raises MustRunAlone if the run ended."""
        since = time.monotonic()
        self.turns.take_turn()
        self.lost_s += time.monotonic() - since
        for (holder, name), value in zip(self._places, self._values, strict=True):
            setattr(holder, name, value)
        if self.turns.stopped:
            raise MustRunAlone

    @property
    def family(self) -> Iterator[Body]:
        """This body, its parent, and so on."""
        body: Body | None = self
        while body is not None:
            yield body
            body = body.parent

    def would_wait_for(self, key: Hashable) -> bool:
        """True if this body can wait for a fact: another body finds it out and does not itself wait for this one."""
        known, own, keys, seen = self.turns.asked, {*self.family}, [key], set[Hashable]()
        while keys:
            if (key := keys.pop()) in known and key not in seen:
                seen.add(key)
                owner = known[key][0]
                if owner in own:
                    return False
                keys += [each.awaits for each in self.turns.bodies if owner in each.family and each.awaits is not None]
        return bool(seen)


class Split:
    """Carries out the pieces of a body's work in several threads, so that a piece can go on while others wait.

    Attributes:
        busy: the number of threads that do pieces.
    """

    def __init__(self, body: Body, pieces: Sequence[Callable[[], object]]) -> None:
        self._turns, self._left, self.busy, self._coming = body.turns, deque(enumerate(pieces)), 0, 0
        self._context, self._copy = copy_context(), body.piece_body_maker()
        self._results: dict[int, object] = {}
        self._failed: list[BaseException] = []
        self._over = threading.Event()

    @property
    def is_open(self) -> bool:
        """True if a piece of the work is left for another thread."""
        return len(self._left) > self._coming and not self._failed

    def begin(self) -> None:
        """Start a thread that does the remaining pieces one after the other. It waits for other bodies."""
        work = functools.partial(self._context.copy().run, run_as, self._copy(), self._go_on)
        threading.Thread(target=work, daemon=True).start()
        self.busy, self._coming = self.busy + 1, self._coming + 1

    def results(self) -> list[Any]:
        """Return the results in the order of the pieces. Raises the exception of a piece."""
        self._turns.splits.append(self)
        try:
            self.begin()
            self._turns.fill()
            with giving_way():
                self._over.wait()
        finally:
            self._turns.splits.remove(self)
        if self._failed:
            raise self._failed[0]
        return [result for _, result in sorted(self._results.items())]

    def _go_on(self) -> None:
        body = _BODY.get()
        assert body is not None
        try:
            try:
                body.resume()
            finally:
                self._coming -= 1
            while self._left and not self._failed:
                at, piece = self._left.popleft()
                self._results[at] = piece()
        except BaseException as error:  # noqa: BLE001 - the body raises it
            self._failed.append(error)
        finally:
            self.busy -= 1
            if not self.busy:
                self._over.set()
            self._turns.fill()
            self._turns.give_turn()


_BODY: ContextVar[Body | None] = ContextVar("corpus_body", default=None)


def run_as(body: Body, work: Callable[[], None]) -> None:
    """Run `work` in this thread as a body."""
    _BODY.set(body)
    body.turns.bodies.append(body)
    try:
        work()
    finally:
        body.turns.bodies.remove(body)


def is_in_flight() -> bool:
    """True if a test runs concurrently with others, in a body."""
    return _BODY.get() is not None


def values_in_other_bodies(holder: object, name: str) -> list[Any]:
    """Return the values that an attribute of the current test has in all other bodies."""
    body = _BODY.get()
    return [each.value_of(holder, name) for each in body.turns.bodies if each is not body] if body else []


def lost_s() -> float:
    """Return the seconds that the current body has lost to others; 0 outside of any body."""
    body = _BODY.get()
    return 0.0 if body is None else body.lost_s


def break_off_body(*, crowded: bool = False) -> None:
    """Raise MustRunAlone, so that the current test runs again alone. Do nothing outside of any body."""
    if _BODY.get() is not None:
        raise MustRunAlone(crowded)


@contextmanager
def giving_way() -> Iterator[None]:
    """Let other bodies run during this block. The block may do nothing but wait."""
    body = _BODY.get()
    if body is None:
        yield
        return
    body.leave()
    try:
        yield
    finally:
        body.resume()


@contextmanager
def resting() -> Iterator[None]:
    """Mark the body as resting within this block. It makes no calls, so tests that run alone need not wait for it."""
    body = _BODY.get()
    if body is not None:
        body.is_resting = True
    try:
        yield
    finally:
        if body is not None:
            body.is_resting = False


@contextmanager
def finding_out(*key: Hashable, undo: Callable[[], object] = lambda: None) -> Iterator[None]:
    """Let one body find out a fact in this block; other bodies that need the fact wait until it is known.

    Args:
        key: identifies the fact.
        undo: the function that removes notes about the fact if the body is broken off.
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
                known.wait(RECHECK_S)
        finally:
            body.awaits = None
    if key in asked:
        yield
        return
    asked[key] = body, threading.Event()
    try:
        yield
    except MustRunAlone:
        undo()
        raise
    finally:
        asked.pop(key)[1].set()


def call_side_by_side(step: Callable[[Any], T], items: Iterable[Any]) -> list[T]:
    """Call `step` for each item, and return the results in order.

    In a test that runs concurrently with others (a `Body`), a step goes on while other steps wait for their answers. A
    step draws its inputs before its first call, so that they depend on nothing that happens later.
    """
    body, pieces = _BODY.get(), [functools.partial(step, item) for item in items]
    return [piece() for piece in pieces] if body is None else Split(body, pieces).results()
