"""Sound servers of WebSocket and programs, for single things to be broken in: `messages.edits`."""

import asyncio
import contextlib
import json
import shlex
import sys
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any

from aiohttp import WSMsgType, web
from plain_servers import begun, service_of

from pytest_corpus.adapter.transports.protocol import is_stream
from pytest_corpus.serving.service import NOT_JSON

Send = Callable[[bytes], Awaitable[None]]
Calls = dict[int, "asyncio.Future[None]"]


class Channel:
    """Calls side by side over messages."""

    advertised: Any = None

    def __init__(self) -> None:
        self.service = service_of(self.advertised)

    async def take(self, message: bytes, send: Send, calls: Calls) -> None:
        value, is_json = self.service.parse_request(message)
        if not is_json:
            await self.no_json(send)
        elif "cancel" in value:
            self.cancel(value["cancel"], calls)
        else:
            calls[value["id"]] = begun(self.answer(value["id"], value, send))

    def cancel(self, number: int, calls: Calls) -> None:
        if number in calls:
            calls[number].cancel()

    async def no_json(self, send: Send) -> None:
        await send(self.wrapped(None, json.dumps(NOT_JSON).encode()))

    async def answer(self, number: int, message: dict[str, Any], send: Send) -> None:
        envelope, hooks = message["envelope"], message.get("hooks", "")
        streaming = message.get("stream", is_stream(envelope))
        if streaming:
            async with aclosing(self.service.stream(envelope, hooks)) as frames:
                async for frame in frames:
                    await send(self.wrapped(number, frame))
        else:
            await send(self.wrapped(number, await self.service.unary(envelope, hooks)))
        await self.after(number, send)

    def wrapped(self, number: int | None, frame: bytes) -> bytes:
        return b'{"id":%b,"frame":%b}' % (json.dumps(number).encode(), frame)

    async def after(self, number: int, send: Send) -> None:
        """The data after an answer."""


class PlainWebSocket(Channel):
    """A WebSocket at one address."""

    async def start(self) -> str:
        await self.service.open()
        app = web.Application()
        app.router.add_get("/", self._converse)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        return f"ws://127.0.0.1:{self._runner.addresses[0][1]}/"

    async def stop(self) -> None:
        await self._runner.cleanup()
        await self.service.close()

    async def _converse(self, request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        calls: Calls = {}
        closing = asyncio.ensure_future(self.watched(socket, calls))

        async def send(message: bytes) -> None:
            with contextlib.suppress(ConnectionError):
                await self.sent(socket, message)

        try:
            async for message in socket:
                if message.type is WSMsgType.TEXT:
                    await self.take(message.data.encode(), send, calls)
        finally:
            for task in (closing, *calls.values()):
                task.cancel()
        return socket

    async def watched(self, socket: web.WebSocketResponse, calls: Calls) -> None:
        """The changes of a connection meanwhile."""

    async def sent(self, socket: web.WebSocketResponse, message: bytes) -> None:
        await socket.send_str(message.decode())


class PlainProgram(Channel):
    """A program that speaks over its standard input and output."""

    async def start(self) -> str:
        path = ":".join(map(str, (*Path(__file__).parents[1:3], Path(__file__).parent)))
        words = ["env", f"PYTHONPATH={path}", sys.executable, __file__, type(self).__name__]
        return f"cmd:{shlex.join(words)}"

    async def stop(self) -> None:
        """The suite ends the program."""

    async def converse(self) -> None:
        await self.service.open()
        reader = asyncio.StreamReader(limit=2**24)
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        self.banner()
        calls: Calls = {}
        while line := await reader.readline():
            await self.take(line, self.sent, calls)

    def banner(self) -> None:
        """The data before everything else."""

    async def sent(self, message: bytes) -> None:
        sys.stdout.buffer.write(message + b"\n")
        sys.stdout.flush()


if __name__ == "__main__":
    from servers import MESSAGES

    asyncio.run(MESSAGES.make(sys.argv[1])().converse())
