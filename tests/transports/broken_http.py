"""HTTP servers with one mistake each, in answers, calls and what they advertise."""

import asyncio
import gzip
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

from plain_servers import PlainHttp, Request, breaks, refusal

from pytest_corpus.serving.service import failure_of
from pytest_corpus.spec.transports import JSON, NDJSON


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


# -- calls ---------------------------------------------------------------------------------------------


@breaks("TRA-CALL-1")
class PageForNoJson(PlainHttp):
    """What is not JSON gets a page."""

    async def no_json(self, writer: asyncio.StreamWriter) -> None:
        await self.send(writer, 400, b"<h1>400</h1>", "text/html")


@breaks("TRA-CALL-1")
class NoJsonIsUnavailable(PlainHttp):
    """What is not JSON is an UNAVAILABLE."""

    async def no_json(self, writer: asyncio.StreamWriter) -> None:
        await self.send(writer, 503, refusal("Unavailable"), JSON)


@breaks("TRA-CALL-1")
class HangsUpOnNoJson(PlainHttp):
    """What is not JSON is not answered."""

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
