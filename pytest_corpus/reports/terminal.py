"""The summary of a run as plain lines of text."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_corpus.reports.ledger import Ledger
from pytest_corpus.reports.text import printable
from pytest_corpus.reports.verdict import ComponentVerdict, Status, Verdict


def summary(ledger: Ledger, verdict: Verdict) -> list[str]:
    """Each component's numbers, findings and what would make more assessable; the verdict last."""
    lines = [f"adapter {ledger.adapter}"]
    for part in verdict.components:
        lines += _component(part)
    lines += [f"  not complete: {gap}" for gap in verdict.gaps]
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
        )
    for status in part.statuses:
        if status.status == "violated":
            yield f"    {'violated' if status.requirement.level == 'MUST' else 'not kept'}  {_named(status)}"
    yield from _unassessed(part)


def _unassessed(part: ComponentVerdict) -> Iterator[str]:
    open_ones = [status for status in part.statuses if status.status == "not_assessed"]
    for keyword in sorted({status.keyword for status in open_ones if status.keyword}):
        ids = [status.requirement.id for status in open_ones if status.keyword == keyword]
        yield f"    not assessed for want of the factory keyword '{keyword}': {', '.join(ids)}"
    for blocker in sorted({by for status in open_ones for by in status.blocked_by}):
        blocked = [status for status in open_ones if blocker in status.blocked_by]
        yield f"    {blocker} blocks {len(blocked)} others"
    untested = [status for status in open_ones if not status.tests]
    if untested:
        yield f"    not assessed  {len(untested)} requirements: no test of them ran"
    for status in open_ones:
        if status.tests and not status.keyword and not status.blocked_by:
            yield f"    not assessed  {status.requirement.id}: {status.reason}"


def _named(status: Status) -> str:
    entry = status.requirement
    return f"{entry.id} ({entry.level})  {entry.text}  [{entry.source[0]}]"
