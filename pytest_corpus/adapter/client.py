"""The adapter under test: opened once, called over the wire, recorded, closed in every case."""

from __future__ import annotations

import concurrent.futures
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_corpus.adapter import calls, inputs
from pytest_corpus.adapter.calls import Recording
from pytest_corpus.adapter.event_loop.closing import ClosingBudget, lasting, left_behind
from pytest_corpus.adapter.event_loop.loop import STOP_S, LoopThread, TimeLimit
from pytest_corpus.adapter.exceptions import DeclarationError, WriteForbidden
from pytest_corpus.adapter.exchange import CallFault, Exchange, is_stream
from pytest_corpus.adapter.hooks.late_reports import LateReports
from pytest_corpus.adapter.hooks.logs import LogTap
from pytest_corpus.adapter.hooks.metrics import RecordingSink
from pytest_corpus.adapter.hooks.provider import Plan, ProviderProbe
from pytest_corpus.adapter.opening import factory as factories
from pytest_corpus.adapter.opening.remote import RemoteAdapter
from pytest_corpus.adapter.transports.protocol import SETTLE_S
from pytest_corpus.adapter.transports.raw import RawAnswer, RawRequest
from pytest_corpus.adapter.usage import Meter
from pytest_corpus.spec.components import COMPONENTS
from pytest_corpus.spec.operations import BY_OP


@dataclass(frozen=True, slots=True)
class Declaration:
    """An adapter as the user declared it: a name for reports, the factory, how it was written, where it runs.

    `startup_s` is how much longer than a call an adapter elsewhere may take to be there.
    """

    label: str
    factory: Callable[..., Any]
    declared: str
    in_process: bool = True
    startup_s: float = 0.0


HOOKS = frozenset({"metrics", "provider"})


class AdapterClient:
    """Calls one instance of the adapter. Every call is recorded in `exchanges` until `forget` is called.

    An instance that is given a `loop` lives in it, and leaves it running when it is closed. `generation` counts
    how often it was opened: what an adapter keeps in memory is gone with the generation.
    """

    def __init__(
        self,
        declaration: Declaration,
        call_timeout: float = 30.0,
        *,
        metrics: RecordingSink | None = None,
        late: LateReports | None = None,
        provider: ProviderProbe | None = None,
        loop: LoopThread | None = None,
        read_only: bool = False,
        closing: ClosingBudget | None = None,
        meter: Meter | None = None,
        is_fresh: bool = False,
        recorder: calls.CallRecorder | None = None,
    ) -> None:
        self.declaration, self.call_timeout, self.read_only = declaration, call_timeout, read_only
        self.closing, self.is_fresh = closing or ClosingBudget(), is_fresh
        self.exchanges: list[Exchange] = []
        self.recorder = recorder
        self.generation = 0
        self.metrics = metrics or RecordingSink()
        self.late = late or LateReports(self.metrics)
        self.provider = provider or ProviderProbe()
        self.meter = meter or Meter()
        self.asked = factories.asked_for(declaration.factory, declaration.declared)
        self._opened = factories.Opened()
        self._loop: LoopThread | None = None
        self._lent = loop
        self._timeouts = calls.Timeouts()
        self._abandoned = 0
        self._threads_before = lasting()

    def open(self, components: tuple[str, ...] = COMPONENTS) -> AdapterClient:
        """Call the factory: once, or once for each of `components` where it asks for `component`.

        Raises:
            DeclarationError: the factory raises, takes longer than the call limit, or returns no adapter.
        """
        self._loop = self._lent or LoopThread(f"corpus-{self.declaration.label}")
        self._opened = factories.Opened()
        self.generation += 1
        hooks = {"metrics": self.metrics, "provider": self.provider}
        wanted = {name: hook for name, hook in hooks.items() if name in self.asked}
        try:
            if "component" in self.asked:
                self._open_each(wanted, components)
            else:
                self._open_one(wanted)
        except DeclarationError:
            self.close()
            raise
        return self

    def _open_one(self, keywords: Mapping[str, Any]) -> None:
        assert self._loop is not None
        declared = self.declaration.declared
        work = factories.open_factory(self.declaration.factory, keywords, self.metrics, declared, self._opened)
        limit = self.call_timeout + self.declaration.startup_s
        factories.within_limit(self._loop, work, limit, declared)

    def _open_each(self, keywords: Mapping[str, Any], components: tuple[str, ...]) -> None:
        refused: list[DeclarationError] = []
        for component in components:
            try:
                self._open_one({**keywords, "component": component})
            except DeclarationError as error:
                refused.append(error)
        if not self._opened.transports:
            raise refused[0]

    def fresh(self) -> AdapterClient:
        """Return another open instance from the same factory, for tests that would leave traces in this one.

        It shares the hooks and the loop of this one: what an adapter's module holds for all instances (a client
        session, a lock) is bound to one loop. If the factory returns the same object again, or the adapter runs
        outside this process, the result is this client.
        """
        if self.remote is not None:
            return self
        shared = {"metrics": self.metrics, "late": self.late, "provider": self.provider, "meter": self.meter}
        other = self._another(self.call_timeout, **shared)
        if not inputs.read("same instance", lambda: other._is_copy_of(self)):
            return other
        other.close()
        return self

    def second_instance(self, call_timeout: float | None = None) -> AdapterClient:
        """Return another instance for calls outside of tests: in the same loop, with hooks and a record of its own."""
        return self._another(call_timeout or self.call_timeout)

    def _another(self, call_timeout: float, **shared: Any) -> AdapterClient:
        """Open another instance in this loop; objects that it shares with this one are closed with this one only."""
        other = AdapterClient(
            self.declaration,
            call_timeout,
            loop=self._loop if self._loop and not self._loop.blocked else None,
            read_only=self.read_only,
            closing=self.closing,
            is_fresh=True,
            recorder=self.recorder,
            **shared,
        ).open(tuple(self._opened.transports) or COMPONENTS)
        if other._is_copy_of(self):
            other._opened.closers.clear()
        return other

    def _is_copy_of(self, other: AdapterClient) -> bool:
        """Return if the factory returned an object for both."""
        return any(part is own for part in self._opened.parts for own in other._opened.parts)

    def close(self) -> list[str]:
        """Close the adapter and end its loop; what closing raised and left behind, for a warning."""
        loop, self._loop = self._loop, None
        if loop is None:
            return []
        started = time.monotonic()
        if self.is_fresh:
            self._leave(loop)
            return []
        try:
            said = loop.finish(self._opened.close(), self.closing.limit(last=True))
            left = left_behind(loop.stop(), self._abandoned, self._threads_before)
        finally:
            self.provider.close()
            self.closing.spend(time.monotonic() - started)
        behind = [f"closing left behind {', '.join(left)}"] if left else []
        return [*said, *self.closing.said(self.declaration.label), *behind]

    def _leave(self, loop: LoopThread) -> None:
        """Close a fresh instance, and the loop that it has for itself."""
        started, own = time.monotonic(), loop is not self._lent
        try:
            if self._opened.closers and not loop.blocked and self.closing.admits(self.declaration.label):
                self._close_within(loop, self.closing.limit(last=False))
            if own:
                loop.stop(min(STOP_S, max(0.1, self.closing.limit(last=False))))
        finally:
            self.closing.spend(time.monotonic() - started)

    def _close_within(self, loop: LoopThread, limit: float) -> None:
        """Close what was opened, concurrently with the tests if no time is left to wait for it."""
        if limit <= 0:
            loop.begin(self._opened.close())
            return
        try:
            loop.run(self._opened.close(), limit)
        except TimeLimit:
            self.closing.hang(self.declaration.label)
        except concurrent.futures.CancelledError:
            return

    def _replace_loop(self) -> None:
        """Leave a blocked loop behind and open the adapter anew in another."""
        self._abandoned += 1
        self._loop = self._lent = None
        self.open(tuple(self._opened.transports) or COMPONENTS)

    @property
    def hooks(self) -> frozenset[str]:
        """The hooks, `metrics` and `provider`, that the factory asks for; of a remote adapter, those that it called."""
        if self.remote is not None:
            return frozenset(self.remote.hooks.called)
        return HOOKS.intersection((*self.asked, "metrics") if self._opened.metrics_attached else self.asked)

    @property
    def hears_logs(self) -> bool:
        """True if log records of the adapter can be heard: those of this process can, and standard error (R74)."""
        return self.declaration.in_process if self.remote is None else self.remote.hears_logs

    @property
    def remote(self) -> RemoteAdapter | None:
        """The adapter where it runs outside this process and is open."""
        return self._opened.remote

    def serves(self, component: str) -> bool:
        """True if there is a handler that a component's operations can be sent to."""
        return self._opened.serves(component)

    def names(self, component: str) -> bool:
        """True if the factory said that what it made is of this component."""
        return component in self._opened.transports

    def streams(self, component: str) -> bool:
        """True if a component has a streaming entry point."""
        return self._opened.transport(component).streams

    def forget(self) -> None:
        """Drop the recorded exchanges and what was planned at the provider."""
        self.exchanges.clear()
        if self.recorder is None:
            self.provider.take_arrivals()
        self.provider.clear(handed_on=True)
        self.late.forget()

    def send(
        self,
        request: Any,
        component: str,
        *,
        streaming: bool = False,
        limit_s: float | None = None,
        secrets: Mapping[str, str] | None = None,
        debug_logs: bool = False,
    ) -> Exchange:
        """Send one request, whatever it is, and record everything that can be observed of the call.

        Raises:
            Unresponsive: the operation ran into the time limit too often before.
            WriteForbidden: the operation writes, and the client only reads.
            BudgetSpent: the run may make no more calls.
        """
        exchange = Exchange(request, streaming, secrets=dict(secrets or {}), component=component)
        self._check_write(exchange)
        self._check_timeouts(exchange.op)
        plans, recording, started = tuple(self.provider.plans), self._begin([exchange]), time.monotonic()
        limit = self.call_timeout if limit_s is None else min(limit_s, self.call_timeout)
        exchange.limited = limit < self.call_timeout
        with LogTap(debug_logs) as tap:
            self._carry_out(exchange, limit)
        exchange.elapsed_s = time.monotonic() - started
        self._end([exchange], recording, component)
        exchange.logs, exchange.debug_logs = tuple(tap.texts), tuple(tap.debug_texts)
        exchange.log_sources, exchange.debug_sources = tuple(tap.sources), tuple(tap.debug_sources)
        if self.remote is not None:
            if exchange.secrets and self.hears_logs:
                time.sleep(SETTLE_S)
            exchange.logs, exchange.headers = self.remote.side_channel.take()
        recording.complete(exchange)
        self.exchanges.append(exchange)
        if self.recorder is not None:
            self.recorder.sent(exchange, self._around(plans))
        return exchange

    def send_all(self, requests: Sequence[Any], component: str, clients: Sequence[int] = ()) -> list[Exchange]:
        """Send requests concurrently; they are not in `exchanges`, and none has telemetry of its own.

        Args:
            clients: the client of each request: those of one client are sent one after the other.

        Raises:
            Unresponsive: they do not all end within the call limit.
            WriteForbidden: one of them writes, and the client only reads.
            BudgetSpent: the run may not make that many calls.
        """
        assert self._loop is not None, "the adapter is not open"
        exchanges = [Exchange(request, streaming=is_stream(request)) for request in requests]
        for exchange in exchanges:
            self._check_write(exchange)
        plans, recording = tuple(self.provider.plans), self._begin(exchanges)
        lanes: dict[int, list[Exchange]] = {}
        for client, exchange in zip(clients or range(len(exchanges)), exchanges, strict=True):
            lanes.setdefault(client, []).append(exchange)
        try:
            self._loop.run(calls.call_all(self._opened.transport(component), lanes.values()), self.call_timeout)
        except TimeLimit as late:
            if not late.ended:
                raise calls.unresponsive(exchanges[0].op, self.recorder) from None
            calls.mark(exchanges, calls.too_late(late, self.call_timeout))
        except concurrent.futures.CancelledError:
            calls.mark(exchanges, CallFault("raised", "CancelledError"))
        self._end(exchanges, recording, component)
        if self.recorder is not None:
            self.recorder.sent_together(exchanges, component, self._around(plans))
        return exchanges

    def raw_call(self, request: RawRequest, component: str) -> RawAnswer:
        """Send a request of a transport test unchanged, and return everything that came back within the call limit.

        Raises:
            BudgetSpent: the run may make no more calls.
            Unresponsive: calls of the operation ran into the time limit too often before.
        """
        assert self._loop is not None, "the adapter is not open"
        assert self.remote is not None, "the adapter runs in this process"
        answer, exchange = RawAnswer(), Exchange(request.envelope, request.streaming)
        self._check_timeouts(exchange.op)
        plans, recording = tuple(self.provider.plans), self._begin([exchange])
        try:
            self._loop.run(self.remote.transport.raw(request, answer), self.call_timeout)
        except TimeLimit as late:
            self._timeouts.add(exchange.op)
            answer.fault = calls.too_late(late, self.call_timeout)
        self._end([exchange], recording, component)
        if self.recorder is not None:
            self.recorder.sent_raw(request, answer, component, self._around(plans))
        return answer

    def _check_write(self, exchange: Exchange) -> None:
        operation = BY_OP.get(exchange.op.strip().lower())
        if self.read_only and operation is not None and operation.mutating:
            raise WriteForbidden(exchange.op)

    def _check_timeouts(self, op: str) -> None:
        self._timeouts.check(op, remote=self.remote is not None, recorder=self.recorder)

    def _around(self, plans: tuple[Plan, ...]) -> calls.Circumstances:
        called = frozenset(self.remote.hooks.called if self.remote is not None else ())
        return calls.Circumstances(plans, self.provider.take_arrivals(), self.generation, called)

    def _begin(self, exchanges: Sequence[Exchange]) -> Recording:
        """Take calls from the budget; what earlier calls do at the provider no longer counts."""
        self.meter.spending.admit(len(exchanges))
        self.provider.under_way = exchanges[0].op if exchanges else None
        return Recording(self.late, self.provider, self.remote.hooks.turn() if self.remote is not None else None)

    def _end(self, exchanges: Sequence[Exchange], recording: Recording, component: str) -> None:
        # An adapter elsewhere may report late that it observes at all.
        observes = self.remote is not None or self._opened.metrics_attached or "metrics" in self.asked
        recording.end(exchanges, observes=observes)
        self.meter.note(component, exchanges)

    def _carry_out(self, exchange: Exchange, limit: float) -> None:
        assert self._loop is not None, "the adapter is not open"
        if self._loop.blocked:
            ended, blamed = self._loop.ended, self._loop.blamed
            self._replace_loop()
            if ended and not blamed:
                exchange.fault = calls.too_late(TimeLimit(blocked=True, ended=ended), limit)
                return
        # What a call that was given up does later must not change the record of it.
        seen = Exchange(exchange.request, exchange.streaming, reports=exchange.reports, component=exchange.component)
        seen.limited, seen.until = exchange.limited, time.monotonic() + limit
        try:
            exchange.fault = self._fault_of(seen, limit)
        finally:
            exchange.frames, exchange.started = list(seen.frames), seen.started
            self._timeouts.has_answered |= bool(seen.frames)
            if not seen.streaming and seen.fault is not None and seen.fault.kind == "cut_off":
                self._timeouts.add(seen.op)

    def _fault_of(self, seen: Exchange, limit: float) -> CallFault | None:
        """Make the call of an exchange, and return why it has no complete answer, if so."""
        assert self._loop is not None, "the adapter is not open"
        try:
            self._loop.run(calls.call(self._opened.transport(seen.component), seen), limit)
        except concurrent.futures.CancelledError:
            return CallFault("raised", "CancelledError")
        except TimeLimit as late:
            is_moving = not seen.limited and calls.moves(seen, limit)
            if not seen.limited:
                self._timeouts.add(seen.op, moving=is_moving)
            if late.blocked:
                self._loop.blamed = True
                self._replace_loop()
                return calls.too_late(late, limit)
            return calls.cut_off(seen) if is_moving else seen.fault or calls.too_late(late, limit)
        return seen.fault
