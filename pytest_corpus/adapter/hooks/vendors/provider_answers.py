"""The answers of a provider that a proxy forwards, live or from a recording."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from typing import Protocol

import aiohttp
from multidict import CIMultiDict

from pytest_corpus.adapter.hooks.vendors.recording import KeptAnswer, ProviderExchange

_HOP_BY_HOP_HEADERS = frozenset(
    ("connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "te", "trailer", "transfer-encoding",
     "upgrade", "expect", "host", "proxy-connection")
)  # fmt: skip
"""The headers that a proxy must not forward (RFC 9110, 7.6.1)."""


class ProviderAnswer(Protocol):
    """An answer of the provider. Iterating over it yields the parts of its body as they arrive."""

    status: int
    reason: str | None
    headers: CIMultiDict[str]

    async def begin(self) -> None:
        """Wait until the head of the answer is known."""

    def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield the parts of the body. Raises OSError or ClientError if the connection broke."""


class LiveAnswer:
    """A live answer. If an exchange is given, the answer is recorded in it."""

    def __init__(self, answer: aiohttp.ClientResponse, exchange: ProviderExchange | None) -> None:
        self.status, self.reason, self.headers = answer.status, answer.reason, _headers(answer.headers.items())
        self._answer, self._exchange = answer, exchange

    async def begin(self) -> None:
        if self._exchange is not None:
            self._exchange.begin(self.status, self.reason, headers_to_pass_on(self.headers).items())

    async def __aiter__(self) -> AsyncIterator[bytes]:
        note = self._exchange
        try:
            async for part in self._answer.content.iter_any():
                if note is not None:
                    note.add(part)
                yield part
        except (aiohttp.ClientError, OSError):
            if note is not None:
                note.end("cut")
            raise
        if note is not None:
            note.end("whole")


class FullyRecordedAnswer:
    """A live answer that is recorded to its end, even if the client leaves earlier."""

    def __init__(self, ask: Callable[[], Awaitable[aiohttp.ClientResponse]], exchange: ProviderExchange) -> None:
        self.status, self.headers = 0, _headers(())
        self.reason: str | None = None
        self._ask, self._exchange = ask, exchange
        self._begun: asyncio.Future[aiohttp.ClientResponse] = asyncio.get_running_loop().create_future()
        self._parts: asyncio.Queue[bytes | Exception | None] = asyncio.Queue()

    async def listen(self) -> None:
        """Record the answer to its end."""
        try:
            async with await self._ask() as answer:
                self._begun.set_result(answer)
                forwarded = LiveAnswer(answer, self._exchange)
                await forwarded.begin()
                async for part in forwarded:
                    self._parts.put_nowait(part)
                self._parts.put_nowait(None)
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            self._parts.put_nowait(error)
            if not self._begun.done():
                self._begun.set_exception(error)
                self._begun.exception()  # the client may have gone away
        finally:
            self._exchange.keep()

    async def begin(self) -> None:
        answer = await asyncio.shield(self._begun)
        self.status, self.reason, self.headers = answer.status, answer.reason, _headers(answer.headers.items())

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while (part := await self._parts.get()) is not None:
            if isinstance(part, Exception):
                raise part
            yield part


PATIENCE_S = 2.0
"""The seconds that a client in the replay may wait longer than the recorded client, which gave up."""


class ReplayedAnswer:
    """A recorded answer. If the client left during the recording, the answer hangs at the same place and then fails."""

    def __init__(self, kept: KeptAnswer, unknown: Callable[[], None], *, is_instant: bool) -> None:
        self._unknown = unknown
        self.status, self.reason, self.headers = kept.status or 0, kept.reason, _headers(kept.headers)
        self._kept, self._factor, self._begun = kept, 0 if is_instant else 1, time.monotonic()

    async def begin(self) -> None:
        await self._wait_until(self._kept.at_ms)
        if self._kept.status is None:
            await self._hang()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for ms, part in self._kept.parts:
            await self._wait_until(ms)
            yield part
        if self._kept.ending == "abandoned":
            await self._hang()
        await self._wait_until(self._kept.took_ms)
        if self._kept.ending == "cut":
            raise ConnectionResetError

    async def _hang(self) -> None:
        """Wait for the client to leave. Raises ConnectionResetError if the client stays too long."""
        await asyncio.sleep(self._kept.took_ms / 1000 + PATIENCE_S)
        self._unknown()
        raise ConnectionResetError

    async def _wait_until(self, ms: float) -> None:
        await asyncio.sleep(max(0.0, ms / 1000 * self._factor - (time.monotonic() - self._begun)))


def _headers(headers: Iterable[tuple[str, str]]) -> CIMultiDict[str]:
    found = CIMultiDict[str]()
    for name, value in headers:
        found.add(name, value)
    return found


def headers_to_pass_on(headers: Mapping[str, str]) -> CIMultiDict[str]:
    """Return the headers that a proxy passes on, including repeated headers."""
    named = {name.strip().lower() for name in headers.get("Connection", "").split(",")}
    return _headers(each for each in headers.items() if each[0].lower() not in _HOP_BY_HOP_HEADERS | named)
