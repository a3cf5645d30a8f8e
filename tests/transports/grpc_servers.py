"""A sound server of gRPC, for single things to be broken in: `grpc.edits`."""

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import grpc
from plain_servers import service_of

from pytest_corpus.serving.service import NOT_JSON
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
        envelope, is_json = self.service.parse_request(unpack(message))
        if not is_json:
            return await self.no_json(context)
        answer = await self.service.unary(envelope, hooks_of(context))
        return await self.unary(answer, context)

    async def _stream(self, message: bytes, context: Any) -> AsyncGenerator[bytes, None]:
        envelope, _ = self.service.parse_request(unpack(message))
        async with aclosing(self.service.stream(envelope, hooks_of(context))) as frames:
            async for each in self.stream(frames):
                yield each
        await self.ended(context)

    async def ended(self, context: Any) -> None:
        """The end of a stream, after its last message."""

    async def no_json(self, context: Any) -> bytes:
        return pack(json.dumps(NOT_JSON).encode())

    async def unary(self, answer: bytes, context: Any) -> bytes:
        return pack(answer)

    async def stream(self, frames: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
        async for frame in frames:
            yield pack(frame)


def hooks_of(context: Any) -> str:
    """The address of the hooks of a call."""
    return str(dict(context.invocation_metadata() or ()).get(HOOKS_HEADER.lower(), ""))


async def aborted(answer: bytes, context: Any, code: grpc.StatusCode) -> bytes:
    """An error as a status, with its envelope in the trailing metadata."""
    await context.abort(code, "refused", ((GRPC_ENVELOPE, answer),))
    return b""
