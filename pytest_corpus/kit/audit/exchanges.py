"""The audit of an exchange: everything in it that must hold whatever was asked.

A finding belongs to its own requirement, not to the test in which it turned up. An exchange passes through the audit
once; what its result or its chunks must hold, the component judges (`ComponentAuditor.findings`).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from pytest_corpus.adapter.exchange import Exchange, Frame, non_finite
from pytest_corpus.adapter.transports.protocol import TOO_LONG
from pytest_corpus.kit import expect
from pytest_corpus.kit.audit.envelopes import Finding, error_findings, overlong, success_findings
from pytest_corpus.kit.audit.leaks import leak_findings
from pytest_corpus.kit.audit.telemetry import telemetry_findings
from pytest_corpus.kit.outcomes import Violation
from pytest_corpus.kit.reply import StreamReply, describe, looks_like_error, looks_like_success
from pytest_corpus.spec.operations import BY_OP
from pytest_corpus.spec.schemas import SCHEMA_VERSIONS
from pytest_corpus.spec.words import MAX_FRAME_BYTES
from pytest_corpus.text.problems import NO_JSON, Problem
from pytest_corpus.validation.schema.registry import registry

FINITE = "COM-NUM-2"
"""The requirement of finite numbers; data that break it are not judged any further."""

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
"""The requirement that is broken by a defect of each type that the stream validator finds."""

ENDS = {
    "raised": "an envelope, whatever happens",
    "timeout": "an end of the call",
    "not_json": "an answer that is JSON",
    "no_stream": "an async iterator of frames",
    "endless": "an end of the stream",
}
"""The demand that a call breaks by each kind of fault."""


@dataclass(slots=True)
class AuditContext:
    """The circumstances of an exchange.

    Attributes:
        component: the component that it belongs to.
        edition: the schema version to validate against; None: any.
        has_metrics: the adapter reports to the hook `metrics`.
        hears_logs: its log records are read.
    """

    component: str
    edition: str | None
    has_metrics: bool
    hears_logs: bool


def audit(exchange: Exchange, context: AuditContext, *, with_reports: bool) -> Iterator[Finding]:
    """Everything that an exchange breaks, apart from its data, as (requirement id, violation)."""
    fault = exchange.fault
    if fault is not None and fault.kind in ENDS and not (fault.kind == "timeout" and exchange.limited):
        got = f"the exception {fault}" if fault.kind == "raised" else fault.text
        yield expect.BLOCKERS[fault.kind], Violation(ENDS[fault.kind], got)
    if fault is not None and exchange.streaming and fault.text == TOO_LONG:
        yield expect.SIZE, Violation(f"at most {MAX_FRAME_BYTES} bytes", TOO_LONG, frame=len(exchange.frames) + 1)
    for number, frame in enumerate(exchange.frames, 1):
        for requirement, violation in _frame_findings(exchange, frame, context):
            violation.frame = number if exchange.streaming else 0
            yield requirement, violation
    if exchange.streaming:
        yield from _stream_findings(exchange, context)
    elif exchange.frames:
        body = exchange.frames[0].body
        if looks_like_success(body):
            yield from success_findings(body, context.edition)
        elif not looks_like_error(body):
            yield expect.ENVELOPE, Violation("a success or an error envelope", describe(body))
    if with_reports and context.has_metrics:
        yield from telemetry_findings(exchange, context.component)
    yield from leak_findings(exchange, hears_logs=context.hears_logs, with_reports=with_reports)


def _frame_findings(exchange: Exchange, frame: Frame, context: AuditContext) -> Iterator[Finding]:
    for path in () if frame.finite else non_finite(frame.body):
        problem = Problem(path, NO_JSON, "is NaN or an infinity", "")
        yield FINITE, Violation("finite numbers only", problems=(problem,))
    if looks_like_error(frame.body):
        yield from error_findings(frame.body, context.component, context.edition)
    if isinstance(frame.body, dict):
        at_s = frame.at_s if exchange.streaming else exchange.elapsed_s
        yield from overlong(time_of(exchange, frame), frame.body.get("ms"), at_s)


def report_findings(exchange: Exchange, context: AuditContext) -> Iterator[Finding]:
    """Everything that the reports of an exchange break."""
    if context.has_metrics:
        yield from telemetry_findings(exchange, context.component)
    yield from leak_findings(exchange, hears_logs=False, with_reports=True)


def seen_in(exchange: Exchange, findings: Iterable[Finding]) -> Iterator[Finding]:
    """The findings of an audit, each judged on the exchange that was audited."""
    for requirement, violation in findings:
        yield requirement, violation.seen_in(exchange)


def time_of(exchange: Exchange, frame: Frame) -> str:
    """The requirement that says what the `ms` of a frame is (R116)."""
    if looks_like_error(frame.body):
        return "COM-ERR-22"
    return "COM-STREAM-10" if exchange.streaming else "COM-ENV-6"


def data_of(exchange: Exchange, component: str) -> Iterator[Any]:
    """The result or the chunks of an exchange that can be judged: finite, and not too large."""
    if not all(map(_is_finite, exchange.frames)):
        return
    if exchange.streaming:
        if all(frame.size <= MAX_FRAME_BYTES for frame in exchange.frames):
            yield from StreamReply(exchange).chunks
    elif exchange.frames and exchange.op in BY_OP and BY_OP[exchange.op].component == component:
        body = exchange.frames[0].body
        if looks_like_success(body):
            yield body["result"]


def editions(exchange: Exchange) -> frozenset[str]:
    """The schema versions that everything successful in an exchange is valid under."""
    if exchange.editions is not None:
        return exchange.editions
    met = set(SCHEMA_VERSIONS)
    operation = BY_OP.get(exchange.op)
    for frame in exchange.frames:
        body = frame.body
        value = body.get("chunk" if exchange.streaming else "result") if isinstance(body, dict) else None
        if operation is None or looks_like_error(body):
            continue
        if operation.payload:
            met &= set(registry().editions_met(operation.payload, value))
        elif not isinstance(value, dict):
            met &= set(SCHEMA_VERSIONS[1:])
    exchange.editions = frozenset(met)
    return exchange.editions


def payload_problem(schema: str, value: Any, edition: str | None) -> Violation | None:
    """The violation of a result that fits no accepted edition of a schema, or None."""
    if edition is None and registry().editions_met(schema, value):
        return None
    problems = registry().problems(schema, value, edition)
    return Violation(f"a value of the schema {schema}", problems=tuple(problems)) if problems else None


def _is_finite(frame: Frame) -> bool:
    return frame.finite or not any(True for _ in non_finite(frame.body))


def _stream_findings(exchange: Exchange, context: AuditContext) -> Iterator[Finding]:
    from pytest_corpus.validation.streams.engine import validate_frames

    for number, frame in enumerate(exchange.frames, start=1):
        if frame.size > MAX_FRAME_BYTES:
            yield expect.SIZE, Violation(f"at most {MAX_FRAME_BYTES} bytes", f"{frame.size}", frame=number)
            return
    bodies = [frame.body for frame in exchange.frames]
    report = validate_frames(bodies, component=context.component, edition=context.edition)
    for error in report.validation_errors:
        requirement = STREAM_REQUIREMENTS.get(error.error_type, "")
        if error.error_type == "CHUNK_SCHEMA" and _is_finite(exchange.frames[error.frame_number - 1]):
            requirement = BY_OP[exchange.op].shaped if exchange.op in BY_OP else ""
        if requirement and not (exchange.fault is not None and error.error_type == "NO_TERMINAL"):
            first, *others = error.message.split("; ")
            problems = [Problem(error.path, "", first.partition(", nor must ")[0], "")]
            problems += [Problem("", "", each, "") for each in others]
            yield requirement, Violation("canonical frames", problems=tuple(problems), frame=error.frame_number)
