"""Access to a served adapter: no web page may call it, and no client chooses where its reports go."""

import asyncio
import json
from typing import Any

import pytest
from cli_runs import run_process
from plain_servers import place_of, service_of
from served_adapters import SERVE, served
from test_raw import CAPABILITIES, STREAM, opened

from pytest_corpus.adapter.exceptions import DeclarationError
from pytest_corpus.serving.access import Access
from pytest_corpus.serving.grpc import GrpcServer
from pytest_corpus.serving.http import HttpServer
from pytest_corpus.spec.transports import HOOKS_HEADER, JSON

TOKEN = "5a2f9c0e"
ENVELOPE = json.dumps(CAPABILITIES)
UPGRADE = {
    "Connection": "Upgrade", "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "a" * 22 + "==",
}  # fmt: skip


class Served:
    """The reference LLM as `pytest-corpus serve` offers it, in an event loop of the tests."""

    def __init__(self, access: Access, made: Any = HttpServer) -> None:
        self.service = service_of(None)
        self.service.access = access
        self._made = made

    async def start(self) -> str:
        """Listen on loopback, whatever the rules name."""
        await self.service.open()
        self.server = self._made(self.service)
        return f"127.0.0.1:{await self.server.start('127.0.0.1', 0)}"

    async def stop(self) -> None:
        """Stop listening."""
        await self.server.close()
        await self.service.close()


def asked(
    place: str, headers: dict[str, str], body: str = ENVELOPE, method: str = "POST"
) -> tuple[int, dict[str, Any]]:
    """The status and the body of the answer to a request with these headers, and no others but its length."""

    async def ask() -> bytes:
        reader, writer = await asyncio.open_connection(*place.split(":"))
        sent = {"Host": place, **headers, "Content-Length": str(len(body))}
        lines = [f"{name}: {value}" for name, value in sent.items()]
        writer.write("\r\n".join([f"{method} / HTTP/1.1", *lines, "", body]).encode())
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)
        length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
        answer = await reader.readexactly(int(length or 0))
        writer.close()
        return head + answer

    head, _, answer = asyncio.run(ask()).partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(answer or b"{}")


@pytest.mark.parametrize("upgrade", [{}, UPGRADE], ids=["http", "websocket"])
@pytest.mark.parametrize(("host", "origin", "allowed"), [
    ("127.0.0.1:{port}", None, True),
    ("localhost:{port}", None, True),
    ("LOCALHOST", None, True),
    ("[::1]:{port}", None, True),
    ("127.0.0.1:{port}", "http://127.0.0.1:{port}", True),
    ("rebound.example:{port}", None, False),
    ("127.0.0.1.example", None, False),
    ("localhost.example", None, False),
    ("0.0.0.0:{port}", None, False),
    ("", None, False),
    ("rebound.example:{port}", "http://rebound.example:{port}", False),
    ("127.0.0.1:{port}", "https://page.example", False),
    ("127.0.0.1:{port}", "http://127.0.0.1:1", False),
    ("127.0.0.1:{port}", "null", False),
])  # fmt: skip
def test_a_web_page_cannot_call_the_adapter(
    host: str, origin: str | None, allowed: bool, upgrade: dict[str, str]
) -> None:
    """Neither under a name of its own for this machine, nor from another origin, with a content type or without."""
    with place_of(Served(Access())) as place:
        port = place.rpartition(":")[2]
        headers = {"Host": host.format(port=port), **upgrade}
        if origin is not None:
            headers["Origin"] = origin.format(port=port)
        status, answer = asked(place, headers, "" if upgrade else ENVELOPE, "GET" if upgrade else "POST")
        if allowed:
            assert status == (101 if upgrade else 200)
        else:
            assert (status, answer["code"]) == (403, "AUTH_ERROR")


@pytest.mark.parametrize(("hooks", "allowed"), [
    ("", True),
    ("http://localhost:1/a", True),
    ("http://[::1]:1/a", True),
    ("http://allowed.example:1/a", True),
    ("http://10.0.0.7/a", False),
    ("http://127.0.0.1@10.0.0.7/a", False),
    ("http://127.0.0.1.example/a", False),
    ("http://0.0.0.0:1/a", False),
    ("http://169.254.169.254/latest", False),
    ("http://[", False),
    ("//", False),
])  # fmt: skip
def test_reports_go_to_loopback_or_where_the_developer_allows(hooks: str, allowed: bool) -> None:
    """A request that names other hooks is refused, whether it is a call, a stream, or a message that names them."""
    service = service_of(None)
    service.access = Access(hook_hosts=frozenset(("allowed.example",)))

    async def ask() -> list[dict[str, Any]]:
        await service.open()
        try:
            stream = [frame async for frame in service.stream(STREAM, hooks)]
            return [json.loads(each) for each in (await service.unary(CAPABILITIES, hooks), stream[0])]
        finally:
            await service.close()

    for answer in asyncio.run(ask()):
        assert answer["ok"] is allowed
        assert allowed or "--allow-hooks=HOST" in answer["message"]


def test_a_refused_report_is_posted_nowhere() -> None:
    """No connection is opened to the host that a request names."""
    arrived: list[bytes] = []

    class Listening:
        async def start(self) -> str:
            async def note(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                arrived.append(b"")
                writer.close()

            self.server = await asyncio.start_server(note, "127.0.0.1", 0)
            return f"localhost.:{self.server.sockets[0].getsockname()[1]}"  # a name that is not among the allowed ones

        async def stop(self) -> None:
            self.server.close()

    with place_of(Listening()) as elsewhere, place_of(Served(Access())) as place:
        status, answer = asked(place, {"Content-Type": JSON, HOOKS_HEADER: f"http://{elsewhere}/"})
        assert (status, answer["code"], arrived) == (400, "BAD_REQUEST", [])


@pytest.mark.parametrize(("given", "status"), [
    (f"Bearer {TOKEN}", 200), ("", 401), (TOKEN, 401), (f"Bearer {TOKEN}x", 401), ("Bearer \xe4", 401),
])  # fmt: skip
def test_a_token_is_asked_of_each_request(given: str, status: int) -> None:
    """Beyond loopback, where any host may be named; the answer does not repeat it."""
    with place_of(Served(Access("0.0.0.0", TOKEN))) as place:
        found, answer = asked(place, {"Host": "adapter.example", "Authorization": given})
        assert found == status
        assert TOKEN not in json.dumps(answer)


def test_grpc_asks_for_the_token_too() -> None:
    """In calls and streams: what has no token gets an error envelope."""
    with place_of(Served(Access(token=TOKEN), GrpcServer)) as place:
        for headers, allowed in (({"Authorization": f"Bearer {TOKEN}"}, True), ({}, False)):
            with opened(f"grpc://{place}", headers=headers) as client:
                for exchange in (client.send(CAPABILITIES, "llm"), client.send(STREAM, "llm", streaming=True)):
                    assert exchange.frames[0].body["ok"] is allowed


def test_the_command_takes_the_token_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The suite sends it as a header; without it a WebSocket does not open, and the sentence says how."""
    monkeypatch.setenv("CORPUS_SERVE_TOKEN", TOKEN)
    with served("pytest_corpus.reference:llm") as (place, _):
        assert asked(place, {})[0] == 401
        with opened(f"ws://{place}/", headers={"Authorization": f"Bearer {TOKEN}"}) as client:
            assert client.send(CAPABILITIES, "llm").fault is None
        without = opened(f"ws://{place}/")
        with pytest.raises(DeclarationError, match=r"401.*corpus_header"), without:
            pass


@pytest.mark.parametrize(("arguments", "said"), [
    (["--host=0.0.0.0"], "can be reached from other machines: set CORPUS_SERVE_TOKEN"),
    (["--host=adapter.example", "--grpc"], "can be reached from other machines: set CORPUS_SERVE_TOKEN"),
    (["--token="], "at least one, and no space"),
    (["--token=a b"], "at least one, and no space"),
])  # fmt: skip
def test_nobody_is_served_beyond_loopback_without_a_token(
    monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    """One sentence, and exit code 2, before the adapter is made."""
    monkeypatch.delenv("CORPUS_SERVE_TOKEN", raising=False)
    ended = run_process(*SERVE, "pytest_corpus.reference:llm", "--port=0", *arguments, code=2)
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr
