"""The connection of a client to a proxy."""

from collections.abc import Awaitable, Mapping

from aiohttp import web

from pytest_corpus.adapter.hooks.http_server import T, Wire, reset


class ProxyClient(Wire):
    """Answers a request, whole or in parts, or breaks the connection off."""

    def __init__(self, request: web.BaseRequest) -> None:
        self._request = request
        self.response: web.StreamResponse = web.Response(status=500)

    async def open(self, status: int, reason: str | None, headers: Mapping[str, str]) -> None:
        self.response = web.StreamResponse(status=status, reason=reason, headers=headers)
        await self.response.prepare(self._request)

    async def send(self, data: bytes) -> None:
        if data:
            await self.response.write(data)

    async def end(self) -> None:
        await self.response.write_eof()

    def cut(self) -> None:
        if self._request.transport is not None:
            self._request.transport.close()

    def reset(self) -> None:
        if self._request.transport is not None:
            reset(self._request.transport)

    async def while_open(self, work: Awaitable[T]) -> T:
        return await work  # aiohttp cancels the handler of a client that has gone
