"""The part of HTTP/1.1 that hooks over the wire and the stand-ins of vendors need, on a loopback address."""

import asyncio
import contextlib
import json
import secrets
import socket
import struct
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, TypeVar

T = TypeVar("T")

HOST = "127.0.0.1"
MAX_HEAD_BYTES = 64 * 2**10
MAX_BODY_BYTES = 4 * 2**20

WATCH_S = 0.02
"""The interval at which the server looks if a waiting client has gone."""

PHRASES = {status.value: status.phrase for status in HTTPStatus}

_JSON = {"Content-Type": "application/json"}
_EVENTS = {"Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-cache"}


class Refused(Exception):
    """A request that cannot be read; `status` is the answer."""

    def __init__(self, status: int) -> None:
        self.status = status
        super().__init__(status)


@dataclass(frozen=True, slots=True)
class HookRequest:
    """A request: its method, its path without a query, its body, and if the connection stays open.

    The names of `headers` are in lower case.
    """

    method: str
    path: str
    body: bytes
    keeps_open: bool
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


async def read_request(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> HookRequest | None:
    """Return the next request of a connection; None at its end. Raises Refused if it is not HTTP, or too large."""
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


class Connection:
    """A client's connection: an answer, a stream, and the ways in which either breaks.

    `keeps_open` is true if another request may follow.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, keeps_open: bool) -> None:
        self._reader, self._writer, self.keeps_open = reader, writer, keeps_open

    async def answer(self, status: int, value: Any, headers: Mapping[str, str] | None = None) -> None:
        """Answer with JSON."""
        await self.answer_bytes(status, json.dumps(value).encode(), headers or {})

    async def answer_bytes(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        """Answer with something that is said to be JSON."""
        await self._write(self._head(status, {**_JSON, **headers}, len(body)) + body)

    async def truncate(self, value: Any, headers: Mapping[str, str]) -> None:
        """Answer 200, and close the connection in the middle of the body."""
        self.keeps_open = False
        body = json.dumps(value).encode()
        await self._write(self._head(200, {**_JSON, **headers}, len(body)) + body[: len(body) // 2])

    async def begin(self, headers: Mapping[str, str]) -> None:
        """Begin a stream of events."""
        await self._write(self._head(200, {**_EVENTS, **headers}))

    async def send(self, events: bytes) -> None:
        """Send a part of the stream."""
        if events:
            await self._write(f"{len(events):x}\r\n".encode() + events + b"\r\n")

    async def end(self) -> None:
        """End the stream as HTTP has it."""
        await self._write(b"0\r\n\r\n")

    def reset(self) -> None:
        """Break the connection off."""
        self.keeps_open = False
        reset(self._writer.transport)

    async def while_open(self, work: Awaitable[T]) -> T:
        """Return the result of `work`; cancel it and raise `ConnectionResetError` if the client goes away."""
        working = asyncio.ensure_future(work)
        try:
            while not (await asyncio.wait({working}, timeout=WATCH_S))[0]:
                if self._reader.at_eof() or self._writer.transport.is_closing():
                    raise ConnectionResetError("the client no longer waits for the provider")
            return working.result()
        finally:
            working.cancel()

    def _head(self, status: int, headers: Mapping[str, str], length: int | None = None) -> bytes:
        phrase = PHRASES.get(status, "Overloaded")
        size = {"Transfer-Encoding": "chunked"} if length is None else {"Content-Length": str(length)}
        kept = {"Connection": "keep-alive" if self.keeps_open else "close"}
        lines = [f"{name}: {value}" for name, value in {**headers, **size, **kept}.items()]
        return "\r\n".join([f"HTTP/1.1 {status} {phrase}", *lines, "", ""]).encode("latin-1")

    async def _write(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()


def reset(transport: asyncio.BaseTransport) -> None:
    """Break a connection off: the other side gets a reset, not an end."""
    if (found := transport.get_extra_info("socket")) is not None:
        with contextlib.suppress(OSError):
            found.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    if isinstance(transport, asyncio.WriteTransport):
        transport.abort()


class LoopbackServer:
    """Serves requests on a free port, below a random path, so that nothing meant for an earlier server arrives.

    The path also keeps out web pages and other users of the machine, who cannot guess it. A `Host` header may have any
    name: an adapter in a container reaches this machine by another one.

    Attributes:
        url: the address, without a slash at its end; there once it is started.
    """

    url: str

    def __init__(self) -> None:
        self._token = secrets.token_urlsafe(12)
        self._server: asyncio.base_events.Server | None = None
        self._open: set[asyncio.Task[None]] = set()

    async def respond(self, request: HookRequest, path: list[str], connection: Connection) -> None:
        """Answer a request; `path` has the parts of its path below the address."""
        raise NotImplementedError

    async def start(self) -> None:
        """Listen on a free port."""
        self._server = await asyncio.start_server(self._accept, HOST, 0, limit=MAX_HEAD_BYTES)
        self.url = f"http://{HOST}:{self._server.sockets[0].getsockname()[1]}/{self._token}"

    async def aclose(self) -> None:
        """End every connection, and everything that still waits there."""
        if self._server is not None:
            self._server.close()
        for task in list(self._open):
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            while await self._serve_next(reader, writer):
                pass
        except (OSError, asyncio.CancelledError):
            return
        finally:
            self._open.discard(task)
            writer.close()

    async def _serve_next(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Serve the next request, and return if there may be another one."""
        try:
            request = await read_request(reader, writer)
        except Refused as refused:
            await Connection(reader, writer, False).answer(refused.status, {})
            return False
        if request is None:
            return False
        connection = Connection(reader, writer, request.keeps_open)
        token, *path = [part for part in request.path.split("/") if part] or [""]
        if secrets.compare_digest(token.encode("latin-1"), self._token.encode()):
            await self.respond(request, path, connection)
        else:
            await connection.answer(404, {})
        return connection.keeps_open
