"""What an exchange reported, in metrics and logs, and whether it gave anything away."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from pytest_corpus.adapter.exchange import Exchange
from pytest_corpus.adapter.hooks.metrics import Count, Observation
from pytest_corpus.kit.audit.findings import AuditContext
from pytest_corpus.kit.outcomes import Blocked, Violation
from pytest_corpus.kit.reply import looks_like_error
from pytest_corpus.spec.components import COMPONENTS
from pytest_corpus.spec.errors import TAXONOMY
from pytest_corpus.spec.operations import BY_OP
from pytest_corpus.spec.requirements import catalogue
from pytest_corpus.spec.words import STREAM_OUTCOME, SUCCESS_CODES
from pytest_corpus.text.redaction import type_name, word

Finding = tuple[str, Violation]

GRAM = 8
"""A substring of this length of a secret is a leak (R21)."""

LEAKS = {
    "content": {"error": "COM-LEAK-1", "metrics": "COM-LEAK-2", "log": "COM-LEAK-3"},
    "tenant": {"error": "COM-LEAK-4", "metrics": "COM-LEAK-4", "log": "COM-LEAK-4"},
    "idempotency key": {"error": "COM-LEAK-5", "metrics": "COM-LEAK-5", "log": "COM-LEAK-10"},
    "provider text": {"answer": "COM-LEAK-6", "metrics": "COM-LEAK-6", "log": "COM-LEAK-6"},
    "model": {"metrics": "COM-OBS-13"},
    "request id": {"metrics": "COM-OBS-14", "message": "COM-LEAK-9"},
    "item id": {"message": "COM-LEAK-9"},
    "attribute": {"error": "COM-LEAK-8", "metrics": "COM-LEAK-8", "log": "COM-LEAK-8"},
}
"""By what a secret is and where it stands: the requirement that this breaks."""


PLACES = {
    "error": "an error",
    "message": "the message of an error",
    "answer": "an answer",
    "metrics": "metrics",
    "log": "a log record",
}

CLOCKS_MS = 50
"""So much longer than by the suite's clock a call may take by the adapter's (R64)."""

UNIQUE = ("COM-OBS-13", "COM-OBS-14")
"""The requirements that speak of what may not become a label."""

COUNTING = ("COM-OBS-1", "COM-OBS-2", "COM-OBS-3")
"""Those that say that a call is observed once."""

LABELLED = ("COM-OBS-5", "COM-OBS-6", "COM-OBS-8", "COM-OBS-10")
"""Those that speak of labels which `capabilities` may go without (R19)."""


def audit(exchange: Exchange, subject: AuditContext) -> Iterator[Finding]:
    """What an exchange's telemetry breaks."""
    if "metrics" in subject.client.hooks:
        yield from _interface(exchange)
        if _watched(exchange, subject):
            yield from _observed(exchange, subject)
    yield from _leaks(exchange, exchange.logs if subject.client.hears_logs else ())


def named(exchange: Exchange) -> list[Observation]:
    """The observations whose `op` names the called operation, bare or with its component (R19)."""
    bare = exchange.op.partition(".")[2]
    return [seen for seen in exchange.observations if seen.op in (bare, exchange.op)]


def outcomes(exchange: Exchange) -> list[Count]:
    """The reports of a stream's final outcome."""
    return [count for count in exchange.counts if str(count.name).endswith(STREAM_OUTCOME)]


def the_one(exchange: Exchange) -> Observation:
    """The one observation of the called operation.

    Raises:
        Blocked: there is none, or there are several.
    """
    seen = named(exchange)
    if len(seen) != 1:
        raise Blocked(_counting(exchange), f"{len(seen)} observations of {exchange.op}", evidence=exchange)
    return seen[0]


def shown(requirement: str, exchange: Exchange, subject: AuditContext) -> bool:
    """Whether an exchange that does not break a requirement shows that it is kept.

    Raises:
        Blocked: nothing was reported where it should be.
    """
    if requirement.startswith("COM-LEAK") or requirement in UNIQUE:
        return _searched(requirement, exchange)
    if not _watched(exchange, subject):
        return False
    if requirement in ("COM-OBS-11", "COM-OBS-18"):
        return exchange.streaming
    if requirement in COUNTING:
        return _counting(exchange) == requirement
    seen, bare = the_one(exchange), exchange.op.partition(".")[2]
    if requirement in LABELLED and (bare == "capabilities" or seen.malformed):
        return False
    ctx = exchange.request.get("ctx")
    ctx = ctx if isinstance(ctx, Mapping) else {}
    if requirement == "COM-OBS-8":
        return isinstance(ctx.get("tenant"), str)
    if requirement in ("COM-OBS-5", "COM-OBS-6"):
        return not _hidden(exchange, _failure(exchange))
    return True


def _searched(requirement: str, exchange: Exchange) -> bool:
    """Whether there was something to look for, and something to look in."""
    if not exchange.secrets:
        return False
    if requirement in (*UNIQUE, "COM-LEAK-2"):
        return bool(exchange.observations or exchange.counts) or bool(the_one(exchange))
    return requirement not in ("COM-LEAK-1", "COM-LEAK-9") or _failure(exchange) is not None


def _failure(exchange: Exchange) -> Mapping[str, Any] | None:
    return next((frame.body for frame in exchange.frames if looks_like_error(frame.body)), None)


def _counting(exchange: Exchange) -> str:
    """The requirement that says that a call with this outcome is observed once."""
    return "COM-OBS-3" if exchange.streaming else "COM-OBS-2" if _failure(exchange) else "COM-OBS-1"


def _interface(exchange: Exchange) -> Iterator[Finding]:
    reports: tuple[Observation | Count, ...] = (*exchange.observations, *exchange.counts)
    for report in reports:
        if report.malformed:
            yield (
                "COM-OBS-12",
                Violation("the keyword arguments of the MetricsSink interface", report.malformed),
            )
        elif report.component not in COMPONENTS:
            yield "COM-OBS-4", Violation(" or ".join(COMPONENTS), word(report.component), "component")
    for count in exchange.counts:
        if isinstance(count.value, bool) or not isinstance(count.value, (int, float)):
            yield "COM-OBS-12", Violation("a number", type_name(count.value), "value")


def _watched(exchange: Exchange, subject: AuditContext) -> bool:
    """Whether observations are required: a known operation at its own entry point, read to its end (R19)."""
    operation = BY_OP.get(exchange.op)
    return (
        operation is not None
        and operation.component == subject.component
        and operation.streaming == exchange.streaming
        and exchange.fault is None
        and bool(exchange.frames)
        and all(isinstance(frame.body, dict) and "ok" in frame.body for frame in exchange.frames)
    )


def _observed(exchange: Exchange, subject: AuditContext) -> Iterator[Finding]:
    failure, seen = _failure(exchange), named(exchange)
    if len(seen) != 1:
        yield _counting(exchange), Violation(f"one observation of {exchange.op}", f"{len(seen)}")
    if exchange.streaming and subject.component in catalogue()["COM-OBS-11"].components:
        counted = outcomes(exchange)
        times = sum(count.value for count in counted if isinstance(count.value, (int, float)))
        if len(counted) != 1 or times != 1:
            yield "COM-OBS-11", Violation(f"one {STREAM_OUTCOME}", f"{len(counted)}, of the value {word(times)}")
        elif not _hidden(exchange, failure) and not _names_outcome(counted[0], exchange, failure):
            got = word(counted[0].extra.get("code"))
            yield "COM-OBS-18", Violation(_named_codes(failure), got, f"{STREAM_OUTCOME}.code")
    if len(seen) == 1:
        yield from _labels(exchange, seen[0], failure, subject)


def _names_outcome(count: Count, exchange: Exchange, failure: Mapping[str, Any] | None) -> bool:
    """Whether a label of the counter names the outcome of a stream; no document says which label (R65).

    OK is the default of the interface: a success need not say it, and only may not be called anything else.
    """
    named = {label.upper() for label in count.extra.values() if isinstance(label, str)}
    if failure is None:
        return not named & _classes()
    return bool(named & {code.upper() for code in _codes(exchange, failure)})


def _labels(
    exchange: Exchange, seen: Observation, failure: Mapping[str, Any] | None, subject: AuditContext
) -> Iterator[Finding]:
    if seen.component != subject.component:
        yield "COM-OBS-4", Violation(subject.component, word(seen.component), "component")
    ms = seen.ms
    if isinstance(ms, bool) or not isinstance(ms, (int, float)) or not 0 <= ms < float("inf"):
        yield "COM-OBS-7", Violation("a non-negative number", word(ms), "ms")
    elif ms > (most := exchange.elapsed_s * 1000 + CLOCKS_MS):
        yield "COM-OBS-17", Violation(f"at most {most:.0f} ms, which the call took", f"{ms:.0f}", "ms")
    name = exchange.op.partition(".")[2]
    if name != "capabilities" and not _hidden(exchange, failure):
        if seen.ok is not (failure is None):
            yield "COM-OBS-5", Violation(word(failure is None), word(seen.ok), "ok")
        if not isinstance(seen.code, str) or seen.code not in _codes(exchange, failure):
            yield "COM-OBS-6", Violation(_named_codes(failure), word(seen.code), "code")
    yield from _context_labels(exchange, seen)


def _hidden(exchange: Exchange, failure: Mapping[str, Any] | None) -> bool:
    """Whether the provider failed without the wire telling it: a report of health, or a finding of its own."""
    return failure is None and any(what.startswith("provider text") for what in exchange.secrets)


def _codes(exchange: Exchange, failure: Mapping[str, Any] | None) -> set[str]:
    """The codes that an observation may have: of a success OK, or what the wire says (R50)."""
    if failure is None:
        said = {body["code"] for body in (frame.body for frame in exchange.frames) if isinstance(body.get("code"), str)}
        return {"OK", *said.intersection(SUCCESS_CODES)}
    error = str(failure.get("error"))
    return {str(failure.get("code")), error, *_relatives(TAXONOMY[error].family if error in TAXONOMY else "")}


@cache
def _relatives(family: str) -> frozenset[str]:
    """The classes of a family and their codes."""
    return frozenset(name for each in TAXONOMY.values() if each.family == family for name in (each.name, each.code))


@cache
def _classes() -> frozenset[str]:
    """The names and codes of all classes of errors, in capitals."""
    return frozenset(name.upper() for each in TAXONOMY.values() for name in (each.name, each.code))


def _named_codes(failure: Mapping[str, Any] | None) -> str:
    return "OK" if failure is None else f"{word(failure.get('error'))}, its code, its class or a subtype of that"


def _context_labels(exchange: Exchange, seen: Observation) -> Iterator[Finding]:
    ctx = exchange.request.get("ctx") if isinstance(exchange.request, Mapping) else None
    if not isinstance(ctx, Mapping) or exchange.op.endswith(".capabilities"):
        return
    tenant, deadline = ctx.get("tenant"), ctx.get("deadline_ms")
    if isinstance(tenant, str) and tenant and seen.extra.get("tenant_hash") in (None, ""):
        yield "COM-OBS-8", Violation("tenant_hash where a tenant was given", "none", "extra.tenant_hash")
    bucket = seen.extra.get("deadline_bucket")
    if isinstance(deadline, (int, float)) and not isinstance(deadline, bool) and 0 < deadline < 2**63:
        if bucket in (None, ""):
            yield (
                "COM-OBS-10",
                Violation("deadline_bucket where a deadline was given", "none", "extra.deadline_bucket"),
            )
    elif deadline is None and bucket is not None:
        yield "COM-OBS-10", Violation("no deadline_bucket without a deadline", "one", "extra.deadline_bucket")


def _leaks(exchange: Exchange, logs: Sequence[str]) -> Iterator[Finding]:
    if not exchange.secrets:
        return
    reports: tuple[Observation | Count, ...] = (*exchange.observations, *exchange.counts)
    texts: dict[str, Sequence[str]] = {
        "error": [_error_text(frame.body) for frame in exchange.frames if looks_like_error(frame.body)]
        + list(exchange.headers if _failure(exchange) else ()),
        "message": [str(frame.body.get("message")) for frame in exchange.frames if looks_like_error(frame.body)],
        "answer": [
            *(json.dumps(frame.body, ensure_ascii=False, default=str) for frame in exchange.frames),
            *exchange.headers,
        ],
        "metrics": [json.dumps(report.labels(), default=str, ensure_ascii=False) for report in reports],
        "log": logs,
    }
    for what, secret in exchange.secrets.items():
        kind = next((kind for kind in LEAKS if what.startswith(kind)), "content")
        for channel, requirement in LEAKS[kind].items():
            if exchange.debug_logs and channel == "log":
                requirement = "COM-LEAK-7"  # noqa: PLW2901 - the same leak, seen only on request
            if any(gives_away(text, secret) for text in texts[channel]):
                yield requirement, Violation(f"nothing of the {what}", f"a part of it in {PLACES[channel]}")


def _error_text(body: Mapping[str, Any]) -> str:
    said = {key: body.get(key) for key in ("message", "details", "error", "code")}
    return json.dumps(said, ensure_ascii=False, default=str)


def gives_away(text: str, secret: str) -> bool:
    """Whether a text holds a secret, or so much of it as counts as a leak (R21)."""
    if len(secret) <= GRAM:
        return secret in text
    return any(secret[start : start + GRAM] in text for start in range(len(secret) - GRAM + 1))
