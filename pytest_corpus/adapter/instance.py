"""An instance of the adapter under test. Its factory opens it, its event loop calls it, and it is always closed."""

from __future__ import annotations

import concurrent.futures
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from pytest_corpus.adapter import calls
from pytest_corpus.adapter.calls import CallBatch, expect_reports
from pytest_corpus.adapter.event_loop.closing import ClosingBudget, name_leftovers, threads_that_delay_exit
from pytest_corpus.adapter.event_loop.loop import STOP_S, LoopThread, TimeLimit
from pytest_corpus.adapter.exceptions import DeclarationError, Unresponsive
from pytest_corpus.adapter.exchange import CallFault, Exchange
from pytest_corpus.adapter.hooks.late_reports import LateReports
from pytest_corpus.adapter.hooks.logs import LogTap
from pytest_corpus.adapter.hooks.metrics import RecordingSink
from pytest_corpus.adapter.hooks.provider import ProviderProbe
from pytest_corpus.adapter.opening import factory as factories
from pytest_corpus.adapter.opening.remote import RemoteAdapter
from pytest_corpus.adapter.scope import call_scope
from pytest_corpus.adapter.transports.protocol import SETTLE_S
from pytest_corpus.adapter.turns import giving_way, is_in_flight, lost_s
from pytest_corpus.spec.components import COMPONENTS

HOOKS = frozenset({"metrics", "provider"})

MOST_OF_ONE_OPERATION = 2
"""An operation with this number of timeouts is not called again."""

MOST_WITHOUT_ANSWER = 2
"""If a remote adapter never answered, it is not called again after this number of timeouts, in any operations."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """An adapter as the user declared it.

    Attributes:
        label: the name in reports.
        factory: the function that opens it.
        declared: the declaration as it was written.
        in_process: True if it runs in this process.
        startup_s: the additional time that a remote adapter may take to start.
    """

    label: str
    factory: Callable[..., Any]
    declared: str
    in_process: bool = True
    startup_s: float = 0.0


class InstanceHooks:
    """The hooks that instances of an adapter share, and the assignment of reports to calls."""

    def __init__(self, metrics: RecordingSink | None = None, provider: ProviderProbe | None = None) -> None:
        self.metrics, self.provider = metrics or RecordingSink(), provider or ProviderProbe()
        self.attribution = self.provider.attribution = self.metrics.attribution
        self.late_reports = LateReports(self.attribution)


class Instance(Protocol):
    """An object that answers calls: an adapter, or the transcript of one.

    Attributes:
        generation: the number of openings. An adapter's memory is lost with each new generation.
    """

    generation: int

    def open(self, components: tuple[str, ...]) -> None: ...

    def new_instance(self, hooks: InstanceHooks, call_timeout: float) -> Instance: ...

    def is_copy_of(self, other: Any) -> bool: ...

    def close(self) -> list[str]: ...

    def answer(self, batch: CallBatch) -> None:
        """Send calls to the adapter, and note everything that is observed of them.

        Raises:
            Unresponsive: the operation exceeded the time limit too often, or concurrent calls do not end.
        """

    @property
    def accepted_hooks(self) -> tuple[str, ...]: ...

    @property
    def hooks(self) -> frozenset[str]: ...

    @property
    def hears_logs(self) -> bool: ...

    @property
    def remote(self) -> RemoteAdapter | None: ...

    def has_handler(self, component: str) -> bool: ...

    def has_named_handler(self, component: str) -> bool: ...

    def has_stream(self, component: str) -> bool: ...


class AdapterInstance:
    """An adapter that was opened by its factory.

    If a `loop` was given, closing the instance leaves the loop running. An instance that `is_fresh` is closed while
    other instances are still called.
    """

    def __init__(
        self,
        declaration: Declaration,
        call_timeout: float,
        hooks: InstanceHooks,
        closing: ClosingBudget,
        *,
        loop: LoopThread | None = None,
        is_fresh: bool = False,
    ) -> None:
        self.declaration, self.call_timeout, self._hooks, self.closing = declaration, call_timeout, hooks, closing
        self.is_fresh = is_fresh
        self.generation = 0
        self.accepted_hooks = factories.accepted_hooks(declaration.factory, declaration.declared)
        self._opened = factories.OpenedAdapter()
        self._loop: LoopThread | None = None
        self._lent = loop
        self._timeouts = Timeouts()
        self._abandoned = 0
        self._threads_before = threads_that_delay_exit()

    # -- opening and closing -----------------------------------------------------------------------------

    def open(self, components: tuple[str, ...]) -> None:
        """Call the factory once, or once for each of `components` if the factory takes `component`.

        Raises:
            DeclarationError: the factory raises, takes longer than the call limit, or returns no adapter.
        """
        self._loop = self._lent or LoopThread(f"corpus-{self.declaration.label}")
        self._opened = factories.OpenedAdapter()
        self.generation += 1
        hooks = {"metrics": self._hooks.metrics, "provider": self._hooks.provider}
        wanted = {name: hook for name, hook in hooks.items() if name in self.accepted_hooks}
        try:
            if "component" in self.accepted_hooks:
                self._open_each(wanted, components)
            else:
                self._open_one(wanted)
        except DeclarationError:
            self.close()
            raise

    def _open_one(self, keywords: Mapping[str, Any]) -> None:
        assert self._loop is not None
        declared, sink = self.declaration.declared, self._hooks.metrics
        work = factories.open_factory(self.declaration.factory, keywords, sink, declared, self._opened)
        factories.run_within_limit(self._loop, work, self.call_timeout + self.declaration.startup_s, declared)

    def _open_each(self, keywords: Mapping[str, Any], components: tuple[str, ...]) -> None:
        refused: list[DeclarationError] = []
        for component in components:
            try:
                self._open_one({**keywords, "component": component})
            except DeclarationError as error:
                refused.append(error)
        if not self._opened.transports:
            raise refused[0]

    def new_instance(self, hooks: InstanceHooks, call_timeout: float) -> AdapterInstance:
        """Open another instance in the same loop. If the factory returns the same object again, only the older instance
        closes it.

        The loop is the same, because objects of the adapter's module (a client session, a lock) are bound to one loop.
        """
        loop = self._loop if self._loop and not self._loop.blocked else None
        other = AdapterInstance(self.declaration, call_timeout, hooks, self.closing, loop=loop, is_fresh=True)
        other.open(tuple(self._opened.transports) or COMPONENTS)
        if other.is_copy_of(self):
            other._opened.closers.clear()
        return other

    def is_copy_of(self, other: Any) -> bool:
        """True if the factory returned the same object for both instances."""
        return any(part is own for part in self._opened.parts for own in other._opened.parts)

    def close(self) -> list[str]:
        """Close the adapter and end its loop; return exceptions of closing and leftovers, for a warning."""
        loop, self._loop = self._loop, None
        if loop is None:
            return []
        started = time.monotonic()
        if self.is_fresh:
            self._close_fresh(loop)
            return []
        try:
            said = loop.finish(self._opened.close(), self.closing.allot_seconds(last=True))
            left = name_leftovers(loop.stop(), self._abandoned, self._threads_before)
        finally:
            self._hooks.provider.close()
            self.closing.spend(time.monotonic() - started)
        behind = [f"closing left behind {', '.join(left)}"] if left else []
        return [*said, *self.closing.describe_failures(self.declaration.label), *behind]

    def _close_fresh(self, loop: LoopThread) -> None:
        """Close a fresh instance, and its own loop if it has one."""
        started, own = time.monotonic(), loop is not self._lent
        try:
            if self._opened.closers and not loop.blocked and self.closing.may_close(self.declaration.label):
                self._close_within(loop, self.closing.allot_seconds(last=False))
            if own:
                loop.stop(min(STOP_S, max(0.1, self.closing.allot_seconds(last=False))))
        finally:
            self.closing.spend(time.monotonic() - started)

    def _close_within(self, loop: LoopThread, limit: float) -> None:
        """Close the opened objects, concurrently with the tests if there is no time left to wait."""
        if limit <= 0:
            loop.begin(self._opened.close())
            return
        try:
            loop.run(self._opened.close(), limit)
        except TimeLimit:
            self.closing.note_hanging(self.declaration.label)
        except concurrent.futures.CancelledError:
            return

    def _replace_loop(self) -> None:
        """Abandon a blocked loop and open the adapter again in a new loop."""
        self._abandoned += 1
        self._loop = self._lent = None
        self.open(tuple(self._opened.transports) or COMPONENTS)

    # -- what is known of it -----------------------------------------------------------------------------

    @property
    def hooks(self) -> frozenset[str]:
        """The hooks, `metrics` and `provider`, that the factory takes, or that a remote adapter called."""
        if self.remote is not None:
            return frozenset(self.remote.hooks.called_hooks)
        return HOOKS.intersection(
            (*self.accepted_hooks, "metrics") if self._opened.metrics_attached else self.accepted_hooks
        )

    @property
    def hears_logs(self) -> bool:
        """True if the suite can read the adapter's log: in this process, or on standard error (R74)."""
        return self.declaration.in_process if self.remote is None else self.remote.hears_logs

    @property
    def remote(self) -> RemoteAdapter | None:
        """The open adapter outside this process; None if it runs in this process or is not open."""
        return self._opened.remote

    def has_handler(self, component: str) -> bool:
        """True if there is a handler for the operations of a component."""
        return self._opened.has_handler(component)

    def has_named_handler(self, component: str) -> bool:
        """True if the factory returned a handler for this component by name."""
        return component in self._opened.transports

    def has_stream(self, component: str) -> bool:
        """True if a component has a streaming entry point."""
        return self._opened.transport(component).streams

    # -- calls -------------------------------------------------------------------------------------------

    def answer(self, batch: CallBatch) -> None:
        """Call the adapter, and wait for its reports as long as necessary."""
        if batch.clients is None:
            self._timeouts.check(batch.exchanges[0].op, remote=self.remote is not None)
        call = self._call_once if batch.clients is None else self._call_together
        try:
            (self._call_raw if batch.raw is not None else call)(batch)
        finally:
            ended = time.monotonic()
            for exchange in batch.exchanges:
                fault = exchange.fault
                exchange.observed.end(ended, is_given_up=fault is not None and fault.kind in ("timeout", "cut_off"))
        # A remote adapter shows only by its first report that it observes.
        expect_reports(batch, observes=self.remote is not None or "metrics" in self.hooks)
        for exchange in batch.exchanges:
            hints = (hint for plan in exchange.observed.applied_plans for hint in plan.hints_ms)
            exchange.observed.hints_ms = frozenset(hints)
        self._hooks.late_reports.finish([exchange.observed for exchange in batch.exchanges])
        if self.remote is not None and batch.raw is None and batch.clients is None:
            [exchange] = batch.exchanges
            if exchange.secrets and self.hears_logs:
                with giving_way():
                    time.sleep(SETTLE_S)
            exchange.observed.logs, exchange.observed.headers = self.remote.side_channel.take_lines_and_headers()

    def _call_once(self, batch: CallBatch) -> None:
        [exchange] = batch.exchanges
        observed, started = exchange.observed, time.monotonic() - lost_s()
        # An abandoned call must not change its record later.
        seen = Exchange(exchange.request, exchange.streaming, observed=observed, component=exchange.component)
        seen.limited = exchange.limited
        with LogTap(observed, batch.debug_logs) as tap:
            try:
                exchange.fault = self._fault_of(seen, batch.limit_s)
            finally:
                exchange.frames, exchange.started = list(seen.frames), seen.started
                self._timeouts.has_answered |= bool(seen.frames)
                if not seen.streaming and seen.fault is not None and seen.fault.kind == "cut_off":
                    self._timeouts.add(seen.op)
        exchange.elapsed_s = time.monotonic() - lost_s() - started
        observed.logs, observed.debug_logs = tuple(tap.texts), tuple(tap.debug_texts)
        observed.log_sources, observed.debug_sources = tuple(tap.sources), tuple(tap.debug_sources)

    def _call_together(self, batch: CallBatch) -> None:
        assert self._loop is not None, "the adapter is not open"
        exchanges = batch.exchanges
        try:
            transport = self._opened.transport(batch.component)
            self._loop.run(calls.call_all(transport, batch.calls_by_client), batch.limit_s)
        except TimeLimit as late:
            if not late.ended:
                raise Unresponsive(exchanges[0].op) from None
            calls.note_fault(exchanges, calls.timeout_fault(late, batch.limit_s))
        except concurrent.futures.CancelledError:
            calls.note_fault(exchanges, CallFault("raised", "CancelledError"))

    def _call_raw(self, batch: CallBatch) -> None:
        assert self._loop is not None, "the adapter is not open"
        assert self.remote is not None, "the adapter runs in this process"
        assert batch.raw is not None
        [exchange] = batch.exchanges
        try:
            with call_scope(exchange.observed):  # the loop copies the context of this thread
                self._loop.run(self.remote.transport.send_raw(batch.raw, batch.answer), batch.limit_s)
        except TimeLimit as late:
            self._timeouts.add(exchange.op)
            batch.answer.fault = calls.timeout_fault(late, batch.limit_s)

    def _fault_of(self, seen: Exchange, limit: float) -> CallFault | None:
        """Make the call of an exchange; return the fault if the answer is incomplete, or None."""
        assert self._loop is not None, "the adapter is not open"
        if self._loop.blocked:
            ended, blamed = self._loop.ended, self._loop.blamed
            self._replace_loop()
            if ended and not blamed:
                return calls.timeout_fault(TimeLimit(blocked=True, ended=ended), limit)
        seen.until, loop = time.monotonic() + limit, self._loop
        try:
            loop.run(calls.call(self._opened.transport(seen.component), seen), limit)
        except concurrent.futures.CancelledError:
            return CallFault("raised", "CancelledError")
        except TimeLimit as late:
            is_moving = not seen.limited and calls.was_sending_at_limit(seen, limit)
            if not (seen.limited or is_in_flight()):  # a concurrent test may have caused it
                self._timeouts.add(seen.op, moving=is_moving)
            if late.blocked and self._loop is loop:
                self._loop.blamed = True
                self._replace_loop()
            if late.blocked:
                return calls.timeout_fault(late, limit)
            return calls.cut_off_fault(seen) if is_moving else seen.fault or calls.timeout_fault(late, limit)
        return seen.fault


class Timeouts:
    """Counts timeouts, and stops the calls of operations that had too many timeouts.

    Attributes:
        has_answered: True if the adapter has sent a frame.
    """

    def __init__(self) -> None:
        self.has_answered = False
        self._number: Counter[str] = Counter()
        self._moving: set[str] = set()

    def add(self, op: str, *, moving: bool = False) -> None:
        """Count a timeout; `moving` is True if the stream still sent frames."""
        self._number[op] += 1
        if moving:
            self._moving.add(op)

    def check(self, op: str, *, remote: bool) -> None:
        """Check that an operation may be called. Raises Unresponsive if it exceeded the time limit too often."""
        is_silent = remote and not self.has_answered and self._number.total() >= MOST_WITHOUT_ANSWER
        if self._number[op] >= MOST_OF_ONE_OPERATION or is_silent:
            raise Unresponsive(op, moving=op in self._moving)
