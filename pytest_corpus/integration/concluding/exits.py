"""Process exits that bypass pytest: SIGTERM, and threads that would keep the process alive."""

import inspect
import os
import signal
import sys
import threading
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn

import pytest

from pytest_corpus.adapter.event_loop.closing import executor_threads, threads_that_delay_exit

USUAL_ENDS = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED)
"""The exit codes of pytest for a run that was not broken off."""

TERMINATED = 128 + signal.SIGTERM  # the exit code after SIGTERM, as in shells


@contextmanager
def ignore_interrupts() -> Iterator[None]:
    """Ignore SIGINT and `_thread.interrupt_main` within the context."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler if before is None else before)


EXIT_S = 2.0
"""The seconds that a process waits at its end for threads of an adapter."""


def exit_in_time(code: int, former: Collection[threading.Thread], *, is_worker: bool) -> None:
    """End the process without waiting longer than `EXIT_S` for threads that are blocked in calls of an adapter.

    This happens only in a worker or in the program `pytest`, after all results are reported. `former` are threads that
    do not belong to the adapter.
    """
    threads = [
        thread for thread in (threads_that_delay_exit() | executor_threads()).difference(former) if thread.is_alive()
    ]
    if threads and (is_worker or _is_only_pytest()):
        timer = threading.Timer(EXIT_S, _exit_process, [code, threads])
        timer.daemon = True  # the timer does not delay a process that ends in time
        timer.start()


def _is_only_pytest() -> bool:
    """True if this process exists only for pytest. False if another program or an outer test run called pytest."""
    frame = inspect.currentframe()
    while frame is not None:
        if frame.f_code.co_name == "pytest_runtestloop":
            return False
        frame = frame.f_back
    spec = getattr(sys.modules.get("__main__"), "__spec__", None)
    name = spec.name.partition(".")[0] if spec is not None else Path(sys.argv[0]).stem
    return name in ("pytest", "py")


def _exit_process(code: int, threads: Iterable[threading.Thread]) -> None:
    if not any(thread.is_alive() for thread in threads):  # functions registered with `atexit` may still run
        return
    with suppress(Exception):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)  # a thread that is blocked in a synchronous client cannot be ended otherwise


class Terminated(KeyboardInterrupt):
    """Raised after SIGTERM. Unlike `pytest.exit` it also ends a collection, as Ctrl-C does."""


class SigtermHandler:
    """Makes SIGTERM end the run like Ctrl-C, unless other code handles SIGTERM.

    `terminated` is True after SIGTERM.
    """

    def __init__(self) -> None:
        self._handles = False
        self.terminated = False

    def watch(self) -> None:
        """Install the handler of SIGTERM; a second call does nothing."""
        main = threading.current_thread() is threading.main_thread()
        if main and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, self._terminate)
            self._handles = True

    def restore(self) -> None:
        """Restore the default handler."""
        if self._handles:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            self._handles = False

    def raise_again(self) -> None:
        """Raise `Terminated` again after SIGTERM, in case other code suppressed it."""
        if self.terminated:
            raise Terminated("terminated by SIGTERM")

    def _terminate(self, _signal: int, _frame: Any) -> NoReturn:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        self.terminated = True
        raise Terminated("terminated by SIGTERM")
