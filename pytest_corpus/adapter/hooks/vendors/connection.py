"""What a server does with a connection: an answer, a stream, and the ways in which either breaks."""

import asyncio
import contextlib
import json
import socket
import struct
from collections.abc import Awaitable, Mapping
from http import HTTPStatus
from typing import Any, TypeVar

T = TypeVar("T")

WATCH_S = 0.02
"""How often is looked whether who waits has gone."""


class Connection:
    """One connection of a client. `keeps_open` says whether another request may follow on it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, keeps_open: bool) -> None:
        self._reader, self._writer, self.keeps_open = reader, writer, keeps_open

    async def answer(self, status: int, value: Any, headers: Mapping[str, str]) -> None:
        """Answer with JSON."""
        body = json.dumps(value).encode()
        await self._write(self._head(status, {"content-type": "application/json", **headers}, len(body)) + body)

    async def garbage(self, text: str, headers: Mapping[str, str]) -> None:
        """Answer 200 with what is no JSON."""
        body = text.encode()
        await self._write(self._head(200, {"content-type": "application/json", **headers}, len(body)) + body)

    async def truncate(self, value: Any, headers: Mapping[str, str]) -> None:
        """Answer 200, and close the connection in the middle of the body."""
        self.keeps_open = False
        body = json.dumps(value).encode()
        head = self._head(200, {"content-type": "application/json", **headers}, len(body))
        await self._write(head + body[: len(body) // 2])

    async def begin(self, headers: Mapping[str, str]) -> None:
        """Begin a stream of events."""
        kind = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}
        await self._write(self._head(200, {**kind, **headers}))

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
        if (found := self._writer.get_extra_info("socket")) is not None:
            with contextlib.suppress(OSError):
                found.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()

    async def while_open(self, work: Awaitable[T]) -> T:
        """The result of `work`, which is given up as soon as nobody waits for it any more.

        Raises:
            ConnectionResetError: nobody does.
        """
        working = asyncio.ensure_future(work)
        try:
            while not (await asyncio.wait({working}, timeout=WATCH_S))[0]:
                if self._reader.at_eof() or self._writer.transport.is_closing():
                    raise ConnectionResetError("nobody waits for the provider any more")
            return working.result()
        finally:
            working.cancel()

    def _head(self, status: int, headers: Mapping[str, str], length: int | None = None) -> bytes:
        phrase = HTTPStatus(status).phrase if status in HTTPStatus._value2member_map_ else "Overloaded"
        size = {"transfer-encoding": "chunked"} if length is None else {"content-length": str(length)}
        kept = {"connection": "keep-alive" if self.keeps_open else "close"}
        lines = [f"{name}: {value}" for name, value in {**headers, **size, **kept}.items()]
        return "\r\n".join([f"HTTP/1.1 {status} {phrase}", *lines, "", ""]).encode("latin-1")

    async def _write(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()
