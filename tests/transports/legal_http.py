"""Legal HTTP servers, some of an unusual shape."""

import asyncio
import gzip
import json
from typing import Any

from plain_servers import PlainHttp, Request, legal, refusal

from pytest_corpus.spec.transports import JSON, NDJSON, SSE


@legal
class Plain(PlainHttp):
    """Nothing is unusual."""


@legal
class Advertised(PlainHttp):
    """It names its transports, and others besides."""

    advertised = ["ndjson", "sse", "websocket", "carrier-pigeon"]  # noqa: RUF012 - nothing is ever written to it


@legal
class CrLf(PlainHttp):
    """Lines end with CR LF."""

    def line(self, frame: bytes) -> bytes:
        return frame + b"\r\n"

    def event(self, frame: bytes) -> bytes:
        return b"data: " + frame + b"\r\n\r\n"


@legal
class NoLastLineFeed(PlainHttp):
    """The last line is not ended."""

    def line(self, frame: bytes) -> bytes:
        return frame if b'"is_final":true' in frame else frame + b"\n"

    def event(self, frame: bytes) -> bytes:
        return b"data:" + frame + (b"" if b'"is_final":true' in frame else b"\n\n")


@legal
class Charset(PlainHttp):
    """Content types have a charset."""

    async def unary(self, request: Request, writer: asyncio.StreamWriter, answer: bytes) -> None:
        await self.send(writer, self.status(answer), answer, "application/json; charset=utf-8")

    def stream_type(self, kind: str) -> str:
        return f'{kind}; charset="UTF-8"'


@legal
class CompressesWhereOffered(PlainHttp):
    """An answer is compressed where gzip was offered, in two members, under its older name (RFC 1952)."""

    async def unary(self, request: Request, writer: asyncio.StreamWriter, answer: bytes) -> None:
        if "gzip" in request.headers.get("accept-encoding", ""):
            body = gzip.compress(answer[:9]) + gzip.compress(answer[9:])
            await self.send(writer, self.status(answer), body, JSON, {"Content-Encoding": "x-gzip"})
        else:
            await super().unary(request, writer, answer)


@legal
class DecoratedEvents(PlainHttp):
    """Events have names, ids and comments, and data in several lines; one has no data."""

    def before(self, kind: str) -> bytes:
        return b"\xef\xbb\xbf: hello\nretry: 500\n\nevent: ping\n\n" if kind == SSE else b""

    def event(self, frame: bytes) -> bytes:
        pretty = json.dumps(json.loads(frame), indent=1).encode().split(b"\n")
        return b"event: frame\nid: 7\n: more\n" + b"".join(b"data: " + line + b"\n" for line in pretty) + b"\n"


@legal
class ErrorsAreFrames(PlainHttp):
    """A stream is refused with a frame and 200."""

    async def refused(self, kind: str, frame: bytes, writer: asyncio.StreamWriter) -> None:
        await self.head(writer, 200, self.stream_headers(kind))
        await self.part(writer, self.framed(kind, frame))
        await self.end(writer)


@legal
class ErrorsAreFramesWithTheirStatus(PlainHttp):
    """A stream is refused with a frame and the status of its class."""

    async def refused(self, kind: str, frame: bytes, writer: asyncio.StreamWriter) -> None:
        await self.head(writer, self.status(frame), self.stream_headers(kind))
        await self.part(writer, self.framed(kind, frame))
        await self.end(writer)


@legal
class AlwaysOk(PlainHttp):
    """Every envelope has the status 200."""

    def status(self, answer: bytes) -> int:
        return 200

    async def other_type(self, writer: asyncio.StreamWriter, _envelope: Any, _hooks: str) -> None:
        await self.send(writer, 200, refusal("BadRequest"), JSON)


@legal
class LinesOnly(PlainHttp):
    """Server-sent events are refused with 406."""

    offered = (NDJSON,)


@legal
class EventsOnly(PlainHttp):
    """NDJSON is refused with 406."""

    offered = (SSE,)


@legal
class AnyType(PlainHttp):
    """A request of any content type is served."""

    async def other_type(self, writer: asyncio.StreamWriter, envelope: Any, hooks: str) -> None:
        answer = await self.service.unary(envelope, hooks)
        await self.send(writer, self.status(answer), answer, JSON)


@legal
class ClosesEachTime(PlainHttp):
    """Each connection carries one call."""

    closes = True


@legal
class ClosesIdle(PlainHttp):
    """A connection on which nothing is asked for a moment is closed, without a word."""

    idle_s = 0.01


@legal
class LowerCase(PlainHttp):
    """Names of headers are in lower case."""

    lower_case = True


@legal
class ManyChunks(PlainHttp):
    """Each frame is cut into chunks of seven bytes."""

    async def part(self, writer: asyncio.StreamWriter, data: bytes) -> None:
        for at in range(0, len(data), 7):
            await super().part(writer, data[at : at + 7])
