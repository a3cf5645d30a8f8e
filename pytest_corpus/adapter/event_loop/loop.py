"""One event loop for an adapter's whole life, in a thread of its own.

The thread lets the suite give up on a call that blocks the loop, which no timeout inside the loop could.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import inspect
import logging
import os
import threading
import time
import weakref
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar, cast

from pytest_corpus.adapter.event_loop.closing import BLOCKED, grouped
from pytest_corpus.adapter.snapshot import safe_call
from pytest_corpus.text.redaction import type_name

T = TypeVar("T")

GRACE_S = 1.0
"""How long a loop may take to run a trivial callback before it counts as blocked."""

STOP_S = 2.0
"""How long what an adapter left behind may take to end."""

FORKED = 70
"""How a process ends that an adapter forked off inside the loop and let return into it."""


class TimeLimit(Exception):
    """A coroutine did not end within its time limit.

    Attributes:
        blocked: it holds the whole loop, or the loop has ended.
        ended: what ended the loop, where that is known; an exception's type.
    """

    def __init__(self, blocked: bool, ended: str = "") -> None:
        self.blocked, self.ended = blocked, ended
        super().__init__(blocked, ended)


class LoopThread:
    """An event loop that runs until `stop`.

    Attributes:
        blocked: something was found to hold it, or to have ended it.
        ended: the type of the exception that ended it, where one did.
        blamed: a call was found at fault for that.
    """

    def __init__(self, name: str) -> None:
        self.blocked = self.blamed = self._gone = False
        self.ended = ""
        self._process = os.getpid()
        self._closing = self._stopped = False
        self._waiting: concurrent.futures.Future[Any] | None = None
        self._lock = threading.Lock()
        self._loop = asyncio.new_event_loop()
        self._loop.set_exception_handler(_log_loop_error)
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()
        _RUNNING.add(self)

    # -- in the thread ---------------------------------------------------------------------------------

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._turn()
            while self._closing and not self._stopped:  # what an adapter's task raises must not end its closing
                self._turn()
        finally:
            if os.getpid() != self._process:
                os._exit(FORKED)
            self._end()

    def _turn(self) -> None:
        try:
            self._loop.run_forever()
        except BaseException as error:  # noqa: BLE001 - a task of the adapter's may raise SystemExit into the loop
            self.ended = type_name(error)

    def _end(self) -> None:
        with self._lock:
            self._gone = True
            waiting = self._waiting
        # A call must not wait for a loop that is gone.
        if waiting is not None and not waiting.done():
            with contextlib.suppress(concurrent.futures.InvalidStateError):
                waiting.set_exception(TimeLimit(blocked=True, ended=self.ended))
        with contextlib.suppress(Exception):
            self._loop.close()

    def leave_fork(self) -> None:
        """In a process that was forked off inside the loop: end it as soon as it returns into the loop."""
        if threading.get_ident() == self._thread.ident and not self._loop.is_closed():
            self._loop.call_soon(os._exit, FORKED)

    # -- from outside ----------------------------------------------------------------------------------

    def run(self, work: Coroutine[Any, Any, T], limit_s: float) -> T:
        """The result of `work`.

        Raises:
            TimeLimit: it took longer than `limit_s` seconds, and is cancelled and left behind; or the loop ended.
            Exception: what `work` raises.
        """
        with self._lock:
            if self._gone:
                work.close()
                self.blocked = True
                raise TimeLimit(blocked=True, ended=self.ended)
            future = self._waiting = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return cast(T, future.result(limit_s))
        except TimeLimit as late:
            self.blocked = self.blocked or late.blocked
            raise
        except concurrent.futures.TimeoutError:
            if future.done():  # `work` raised it itself, or came to its end at this very moment
                return cast(T, future.result())
            self.blocked = not self._alive()
            self._cancel(future)
            raise TimeLimit(self.blocked, self.ended) from None
        except BaseException:
            self._cancel(future)
            raise

    def begin(self, work: Coroutine[Any, Any, Any]) -> None:
        """Carry out `work` beside what else runs, and do not wait for it."""
        with self._lock:
            if self._gone:
                work.close()
            else:
                asyncio.run_coroutine_threadsafe(work, self._loop)

    def _cancel(self, future: concurrent.futures.Future[Any]) -> None:
        with self._lock:
            if not self._gone:
                future.cancel()

    def _alive(self) -> bool:
        turned = threading.Event()
        try:
            self._loop.call_soon_threadsafe(turned.set)
        except RuntimeError:  # a coroutine ended the loop
            return False
        return turned.wait(GRACE_S)

    def finish(self, closing: Coroutine[Any, Any, list[str]], limit_s: float) -> list[str]:
        """What closing raised, or that it took too long."""
        self._closing = True
        if self.blocked or limit_s <= 0 or not self._alive():
            closing.close()
            return [f"closing was not tried: {self._obstacle(limit_s)}"]
        try:
            return [f"closing raised {what}" for what in self.run(closing, limit_s)]
        except TimeLimit as late:
            blocking = " and blocks the event loop" if late.blocked else ""
            return [f"closing takes longer than {limit_s:g} s{blocking}"]
        except concurrent.futures.CancelledError:
            return ["closing raised CancelledError"]

    def _obstacle(self, limit_s: float) -> str:
        """Why closing cannot be tried."""
        if self._gone:
            return f"{self.ended or 'something'} has ended the event loop"
        return "no time is left" if limit_s <= 0 else "the event loop is blocked"

    def stop(self, limit_s: float = STOP_S) -> list[str]:
        """Cancel what still runs and end the thread; what was left behind. Nothing is raised.

        A blocked loop is left to die with the process.
        """
        self._closing = True
        if self._gone:
            return []
        until = time.monotonic() + limit_s
        left: list[str] = []
        try:
            if self.blocked or not self._alive():
                return [BLOCKED]
            self.run(_cancel_others(left, limit_s / 3), max(0.1, until - time.monotonic()))
        except TimeLimit as late:
            left.append(BLOCKED if late.blocked else "an event loop that is still busy")
        except concurrent.futures.CancelledError:
            left.append("an event loop that is still busy")
        finally:
            self._stopped = True
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(max(0.0, min(GRACE_S, until - time.monotonic())))
        return list(left)


_RUNNING: weakref.WeakSet[LoopThread] = weakref.WeakSet()


def _leave_forks() -> None:
    for running in list(_RUNNING):
        running.leave_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_forks)


def _log_loop_error(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log what went wrong beside a call, without its traceback.

    CPython 3.11 parses source to draw tracebacks; a task that is collected while pytest parses breaks that.
    """
    error = context.get("exception")
    logging.getLogger("asyncio").error("%s%s", context["message"], f": {type_name(error)}" if error else "")


async def _cancel_others(left: list[str], limit_s: float) -> None:
    """Cancel every task but this one and close every generator; `left` tells what there was."""
    others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    theirs = {task: name for task in others if (name := _name_of(task))}
    found = grouped("task", theirs.values())
    left += found
    for task in others:
        task.cancel()
    if others:
        _, still = await asyncio.wait(others, timeout=limit_s)
        if found and (stubborn := len(still & theirs.keys())):
            left[-1] += f", {stubborn} of them still running"
    left += await _close_generators(limit_s)


_OURS = os.path.dirname(os.path.dirname(__file__)) + os.sep


def _name_of(task: asyncio.Task[Any]) -> str:
    """The name of an adapter's coroutine; empty for a call of ours that was given up."""
    coroutine = task.get_coro()
    code = getattr(coroutine, "cr_code", None) if inspect.iscoroutine(coroutine) else None
    ours = code is not None and code.co_filename.startswith(_OURS)
    return "" if ours else _qualname(coroutine)


def _qualname(coroutine: Any) -> str:
    """The name of a coroutine or generator, whatever the adapter made of it."""
    return safe_call(lambda: coroutine.__qualname__) or type_name(coroutine)


async def _close_generators(limit_s: float) -> list[str]:
    """Close the asynchronous generators that were not iterated to their end; those that do not end by it."""
    loop = asyncio.get_running_loop()
    open_ones: Iterable[Any] = list(getattr(loop, "_asyncgens", ()))
    closing = asyncio.ensure_future(loop.shutdown_asyncgens())
    done, _ = await asyncio.wait({closing}, timeout=limit_s)
    if done:
        return []
    closing.cancel()
    return grouped("open generator", (_qualname(each) for each in open_ones if each.ag_frame))
