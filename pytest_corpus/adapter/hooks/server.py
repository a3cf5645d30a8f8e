"""The hooks over the wire: a server on a loopback address, for adapters outside this process (R86).

What is posted to ``metrics/observe``, ``metrics/counter`` and ``provider/reached`` becomes the same call that an
adapter in this process makes, on the same sink and the same probe. Below ``provider`` lie the endpoints of vendors too,
for adapters that are built on their clients.
"""

import asyncio
import contextlib
import secrets
from collections import deque
from typing import Any

from pytest_corpus.adapter.hooks.http_messages import (
    MAX_HEAD_BYTES,
    HookRequest,
    OpenConnections,
    Refused,
    answer,
    read_request,
)
from pytest_corpus.adapter.hooks.metrics import RecordingSink
from pytest_corpus.adapter.hooks.provider import ProviderFault, ProviderProbe
from pytest_corpus.adapter.hooks.vendors.api import VendorApi, unplanned
from pytest_corpus.adapter.hooks.vendors.connection import Connection
from pytest_corpus.text.strict_json import read_exactly

HOST = "127.0.0.1"
WATCH_S = 0.02
"""How often is looked whether who waits for the provider has gone."""

MAX_REPORTS = 1_000

PLACES = ("metrics", "provider")
VENDORS = "provider/v"
"""The endpoints of vendors have a version at the beginning of their path."""


class HookServer:
    """Serves the hooks of one adapter, in the event loop in which it was started.

    Each call has an address of its own, so that what is reported belongs to a call for certain, however many run side
    by side. What arrives for a call before the current turn is answered and not kept: it would be taken for a report
    of another call.

    Attributes:
        called: which of `metrics` and `provider` were called at all.
        reports: the latest reports, each with the call that its address is of.
        url: the address that is right for every call, as long as only one is under way; there once it is started.
        given_up: how often an adapter closed the connection on which it waited for the provider.
    """

    url: str

    def __init__(self, metrics: RecordingSink, provider: ProviderProbe) -> None:
        self._metrics, self._provider = metrics, provider
        self.called: set[str] = set()
        self.reports: deque[tuple[str, str, Any]] = deque(maxlen=MAX_REPORTS)
        self._token = secrets.token_urlsafe(12)
        self._server: asyncio.base_events.Server | None = None
        self._open = OpenConnections(self._converse)
        self._turn = self._number = 0
        self.given_up = 0

    async def start(self) -> None:
        """Listen on a free port."""
        self._server = await asyncio.start_server(self._open.accept, HOST, 0, limit=MAX_HEAD_BYTES)
        self.url = f"http://{HOST}:{self._server.sockets[0].getsockname()[1]}/{self._token}"

    def turn(self) -> None:
        """Keep from now on only what belongs to calls that are still to begin."""
        self._turn += 1

    def address(self) -> tuple[str, str]:
        """The name of a call that begins, and the address for its reports."""
        self._number += 1
        call = f"{self._turn}-{self._number}"
        return call, f"{self.url}/{call}"

    @property
    def nowhere(self) -> str:
        """An address of no call: what is reported there is answered, and counts for nothing."""
        return f"{self.url}/0-0"

    async def aclose(self) -> None:
        """End every connection, and with it whatever still waits for the provider."""
        if self._server is not None:
            self._server.close()
        await self._open.end()

    # -- connections -----------------------------------------------------------------------------------

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            try:
                request = await read_request(reader, writer)
                if request is None:
                    return
                call, what = self._place(request.path)
                if what.startswith(VENDORS):
                    if not await self._served(request, call, what, Connection(reader, writer, request.keeps_open)):
                        return
                    continue
                status, value = await self._answered(request, call, what, reader)
                keeps_open = request.keeps_open
            except Refused as refused:
                status, value, keeps_open = refused.status, {}, False
            writer.write(answer(status, value, keeps_open=keeps_open))
            await writer.drain()
            if not keeps_open:
                return

    def _place(self, path: str) -> tuple[str, str]:
        """The call that a path names, empty where it names none, and what follows it; nothing where it is not ours."""
        token, *rest = [part for part in path.split("/") if part] or [""]
        if token != self._token or not rest:
            return "", ""
        return ("", "/".join(rest)) if rest[0] in PLACES else (rest[0], "/".join(rest[1:]))

    async def _served(self, request: HookRequest, call: str, what: str, connection: Connection) -> bool:
        """Serve a request of a vendor's client; whether the connection stays open."""
        arrived = unplanned if self._is_over(call) else self._provider.arrived
        if arrived is not unplanned:
            self.called.add("provider")
        await VendorApi(arrived, {}).serve(request, what.removeprefix("provider/"), connection)
        return connection.keeps_open

    def _is_over(self, call: str) -> bool:
        """Whether a call is one before the current turn."""
        return bool(call) and call.partition("-")[0] != str(self._turn)

    async def _answered(
        self, request: HookRequest, call: str, what: str, reader: asyncio.StreamReader
    ) -> tuple[int, dict[str, Any]]:
        if what not in ("metrics/observe", "metrics/counter", "provider/reached"):
            return 404, {}
        if request.method != "POST":
            return 405, {}
        value, flaw = read_exactly(request.body)
        if flaw is not None and value is None:
            return 400, {}
        return 200, await self._report(what, call, value, reader)

    async def _report(self, what: str, call: str, value: Any, reader: asyncio.StreamReader) -> dict[str, Any]:
        self.called.add(what.partition("/")[0])
        if self._is_over(call):
            return {}
        self.reports.append((call, what, value))
        if what == "provider/reached":
            return await self._reached(value, reader)
        report = self._metrics.observe if what == "metrics/observe" else self._metrics.counter
        report(**value) if isinstance(value, dict) and "self" not in value else report(value)
        return {}

    # -- the provider ----------------------------------------------------------------------------------

    async def _reached(self, value: Any, reader: asyncio.StreamReader) -> dict[str, Any]:
        facts = {name: each for name, each in value.items() if name != "self"} if isinstance(value, dict) else {}
        arriving = asyncio.ensure_future(self._provider.reached(facts.pop("op", None), **facts))
        try:
            while not (await asyncio.wait({arriving}, timeout=WATCH_S))[0]:
                if reader.at_eof():
                    self.given_up += 1
                    raise ConnectionResetError("nobody waits for the provider any more")
        except BaseException:
            arriving.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await arriving
            raise
        error = arriving.exception()
        return {} if error is None else {"fault": _fault(error)}


def _fault(error: BaseException) -> dict[str, Any]:
    if isinstance(error, ProviderFault):
        return {
            "kind": error.kind,
            "http_status": error.http_status,
            "retry_after_ms": error.retry_after_ms,
            "message": error.message,
        }
    return {"kind": "unexpected", "http_status": None, "retry_after_ms": None, "message": str(error)}
