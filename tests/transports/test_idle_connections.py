"""Connections that are closed while idle: the next call has its answer (R87, R88)."""

import asyncio
import contextlib
import json
import socket
import struct

import pytest
from aiohttp import web
from message_servers import PlainWebSocket
from plain_servers import place_of
from test_raw import opened

from pytest_corpus.adapter.transports.raw import RawRequest

REQUEST = {"op": "llm.complete", "ctx": {}, "args": {}}
STREAM = {"op": "llm.stream", "ctx": {}, "args": {}}
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"


class ResetsIdle:
    """A connection carries one call; the next one that goes out on it meets a reset."""

    resets_at_once = False

    async def start(self) -> str:
        self.asked = 0
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/"

    async def stop(self) -> None:
        self._server.close()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            if not self.resets_at_once:
                await self._asked(reader)
                writer.write(HEAD)
            await self._asked(reader)
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()

    async def _asked(self, reader: asyncio.StreamReader) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(int(head.lower().partition(b"content-length: ")[2].partition(b"\r")[0]))
        self.asked += 1


class ResetsEach(ResetsIdle):
    """No call has an answer."""

    resets_at_once = True


def test_a_reset_of_an_idle_connection_is_passed_over() -> None:
    """The other side's end may come as a reset, where the request crossed it on its way."""
    with place_of(ResetsIdle) as place, opened(place) as client:
        assert [client.send(REQUEST, "llm").fault for _ in range(3)] == [None] * 3


def test_a_reset_of_a_new_connection_is_a_fault() -> None:
    """It was not idle; and the call is made once."""
    server = ResetsEach()
    with place_of(server) as place, opened(place) as client:
        fault = client.send(REQUEST, "llm").fault
        assert fault is not None
        assert fault.kind == "raised"
        assert server.asked == 1


class ClosesIdle(PlainWebSocket):
    """A connection says goodbye when the second call on it arrives, which crossed the goodbye on its way."""

    calls_each = 1
    code = 1001

    def __init__(self) -> None:
        super().__init__()
        self.connections = self.asked = 0

    async def _converse(self, request: web.Request) -> web.StreamResponse:
        channel = web.WebSocketResponse()
        await channel.prepare(request)
        self.connections += 1
        left = self.calls_each
        async for message in channel:
            self.asked += 1
            if not left:
                await channel.close(code=self.code)
                break
            left -= 1
            number = json.loads(message.data)["id"]
            await channel.send_str(json.dumps({"id": number, "frame": {"ok": False}}))
        return channel


class ClosesEach(ClosesIdle):
    """No call has an answer."""

    calls_each = 0


class Fails(ClosesIdle):
    """The second call on a connection ends it, as an exception of the adapter's would."""

    code = 1011


@pytest.mark.parametrize("streaming", [False, True], ids=["unary", "stream"])
def test_a_goodbye_that_crossed_a_call_is_passed_over(streaming: bool) -> None:
    """The call goes out again on another connection."""
    server = ClosesIdle()
    with place_of(server) as place, opened(place) as client:
        for _ in range(3):
            exchange = client.send(STREAM if streaming else REQUEST, "llm", streaming=streaming)
            assert (exchange.fault, len(exchange.frames)) == (None, 1)
    assert server.connections == 3


def test_a_goodbye_that_crossed_a_raw_call_is_passed_over() -> None:
    """Raw calls, too, survive a connection that the server closed while it was idle."""
    with place_of(ClosesIdle) as place, opened(place) as client:
        answers = [client.raw_call(RawRequest(REQUEST), "llm") for _ in range(2)]
    assert [(answer.fault, len(answer.pieces)) for answer in answers] == [(None, 1)] * 2


@pytest.mark.parametrize("made", [ClosesEach, Fails])
def test_a_connection_that_is_closed_under_a_call_is_a_fault(made: type[ClosesIdle]) -> None:
    """One that carried nothing before, or whose close says that something failed; the call is made once."""
    server = made()
    with place_of(server) as place, opened(place) as client:
        for _ in range(server.calls_each):
            assert client.send(REQUEST, "llm").fault is None
        fault = client.send(REQUEST, "llm").fault
    assert fault is not None
    assert str(server.code) in fault.text
    assert server.asked == server.calls_each + 1


def test_a_server_that_finds_a_request_too_long_has_not_answered_too_long() -> None:
    """The same close code says that either side found a message too long."""

    class Refuses(ClosesEach):
        code = 1009

    with place_of(Refuses) as place, opened(place) as client:
        fault = client.send(REQUEST, "llm").fault
    assert fault is not None
    assert (fault.kind, fault.text) == ("raised", "the connection was closed with code 1009")
