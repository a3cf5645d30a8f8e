"""From test records to one status a requirement, and one verdict a component."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from pytest_corpus.reports.ledger import Finding, Ledger, TestRecord
from pytest_corpus.spec.requirements import Requirement, applicable

STATUSES = ("satisfied", "violated", "not_applicable", "not_assessed", "deviated")
VERDICTS = ("conformant", "conformant_with_deviations", "incomplete", "nonconformant", "partial")
"""From best to worst; an overall verdict is the worst of its components'."""


@dataclass(frozen=True, slots=True)
class Status:
    """Where one requirement stands for one component."""

    requirement: Requirement
    component: str
    status: str
    tests: tuple[TestRecord, ...] = ()
    findings: tuple[Finding, ...] = ()
    reason: str = ""
    keyword: str = ""
    blocked_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ComponentVerdict:
    """One component's verdict with the statuses that it follows from."""

    component: str
    verdict: str
    statuses: tuple[Status, ...]

    def totals(self, level: str | None = None) -> Counter[str]:
        """How many requirements have each status, of one level or of all."""
        return Counter(s.status for s in self.statuses if level in (None, s.requirement.level))


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of a run for one adapter."""

    verdict: str
    complete: bool
    gaps: tuple[str, ...]
    components: tuple[ComponentVerdict, ...] = field(default_factory=tuple)


def decide(ledger: Ledger, level: str = "must") -> Verdict:
    """The verdict of a run; violations below `level` are reported and do not count."""
    gaps = tuple(ledger.gaps)
    by_component = {
        component: [record for record in ledger.records.values() if record.component == component]
        for component in ledger.components
    }
    decided = tuple(
        _component(component, records, level, partial=bool(gaps)) for component, records in by_component.items()
    )
    return Verdict("partial" if gaps else worst(part.verdict for part in decided), not gaps, gaps, decided)


def _component(component: str, records: list[TestRecord], level: str, *, partial: bool) -> ComponentVerdict:
    statuses = tuple(_status(requirement, component, records) for requirement in applicable(component))
    pairs = [(entry.requirement.level, entry.status) for entry in statuses]
    return ComponentVerdict(component, verdict_of(pairs, level, partial=partial), statuses)


def verdict_of(statuses: Iterable[tuple[str, str]], level: str, *, partial: bool) -> str:
    """The verdict that follows from the level and status of each requirement of a component."""
    pairs = list(statuses)
    musts = [status for of, status in pairs if of == "MUST"]
    if partial:
        return "partial"
    if "violated" in (status for of, status in pairs if of in counted(level)):
        return "nonconformant"
    if "not_assessed" in musts or "satisfied" not in musts:
        return "incomplete"
    return "conformant_with_deviations" if "deviated" in musts else "conformant"


def counted(level: str) -> tuple[str, ...]:
    """The levels whose violation counts with `--corpus-level`."""
    return ("MUST",) if level == "must" else ("MUST", "SHOULD")


def worst(verdicts: Iterable[str]) -> str:
    """The worst of the components' verdicts; partial where there is none."""
    return max(verdicts, key=VERDICTS.index, default="partial")


def _status(requirement: Requirement, component: str, records: Iterable[TestRecord]) -> Status:
    records = list(records)
    own = tuple(record for record in records if record.requirement == requirement.id)
    findings = _unique(
        finding for record in records for finding in record.findings if finding.requirement == requirement.id
    )
    outcomes = {record.outcome for record in own}
    if findings or "violated" in outcomes:
        return Status(requirement, component, "violated", own, findings)
    open_tests = [record for record in own if record.outcome in ("not_assessed", "error")]
    if open_tests or not own:
        first = next(iter(open_tests), None)
        return Status(
            requirement,
            component,
            "not_assessed",
            own,
            reason=first.reason if first else "no test of it ran",
            keyword=first.keyword if first else "",
            blocked_by=tuple(sorted({record.blocked_by for record in open_tests if record.blocked_by})),
        )
    if "satisfied" in outcomes:
        return Status(requirement, component, "satisfied", own)
    return Status(requirement, component, "not_applicable", own, reason=own[0].reason)


def _unique(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(dict.fromkeys(findings))
