"""The audit of a component: what every answer must keep, whatever a test asked for it."""

from collections.abc import Iterator, Mapping
from typing import Any

from pytest_corpus.adapter.exchange import Exchange
from pytest_corpus.kit.audit.envelopes import Finding
from pytest_corpus.kit.audit.exchanges import AuditContext, audit, data_of, editions, report_findings, seen_in
from pytest_corpus.kit.requests import Calls
from pytest_corpus.kit.target import Auditor
from pytest_corpus.spec.operations import BY_OP, Operation


class ComponentAuditor(Auditor):
    """Judges the exchanges of a component, which says what its results must hold."""

    content: tuple[str, ...] = ()
    """The keys of a chunk that carry data; a chunk where all are empty is a keep-alive."""

    def __init__(self, calls: Calls) -> None:
        super().__init__()
        self._calls = calls

    def _operation(self, name: str) -> Operation:
        return BY_OP[f"{self._calls.component}.{name}"]

    def payload(self, name: str, result: Any) -> Iterator[Finding]:
        """The violations in the result of an operation, as (requirement id, violation)."""
        raise NotImplementedError

    def chunk(self, _name: str, _chunk: Mapping[str, Any]) -> Iterator[Finding]:
        """The violations in a chunk that its schema does not show, as (requirement id, violation)."""
        yield from ()

    def has_content(self, frame: Any) -> bool:
        """True if a frame of a stream carries data or ends it; any other one is a keep-alive (R4)."""
        chunk = frame.get("chunk") if isinstance(frame, Mapping) else None
        if not isinstance(chunk, Mapping):
            return True
        return chunk.get("is_final") is True or any(chunk.get(key) for key in self.content)

    def audit(self, *, is_last: bool = False) -> Iterator[Finding]:
        """The violations in the exchanges of the current test, and in late reports of earlier ones."""
        for exchange in list(self._calls.client.part.exchanges):
            if exchange.component not in ("", self._calls.component):
                continue  # another component's own tests judge it
            self.editions &= editions(exchange)
            if exchange not in self._calls.client.part.recalled:
                settled = exchange.observed.is_settled
                if not settled:
                    self.unsettled.append(exchange)
                yield from self.judged(exchange, with_reports=settled)
        if is_last and self.unsettled:
            self._calls.client.late.settle()
        while self.unsettled and (is_last or self.unsettled[0].observed.is_settled):
            exchange = self.unsettled.popleft()
            yield from seen_in(exchange, report_findings(exchange, self._context))

    @property
    def _context(self) -> AuditContext:
        has_metrics, hears_logs = "metrics" in self._calls.client.hooks, self._calls.client.hears_logs
        return AuditContext(self._calls.component, self._calls.settings.edition, has_metrics, hears_logs)

    def judged(self, exchange: Exchange, *, with_reports: bool) -> list[Finding]:
        """The findings of an exchange, which is audited once after its last report has come."""
        if exchange.findings is not None:
            return exchange.findings
        settled = exchange.observed.is_settled
        found = [*seen_in(exchange, self.findings(exchange, with_reports=with_reports))]
        exchange.findings = found if settled else None
        return found

    def findings(self, exchange: Exchange, *, with_reports: bool = True) -> Iterator[Finding]:
        """Everything that an exchange breaks, as (requirement id, violation); its reports only if asked for."""
        yield from audit(exchange, self._context, with_reports=with_reports)
        judge = self.chunk if exchange.streaming else self.payload
        for data in data_of(exchange, self._calls.component):
            yield from judge(exchange.op.partition(".")[2], data)
