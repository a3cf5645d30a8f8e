"""The connection of a client to a proxy, as the faults of a stand-in use it."""

import json
from collections.abc import Mapping
from typing import Any

from aiohttp import web

from pytest_corpus.adapter.hooks.http_server import reset


class ProxyClient:
    """Answers a request, whole or in parts, or breaks the connection off."""

    def __init__(self, request: web.BaseRequest) -> None:
        self._request = request
        self.response: web.StreamResponse = web.Response(status=500)
        self.keeps_open = True

    async def open(self, status: int, reason: str | None, headers: Mapping[str, str]) -> None:
        """Begin an answer."""
        self.response = web.StreamResponse(status=status, reason=reason, headers=headers)
        await self.response.prepare(self._request)

    async def begin(self, headers: Mapping[str, str]) -> None:
        """Begin a stream of events."""
        await self.open(200, None, {"Content-Type": "text/event-stream; charset=utf-8", **headers})

    async def answer(self, status: int, value: Any, headers: Mapping[str, str] | None = None) -> None:
        """Answer with JSON."""
        await self.answer_bytes(status, json.dumps(value).encode(), headers or {})

    async def answer_bytes(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        """Answer with something that is said to be JSON."""
        given = {"Content-Type": "application/json", **headers, "Content-Length": str(len(body))}
        await self.open(status, None, given)
        await self.send(body)
        await self.end()

    async def truncate(self, value: Any, headers: Mapping[str, str]) -> None:
        """Answer 200, and close the connection in the middle of the body."""
        body = json.dumps(value).encode()
        await self.open(200, None, {"Content-Type": "application/json", **headers, "Content-Length": str(len(body))})
        await self.send(body[: len(body) // 2])
        self.cut()

    async def send(self, events: bytes) -> None:
        """Send a part of the answer."""
        if events:
            await self.response.write(events)

    async def end(self) -> None:
        """End the answer as HTTP has it."""
        await self.response.write_eof()

    def cut(self) -> None:
        """Close the connection after what was sent."""
        self.keeps_open = False
        if self._request.transport is not None:
            self._request.transport.close()

    def reset(self) -> None:
        """Break the connection off."""
        self.keeps_open = False
        if self._request.transport is not None:
            reset(self._request.transport)
