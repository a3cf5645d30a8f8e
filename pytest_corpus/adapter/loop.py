"""One event loop for an adapter's whole life, in a thread of its own.

The thread lets the suite give up on a call that blocks the loop, which no timeout inside the loop could.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

CLOSE_LIMIT_S = 10.0
"""How long closing may take before it is given up."""

GRACE_S = 1.0
"""How long a loop may take to run a trivial callback before it counts as blocked."""


class TimeLimit(Exception):
    """A coroutine did not end within its time limit; `blocked` tells that it holds the whole loop."""

    def __init__(self, blocked: bool) -> None:
        self.blocked = blocked
        super().__init__(blocked)


class LoopThread:
    """An event loop that runs until `stop`; `blocked` once something was found to hold it."""

    def __init__(self, name: str) -> None:
        self.blocked = False
        self._loop = asyncio.new_event_loop()
        self._loop.set_exception_handler(_told)
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
        finally:
            self._loop.close()

    def run(self, work: Coroutine[Any, Any, T], limit_s: float) -> T:
        """The result of `work`.

        Raises:
            TimeLimit: it took longer than `limit_s` seconds; it is cancelled and left behind.
        """
        if self._loop.is_closed():
            work.close()
            raise TimeLimit(blocked=True)
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result(limit_s)
        except concurrent.futures.TimeoutError:
            if future.done():
                raise
            self.blocked = not self._alive()
            if not self._loop.is_closed():
                future.cancel()
            raise TimeLimit(self.blocked) from None
        except BaseException:
            future.cancel()
            raise

    def finish(self, closing: Coroutine[Any, Any, list[str]]) -> list[str]:
        """What closing raised, or that it took too long."""
        try:
            return self.run(closing, CLOSE_LIMIT_S)
        except TimeLimit:
            return [f"closing takes longer than {CLOSE_LIMIT_S:g} s"]
        except concurrent.futures.CancelledError:
            return ["CancelledError"]

    def _alive(self) -> bool:
        turned = threading.Event()
        try:
            self._loop.call_soon_threadsafe(turned.set)
        except RuntimeError:  # a coroutine ended the loop
            return False
        return turned.wait(GRACE_S)

    def stop(self) -> None:
        """Cancel what still runs and end the thread; a blocked loop is left to die with the process."""
        if not self._alive():
            return
        asyncio.run_coroutine_threadsafe(_cancel_others(), self._loop).result(GRACE_S * 2)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(GRACE_S)


def _told(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log what went wrong beside a call, without its traceback.

    CPython 3.11 parses source to draw tracebacks; a task that is collected while pytest parses breaks that.
    """
    error = context.get("exception")
    logging.getLogger("asyncio").error("%s%s", context["message"], f": {type(error).__name__}" if error else "")


async def _cancel_others() -> None:
    others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in others:
        task.cancel()
    if others:
        await asyncio.wait(others, timeout=GRACE_S)
    await asyncio.get_running_loop().shutdown_asyncgens()
