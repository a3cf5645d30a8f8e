"""HTTP servers with one mistake each, and legal ones of an unusual shape."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

from plain_servers import PlainHttp, Request, breaks, legal, refusal

from pytest_corpus.serving.service import failure_of
from pytest_corpus.spec.transports import JSON, NDJSON, SSE


@breaks("TRA-HTTP-1")
class ErrorsAreText(PlainHttp):
    """An error is sent as text."""

    async def unary(self, request: Request, writer: asyncio.StreamWriter, answer: bytes) -> None:
        await self.send(writer, self.status(answer), answer, "text/html" if failure_of(answer) else JSON)


@breaks("TRA-HTTP-1")
class NoContentType(PlainHttp):
    """A success names a content type of its own."""

    async def unary(self, request: Request, writer: asyncio.StreamWriter, answer: bytes) -> None:
        await self.send(writer, self.status(answer), answer, "application/vnd.corpus")


@breaks("TRA-HTTP-2")
class EveryErrorIsInternal(PlainHttp):
    """Every error has the status 500."""

    def status(self, answer: bytes) -> int:
        return 500 if failure_of(answer) else 200


@breaks("TRA-HTTP-2")
class BadRequestsMayBeRetried(PlainHttp):
    """A bad request has the status 503."""

    def status(self, answer: bytes) -> int:
        return 503 if failure_of(answer) == "BadRequest" else super().status(answer)


@breaks("TRA-HTTP-3")
class SuccessIsAnError(PlainHttp):
    """A success has the status 500."""

    def status(self, answer: bytes) -> int:
        return super().status(answer) if failure_of(answer) else 500


@breaks("TRA-HTTP-4")
class CompressesUnasked(PlainHttp):
    """A success is compressed whatever is offered."""

    async def unary(self, request: Request, writer: asyncio.StreamWriter, answer: bytes) -> None:
        if failure_of(answer):
            await super().unary(request, writer, answer)
        else:
            await self.send(writer, 200, gzip.compress(answer), JSON, {"Content-Encoding": "gzip"})


@breaks("TRA-HTTP-4")
class CompressesInName(PlainHttp):
    """Where gzip is offered, it is named and not done."""

    async def unary(self, request: Request, writer: asyncio.StreamWriter, answer: bytes) -> None:
        offered = "gzip" in request.headers.get("accept-encoding", "")
        more = {"Content-Encoding": "gzip"} if offered else {}
        await self.send(writer, self.status(answer), answer, JSON, more)


@breaks("TRA-HTTP-5")
class EveryMethod(PlainHttp):
    """A GET is a success."""

    async def other_method(self, writer: asyncio.StreamWriter) -> None:
        await self.send(writer, 200, b'{"hello": "there"}', JSON)


@breaks("TRA-HTTP-5")
class HangsUpOnOtherMethods(PlainHttp):
    """A GET is not answered at all."""

    async def other_method(self, writer: asyncio.StreamWriter) -> None:
        writer.close()


@breaks("TRA-HTTP-6")
class PageForOtherTypes(PlainHttp):
    """A wrong content type is refused with a page."""

    async def other_type(self, writer: asyncio.StreamWriter, _envelope: Any, _hooks: str) -> None:
        await self.send(writer, 415, b"<h1>415</h1>", "text/html")


@breaks("TRA-HTTP-7")
class OtherTypesAreUnprocessable(PlainHttp):
    """A wrong content type is refused with 422."""

    async def other_type(self, writer: asyncio.StreamWriter, _envelope: Any, _hooks: str) -> None:
        await self.send(writer, 422, refusal("BadRequest"), JSON)


@breaks("TRA-HTTP-8")
class PageForRefusedStreams(PlainHttp):
    """A stream is refused with a page."""

    async def refused(self, _kind: str, frame: bytes, writer: asyncio.StreamWriter) -> None:
        await self.send(writer, self.status(frame), b"<h1>no</h1>", "text/html")


@breaks("TRA-HTTP-8")
class NothingForRefusedStreams(PlainHttp):
    """A stream is refused with a status alone."""

    async def refused(self, _kind: str, frame: bytes, writer: asyncio.StreamWriter) -> None:
        await self.send(writer, self.status(frame), b"", JSON)


@breaks("TRA-HTTP-9")
class UnknownFormatIsNotFound(PlainHttp):
    """A format that is not offered is a page with 404."""

    offered = (NDJSON,)

    async def not_offered(self, writer: asyncio.StreamWriter, _accept: str, _envelope: Any, _hooks: str) -> None:
        await self.send(writer, 404, b"<h1>404</h1>", "text/html")


@breaks("TRA-HTTP-9")
class AcceptIsNotRead(PlainHttp):
    """Every stream is NDJSON, whatever was asked for."""

    offered = (NDJSON,)

    async def not_offered(self, writer: asyncio.StreamWriter, _accept: str, envelope: Any, hooks: str) -> None:
        async with aclosing(self.service.stream(envelope, hooks)) as frames:
            await self.stream(NDJSON, frames, writer)


# -- NDJSON --------------------------------------------------------------------------------------------


@breaks("TRA-NDJSON-1")
class LinesArePlainText(PlainHttp):
    """NDJSON is sent as text/plain."""

    def stream_type(self, kind: str) -> str:
        return "text/plain" if kind == NDJSON else kind


@breaks("TRA-NDJSON-1")
class LinesAreJson(PlainHttp):
    """NDJSON is sent as application/json."""

    def stream_type(self, kind: str) -> str:
        return JSON if kind == NDJSON else kind


@breaks("TRA-NDJSON-2")
class BufferedLines(PlainHttp):
    """NDJSON is sent at once, with a content length."""

    async def stream(self, kind: str, frames: AsyncIterator[bytes], writer: asyncio.StreamWriter) -> None:
        if kind == SSE:
            await super().stream(kind, frames, writer)
            return
        found = [frame async for frame in frames]
        if failure_of(found[0]):
            await self.refused(kind, found[0], writer)
        else:
            await self.send(writer, 200, b"".join(map(self.line, found)), NDJSON)


@breaks("TRA-NDJSON-2")
class LinesUntilTheConnectionCloses(PlainHttp):
    """NDJSON ends with its connection, as in HTTP/1.0."""

    closes = True

    def stream_headers(self, kind: str) -> dict[str, str]:
        return {"Content-Type": kind} if kind == NDJSON else super().stream_headers(kind)

    async def stream(self, kind: str, frames: AsyncIterator[bytes], writer: asyncio.StreamWriter) -> None:
        if kind == SSE:
            await super().stream(kind, frames, writer)
            return
        begun = False
        async for frame in frames:
            if not begun and failure_of(frame):
                await self.refused(kind, frame, writer)
                return
            if not begun:
                await self.head(writer, 200, self.stream_headers(kind))
                begun = True
            writer.write(self.line(frame))
            await writer.drain()


@breaks("TRA-NDJSON-3")
class PrettyLines(PlainHttp):
    """A frame is indented over several lines."""

    def line(self, frame: bytes) -> bytes:
        return json.dumps(json.loads(frame), indent=2).encode() + b"\n"


@breaks("TRA-NDJSON-3")
class BlankLines(PlainHttp):
    """A blank line stands between frames."""

    def line(self, frame: bytes) -> bytes:
        return frame + b"\n\n"


@breaks("TRA-NDJSON-3")
class CommentLines(PlainHttp):
    """A comment keeps the stream alive."""

    def before(self, kind: str) -> bytes:
        return b": alive\n" if kind == NDJSON else b""


@breaks("TRA-NDJSON-3")
class LinesOfEvents(PlainHttp):
    """A line begins with `data:`."""

    def line(self, frame: bytes) -> bytes:
        return b"data: " + frame + b"\n"


@breaks("TRA-NDJSON-3")
class TwoFramesALine(PlainHttp):
    """The frames stand on one line."""

    def line(self, frame: bytes) -> bytes:
        return frame


@breaks("TRA-NDJSON-4")
class SummaryLine(PlainHttp):
    """A summary follows the terminal line."""

    def after(self, kind: str) -> bytes:
        return b'{"done": true}\n' if kind == NDJSON else b""


@breaks("TRA-NDJSON-4")
class TerminalLineTwice(PlainHttp):
    """The terminal line is sent twice."""

    def line(self, frame: bytes) -> bytes:
        return (frame + b"\n") * (2 if b'"is_final":true' in frame else 1)


@breaks("COM-STREAM-5")
class PaddedFrames(PlainHttp):
    """A frame is padded beyond 1 MiB."""

    def framed(self, kind: str, frame: bytes) -> bytes:
        return super().framed(kind, frame[:-1] + b" " * 2**20 + b"}")


# -- SSE -----------------------------------------------------------------------------------------------


@breaks("TRA-SSE-1")
class EventsArePlainText(PlainHttp):
    """Events are sent as text/plain."""

    def stream_type(self, kind: str) -> str:
        return "text/plain" if kind == SSE else kind


@breaks("TRA-SSE-2")
class DoneEvent(PlainHttp):
    """`data: [DONE]` ends the stream."""

    def after(self, kind: str) -> bytes:
        return b"data: [DONE]\n\n" if kind == SSE else b""


@breaks("TRA-SSE-2")
class PingInData(PlainHttp):
    """A ping stands in `data:`."""

    def before(self, kind: str) -> bytes:
        return b"event: ping\ndata: ping\n\n" if kind == SSE else b""


@breaks("TRA-SSE-2")
class FrameInEventField(PlainHttp):
    """The frame stands in `event:`."""

    def event(self, frame: bytes) -> bytes:
        return b"event: " + frame + b"\n\n"


@breaks("TRA-SSE-2")
class FrameOverTwoEvents(PlainHttp):
    """A frame is cut over two events."""

    def event(self, frame: bytes) -> bytes:
        half = len(frame) // 2
        return super().event(frame[:half]) + super().event(frame[half:])


@breaks("TRA-SSE-2")
class OneEventForAll(PlainHttp):
    """The blank line between events is missing."""

    def event(self, frame: bytes) -> bytes:
        return b"data: " + frame + b"\n"


@breaks("TRA-SSE-3")
class SummaryEvent(PlainHttp):
    """An event with a summary follows the terminal one."""

    def after(self, kind: str) -> bytes:
        return b'event: done\ndata: {"done": true}\n\n' if kind == SSE else b""


# -- calls ---------------------------------------------------------------------------------------------


@breaks("TRA-CALL-1")
class PageForNoJson(PlainHttp):
    """What is no JSON gets a page."""

    async def no_json(self, writer: asyncio.StreamWriter) -> None:
        await self.send(writer, 400, b"<h1>400</h1>", "text/html")


@breaks("TRA-CALL-1")
class NoJsonIsUnavailable(PlainHttp):
    """What is no JSON is an UNAVAILABLE."""

    async def no_json(self, writer: asyncio.StreamWriter) -> None:
        await self.send(writer, 503, refusal("Unavailable"), JSON)


@breaks("TRA-CALL-1")
class HangsUpOnNoJson(PlainHttp):
    """What is no JSON is not answered."""

    async def no_json(self, writer: asyncio.StreamWriter) -> None:
        writer.close()


@breaks("TRA-CALL-2")
class MarkedBodies(PlainHttp):
    """A byte order mark begins each unary answer."""

    async def unary(self, request: Request, writer: asyncio.StreamWriter, answer: bytes) -> None:
        await super().unary(request, writer, b"\xef\xbb\xbf" + answer)

    def status(self, answer: bytes) -> int:
        return super().status(answer.removeprefix(b"\xef\xbb\xbf"))


@breaks("TRA-CALL-2")
class MarkedLines(PlainHttp):
    """A byte order mark begins each stream of NDJSON."""

    def before(self, kind: str) -> bytes:
        return b"\xef\xbb\xbf" if kind == NDJSON else b""


@breaks("TRA-CALL-2")
class LatinBodies(PlainHttp):
    """An answer is written in Latin-1."""

    async def unary(self, request: Request, writer: asyncio.StreamWriter, answer: bytes) -> None:
        named = answer.replace(b"pytest-corpus-reference", "réference".encode("latin-1"))
        await super().unary(request, writer, named)


@breaks("TRA-CALL-2")
class LatinLabel(PlainHttp):
    """A stream says that it is Latin-1."""

    def stream_type(self, kind: str) -> str:
        return f"{kind}; charset=ISO-8859-1"


@breaks("TRA-CALL-3")
class SharedAnswer(PlainHttp):
    """The answer is kept where calls that run side by side overwrite it."""

    async def unary(self, request: Request, writer: asyncio.StreamWriter, answer: bytes) -> None:
        self.kept = answer
        await asyncio.sleep(0.02)
        await super().unary(request, writer, self.kept)


@breaks("TRA-CALL-4", others=1)
class SlotIsLost(PlainHttp):
    """A stream that nobody reads to its end keeps its slot, and there are three."""

    def __init__(self) -> None:
        super().__init__()
        self.slots = asyncio.Semaphore(3)

    async def stream(self, kind: str, frames: AsyncIterator[bytes], writer: asyncio.StreamWriter) -> None:
        await self.slots.acquire()
        await super().stream(kind, frames, writer)
        self.slots.release()


@breaks("TRA-CALL-5")
class WorksOn(PlainHttp):
    """Work goes on when the client has gone."""

    async def watched(self, answering: asyncio.Future[None], reader: asyncio.StreamReader) -> None:
        await asyncio.wait({answering})


# -- advertising ---------------------------------------------------------------------------------------


@breaks("TRA-ADV-1")
class NamesWhatItLacks(PlainHttp):
    """Server-sent events are named and refused."""

    advertised = ["ndjson", "sse"]  # noqa: RUF012 - nothing is ever written to it
    offered = (NDJSON,)


@breaks("TRA-ADV-2")
class NamesInOneString(PlainHttp):
    """The names are one string."""

    advertised = "ndjson, sse"


# -- legal ---------------------------------------------------------------------------------------------


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
