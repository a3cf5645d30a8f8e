"""An adapter served over HTTP and WebSocket, at one address (SPECIFICATION 4.2.4.1 to 4.2.4.3)."""

import asyncio
from contextlib import aclosing

from aiohttp import WSMsgType, web

from pytest_corpus.adapter.snapshot import to_bytes
from pytest_corpus.serving.service import NOT_JSON, Conversation, Service, error_class_of, error_envelope
from pytest_corpus.spec.errors import TAXONOMY
from pytest_corpus.spec.transports import HOOKS_HEADER, JSON, NDJSON, PROTOCOL_HEADER, SSE

MAX_REQUEST_BYTES = 64 * 2**20
ENDING_S = 2.0


class HttpServer:
    """Serves the adapter on one port, at every path."""

    def __init__(self, service: Service) -> None:
        self._service = service
        app = web.Application(client_max_size=MAX_REQUEST_BYTES)
        app.router.add_route("*", "/{path:.*}", self._answer_request)
        self._runner = web.AppRunner(
            app, handler_cancellation=True, access_log=None, shutdown_timeout=ENDING_S, handle_signals=False
        )

    async def start(self, host: str, port: int) -> int:
        """Listen and return the port. Raises OSError if the port is in use."""
        await self._runner.setup()
        await web.TCPSite(self._runner, host, port).start()
        return int(self._runner.addresses[0][1])

    async def close(self) -> None:
        """Stop listening, and end active calls after a short time."""
        await self._runner.cleanup()

    async def _answer_request(self, request: web.Request) -> web.StreamResponse:
        if refused := self._service.access.refusal({name.lower(): value for name, value in request.headers.items()}):
            return _refusal_response(refused.status, "AuthError", refused.message)
        if request.headers.get("Upgrade", "").lower() == "websocket":
            return await self._handle_websocket(request)
        if request.method != "POST":
            return _refusal_response(405, "BadRequest", "send the envelope with POST")
        if request.headers.get("Content-Type") and request.content_type != JSON:
            return _refusal_response(415, "BadRequest", f"the content type must be {JSON}")
        kind = _accepted_type(request.headers.get("Accept", "*/*"))
        if kind is None:
            return _refusal_response(406, "NotSupported", f"accept {JSON}, {NDJSON} or {SSE}")
        version = request.headers.get(PROTOCOL_HEADER, "").partition("/")[2].strip()  # such as llm/v1.0
        if version and version.partition(".")[0] != "v1":
            return _refusal_response(
                _http_status("NotSupported"), "NotSupported", "this major version is not supported"
            )
        envelope, is_json = self._service.parse_request(await request.read())
        if not is_json:
            return _json_response(to_bytes(NOT_JSON))
        hooks = request.headers.get(HOOKS_HEADER, "")
        if kind == JSON:
            return _json_response(await self._service.unary(envelope, hooks))
        return await self._stream_answer(request, kind, envelope, hooks)

    async def _stream_answer(self, request: web.Request, kind: str, envelope: object, hooks: str) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": kind, "Cache-Control": "no-store"})
        response.enable_chunked_encoding()
        async with aclosing(self._service.stream(envelope, hooks)) as frames:
            async for frame in frames:
                if not response.prepared:
                    if error_class_of(frame):
                        return _json_response(frame)
                    await response.prepare(request)
                await response.write(b"data: %b\n\n" % frame if kind == SSE else frame + b"\n")
        if not response.prepared:
            await response.prepare(request)
        await response.write_eof()
        return response

    async def _handle_websocket(self, request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse(max_msg_size=MAX_REQUEST_BYTES, compress=False)
        await socket.prepare(request)
        turn = asyncio.Lock()

        async def send(message: bytes) -> None:
            async with turn:
                await socket.send_str(message.decode())

        conversation = Conversation(self._service, send, request.headers.get(HOOKS_HEADER, ""))
        try:
            async for message in socket:
                if message.type is WSMsgType.TEXT:
                    await conversation.handle_message(message.data.encode())
                elif message.type is WSMsgType.BINARY:
                    await socket.close(code=1003)
        finally:
            await conversation.close()
        return socket


def _accepted_type(accept: str) -> str | None:
    """Return the content type that the `Accept` header selects; None if it accepts none of the available types."""
    named = [part.partition(";")[0].strip().lower() for part in accept.split(",")]
    for kind in (NDJSON, SSE, JSON):
        if kind in named:
            return kind
    return JSON if any(part in ("", "*/*", "application/*") for part in named) else None


def _json_response(answer: bytes) -> web.Response:
    """Return an envelope as a response, with the HTTP status of its error class (ERRORS 3.1)."""
    name = error_class_of(answer)
    return web.Response(body=answer, status=_http_status(name) if name else 200, content_type=JSON)


def _http_status(name: str) -> int:
    return TAXONOMY[name].http[0]


def _refusal_response(status: int, name: str, message: str) -> web.Response:
    return web.Response(body=to_bytes(error_envelope(name, message)), status=status, content_type=JSON)
