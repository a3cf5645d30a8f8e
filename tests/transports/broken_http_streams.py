"""HTTP servers with one mistake each in their streams."""

import asyncio
import json
from collections.abc import AsyncIterator

from plain_servers import PlainHttp, breaks

from pytest_corpus.serving.service import failure_of
from pytest_corpus.spec.transports import JSON, NDJSON, SSE

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
