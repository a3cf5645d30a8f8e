"""Rules for frames, and for the envelopes of unary answers and streams (SPECIFICATION 4.2; ERRORS 2, 7, 8; R60)."""

import math
import re
from collections.abc import Mapping
from typing import Any

from pytest_corpus.adapter.exchange import Exchange, Frame, non_finite
from pytest_corpus.adapter.facts import to_whole_number
from pytest_corpus.adapter.reports import CLOCKS_MS
from pytest_corpus.kit import expect
from pytest_corpus.kit.outcomes import Keys, Violation, Violations
from pytest_corpus.kit.reply import describe, error_names
from pytest_corpus.spec.errors import BY_CODE, HINTS, RESOURCE_SCOPES, TAXONOMY
from pytest_corpus.spec.words import SUCCESS_CODES
from pytest_corpus.text.problems import NO_JSON, Problem
from pytest_corpus.text.values import strings_of

FINITE = "COM-NUM-2"
"""The requirement that numbers are finite. Data that violate it are not judged any further."""

SUCCESS_KEYS = frozenset({"ok", "code", "ms", "result"})
ERROR_KEYS = frozenset({"ok", "code", "error", "message", "retry_after_ms", "details", "ms"})

STACK_TRACE = re.compile(
    r"Traceback \(most recent call last\)"
    r'|File "[^"]+", line \d+'
    r"|\bgoroutine \d+ \["
    r"|^\s+at .+\(.+:\d+(:\d+)?\)"
    r"|^\s+at .+\.(?:js|ts|mjs|cs):\d+"
    r"|(?<![\w.-])(?<!//)[\w-]+\.(?:py|go|java|kt|rb|js|mjs|ts|cs):\d+(?!\w)",
    re.MULTILINE,
)
"""A part of a stack trace of Python, Go, Java, JavaScript or C#, or a source file with a line number.

A host with a port, such as `api.example.py:443`, does not match.
"""


def answer_findings(exchange: Exchange, component: str, edition: str | None) -> Violations:
    """Yield the violations that a single frame of an answer shows."""
    for number, frame in enumerate(exchange.frames, 1):
        for requirement, violation in _frame_findings(exchange, frame, component, edition):
            violation.frame = number if exchange.streaming else 0
            yield requirement, violation
    if exchange.frames and not exchange.streaming:
        frame = exchange.frames[0]
        if frame.is_success:
            yield from _success_findings(frame.body, edition)
        elif not frame.is_error:
            yield expect.ENVELOPE, Violation("a success or an error envelope", describe(frame.body))


def _frame_findings(exchange: Exchange, frame: Frame, component: str, edition: str | None) -> Violations:
    for path in () if frame.finite else non_finite(frame.body):
        problem = Problem(path, NO_JSON, "is NaN or an infinity", "")
        yield FINITE, Violation("finite numbers only", problems=(problem,))
    if frame.is_error:
        yield from _error_findings(frame.body, component, edition)
    if isinstance(frame.body, dict):  # R116 defines `ms` of a frame
        requirement = "COM-ERR-22" if frame.is_error else "COM-STREAM-10" if exchange.streaming else "COM-ENV-6"
        at_s = frame.at_s if exchange.streaming else exchange.elapsed_s
        yield from elapsed_findings(requirement, frame.body.get("ms"), at_s)


def _success_findings(body: Mapping[str, Any], edition: str | None) -> Violations:
    """Yield the violations in a unary success."""
    if extra := sorted(set(body) - SUCCESS_KEYS):
        yield "COM-ENV-1", Violation("no keys beyond ok, code, ms, result", found=Keys(extra))
    if body.get("ok") is not True:
        yield "COM-ENV-5", Violation("true", found=body.get("ok"), path="ok")
    code = body.get("code")
    if code not in SUCCESS_CODES:
        yield "COM-ENV-2", Violation(f"one of {', '.join(SUCCESS_CODES)}", found=code, path="code")
    elif code != "OK":
        yield "COM-ENV-4", Violation("OK", found=code, path="code")
    if not _has_valid_ms(body, edition):
        yield "COM-ENV-3", Violation("a non-negative number", found=body.get("ms"), path="ms")


def _error_findings(body: Mapping[str, Any], component: str, edition: str | None) -> Violations:
    """Yield the violations in an error envelope."""
    message, retry_after = body.get("message"), body.get("retry_after_ms")
    if extra := sorted(set(body) - ERROR_KEYS):
        yield "COM-ERR-1", Violation(f"no keys beyond {', '.join(sorted(ERROR_KEYS))}", found=Keys(extra))
    for key in ("code", "error", "message"):
        if not isinstance(body.get(key), str):
            yield "COM-ERR-2", Violation("a string", found=body.get(key), path=key)
    if body.get("ok") is not False:
        yield "COM-ERR-2", Violation("false", found=body.get("ok"), path="ok")
    if isinstance(message, str) and not _is_readable(message):
        got = "a text without a word" if message.strip() else "an empty string"
        yield "COM-ERR-5", Violation("a message for a person", got, "message")
    if not _has_valid_ms(body, edition):
        yield "COM-ERR-9", Violation("a non-negative number", found=body.get("ms"), path="ms")
    if retry_after is not None and not _is_at_least_0(retry_after):
        yield "COM-ERR-6", Violation("null or a non-negative number", found=retry_after, path="retry_after_ms")
    if body.get("error") == "DeadlineExceeded" and retry_after is not None:
        yield (
            "COM-ERR-16",
            Violation("no waiting time in an error of class DeadlineExceeded", "a waiting time", "retry_after_ms"),
        )
    yield from _class_findings(body)
    known = TAXONOMY.get(str(body.get("error")))
    if known and known.retry == "no" and retry_after is not None:
        yield (
            "COM-ERR-21",
            Violation(f"no waiting time in an error of class {known.name}", found=retry_after, path="retry_after_ms"),
        )
    yield from _details_findings(body, edition)
    if any(STACK_TRACE.search(text) for text in strings_of([message, body.get("details")])):
        yield "COM-ERR-15", Violation("no stack trace", "a stack frame", "error")
    for name in error_names(body):
        if component not in (owners := TAXONOMY[name].components):  # a subtype of other protocols (R58)
            got = f"{name}, a class of {' and '.join(owners)}"
            yield "COM-SUBTYPE-1", Violation(f"a class of the {component} protocol", got, "error")


def _class_findings(body: Mapping[str, Any]) -> Violations:
    code, error = body.get("code"), body.get("error")
    if not isinstance(code, str) or not isinstance(error, str):
        return
    if not code or not code.isascii() or not code.replace("_", "").isalpha() or not code.isupper():
        yield "COM-ERR-3", Violation("a code in UPPER_SNAKE_CASE", found=code, path="code")
    known, named = TAXONOMY.get(error), BY_CODE.get(code.upper())
    if known is None:
        yield expect.NAMED, Violation("a canonical class or an allowed subtype", found=error, path="error")
    elif named != known:
        strange = named is None or known.family != named.family or named.parent
        requirement = expect.NAMED if strange else "COM-ERR-10"
        yield requirement, Violation(f"{known.code}, the code of {error}", found=code, path="code")


def _details_findings(body: Mapping[str, Any], edition: str | None) -> Violations:
    details = body.get("details")
    if details is None and not ("details" in body and edition == "1.0.0"):
        return
    if not isinstance(details, Mapping):
        yield "COM-ERR-7", Violation("an object", found=details, path="details")
        return
    for name, wanted in HINTS.items():
        value = details.get(name)
        if value is not None and not _has_required_form(name, value):
            yield "COM-ERR-13", Violation(wanted, found=value, path=f"details.{name}")
    known = TAXONOMY.get(str(body.get("error")))
    if known is None:
        return
    if (status := to_whole_number(details.get("http_status"))) is not None and status not in known.http:
        yield "COM-ERR-14", Violation(" or ".join(map(str, known.http)), f"{status}", "details.http_status")
    retryable, right = details.get("retryable"), known.retry == "yes"
    if isinstance(retryable, bool) and known.retry != "conditional" and retryable is not right:
        yield (
            "COM-ERR-8",
            Violation(f"{str(right).lower()} for {known.name}", found=retryable, path="details.retryable"),
        )


def _has_required_form(name: str, value: Any) -> bool:
    """True if a hint in `details` has the required form (ERRORS 7)."""
    if name == "retryable":
        return isinstance(value, bool)
    if name == "throttle_scope":
        return isinstance(value, str)
    if name == "resource_scope":
        return isinstance(value, str) and value in RESOURCE_SCOPES
    if not _is_at_least_0(value) or math.isnan(value):
        return False
    return 0 < value <= 100 if name == "suggested_batch_reduction" else True


def elapsed_findings(requirement: str, ms: Any, seconds: float) -> Violations:
    """Yield the violation of an `ms` that exceeds the seconds that passed on the suite's clock (R116)."""
    if _is_at_least_0(ms) and ms > (most := seconds * 1000 + CLOCKS_MS):
        yield requirement, Violation(f"at most {most:.0f} ms, because the call took no longer", f"{ms:.0f}", "ms")


def _is_readable(message: str) -> bool:
    """True if a message has three letters, or one letter outside ASCII, which may be a whole word."""
    letters = [sign for sign in message if sign.isalpha()]
    return len(letters) > 2 or any(not sign.isascii() for sign in letters)


def _has_valid_ms(body: Mapping[str, Any], edition: str | None) -> bool:
    """True if `ms` is valid. It may be null except in edition 1.0.0."""
    value = body.get("ms")
    return _is_at_least_0(value) or (value is None and "ms" in body and edition != "1.0.0")


def _is_at_least_0(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and not value < 0
