"""A sound HTTP server of the reference LLM, for single things to be broken in: `http.edits`.

What a subclass may break is a method of its own. `place_of` serves it.
"""

import asyncio
import contextlib
import json
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from pytest_corpus.reference.llm.adapter import ReferenceLLM
from pytest_corpus.serving.service import NOT_JSON, Service, error_class_of, error_envelope
from pytest_corpus.spec.errors import TAXONOMY
from pytest_corpus.spec.transports import HOOKS_HEADER, JSON, NDJSON, PROTOCOL_HEADER, SSE


class Server(Protocol):
    """A server that can be started in an event loop of the tests."""

    async def start(self) -> str:
        """Listen; the address."""

    async def stop(self) -> None:
        """Stop listening."""


class Advertising(ReferenceLLM):
    """Its capabilities name streaming transports."""

    advertised: Any = ()

    async def capabilities(self, call: Any) -> Any:
        return {**await super().capabilities(call), "extensions": {"streaming_transports": self.advertised}}


def service_of(advertised: Any) -> Service:
    """The reference LLM; with `advertised` among its capabilities unless that is None."""

    def factory(metrics: Any = None, provider: Any = None) -> ReferenceLLM:
        made = ReferenceLLM if advertised is None else type("Named", (Advertising,), {"advertised": advertised})
        return made(metrics=metrics, provider=provider)  # type: ignore[no-any-return]

    return Service(factory, "reference")


@dataclass(frozen=True, slots=True)
class Request:
    """A request with its headers, whose names are in lower case."""

    method: str
    headers: Mapping[str, str]
    body: bytes


class PlainHttp:
    """JSON, NDJSON and SSE at one address, on bare streams."""

    advertised: Any = None
    offered: tuple[str, ...] = (NDJSON, SSE)
    lower_case = False
    closes = False
    idle_s: float | None = None

    def __init__(self) -> None:
        self.service = service_of(self.advertised)
        self._connections: set[asyncio.Task[None]] = set()

    async def start(self) -> str:
        await self.service.open()
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/"

    async def stop(self) -> None:
        self._server.close()
        for task in list(self._connections):
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        await self.service.close()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            idle_s = None
            while (request := await asyncio.wait_for(self._read(reader), idle_s)) is not None:
                idle_s = self.idle_s
                answering = begun(self.answer(request, writer))
                await self.watched(answering, reader)
                if self.closes or not answering.done():
                    return
        except (TimeoutError, OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            return
        finally:
            self._connections.discard(task)
            writer.close()

    async def watched(self, answering: asyncio.Future[None], reader: asyncio.StreamReader) -> None:
        """Wait for an answer, and end it where the client goes away."""
        try:
            while not (await asyncio.wait({answering}, timeout=0.02))[0]:
                if reader.at_eof() or reader.exception() is not None:
                    raise ConnectionResetError
        finally:
            answering.cancel()
            with contextlib.suppress(asyncio.CancelledError, OSError):
                await answering

    @staticmethod
    async def _read(reader: asyncio.StreamReader) -> Request | None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        except asyncio.IncompleteReadError:
            return None
        split = (line.partition(":") for line in head[1:] if line)
        headers = {name.lower(): value.strip() for name, _, value in split}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        return Request(head[0].partition(" ")[0], headers, body)

    async def answer(self, request: Request, writer: asyncio.StreamWriter) -> None:
        accept = request.headers.get("accept", JSON)
        envelope, is_json = self.service.parse_request(request.body)
        hooks = request.headers.get(HOOKS_HEADER.lower(), "")
        if request.method != "POST":
            await self.other_method(writer)
        elif request.headers.get("content-type", "").partition(";")[0] != JSON:
            await self.other_type(writer, envelope, hooks)
        elif self.is_foreign(request.headers.get(PROTOCOL_HEADER.lower(), "")):
            await self.send(writer, 501, refusal("NotSupported"), JSON)
        elif not is_json:
            await self.no_json(writer)
        elif accept not in (JSON, *self.offered):
            await self.not_offered(writer, accept, envelope, hooks)
        elif accept == JSON:
            await self.unary(request, writer, await self.service.unary(envelope, hooks))
        else:
            async with aclosing(self.service.stream(envelope, hooks)) as frames:
                await self.stream(accept, frames, writer)

    def is_foreign(self, version: str) -> bool:
        return "/v2" in version

    async def other_method(self, writer: asyncio.StreamWriter) -> None:
        await self.send(writer, 405, b"", JSON)

    async def other_type(self, writer: asyncio.StreamWriter, envelope: Any, hooks: str) -> None:
        await self.send(writer, 415, refusal("BadRequest"), JSON)

    async def no_json(self, writer: asyncio.StreamWriter) -> None:
        await self.send(writer, 400, json.dumps(NOT_JSON).encode(), JSON)

    async def not_offered(self, writer: asyncio.StreamWriter, accept: str, envelope: Any, hooks: str) -> None:
        await self.send(writer, 406, refusal("NotSupported"), JSON)

    def status(self, answer: bytes) -> int:
        name = error_class_of(answer)
        return TAXONOMY[name].http[0] if name else 200

    async def unary(self, request: Request, writer: asyncio.StreamWriter, answer: bytes) -> None:
        await self.send(writer, self.status(answer), answer, JSON)

    async def stream(self, kind: str, frames: AsyncIterator[bytes], writer: asyncio.StreamWriter) -> None:
        begun = False
        async for frame in frames:
            if not begun and error_class_of(frame):
                await self.refused(kind, frame, writer)
                return
            if not begun:
                await self.head(writer, 200, self.stream_headers(kind))
                begun = True
                await self.part(writer, self.before(kind))
            await self.part(writer, self.framed(kind, frame))
        await self.part(writer, self.after(kind))
        await self.end(writer)

    async def refused(self, kind: str, frame: bytes, writer: asyncio.StreamWriter) -> None:
        await self.send(writer, self.status(frame), frame, JSON)

    def stream_headers(self, kind: str) -> dict[str, str]:
        return {"Content-Type": self.stream_type(kind), "Transfer-Encoding": "chunked"}

    def stream_type(self, kind: str) -> str:
        return kind

    def before(self, kind: str) -> bytes:
        return b""

    def framed(self, kind: str, frame: bytes) -> bytes:
        return self.line(frame) if kind == NDJSON else self.event(frame)

    def line(self, frame: bytes) -> bytes:
        return frame + b"\n"

    def event(self, frame: bytes) -> bytes:
        return b"data: " + frame + b"\n\n"

    def after(self, kind: str) -> bytes:
        return b""

    async def head(self, writer: asyncio.StreamWriter, status: int, headers: Mapping[str, str]) -> None:
        closing = {"Connection": "close"} if self.closes else {}
        named = {name.lower() if self.lower_case else name: value for name, value in {**headers, **closing}.items()}
        told = "".join(f"{name}: {value}\r\n" for name, value in named.items())
        writer.write(f"HTTP/1.1 {status} Said\r\n{told}\r\n".encode("latin-1"))

    async def send(
        self, writer: asyncio.StreamWriter, status: int, body: bytes, kind: str, more: Mapping[str, str] | None = None
    ) -> None:
        await self.head(writer, status, {"Content-Type": kind, "Content-Length": str(len(body)), **(more or {})})
        writer.write(body)
        await writer.drain()

    async def part(self, writer: asyncio.StreamWriter, data: bytes) -> None:
        if data:
            writer.write(b"%x\r\n%b\r\n" % (len(data), data))
            await writer.drain()

    async def end(self, writer: asyncio.StreamWriter) -> None:
        writer.write(b"0\r\n\r\n")
        await writer.drain()


UNDER_WAY: set[asyncio.Task[None]] = set()
"""Tasks that only they themselves would keep: the loop alone does not, where they wait for a reader of their own."""


def begun(work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
    """A task whose exception does not matter: the client has gone."""
    task = asyncio.ensure_future(work)
    UNDER_WAY.add(task)
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
    task.add_done_callback(UNDER_WAY.discard)
    return task


def refusal(name: str) -> bytes:
    return json.dumps(error_envelope(name, "not here")).encode()


@contextmanager
def place_of(made: Callable[[], Server] | Server) -> Iterator[str]:
    """The address of a server, or of what makes one, which runs in a thread of its own meanwhile."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    server = made() if callable(made) else made
    try:
        yield asyncio.run_coroutine_threadsafe(server.start(), loop).result(60)
    finally:
        asyncio.run_coroutine_threadsafe(_ended(server), loop).result(60)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _ended(server: Server) -> None:
    """Stop a server, and end what it left behind."""
    await server.stop()
    while left := asyncio.all_tasks() - {asyncio.current_task()}:  # one may begin another as it ends
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
