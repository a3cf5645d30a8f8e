"""Hooks over the wire: what is posted is the same record that an adapter in this process leaves."""

import asyncio
import gc
import json
import os
import time
import weakref
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from plain_servers import PlainHttp, place_of
from served_adapters import command, served
from test_raw import opened

from pytest_corpus.adapter.fault_plan import canaries
from pytest_corpus.adapter.hooks.metrics import RecordingSink
from pytest_corpus.adapter.hooks.provider import ProviderProbe
from pytest_corpus.adapter.hooks.server import HookServer
from pytest_corpus.adapter.opening.address import parse
from pytest_corpus.adapter.opening.remote import Connection, RemoteAdapter
from pytest_corpus.adapter.scope import Observed, call_scope
from pytest_corpus.adapter.transports.raw import RawTransport
from pytest_corpus.serving import hooks
from pytest_corpus.serving.hooks import HookClient

Test = Callable[[HookServer, HookClient], Awaitable[None]]

OBSERVED = {"component": "llm", "op": "complete", "ms": 1.0, "ok": True, "code": "OK", "extra": {"a": 1}}


def carried_out(test: Test, probe: ProviderProbe | None = None, sink: RecordingSink | None = None) -> HookServer:
    """Run a test against a hook server of its own."""
    server = HookServer(sink or RecordingSink(), probe or ProviderProbe())

    async def run() -> None:
        await server.start()
        hook_client = HookClient()
        try:
            await asyncio.wait_for(test(server, hook_client), 10)
        finally:
            hook_client.close()
            await server.aclose()

    asyncio.run(run())
    return server


async def raw(server: HookServer, request: bytes) -> bytes:
    """The answer on a connection of its own, to its end."""
    port = int(server.url.split(":")[2].partition("/")[0])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request)
    answer = await reader.read()
    writer.close()
    return answer


def test_a_report_is_the_same_record_as_in_process() -> None:
    """An observation and a counter arrive with their keyword arguments."""

    async def post(server: HookServer, client: HookClient) -> None:
        with call_scope(Observed()):
            _, url = server.assign_address()
        await client.post(url, "metrics/observe", json.dumps(OBSERVED).encode())
        await client.post(url, "metrics/counter", b'{"component":"llm","name":"n","value":2}')

    server = carried_out(post, sink=(sink := RecordingSink()))
    (seen,), (count,) = sink.observations, sink.counts
    assert (seen.component, seen.op, seen.extra, seen.malformed) == ("llm", "complete", {"a": 1}, "")
    assert (count.name, count.value) == ("n", 2)
    assert server.called_hooks == {"metrics"}


def test_a_chunked_report_on_a_connection_of_its_own_arrives() -> None:
    """As some HTTP clients send it, at an address whose slash was doubled."""

    async def post(server: HookServer, _posting: HookClient) -> None:
        path = server.url.partition("127.0.0.1")[2].partition("/")[2]
        named = f"POST /{path}//metrics/observe HTTP/1.1\r\nHost: h\r\n"
        head = f"{named}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
        answer = await raw(server, head.encode() + b'3\r\n{"o\r\n7;x=y\r\np":"a"}\r\n0\r\n\r\n')
        assert answer.startswith(b"HTTP/1.1 200")

    server = carried_out(post)
    assert [value for _, _, value in server.reports] == [{"op": "a"}]


@pytest.mark.parametrize(("request_", "status"), [
    (b"GET %b/metrics/observe HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", b"405"),
    (b"HEAD /elsewhere HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", b"404"),
    (b"POST /elsewhere HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", b"404"),
    (b"POST %b/metrics/observe HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 1\r\n\r\n{", b"400"),
    (b"nonsense\r\n\r\n", b"400"),
    (b"POST %b/metrics/observe HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999\r\n\r\n", b"413"),
])  # fmt: skip
def test_what_is_no_report_is_refused(request_: bytes, status: bytes) -> None:
    """And nothing is recorded."""

    async def post(server: HookServer, _posting: HookClient) -> None:
        path = ("/" + server.url.rpartition("/")[2]).encode()
        answer = await raw(server, request_.replace(b"%b", path))
        assert answer.split()[1] == status

    assert not carried_out(post).reports


@pytest.mark.parametrize("host", ["127.0.0.1", "host.docker.internal", "page.example"])
def test_only_who_knows_the_path_is_answered(host: str) -> None:
    """An adapter in a container names another host; a web page cannot guess the path, whatever host it names."""

    async def post(server: HookServer, _posting: HookClient) -> None:
        path = server.url.rpartition("/")[2]
        for known, status in ((path, b"200"), (path[:-1], b"404"), (path.swapcase(), b"404"), ("\xe4", b"400")):
            head = f"POST /{known}/metrics/counter HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n"
            answer = await raw(server, f"{head}Content-Length: 2\r\n\r\n{{}}".encode("latin-1"))
            assert answer.split()[1] == status
            assert path.encode() not in answer

    assert len(carried_out(post).reports) == 1


def test_a_report_for_a_call_that_is_over_comes_late() -> None:
    """It is that of its call; one for an address of no call is dropped."""
    call, probe = Observed(("complete",), is_due=True), ProviderProbe()

    async def post(server: HookServer, client: HookClient) -> None:
        with call_scope(call):
            _, url = server.assign_address()
        call.ended = time.monotonic()
        probe.attribution.begin(Observed())
        for each in (url, server.unassigned_url):
            await client.post(each, "metrics/observe", json.dumps(OBSERVED).encode())

    server = carried_out(post, probe, sink := RecordingSink())
    assert sink.observations == call.observations
    assert len(call.observations) == 1
    assert not server.reports
    assert server.called_hooks == {"metrics"}


def test_a_planned_fault_is_the_answer() -> None:
    """With its kind, status and message; `unexpected` has no status."""
    probe = ProviderProbe()

    async def post(server: HookServer, hook_client: HookClient) -> None:
        probe.plan("rate_limited", retry_after_ms=50)
        fault = json.loads(await hook_client.post(server.url, "provider/reached", b'{"op":"llm.complete"}'))["fault"]
        assert (fault["kind"], fault["http_status"], fault["retry_after_ms"]) == ("rate_limited", 429, 50)
        assert canaries(probe.plans)[0] in fault["message"]
        probe.plan("unexpected")
        fault = json.loads(await hook_client.post(server.url, "provider/reached", b'{"op":"a","chunk":null}'))["fault"]
        assert (fault["kind"], fault["http_status"]) == ("unexpected", None)
        assert json.loads(await hook_client.post(server.url, "provider/reached", b'{"op":"a"}')) == {}

    carried_out(post, probe)
    assert probe.calls() == 3


def test_who_does_not_connect_in_time_is_an_os_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """As any other failure to reach the address, on every Python."""

    async def never(*_to: object) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(asyncio, "open_connection", never)
    monkeypatch.setattr(hooks, "CONNECT_S", 0.05)
    with pytest.raises(OSError, match="no connection within"):
        asyncio.run(HookClient().post("http://127.0.0.1:9/", "metrics/observe", b"{}"))


def test_a_closed_connection_ends_a_hang() -> None:
    """The probe's wait is cancelled."""
    probe = ProviderProbe()
    ended: list[bool] = []

    async def post(server: HookServer, hook_client: HookClient) -> None:
        async def hangs(op: str, **_facts: Any) -> None:
            try:
                await asyncio.Event().wait()
            finally:
                ended.append(True)

        probe.reached = hangs  # type: ignore[method-assign]
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(hook_client.post(server.url, "provider/reached", b'{"op":"a"}'), 0.2)
        for _ in range(100):
            if ended:
                return
            await asyncio.sleep(0.01)

    carried_out(post, probe)
    assert ended


def test_a_late_report_is_not_collected_as_garbage() -> None:
    """It is posted to its end although nothing of its request is left; the event loop alone does not hold it."""

    class Waiting(HookClient):
        async def post(self, url: str, path: str, body: bytes) -> bytes:
            answer = asyncio.get_running_loop().create_future()
            posted.append(weakref.ref(answer))
            return bytes(await answer)

    posted: list[weakref.ref[asyncio.Future[bytes]]] = []

    async def run() -> None:
        async with hooks.report_to_hooks("http://127.0.0.1:9", waiting := Waiting()) as reports:
            pass
        assert reports is not None
        reports.add("metrics/observe", OBSERVED)
        del reports
        async with hooks.report_to_hooks("", waiting):  # this context forgets the request before
            await asyncio.sleep(0.01)
            gc.collect()
            answer = posted[0]()
        assert answer is not None
        answer.set_result(b"{}")
        await asyncio.sleep(0.01)

    asyncio.run(run())


@pytest.mark.parametrize("scheme", ["http", "ws", "grpc"])
def test_fifty_calls_side_by_side_report_each_to_its_own_address(scheme: str) -> None:
    """An observation arrives at the address of the call whose tenant it names."""
    with served("pytest_corpus.reference:all", *(["--grpc"] if scheme == "grpc" else [])) as (place, _):

        async def call(server: HookServer, _posting: HookClient) -> None:
            remote = RemoteAdapter(parse(f"{scheme}://{place}"), Connection(), server)
            await remote.connect()
            transport = remote.transport
            try:
                alone = [await sent(transport, number) for number in range(50)]
                answers = await asyncio.gather(*(sent(transport, number) for number in range(50)))
                answers += alone
            finally:
                await transport.aclose()
            assert all(json.loads(answer)["ok"] for answer in answers)

        server = carried_out(call)
    calls = [(name, value) for name, path, value in server.reports if path == "metrics/observe"]
    hashes = {int(name): value["extra"]["tenant_hash"] for name, value in calls}
    # Addresses are numbered in the order of the calls: first each tenant alone, then all of them at once.
    assert sorted(hashes) == list(range(1, 101))
    assert len(calls) == 100
    assert [hashes[number] for number in range(51, 101)] == [hashes[number] for number in range(1, 51)]
    assert len(set(hashes.values())) == 50


async def sent(transport: RawTransport, number: int) -> bytes:
    """The answer to a call, in its scope."""
    with call_scope(Observed()):
        return await transport.send(_envelope(number))


def _envelope(number: int) -> dict[str, Any]:
    messages = [{"role": "user", "content": f"question {number}"}]
    return {
        "op": "llm.complete",
        "ctx": {"tenant": f"tenant-{number}"},
        "args": {"model": "reference-small", "messages": messages},
    }


def test_a_vendors_client_reaches_the_provider_of_its_call() -> None:
    """Below the address of a call's hooks; of a call that is over it is answered, and counts for nothing."""
    probe = ProviderProbe()
    statuses = []

    async def call(server: HookServer, _posting: HookClient) -> None:
        asked = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hi"}]})
        before, call = Observed(), Observed()
        with call_scope(before):
            _, over = server.assign_address()
        before.ended = time.monotonic()
        probe.attribution.begin(call)
        with call_scope(call):
            _, now = server.assign_address()
        probe.plan("unavailable", times=2)
        for url in (over, now, server.url):
            path = f"/{url.partition('://')[2].partition('/')[2]}/provider/v1/chat/completions"
            head = f"POST {path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: {len(asked)}\r\n\r\n"
            statuses.append((await raw(server, f"{head}{asked}".encode())).split()[1])

    server = carried_out(call, probe)
    assert statuses == [b"200", b"503", b"503"]
    assert probe.arrivals == ("llm.complete", "llm.complete")
    assert server.called_hooks == {"provider"}


@pytest.mark.parametrize("way", ["program", "address"])
def test_an_adapter_elsewhere_can_be_built_on_a_vendors_client(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program finds the provider's address in its environment, any adapter below that of its call's hooks."""
    monkeypatch.setenv("PYTHONPATH", os.path.dirname(__file__), prepend=os.pathsep)
    if way == "program":
        fails_and_recovers(command("vendor_adapter:factory"))
        return
    with served("vendor_adapter:careful") as (place, _):
        fails_and_recovers(f"http://{place}/")


def fails_and_recovers(address: str) -> None:
    """An adapter at an address is struck by a planned fault, and works again."""
    with opened(address, 30.0, 30.0) as client:
        client.provider.plan("rate_limited", "llm.complete", retry_after_ms=1234)
        args = {"messages": [{"role": "user", "content": "hi"}]}
        request = {"op": "llm.complete", "ctx": {}, "args": args}
        exchanges = [client.send(request, "llm") for _ in range(2)]
        assert [each.frames[0].body["code"] for each in exchanges] == ["RESOURCE_EXHAUSTED", "OK"]
        assert exchanges[0].frames[0].body["retry_after_ms"] in exchanges[0].observed.hints_ms
        assert [each.observed.reached_provider for each in exchanges] == [1, 1]
        assert client.hooks == {"provider"}


def test_a_report_that_comes_until_a_call_begins_is_none_of_that_call() -> None:
    """It is one of the call before, which was not waited for any longer."""
    with place_of(PlainHttp) as place, opened(place) as client:
        exchanges = []
        for _ in range(2):
            exchanges.append(client.send({"op": "llm.capabilities", "ctx": {}, "args": {}}, "llm"))
            client.metrics.observe(component="llm", op="late", ms=1, ok=True)
        assert [each.op for each in exchanges[1].observed.observations] == ["capabilities", "late"]
