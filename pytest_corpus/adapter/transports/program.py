"""A program in a process group of its own: lines in, lines out, and the end of it with all that it started."""

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
"""The time for a program to end once its standard input is closed, and for its output once it has ended."""

_STARTED: weakref.WeakSet[Program] = weakref.WeakSet()


class Intake:
    """Makes lines of bytes as they come; of a line that is longer than `limit` `too_long` takes the beginning."""

    def __init__(self, take: Callable[[bytes], None], limit: int, too_long: Callable[[bytes], None]) -> None:
        self._take, self._limit, self._too_long = take, limit, too_long
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> None:
        """Hand on each line that is complete by now."""
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
        """Hand on what stands behind the last line feed."""
        if self._parts:
            self._take(b"".join(self._parts))
            self._parts.clear()


class Program(asyncio.SubprocessProtocol):
    """A running program.

    Args:
        answers: takes its standard output.
        errors: takes its standard error.
        ended: is called once, when no answer can come any more, with the exit code, None where it still runs.
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
        # A process group of its own, but our session: schedulers may set sessions against each other.
        await self._loop.subprocess_exec(lambda: self, *command, env=dict(environment), process_group=0)
        _STARTED.add(self)

    @property
    def code(self) -> int | None:
        """The exit code; None while it runs."""
        return self._transport.get_returncode()

    async def write(self, data: bytes) -> None:
        """Write to its standard input. Raises OSError if that is closed."""
        pipe = self._input()
        if pipe is None or pipe.is_closing():
            raise BrokenPipeError
        pipe.write(data)
        if not self._writable.is_set():
            await self._writable.wait()

    async def wait(self, seconds: float) -> int | None:
        """The exit code if it ends within this time, and its output is read by then."""
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._exited.wait(), seconds)
            for closed in self._closed.values():
                await asyncio.wait_for(closed.wait(), GRACE_S)
        return self.code

    async def aclose(self) -> None:
        """Close its standard input, wait a moment, and end its whole process group."""
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
        """End the program and everything that it started, unless that left its process group."""
        with contextlib.suppress(OSError):
            os.killpg(self._transport.get_pid(), signal.SIGKILL)

    def _input(self) -> asyncio.WriteTransport | None:
        return cast("asyncio.WriteTransport | None", self._transport.get_pipe_transport(STDIN))

    async def _end(self) -> None:
        """Tell the end once what the program wrote before it is read."""
        await self.wait(GRACE_S)
        self._ended(self.code)

    def _begin_end(self) -> None:
        if self._ending is None:
            self._ending = self._loop.create_task(self._end())

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.SubprocessTransport", transport)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._takers[fd].feed(data)

    def pipe_connection_lost(self, fd: int, _error: Exception | None) -> None:
        """It has closed one of its files."""
        if fd == STDIN:
            self._writable.set()
            return
        self._takers[fd].end()
        self._closed[fd].set()
        if fd == STDOUT:
            self._begin_end()

    def process_exited(self) -> None:
        """It has ended; its children may hold its output open."""
        self._exited.set()
        self._begin_end()

    def pause_writing(self) -> None:
        """It reads more slowly than is written."""
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()


def _kill_all() -> None:
    for program in list(_STARTED):
        program.kill()


atexit.register(_kill_all)
