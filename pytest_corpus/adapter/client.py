"""The client of the adapter under test. Every call takes the same steps and is recorded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from pytest_corpus.adapter import inputs
from pytest_corpus.adapter.calls import CallBatch
from pytest_corpus.adapter.event_loop.closing import ClosingBudget
from pytest_corpus.adapter.exceptions import Unresponsive, WriteForbidden
from pytest_corpus.adapter.exchange import Exchange, is_stream
from pytest_corpus.adapter.fault_plan import canaries
from pytest_corpus.adapter.hooks.late_reports import LateReports
from pytest_corpus.adapter.hooks.metrics import RecordingSink
from pytest_corpus.adapter.hooks.provider import ProviderProbe
from pytest_corpus.adapter.instance import AdapterInstance, Declaration, Instance, InstanceHooks
from pytest_corpus.adapter.opening.remote import RemoteAdapter
from pytest_corpus.adapter.scope import Part
from pytest_corpus.adapter.transports.raw import RawAnswer, RawRequest
from pytest_corpus.adapter.usage import Meter
from pytest_corpus.spec.components import COMPONENTS
from pytest_corpus.spec.operations import BY_OP

__all__ = ["AdapterClient", "Declaration"]

Step = Callable[[CallBatch], None]

LEAST_S = 2.0
"""The smallest time limit, in seconds, of calls at the end of a run."""


class CallRecorder(Protocol):
    """Keeps the records of calls whose reports may still come."""

    def record_calls(self, batch: CallBatch) -> None:
        """Keep calls that have ended."""

    def record_unanswered_call(self, silent: Unresponsive) -> None:
        """Record that a call was abandoned or not made, because its operation does not answer."""


class AdapterClient:
    """Calls one instance of the adapter, and records every call for the current test or shared fact.

    Args:
        hooks: the hooks of another instance, to share them.
        instance: the instance that answers; by default a new, unopened instance of the adapter.

    Attributes:
        hurries: True at the end of a run, when no test waits for the calls. If a call takes far longer than earlier
            calls, it is abandoned, and no more calls are made.
    """

    def __init__(
        self,
        declaration: Declaration,
        call_timeout: float = 30.0,
        *,
        metrics: RecordingSink | None = None,
        provider: ProviderProbe | None = None,
        hooks: InstanceHooks | None = None,
        read_only: bool = False,
        closing: ClosingBudget | None = None,
        meter: Meter | None = None,
        recorder: CallRecorder | None = None,
        instance: Instance | None = None,
    ) -> None:
        self.declaration, self.call_timeout, self.read_only = declaration, call_timeout, read_only
        self.meter = meter or Meter()
        self._hooks = hooks or InstanceHooks(metrics, provider)
        self._recorder = recorder
        self.instance = instance or AdapterInstance(declaration, call_timeout, self._hooks, closing or ClosingBudget())
        self.hurries, self._longest_s, self._unanswered = False, 0.0, ""
        self._steps: tuple[Step, ...] = (
            self._check_permission,
            self._begin_scopes,
            self.instance.answer,
            self._note_end,
        )
        if recorder is not None:
            self._steps += (recorder.record_calls,)

    def open(self, components: tuple[str, ...] = COMPONENTS) -> AdapterClient:
        """Open the instance for some components. Raises DeclarationError if that fails."""
        self.instance.open(components)
        return self

    def fresh(self) -> AdapterClient:
        """Return another open instance from the same factory, for tests that would leave traces in this one.

        The new client shares the hooks and the loop of this one. If the factory returns the same object again, or the
        adapter runs outside this process, the result is this client.
        """
        if self.remote is not None:
            return self
        other = self._new_client(self._hooks, self.call_timeout, self.meter)
        if not inputs.read("same instance", lambda: other.instance.is_copy_of(self.instance)):
            return other
        other.close()
        return self

    def second_instance(self, call_timeout: float | None = None) -> AdapterClient:
        """Return another instance for calls outside of tests. It has its own hooks and record, but shares the loop."""
        hooks = InstanceHooks(provider=ProviderProbe(self.provider.recording))
        return self._new_client(hooks, call_timeout or self.call_timeout, Meter())

    def _new_client(self, hooks: InstanceHooks, call_timeout: float, meter: Meter) -> AdapterClient:
        return AdapterClient(
            self.declaration,
            call_timeout,
            hooks=hooks,
            read_only=self.read_only,
            meter=meter,
            recorder=self._recorder,
            instance=self.instance.new_instance(hooks, call_timeout),
        )

    def close(self) -> list[str]:
        """Close the instance; return warnings about exceptions and about threads or tasks that remain."""
        return self.instance.close()

    # -- what is known of the adapter --------------------------------------------------------------------

    @property
    def part(self) -> Part:
        """The part of the run that records the calls: the running test, or the shared fact that the test finds out."""
        return self._hooks.attribution.part

    @property
    def metrics(self) -> RecordingSink:
        """The sink that the adapter reports to."""
        return self._hooks.metrics

    @property
    def provider(self) -> ProviderProbe:
        """The stand-in of the provider."""
        return self._hooks.provider

    @property
    def late_reports(self) -> LateReports:
        """The reports that may come late."""
        return self._hooks.late_reports

    @property
    def hooks(self) -> frozenset[str]:
        """The names of the hooks, `metrics` and `provider`, that the factory takes or that the adapter called."""
        return self.instance.hooks

    @property
    def hears_logs(self) -> bool:
        """True if the suite can read the adapter's log records."""
        return self.instance.hears_logs

    @property
    def remote(self) -> RemoteAdapter | None:
        """The open adapter outside this process, or None."""
        return self.instance.remote

    # -- calls -------------------------------------------------------------------------------------------

    def forget(self) -> None:
        """Drop recorded exchanges, plans at the provider, and reports that came between calls."""
        self.part.exchanges.clear()
        self.part.recalled.clear()
        if self._recorder is None:
            self.provider.take_arrivals()
        self.provider.clear()
        self.metrics.forget()

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
        """Send one request of any form, and record everything that can be observed of the call.

        Raises:
            Unresponsive: the operation ran into the time limit too often before.
            WriteForbidden: the operation writes, and the client only reads.
            BudgetSpent: the run may make no more calls.
        """
        limit = self.call_timeout if limit_s is None else min(limit_s, self.call_timeout)
        if self.hurries:
            limit = min(limit, max(LEAST_S, 3 * self._longest_s))
        exchange = Exchange(request, streaming, secrets=dict(secrets or {}), component=component)
        exchange.limited = limit < self.call_timeout
        self._take_steps(CallBatch([exchange], component, limit, debug_logs))
        self.part.exchanges.append(exchange)
        return exchange

    def send_all(self, requests: Sequence[Any], component: str, clients: Sequence[int] = ()) -> list[Exchange]:
        """Send requests concurrently; return their exchanges, which are not added to the current test or fact.

        Args:
            clients: the client of each request. Requests of one client are sent one after the other.

        Raises:
            Unresponsive: the calls do not all end within the call limit.
            WriteForbidden: one of them writes, and the client only reads.
            BudgetSpent: the run may not make that many calls.
        """
        exchanges = [Exchange(request, streaming=is_stream(request)) for request in requests]
        self._take_steps(CallBatch(exchanges, component, self.call_timeout, clients=clients))
        return exchanges

    def raw_call(self, request: RawRequest, component: str) -> RawAnswer:
        """Send a request of a transport test unchanged, and return everything that came back within the call limit.

        Raises:
            BudgetSpent: the run may make no more calls.
            Unresponsive: calls of the operation ran into the time limit too often before.
        """
        exchange = Exchange(request.envelope, request.streaming)
        batch = CallBatch([exchange], component, self.call_timeout, raw=request)
        self._take_steps(batch)
        return batch.answer

    def _take_steps(self, batch: CallBatch) -> None:
        """Check that the calls may be made, begin their scopes, make them, and note their end."""
        try:
            for step in self._steps:
                step(batch)
            self.provider.mistakes.check_answers()
        except Unresponsive as silent:
            if self._recorder is not None:
                self._recorder.record_unanswered_call(silent)
            raise

    def _check_permission(self, batch: CallBatch) -> None:
        """Check that the run may make these calls. If a call writes, check that the run may write."""
        if self._unanswered:
            raise Unresponsive(self._unanswered)
        for exchange in batch.exchanges if self.read_only and batch.raw is None else ():
            operation = BY_OP.get(exchange.op.strip().lower())
            if operation is not None and operation.mutating:
                raise WriteForbidden(exchange.op)
        self.meter.spending.admit(len(batch.exchanges))

    def _begin_scopes(self, batch: CallBatch) -> None:
        """Record the plans at the provider, and begin the scope of each call, which gets the reports on the call."""
        self.provider.settle()
        batch.plans = tuple(self.provider.plans)
        for exchange in batch.exchanges:
            operation, observed = BY_OP.get(exchange.op), exchange.observed
            observed.ops = (operation.name, operation.op) if operation else ()
            observed.streaming = exchange.streaming or (operation is not None and operation.streaming)
            self._hooks.attribution.begin(observed)

    def _note_end(self, batch: CallBatch) -> None:
        """Record facts about calls that have ended: arrivals at the provider, times, planned secret texts."""
        batch.arrivals, batch.generation = self.provider.take_arrivals(), self.instance.generation
        batch.called = frozenset(self.remote.hooks.called_hooks if self.remote is not None else ())
        self.meter.count_calls(batch.component, batch.exchanges)
        for exchange in batch.exchanges:
            if exchange.fault is None:
                self._longest_s = max(self._longest_s, exchange.elapsed_s)
            elif self.hurries and exchange.fault.kind == "timeout":
                self._unanswered = exchange.op
        if texts := {f"provider text {number}": text for number, text in enumerate(canaries(self.provider.plans))}:
            for exchange in batch.exchanges:
                exchange.secrets = {**exchange.secrets, **texts}
