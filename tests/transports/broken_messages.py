"""Servers of WebSocket and programs with one mistake each, and legal ones; a program is started by its class's name."""

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
from plain_servers import begun, breaks, legal, service_of

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
        """Begin or end a call."""
        value, is_json = self.service.read(message)
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
        """What follows an answer."""


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
        """What happens to a connection meanwhile."""

    async def sent(self, socket: web.WebSocketResponse, message: bytes) -> None:
        await socket.send_str(message.decode())


class PlainProgram(Channel):
    """A program that speaks over its standard input and output."""

    async def start(self) -> str:
        path = ":".join(map(str, (Path(__file__).parents[2], Path(__file__).parent)))
        words = ["env", f"PYTHONPATH={path}", sys.executable, __file__, type(self).__name__]
        return f"cmd:{shlex.join(words)}"

    async def stop(self) -> None:
        """The suite ends the program."""

    async def converse(self) -> None:
        """Answer line after line."""
        await self.service.open()
        reader = asyncio.StreamReader(limit=2**24)
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        self.banner()
        calls: Calls = {}
        while line := await reader.readline():
            await self.take(line, self.sent, calls)

    def banner(self) -> None:
        """What is written first."""

    async def sent(self, message: bytes) -> None:
        sys.stdout.buffer.write(message + b"\n")
        sys.stdout.flush()


# -- WebSocket -----------------------------------------------------------------------------------------


@breaks("TRA-MSG-1")
class TimesBesideFrames(PlainWebSocket):
    """A time stands beside the frame."""

    def wrapped(self, number: int | None, frame: bytes) -> bytes:
        return b'{"ts":1,"id":%b,"frame":%b}' % (json.dumps(number).encode(), frame)


@breaks("TRA-MSG-1", others=1)
class Greeting(PlainWebSocket):
    """Each answer is preceded by a text that is no JSON."""

    async def sent(self, socket: web.WebSocketResponse, message: bytes) -> None:
        await socket.send_str("coming")
        await super().sent(socket, message)


@breaks("TRA-MSG-2")
class FramesAsText(PlainWebSocket):
    """The frame is JSON in a string."""

    def wrapped(self, number: int | None, frame: bytes) -> bytes:
        return super().wrapped(number, json.dumps(frame.decode()).encode() if number is not None else frame)


@breaks("TRA-MSG-2")
class FramesInLists(PlainWebSocket):
    """The frame stands in a list."""

    def wrapped(self, number: int | None, frame: bytes) -> bytes:
        return super().wrapped(number, b"[" + frame + b"]" if number is not None else frame)


@breaks("TRA-MSG-3")
class DoneMessage(PlainWebSocket):
    """A message says that the call is done."""

    async def after(self, number: int, send: Send) -> None:
        await send(self.wrapped(number, b'{"done":true}'))


@breaks("TRA-MSG-4", others=1)
class CancelIsIgnored(PlainWebSocket):
    """`cancel` is not read."""

    def cancel(self, number: int, calls: Calls) -> None:
        pass


@breaks("TRA-WS-1")
class BinaryMessages(PlainWebSocket):
    """Answers are binary messages."""

    async def sent(self, socket: web.WebSocketResponse, message: bytes) -> None:
        await socket.send_bytes(message)


@breaks("TRA-CALL-1")
class NoJsonIsASuccess(PlainWebSocket):
    """What is not JSON is a success."""

    async def no_json(self, send: Send) -> None:
        await send(self.wrapped(None, b'{"ok":true,"code":"OK","ms":0,"result":{}}'))


@breaks("TRA-CALL-3")
class LatestId(PlainWebSocket):
    """Every answer has the id of the latest request."""

    latest = 0

    async def answer(self, number: int, message: dict[str, Any], send: Send) -> None:
        self.latest = number
        await asyncio.sleep(0.02)
        await super().answer(self.latest, message, send)


@breaks("TRA-ADV-1")
class NamesWhatItLacks(PlainWebSocket):
    """It names WebSocket, and refuses every stream."""

    advertised = ["websocket"]  # noqa: RUF012 - nothing is ever written to it

    async def answer(self, number: int, message: dict[str, Any], send: Send) -> None:
        await super().answer(number, {**message, "stream": False}, send)


@legal
class PlainSocket(PlainWebSocket):
    """Nothing is unusual, and it is advertised."""

    advertised = ["websocket"]  # noqa: RUF012 - nothing is ever written to it


@legal
class SilentSocket(PlainWebSocket):
    """What is not JSON is passed over, and the frame stands before the id."""

    async def no_json(self, send: Send) -> None:
        pass

    def wrapped(self, number: int | None, frame: bytes) -> bytes:
        return b'{ "frame" : %b , "id" : %b }' % (frame, json.dumps(number).encode())


@legal
class ErrorAfterCancel(PlainWebSocket):
    """A cancelled call says so in a last frame."""

    async def answer(self, number: int, message: dict[str, Any], send: Send) -> None:
        try:
            await super().answer(number, message, send)
        except asyncio.CancelledError:
            await send(
                self.wrapped(number, json.dumps({**NOT_JSON, "error": "Unavailable", "code": "UNAVAILABLE"}).encode())
            )


@legal
class ClosesIdleSocket(PlainWebSocket):
    """The connection is closed after a moment without a call."""

    async def watched(self, socket: web.WebSocketResponse, calls: Calls) -> None:
        seen = -1
        while seen != len(calls) or not all(call.done() for call in calls.values()):
            seen = len(calls)
            await asyncio.sleep(0.27)
        await socket.close(code=1001)


# -- standard output -----------------------------------------------------------------------------------


@breaks("TRA-STDIO-1", others=1)
class LogsToStandardOutput(PlainProgram):
    """A line of a log stands after each answer."""

    async def sent(self, message: bytes) -> None:
        await super().sent(message)
        await super().sent(b"INFO answered")


@breaks("TRA-STDIO-1")
class Banner(PlainProgram):
    """A banner stands on standard output when the program starts."""

    def banner(self) -> None:
        sys.stdout.write("adapter 1.0 is ready\n")
        sys.stdout.flush()


@breaks("TRA-STDIO-1")
class BlankLine(PlainProgram):
    """A blank line stands after each answer."""

    async def sent(self, message: bytes) -> None:
        await super().sent(message + b"\n")


@breaks("TRA-MSG-1")
class IdsAsText(PlainProgram):
    """The id of a stream's frame is a string."""

    def wrapped(self, number: int | None, frame: bytes) -> bytes:
        if b'"chunk"' in frame:
            return b'{"id":"%d","frame":%b}' % (number, frame)
        return super().wrapped(number, frame)


@breaks("TRA-MSG-3")
class AnswersTwice(PlainProgram):
    """An answer is written twice."""

    async def sent(self, message: bytes) -> None:
        await super().sent(message)
        if b'"result"' in message:
            await super().sent(message)


@breaks("TRA-CALL-2")
class LatinLines(PlainProgram):
    """A line is written in Latin-1."""

    async def sent(self, message: bytes) -> None:
        await super().sent(message.replace(b"pytest-corpus-reference", "réference".encode("latin-1")))


@breaks("TRA-CALL-5", others=1)
class WorksOn(PlainProgram):
    """`cancel` is not read."""

    def cancel(self, number: int, calls: Calls) -> None:
        pass


@legal
class PlainLines(PlainProgram):
    """Lines end with CR LF; what is no JSON is passed over."""

    async def sent(self, message: bytes) -> None:
        await super().sent(message + b"\r")

    async def no_json(self, send: Send) -> None:
        pass


if __name__ == "__main__":
    asyncio.run(globals()[sys.argv[1]]().converse())
