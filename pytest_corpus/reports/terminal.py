"""The summary of a run for the terminal: numbers, one line per violated requirement, and the verdict.

Violations are in the order of repair: MUSTs first, then violations that block many requirements or fail many tests.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from pytest_corpus.reports.text import count_in_words, printable
from pytest_corpus.reports.view import TONES, count_applicable
from pytest_corpus.spec.components import WIRE
from pytest_corpus.spec.obstacles import Obstacle, with_remedy
from pytest_corpus.spec.requirements import Requirement
from pytest_corpus.verdict.editions import PREVIEW
from pytest_corpus.verdict.ledger import Ledger, describe_left_data, describe_unseen_writes
from pytest_corpus.verdict.verdict import ComponentVerdict, Status, Verdict


@dataclass(frozen=True, slots=True)
class ViolatedRequirement:
    """A violated requirement, in one component or in several.

    `blocked` is the number of requirements that it blocks, `failed` the number of tests that found the violation.
    """

    requirement: Requirement
    components: tuple[str, ...]
    blocked: int
    failed: int

    def __str__(self) -> str:
        blocked, failed = count_in_words(self.blocked, "other"), count_in_words(self.failed, "test")
        why = f"blocks {blocked}" if self.blocked else f"fails {failed}"
        where = f" ({', '.join(self.components)})" if len(self.components) > 1 else ""
        return f"{self.requirement.id}{where} {why}: {self.requirement.text}"


def order_violations(verdict: Verdict) -> list[Status]:
    """Return every violation, in the order of repair; equally important ones in the order of the catalogue."""
    blocks = {part.component: blocked_counts(part.statuses) for part in verdict.components}

    def key(status: Status) -> tuple[bool, int, int]:
        number = blocks[status.component][status.requirement.id]
        return status.requirement.level != "MUST", -number, -failure_counts(status)[0]

    return sorted(verdict.of_status("violated"), key=key)


def rank_violations(verdict: Verdict) -> list[ViolatedRequirement]:
    """Return the violated MUSTs in the order of repair. Components that violate the same MUST share one entry."""
    blocks: Counter[str] = Counter()
    fails: Counter[str] = Counter()
    found: dict[str, tuple[Requirement, list[str]]] = {}
    for part in verdict.components:
        blocks.update(blocked_counts(part.statuses))
    for status in order_violations(verdict):
        if status.requirement.level == "MUST":
            fails[status.requirement.id] += failure_counts(status)[0] or 1
            found.setdefault(status.requirement.id, (status.requirement, []))[1].append(status.component)
    every = [
        ViolatedRequirement(entry, tuple(where), blocks[name], fails[name]) for name, (entry, where) in found.items()
    ]
    return sorted(every, key=lambda each: (-each.blocked, -each.failed))


def blocked_counts(statuses: Iterable[Status]) -> Counter[str]:
    """Return the number of requirements that each requirement blocks, largest first."""
    found = Counter(by for status in statuses for by in status.blocked_by)
    return Counter(dict(sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))))


def failure_counts(status: Status) -> tuple[int, int]:
    """Return the number of tests that found a requirement violated, and the number of tests that checked it."""
    looked = [record for record in status.tests if record.outcome in ("satisfied", "violated")]
    broken = [
        record for record in looked if any(finding.requirement == status.requirement.id for finding in record.findings)
    ]
    return len(broken), len(looked)


Tone = Literal["plain", "good", "caution", "bad"]

VERDICT_TONES: dict[str, Tone] = {**TONES, "partial": "caution"}  # type: ignore[dict-item]


class TerminalLine(NamedTuple):
    """A line of text, with its tone, which determines the colour."""

    text: str
    tone: Tone = "plain"


class Detail(NamedTuple):
    """The parts of a summary: lines for violations, reasons for open requirements, lines for satisfied requirements."""

    violations: bool = True
    reasons: bool = False
    satisfied: bool = False


def build_summary(
    ledger: Ledger, verdict: Verdict, detail: Detail | None = None, notes: Iterable[TerminalLine] = ()
) -> list[TerminalLine]:
    """Return the lines of the summary: numbers and findings of each component, hints, `notes`, the verdict."""
    subject = f"{'client library' if ledger.components == WIRE else 'adapter'} {ledger.adapter}"
    lines = [TerminalLine(f"{subject}: {ledger.outage}", "caution") if ledger.outage else TerminalLine(subject)]
    verdict, others = limit_to_run_part(verdict)
    for part in verdict.components:
        lines += _component_lines(part, verdict, detail or Detail())
    if others:
        lines.append(TerminalLine(f"  the same tests found violated, too: {', '.join(others)}", "caution"))
    if calls := sum(ledger.calls[name] for name in ledger.components):
        tokens = sum(ledger.tokens[name] for name in ledger.components)
        lines.append(
            TerminalLine(f"  calls: {calls}" + (f", which took {count_in_words(tokens, 'token')}" if tokens else ""))
        )
    lines += [
        TerminalLine(f"  waited for: writes of {component} show after {seconds:.3g} s")
        for component, seconds in sorted(ledger.settle.items())
        if seconds
    ]
    if ledger.lacking:
        lines.append(TerminalLine(f"  provider lacks, as its author states: {', '.join(sorted(ledger.lacking))}"))
    lines += [TerminalLine(f"  provider: {said}") for said in sorted(ledger.recorded)]
    lines += [TerminalLine(f"  waited for: {said}", "caution") for said in describe_unseen_writes(ledger)]
    lines += [TerminalLine(f"  left behind: {said}", "caution") for said in describe_left_data(ledger)]
    lines += [TerminalLine(f"  not complete: {'; '.join(verdict.gaps)}", "caution")] if verdict.gaps else []
    lines += [TerminalLine(f"  failed: {fault} (exit code 1, whatever the verdict)", "bad") for fault in verdict.faults]
    lines += notes
    first = next(iter(rank_violations(verdict)), None)
    if first is not None and first.blocked:
        lines.append(
            TerminalLine(
                f"  fix first: {first.requirement.id}, which blocks {count_in_words(first.blocked, 'other')}", "bad"
            )
        )
    why = (
        "only a part of the suite ran" if ledger.expected - ledger.executed_tests else "not every test can be relied on"
    )
    said = f"no verdict: {why}" if verdict.verdict == "partial" else f"verdict: {verdict.verdict}"
    said += ", on recorded answers of the provider" if ledger.recorded else ""
    lines.append(TerminalLine(f"  {said}", VERDICT_TONES[verdict.verdict]))
    return [line._replace(text=printable(line.text)) for line in lines]


FEW = 8  # a partial run lists each requirement of a component if there are at most this many


def limit_to_run_part(verdict: Verdict) -> tuple[Verdict, list[str]]:
    """Return a partial run's verdict, reduced to the requirements that ran, and the ids of other violations."""
    parts, others = [], []
    for part in verdict.components if verdict.gaps else ():
        ran = [status for status in part.statuses if status.tests]
        also = [status for status in part.statuses if status.status == "violated" and not status.tests]
        if len(ran) <= FEW:
            others += [f"{status.requirement.id} ({status.requirement.level})" for status in also]
            also = []
        parts.append(replace(part, statuses=(*ran, *also)))
    return (replace(verdict, components=tuple(parts)) if parts else verdict), others


def list_first_repairs(verdict: Verdict) -> list[TerminalLine]:
    """Return the lines that name the violations to repair first, at most eight; empty for a single violation."""
    every = rank_violations(verdict)
    if len(every) < 2:
        return []
    shown = every[: FIX_FIRST - 2] if len(every) > FIX_FIRST - 1 else every
    lines = [TerminalLine("fix first:", "bad"), *(TerminalLine(f"  {each}") for each in shown)]
    if more := len(every) - len(shown):
        lines.append(TerminalLine(f"  and then {count_in_words(more, 'more requirement')}"))
    return [line._replace(text=printable(line.text)) for line in lines]


FIX_FIRST = 8  # the most lines of the list of what to fix first, with its heading


def _component_lines(part: ComponentVerdict, verdict: Verdict, detail: Detail) -> Iterator[TerminalLine]:
    yield TerminalLine(f"  {part.component}: {part.verdict}", VERDICT_TONES[part.verdict])
    if few := part.verdict == "partial" and len(part.statuses) <= FEW:
        detail = Detail(detail.violations, reasons=True, satisfied=True)
    for level in () if few else ("MUST", "SHOULD"):
        totals = part.totals(level)
        yield TerminalLine(
            f"    {level:<6} {totals['satisfied']}/{count_applicable(totals)} satisfied, "
            f"{totals['violated']} violated, "
            f"{totals['not_assessed']} not assessed, {totals['not_applicable']} not applicable"
            + (f", {totals['deviated']} deviated" if totals["deviated"] else "")
        )
    if detail.violations:
        yield from _violated_lines(part, verdict)
    for status in part.statuses:
        if status.deviation:
            yield TerminalLine(
                f"    deviated  {_requirement_text(status)}  until {status.deviation.expires}"
                f"{_repetition_text(status)}",
                "caution",
            )
    if detail.satisfied:
        for status in part.statuses:
            if status.status == "satisfied":
                named = _requirement_text(status) if few else status.requirement.id
                yield TerminalLine(f"    satisfied  {named}  {count_in_words(len(status.tests), 'test')}", "good")
    yield from _unassessed_lines(part, detail)
    if detail.reasons:
        unasked = [status for status in part.statuses if status.status == "not_applicable"]
        yield from (TerminalLine(f"    not applicable  {line}") for line in _group_by_reason(unasked))
    records = [record for status in part.statuses for record in status.tests]
    for test in sorted({record.test for record in records if record.outcome == "error"}):
        said = f"    fault of pytest-corpus itself, not of the adapter, in {test}: please report it"
        yield TerminalLine(said, "bad")


def _violated_lines(part: ComponentVerdict, verdict: Verdict) -> Iterator[TerminalLine]:
    """Yield one line per violated requirement, in the order of repair."""
    order = {(each.component, each.requirement.id): at for at, each in enumerate(order_violations(verdict))}
    blocking = blocked_counts(part.statuses)
    found = [status for status in part.statuses if status.status == "violated"]
    for status in sorted(found, key=lambda each: order[each.component, each.requirement.id]):
        must = status.requirement.level == "MUST"
        word = "violated" if must else "preview" if status.requirement.level == PREVIEW else "not kept"
        others = blocking[status.requirement.id]
        more = f"  blocks {count_in_words(others, 'other')}" if others else ""
        broken, tests = failure_counts(status)
        several = f"  {broken} of {tests} tests" if tests > 1 and not status.runs[1] and broken else ""
        said = f"    {word}  {_requirement_text(status)}{several}{_repetition_text(status)}{more}"
        yield TerminalLine(said, "bad" if must else "caution")


def _unassessed_lines(part: ComponentVerdict, detail: Detail) -> Iterator[TerminalLine]:
    open_ones = [status for status in part.statuses if status.status == "not_assessed"]
    lacking = [status for status in open_ones if _lacks_keyword(status)]
    for keyword in sorted({status.keyword for status in lacking}):
        ids = [status.requirement.id for status in lacking if status.keyword == keyword]
        yield TerminalLine(f"    not assessed: the factory does not accept '{keyword}': {', '.join(ids)}", "caution")
    violated = {status.requirement.id for status in part.statuses if status.status == "violated"}
    for blocker, number in blocked_counts(open_ones).items():
        if blocker not in violated or not detail.violations:
            yield TerminalLine(f"    {blocker} blocks {count_in_words(number, 'other')}", "caution")
    held_up = [status for status in open_ones if status.blocked_by]
    if held_up and not detail.reasons:
        yield TerminalLine(
            f"    not assessed  {count_in_words(len(held_up), 'requirement')}: others block them (-v)", "caution"
        )
    for status in held_up if detail.reasons else ():
        yield TerminalLine(f"    not assessed  {status.requirement.id}: {status.reason}", "caution")
    rest = [status for status in open_ones if not _lacks_keyword(status) and not status.blocked_by]
    helped = [replace(status, reason=with_remedy(status.reason)) for status in rest]
    yield from (TerminalLine(f"    not assessed  {line}", "caution") for line in _group_by_reason(helped))


def _lacks_keyword(status: Status) -> bool:
    """True if a requirement is not assessed because the factory does not accept a keyword."""
    return bool(status.keyword) and status.reason in ("", Obstacle.NO_KEYWORD.reason(keyword=status.keyword))


def _group_by_reason(statuses: Sequence[Status]) -> Iterator[str]:
    reasons: dict[str, list[str]] = {}
    for status in statuses:
        reasons.setdefault(status.reason, []).append(status.requirement.id)
    for reason, ids in reasons.items():
        yield f"{', '.join(ids) if len(ids) <= LISTED else count_in_words(len(ids), 'requirement')}: {reason}"


LISTED = 40  # if one reason leaves more requirements open, they are counted instead of listed


def _repetition_text(status: Status) -> str:
    passed, runs = status.runs
    return f"  passed {passed} of {runs}" if runs else ""


def _requirement_text(status: Status) -> str:
    entry = status.requirement
    return f"{entry.id} ({entry.level})  {entry.text}  [{entry.source[0]}]"
