"""An adapter behind gRPC: one message per request and per frame (SPECIFICATION 4.2.4.4; R89)."""

import json
import re
from collections.abc import AsyncGenerator, Mapping
from typing import Any

import grpc

from pytest_corpus.adapter.exchange import CallFault
from pytest_corpus.adapter.transports.protocol import MAX_ANSWER_BYTES, CallFailed, request_bytes, unauthorized_failure
from pytest_corpus.adapter.transports.raw import RawAnswer, RawRequest, RawTransport, Remote
from pytest_corpus.spec.transports import GRPC_ENVELOPE, GRPC_SERVICE, HOOKS_HEADER
from pytest_corpus.text.frame_message import pack, unpack

OPTIONS = (
    ("grpc.max_receive_message_length", MAX_ANSWER_BYTES),
    ("grpc.max_send_message_length", -1),
    ("grpc.enable_http_proxy", 0),  # connect directly, even if the environment names a proxy
)

UNAUTHORIZED = ("UNAUTHENTICATED", "PERMISSION_DENIED")

_NAME = re.compile(r"(?!grpc-)[0-9a-z_.-]+(?<!-bin)")
_VALUE = re.compile(r"[\x20-\x7e]*")


def invalid_metadata(headers: Mapping[str, str]) -> list[str]:
    """Return the headers whose name or value gRPC cannot transmit as metadata."""
    return [name for name, value in headers.items() if not (_NAME.fullmatch(name.lower()) and _VALUE.fullmatch(value))]


class Grpc(RawTransport):
    """Calls the two methods of `corpus.v1.Adapter`, without generated code."""

    def __init__(self, remote: Remote) -> None:
        self._hooks, self._side_channel = remote.hooks, remote.side_channel
        self._headers = tuple((name.lower(), value) for name, value in remote.connection.headers.items())
        self._channel = grpc.aio.insecure_channel(remote.target, options=OPTIONS)
        self._unary = self._channel.unary_unary(f"/{GRPC_SERVICE}/Handle")
        self._stream = self._channel.unary_stream(f"/{GRPC_SERVICE}/HandleStream")

    async def send(self, envelope: Any) -> bytes:
        call = self._unary(pack(request_bytes(envelope)), metadata=self._metadata())
        try:
            answer = await call
        except grpc.aio.AioRpcError as error:
            return self._envelope_of(error)
        return _unpack_frame(answer)

    async def stream(self, envelope: Any) -> AsyncGenerator[bytes, None]:
        call = self._stream(pack(request_bytes(envelope)), metadata=self._metadata())
        last = b""
        try:
            async for message in call:
                last = _unpack_frame(message)
                yield last
        except grpc.aio.AioRpcError as error:
            if not _is_error(last):  # an error envelope may come with any status
                yield self._envelope_of(error)
        finally:
            call.cancel()

    async def send_raw(self, request: RawRequest, answer: RawAnswer) -> None:
        method = self._stream if request.streaming else self._unary
        call = method(pack(request.data), metadata=self._metadata())
        try:
            if request.streaming:
                async for message in call:
                    if not answer.keep_and_continue(message, request):
                        return
            else:
                answer.add_piece(await call)
        except grpc.aio.AioRpcError:
            pass  # the status is noted below
        finally:
            call.cancel()
        answer.code = (await call.code()).name
        answer.trailing = dict(await call.trailing_metadata() or ())

    def _metadata(self) -> tuple[tuple[str, str], ...]:
        return (*self._headers, (HOOKS_HEADER.lower(), self._hooks.assign_address()[1]))

    def _envelope_of(self, error: grpc.aio.AioRpcError) -> bytes:
        trailing = dict(error.trailing_metadata() or ())
        self._side_channel.add_headers(
            [error.details() or "", *(each for each in trailing.values() if isinstance(each, str))]
        )
        found = trailing.get(GRPC_ENVELOPE)
        if isinstance(found, bytes):
            return found
        status = error.code().name
        if status in UNAUTHORIZED:
            raise unauthorized_failure(status) from None
        raise CallFailed(CallFault("raised", f"the status is {status}, without an envelope")) from None

    async def aclose(self) -> None:
        await self._channel.close(None)


def _is_error(frame: bytes) -> bool:
    try:
        body = json.loads(frame)
    except (ValueError, RecursionError):
        return False
    return isinstance(body, dict) and body.get("ok") is False


def _unpack_frame(message: bytes) -> bytes:
    try:
        return unpack(message)
    except ValueError as error:
        raise CallFailed(CallFault("not_json", f"a message that is no Frame: {error}")) from None


async def connect(remote: Remote) -> None:
    """Open a channel to the adapter at an address."""
    await remote.reach()
    if unsuited := invalid_metadata(remote.connection.headers):
        raise remote.unreachable_error(
            f"gRPC cannot carry the header {unsuited[0]}",
            "use letters, digits, `_`, `-` and `.` in the name, not `-bin` at its end, and ASCII in the value",
        )
    remote.transport = Grpc(remote)
