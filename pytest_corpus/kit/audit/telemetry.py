"""Rules for the reports of a call through the hook `metrics` (SPECIFICATION 6.4, 13; R19)."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from pytest_corpus.adapter.exchange import Exchange, is_not_offered, is_observed
from pytest_corpus.adapter.reports import Count, Observation
from pytest_corpus.adapter.scope import OBSERVATION, OUTCOME
from pytest_corpus.kit.audit.envelopes import elapsed_findings
from pytest_corpus.kit.outcomes import Blocked, Violation, Violations, describe
from pytest_corpus.kit.reply import error_names
from pytest_corpus.spec.components import COMPONENTS
from pytest_corpus.spec.errors import PERMANENT, TAXONOMY, is_a
from pytest_corpus.spec.operations import BY_OP
from pytest_corpus.spec.requirements import catalogue
from pytest_corpus.spec.words import STREAM_OUTCOME, SUCCESS_CODES

PLAIN_WORD = re.compile(r"[a-z0-9]{1,63}")
"""A tenant or a key that every adapter must accept."""


Reports = tuple[Observation | Count, ...]
"""All observations and counts that the adapter reported for a call."""


def telemetry_findings(exchange: Exchange, component: str, reports: Reports) -> Violations:
    """Yield the violations in the reports of a call."""
    for report in reports:
        if report.malformed:
            yield "COM-OBS-12", Violation("the keyword arguments of the MetricsSink interface", report.malformed)
        elif report.component not in COMPONENTS:
            yield "COM-OBS-4", Violation(" or ".join(COMPONENTS), found=report.component, path="component")
    for count in reports:
        if isinstance(count, Count) and (isinstance(count.value, bool) or not isinstance(count.value, (int, float))):
            yield "COM-OBS-12", Violation("a number", found=count.value, path="value")
    if must_observe(exchange, component):
        yield from _observed_call_findings(exchange, component, reports)


def observations_of(exchange: Exchange) -> list[Observation]:
    """Return the observations whose `op` names the called operation, with or without its component (R19).

    If there are none because the operation is not offered, return the observations with an unknown `op` (R143).
    """
    exchange.observed.wait_for_report(OBSERVATION)
    return _observations_of(exchange)


def _observations_of(exchange: Exchange) -> list[Observation]:
    names, reported = (bare_op(exchange), exchange.op), exchange.observed.observations
    found = [seen for seen in reported if seen.op in names]
    if found or not is_not_offered(exchange):
        return found
    return [seen for seen in reported if f"{seen.component}.{seen.op}" not in BY_OP and seen.op not in BY_OP]


def reports_of(exchange: Exchange) -> Reports:
    """Wait for the reports of a call, and return them."""
    observed = exchange.observed.wait_for_report(OBSERVATION).wait_for_report(OUTCOME)
    return (*observed.observations, *observed.counts)


def outcome_counts(exchange: Exchange) -> list[Count]:
    """Return the counters that report a stream's final outcome."""
    return [count for count in exchange.observed.wait_for_report(OUTCOME).counts if count.is_outcome]


def single_observation(exchange: Exchange) -> Observation:
    """Return the only observation of the called operation. Raises Blocked if there are none or several."""
    seen = observations_of(exchange)
    if len(seen) != 1:
        raise Blocked(
            observation_requirement(exchange), f"{len(seen)} observations of {exchange.op}", judged_on=(exchange,)
        )
    return seen[0]


def bare_op(exchange: Exchange) -> str:
    """Return the operation's name without its component."""
    return exchange.op.partition(".")[2]


def failure_of(exchange: Exchange) -> Mapping[str, Any] | None:
    """Return the first error envelope of the answer, or None."""
    return next((frame.body for frame in exchange.frames if frame.is_error), None)


def observation_requirement(exchange: Exchange) -> str:
    """Return the requirement that demands one observation of a call with this outcome."""
    return "COM-OBS-3" if exchange.streaming else "COM-OBS-2" if failure_of(exchange) else "COM-OBS-1"


def must_observe(exchange: Exchange, component: str) -> bool:
    """True if the adapter must observe the call (`is_observed`), and all frames of the answer are envelopes (R19)."""
    if not is_observed(exchange) or BY_OP[exchange.op].component != component:
        return False
    return all(isinstance(frame.body, dict) and "ok" in frame.body for frame in exchange.frames)


def is_hidden_failure(exchange: Exchange) -> bool:
    """True if the provider failed but the answer is a success. Other tests report this, except for `health`."""
    if not any(kind.startswith("provider text") for kind in exchange.secrets):
        return False
    return failure_of(exchange) is None


def _observed_call_findings(exchange: Exchange, component: str, reports: Reports) -> Violations:
    seen = _observations_of(exchange)
    if len(seen) != 1:
        yield observation_requirement(exchange), Violation(f"one observation of {exchange.op}", f"{len(seen)}")
    if exchange.streaming:
        counted = [each for each in reports if isinstance(each, Count) and each.is_outcome]
        yield from _stream_outcome_findings(exchange, component, counted)
    if len(seen) == 1:
        yield from _observation_findings(seen[0], component)
        if bare_op(exchange) != "capabilities":
            yield from _outcome_label_findings(seen[0], exchange)
            if exchange.ctx is not None and not _may_be_refused(exchange.ctx, exchange):
                yield from _context_label_findings(seen[0].extra, exchange.ctx)
        yield from elapsed_findings("COM-OBS-17", seen[0].ms, exchange.elapsed_s)


def count_requirement(component: str) -> str:
    """Return the requirement that demands one count of the outcome of a stream."""
    return "COM-OBS-11" if component in catalogue()["COM-OBS-11"].components else "EMB-OBS-1"


def _stream_outcome_findings(exchange: Exchange, component: str, counted: list[Count]) -> Violations:
    total = sum(count.value for count in counted if isinstance(count.value, (int, float)))
    if len(counted) != 1 or total != 1:
        got = f"{len(counted)} calls of this counter, with the sum {describe(total)}"
        wanted = f"one call of the counter {STREAM_OUTCOME}, with the value 1"
        yield count_requirement(component), Violation(wanted, got)
    elif component not in catalogue()["COM-OBS-18"].components:
        return
    elif not is_hidden_failure(exchange) and not is_outcome_named(counted[0], exchange):
        found = counted[0].extra.get("code")
        yield "COM-OBS-18", Violation(_expected_codes(exchange), found=found, path=f"{STREAM_OUTCOME}.code")


def is_outcome_named(count: Count, exchange: Exchange) -> bool:
    """True if a label of the counter names the outcome of a stream. No document defines the label (R65).

    A success needs no label, because OK is the default. But no label of a success may name an error.
    """
    named = {label.upper() for label in count.extra.values() if isinstance(label, str)}
    if failure_of(exchange) is None:
        return not named & {name.upper() for name in _class_names()}
    return bool(named & {code.upper() for code in _allowed_codes(exchange)})


def _observation_findings(seen: Observation, component: str) -> Violations:
    if seen.component != component:
        yield "COM-OBS-4", Violation(component, found=seen.component, path="component")
    if isinstance(seen.ms, bool) or not isinstance(seen.ms, (int, float)) or not 0 <= seen.ms < float("inf"):
        yield "COM-OBS-7", Violation("a non-negative number", found=seen.ms, path="ms")


def _outcome_label_findings(seen: Observation, exchange: Exchange) -> Violations:
    if is_hidden_failure(exchange):
        return
    succeeded = failure_of(exchange) is None
    if seen.ok is succeeded and succeeded and seen.code == "OK":
        return
    if seen.ok is not succeeded:
        yield "COM-OBS-5", Violation(describe(succeeded), found=seen.ok, path="ok")
    if not isinstance(seen.code, str) or seen.code not in _allowed_codes(exchange):
        yield "COM-OBS-6", Violation(_expected_codes(exchange), found=seen.code, path="code")
    elif not succeeded and seen.code not in TAXONOMY:
        yield "COM-OBS-28", Violation("the name of the error class", found=seen.code, path="code")


def _may_be_refused(ctx: Mapping[str, Any], exchange: Exchange) -> bool:
    """True if a call may have been refused because of its tenant or its key. Then its labels may vary (R21, R138)."""
    texts = [ctx[key] for key in ("tenant", "idempotency_key") if isinstance(ctx.get(key), str)]
    if all(map(PLAIN_WORD.fullmatch, texts)):
        return False
    return any(is_a(name, family) for name in error_names(failure_of(exchange)) for family in PERMANENT)


def _context_label_findings(labels: Mapping[str, Any], ctx: Mapping[str, Any]) -> Violations:
    tenant, deadline, bucket = ctx.get("tenant"), ctx.get("deadline_ms"), labels.get("deadline_bucket")
    if isinstance(tenant, str) and tenant and labels.get("tenant_hash") in (None, ""):
        yield "COM-OBS-8", Violation("a tenant_hash, because a tenant was given", "no tenant_hash", "extra.tenant_hash")
    is_deadline = isinstance(deadline, (int, float)) and not isinstance(deadline, bool) and 0 < deadline < 2**63
    if is_deadline and bucket in (None, ""):
        wanted = "deadline_bucket where a deadline was given"
        yield "COM-OBS-10", Violation(wanted, "no deadline_bucket", "extra.deadline_bucket")
    elif deadline is None and bucket is not None:
        wanted = "no deadline_bucket without a deadline"
        yield "COM-OBS-10", Violation(wanted, "a deadline_bucket", "extra.deadline_bucket")


def _allowed_codes(exchange: Exchange) -> set[str]:
    """Return the codes that an observation may have: OK for a success, else the code of the answer (R50)."""
    failure = failure_of(exchange)
    if failure is None:
        stated = {frame.body["code"] for frame in exchange.frames if isinstance(frame.body.get("code"), str)}
        return {"OK", *stated.intersection(SUCCESS_CODES)}
    error = str(failure.get("error"))
    family = TAXONOMY[error].family if error in TAXONOMY else None
    return {str(failure.get("code")), error, *(_class_names(family) if family else ())}


@cache
def _class_names(family: str = "") -> frozenset[str]:
    """Return the names and codes of the error classes of a family, or of all classes."""
    chosen = (each for each in TAXONOMY.values() if family in ("", each.family))
    return frozenset(name for each in chosen for name in (each.name, each.code))


def _expected_codes(exchange: Exchange) -> str:
    failure = failure_of(exchange)
    if failure is None:
        return "OK"
    return f"{describe(failure.get('error'))}, the code of the error, its class, or a subtype of this class"
