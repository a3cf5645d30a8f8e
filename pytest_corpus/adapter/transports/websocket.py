"""An adapter behind a WebSocket: one message per request and per frame (SPECIFICATION 4.2.4.3; R88)."""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncGenerator
from typing import Any

import aiohttp

from pytest_corpus.adapter.exchange import CallFault
from pytest_corpus.adapter.transports.multiplexer import GOODBYES, CallMultiplexer, ClosedWhileIdle
from pytest_corpus.adapter.transports.protocol import (
    CREDENTIALS,
    MAX_ANSWER_BYTES,
    connection_failure,
    too_long_failure,
)
from pytest_corpus.adapter.transports.raw import RawAnswer, RawRequest, RawTransport, Remote
from pytest_corpus.spec.transports import HOOKS_HEADER

CLOSING_S = 2.0


class WebSocket(RawTransport):
    """Uses one connection, which is reopened if it was closed while no call was active."""

    def __init__(self, remote: Remote, tls: ssl.SSLContext) -> None:
        self._remote, self._tls = remote, tls
        refusing = aiohttp.TraceConfig()
        refusing.on_request_redirect.append(_refuse_redirect)
        self._session = aiohttp.ClientSession(
            cookie_jar=aiohttp.DummyCookieJar(), trust_env=False, trace_configs=[refusing]
        )
        self._socket: aiohttp.ClientWebSocketResponse[bool] | None = None
        self._calls: CallMultiplexer | None = None
        self._reader: asyncio.Task[None] | None = None
        self._opening = asyncio.Lock()

    async def connect(self) -> CallMultiplexer:
        """Return the multiplexer of an open connection. Raises aiohttp.ClientError or OSError if none can be opened."""
        async with self._opening:
            if self._socket is not None and not self._socket.closed and self._calls is not None:
                return self._calls
            socket = await self._session.ws_connect(
                self._remote.address.text,
                headers={**self._remote.connection.headers, HOOKS_HEADER: self._remote.hooks.url},
                max_msg_size=MAX_ANSWER_BYTES,
                ssl=self._tls,
                autoping=True,
            )

            async def send_text(message: bytes) -> None:
                try:
                    await socket.send_str(message.decode())
                except OSError:
                    await asyncio.wait({reader}, timeout=CLOSING_S)  # the reader notes the reason
                    raise

            self._socket = socket
            self._calls = calls = CallMultiplexer(send_text, self._remote.hooks)
            self._reader = reader = asyncio.ensure_future(self._read_messages(socket, calls))
            return calls

    async def _read_messages(self, socket: aiohttp.ClientWebSocketResponse[bool], calls: CallMultiplexer) -> None:
        try:
            async for message in socket:
                if message.type is aiohttp.WSMsgType.TEXT:
                    calls.pass_message(message.data.encode("utf-8", "surrogatepass"))
                elif message.type is aiohttp.WSMsgType.BINARY:
                    calls.refuse_binary(message.data)
        except Exception as error:  # noqa: BLE001 - whatever the connection ends in, the calls on it have no answer
            calls.end(connection_failure(error).fault)
            return
        code = socket.close_code
        if code == aiohttp.WSCloseCode.MESSAGE_TOO_BIG and socket.exception() is not None:  # the suite closed it
            calls.end(too_long_failure().fault)
        else:
            said = f"the connection was closed with code {code}"
            calls.end(CallFault("raised", said), is_goodbye=code in GOODBYES)

    async def _open_connection(self) -> CallMultiplexer:
        try:
            return await self.connect()
        except (aiohttp.ClientError, OSError) as error:
            raise connection_failure(error) from None

    async def send(self, envelope: Any) -> bytes:
        while True:
            calls = await self._open_connection()
            with contextlib.suppress(ClosedWhileIdle):  # a new connection was never idle
                return await calls.unary(envelope)

    async def stream(self, envelope: Any) -> AsyncGenerator[bytes, None]:
        while True:
            frames = (await self._open_connection()).stream(envelope)
            try:
                async for frame in frames:
                    yield frame
                return
            except ClosedWhileIdle:
                continue
            finally:
                await frames.aclose()

    async def send_raw(self, request: RawRequest, answer: RawAnswer) -> None:
        if not request.disconnect:
            calls = await self._open_connection()
            await calls.send_raw(request, answer)
            if calls.closed_while_idle and not answer.pieces:
                answer.fault = None
                await (await self._open_connection()).send_raw(request, answer)
            return
        own = WebSocket(self._remote, self._tls)
        try:
            await (await own._open_connection()).send_raw(request, answer)
        finally:
            await own.aclose()

    async def aclose(self) -> None:
        if self._socket is not None:
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._socket.close(), CLOSING_S)
        if self._reader is not None:
            self._reader.cancel()
        await self._session.close()


async def _refuse_redirect(_session: object, _trace: object, params: aiohttp.TraceRequestRedirectParams) -> None:
    """Refuse a redirect, which would send the headers elsewhere (R87); `ws_connect` has no option for it."""
    response = params.response
    response.close()
    raise aiohttp.WSServerHandshakeError(
        response.request_info, response.history, status=response.status, message="redirects are not followed"
    )


def _remedy(status: object) -> str:
    if status in (401, 403):
        return CREDENTIALS
    is_redirect = isinstance(status, int) and 300 <= status < 400
    return "redirects are not followed; name the address that they lead to" if is_redirect else ""


async def connect(remote: Remote) -> None:
    """Open a WebSocket to the adapter at an address."""
    socket = WebSocket(remote, await remote.reach())
    try:
        await asyncio.wait_for(socket.connect(), remote.connection.startup_s)
    except Exception as error:  # noqa: BLE001 - whatever a handshake ends in, there is no WebSocket
        await socket.aclose()
        status = getattr(error, "status", None)
        said = f", and answers with the status {status}" if isinstance(status, int) else ""
        raise remote.unreachable_error(f"does not upgrade to a WebSocket{said}", _remedy(status)) from None
    remote.transport = socket
