"""The server at `provider.url`: in a thread and an event loop of its own, for clients of every kind."""

import asyncio
import contextlib
import threading

from pytest_corpus.adapter.hooks.http_server import Connection, HookRequest, LoopbackServer
from pytest_corpus.adapter.hooks.vendors.api import Arrived, VendorApi
from pytest_corpus.adapter.hooks.vendors.endpoint import Endpoints

START_S = 10.0
CLOSE_S = 2.0


class ProviderServer(LoopbackServer):
    """Listens on a free port from its construction until it is closed."""

    def __init__(self, arrived: Arrived, own: Endpoints) -> None:
        super().__init__()
        self._api = VendorApi(arrived, own)
        self._failed: OSError | None = None
        self._loop, self._ending = asyncio.new_event_loop(), asyncio.Event()
        listening = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(listening,), name="corpus-provider", daemon=True)
        self._thread.start()
        listening.wait(START_S)
        if self._failed is not None:
            raise self._failed

    async def respond(self, request: HookRequest, path: list[str], connection: Connection) -> None:
        """Serve a request at an endpoint of a vendor."""
        await self._api.serve(request, "/".join(path), connection)

    def close(self) -> None:
        """End every connection, and everything that still waits for the provider."""
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._ending.set)
        self._thread.join(CLOSE_S)

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
        await self.start()
        listening.set()
        await self._ending.wait()
        await self.aclose()
