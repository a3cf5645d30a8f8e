"""An adapter that is a program: a line of JSON each way (R88).

The program is started once, in the invocation folder and in a process group of its own, and ended with all of it.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import signal
import weakref
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from typing import Any

from pytest_corpus.adapter.beside import Beside
from pytest_corpus.adapter.exchange import CallFault
from pytest_corpus.adapter.hooks.server import HookServer
from pytest_corpus.adapter.transports.limits import MAX_ANSWER_BYTES, too_long
from pytest_corpus.adapter.transports.messages import Calls
from pytest_corpus.adapter.transports.raw import RawAnswer, RawRequest
from pytest_corpus.spec.transports import HOOKS_VARIABLE

PART = 2**16
GRACE_S = 2.0
"""How long a program may take to end by itself once its standard input is closed."""

_STARTED: weakref.WeakSet[asyncio.subprocess.Process] = weakref.WeakSet()


class Stdio:
    """Speaks to a program over its standard input and output."""

    streams = True

    def __init__(self, command: Sequence[str], hooks: HookServer, beside: Beside) -> None:
        self._command, self._hooks, self._beside = list(command), hooks, beside
        self.calls = Calls(self._write, hooks)
        self._process: asyncio.subprocess.Process | None = None
        self._readers: list[asyncio.Task[None]] = []
        self._turn = asyncio.Lock()

    async def start(self) -> None:
        """Start the program.

        Raises:
            OSError: it cannot be started.
        """
        self._process = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, HOOKS_VARIABLE: self._hooks.url},
            start_new_session=True,
        )
        _STARTED.add(self._process)
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._readers = [
            asyncio.ensure_future(self._read_answers(self._process.stdout)),
            asyncio.ensure_future(self._read_errors(self._process.stderr)),
        ]

    @property
    def ended(self) -> int | None:
        """The exit code of the program; None while it runs."""
        return self._process.returncode if self._process else None

    async def wait(self, seconds: float) -> int | None:
        """The exit code of the program if it ends within so many seconds."""
        assert self._process is not None
        try:
            code = await asyncio.wait_for(self._process.wait(), seconds)
        except asyncio.TimeoutError:
            return None
        await asyncio.wait(self._readers, timeout=GRACE_S)
        return code

    async def send(self, envelope: Any) -> bytes:
        """The frame that answers a request.

        Raises:
            CallFailed: there is none.
        """
        return await self.calls.unary(envelope)

    def stream(self, envelope: Any) -> AsyncGenerator[bytes, None]:
        """The frames that answer a request."""
        return self.calls.stream(envelope)

    async def settle(self) -> None:
        """Let what was written to standard error beside the answer be read."""
        await asyncio.sleep(0)

    async def raw(self, request: RawRequest, answer: RawAnswer) -> None:
        """Write a line, and note every line that comes meanwhile; who leaves cancels the call."""
        await self.calls.raw(replace(request, disconnect=False), answer)

    async def _write(self, message: bytes) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        async with self._turn:
            self._process.stdin.write(message + b"\n")
            await self._process.stdin.drain()

    # -- what comes ------------------------------------------------------------------------------------

    async def _read_answers(self, reader: asyncio.StreamReader) -> None:
        parts: list[bytes] = []
        size = 0
        while data := await reader.read(PART):
            *whole, rest = data.split(b"\n")
            for line in whole:
                if size <= MAX_ANSWER_BYTES:
                    self.calls.take(b"".join((*parts, line)))
                parts, size = [], 0
            size += len(rest)
            if size <= MAX_ANSWER_BYTES:
                parts.append(rest)
            elif parts:
                parts = []
                self.calls.fail(too_long().fault)
        if self._process is not None:
            code = await self._process.wait()
            self.calls.end(CallFault("raised", f"the program has ended, with exit code {code}"))

    async def _read_errors(self, reader: asyncio.StreamReader) -> None:
        rest = b""
        while data := await reader.read(PART):
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                self._beside.line(line.decode("utf-8", "replace"))
            rest = rest[:PART]
        if rest:
            self._beside.line(rest.decode("utf-8", "replace"))

    async def aclose(self) -> None:
        """Close its standard input, wait a moment, and end its whole process group."""
        process = self._process
        if process is None:
            return
        try:
            if process.stdin is not None:
                process.stdin.close()
            await self.wait(GRACE_S)
        finally:
            kill_group(process)
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(process.wait(), GRACE_S)
            for reader in self._readers:
                reader.cancel()
            _STARTED.discard(process)


def kill_group(process: asyncio.subprocess.Process) -> None:
    """End a program and everything that it started, unless that left its process group."""
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)


def _kill_all() -> None:
    for process in list(_STARTED):
        kill_group(process)


atexit.register(_kill_all)
