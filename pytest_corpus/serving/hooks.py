"""The hooks of a served adapter: metrics and provider calls go to the address that the current request names."""

from __future__ import annotations

import asyncio
import json
import os
from collections import defaultdict
from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from pytest_corpus.adapter.hooks.provider import ProviderFault
from pytest_corpus.spec.transports import PROVIDER_PATH, PROVIDER_VARIABLE

MAX_IDLE = 32  # the most idle connections kept open to one address
CONNECT_S = 5.0

_REQUEST: ContextVar[Reports | None] = ContextVar("corpus_request", default=None)


class _Connection(NamedTuple):
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter


class HookClient:
    """Posts JSON over plain HTTP to a few hosts, on persistent connections; calls may run concurrently."""

    def __init__(self) -> None:
        self._idle: dict[tuple[str, int], list[_Connection]] = defaultdict(list)
        self._late: set[asyncio.Task[None]] = set()

    def begin(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine in the background, and keep a reference to its task, because the event loop keeps none."""
        task = asyncio.get_running_loop().create_task(work)
        self._late.add(task)
        task.add_done_callback(self._late.discard)

    async def post(self, url: str, path: str, body: bytes) -> bytes:
        """Post `body` to `path` below `url` and return the answer. Raises OSError, EOFError or ValueError if no answer
        arrived.
        """
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or 80
        target = f"{parts.path.rstrip('/')}/{path}"
        head = (
            f"POST {target} HTTP/1.1\r\nHost: {parts.netloc}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        ).encode()
        idle = self._idle[host, port]
        while idle:
            connection = idle.pop()
            if not connection.reader.at_eof() and not connection.writer.is_closing():
                break
            connection.writer.close()
        else:
            connection = await _connect(host, port)
        answered = False
        try:
            connection.writer.write(head + body)
            await connection.writer.drain()
            answer, keeps_open = await _read_answer(connection.reader)
            answered = keeps_open and len(idle) < MAX_IDLE
            return answer
        finally:
            if answered:
                idle.append(connection)
            else:
                connection.writer.close()

    def close(self) -> None:
        """Close all idle connections."""
        for idle in self._idle.values():
            for connection in idle:
                connection.writer.close()
            idle.clear()


async def _connect(host: str, port: int) -> _Connection:
    try:
        return _Connection(*await asyncio.wait_for(asyncio.open_connection(host, port), CONNECT_S))
    except TimeoutError as late:
        raise OSError(f"no connection within {CONNECT_S:g} s") from late


async def _read_answer(reader: asyncio.StreamReader) -> tuple[bytes, bool]:
    lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")[1:]
    headers = {
        name.strip().lower(): value.strip().lower() for name, _, value in (line.partition(":") for line in lines)
    }
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return body, headers.get("connection") != "close"


class Reports:
    """The metrics of one request. They are posted in order before the answer; later metrics are posted at once."""

    def __init__(self, url: str, posting: HookClient) -> None:
        self.url, self._posting = url, posting
        self._loop = asyncio.get_running_loop()
        self._kept: list[tuple[str, bytes]] = []
        self._turn = asyncio.Lock()
        self._over = False

    def add(self, path: str, report: Mapping[str, Any]) -> None:
        """Add metrics for a path of the hooks, from any thread."""
        self._kept.append((path, json.dumps(report, default=str).encode()))
        if self._over:
            self._loop.call_soon_threadsafe(lambda: self._posting.begin(self.flush()))

    async def flush(self) -> None:
        """Post the collected metrics. A server that does not respond does not delay the answer."""
        if not self._kept and not self._turn.locked():
            return
        async with self._turn:
            while self._kept:
                path, body = self._kept.pop(0)
                try:
                    await self._posting.post(self.url, path, body)
                except (OSError, ValueError, EOFError):
                    continue

    async def end(self) -> None:
        """Post the remaining metrics; from now on, metrics are posted at once."""
        self._over = True
        await self.flush()

    async def reached(self, facts: Mapping[str, Any]) -> None:
        """Report that the provider would be called now. Raises the error that the suite has planned for this call."""
        await self.flush()
        try:
            answer = json.loads(await self._posting.post(self.url, "provider/reached", json.dumps(facts).encode()))
        except (OSError, ValueError, EOFError, RecursionError):
            return
        fault = answer.get("fault") if isinstance(answer, Mapping) else None
        if not isinstance(fault, Mapping):
            return
        if not isinstance(fault.get("http_status"), int):
            raise RuntimeError(str(fault.get("message")))
        raise ProviderFault(
            str(fault.get("kind")), fault["http_status"], fault.get("retry_after_ms"), str(fault.get("message"))
        )


class RequestMetrics:
    """A `MetricsSink` (SPECIFICATION 6.4) that sends metrics to the hooks of the current request."""

    def observe(
        self, *, component: str, op: str, ms: float, ok: bool, code: str = "OK", extra: Mapping[str, Any] | None = None
    ) -> None:
        """Report the outcome of an operation."""
        _add_report(
            "metrics/observe",
            {"component": component, "op": op, "ms": ms, "ok": ok, "code": code, "extra": dict(extra or {})},
        )

    def counter(self, *, component: str, name: str, value: int = 1, extra: Mapping[str, Any] | None = None) -> None:
        """Report a count."""
        _add_report(
            "metrics/counter", {"component": component, "name": name, "value": value, "extra": dict(extra or {})}
        )


class RequestProvider:
    """Stands in for the provider: reports calls to the hooks of the current request, and fails as the hooks demand."""

    async def reached(self, op: str, **facts: Any) -> None:
        """Report that the provider would be called. Raises ProviderFault or RuntimeError as planned."""
        if (reports := _REQUEST.get()) is not None:
            await reports.reached({"op": op, **facts})

    @property
    def url(self) -> str:
        """The address of a provider for vendors' clients: from the current request, or from the environment.

        Raises:
            LookupError: there is no current request and no address in the environment.
        """
        if (reports := _REQUEST.get()) is not None:
            return f"{reports.url}/{PROVIDER_PATH}"
        if not (url := os.environ.get(PROVIDER_VARIABLE)):
            raise LookupError(
                f"provider.url is known only while a request is handled, or where {PROVIDER_VARIABLE} names it; "
                "ask for it in the call, or serve with --stdio"
            )
        return url


def _add_report(path: str, report: Mapping[str, Any]) -> None:
    if (reports := _REQUEST.get()) is not None:
        reports.add(path, report)


@asynccontextmanager
async def report_to_hooks(url: str, posting: HookClient) -> AsyncIterator[Reports | None]:
    """Send the adapter's metrics to the hooks at `url` within the context; if `url` is empty, send none."""
    # The variable is not reset: each request sets it first, and a stream may be closed in another context.
    reports = Reports(url, posting) if url else None
    _REQUEST.set(reports)
    try:
        yield reports
    finally:
        if reports is not None:
            await reports.end()
