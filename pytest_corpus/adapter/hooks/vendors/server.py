"""The server at `provider.url`: in a thread and an event loop of its own, for clients of every kind."""

import asyncio
import contextlib
import secrets
import threading

from pytest_corpus.adapter.hooks.http_messages import MAX_HEAD_BYTES, OpenConnections, Refused, answer, read_request
from pytest_corpus.adapter.hooks.vendors.api import Arrived, VendorApi
from pytest_corpus.adapter.hooks.vendors.connection import Connection
from pytest_corpus.adapter.hooks.vendors.endpoint import Endpoints

HOST = "127.0.0.1"
START_S = 10.0
CLOSE_S = 2.0


class ProviderServer:
    """Listens on a free port from the moment that it is made until it is closed.

    Its path begins with a word that nobody else knows: what is left over of an earlier provider does not arrive here.
    """

    def __init__(self, arrived: Arrived, own: Endpoints) -> None:
        self._api = VendorApi(arrived, own)
        self._token = secrets.token_urlsafe(12)
        self._loop = asyncio.new_event_loop()
        self._open = OpenConnections(self._converse)
        self._port = 0
        self._failed: OSError | None = None
        self._ending = asyncio.Event()
        listening = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(listening,), name="corpus-provider", daemon=True)
        self._thread.start()
        listening.wait(START_S)
        if self._failed is not None:
            raise self._failed

    @property
    def url(self) -> str:
        """The address, without a slash at its end."""
        return f"http://{HOST}:{self._port}/{self._token}"

    def close(self) -> None:
        """End every connection, and with it whatever still waits for the provider."""
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._ending.set)
        self._thread.join(CLOSE_S)

    # -- in the thread ---------------------------------------------------------------------------------

    def _run(self, listening: threading.Event) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._serve(listening))
        except OSError as error:
            self._failed = error
        finally:
            listening.set()
            self._loop.close()

    async def _serve(self, listening: threading.Event) -> None:
        server = await asyncio.start_server(self._open.accept, HOST, 0, limit=MAX_HEAD_BYTES)
        self._port = server.sockets[0].getsockname()[1]
        listening.set()
        await self._ending.wait()
        server.close()
        await self._open.end()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await self._served(reader, writer):
            pass

    async def _served(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Serve the next request of a connection; whether there may be another one."""
        try:
            request = await read_request(reader, writer)
        except Refused as refused:
            writer.write(answer(refused.status, {}, keeps_open=False))
            await writer.drain()
            return False
        if request is None:
            return False
        connection = Connection(reader, writer, request.keeps_open)
        token, _, path = request.path.strip("/").partition("/")
        if token != self._token:
            await connection.answer(404, {}, {})
        else:
            await self._api.serve(request, path, connection)
        return connection.keeps_open
