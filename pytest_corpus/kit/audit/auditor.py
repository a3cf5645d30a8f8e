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
from pytest_corpus.kit.audit.telemetry import Reports, reports_of, telemetry_findings
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
"""Maps the type of a defect that the stream validator finds to the violated requirement."""

ENDS = {
    "raised": "an envelope, whatever happens",
    "timeout": "an end of the call",
    "not_json": "an answer that is JSON",
    "no_stream": "an async iterator of frames",
    "endless": "an end of the stream",
}
"""Maps the kind of a call's fault to the end that the call should have had, in words."""


class ComponentAuditor(Auditor):
    """Judges the exchanges of a component. Subclasses add the rules for the component's results."""

    content: tuple[str, ...] = ()
    """The keys of a chunk that carry data; a chunk where all are empty is a keep-alive."""

    def __init__(self, calls: Calls) -> None:
        super().__init__()
        self._calls = calls

    def result_findings(self, operation: Operation, result: Any) -> Violations:
        """Yield the violations in a result that satisfies the schema of its operation, if the operation has one."""
        raise NotImplementedError

    def chunk_findings(self, _chunk: Mapping[str, Any]) -> Violations:
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
            if exchange in part.recalled:
                if exchange.findings is None:  # the test that made it has not been audited, or ran in another process
                    exchange.editions = _valid_editions(exchange)
                self.editions &= exchange.editions
                continue
            is_settled = exchange.observed.is_settled  # asked first: reports may come during the audit
            yield from self.audit_exchange(exchange)
            self.editions &= exchange.editions
            if not is_settled:
                self.unsettled.append(exchange)
        if is_last and self.unsettled:
            self._calls.client.late_reports.settle()
        while self.unsettled and (is_last or self.unsettled[0].observed.is_settled):
            exchange = self.unsettled.popleft()
            yield from _violations_of(exchange, self._late_findings(exchange))

    def audit_exchange(self, exchange: Exchange, *, with_reports: bool = False) -> list[Violation]:
        """Return the findings of an exchange. If no more reports can come, the exchange stores its findings.

        With `with_reports`, wait for the reports that may still come, and judge them too.
        """
        if exchange.findings is not None:
            return exchange.findings
        is_settled = exchange.observed.late is None
        if with_reports and not is_settled:
            reports_of(exchange)
        found = _violations_of(exchange, self.findings(exchange, with_reports=with_reports or is_settled))
        exchange.findings = found if is_settled else None
        return found

    def findings(self, exchange: Exchange, *, with_reports: bool = True) -> Violations:
        """Yield the findings of an exchange. With `with_reports`, the reports that have come are judged too."""
        component, edition, observed = self._calls.component, self._calls.settings.edition, exchange.observed
        reports: Reports = (*observed.observations, *observed.counts) if with_reports else ()
        answers = _answers_of(exchange, component)
        yield from _end_findings(exchange)
        exchange.editions = _valid_editions(exchange)
        yield from answer_findings(exchange, component, edition)
        if exchange.streaming:
            yield from _stream_findings(exchange, component, edition)
        instance = self._calls.client.instance
        has_metrics, hears_logs = "metrics" in instance.hooks, instance.hears_logs
        if with_reports and has_metrics:
            yield from telemetry_findings(exchange, component, reports)
        yield from leak_findings(exchange, reports, hears_logs=hears_logs)
        if exchange.streaming:
            for chunk in answers:
                yield from self.chunk_findings(chunk)
        elif answers:
            [result], operation, met = answers, BY_OP[exchange.op], exchange.editions
            if operation.payload and not (met if edition is None else edition in met):
                yield operation.shaped, _schema_violation(operation.payload, result, edition)
            else:
                yield from self.result_findings(operation, result)
        yield from self.call_findings(exchange, answers)

    def _late_findings(self, exchange: Exchange) -> Violations:
        """Yield the findings in the late reports of an exchange. Its other findings were yielded before."""
        reports = reports_of(exchange)
        yield from telemetry_findings(exchange, self._calls.component, reports)
        yield from leak_findings(exchange, reports, hears_logs=False)


def _violations_of(exchange: Exchange, found: Violations) -> list[Violation]:
    """Return the findings of an exchange as violations that know their requirement and the exchange."""
    return [violation.for_requirement(requirement).attach_exchanges(exchange) for requirement, violation in found]


def _valid_editions(exchange: Exchange) -> frozenset[str]:
    """Return the schema versions under which all successful parts of an exchange are valid."""
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
    return frozenset(met)


def payload_problem(schema: str, value: Any, edition: str | None) -> Violation | None:
    """Return the violation of a result that matches no accepted edition of a schema, or None."""
    if edition is None and registry().editions_met(schema, value):
        return None
    found = _schema_violation(schema, value, edition)
    return found if found.problems else None


def _schema_violation(schema: str, value: Any, edition: str | None) -> Violation:
    return Violation(f"a value of the schema {schema}", problems=tuple(registry().problems(schema, value, edition)))


def _answers_of(exchange: Exchange, component: str) -> list[Any]:
    """Return the result or the chunks of an exchange; empty if a frame is too large or a number is not finite."""
    if not all(map(_is_finite, exchange.frames)):
        return []
    if exchange.streaming:
        small = all(frame.size <= MAX_FRAME_BYTES for frame in exchange.frames)
        return [*StreamReply(exchange).chunks] if small else []
    operation = BY_OP.get(exchange.op)
    known = operation is not None and operation.component == component and not operation.streaming
    return [frame.body["result"] for frame in exchange.frames[:1] if known and frame.is_success]


def _is_finite(frame: Frame) -> bool:
    return frame.finite or not any(True for _ in non_finite(frame.body))


def _end_findings(exchange: Exchange) -> Violations:
    """Yield the violations of a call that raised an exception, did not end, or ended in another wrong way."""
    fault = exchange.fault
    if fault is not None and fault.kind in ENDS and not (fault.kind == "timeout" and exchange.limited):
        got = f"the exception {fault}" if fault.kind == "raised" else fault.text
        yield expect.BLOCKERS[fault.kind], Violation(ENDS[fault.kind], got)
    if fault is not None and exchange.streaming and fault.text == TOO_LONG:
        yield expect.SIZE, Violation(f"at most {MAX_FRAME_BYTES} bytes", TOO_LONG, frame=len(exchange.frames) + 1)


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
