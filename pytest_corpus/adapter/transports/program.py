"""Runs a program in a separate process group, with lines as input and output, and ends it with all its children."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import signal
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import cast

STDIN, STDOUT, STDERR = range(3)

GRACE_S = 2.0
"""The seconds to wait until a program ends after its standard input is closed, and then until its output ends."""

_STARTED: weakref.WeakSet[Program] = weakref.WeakSet()


class Intake:
    """Splits bytes into lines; `too_long` gets the beginning of a line that exceeds `limit`."""

    def __init__(self, take: Callable[[bytes], None], limit: int, too_long: Callable[[bytes], None]) -> None:
        self._take, self._limit, self._too_long = take, limit, too_long
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> None:
        """Pass on each complete line."""
        *whole, rest = data.split(b"\n")
        for line in whole:
            if self._size <= self._limit:
                self._take(b"".join((*self._parts, line)) if self._parts else line)
            self._parts.clear()
            self._size = 0
        is_known = self._size > self._limit
        self._size += len(rest)
        if self._size <= self._limit:
            self._parts += [rest] if rest else []
        elif not is_known:
            self._too_long(b"".join((*self._parts, rest))[: self._limit])
            self._parts.clear()

    def end(self) -> None:
        """Pass on the bytes after the last line feed."""
        if self._parts:
            self._take(b"".join(self._parts))
            self._parts.clear()


class Program(asyncio.SubprocessProtocol):
    """A running program.

    Args:
        answers: receives the standard output of the program.
        errors: receives the standard error of the program.
        ended: is called when no more answers can come, with the exit code, or None if the program still runs.
    """

    def __init__(self, answers: Intake, errors: Intake, ended: Callable[[int | None], None]) -> None:
        self._takers = {STDOUT: answers, STDERR: errors}
        self._ended = ended
        self._loop = asyncio.get_running_loop()
        self._exited, self._writable = asyncio.Event(), asyncio.Event()
        self._writable.set()
        self._closed = {STDOUT: asyncio.Event(), STDERR: asyncio.Event()}
        self._ending: asyncio.Task[None] | None = None
        self._transport: asyncio.SubprocessTransport

    async def start(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        """Start the program. Raises OSError if it cannot be started."""
        # A separate process group in the same session, because some schedulers treat sessions as rivals.
        await self._loop.subprocess_exec(lambda: self, *command, env=dict(environment), process_group=0)
        _STARTED.add(self)

    @property
    def code(self) -> int | None:
        """The exit code; None while it runs."""
        return self._transport.get_returncode()

    async def write(self, data: bytes) -> None:
        """Write to the program's standard input. Raises OSError if the input is closed."""
        pipe = self._input()
        if pipe is None or pipe.is_closing():
            raise BrokenPipeError
        pipe.write(data)
        if not self._writable.is_set():
            await self._writable.wait()

    async def wait(self, seconds: float) -> int | None:
        """Return the exit code, if the program ends and its output is read within this time."""
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._exited.wait(), seconds)
            for closed in self._closed.values():
                await asyncio.wait_for(closed.wait(), GRACE_S)
        return self.code

    async def aclose(self) -> None:
        """Close the program's standard input, wait a short time, and end the whole process group."""
        try:
            if (pipe := self._input()) is not None:
                pipe.close()
            await self.wait(GRACE_S)
        finally:
            self.kill()
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._exited.wait(), GRACE_S)
            self._transport.close()
            if self._ending is not None:
                self._ending.cancel()
                await asyncio.wait({self._ending}, timeout=GRACE_S)
            _STARTED.discard(self)

    def kill(self) -> None:
        """Kill the program and all children that are still in its process group."""
        with contextlib.suppress(OSError):
            os.killpg(self._transport.get_pid(), signal.SIGKILL)

    def _input(self) -> asyncio.WriteTransport | None:
        return cast("asyncio.WriteTransport | None", self._transport.get_pipe_transport(STDIN))

    async def _report_end(self) -> None:
        """Report the end of the program once, after all its output was read."""
        await self.wait(GRACE_S)
        self._ended(self.code)

    def _start_end_report(self) -> None:
        if self._ending is None:
            self._ending = self._loop.create_task(self._report_end())

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.SubprocessTransport", transport)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._takers[fd].feed(data)

    def pipe_connection_lost(self, fd: int, _error: Exception | None) -> None:
        """Record that the program closed one of its files."""
        if fd == STDIN:
            self._writable.set()
            return
        self._takers[fd].end()
        self._closed[fd].set()
        if fd == STDOUT:
            self._start_end_report()

    def process_exited(self) -> None:
        """Record that the program ended; its children may keep its output open."""
        self._exited.set()
        self._start_end_report()

    def pause_writing(self) -> None:
        """Record that the program reads too slowly."""
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()


def _kill_all() -> None:
    for program in list(_STARTED):
        program.kill()


atexit.register(_kill_all)
