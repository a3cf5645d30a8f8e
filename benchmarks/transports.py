"""The cost of a call through the suite compared with a bare client: HTTP and stdio, unary and a stream of 48 frames.

Three speak to an adapter behind `pytest-corpus serve` with the same envelopes: a bare client; the transport, in the
same event loop, with every frame read strictly; and the suite's client, as a test calls it, whose loop is in another
thread and which records what it sees. The adapter does nothing and takes no hooks, for what it reports costs time.
They take turns, and the median of the rounds counts.

Then the proxy before a provider: a bare client calls a canned provider in another process, directly and through the
proxy of a probe. What the proxy adds may cost at most 1.5 times a direct call; the fastest quarter of the calls counts,
for these take less than a millisecond.

    python benchmarks/transports.py
"""

import asyncio
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import aiohttp

from pytest_corpus.adapter.calls import call
from pytest_corpus.adapter.client import AdapterClient, Declaration
from pytest_corpus.adapter.exchange import Exchange
from pytest_corpus.adapter.hooks.metrics import RecordingSink
from pytest_corpus.adapter.hooks.provider import ProviderProbe
from pytest_corpus.adapter.opening.address import parse
from pytest_corpus.adapter.opening.remote import Connection, RemoteAdapter, RemoteFactory

Call = Callable[[], Awaitable[None]]

ROUNDS, CALLS, STREAMS = 9, 100, 20
SERVE = [sys.executable, "-c", "import sys; from pytest_corpus.cli import main; sys.exit(main())", "serve"]
FACTORY = "silent_adapter:factory"
ADAPTER = """
FRAMES = 48

class Silent:
    async def handle(self, envelope):
        return {"ok": True, "code": "OK", "ms": 0.1, "result": {"tokens": 3}}

    async def handle_stream(self, envelope):
        for number in range(FRAMES):
            chunk = {"text": "word ", "is_final": number == FRAMES - 1}
            yield {"ok": True, "code": "STREAMING", "ms": 0.1, "chunk": chunk}

factory = Silent
"""

UNARY = {"op": "llm.count_tokens", "ctx": {}, "args": {"text": "one two three"}}
STREAM = {"op": "llm.stream", "ctx": {}, "args": {"messages": [{"role": "user", "content": "one two three"}]}}


def open_client(address: str) -> AdapterClient:
    """Return the suite's client for an address."""
    factory = RemoteFactory(parse(address), Connection())
    return AdapterClient(Declaration("a", factory, address, in_process=False, startup_s=10.0)).open()


async def call_transport(remote: RemoteAdapter, envelope: dict[str, Any], *, streaming: bool) -> None:
    """Make one call through a transport and read its frames."""
    exchange = Exchange(envelope, streaming)
    await call(remote.transport, exchange)
    assert len(exchange.frames) == (48 if streaming else 1), exchange.fault


def measure_suite(client: AdapterClient, envelope: dict[str, Any], *, streaming: bool, times: int) -> float:
    """Return the seconds for a number of calls by the suite, with reading the frames."""
    started = time.perf_counter()
    for _ in range(times):
        exchange = client.send(envelope, "llm", streaming=streaming)
        assert len(exchange.frames) == (48 if streaming else 1), exchange.fault
        client.forget()
    return time.perf_counter() - started


async def call_bare_http(session: aiohttp.ClientSession, url: str, envelope: dict[str, Any], accept: str) -> None:
    """Make one call with a bare aiohttp client and read its frames."""
    headers = {"Accept": accept, "Content-Type": "application/json"}
    async with session.post(url, data=json.dumps(envelope), headers=headers) as response:
        if accept == "application/json":
            json.loads(await response.read())
            return
        async for line in response.content:
            json.loads(line)


class Pipe:
    """A bare client of a program: one line for each request and each frame."""

    def __init__(self) -> None:
        self.process: Any = None
        self.number = 0

    async def start(self) -> None:
        self.process = await asyncio.create_subprocess_exec(
            *SERVE, "--stdio", FACTORY, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
        )

    async def call(self, envelope: dict[str, Any], *, streaming: bool) -> None:
        self.number += 1
        self.process.stdin.write(json.dumps({"id": self.number, "envelope": envelope}).encode() + b"\n")
        await self.process.stdin.drain()
        while True:
            frame = json.loads(await self.process.stdout.readline())["frame"]
            if not streaming or frame["chunk"]["is_final"]:
                return


async def measure_calls(one: Call, times: int) -> float:
    """Return the seconds for a number of calls."""
    started = time.perf_counter()
    for _ in range(times):
        await one()
    return time.perf_counter() - started


async def compare(name: str, bare: Call, remote: RemoteAdapter, suite: AdapterClient, *, streaming: bool) -> None:
    """Print the cost of a call for each client, and the ratios to the bare client."""
    times, envelope = (STREAMS, STREAM) if streaming else (CALLS, UNARY)
    rounds = []
    for _ in range(ROUNDS + 1):
        rounds.append(
            (
                await measure_calls(bare, times),
                await measure_calls(lambda: call_transport(remote, envelope, streaming=streaming), times),
                await asyncio.to_thread(measure_suite, suite, envelope, streaming=streaming, times=times),
            )
        )
    alone, transport, whole = (statistics.median(side) / times * 1000 for side in zip(*rounds[1:], strict=True))
    ratios = [statistics.median(each[side] / each[0] for each in rounds[1:]) for side in (1, 2)]
    print(
        f"{name:<14} bare {alone:.2f} ms   transport {transport:.2f} ms, {ratios[0]:.2f} times   "
        f"suite {whole:.2f} ms, {ratios[1]:.2f} times"
    )


@asynccontextmanager
async def open_both(address: str) -> AsyncIterator[tuple[RemoteAdapter, AdapterClient]]:
    """Open the transport to an address, and the suite's client for it."""
    client = await asyncio.to_thread(open_client, address)
    async with RemoteFactory(parse(address), Connection())(RecordingSink(), ProviderProbe()) as remote:
        yield remote, client
    await asyncio.to_thread(client.close)


async def compare_over_http() -> None:
    """Compare unary calls and streams over HTTP."""
    server = subprocess.Popen([*SERVE, FACTORY, "--port=0"], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    url = "http://" + server.stdout.readline().partition("http://")[2].partition(" ")[0]
    async with aiohttp.ClientSession() as session, open_both(url) as (remote, client):
        for name, envelope, accept in (
            ("HTTP", UNARY, "application/json"),
            ("HTTP stream", STREAM, "application/x-ndjson"),
        ):
            bare = partial(call_bare_http, session, url, envelope, accept)
            await compare(name, bare, remote, client, streaming=envelope is STREAM)
    server.terminate()


async def compare_over_stdio() -> None:
    """Compare unary calls and streams over stdio; each client has its own program."""
    pipe = Pipe()
    await pipe.start()
    async with open_both("cmd:" + shlex.join([*SERVE, "--stdio", FACTORY])) as (remote, client):
        for name, envelope in (("stdio", UNARY), ("stdio stream", STREAM)):
            bare = partial(pipe.call, envelope, streaming=envelope is STREAM)
            await compare(name, bare, remote, client, streaming=envelope is STREAM)
    pipe.process.stdin.close()
    await pipe.process.wait()


COMPLETION = {"model": "m", "messages": [{"role": "user", "content": "one two three"}]}
MOST_OVERHEAD = 1.5
PROVIDER = """
import time
from pytest_corpus.adapter.hooks.provider import ProviderProbe
print(ProviderProbe().url, flush=True)
time.sleep(3600)
"""


async def compare_proxy() -> bool:
    """Compare calls of a provider with and without a proxy; return False if the proxy costs too much."""
    server = subprocess.Popen([sys.executable, "-c", PROVIDER], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    direct, probe, good = server.stdout.readline().strip(), ProviderProbe(), True
    addresses = {"direct": direct, "proxy": probe.proxy(direct)}

    async def one(session: aiohttp.ClientSession, url: str, body: dict[str, Any]) -> None:
        async with session.post(f"{url}/v1/chat/completions", json=body) as response:
            assert response.status == 200
            await response.read()

    async with aiohttp.ClientSession() as session:
        for name, more in (("proxy", {}), ("proxy stream", {"stream": True})):
            calls = [partial(one, session, url, {**COMPLETION, **more}) for url in addresses.values()]
            times: list[list[float]] = [[], []]
            for _ in range(ROUNDS * CALLS):
                for side, call in zip(times, calls, strict=True):
                    side.append(await measure_calls(call, 1))
            alone, whole = (statistics.quantiles(side)[0] * 1000 for side in times)
            added = whole / alone - 1
            good = good and added <= MOST_OVERHEAD
            print(f"{name:<14} direct {alone:.2f} ms   the proxy adds {added:.2f} times that (limit {MOST_OVERHEAD})")
    probe.close()
    server.kill()
    return good


async def main() -> bool:
    """Compare both transports, and the proxy; False if it costs too much."""
    await compare_over_http()
    await compare_over_stdio()
    return await compare_proxy()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "silent_adapter.py").write_text(ADAPTER)
        os.chdir(folder)
        within = asyncio.run(main())
        os.chdir("/")
    sys.exit(not within)
