"""Loopback servers for hooks and for vendors' stand-ins, and the answers that they send."""

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

import h11

T = TypeVar("T")

HOST = "127.0.0.1"
MAX_HEAD_BYTES = 64 * 2**10
MAX_BODY_BYTES = 4 * 2**20

WATCH_S = 0.02
"""The interval, in seconds, at which the server checks that a waiting client is still there."""

PHRASES = {status.value: status.phrase for status in HTTPStatus}

JSON = {"Content-Type": "application/json"}


class UnreadableRequest(Exception):
    """A request that cannot be read; `status` is the status of the answer."""

    def __init__(self, status: int) -> None:
        self.status = status
        super().__init__(status)


@dataclass(frozen=True, slots=True)
class HookRequest:
    """A request. The names of its headers are in lower case.

    Attributes:
        target: the path with the query.
        fields: the headers in order, including repeated headers.
    """

    method: str
    target: str
    body: bytes
    fields: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    @property
    def headers(self) -> dict[str, str]:
        """The headers by name."""
        return dict(self.fields)


class HookConnection:
    """A client's connection to one of the suite's servers. It can send answers in parts, and break in several ways."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, most_bytes: int = MAX_BODY_BYTES
    ) -> None:
        self._reader, self._writer, self._most_bytes = reader, writer, most_bytes
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=MAX_HEAD_BYTES)
        self._has_body = True

    async def next_request(self) -> HookRequest | None:
        """Return the next request, or None at the end. Raises UnreadableRequest if it is not HTTP or is too large."""
        if self._http.our_state is h11.DONE and self._http.their_state is h11.DONE:
            self._http.start_next_cycle()
        if self._http.our_state is not h11.IDLE:
            return None
        try:
            return await self._read_request()
        except h11.RemoteProtocolError as error:
            raise UnreadableRequest(error.error_status_hint) from None

    async def _read_request(self) -> HookRequest | None:
        request, body = None, bytearray()
        while not isinstance(event := await self._next_event(), h11.EndOfMessage):
            if isinstance(event, h11.Request):
                request, self._has_body = event, event.method != b"HEAD"
            elif isinstance(event, h11.Data):
                body += event.data
            else:
                return None
            headers = dict(request.headers) if request else {}
            if max(len(body), int(headers.get(b"content-length", 0))) > self._most_bytes:
                raise UnreadableRequest(413)
        if request is None:
            return None
        fields = ((name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers)
        method, target = request.method.decode("latin-1"), request.target.decode("latin-1")
        return HookRequest(method, target, bytes(body), tuple(fields))

    async def _next_event(self) -> object:
        while (event := self._http.next_event()) is h11.NEED_DATA:
            if self._http.they_are_waiting_for_100_continue:
                await self._write_event(h11.InformationalResponse(status_code=100, headers=[]))
            self._http.receive_data(await self._reader.read(MAX_HEAD_BYTES))
        return event

    async def open(self, status: int, reason: str | None, headers: Mapping[str, str]) -> None:
        """Begin an answer. Without a `Content-Length` it may have any number of parts."""
        phrase = _bytes(reason or PHRASES.get(status, "Overloaded"))
        fields = [(_bytes(name), _bytes(value)) for name, value in headers.items()]
        await self._write_event(h11.Response(status_code=status, reason=phrase, headers=fields))

    async def send(self, data: bytes) -> None:
        """Send a part of the answer."""
        if data and self._has_body:
            await self._write_event(h11.Data(data=data))

    async def end(self) -> None:
        """End the answer as HTTP requires."""
        await self._write_event(h11.EndOfMessage())

    def cut(self) -> None:
        """Close the connection after the parts that were sent."""
        self._http.send_failed()

    def reset(self) -> None:
        """Reset the connection."""
        self._http.send_failed()
        reset(self._writer.transport)

    async def run_while_open(self, work: Awaitable[T]) -> T:
        """Return the result of `work`. If the client leaves first, `work` is cancelled and an exception is raised."""
        working = asyncio.ensure_future(work)
        try:
            while not (await asyncio.wait({working}, timeout=WATCH_S))[0]:
                if self._reader.at_eof() or self._writer.transport.is_closing():
                    raise ConnectionResetError("the client no longer waits for the provider")
            return working.result()
        finally:
            working.cancel()

    async def answer(self, status: int, value: Any, headers: Mapping[str, str] | None = None) -> None:
        """Answer with JSON."""
        await self.answer_bytes(status, json.dumps(value).encode(), headers or {})

    async def answer_bytes(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        """Answer with bytes whose content type is JSON."""
        await self.open(status, None, {**JSON, **headers, "Content-Length": str(len(body))})
        await self.send(body)
        await self.end()

    async def truncate(self, value: Any, headers: Mapping[str, str]) -> None:
        """Answer 200 and close the connection in the middle of the body."""
        body = json.dumps(value).encode()
        await self.open(200, None, {**JSON, **headers, "Content-Length": str(len(body))})
        await self.send(body[: len(body) // 2])
        self.cut()

    async def _write_event(self, event: h11.Event) -> None:
        self._writer.write(self._http.send(event) or b"")
        await self._writer.drain()


def _bytes(text: str) -> bytes:
    """Return a header's text as the bytes that a provider sent."""
    return text.encode("utf-8", "surrogateescape")


def reset(transport: asyncio.BaseTransport) -> None:
    """Reset a connection: the other side sees a reset, not an orderly close."""
    if (found := transport.get_extra_info("socket")) is not None:
        with contextlib.suppress(OSError):
            found.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    if isinstance(transport, asyncio.WriteTransport):
        transport.abort()


class LocalServer:
    """Serves connections to a free port of the loopback address, each in a task."""

    def __init__(self) -> None:
        self._server: asyncio.base_events.Server | None = None
        self._open: set[asyncio.Task[None]] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection to its end. Drop the exceptions of a broken or cancelled connection."""
        raise NotImplementedError

    async def listen(self) -> int:
        """Listen, and return the port."""
        self._server = await asyncio.start_server(self._accept, HOST, 0)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def aclose(self) -> None:
        """End every connection and all waiting work."""
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
            await self.serve(reader, writer)
        except (OSError, asyncio.CancelledError):
            return
        finally:
            self._open.discard(task)
            writer.close()


class LoopbackServer(LocalServer):
    """Serves requests below a random path, so requests for an earlier server on the same port do not arrive.

    Web pages and other users of the machine cannot guess the path. The `Host` header may have any name, because an
    adapter in a container uses another name for this machine.

    Attributes:
        url: the address without a final slash; available after the start.
        most_bytes: the size of the largest body that is read.
    """

    url: str
    most_bytes = MAX_BODY_BYTES

    def __init__(self) -> None:
        super().__init__()
        self._token = secrets.token_urlsafe(12)

    async def respond(self, request: HookRequest, path: list[str], connection: HookConnection) -> None:
        """Answer a request; `path` has the parts of its path below the address."""
        raise NotImplementedError

    async def start(self) -> None:
        """Listen on a free port."""
        self.url = f"http://{HOST}:{await self.listen()}/{self._token}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = HookConnection(reader, writer, self.most_bytes)
        try:
            while (request := await connection.next_request()) is not None:
                token, *path = [part for part in request.target.partition("?")[0].split("/") if part] or [""]
                if secrets.compare_digest(token.encode("latin-1"), self._token.encode()):
                    await self.respond(request, path, connection)
                else:
                    await connection.answer(404, {})
        except UnreadableRequest as refused:
            with contextlib.suppress(OSError, h11.LocalProtocolError):  # an answer may have begun already
                await connection.answer(refused.status, {}, {"Connection": "close"})
