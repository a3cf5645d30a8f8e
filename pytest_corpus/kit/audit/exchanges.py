"""What holds for every answer, whatever was asked: checked on each exchange of each test.

A finding here belongs to its own requirement, not to the test in which it turned up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pytest_corpus.adapter.exchange import Exchange, Frame, non_finite
from pytest_corpus.adapter.facts import whole
from pytest_corpus.kit import expect
from pytest_corpus.kit.audit import telemetry
from pytest_corpus.kit.audit.envelopes import STACK_TRACE, hint_problems
from pytest_corpus.kit.audit.findings import AuditContext
from pytest_corpus.kit.audit.positive_evidence import shown
from pytest_corpus.kit.expect import note_check
from pytest_corpus.kit.outcomes import Blocked, Violation
from pytest_corpus.kit.reply import Reply, StreamReply, described, error_names, looks_like_error, looks_like_success
from pytest_corpus.spec.errors import BY_CODE, TAXONOMY
from pytest_corpus.spec.operations import BY_OP
from pytest_corpus.spec.schemas import EDITIONS
from pytest_corpus.spec.wire_format import MAX_FRAME_BYTES
from pytest_corpus.spec.words import SUCCESS_CODES
from pytest_corpus.text.problems import Problem
from pytest_corpus.text.redaction import listed, place, type_name, word
from pytest_corpus.text.values import strings_of
from pytest_corpus.validation.schema.registry import registry

Finding = tuple[str, Violation]

SUCCESS_KEYS = frozenset({"ok", "code", "ms", "result"})
ERROR_KEYS = frozenset({"ok", "code", "error", "message", "retry_after_ms", "details", "ms"})

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
"""Which requirement a defect found by the stream validator breaks."""


FINITE = "COM-NUM-2"
"""The requirement that says that numbers are finite; what holds others is not looked at any closer."""


def audit(exchange: Exchange, subject: AuditContext) -> Iterator[Finding]:
    """Everything that an exchange breaks, as (requirement id, violation)."""
    yield from _call(exchange)
    for frame in exchange.frames:
        for path in () if frame.finite else non_finite(frame.body):
            yield FINITE, Violation("finite numbers only", "NaN or an infinity", place(path))
        if looks_like_error(frame.body):
            yield from _error(frame.body, subject.settings.edition)
            yield from _protocol(frame.body, subject.component)
    if exchange.streaming:
        yield from _stream(exchange, subject)
    elif exchange.frames:
        yield from _unary(exchange, subject)
    yield from telemetry.audit(exchange, subject)


def editions(exchange: Exchange) -> set[str]:
    """The schema editions that everything successful in an exchange is valid under."""
    met = set(EDITIONS)
    operation = BY_OP.get(exchange.op)
    for frame in exchange.frames:
        body = frame.body
        value = body.get("chunk" if exchange.streaming else "result") if isinstance(body, dict) else None
        if operation is None or looks_like_error(body):
            continue
        if operation.payload:
            met &= set(registry().editions_met(operation.payload, value))
        elif not isinstance(value, dict):
            met &= set(EDITIONS[1:])
    return met


def holds(requirement: str, reply: Reply | StreamReply, subject: AuditContext) -> None:
    """Raise the violation of one requirement where an answer breaks it.

    Raises:
        Blocked: what the requirement speaks of is not there although it should be.
    """
    found = dict(reversed([*audit(reply.exchange, subject)]))
    if requirement in found:
        raise found[requirement].seen_in(reply.exchange)
    operation = BY_OP.get(reply.exchange.op)
    if FINITE in found and operation is not None and requirement == operation.shaped:
        raise Blocked(FINITE, "NaN or an infinity", violation=found[FINITE])
    if shown(requirement, reply, subject):
        note_check()


def _is_finite(frame: Frame) -> bool:
    return frame.finite or not any(True for _ in non_finite(frame.body))


def _call(exchange: Exchange) -> Iterator[Finding]:
    fault = exchange.fault
    if fault is None or fault.kind == "cut_off" or (fault.kind == "timeout" and exchange.limited):
        return
    wanted = {
        "raised": "an envelope, whatever happens",
        "timeout": "an end of the call",
        "not_json": "an answer that is JSON",
        "no_stream": "an async iterator of frames",
    }[fault.kind]
    got = f"the exception {fault}" if fault.kind == "raised" else fault.text
    yield expect.BLOCKERS[fault.kind], Violation(wanted, got)


def _unary(exchange: Exchange, subject: AuditContext) -> Iterator[Finding]:
    body = exchange.frames[0].body
    if looks_like_success(body):
        yield from _success(body, subject.settings.edition)
        operation = BY_OP.get(exchange.op)
        if operation is not None and operation.component == subject.component and _is_finite(exchange.frames[0]):
            yield from subject.audit_payload(operation.name, body["result"])
    elif not looks_like_error(body):
        yield expect.ENVELOPE, Violation("a success or an error envelope", described(body))


def _success(body: Mapping[str, Any], edition: str | None) -> Iterator[Finding]:
    if extra := sorted(set(body) - SUCCESS_KEYS):
        yield "COM-ENV-1", Violation("no keys beyond ok, code, ms, result", listed("the key", extra))
    if body.get("ok") is not True:
        yield "COM-ENV-5", Violation("true", type_name(body.get("ok")), "ok")
    code = body.get("code")
    if code not in SUCCESS_CODES:
        yield "COM-ENV-2", Violation(" or ".join(SUCCESS_CODES), word(code), "code")
    elif code != "OK":
        yield "COM-ENV-4", Violation("OK", word(code), "code")
    if problem := _milliseconds(body, edition):
        yield "COM-ENV-3", problem


def _error(body: Mapping[str, Any], edition: str | None) -> Iterator[Finding]:
    if extra := sorted(set(body) - ERROR_KEYS):
        yield "COM-ERR-1", Violation(f"no keys beyond {', '.join(sorted(ERROR_KEYS))}", listed("the key", extra))
    for key in ("code", "error", "message"):
        if not isinstance(body.get(key), str):
            yield "COM-ERR-2", Violation("a string", word(body.get(key)), key)
    if body.get("ok") is not False:
        yield "COM-ERR-2", Violation("false", word(body.get("ok")), "ok")
    if isinstance(body.get("message"), str) and not body["message"].strip():
        yield "COM-ERR-5", Violation("a message for a person", "an empty string", "message")
    if problem := _milliseconds(body, edition):
        yield "COM-ERR-9", problem
    if problem := _retry_after(body.get("retry_after_ms")):
        yield "COM-ERR-6", problem
    if body.get("error") == "DeadlineExceeded" and body.get("retry_after_ms") is not None:
        yield "COM-ERR-16", Violation("none", "a time to wait", "retry_after_ms")
    yield from _identity(body)
    known = TAXONOMY.get(str(body.get("error")))
    if known and known.retry == "no" and body.get("retry_after_ms") is not None:
        yield "COM-ERR-21", Violation("null, or none", word(body.get("retry_after_ms")), "retry_after_ms")
    yield from _details(body, edition)
    if any(STACK_TRACE.search(text) for text in strings_of([body.get("message"), body.get("details")])):
        yield "COM-ERR-15", Violation("no stack trace", "the frame of one", "error")


def _protocol(body: Mapping[str, Any], component: str) -> Iterator[Finding]:
    """A subtype that belongs to other protocols only (R58)."""
    for name in error_names(body):
        if component not in TAXONOMY[name].components:
            owners = " and ".join(TAXONOMY[name].components)
            yield "COM-SUBTYPE-1", Violation(f"a class of the {component} protocol", f"{name}, of {owners}", "error")


def _identity(body: Mapping[str, Any]) -> Iterator[Finding]:
    code, error = body.get("code"), body.get("error")
    if not isinstance(code, str) or not isinstance(error, str):
        return
    if not code or not code.isascii() or not code.replace("_", "").isalpha() or not code.isupper():
        yield "COM-ERR-3", Violation("a code in UPPER_SNAKE_CASE", word(code), "code")
    known, named = TAXONOMY.get(error), BY_CODE.get(code.upper())
    if known is None:
        yield expect.NAMED, Violation("a canonical class or an allowed subtype", word(error), "error")
    elif named is None or known.family != named.family or (named.parent and named != known):
        yield expect.NAMED, Violation(f"{known.code}, the code of {error}", word(code), "code")
    elif named != known:
        yield "COM-ERR-10", Violation(f"{known.code}, the code of {error}", word(code), "code")


def _details(body: Mapping[str, Any], edition: str | None) -> Iterator[Finding]:
    details = body.get("details")
    if details is None and not ("details" in body and edition == "1.0.0"):
        return
    if not isinstance(details, Mapping):
        yield "COM-ERR-7", Violation("an object", word(details), "details")
        return
    yield from (("COM-ERR-13", problem) for problem in hint_problems(details))
    known = TAXONOMY.get(str(body.get("error")))
    if known and (status := whole(details.get("http_status"))) is not None and status not in known.http:
        yield "COM-ERR-14", Violation(" or ".join(map(str, known.http)), f"{status}", "details.http_status")
    retryable = details.get("retryable")
    if not known or not isinstance(retryable, bool) or known.retry == "conditional":
        return
    if retryable is not (known.retry == "yes"):
        wanted = f"{known.retry == 'yes'} for {known.name}"
        yield "COM-ERR-8", Violation(wanted, str(retryable), "details.retryable")


def _milliseconds(body: Mapping[str, Any], edition: str | None) -> Violation | None:
    value = body.get("ms")
    if value is None and "ms" in body and edition != "1.0.0":
        return None
    fit = isinstance(value, (int, float)) and not isinstance(value, bool) and not value < 0
    return None if fit else Violation("a non-negative number", word(value), "ms")


def _retry_after(value: Any) -> Violation | None:
    fit = value is None or (isinstance(value, (int, float)) and not isinstance(value, bool) and not value < 0)
    return None if fit else Violation("null or a non-negative number", word(value), "retry_after_ms")


def _stream(exchange: Exchange, subject: AuditContext) -> Iterator[Finding]:
    from pytest_corpus.validation.streams.validate import validate_frames

    operation, name = BY_OP.get(exchange.op), exchange.op.partition(".")[2]
    report = validate_frames(
        [frame.body for frame in exchange.frames],
        component=subject.component,
        edition=subject.settings.edition,
    )
    broken_off = exchange.fault is not None
    for number, frame in enumerate(exchange.frames, start=1):
        if frame.size > MAX_FRAME_BYTES:
            yield (
                expect.SIZE,
                Violation(f"at most {MAX_FRAME_BYTES} bytes", f"{frame.size}", f"frame {number}"),
            )
            return
    for error in report.validation_errors:
        if error.error_type == "CHUNK_SCHEMA":
            sound = _is_finite(exchange.frames[error.frame_number - 1])
            requirement = operation.shaped if operation and sound else ""
        else:
            requirement = STREAM_REQUIREMENTS.get(error.error_type, "")
        if requirement and not (broken_off and error.error_type == "NO_TERMINAL"):
            where = f"frame {error.frame_number}" + (f", {place(error.path)}" if error.path else "")
            every = tuple(error.message.split("; "))
            yield requirement, Violation("canonical frames", _first(error.message), where, problems=every)
    if all(map(_is_finite, exchange.frames)):
        for chunk in StreamReply(exchange).chunks:
            yield from subject.audit_chunk(name, chunk)


def _first(message: str) -> str:
    """The first fault of those that a message tells, without the keys that follow it."""
    return message.partition("; ")[0].partition(", nor must ")[0]


def payload_problem(schema: str, value: Any, edition: str | None) -> Violation | None:
    """Why a result fits no accepted edition of a schema, or None."""
    if edition is None and registry().editions_met(schema, value):
        return None
    problems = registry().problems(schema, value, edition)
    if not problems:
        return None
    first = problems[0]
    every = tuple(f"{place(each.path) or '(root)'} {_told(each)}" for each in problems)
    return Violation(f"a value of the schema {schema}", _told(first), place(first.path), problems=every)


def _told(problem: Problem) -> str:
    """What is asked for, and what is there instead, as far as it can be shown."""
    return f"{problem.message}, found {problem.found}" if problem.found else problem.message
