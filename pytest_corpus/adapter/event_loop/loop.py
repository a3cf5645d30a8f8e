"""One event loop for an adapter's whole life, in a separate thread.

A timeout inside the loop could not end a call that blocks the loop. With a separate thread, the suite can abandon the
call and the loop.
"""

import asyncio
import concurrent.futures
import contextlib
import contextvars
import inspect
import logging
import os
import threading
import time
import weakref
from collections.abc import Callable, Coroutine, Iterable
from enum import IntEnum
from typing import Any, TypeVar, cast

from pytest_corpus.adapter.event_loop.closing import BLOCKED, count_by_name
from pytest_corpus.adapter.snapshot import safe_call
from pytest_corpus.adapter.turns import giving_way
from pytest_corpus.redaction import type_name

T = TypeVar("T")

GRACE_S = 1.0
"""A loop that takes longer than this to run a trivial callback counts as blocked."""

STOP_S = 2.0
"""The seconds that tasks and generators of an adapter have to end."""

FORKED = 70
"""The exit code of a process that an adapter forked inside the loop and that returned to the loop."""


class TimeLimit(Exception):
    """A coroutine did not end within its time limit.

    Attributes:
        blocked: True if the coroutine blocks the whole loop, or if the loop has ended.
        ended: the type of the exception that ended the loop, if known.
    """

    def __init__(self, blocked: bool, ended: str = "") -> None:
        self.blocked, self.ended = blocked, ended
        super().__init__(blocked, ended)


class _Call:
    """A coroutine in the loop, for which another thread waits.

    A call costs half as much as `run_coroutine_threadsafe`, which uses two futures with conditions and callbacks.
    """

    def __init__(self, work: Coroutine[Any, Any, Any]) -> None:
        self._work = work
        self.is_over = False
        self._task: asyncio.Task[None] | None = None
        self._result: Any = None
        self._error: BaseException | None = None
        self._running = threading.Lock()
        self._running.acquire()

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Start the coroutine. Must be called in the loop."""
        self._task = loop.create_task(self._carry_out())

    async def _carry_out(self) -> None:
        """Await the coroutine and note its end. A callback of the task would need another iteration of the loop."""
        try:
            self._result = await self._work
        except asyncio.CancelledError:
            self._error = concurrent.futures.CancelledError()
        except Exception as error:  # noqa: BLE001 - the waiting thread raises it
            self._error = error
        self._end()

    def _end(self) -> None:
        self.is_over = True
        self._running.release()

    def cancel(self) -> None:
        """Cancel the coroutine, even if it was not started. Must be called in the loop."""
        if self._task is None:
            self._work.close()
        else:
            self._task.cancel()
            self._task.add_done_callback(lambda _: self._work.close())  # a cancelled task may never have awaited it

    def fail(self, limit: TimeLimit) -> None:
        """End the wait for a coroutine whose loop has ended."""
        if not self.is_over:
            self._error = limit
            self._end()

    def ends_within(self, limit_s: float) -> bool:
        """Wait in another thread; return True if the coroutine ended within the limit."""
        return self._running.acquire(timeout=max(0.0, min(limit_s, threading.TIMEOUT_MAX)))

    def result(self) -> Any:
        """Return the result of the ended coroutine, or raise its exception."""
        if self._error is not None:
            raise self._error
        return self._result


class _ContextExecutor(concurrent.futures.ThreadPoolExecutor):
    """The default executor of the loop. Work in it belongs to the call that submitted it (`adapter/scope.py`)."""

    def submit(self, work: Callable[..., T], /, *args: Any, **kwargs: Any) -> concurrent.futures.Future[T]:
        return super().submit(contextvars.copy_context().run, work, *args, **kwargs)


class Phase(IntEnum):
    """The phases of a loop's life, in order."""

    OPEN = 0
    CLOSING = 1
    """The phase in which an exception of the adapter's tasks no longer ends the loop."""

    STOPPING = 2
    GONE = 3


class LoopThread:
    """An event loop in a thread, which runs until `stop`.

    Attributes:
        blocked: True if a call blocks or has ended the loop.
        ended: the type of the exception that ended the loop, or None.
        blamed: True if it is known which call blocked or ended the loop.
    """

    def __init__(self, name: str) -> None:
        self.blocked = self.blamed = False
        self.ended = ""
        self._phase = Phase.OPEN
        self._process = os.getpid()
        self._waiting: set[_Call] = set()
        self._lock = threading.Lock()
        self._loop = asyncio.new_event_loop()
        self._loop.set_exception_handler(_log_loop_error)
        self._loop.set_default_executor(_ContextExecutor(thread_name_prefix="asyncio"))
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()
        _RUNNING.add(self)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._run_until_stopped()
            while self._phase is Phase.CLOSING:
                self._run_until_stopped()
        finally:
            if os.getpid() != self._process:
                os._exit(FORKED)
            self._end()

    def _run_until_stopped(self) -> None:
        try:
            self._loop.run_forever()
        except BaseException as error:  # noqa: BLE001 - a task of the adapter's may raise SystemExit into the loop
            self.ended = type_name(error)

    def _end(self) -> None:
        self._advance(Phase.GONE)
        for call in tuple(self._waiting):
            call.fail(TimeLimit(blocked=True, ended=self.ended))
        with contextlib.suppress(Exception):
            self._loop.close()

    def _advance(self, phase: Phase) -> None:
        with self._lock:
            self._phase = max(self._phase, phase)

    def exit_fork(self) -> None:
        """End a process that the adapter forked inside the loop, as soon as that process returns to the loop."""
        if threading.get_ident() == self._thread.ident and not self._loop.is_closed():
            self._loop.call_soon(os._exit, FORKED)

    def run(self, work: Coroutine[Any, Any, T], limit_s: float) -> T:
        """Return the result of `work`.

        Raises:
            TimeLimit: `work` took longer than `limit_s` seconds and was cancelled and abandoned, or the loop ended.
            Exception: what `work` raises.
        """
        call = _Call(work)
        try:
            self._start_call(call)
            with giving_way():
                has_ended = call.ends_within(limit_s)
        except BaseException:  # the run is stopped, or the loop has ended
            self._cancel_call(call)
            raise
        finally:
            self._waiting.discard(call)
        if not has_ended and not call.is_over:
            self.blocked = not self._is_alive()
            self._cancel_call(call)
            raise TimeLimit(self.blocked, self.ended)
        try:
            return cast(T, call.result())
        except TimeLimit as late:
            self.blocked = self.blocked or late.blocked
            raise

    def _start_call(self, call: _Call) -> None:
        with self._lock:
            if self._phase is Phase.GONE:
                call.cancel()
                self.blocked = True
                raise TimeLimit(blocked=True, ended=self.ended)
            self._waiting.add(call)
            self._loop.call_soon_threadsafe(call.start, self._loop)

    def begin(self, work: Coroutine[Any, Any, Any]) -> None:
        """Start `work` without waiting for it."""
        with self._lock:
            if self._phase is Phase.GONE:
                work.close()
            else:
                asyncio.run_coroutine_threadsafe(work, self._loop)

    def _cancel_call(self, call: _Call) -> None:
        with self._lock:
            if self._phase is not Phase.GONE:
                self._loop.call_soon_threadsafe(call.cancel)

    def _is_alive(self) -> bool:
        turned = threading.Event()
        try:
            self._loop.call_soon_threadsafe(turned.set)
        except RuntimeError:  # a coroutine ended the loop
            return False
        return turned.wait(GRACE_S)

    def finish(self, closing: Coroutine[Any, Any, list[str]], limit_s: float) -> list[str]:
        """Run `closing`; return the exceptions that it reports, or a sentence if it took too long."""
        self._advance(Phase.CLOSING)
        if self.blocked or limit_s <= 0 or not self._is_alive():
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
        """Return the reason why closing is impossible; empty if it is possible."""
        if self._phase is Phase.GONE:
            return f"{self.ended or 'something'} has ended the event loop"
        return "no time is left" if limit_s <= 0 else "the event loop is blocked"

    def stop(self, limit_s: float = STOP_S) -> list[str]:
        """Cancel all running work, end the thread and return the leftovers. Nothing is raised.

        A blocked loop ends with the process.
        """
        self._advance(Phase.CLOSING)
        if self._phase is Phase.GONE:
            return []
        until = time.monotonic() + limit_s
        left: list[str] = []
        try:
            if self.blocked or not self._is_alive():
                return [BLOCKED]
            self.run(_cancel_others(left, limit_s / 3), max(0.1, until - time.monotonic()))
        except TimeLimit as late:
            left.append(BLOCKED if late.blocked else "an event loop that is still busy")
        except concurrent.futures.CancelledError:
            left.append("an event loop that is still busy")
        finally:
            self._advance(Phase.STOPPING)
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._loop.stop)
            if not self.blocked:
                self._thread.join(max(0.0, min(GRACE_S, until - time.monotonic())))
        return list(left)


_RUNNING: weakref.WeakSet[LoopThread] = weakref.WeakSet()


def _exit_forks() -> None:
    for running in list(_RUNNING):
        running.exit_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_exit_forks)


def _log_loop_error(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log an error outside of calls, without its traceback.

    CPython 3.11 parses source code to show a traceback, which fails if pytest is parsing at the same time.
    """
    error = context.get("exception")
    logging.getLogger("asyncio").error("%s%s", context["message"], f": {type_name(error)}" if error else "")


async def _cancel_others(left: list[str], limit_s: float) -> None:
    """Cancel all other tasks and close all generators; add the names of those that do not end to `left`."""
    others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    theirs = {task: name for task in others if (name := _name_of(task))}
    found = count_by_name("task", theirs.values())
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
    """Return the name of an adapter's coroutine; empty if the task is an abandoned call of the suite."""
    coroutine = task.get_coro()
    code = getattr(coroutine, "cr_code", None) if inspect.iscoroutine(coroutine) else None
    ours = code is not None and code.co_filename.startswith(_OURS)
    return "" if ours else _qualname(coroutine)


def _qualname(coroutine: Any) -> str:
    """Return the name of a coroutine or generator, whatever its class."""
    return safe_call(lambda: coroutine.__qualname__) or type_name(coroutine)


async def _close_generators(limit_s: float) -> list[str]:
    """Close asynchronous generators that were not exhausted; return those that do not end."""
    loop = asyncio.get_running_loop()
    open_ones: Iterable[Any] = list(getattr(loop, "_asyncgens", ()))
    closing = asyncio.ensure_future(loop.shutdown_asyncgens())
    done, _ = await asyncio.wait({closing}, timeout=limit_s)
    if done:
        return []
    closing.cancel()
    return count_by_name("open generator", (_qualname(each) for each in open_ones if each.ag_frame))


def is_cancelled(error: BaseException) -> bool:
    """True if the suite cancelled the work, False if an adapter let its own CancelledError escape.

    Work that outlived its loop, and that the garbage collector stops, counts as cancelled.
    """
    try:
        task = asyncio.current_task()
    except RuntimeError:
        return True
    return isinstance(error, asyncio.CancelledError) and (task is None or bool(task.cancelling()))


def is_collected(task: object) -> bool:
    """True if the garbage collector closes the coroutine of a task after its loop has ended."""
    try:
        return asyncio.current_task() is not task
    except RuntimeError:
        return True
