"""The adapter under test: opened once, called over the wire, recorded, closed in every case."""

from __future__ import annotations

import concurrent.futures
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_corpus.adapter.calls import call, call_all, cut_off, mark, moves, too_late
from pytest_corpus.adapter.event_loop.closing import ClosingBudget, lasting, left_behind
from pytest_corpus.adapter.event_loop.loop import STOP_S, LoopThread, TimeLimit
from pytest_corpus.adapter.exceptions import DeclarationError, Unresponsive, WriteForbidden
from pytest_corpus.adapter.exchange import CallFault, Exchange, is_observed
from pytest_corpus.adapter.hooks.logs import LogTap
from pytest_corpus.adapter.hooks.metrics import Observation, RecordingSink
from pytest_corpus.adapter.hooks.provider import ProviderProbe
from pytest_corpus.adapter.opening import factory as factories
from pytest_corpus.adapter.opening.remote import RemoteAdapter
from pytest_corpus.adapter.side_channel import SETTLE_S
from pytest_corpus.adapter.usage.meter import Meter
from pytest_corpus.spec.components import COMPONENTS
from pytest_corpus.spec.operations import BY_OP

PATIENCE, MAX_SILENT = 2, 2
"""Calls of one operation that may run into the time limit before it is not called any more, and calls of any operation
where an adapter outside this process has never answered anything."""


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
        provider: ProviderProbe | None = None,
        loop: LoopThread | None = None,
        read_only: bool = False,
        closing: ClosingBudget | None = None,
        meter: Meter | None = None,
        is_fresh: bool = False,
    ) -> None:
        self.declaration, self.call_timeout, self.read_only = declaration, call_timeout, read_only
        self.closing, self.is_fresh = closing or ClosingBudget(), is_fresh
        self.exchanges: list[Exchange] = []
        self.concurrent_observations: tuple[Observation, ...] = ()
        self.generation = 0
        self.metrics = metrics or RecordingSink()
        self.provider = provider or ProviderProbe()
        self.meter = meter or Meter()
        self.asked = factories.asked_for(declaration.factory, declaration.declared)
        self._opened = factories.Opened()
        self._loop: LoopThread | None = None
        self._lent = loop
        self._late: Counter[str] = Counter()
        self._moving: set[str] = set()
        self._abandoned = 0
        self._answered = False
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
        try:
            self._loop.run(work, limit)
        except TimeLimit as late:
            fault = f"raises {late.ended}" if late.ended else f"takes longer than {limit:g} s"
            raise DeclarationError(declared, f"the factory {fault}") from None
        except concurrent.futures.CancelledError:
            raise DeclarationError(declared, "the factory raises CancelledError") from None

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
        """Another instance from the same factory, opened: for tests that would leave traces in this one.

        It shares the hooks and the loop of this one: what an adapter's module holds for all instances (a client
        session, a lock) is bound to one loop. Where the factory hands out one and the same object, so does this, and
        so it does where the adapter runs outside this process.
        """
        if self.remote is not None:
            return self
        loop = self._loop if self._loop and not self._loop.blocked else None
        other = AdapterClient(
            self.declaration,
            self.call_timeout,
            metrics=self.metrics,
            provider=self.provider,
            loop=loop,
            read_only=self.read_only,
            closing=self.closing,
            meter=self.meter,
            is_fresh=True,
        ).open(tuple(self._opened.transports) or COMPONENTS)
        if not any(part is own for part in other._opened.parts for own in self._opened.parts):
            return other
        other._opened.closers.clear()
        other.close()
        return self

    def second_instance(self, call_timeout: float | None = None) -> AdapterClient:
        """Another instance for calls that are no test's: in the same loop, with hooks and a record of its own."""
        other = AdapterClient(
            self.declaration,
            call_timeout or self.call_timeout,
            loop=self._loop if self._loop and not self._loop.blocked else None,
            read_only=self.read_only,
            closing=self.closing,
            is_fresh=True,
        ).open(tuple(self._opened.transports) or COMPONENTS)
        if any(part is own for part in other._opened.parts for own in self._opened.parts):
            other._opened.closers.clear()
        return other

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
        """Close what was opened; beside the tests where no time is left to wait for it."""
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
        """Which of `metrics` and `provider` the adapter uses, as far as its factory tells; elsewhere, has used."""
        if self.remote is not None:
            return frozenset(self.remote.hooks.called)
        found = {name for name in ("metrics", "provider") if name in self.asked}
        return frozenset(found | ({"metrics"} if self._opened.metrics_attached else set()))

    @property
    def hears_logs(self) -> bool:
        """Whether log records of the adapter can be heard: those of this process can, and standard error (R74)."""
        return self.declaration.in_process if self.remote is None else self.remote.hears_logs

    @property
    def remote(self) -> RemoteAdapter | None:
        """The adapter where it runs outside this process and is open."""
        return self._opened.remote

    def serves(self, component: str) -> bool:
        """Whether there is a handler that a component's operations can be sent to."""
        return self._opened.serves(component)

    def names(self, component: str) -> bool:
        """Whether the factory said that what it made is of this component."""
        return component in self._opened.transports

    def streams(self, component: str) -> bool:
        """Whether a component has a streaming entry point at all."""
        return self._opened.transport(component).streams

    def forget(self) -> None:
        """Drop the recorded exchanges and what was planned at the provider."""
        self.exchanges.clear()
        self.provider.forget()
        self.metrics.observations.clear()
        self.metrics.counts.clear()

    # -- calls -----------------------------------------------------------------------------------------

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
        """Send one request, whatever it is, and record all that is seen of it.

        Raises:
            Unresponsive: the operation ran into the time limit too often before.
            WriteForbidden: the operation writes, and the client only reads.
            BudgetSpent: the run may make no more calls.
        """
        exchange = Exchange(request, streaming, secrets=dict(secrets or {}), debug_logs=debug_logs, component=component)
        self._admit(exchange)
        self._await_no_longer(exchange.op)
        self.meter.spending.admit(1)
        self._turn()
        observed, counted = len(self.metrics.observations), len(self.metrics.counts)
        reached, started = self.provider.calls(), time.monotonic()
        struck, handed = len(self.provider.struck), len(self.provider.handed_on)
        limit = self.call_timeout if limit_s is None else min(limit_s, self.call_timeout)
        exchange.limited = limit < self.call_timeout
        with LogTap(debug_logs) as tap:
            self._carry_out(exchange, component, limit)
        exchange.elapsed_s = time.monotonic() - started
        self._await_reports([exchange], observed, counted)
        exchange.observations = tuple(self.metrics.observations[observed:])
        exchange.counts = tuple(self.metrics.counts[counted:])
        exchange.logs = tuple(tap.texts)
        if self.remote is not None:
            if exchange.secrets and self.hears_logs:
                time.sleep(SETTLE_S)
            exchange.logs, exchange.headers = self.remote.side_channel.take()
        exchange.reached_provider = self.provider.calls() - reached
        exchange.faults, exchange.hints_ms = self.provider.struck_since(struck)
        exchange.handed_on = tuple(self.provider.handed_on[handed:])
        canaries = {f"provider text {number}": text for number, text in enumerate(self.provider.canaries)}
        exchange.secrets = {**exchange.secrets, **canaries}
        self.exchanges.append(exchange)
        self.meter.note(component, [exchange])
        return exchange

    def send_all(self, requests: Sequence[Any], component: str) -> list[Exchange]:
        """Send unary requests all at once; nothing is kept in `exchanges`.

        Observations cannot be attributed to one of the requests; `concurrent_observations` has those of the last call.

        Raises:
            Unresponsive: they do not all end within the call limit.
            WriteForbidden: one of them writes, and the client only reads.
            BudgetSpent: the run may not make so many calls.
        """
        assert self._loop is not None, "the adapter is not open"
        exchanges = [Exchange(request, streaming=False) for request in requests]
        for exchange in exchanges:
            self._admit(exchange)
        self.meter.spending.admit(len(exchanges))
        self._turn()
        observed, counted = len(self.metrics.observations), len(self.metrics.counts)
        try:
            self._loop.run(call_all(self._opened.transport(component), exchanges), self.call_timeout)
        except TimeLimit as late:
            if not late.ended:
                raise Unresponsive(exchanges[0].op) from None
            mark(exchanges, too_late(late, self.call_timeout))
        except concurrent.futures.CancelledError:
            mark(exchanges, CallFault("raised", "CancelledError"))
        self._await_reports(exchanges, observed, counted)
        self.concurrent_observations = tuple(self.metrics.observations[observed:])
        self.meter.note(component, exchanges)
        return exchanges

    def carry_out(self, work: Callable[[], Coroutine[Any, Any, None]], op: str) -> CallFault | None:
        """Carry out one call in the adapter's loop that is no exchange; why it did not come to its end, if so."""
        assert self._loop is not None, "the adapter is not open"
        self._await_no_longer(op)
        self.meter.spending.admit(1)
        self._turn()
        try:
            self._loop.run(work(), self.call_timeout)
        except TimeLimit as late:
            self._late[op] += 1
            return too_late(late, self.call_timeout)
        return None

    def _await_reports(self, exchanges: Sequence[Exchange], observed: int, counted: int) -> None:
        if "metrics" not in self.hooks:
            return
        due = [exchange for exchange in exchanges if is_observed(exchange)]
        streams = sum(exchange.streaming for exchange in due)
        self.metrics.wait(observed, counted, calls=len(due), streams=streams)

    def _turn(self) -> None:
        """A call begins: what is still reported of those before belongs to none."""
        if self.remote is not None:
            self.remote.hooks.turn()

    def _await_no_longer(self, op: str) -> None:
        is_silent = self.remote is not None and not self._answered and sum(self._late.values()) >= MAX_SILENT
        if self._late[op] >= PATIENCE or is_silent:
            raise Unresponsive(op, moving=op in self._moving)

    def _admit(self, exchange: Exchange) -> None:
        operation = BY_OP.get(exchange.op.strip().lower())
        if self.read_only and operation is not None and operation.mutating:
            raise WriteForbidden(exchange.op)

    def _carry_out(self, exchange: Exchange, component: str, limit: float) -> None:
        assert self._loop is not None, "the adapter is not open"
        if self._loop.blocked:
            ended, blamed = self._loop.ended, self._loop.blamed
            self._replace_loop()
            if ended and not blamed:
                exchange.fault = too_late(TimeLimit(blocked=True, ended=ended), limit)
                return
        # What a call that was given up does later must not change the record of it.
        seen = Exchange(exchange.request, exchange.streaming, until=time.monotonic() + limit)
        try:
            self._loop.run(call(self._opened.transport(component), seen), limit)
            exchange.fault = seen.fault
        except concurrent.futures.CancelledError:
            exchange.fault = CallFault("raised", "CancelledError")
        except TimeLimit as late:
            exchange.fault = seen.fault or too_late(late, limit)
            if not exchange.limited:
                self._late[exchange.op] += 1
                if moves(seen, limit):
                    exchange.fault = cut_off(seen)
                    self._moving.add(exchange.op)
            if late.blocked:
                exchange.fault = too_late(late, limit)
                self._loop.blamed = True
                self._replace_loop()
        finally:
            exchange.frames = list(seen.frames)
            self._answered = self._answered or bool(seen.frames)
            if not exchange.streaming and seen.fault is not None and seen.fault.kind == "cut_off":
                self._late[exchange.op] += 1
