"""The reports of the hooks during a call."""

import time
from collections.abc import Sequence

from pytest_corpus.adapter.exchange import Exchange, context_of, is_observed
from pytest_corpus.adapter.hooks.late_reports import Expected, LateReports, Reports
from pytest_corpus.adapter.hooks.provider import ProviderProbe
from pytest_corpus.spec.errors import TAXONOMY
from pytest_corpus.spec.operations import BY_OP


class Recording:
    """Everything that an adapter reports to its hooks from now on; `turn` is that of the hooks over the wire."""

    def __init__(self, late: LateReports, provider: ProviderProbe, turn: int | None) -> None:
        self._late, self._provider, self._turn = late, provider, turn
        self._observed, self._counted = len(late.sink.observations), len(late.sink.counts)
        self._reached, self._struck, self._arrived = provider.calls(), len(provider.struck), len(provider.handed_on)
        self._begun = time.monotonic()

    def end(self, exchanges: Sequence[Exchange], *, observes: bool) -> None:
        """Take the reports of calls that have ended, or let them come late; `observes`: the adapter makes some."""
        ended = time.monotonic()
        for exchange in exchanges:
            exchange.reports = Reports(call=self.expected(exchange, ended, observes=observes))
        self._late.finish([exchange.reports for exchange in exchanges], self._observed, self._counted)

    def complete(self, exchange: Exchange) -> None:
        """Add what reached the provider."""
        provider = self._provider
        exchange.reached_provider = provider.calls() - self._reached
        exchange.faults, exchange.hints_ms = provider.struck_since(self._struck)
        exchange.handed_on = tuple(provider.handed_on[self._arrived :])
        canaries = {f"provider text {number}": text for number, text in enumerate(provider.canaries)}
        exchange.secrets = {**exchange.secrets, **canaries}

    def expected(self, exchange: Exchange, ended: float, *, observes: bool) -> Expected:
        """The facts by which a report is recognized.

        A retryable answer that no plan explains may be that of a gateway, which observes nothing (R114).
        """
        operation, last = BY_OP.get(exchange.op), exchange.frames[-1].body if exchange.frames else None
        body = last if isinstance(last, dict) else {}
        error, struck = body.get("error"), len(self._provider.struck) > self._struck
        given = context_of(exchange.request) or {}
        may_be_foreign = not struck and isinstance(error, str) and error in TAXONOMY and TAXONOMY[error].retry == "yes"
        failed = exchange.fault is not None or error is not None
        return Expected(
            component=operation.component if operation else "",
            ops=(operation.name, operation.op) if operation else (),
            is_due=observes and is_observed(exchange) and not may_be_foreign,
            streaming=exchange.streaming or (operation is not None and operation.streaming),
            failed=None if not failed and (struck or last is None) else failed,
            codes=(str(body.get("code")), str(error)) if error is not None else (),
            labels={label for key, label in LABELS.items() if given.get(key) not in (None, "")},
            begun=self._begun,
            ended=ended,
            turn=self._turn,
        )


LABELS = {"tenant": "tenant_hash", "deadline_ms": "deadline_bucket"}
"""The label of an observation that a key of the context leads to."""
