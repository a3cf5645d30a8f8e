"""An adapter served over gRPC, without generated code (SPECIFICATION 4.2.4.4)."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import grpc

from pytest_corpus.adapter.snapshot import to_bytes
from pytest_corpus.serving.service import NOT_JSON, Service, error_envelope
from pytest_corpus.spec.transports import GRPC_SERVICE, HOOKS_HEADER
from pytest_corpus.text.frame_message import pack, unpack

MAX_REQUEST_BYTES = 64 * 2**20
OPTIONS = (
    ("grpc.max_receive_message_length", MAX_REQUEST_BYTES),
    ("grpc.max_send_message_length", -1),
    ("grpc.so_reuseport", 0),  # otherwise a second server could share the port and get half of the calls
)
ENDING_S = 2.0


class GrpcServer:
    """Serves `corpus.v1.Adapter` on one port."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._server = grpc.aio.server(options=OPTIONS)
        methods = {
            "Handle": grpc.unary_unary_rpc_method_handler(self._handle),
            "HandleStream": grpc.unary_stream_rpc_method_handler(self._handle_stream),
        }
        self._server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(GRPC_SERVICE, methods),))

    async def start(self, host: str, port: int) -> int:
        """Listen and return the port. Raises OSError if the port is in use."""
        try:
            taken = self._server.add_insecure_port(f"[{host}]:{port}" if ":" in host else f"{host}:{port}")
        except RuntimeError:
            taken = 0
        if not taken:
            raise OSError("the address cannot be used")
        await self._server.start()
        return int(taken)

    async def close(self) -> None:
        """Stop listening, and end active calls after a short time."""
        await self._server.stop(ENDING_S)

    def _unpack_request(self, message: bytes) -> tuple[Any, bool]:
        try:
            return self._service.parse_request(unpack(message))
        except ValueError:
            return None, False

    def _refusal_message(self, context: Any) -> bytes:
        """Return the refusal message for a call without the required token; otherwise empty bytes."""
        refused = self._service.access.check_token(_metadata(context, "authorization"))
        return pack(to_bytes(error_envelope("AuthError", refused.message))) if refused else b""

    async def _handle(self, message: bytes, context: Any) -> bytes:
        if refusal := self._refusal_message(context):
            return refusal
        envelope, is_json = self._unpack_request(message)
        if not is_json:
            return pack(to_bytes(NOT_JSON))
        return pack(await self._service.unary(envelope, _metadata(context, HOOKS_HEADER.lower())))

    async def _handle_stream(self, message: bytes, context: Any) -> AsyncGenerator[bytes, None]:
        if refusal := self._refusal_message(context):
            yield refusal
            return
        envelope, is_json = self._unpack_request(message)
        if not is_json:
            yield pack(to_bytes(NOT_JSON))
            return
        async with aclosing(self._service.stream(envelope, _metadata(context, HOOKS_HEADER.lower()))) as frames:
            async for frame in frames:
                yield pack(frame)


def _metadata(context: Any, name: str) -> str:
    found = dict(context.invocation_metadata() or ()).get(name, "")
    return found if isinstance(found, str) else ""
