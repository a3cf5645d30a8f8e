"""An adapter that is a program: one line of JSON each way (R88).

The program is started once, in the invocation folder, and ended with all its children.
"""

import asyncio
import os
from collections.abc import AsyncGenerator, Coroutine
from dataclasses import replace
from typing import Any

from pytest_corpus.adapter.exchange import CallFault
from pytest_corpus.adapter.transports.multiplexer import CallMultiplexer
from pytest_corpus.adapter.transports.program import Intake, Program
from pytest_corpus.adapter.transports.protocol import MAX_ANSWER_BYTES, MAX_LINE, too_long_failure
from pytest_corpus.adapter.transports.raw import RawAnswer, RawRequest, RawTransport, Remote
from pytest_corpus.redaction import redact
from pytest_corpus.spec.transports import HOOKS_VARIABLE, PROVIDER_PATH, PROVIDER_VARIABLE, PROXY_VARIABLE

HELLO = {"op": "llm.capabilities", "ctx": {}, "args": {}}
"""The first request to a program. Once the program answers in any way, it has started."""


class Stdio(RawTransport):
    """Talks to a program over its standard input and output."""

    def __init__(self, remote: Remote) -> None:
        self._command, self._hooks, self._side_channel = remote.address.command, remote.hooks, remote.side_channel
        self._proxy = remote.proxy
        self.calls = CallMultiplexer(self._write_line, remote.hooks)
        self._program: Program | None = None

    async def start(self) -> None:
        """Start the program. Raises OSError if it cannot be started."""
        answers = Intake(self.calls.pass_message, MAX_ANSWER_BYTES, lambda _: self.calls.fail(too_long_failure().fault))
        program = Program(answers, Intake(self._note_line, MAX_LINE, self._note_line), self._note_end)
        provider = f"{self._hooks.url}/{PROVIDER_PATH}"
        given = {HOOKS_VARIABLE: self._hooks.url, PROVIDER_VARIABLE: provider}
        if self._proxy:
            given[PROXY_VARIABLE] = self._proxy
        await program.start(self._command, {**os.environ, **given})
        self._program = program

    @property
    def exit_code(self) -> int | None:
        """The exit code of the program; None while it runs."""
        return self._program.code if self._program else None

    async def send(self, envelope: Any) -> bytes:
        return await self.calls.unary(envelope)

    def stream(self, envelope: Any) -> AsyncGenerator[bytes, None]:
        return self.calls.stream(envelope)

    async def send_raw(self, request: RawRequest, answer: RawAnswer) -> None:
        """Write a line and record every received line. If the client leaves, the call is cancelled."""
        await self.calls.send_raw(replace(request, disconnect=False), answer)

    async def _write_line(self, message: bytes) -> None:
        assert self._program is not None
        await self._program.write(message + b"\n")

    def _note_line(self, line: bytes) -> None:
        self._side_channel.add_line(line.decode("utf-8", "replace"))

    def _note_end(self, code: int | None) -> None:
        closed, ended = "the program has closed its standard output", f"the program has ended, with exit code {code}"
        self.calls.end(CallFault("raised", closed if code is None else ended))

    async def aclose(self) -> None:
        if self._program is not None:
            await self._program.aclose()


async def connect(remote: Remote) -> None:
    """Start the program, and wait until it answers or the startup time is over."""
    side_channel = remote.side_channel
    remote.transport = program = Stdio(remote)
    try:
        await program.start()
    except OSError as error:
        why = (error.strerror or "unknown").lower()
        raise remote.unreachable_error(f"{remote.address.command[0]!r} cannot be started: {why}") from None
    try:
        has_failed = await _fails_at_once(program.send(HELLO), remote.connection.startup_s)
    except BaseException:  # the run is stopped
        await program.aclose()
        raise
    if has_failed and program.exit_code is not None:
        await program.aclose()
        last = next((line for line in reversed(side_channel.latest) if line.strip()), "")
        said = f", and says: {redact(last.strip())}" if last else ""
        raise remote.unreachable_error(f"the program ends at once, with exit code {program.exit_code}{said}")
    side_channel.take_lines_and_headers()


async def _fails_at_once(call: Coroutine[Any, Any, bytes], startup_s: float) -> bool:
    """True if the first call fails within the startup time, False if it is still active after that time."""
    hello = asyncio.ensure_future(call)
    try:
        await asyncio.wait({hello}, timeout=startup_s)
        return hello.done() and hello.exception() is not None
    finally:
        hello.cancel()
        await asyncio.wait({hello})
