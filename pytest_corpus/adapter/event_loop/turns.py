"""The turns that an event loop and the thread waiting for its calls take, on one processor.

To be woken on another processor costs a thread about 50 microseconds, and every call wakes two: an eighth of the
processor time of a run. So both wait on the processor of the loop. A thread is bound only while it waits: no code of an
adapter runs bound, and no thread or process that it starts inherits that. Other systems and other event loops bind
nothing.
"""

import asyncio
import contextlib
import os
import selectors
import threading
from collections.abc import Callable, Iterator


def _processor_reader() -> Callable[[], int] | None:
    """Return what tells the processor that runs the calling thread, where threads can be bound."""
    if not hasattr(os, "sched_setaffinity"):
        return None
    try:
        import ctypes

        return ctypes.PyDLL(None).sched_getcpu
    except (ImportError, OSError, AttributeError):
        return None


class Turns:
    """An event loop, and the waiting of another thread for it.

    Attributes:
        loop: the event loop that asyncio makes, with a selector of this class where threads can be bound.
    """

    def __init__(self) -> None:
        self._processor = -1
        self._over: list[threading.Lock] = []
        self._read_processor: Callable[[], int] | None = None
        self.loop = asyncio.new_event_loop()
        if type(self.loop) is asyncio.SelectorEventLoop:
            self._read_processor = _processor_reader()
        if self._read_processor is not None:
            self.loop.close()
            self.loop = asyncio.SelectorEventLoop(_Selector(self))

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
        """Enclose a wait of the loop for at most so many seconds, after which the other thread goes on."""
        if self._read_processor is None or (timeout is not None and timeout <= 0 and not self._over):
            yield
            return
        self._processor = self._read_processor()
        with _bound(self._processor):
            self.end_all()
            yield


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
    """Bind the calling thread to a processor meanwhile, if it may run there and elsewhere."""
    former: set[int] = set()
    with contextlib.suppress(OSError):
        allowed = os.sched_getaffinity(0) if processor >= 0 else set()
        if processor in allowed and len(allowed) > 1:
            os.sched_setaffinity(0, {processor})
            former = allowed
    try:
        yield
    finally:
        if former:
            with contextlib.suppress(OSError):
                os.sched_setaffinity(0, former)
