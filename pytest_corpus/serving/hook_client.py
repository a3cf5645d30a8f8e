"""Posts JSON to a hook over plain HTTP, on connections that are kept open."""

import asyncio
from collections import defaultdict
from typing import NamedTuple
from urllib.parse import urlsplit

MAX_IDLE = 32  # the most idle connections kept open to one address
CONNECT_S = 5.0


class _Connection(NamedTuple):
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter


class HookClient:
    """Posts to addresses on the same few hosts; calls may run concurrently."""

    def __init__(self) -> None:
        self._idle: dict[tuple[str, int], list[_Connection]] = defaultdict(list)

    async def post(self, url: str, path: str, body: bytes) -> bytes:
        """Post to `path` below `url` and return the body of the answer.

        Raises:
            OSError, EOFError, ValueError: no answer arrived.
        """
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or 80
        target = f"{parts.path.rstrip('/')}/{path}"
        head = (
            f"POST {target} HTTP/1.1\r\nHost: {parts.netloc}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        ).encode()
        idle = self._idle[host, port]
        while idle:
            connection = idle.pop()
            if not connection.reader.at_eof() and not connection.writer.is_closing():
                break
            connection.writer.close()
        else:
            connection = await _connected(host, port)
        answered = False
        try:
            connection.writer.write(head + body)
            await connection.writer.drain()
            answer, keeps_open = await _answer(connection.reader)
            answered = keeps_open and len(idle) < MAX_IDLE
            return answer
        finally:
            if answered:
                idle.append(connection)
            else:
                connection.writer.close()

    def close(self) -> None:
        """Close what is kept open."""
        for idle in self._idle.values():
            for connection in idle:
                connection.writer.close()
            idle.clear()


async def _connected(host: str, port: int) -> _Connection:
    try:
        return _Connection(*await asyncio.wait_for(asyncio.open_connection(host, port), CONNECT_S))
    except TimeoutError as late:
        raise OSError(f"no connection within {CONNECT_S:g} s") from late


async def _answer(reader: asyncio.StreamReader) -> tuple[bytes, bool]:
    lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")[1:]
    headers = {
        name.strip().lower(): value.strip().lower() for name, _, value in (line.partition(":") for line in lines)
    }
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return body, headers.get("connection") != "close"
