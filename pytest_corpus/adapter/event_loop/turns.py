"""The turns that an event loop and the thread waiting for its calls take, on one processor.

To be woken on another processor costs a thread about 50 microseconds, and every call wakes two: an eighth of the
processor time of a run. So both wait on the processor of the loop. A thread is bound only while it waits, so threads
and processes that an adapter starts may run everywhere. Other systems and event loops of others bind nothing.
"""

import asyncio
import contextlib
import functools
import os
import selectors
import threading
import warnings
from collections.abc import Callable, Iterator

from pytest_corpus.adapter.inputs import Clock


@functools.cache
def _processor_reader() -> Callable[[], int] | None:
    """Return a function that gives the processor of the calling thread; None where threads cannot be bound."""
    if not hasattr(os, "sched_setaffinity"):
        return None
    try:
        import ctypes

        return ctypes.PyDLL(None).sched_getcpu
    except (ImportError, OSError, AttributeError):
        return None


def _has_default_policy() -> bool:
    """Return False if somebody has chosen how event loops are made."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # from Python 3.14 on
        return type(asyncio.get_event_loop_policy()) is asyncio.DefaultEventLoopPolicy


class Turns:
    """An event loop, and the waiting of another thread for it.

    Attributes:
        loop: the event loop that asyncio makes, with a selector of this module where threads can be bound.
    """

    def __init__(self) -> None:
        self._processor = -1
        self._over: list[threading.Lock] = []
        self._read_processor = _processor_reader() if _has_default_policy() else None
        binds = self._read_processor is not None
        self.loop = _Loop(_Selector(self)) if binds else asyncio.new_event_loop()

    def end(self, wait: threading.Lock) -> None:
        """In the loop: end a wait of the other thread, when the loop waits itself."""
        self._over.append(wait)
        if self._read_processor is None:
            self.end_all()

    def end_all(self) -> None:
        """In the loop: end the waits that are over."""
        while self._over:
            self._over.pop().release()

    def outside(self) -> contextlib.AbstractContextManager[None]:
        """Enclose what the other thread does to wake the loop and to wait for it."""
        return _bound(self._processor)

    @contextlib.contextmanager
    def inside(self, timeout: float | None) -> Iterator[None]:
        """Enclose a wait of the loop for `timeout` seconds; the waits that are over end before it."""
        if timeout is not None and timeout <= 0 and not self._over:
            yield
            return
        assert self._read_processor is not None, "a selector of this module waits only where threads can be bound"
        self._processor = self._read_processor()
        with _bound(self._processor):
            self.end_all()
            yield


class _Loop(asyncio.SelectorEventLoop):
    """A loop whose clock goes on, although a user's test stops the clocks of `time` for a while."""

    def time(self) -> float:
        return Clock.monotonic()


class _Selector(selectors.DefaultSelector):
    """Waits for events on one processor."""

    def __init__(self, turns: Turns) -> None:
        super().__init__()
        self._turns = turns

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        with self._turns.inside(timeout):
            return super().select(timeout)


@contextlib.contextmanager
def _bound(processor: int) -> Iterator[None]:
    """Bind the calling thread to a processor meanwhile, if it may run there and elsewhere.

    What others have bound it to in the meantime is kept.
    """
    former: set[int] = set()
    try:
        with contextlib.suppress(OSError):
            allowed = os.sched_getaffinity(0) if processor >= 0 else set()
            if processor in allowed and len(allowed) > 1:
                former = allowed  # noted first, for a signal may come at any moment
                os.sched_setaffinity(0, {processor})
        yield
    finally:
        with contextlib.suppress(OSError):
            if former and os.sched_getaffinity(0) == {processor}:
                os.sched_setaffinity(0, former)
