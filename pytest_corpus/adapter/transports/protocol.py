"""The interface of a transport: it sends a request as JSON and returns the answer as unparsed bytes."""

import os
import re
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from pytest_corpus.adapter.exchange import CallFault, op_of
from pytest_corpus.adapter.snapshot import to_bytes
from pytest_corpus.redaction import type_name
from pytest_corpus.spec.operations import BY_OP

MAX_LINES = 1_000
MAX_LINE = 4_096
MAX_LOG = 2**18
"""The number of latest lines of a call that are kept, and of characters: of each line, and of all lines together."""

SETTLE_S = 0.02
"""The seconds after an answer in which a line of the adapter's log still belongs to the call."""

MAX_READ = 4 * 2**20


class SideChannel:
    """Collects log lines and headers until they are taken, and keeps the latest lines of standard error.

    Args:
        log: the log file of the adapter; only new lines count.
    """

    def __init__(self, log: Path | None = None) -> None:
        self._log, self._at = log, 0
        if log is not None:
            with suppress(OSError):
                self._at = log.stat().st_size
        self.latest: deque[str] = deque(maxlen=20)
        self._lines: deque[str] = deque()
        self._size = 0
        self._headers: deque[str] = deque(maxlen=MAX_LINES)

    def add_line(self, text: str) -> None:
        """Add a line of standard error."""
        self.latest.append(text[:200])
        self._lines.append(text[:MAX_LINE])
        self._size += len(self._lines[-1])
        while self._size > MAX_LOG or len(self._lines) > MAX_LINES:
            self._size -= len(self._lines.popleft())

    def add_headers(self, values: Iterable[str]) -> None:
        """Add the headers of an answer."""
        self._headers.extend(value[:MAX_LINE] for value in values)

    def take_lines_and_headers(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the lines and headers that were added since this method was called last."""
        self._read_log()
        lines, headers = tuple(self._lines), tuple(self._headers)
        self._lines.clear()
        self._headers.clear()
        self._size = 0
        return lines, headers

    def _read_log(self) -> None:
        if self._log is None:
            return
        with suppress(OSError), self._log.open("rb") as file:
            if file.seek(0, os.SEEK_END) < self._at:  # the log was rotated
                self._at = 0
            file.seek(self._at)
            data = file.read(MAX_READ)
            self._at = file.tell()
            for line in data.decode("utf-8", "replace").splitlines():
                self.add_line(line)


MAX_ANSWER_BYTES = 16 * 2**20

TOO_LONG = f"an answer of more than {MAX_ANSWER_BYTES // 2**20} MiB"
"""The text of the fault for an answer, frame or line that is too long. The rest is not read."""

MAX_STREAM_BYTES = 64 * 2**20
"""The size limit of a stream and, in process, of a single answer; no request of the suite asks for more."""

TOO_LARGE = f"an answer of more than {MAX_STREAM_BYTES // 2**20} MiB"

_NOT_FINITE = re.compile(rb'"(?:[^"\\]|\\.)*"|-?\b(?:NaN|Infinity)\b')


class CallFailed(Exception):
    """A call without an answer, or a stream without its next frame; `fault` is the reason."""

    def __init__(self, fault: CallFault) -> None:
        self.fault = fault
        super().__init__(fault)

    def __str__(self) -> str:
        return self.fault.text


def too_long_failure() -> CallFailed:
    """Return the failure of a call whose answer is too long to be read."""
    return CallFailed(CallFault("cut_off", TOO_LONG))


CREDENTIALS = "set credentials in corpus_header: NAME:VALUE"
"""The remedy for a server that requires credentials."""


def unauthorized_failure(status: str) -> CallFailed:
    """Return the failure of a call that a server refuses because of its credentials; the refusal is not an envelope."""
    return CallFailed(CallFault("raised", f"the status is {status}, without an envelope", wants_credentials=True))


def connection_failure(error: Exception) -> CallFailed:
    """Return the failure of a call whose connection ended with an error."""
    return CallFailed(CallFault("raised", f"the connection failed: {type_name(error)}"))


def request_bytes(envelope: Any) -> bytes:
    """Return a request as compact UTF-8 JSON; NaN and infinities become ``1e999``, which is valid JSON (R88)."""
    data = to_bytes(envelope)
    if b"NaN" not in data and b"Infinity" not in data:
        return data
    return _NOT_FINITE.sub(_replace_non_finite, data)


def _replace_non_finite(found: re.Match[bytes]) -> bytes:
    text = found[0]
    if text.startswith(b'"'):
        return text
    return b"-1e999" if text.startswith(b"-") else b"1e999"


def is_stream(envelope: Any) -> bool:
    """True if the envelope's operation is streaming, which determines the entry point."""
    op = op_of(envelope)
    return op in BY_OP and BY_OP[op].streaming


class Frames(Protocol):
    """The frames of a stream, each as the bytes of one JSON document. An asynchronous generator of bytes is enough.

    The client always closes the stream, also before the first frame and after the last one.
    """

    def __aiter__(self) -> AsyncIterator[bytes]: ...

    def __anext__(self) -> Awaitable[bytes]:
        """Return the next frame.

        Raises:
            StopAsyncIteration: the stream ended.
            CallFailed: the stream ended too early.
        """

    async def aclose(self) -> None:
        """Tell the adapter that the client stops reading."""


class Transport(Protocol):
    """The connection to one wire handler (SPECIFICATION 4.1), used in one event loop only.

    An envelope is any value that a test sends, and is not changed. Answers are passed on unchanged; `adapter/calls.py`
    judges them. A transport sets no time limits: a call that takes too long is cancelled, and the transport lets the
    CancelledError through. Calls may run concurrently.
    """

    streams: bool
    """True if there is a streaming entry point as well as the unary one."""

    late_iterations: int
    """The largest number of loop iterations after a call in which the adapter's tasks may still report on it."""

    async def send(self, envelope: Any) -> bytes:
        """Return the only answer: the bytes of one JSON document. Raises CallFailed without an answer."""

    def stream(self, envelope: Any) -> Frames:
        """Return the frames of a stream. The streaming entry point is called when the first frame is requested."""

    async def aclose(self) -> None:
        """Release the transport's resources, such as connections, but not the objects of a factory."""
