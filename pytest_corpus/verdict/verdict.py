"""The status of each requirement and the verdict of each component, from test records."""

from collections import Counter, defaultdict
from collections.abc import Container, Iterable
from dataclasses import dataclass, field, replace
from datetime import date

from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.spec.operations import OPERATIONS
from pytest_corpus.spec.requirements import Requirement, applicable_requirements
from pytest_corpus.verdict.deviations import Deviation, today
from pytest_corpus.verdict.editions import PREVIEW, Edition, current_edition
from pytest_corpus.verdict.finding import Finding
from pytest_corpus.verdict.ledger import Ledger, TestRecord

STATUSES = ("satisfied", "violated", "not_applicable", "not_assessed", "deviated")
VERDICTS = ("conformant", "conformant_with_deviations", "incomplete", "nonconformant", "partial")
"""The verdicts from best to worst. The overall verdict is the worst of the components' verdicts."""

PLAIN = frozenset(operation.works for operation in OPERATIONS)
"""The requirements that say that a plain request of an operation works."""


def hint_of(requirement: Requirement, got: Iterable[str]) -> str:
    """Return the hint for a finding. If the run's credentials forbid plain requests, return a hint about them."""
    denied = [each for each in got if "AuthError" in each]
    if any(requirement.id in PLAIN or each.startswith("a plain ") for each in denied):
        return "run the suite with credentials that may make this call; those of this run may be read-only"
    return requirement.hint


@dataclass(frozen=True, slots=True)
class Status:
    """The status of one requirement for one component."""

    requirement: Requirement
    component: str
    status: str
    tests: tuple[TestRecord, ...] = ()
    findings: tuple[Finding, ...] = ()
    reason: str = ""
    keyword: str = ""
    blocked_by: tuple[str, ...] = ()
    deviation: Deviation | None = None

    def repetitions(self, test: str) -> list[TestRecord]:
        """Return all executions of one of the requirement's tests."""
        return [record for record in self.tests if record.test == test]

    @property
    def runs(self) -> tuple[int, int]:
        """The number of passed repetitions and the number of all repetitions; (0, 0) if no repetition was decisive."""
        rounds: dict[int, bool] = {}
        for record in self.tests:
            if record.repetition and record.outcome in ("satisfied", "violated"):
                rounds[record.repetition] = rounds.get(record.repetition, True) and record.outcome == "satisfied"
        return sum(rounds.values()), len(rounds)


@dataclass(frozen=True, slots=True)
class ComponentVerdict:
    """The verdict on one component, with the statuses that determine it."""

    component: str
    verdict: str
    statuses: tuple[Status, ...]

    def totals(self, level: str | None = None) -> Counter[str]:
        """Return the number of requirements with each status, at one level or at all levels."""
        return Counter(s.status for s in self.statuses if level in (None, s.requirement.level))


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of a run for one adapter, judged by an edition. `faults` names invalid declared deviations."""

    edition: Edition
    verdict: str
    complete: bool
    gaps: tuple[str, ...]
    components: tuple[ComponentVerdict, ...] = field(default_factory=tuple)
    faults: tuple[str, ...] = ()

    def of_status(self, status: str, levels: Container[str] = ("MUST", "SHOULD", "MAY", PREVIEW)) -> list[Status]:
        """Return the requirements with a status, at some levels."""
        every = (each for part in self.components for each in part.statuses)
        return [each for each in every if each.status == status and each.requirement.level in levels]


def decide(
    ledger: Ledger,
    level: str = "must",
    deviations: Iterable[Deviation] = (),
    day: date | None = None,
    edition: Edition | None = None,
) -> Verdict:
    """Compute the verdict of a run; violations below `level` are reported but do not count.

    Args:
        deviations: the declared deviations of all adapters.
        day: the day (UTC) on which they must be valid; by default today.
        edition: determines the level of each requirement; by default the current edition.
    """
    day, edition = day or today(), edition or current_edition()
    declared = [entry for entry in deviations if entry.covers(entry.requirement, ledger.adapter)]
    counting = [entry for entry in declared if not entry.has_expired(day)]
    gaps = tuple(ledger.gaps)
    found = ledger.records.values()
    by_component = {
        component: [record for record in found if record.component == component] for component in ledger.components
    }
    decided = tuple(
        _decide_component(component, records, level, counting, edition, partial=bool(gaps))
        for component, records in by_component.items()
    )
    faults = (
        *(f"the deviation of {entry.requirement} expired on {entry.expires}: renew or remove it"
          for entry in declared if entry.has_expired(day)),
        *_describe_needless_deviations(counting, decided, complete=not gaps),
    )  # fmt: skip
    overall = "partial" if gaps else worst_verdict(part.verdict for part in decided)
    return Verdict(edition, overall, not gaps, gaps, decided, faults)


def _describe_needless_deviations(
    counting: Iterable[Deviation], decided: Iterable[ComponentVerdict], *, complete: bool
) -> Iterable[str]:
    """Yield a sentence for each deviation from a requirement that a complete run found satisfied."""
    statuses = [status for part in decided for status in part.statuses]
    for entry in counting if complete else ():
        met = {status.status for status in statuses if status.requirement.id == entry.requirement}
        if "satisfied" in met and "deviated" not in met:
            yield f"{entry.requirement} is kept now: remove its deviation"


def _decide_component(
    component: str,
    records: list[TestRecord],
    level: str,
    deviations: Iterable[Deviation],
    edition: Edition,
    *,
    partial: bool,
) -> ComponentVerdict:
    own: dict[str, list[TestRecord]] = defaultdict(list)
    findings: dict[str, dict[Finding, None]] = defaultdict(dict)
    for record in records:
        own[record.requirement].append(record)
        for finding in record.findings:
            findings[finding.requirement][finding] = None
    found = [
        _decide_status(requirement, component, tuple(own[requirement.id]), tuple(findings[requirement.id]))
        for requirement in map(edition.with_level, applicable_requirements(component))
    ]
    declared = {entry.requirement: entry for entry in reversed(list(deviations))}
    statuses = tuple(
        replace(status, status="deviated", deviation=declared[status.requirement.id])
        if status.status == "violated" and status.requirement.id in declared
        else status
        for status in _add_blockers(found)
    )
    pairs = [(entry.requirement.level, entry.status) for entry in statuses]
    return ComponentVerdict(component, verdict_of(pairs, level, partial=partial), statuses)


def _add_blockers(statuses: list[Status]) -> Iterable[Status]:
    """Return the statuses, plus the requirements that block others and are violated or not assessed."""
    blocking: dict[str, str] = {}
    for status in statuses:
        for by in status.blocked_by:
            blocking.setdefault(by, status.requirement.id)
    for status in statuses:
        blocked = blocking.get(status.requirement.id)
        if blocked and status.status in ("satisfied", "not_applicable"):
            yield replace(status, status="not_assessed", reason=Obstacle.BLOCKS.reason(requirement=blocked))
        else:
            yield status


def verdict_of(statuses: Iterable[tuple[str, str]], level: str, *, partial: bool) -> str:
    """Return the verdict on a component, from the level and status of each requirement."""
    pairs = list(statuses)
    musts = {status for of, status in pairs if of == "MUST"}
    binding = {status for of, status in pairs if of in counting_levels(level)}
    if partial:
        return "partial"
    if "violated" in binding:
        return "nonconformant"
    if "not_assessed" in musts or not musts & {"satisfied", "deviated"}:
        return "incomplete"
    return "conformant_with_deviations" if "deviated" in binding else "conformant"


def counting_levels(level: str) -> tuple[str, ...]:
    """Return the levels whose violations count with `--corpus-level`."""
    return ("MUST",) if level == "must" else ("MUST", "SHOULD")


def worst_verdict(verdicts: Iterable[str]) -> str:
    """Return the worst of the components' verdicts; "partial" if there is no component."""
    return max(verdicts, key=VERDICTS.index, default="partial")


def _decide_status(
    requirement: Requirement, component: str, own: tuple[TestRecord, ...], findings: tuple[Finding, ...]
) -> Status:
    findings = tuple(finding for finding in findings if not finding.indirect) or findings[:1]
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
            reason=first.reason if first else Obstacle.NO_TEST.text,
            keyword=first.keyword if first else "",
            blocked_by=tuple(sorted({record.blocked_by for record in open_tests if record.blocked_by})),
        )
    if "satisfied" in outcomes:
        return Status(requirement, component, "satisfied", own)
    return Status(requirement, component, "not_applicable", own, reason=own[0].reason)
