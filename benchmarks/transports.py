"""What a call through the suite costs beside a bare client: HTTP and stdio, unary and a stream of 48 frames.

Both speak to an adapter behind `pytest-corpus serve` with the same envelopes; it takes no hooks, for what it reports
costs time of its own. They take turns, and the median of the rounds counts.

    python benchmarks/transports.py
"""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import aiohttp

from pytest_corpus.adapter.address import parse
from pytest_corpus.adapter.client import AdapterClient, Declaration
from pytest_corpus.adapter.remote import Connection, RemoteFactory

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


def opened(address: str) -> AdapterClient:
    """The suite's client of an address."""
    factory = RemoteFactory(parse(address), Connection())
    return AdapterClient(Declaration("a", factory, address, in_process=False, startup_s=10.0)).open()


def ours(client: AdapterClient, envelope: dict[str, Any], *, streaming: bool, times: int) -> float:
    """Seconds for so many calls of the suite, and the frames are read."""
    started = time.perf_counter()
    for _ in range(times):
        exchange = client.send(envelope, "llm", streaming=streaming)
        assert len(exchange.frames) == (48 if streaming else 1), exchange.fault
        client.forget()
    return time.perf_counter() - started


async def bare_http(session: aiohttp.ClientSession, url: str, envelope: dict[str, Any], accept: str) -> None:
    """One call of a bare aiohttp client, whose frames are read."""
    headers = {"Accept": accept, "Content-Type": "application/json"}
    async with session.post(url, data=json.dumps(envelope), headers=headers) as response:
        if accept == "application/json":
            json.loads(await response.read())
            return
        async for line in response.content:
            json.loads(line)


class Pipe:
    """A bare client of a program: a line each way."""

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


async def timed(call: Callable[[], Awaitable[None]], times: int) -> float:
    """Seconds for so many calls."""
    started = time.perf_counter()
    for _ in range(times):
        await call()
    return time.perf_counter() - started


async def compare(name: str, bare: Callable[[], Awaitable[None]], suite: Callable[[int], float], times: int) -> None:
    """Print the cost of a call on both sides, and the ratio."""
    await timed(bare, times)
    await asyncio.to_thread(suite, times)
    rounds = [(await timed(bare, times), await asyncio.to_thread(suite, times)) for _ in range(ROUNDS)]
    alone, through = (statistics.median(side) / times * 1000 for side in zip(*rounds, strict=True))
    ratio = statistics.median(b / a for a, b in rounds)
    print(f"{name:<14} bare {alone:.2f} ms   suite {through:.2f} ms   {ratio:.2f} times")


async def main() -> None:
    """Compare both transports, unary and streaming."""
    server = subprocess.Popen([*SERVE, FACTORY, "--port=0"], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    url = "http://" + server.stdout.readline().partition("http://")[2].partition(" ")[0]
    http = await asyncio.to_thread(opened, url)
    async with aiohttp.ClientSession() as session:
        await compare(
            "HTTP", lambda: bare_http(session, url, UNARY, "application/json"),
            lambda times: ours(http, UNARY, streaming=False, times=times), CALLS,
        )  # fmt: skip
        await compare(
            "HTTP stream", lambda: bare_http(session, url, STREAM, "application/x-ndjson"),
            lambda times: ours(http, STREAM, streaming=True, times=times), STREAMS,
        )  # fmt: skip
    await asyncio.to_thread(http.close)
    server.terminate()
    pipe = Pipe()
    await pipe.start()
    stdio = await asyncio.to_thread(opened, "cmd:" + shlex.join([*SERVE, "--stdio", FACTORY]))
    await compare(
        "stdio", lambda: pipe.call(UNARY, streaming=False),
        lambda times: ours(stdio, UNARY, streaming=False, times=times), CALLS,
    )  # fmt: skip
    await compare(
        "stdio stream", lambda: pipe.call(STREAM, streaming=True),
        lambda times: ours(stdio, STREAM, streaming=True, times=times), STREAMS,
    )  # fmt: skip
    await asyncio.to_thread(stdio.close)
    pipe.process.stdin.close()
    await pipe.process.wait()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "silent_adapter.py").write_text(ADAPTER)
        os.chdir(folder)
        asyncio.run(main())
        os.chdir("/")
