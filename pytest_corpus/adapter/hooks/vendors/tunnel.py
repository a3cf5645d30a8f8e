"""A tunnel to a provider over TCP. It relays bytes unchanged, and planned faults affect its connections."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import TYPE_CHECKING, Any, Protocol

from pytest_corpus.adapter.hooks.http_server import HOST, LocalServer, reset
from pytest_corpus.spec.errors import BY_KIND, OVER_TCP

if TYPE_CHECKING:
    from pytest_corpus.adapter.fault_plan import Plan
    from pytest_corpus.adapter.scope import Attribution, Observed

SILENT_S = 0.25
"""The seconds without an answer after which a planned gateway timeout closes the connection."""

SIZE = 2**16
LONGEST_PING = 64
MOST_SHORT = 10_000

CUT_FORMS = ("truncated", "unfinished")
"""The forms in which a connection ends within an answer."""

CONTEXT = ("traceparent", "deadline_ms")
"""The members of a call's context that a protocol may not be able to transmit."""


class TunnelProbe(Protocol):
    """The part of a `ProviderProbe` that a tunnel uses."""

    attribution: Attribution

    def count_arrival(self, op: str, *, able: Collection[str], **facts: Any) -> Plan | None:
        """Count a request that reached the provider, and return its plan."""


def check_inexpressible(host: str, port: int, without: Collection[str]) -> frozenset[str]:
    """Check the author's names of faults and facts that a provider's protocol cannot express, and return them.

    Raises:
        ValueError: a name is unknown, or names a fault that any connection can have; or the address does not exist.
    """
    if not isinstance(host, str) or not host:
        raise ValueError("provider.tunnel: the host must be a name, an address, or the path of a Unix socket")
    if isinstance(port, bool) or not isinstance(port, int) or not 0 < port < 2**16:
        raise ValueError(f"provider.tunnel: the port must be an integer from 1 to 65535, not {port!r}")
    if isinstance(without, str):
        raise ValueError(f"provider.tunnel: without={without!r} must be a tuple of names: without=({without!r},)")
    known = [*(kind for kind in BY_KIND if kind not in OVER_TCP), *CONTEXT]
    for name in without:
        if name in OVER_TCP:
            raise ValueError(f"provider.tunnel: {name!r} happens to any connection; leave it out of `without`")
        if name not in known:
            raise ValueError(f"provider.tunnel: unknown kind {name!r} in `without`; use {', '.join(known)}")
    return frozenset(without)


class Tunnel(LocalServer):
    """Listens on a free port of the loopback address, and relays each connection to the provider.

    Attributes:
        address: the host and the port; available after the start.
    """

    address: tuple[str, int]

    def __init__(self, host: str, port: int, probe: TunnelProbe) -> None:
        super().__init__()
        self._upstream, self._probe = (host, port), probe
        self._short: dict[bytes, bool] = {}

    async def start(self) -> None:
        """Listen on a free port."""
        self.address = (HOST, await self.listen())

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Relay a connection, and reset it if either side breaks off."""
        try:
            await self._relay(reader, writer)
        except (OSError, asyncio.CancelledError):
            reset(writer.transport)

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Relay one connection to its end. Raises OSError if the connection must be reset."""
        client = _Client(self, reader, writer)
        await client.connect()
        host, port = self._upstream
        answers, requests = await (
            asyncio.open_unix_connection(host) if host.startswith("/") else asyncio.open_connection(host, port)
        )
        ways = [
            asyncio.ensure_future(client.relay_requests(requests)),
            asyncio.ensure_future(client.relay_answers(answers)),
        ]
        try:
            await asyncio.gather(*ways)
        except _Closed:
            return
        finally:
            for way in ways:
                way.cancel()
            requests.close()
            await asyncio.gather(*ways, return_exceptions=True)

    def count_data(self, known: Observed | None, data: bytes | None = None) -> tuple[Observed | None, Plan | None]:
        """Count bytes on a connection for the call that sent them; return this call, and the plan for it.

        `known` is the call that was counted last on the connection; it is not counted again. Pings are not counted;
        they are short messages that the adapter also sent while no call was active. Without `data`, a new connection is
        counted if a plan refuses it.
        """
        call = self._probe.attribution.call_of_arrival()
        is_ping = data is not None and len(data) <= LONGEST_PING and self._is_ping(data, call is None)
        if call is None or call is known or is_ping:
            return known, None
        op, plans = call.ops[-1] if call.ops else "(unknown)", call.plans or []
        if data is None and not any(plan.kind == "unavailable" and plan.applies_to(op, None) for plan in plans):
            return known, None
        return call, self._probe.count_arrival(op, able=OVER_TCP)

    def count_answer_part(self, call: Observed | None, number: int) -> Plan | None:
        """Count a part of the answer to a streaming call that is under way, and return the plan for it."""
        if call is None or not call.streaming or call is not self._probe.attribution.call_of_arrival():
            return None
        return self._probe.count_arrival(call.ops[-1] if call.ops else "(unknown)", able=OVER_TCP, chunk=number)

    def _is_ping(self, data: bytes, idle: bool) -> bool:
        return self._short.setdefault(data, idle) if len(self._short) < MOST_SHORT else self._short.get(data, False)


class _Closed(Exception):
    """The error that closes a connection without a reset."""


class _Client:
    """One connection of the adapter to the tunnel."""

    def __init__(self, tunnel: Tunnel, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._tunnel, self._reader, self._writer = tunnel, reader, writer
        self._counted: Observed | None = None
        self._parts = 0
        self._moved_on = asyncio.Event()
        self._is_cutting = False

    async def connect(self) -> None:
        """Count the new connection. Raises ConnectionResetError if a planned fault refuses it."""
        self._counted, plan = self._tunnel.count_data(None)
        if plan is not None:
            plan.on_wire, plan.hints_ms = True, ()
            if plan.delay_ms:
                await plan.wait()
            raise ConnectionResetError

    async def relay_requests(self, upstream: asyncio.StreamWriter) -> None:
        """Relay the bytes of the client to the provider.

        Raises:
            ConnectionResetError, _Closed: the connection ends, as planned.
        """
        while data := await self._reader.read(SIZE):
            plan = self._count_arrival(data)
            upstream.write(data if plan is None else await self._carry_out(plan, data))
            await upstream.drain()
        self._moved_on.set()
        if upstream.can_write_eof():
            upstream.write_eof()

    async def relay_answers(self, upstream: asyncio.StreamReader) -> None:
        """Relay the bytes of the provider to the client.

        Raises:
            ConnectionResetError, _Closed: the connection ends, as planned.
        """
        while data := await upstream.read(SIZE):
            plan = self._tunnel.count_answer_part(self._counted, self._parts)
            self._parts += 1
            if plan is not None:
                await self._apply_fault(plan)
            if self._is_cutting:
                self._writer.write(data[: len(data) // 2])
                raise _Closed
            self._writer.write(data)
            await self._writer.drain()
        self._writer.write_eof()

    def _count_arrival(self, data: bytes) -> Plan | None:
        before = self._counted
        self._counted, plan = self._tunnel.count_data(before, data)
        if self._counted is not before:
            self._parts = 0
            self._moved_on.set()
        return plan

    async def _apply_fault(self, plan: Plan) -> None:
        """Apply a planned fault to an answer that has begun. A planned delay ends early if the client sends more."""
        plan.on_wire, plan.hints_ms = True, ()
        self._moved_on.clear()
        ends = [asyncio.ensure_future(plan.wait()), asyncio.ensure_future(self._moved_on.wait())]
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in ends:
                each.cancel()
            await asyncio.gather(*ends, return_exceptions=True)
        if plan.kind not in ("slow", "hang"):
            await self._break_off(plan)

    async def _break_off(self, plan: Plan) -> None:
        """End the connection as planned, or note that the next bytes of the answer must be cut."""
        if plan.kind == "gateway_timeout" and plan.form not in CUT_FORMS:
            await asyncio.sleep(SILENT_S)
            raise _Closed
        self._is_cutting = plan.form in CUT_FORMS
        if not self._is_cutting:
            raise ConnectionResetError

    async def _carry_out(self, plan: Plan, data: bytes) -> bytes:
        """Apply a planned fault to a request. Return the bytes to send, including bytes that arrived during a planned
        delay.

        The provider hangs only until the next call uses the connection. Then any plan of that call is carried out.
        """
        plan.on_wire, plan.hints_ms, call = True, (), self._counted  # a tunnel cannot add a hint
        waiting = asyncio.ensure_future(plan.wait())
        try:
            while not waiting.done():
                more = await self._read_while(waiting)
                data, other = data + more, self._count_arrival(more) if more else None
                if self._counted is not call:
                    return data if other is None else await self._carry_out(other, data)
        finally:
            waiting.cancel()
        if plan.kind != "slow":
            await self._break_off(plan)
        return data

    async def _read_while(self, waiting: asyncio.Future[None]) -> bytes:
        """Return the bytes that the client sends during a wait. Raises ConnectionResetError if the client leaves."""
        reading = asyncio.ensure_future(self._reader.read(SIZE))
        try:
            both: list[asyncio.Future[Any]] = [waiting, reading]
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            if reading.done() and not reading.result():
                raise ConnectionResetError
            return reading.result() if reading.done() else b""
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
