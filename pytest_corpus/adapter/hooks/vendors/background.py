"""An event loop in a thread that runs the servers of a provider, for clients of every kind."""

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

START_S = 10.0
CLOSE_S = 2.0


class Background:
    """An event loop in a thread. It runs from its construction until `close`."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="corpus-provider", daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T], within_s: float = START_S) -> T:
        """Return the result of `work`. Raises TimeoutError if it takes longer than `within_s` seconds."""
        begin = contextvars.Context().run  # the work of servers belongs to no current call
        return begin(asyncio.run_coroutine_threadsafe, work, self._loop).result(within_s)

    def close(self, ending: Coroutine[Any, Any, None]) -> None:
        """Run `ending`, then end the loop and its thread."""
        with contextlib.suppress(Exception):  # waiting work may raise anything
            self.run(ending, CLOSE_S)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(CLOSE_S)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
        finally:
            self._loop.close()
