"""Reaching an address: neither the environment nor a slip of the user's makes an adapter look broken."""

import asyncio
from typing import Any

import grpc
import pytest
from grpc_servers import PlainGrpc
from plain_servers import PlainHttp, Request, place_of, service_of
from test_raw import opened

from pytest_corpus.adapter.exceptions import DeclarationError
from pytest_corpus.adapter.exchange import Exchange
from pytest_corpus.adapter.hooks.metrics import RecordingSink
from pytest_corpus.adapter.hooks.provider import ProviderProbe
from pytest_corpus.adapter.hooks.server import HookServer
from pytest_corpus.adapter.opening.address import parse
from pytest_corpus.adapter.opening.remote import DEFAULT_PORTS, Connection, RemoteAdapter
from pytest_corpus.adapter.transports.stdio import Stdio
from pytest_corpus.serving.grpc import GrpcServer
from pytest_corpus.spec.transports import JSON

CAPABILITIES = {"op": "llm.capabilities", "ctx": {}, "args": {}}
PATIENT_S = 10.0


def asked(address: str, **how: object) -> Exchange:
    with opened(address, PATIENT_S, PATIENT_S, **how) as client:
        return client.send(CAPABILITIES, "llm")


def test_grpc_goes_to_the_address_whatever_proxy_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """As HTTP and WebSocket do: the environment of a company names a proxy for everything."""
    for name in ("no_proxy", "NO_PROXY", "no_grpc_proxy"):
        monkeypatch.delenv(name, raising=False)
    for name in ("http_proxy", "https_proxy", "grpc_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    with place_of(PlainGrpc) as place:
        assert asked(place).fault is None


@pytest.mark.parametrize("end", ["", "/"])
def test_grpc_has_one_default_port(monkeypatch: pytest.MonkeyPatch, end: str) -> None:
    """If the address names none, the calls go to the address whose open port was seen."""
    with place_of(PlainGrpc) as place:
        host, _, port = place.removeprefix("grpc://").rpartition(":")
        monkeypatch.setitem(DEFAULT_PORTS, "grpc", int(port))
        assert asked(f"grpc://{host}{end}").fault is None


@pytest.mark.parametrize(
    ("name", "value"), [("X!Y", "hunter2"), ("X-Y", "hunter2 \u00e4"), ("X-bin", "hunter2"), ("grpc-x", "hunter2")]
)
def test_a_header_that_grpc_cannot_carry_is_refused(name: str, value: str) -> None:
    """In one sentence, without its value, before anything is sent."""
    with place_of(PlainGrpc) as place:
        assert asked(place, headers={"Authorization": "Bearer a", "x-a.b_c": ""}).fault is None
        with pytest.raises(DeclarationError, match=f"gRPC cannot carry the header {name}") as refused:
            asked(place, headers={name: value})
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize("scheme", ["http", "ws", "grpc"])
@pytest.mark.parametrize("host", ["a..b", "a" * 64 + ".example"])
def test_a_host_that_no_name_server_can_be_asked_for_is_one_sentence(scheme: str, host: str) -> None:
    """And not an exception with the places in our source where it was raised."""
    with pytest.raises(DeclarationError, match="no host can have this name") as refused:
        asked(f"{scheme}://{host}:8080/")
    assert "raises" not in str(refused.value)


@pytest.mark.parametrize("scheme", ["https", "wss"])
def test_an_address_that_does_not_speak_tls_is_told_from_an_unknown_certificate(scheme: str) -> None:
    """Naming an authority would not help."""

    async def refused() -> str:
        async def answer(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            writer.close()

        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        place = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        try:
            with pytest.raises(DeclarationError) as found:
                await asyncio.to_thread(asked, f"{scheme}://{place}/")
            return str(found.value)
        finally:
            server.close()

    said = asyncio.run(refused())
    assert "certificate" not in said
    assert f"begin the address with {scheme.removesuffix('s')}://" in said


@pytest.mark.parametrize("status", [401, 404])
def test_a_refused_upgrade_tells_its_status(status: int) -> None:
    """And where credentials are missing, how they are sent."""

    class Refuses(PlainHttp):
        async def other_method(self, writer: asyncio.StreamWriter) -> None:
            await self.send(writer, status, b"", "text/plain")

    with place_of(Refuses) as place, pytest.raises(DeclarationError, match=f"with the status {status}") as refused:
        asked(place.replace("http:", "ws:"))
    assert ("corpus_header" in str(refused.value)) == (status == 401)


def test_a_long_header_is_read() -> None:
    """No document says how long one may be."""

    class Talks(PlainHttp):
        async def unary(self, request: Request, writer: asyncio.StreamWriter, answer: bytes) -> None:
            await self.send(writer, 200, answer, JSON, {"Content-Security-Policy": "a" * 20_000})

    with place_of(Talks) as place:
        assert asked(place).fault is None


def test_a_program_ends_where_starting_it_is_given_up() -> None:
    """As with Ctrl-C while it is waited for."""

    async def given_up() -> int | None:
        hooks = HookServer(RecordingSink(), ProviderProbe())
        adapter = RemoteAdapter(parse("cmd:sh -c 'cat > /dev/null'"), Connection(startup_s=PATIENT_S), hooks)
        starting = asyncio.ensure_future(adapter.__aenter__())
        while not isinstance(program := getattr(adapter, "transport", None), Stdio) or program._program is None:
            await asyncio.sleep(0.001)
        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting
        return program.exit_code

    assert asyncio.run(given_up()) is not None


def test_a_port_that_is_taken_is_not_shared() -> None:
    """A second server would get half of the calls."""

    async def second() -> None:
        service = service_of(None)
        await service.open()
        first, other = GrpcServer(service), GrpcServer(service)
        port = await first.start("127.0.0.1", 0)
        try:
            with pytest.raises(OSError, match="cannot be used"):
                await other.start("127.0.0.1", port)
        finally:
            await other.close()
            await first.close()
            await service.close()

    asyncio.run(second())


def test_a_server_that_asks_for_credentials_is_told_from_an_adapter() -> None:
    """Over gRPC and HTTP alike, if it answers without an envelope; any other status is the adapter's."""

    class Http(PlainHttp):
        async def unary(self, request: Request, writer: asyncio.StreamWriter, answer: bytes) -> None:
            await self.send(writer, 401, b"", "text/plain")

    class Grpc(PlainGrpc):
        code = grpc.StatusCode.UNAUTHENTICATED

        async def unary(self, answer: bytes, context: Any) -> bytes:
            await context.abort(self.code, "")
            return b""

    class Lost(Grpc):
        code = grpc.StatusCode.NOT_FOUND

    for made, wanted in ((Http, True), (Grpc, True), (Lost, False)):
        with place_of(made) as place:
            fault = asked(place).fault
            assert fault is not None
            assert fault.wants_credentials is wanted, made
