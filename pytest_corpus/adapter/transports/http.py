"""An adapter behind HTTP: unary calls, and streams as NDJSON or SSE (SPECIFICATION 4.2.1, 4.2.4.1, 4.2.4.2; R87)."""

import ssl
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing
from types import SimpleNamespace
from typing import Any

import aiohttp

from pytest_corpus.adapter.exchange import op_of
from pytest_corpus.adapter.transports.protocol import (
    MAX_ANSWER_BYTES,
    connection_failure,
    request_bytes,
    too_long_failure,
    unauthorized_failure,
)
from pytest_corpus.adapter.transports.raw import RawAnswer, RawRequest, RawTransport, Remote
from pytest_corpus.spec.errors import TAXONOMY
from pytest_corpus.spec.transports import HOOKS_HEADER, JSON, NDJSON, SSE
from pytest_corpus.text.strict_json import read_exactly
from pytest_corpus.validation.streams.transport import NdjsonReader, Payloads, Reader, SseReader

MAX_HEADER_BYTES = 64 * 2**10
"""The size limit of headers. It exceeds aiohttp's default, because some servers send long headers, such as policies."""

MAX_STALE = 8
"""The largest number of times that a call is repeated because its idle connection was closed."""

_CLOSED_CONNECTION = (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError, ConnectionResetError, BrokenPipeError)
"""The exceptions that mean that the other side has closed or reset the connection."""

_FAILURES = (aiohttp.ClientError, OSError, ValueError)

NOT_ACCEPTABLE = 406
UNAUTHORIZED = (401, 403)


class Http(RawTransport):
    """Posts envelopes to one URL; only `Accept` selects the format of the answer."""

    def __init__(self, remote: Remote, tls: ssl.SSLContext) -> None:
        self._url, self._hooks, self._side_channel = remote.address.text, remote.hooks, remote.side_channel
        connection = remote.connection
        self._formats: dict[str, str] = {}
        self._tried: set[str] = set()
        traced = aiohttp.TraceConfig()
        traced.on_connection_reuseconn.append(_note_reuse)
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=connection.connections, ssl=tls),
            headers={**connection.headers, "Content-Type": JSON, "Accept-Encoding": "identity"},
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=None),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            max_line_size=MAX_HEADER_BYTES,
            max_field_size=MAX_HEADER_BYTES,
            trust_env=False,
            trace_configs=[traced],
        )

    async def send(self, envelope: Any) -> bytes:
        try:
            async with await self.post(request_bytes(envelope), JSON) as response:
                body = await read_body(response)
                if response.status in UNAUTHORIZED and not is_envelope(body):
                    raise unauthorized_failure(str(response.status))
                return body
        except _FAILURES as error:
            raise connection_failure(error) from None

    async def stream(self, envelope: Any) -> AsyncGenerator[bytes, None]:
        body, op, response = request_bytes(envelope), op_of(envelope), None
        kind = self._formats.get(op, NDJSON)
        try:
            response = await self.post(body, kind)
            if (kind == NDJSON and content_type(response) == JSON) or response.status == NOT_ACCEPTABLE:
                answer = await read_body(response)
                if not await self._is_another_format(response.status, answer, body, op):
                    yield answer
                    return
                kind = self._formats[op] = SSE
                response.close()
                response = await self.post(body, kind)
            async with aclosing(frames_of(response, kind)) as frames:
                async for frame in frames:
                    yield frame
        except _FAILURES as error:
            raise connection_failure(error) from None
        finally:
            # The closed connection tells the adapter that the client stopped reading.
            if response is not None:
                response.close()

    async def _is_another_format(self, status: int, answer: bytes, body: bytes, op: str) -> bool:
        """True if the adapter refuses NDJSON but serves SSE: status 406 or the status of NOT_SUPPORTED (TRA-HTTP-9).

        NOT_SUPPORTED may also refer to the operation. So SSE is tried once, in a call that does not count.
        """
        if op in self._formats or op in self._tried:
            return False
        if status == NOT_ACCEPTABLE:
            return True
        if not is_not_supported(answer):
            return False
        self._tried.add(op)
        response = await self.post(body, SSE, {HOOKS_HEADER: self._hooks.unassigned_url})
        try:
            return response.ok and content_type(response) == SSE
        finally:
            response.close()

    async def post(
        self, body: bytes, accept: str, headers: Mapping[str, str] | None = None, *, method: str = "POST"
    ) -> aiohttp.ClientResponse:
        """Post and return the response; repeat if the idle connection closed. Raises aiohttp.ClientError, OSError."""
        _, hooks = self._hooks.assign_address()
        own = {"Accept": accept, HOOKS_HEADER: hooks, **(headers or {})}
        for attempt in range(MAX_STALE + 1):
            trace = SimpleNamespace(reused=False)
            try:
                response = await self._session.request(
                    method, self._url, data=body or None, headers=own, allow_redirects=False, trace_request_ctx=trace
                )
            except _CLOSED_CONNECTION:
                if not trace.reused or attempt == MAX_STALE:
                    raise
                continue
            self._side_channel.add_headers(response.headers.values())
            return response
        raise aiohttp.ServerDisconnectedError

    async def send_raw(self, request: RawRequest, answer: RawAnswer) -> None:
        headers = {"Content-Type": request.content_type, "Accept-Encoding": request.encoding, **request.headers}
        try:
            response = await self.post(request.data, request.accept, headers, method=request.method)
            try:
                answer.status = response.status
                answer.version = ".".join(map(str, response.version)) if response.version else ""
                answer.headers = tuple(response.headers.items())
                async for part in response.content.iter_any():
                    if not answer.keep_and_continue(part, request):
                        break
            finally:
                response.close()
        except _FAILURES as error:
            answer.fault = connection_failure(error).fault

    async def aclose(self) -> None:
        await self._session.close()


async def _note_reuse(_session: object, trace: SimpleNamespace, _params: object) -> None:
    if trace.trace_request_ctx is not None:
        trace.trace_request_ctx.reused = True


async def read_body(response: aiohttp.ClientResponse) -> bytes:
    """Return the whole body. Raises CallFailed if it is too long."""
    parts, size = [], 0
    async for part in response.content.iter_any():
        size += len(part)
        if size > MAX_ANSWER_BYTES:
            response.close()
            raise too_long_failure()
        parts.append(part)
    return b"".join(parts)


async def frames_of(response: aiohttp.ClientResponse, asked: str) -> AsyncGenerator[bytes, None]:
    """Yield the frames of an answer by its content type, or by the requested type if the content type is unknown."""
    kind = content_type(response)
    if kind == JSON:
        yield await read_body(response)
        return
    made = SseReader if (kind if kind in (NDJSON, SSE) else asked) == SSE else NdjsonReader
    reader: Reader = made(MAX_ANSWER_BYTES)
    async for part in response.content.iter_any():
        for frame in _complete_frames(reader, reader.feed(part)):
            yield frame
        if reader.is_over_limit:
            response.close()
            raise too_long_failure()
    for frame in () if reader.rest_is_lost else _complete_frames(reader, reader.remaining_payloads()):  # R87
        yield frame


def _complete_frames(reader: Reader, payloads: Payloads) -> Iterator[bytes]:
    """Yield the frames in payloads: every SSE event, or every line that is not blank, without its line end."""
    for payload in payloads:
        if payload is None:
            raise too_long_failure()
        frame = payload.removesuffix(b"\r")
        if frame or isinstance(reader, SseReader):
            yield frame


def content_type(response: aiohttp.ClientResponse) -> str:
    """Return the content type of an answer, without its parameters."""
    return str(response.headers.get("Content-Type", "")).partition(";")[0].strip().lower()


def is_envelope(answer: bytes) -> bool:
    """True if an answer is an object with the member `ok`."""
    value, _ = read_exactly(answer)
    return isinstance(value, dict) and "ok" in value


def is_not_supported(answer: bytes) -> bool:
    """True if an answer is an error with the code NOT_SUPPORTED."""
    value, _ = read_exactly(answer)
    return isinstance(value, dict) and value.get("ok") is False and value.get("code") == TAXONOMY["NotSupported"].code


async def connect(remote: Remote) -> None:
    """Open a session for the adapter at an address."""
    remote.transport = Http(remote, await remote.reach())
