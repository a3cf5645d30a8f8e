"""The audit of a component: the rules that every answer must obey, whatever a test is about.

A finding belongs to its own requirement, not to the test that made the exchange. Each exchange is audited once: its
end, its envelopes, its reports, its log records, and its results by the rules of the component.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_corpus.adapter.exchange import Exchange, Frame, non_finite
from pytest_corpus.adapter.transports.protocol import TOO_LONG
from pytest_corpus.kit import expect
from pytest_corpus.kit.audit.envelopes import answer_findings
from pytest_corpus.kit.audit.leaks import leak_findings
from pytest_corpus.kit.audit.telemetry import reports_of, telemetry_findings
from pytest_corpus.kit.outcomes import Violation, Violations
from pytest_corpus.kit.reply import StreamReply
from pytest_corpus.kit.requests import Calls
from pytest_corpus.kit.target import Auditor
from pytest_corpus.spec.operations import BY_OP, Operation
from pytest_corpus.spec.schemas import SCHEMA_VERSIONS
from pytest_corpus.spec.words import MAX_FRAME_BYTES
from pytest_corpus.text.problems import Problem
from pytest_corpus.validation.schema.registry import registry

STREAM_REQUIREMENTS = {
    "FRAMING": "COM-STREAM-1",
    "FRAME_SHAPE": "COM-STREAM-1",
    "FRAME_OK": "COM-STREAM-2",
    "FRAME_CODE": "COM-STREAM-3",
    "FRAME_MS": "COM-STREAM-4",
    "NO_TERMINAL": "COM-STREAM-6",
    "AFTER_TERMINAL": "COM-STREAM-7",
    "FRAME_TYPE": expect.ENVELOPE,
}
"""By the type of a defect that the stream validator finds: the requirement that the defect breaks."""

ENDS = {
    "raised": "an envelope, whatever happens",
    "timeout": "an end of the call",
    "not_json": "an answer that is JSON",
    "no_stream": "an async iterator of frames",
    "endless": "an end of the stream",
}
"""By the kind of a call's fault: the end that the call should have had."""


class ComponentAuditor(Auditor):
    """Judges the exchanges of a component. Subclasses add the rules for the component's results."""

    content: tuple[str, ...] = ()
    """The keys of a chunk that carry data; a chunk where all are empty is a keep-alive."""

    def __init__(self, calls: Calls) -> None:
        super().__init__()
        self._calls = calls

    def _operation(self, name: str) -> Operation:
        return BY_OP[f"{self._calls.component}.{name}"]

    def result_findings(self, name: str, result: Any) -> Violations:
        """Return the violations in the result of an operation."""
        raise NotImplementedError

    def chunk_findings(self, _name: str, _chunk: Mapping[str, Any]) -> Violations:
        """Yield the violations of a chunk against rules that are not in its schema."""
        yield from ()

    def call_findings(self, _exchange: Exchange, _answers: Sequence[Any]) -> Violations:
        """Compare the results or chunks of a call with its request and with each other; yield the violations."""
        yield from ()

    def has_content(self, frame: Any) -> bool:
        """True if a frame of a stream carries data or ends the stream; other frames are keep-alives (R4)."""
        chunk = frame.get("chunk") if isinstance(frame, Mapping) else None
        if not isinstance(chunk, Mapping):
            return True
        return chunk.get("is_final") is True or any(chunk.get(key) for key in self.content)

    def audit(self, *, is_last: bool = False) -> Iterator[Violation]:
        """Yield the violations in the exchanges of the current test, and in late reports of earlier exchanges."""
        part = self._calls.client.part
        for exchange in list(part.exchanges):
            if exchange.component not in ("", self._calls.component):
                continue  # another component's own tests judge it
            self.editions &= valid_editions(exchange)
            if exchange not in part.recalled:
                yield from self.audit_exchange(exchange)
                if exchange.findings is None:
                    self.unsettled.append(exchange)
        if is_last and self.unsettled:
            self._calls.client.late.settle()
        while self.unsettled and (is_last or self.unsettled[0].observed.is_settled):
            exchange = self.unsettled.popleft()
            found = self._report_findings(exchange, with_reports=True, with_logs=False)
            yield from (
                violation.for_requirement(requirement).attach_exchanges(exchange) for requirement, violation in found
            )

    def audit_exchange(self, exchange: Exchange, *, with_reports: bool = False) -> list[Violation]:
        """Return the findings of an exchange, and keep them once all its reports have come."""
        if exchange.findings is not None:
            return exchange.findings
        settled = exchange.observed.is_settled
        every = self.findings(exchange, with_reports=with_reports or settled)
        found = [violation.for_requirement(requirement).attach_exchanges(exchange) for requirement, violation in every]
        exchange.findings = found if settled else None
        return found

    def findings(self, exchange: Exchange, *, with_reports: bool = True) -> Violations:
        """Yield all findings of an exchange; the findings in reports only if requested."""
        component, edition = self._calls.component, self._calls.settings.edition
        fault = exchange.fault
        if fault is not None and fault.kind in ENDS and not (fault.kind == "timeout" and exchange.limited):
            got = f"the exception {fault}" if fault.kind == "raised" else fault.text
            yield expect.BLOCKERS[fault.kind], Violation(ENDS[fault.kind], got)
        if fault is not None and exchange.streaming and fault.text == TOO_LONG:
            yield expect.SIZE, Violation(f"at most {MAX_FRAME_BYTES} bytes", TOO_LONG, frame=len(exchange.frames) + 1)
        yield from answer_findings(exchange, component, edition)
        if exchange.streaming:
            yield from _stream_findings(exchange, component, edition)
        yield from self._report_findings(exchange, with_reports=with_reports, with_logs=True)
        answers, judge = (
            _answers_of(exchange, component),
            self.chunk_findings if exchange.streaming else self.result_findings,
        )
        for each in answers:
            yield from judge(exchange.op.partition(".")[2], each)
        yield from self.call_findings(exchange, answers)

    def _report_findings(self, exchange: Exchange, *, with_reports: bool, with_logs: bool) -> Violations:
        """Yield the findings in the reports and the log records of an exchange."""
        instance = self._calls.client.instance
        has_metrics, hears_logs = "metrics" in instance.hooks, with_logs and instance.hears_logs
        reports = reports_of(exchange) if with_reports else ()
        if with_reports and has_metrics:
            yield from telemetry_findings(exchange, self._calls.component, reports)
        yield from leak_findings(exchange, reports, hears_logs=hears_logs)


def valid_editions(exchange: Exchange) -> frozenset[str]:
    """Return the schema versions under which all successful parts of an exchange are valid."""
    if exchange.editions is not None:
        return exchange.editions
    met = set(SCHEMA_VERSIONS)
    operation = BY_OP.get(exchange.op)
    for frame in exchange.frames:
        body = frame.body
        value = body.get("chunk" if exchange.streaming else "result") if isinstance(body, dict) else None
        if operation is None or frame.is_error:
            continue
        if operation.payload:
            met &= set(registry().editions_met(operation.payload, value))
        elif not isinstance(value, dict):
            met &= set(SCHEMA_VERSIONS[1:])
    exchange.editions = frozenset(met)
    return exchange.editions


def payload_problem(schema: str, value: Any, edition: str | None) -> Violation | None:
    """Return the violation of a result that matches no accepted edition of a schema, or None."""
    if edition is None and registry().editions_met(schema, value):
        return None
    problems = registry().problems(schema, value, edition)
    return Violation(f"a value of the schema {schema}", problems=tuple(problems)) if problems else None


def _answers_of(exchange: Exchange, component: str) -> list[Any]:
    """Return the result or the chunks of an exchange; empty if a frame is too large or a number is not finite."""
    if not all(map(_is_finite, exchange.frames)):
        return []
    if exchange.streaming:
        small = all(frame.size <= MAX_FRAME_BYTES for frame in exchange.frames)
        return [*StreamReply(exchange).chunks] if small else []
    known = exchange.op in BY_OP and BY_OP[exchange.op].component == component
    return [frame.body["result"] for frame in exchange.frames[:1] if known and frame.is_success]


def _is_finite(frame: Frame) -> bool:
    return frame.finite or not any(True for _ in non_finite(frame.body))


def _stream_findings(exchange: Exchange, component: str, edition: str | None) -> Violations:
    from pytest_corpus.validation.streams.engine import validate_frames

    for number, frame in enumerate(exchange.frames, start=1):
        if frame.size > MAX_FRAME_BYTES:
            yield expect.SIZE, Violation(f"at most {MAX_FRAME_BYTES} bytes", f"{frame.size}", frame=number)
            return
    bodies = [frame.body for frame in exchange.frames]
    report = validate_frames(bodies, component=component, edition=edition)
    for error in report.validation_errors:
        requirement = STREAM_REQUIREMENTS.get(error.error_type, "")
        if error.error_type == "CHUNK_SCHEMA" and _is_finite(exchange.frames[error.frame_number - 1]):
            requirement = BY_OP[exchange.op].shaped if exchange.op in BY_OP else ""
        if requirement and not (exchange.fault is not None and error.error_type == "NO_TERMINAL"):
            first, *others = error.message.split("; ")
            problems = [Problem(error.path, "", first.partition(", nor must ")[0], "")]
            problems += [Problem("", "", each, "") for each in others]
            yield requirement, Violation("canonical frames", problems=tuple(problems), frame=error.frame_number)
