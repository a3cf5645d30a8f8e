"""The summary of a run as plain lines of text."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_corpus.reports.text import printable
from pytest_corpus.spec.components import WIRE
from pytest_corpus.verdict.ledger import Ledger
from pytest_corpus.verdict.verdict import ComponentVerdict, Status, Verdict


def summary(ledger: Ledger, verdict: Verdict) -> list[str]:
    """Each component's numbers, findings and what would make more assessable; the verdict last."""
    lines = [f"{'client library' if ledger.components == WIRE else 'adapter'} {ledger.adapter}"]
    for part in verdict.components:
        lines += _component(part)
    lines += [f"  not complete: {gap}" for gap in verdict.gaps]
    lines += [f"  failed: {fault}" for fault in verdict.faults]
    said = "no verdict: only a part of the suite ran" if verdict.verdict == "partial" else f"verdict: {verdict.verdict}"
    return [printable(line) for line in (*lines, f"  {said}")]


def _component(part: ComponentVerdict) -> Iterator[str]:
    yield f"  {part.component}: {part.verdict}"
    for level in ("MUST", "SHOULD"):
        totals = part.totals(level)
        applicable = sum(totals.values()) - totals["not_applicable"]
        yield (
            f"    {level:<6} {totals['satisfied']}/{applicable} satisfied, {totals['violated']} violated, "
            f"{totals['not_assessed']} not assessed, {totals['not_applicable']} not applicable"
            + (f", {totals['deviated']} deviated" if totals["deviated"] else "")
        )
    for status in part.statuses:
        if status.status == "violated":
            said = "violated" if status.requirement.level == "MUST" else "not kept"
            yield f"    {said}  {_named(status)}{_runs(status)}"
    for status in part.statuses:
        if status.deviation:
            yield f"    deviated  {_named(status)}  until {status.deviation.expires}{_runs(status)}"
    yield from _unassessed(part)
    for test in sorted(
        {record.test for status in part.statuses for record in status.tests if record.outcome == "error"}
    ):
        yield f"    fault of pytest-corpus itself, not of the adapter, in {test}: please report it"


def _unassessed(part: ComponentVerdict) -> Iterator[str]:
    open_ones = [status for status in part.statuses if status.status == "not_assessed"]
    for keyword in sorted({status.keyword for status in open_ones if status.keyword}):
        ids = [status.requirement.id for status in open_ones if status.keyword == keyword]
        yield f"    not assessed: the factory does not accept '{keyword}': {', '.join(ids)}"
    for blocker in sorted({by for status in open_ones for by in status.blocked_by}):
        blocked = [status for status in open_ones if blocker in status.blocked_by]
        yield f"    {blocker} blocks {len(blocked)} other{'' if len(blocked) == 1 else 's'}"
    untested = [status for status in open_ones if not status.tests]
    if untested:
        yield f"    not assessed  {len(untested)} requirements: no test of them ran"
    reasons: dict[str, list[str]] = {}
    for status in open_ones:
        if status.tests and not status.keyword and not status.blocked_by:
            reasons.setdefault(status.reason, []).append(status.requirement.id)
    for reason, ids in reasons.items():
        yield f"    not assessed  {', '.join(ids)}: {reason}"


def _runs(status: Status) -> str:
    passed, runs = status.runs
    return f"  passed {passed} of {runs}" if runs else ""


def _named(status: Status) -> str:
    entry = status.requirement
    return f"{entry.id} ({entry.level})  {entry.text}  [{entry.source[0]}]"
