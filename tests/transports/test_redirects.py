"""No transport follows a redirect (R87): headers and the address of the hooks stay with the host that was named."""

import asyncio
import contextlib

import pytest
from plain_servers import place_of
from test_raw import CAPABILITIES, STREAM, opened

from pytest_corpus.adapter.exceptions import DeclarationError
from pytest_corpus.adapter.transports.raw import RawRequest
from pytest_corpus.serving.hooks import HookClient
from pytest_corpus.spec.transports import SSE

HERE, ELSEWHERE = "127.0.0.1", "127.0.0.2"
STATUSES = (301, 302, 303, 307, 308)
HEADERS_FRAME, SETTINGS_FRAME = 1, 4


class Redirecting:
    """A server that sends every request to another host, which notes what arrives there.

    Attributes:
        asked: the number of requests that were redirected.
        arrived: the first bytes of each connection to the other host.
    """

    def __init__(self, status: int) -> None:
        self._status, self.asked = status, 0
        self.arrived: list[bytes] = []

    async def start(self) -> str:
        """Listen on both hosts; the address of the first."""
        self._servers = [
            await asyncio.start_server(self._note, ELSEWHERE, 0),
            await asyncio.start_server(self._redirect, HERE, 0),
        ]
        elsewhere, here = (each.sockets[0].getsockname()[1] for each in self._servers)
        self._location = f"http://{ELSEWHERE}:{elsewhere}/there"
        return f"{HERE}:{here}"

    async def stop(self) -> None:
        """Stop listening."""
        for server in self._servers:
            server.close()

    async def _note(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.arrived.append(await reader.read(2**16))
        writer.close()

    async def _redirect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, OSError), contextlib.closing(writer):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                if head.startswith(b"PRI * HTTP/2"):
                    await reader.readuntil(b"\r\n\r\n")
                    await self._redirect_http2(reader, writer)
                    return
                lines = (line.partition(b":") for line in head.lower().split(b"\r\n"))
                length = next((int(value) for name, _, value in lines if name == b"content-length"), 0)
                await reader.readexactly(length)
                self.asked += 1
                writer.write(
                    f"HTTP/1.1 {self._status} Moved\r\nLocation: {self._location}\r\nContent-Length: 0\r\n\r\n".encode()
                )

    async def _redirect_http2(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        def frame(kind: int, flags: int, stream: bytes, body: bytes = b"") -> None:
            writer.write(len(body).to_bytes(3) + bytes((kind, flags)) + stream + body)

        frame(SETTINGS_FRAME, 0, bytes(4))
        while True:
            head = await reader.readexactly(9)
            await reader.readexactly(int.from_bytes(head[:3]))
            if head[3] == SETTINGS_FRAME and not head[4]:
                frame(SETTINGS_FRAME, 1, bytes(4))
            elif head[3] == HEADERS_FRAME:
                self.asked += 1
                where = self._location.encode()
                status = str(self._status).encode()
                # RFC 7541 6.2.2: literal fields whose names stand in the static table, :status at 8 and location at 46.
                fields = b"\x08" + bytes((len(status),)) + status + b"\x0f\x1f" + bytes((len(where),)) + where
                frame(HEADERS_FRAME, 5, head[5:], fields)


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize("scheme", ["http", "grpc"])
def test_calls_and_streams_stay_where_they_are_sent(scheme: str, status: int) -> None:
    """The redirect is their answer."""
    with place_of(server := Redirecting(status)) as place:
        with opened(f"{scheme}://{place}", headers={"x-api-key": "hunter2"}) as client:
            client.send(CAPABILITIES, "llm")
            client.send(STREAM, "llm", streaming=True)
            if scheme == "http":
                client.raw_call(RawRequest(STREAM, True, accept=SSE), "llm")
        assert server.asked >= (3 if scheme == "http" else 2)
        assert server.arrived == []


@pytest.mark.parametrize("status", STATUSES)
def test_a_handshake_stays_where_it_is_sent(status: int) -> None:
    """And the sentence that refuses the address says so."""
    with place_of(server := Redirecting(status)) as place:
        adapter = opened(f"ws://{place}/", headers={"x-api-key": "hunter2"})
        with pytest.raises(DeclarationError, match=f"{status}.*redirects are not followed"), adapter:
            pass
        assert (server.asked, server.arrived) == (1, [])


def test_a_report_stays_where_it_is_sent() -> None:
    """A served adapter posts to the hooks that a request names, and to no others."""

    async def post(place: str) -> None:
        client = HookClient()
        await client.post(f"http://{place}", "metrics/observe", b"{}")
        client.close()

    with place_of(server := Redirecting(307)) as place:
        asyncio.run(post(place))
        assert (server.asked, server.arrived) == (1, [])


def test_these_tests_notice_what_arrives_elsewhere() -> None:
    """A client that follows the redirect is seen."""

    async def follow(place: str) -> None:
        async with aiohttp.ClientSession() as session, session.post(f"http://{place}/"):
            pass

    aiohttp = pytest.importorskip("aiohttp")
    with place_of(server := Redirecting(307)) as place:
        with pytest.raises(aiohttp.ClientError):
            asyncio.run(follow(place))
        assert len(server.arrived) >= 1
