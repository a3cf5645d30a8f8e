"""Servers of gRPC with one mistake each, and legal ones."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import grpc
from plain_servers import begun, breaks, legal, service_of

from pytest_corpus.serving.service import NOT_JSON, failure_of
from pytest_corpus.spec.errors import TAXONOMY
from pytest_corpus.spec.transports import GRPC_ENVELOPE, GRPC_SERVICE, HOOKS_HEADER
from pytest_corpus.text.frame_message import pack, unpack


class PlainGrpc:
    """`corpus.v1.Adapter` on one port."""

    advertised: Any = None

    def __init__(self) -> None:
        self.service = service_of(self.advertised)

    async def start(self) -> str:
        await self.service.open()
        self._server = grpc.aio.server()
        methods = {
            "Handle": grpc.unary_unary_rpc_method_handler(self._handle),
            "HandleStream": grpc.unary_stream_rpc_method_handler(self._stream),
        }
        self._server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(GRPC_SERVICE, methods),))
        port = self._server.add_insecure_port("127.0.0.1:0")
        await self._server.start()
        return f"grpc://127.0.0.1:{port}"

    async def stop(self) -> None:
        await self._server.stop(0.1)
        await self.service.close()

    async def _handle(self, message: bytes, context: Any) -> bytes:
        envelope, is_json = self.service.read(unpack(message))
        if not is_json:
            return await self.no_json(context)
        answer = await self.service.unary(envelope, _hooks(context))
        return await self.unary(answer, context)

    async def _stream(self, message: bytes, context: Any) -> AsyncGenerator[bytes, None]:
        envelope, _ = self.service.read(unpack(message))
        async with aclosing(self.service.stream(envelope, _hooks(context))) as frames:
            async for each in self.stream(frames):
                yield each
        await self.ended(context)

    async def ended(self, context: Any) -> None:
        """What comes after the last message of a stream."""

    async def no_json(self, _context: Any) -> bytes:
        return pack(json.dumps(NOT_JSON).encode())

    async def unary(self, answer: bytes, _context: Any) -> bytes:
        return pack(answer)

    async def stream(self, frames: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
        async for frame in frames:
            yield pack(frame)


def _hooks(context: Any) -> str:
    return str(dict(context.invocation_metadata() or ()).get(HOOKS_HEADER.lower(), ""))


async def aborted(answer: bytes, context: Any, code: grpc.StatusCode) -> bytes:
    """An error as a status, with its envelope in the trailing metadata."""
    await context.abort(code, "refused", ((GRPC_ENVELOPE, answer),))
    return b""


@breaks("TRA-GRPC-1")
class FramesInLists(PlainGrpc):
    """All frames of a stream are one message."""

    async def stream(self, frames: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
        yield pack(b"[" + b",".join([frame async for frame in frames]) + b"]")


@breaks("TRA-GRPC-1")
class BareJson(PlainGrpc):
    """A unary answer is JSON without the message around it."""

    async def unary(self, answer: bytes, _context: Any) -> bytes:
        return answer


@breaks("TRA-GRPC-2")
class SummaryMessage(PlainGrpc):
    """A message follows the terminal one."""

    async def stream(self, frames: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
        async for frame in frames:
            yield pack(frame)
        yield pack(b'{"done":true}')


@breaks("TRA-GRPC-3")
class EveryErrorIsInternal(PlainGrpc):
    """Every error has the status INTERNAL."""

    async def unary(self, answer: bytes, context: Any) -> bytes:
        return await aborted(answer, context, grpc.StatusCode.INTERNAL) if failure_of(answer) else pack(answer)


@breaks("TRA-CALL-1")
class NoJsonIsInternal(PlainGrpc):
    """What is not JSON is a status without an envelope."""

    async def no_json(self, context: Any) -> bytes:
        await context.abort(grpc.StatusCode.INTERNAL, "no JSON")
        return b""


class EveryStreamIsAborted(PlainGrpc):
    """Every stream ends with the status INTERNAL and no error envelope."""

    async def ended(self, context: Any) -> None:
        await context.abort(grpc.StatusCode.INTERNAL, "the end")


@breaks("TRA-CALL-2")
class MarkedMessages(PlainGrpc):
    """A byte order mark begins each unary answer."""

    async def unary(self, answer: bytes, _context: Any) -> bytes:
        return pack(b"\xef\xbb\xbf" + answer)


@breaks("TRA-CALL-3")
class SharedAnswer(PlainGrpc):
    """The answer is kept where calls that run side by side overwrite it."""

    async def unary(self, answer: bytes, context: Any) -> bytes:
        self.kept = answer
        await asyncio.sleep(0.02)
        return pack(self.kept)


@breaks("TRA-CALL-5")
class WorksOn(PlainGrpc):
    """Work goes on when the client has gone."""

    async def _stream(self, message: bytes, context: Any) -> AsyncGenerator[bytes, None]:
        envelope, _ = self.service.read(unpack(message))
        frames = self.service.stream(envelope, _hooks(context))
        queue: asyncio.Queue[bytes | None] = asyncio.Queue()

        async def work() -> None:
            async for frame in frames:
                queue.put_nowait(frame)
            queue.put_nowait(None)

        self.working = begun(work())
        while (frame := await queue.get()) is not None:
            yield pack(frame)


@legal
class PlainMessages(PlainGrpc):
    """Nothing is unusual, and it is advertised."""

    advertised = ["grpc"]  # noqa: RUF012 - nothing is ever written to it


@legal
class ErrorsAreStatuses(PlainGrpc):
    """An error is a status of its class, with its envelope in the trailing metadata."""

    async def unary(self, answer: bytes, context: Any) -> bytes:
        name = failure_of(answer)
        code = grpc.StatusCode[TAXONOMY[name].grpc[0]] if name else grpc.StatusCode.OK
        return await aborted(answer, context, code) if name else pack(answer)

    async def no_json(self, context: Any) -> bytes:
        return await aborted(json.dumps(NOT_JSON).encode(), context, grpc.StatusCode.INVALID_ARGUMENT)


@legal
class StreamsEndWithAStatus(PlainGrpc):
    """A stream that fails ends with the error frame, and with a status of its own."""

    async def _stream(self, message: bytes, context: Any) -> AsyncGenerator[bytes, None]:
        last = b""
        async for each in super()._stream(message, context):
            last = unpack(each)
            yield each
        if failure_of(last):
            await context.abort(grpc.StatusCode.INTERNAL, "the stream failed")
