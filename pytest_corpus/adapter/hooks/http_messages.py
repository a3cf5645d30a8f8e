"""The few bytes of HTTP/1.1 that hooks over the wire need: a request in, a JSON answer out."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

MAX_HEAD_BYTES = 64 * 2**10
MAX_BODY_BYTES = 4 * 2**20

REASONS = {200: "OK", 400: "Bad Request", 404: "Not Found", 405: "Method Not Allowed", 413: "Content Too Large"}


class Refused(Exception):
    """A request that cannot be read; `status` says why."""

    def __init__(self, status: int) -> None:
        self.status = status
        super().__init__(status)


@dataclass(frozen=True, slots=True)
class HookRequest:
    """One request: its method, its path without a query, its body, and whether the connection stays open.

    The names of `headers` are in lower case.
    """

    method: str
    path: str
    body: bytes
    keeps_open: bool
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


async def read_request(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> HookRequest | None:
    """The next request of a connection; None where there is none any more.

    Raises:
        Refused: it is no HTTP, or larger than anything that belongs here.
    """
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    except asyncio.LimitOverrunError:
        raise Refused(413) from None
    first, *lines = head.decode("latin-1").split("\r\n")
    try:
        method, target, version = first.split(" ")
    except ValueError:
        raise Refused(400) from None
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    if headers.get("expect", "").lower() == "100-continue":
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    body = await _body(reader, headers)
    connection = headers.get("connection", "").lower()
    keeps_open = "close" not in connection and (version != "HTTP/1.0" or "keep-alive" in connection)
    return HookRequest(method, target.partition("?")[0], body, keeps_open, headers)


async def _body(reader: asyncio.StreamReader, headers: dict[str, str]) -> bytes:
    try:
        if "chunked" in headers.get("transfer-encoding", "").lower():
            return await _chunks(reader)
        length = int(headers.get("content-length") or 0)
        if not 0 <= length <= MAX_BODY_BYTES:
            raise Refused(413)
        return await reader.readexactly(length)
    except (ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        raise Refused(400) from None


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    body = b""
    while size := int((await reader.readuntil(b"\r\n")).partition(b";")[0], 16):
        if size < 0 or len(body) + size > MAX_BODY_BYTES:
            raise Refused(413)
        body += (await reader.readexactly(size + 2))[:-2]
    while await reader.readuntil(b"\r\n") != b"\r\n":  # trailers
        pass
    return body


def answer(status: int, value: Any, *, keeps_open: bool) -> bytes:
    """An answer with a JSON body."""
    body = json.dumps(value).encode()
    connection = "keep-alive" if keeps_open else "close"
    head = (
        f"HTTP/1.1 {status} {REASONS[status]}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\nConnection: {connection}\r\n\r\n"
    )
    return head.encode() + body


class OpenConnections:
    """The connections of a server that are open, each in a task of its own that `converse` fills."""

    def __init__(self, converse: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]) -> None:
        self._converse = converse
        self._open: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        return len(self._open)

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Converse until either side ends it."""
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            await self._converse(reader, writer)
        except (OSError, asyncio.CancelledError):
            return
        finally:
            self._open.discard(task)
            writer.close()

    async def end(self) -> None:
        """End every one of them, and whatever still waits there."""
        for task in list(self._open):
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)
