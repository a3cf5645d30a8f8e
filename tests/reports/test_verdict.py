"""The rules of the verdict, over ledgers of every kind."""

from collections import Counter

import pytest
from hypothesis import given
from ledgers import ALL, MUSTS, SHOULDS, ledger, ledgers, record, take, violation

from pytest_corpus.verdict.ledger import Ledger
from pytest_corpus.verdict.verdict import STATUSES, VERDICTS, Verdict, decide


def statuses(verdict: Verdict) -> dict[str, str]:
    return {entry.requirement.id: entry.status for part in verdict.components for entry in part.statuses}


def at_level(verdict: Verdict, level: str) -> Counter[str]:
    return sum((part.totals(level) for part in verdict.components), Counter())


@given(ledgers())
def test_every_requirement_has_one_status(found: Ledger) -> None:
    """Each requirement that speaks of the component is in exactly one of the statuses."""
    (part,) = decide(found).components
    assert [entry.requirement for entry in part.statuses] == list(ALL)
    assert {entry.status for entry in part.statuses} <= set(STATUSES)
    assert sum(part.totals().values()) == len(ALL)


@given(ledgers())
def test_a_gap_is_no_verdict(found: Ledger) -> None:
    """A run is partial if, and only if, it has a gap; then nothing in it has another verdict."""
    verdict = decide(found)
    assert (verdict.verdict == "partial") == bool(found.gaps) == (not verdict.complete)
    assert all((part.verdict == "partial") == bool(found.gaps) for part in verdict.components)


@given(ledgers())
def test_a_violated_must_is_nonconformant(found: Ledger) -> None:
    """A complete run is nonconformant if, and only if, a MUST is violated."""
    verdict = decide(found)
    if verdict.complete:
        assert (verdict.verdict == "nonconformant") == bool(at_level(verdict, "MUST")["violated"])


@given(ledgers())
def test_level_should(found: Ledger) -> None:
    """With the level should a violated SHOULD counts the same; statuses do not depend on the level."""
    must, should = decide(found), decide(found, "should")
    assert statuses(must) == statuses(should)
    if should.complete:
        violated = at_level(should, "MUST")["violated"] + at_level(should, "SHOULD")["violated"]
        assert (should.verdict == "nonconformant") == bool(violated)
    assert VERDICTS.index(should.verdict) >= VERDICTS.index(must.verdict)


@given(ledgers())
def test_conformant_means_every_must(found: Ledger) -> None:
    """Conformant implies that every MUST is satisfied or not applicable, and at least one is satisfied."""
    verdict = decide(found)
    musts = at_level(verdict, "MUST")
    if verdict.verdict == "conformant":
        assert set(+musts) <= {"satisfied", "not_applicable"}
        assert musts["satisfied"] >= 1
        assert verdict.gaps == ()
    if verdict.complete and musts["not_assessed"]:
        assert verdict.verdict in ("incomplete", "nonconformant")


@given(ledgers())
def test_satisfied_means_every_test_of_it(found: Ledger) -> None:
    """A requirement is satisfied only where some test says so and no test says otherwise."""
    records = found.records.values()
    for requirement, status in statuses(decide(found)).items():
        own = [entry.outcome for entry in records if entry.requirement == requirement]
        blamed = any(finding.requirement == requirement for entry in records for finding in entry.findings)
        if status == "satisfied":
            assert "satisfied" in own
            assert set(own) <= {"satisfied", "not_applicable"}
        assert (status == "violated") == ("violated" in own or blamed)
        if status == "not_applicable":
            assert set(own) == {"not_applicable"}


@given(ledgers())
def test_more_findings_never_make_it_better(found: Ledger) -> None:
    """One more violated MUST never improves a verdict."""
    before = decide(found).verdict
    take(found, violation(MUSTS[0]))
    assert VERDICTS.index(decide(found).verdict) >= VERDICTS.index(before) or before == "partial"
    assert decide(found).verdict in ("nonconformant", "partial")


EXAMPLES = {
    "all satisfied": (ledger(), "conformant"),
    "a MUST violated": (ledger(violation(MUSTS[3])), "nonconformant"),
    "a MUST violated elsewhere": (ledger(violation(MUSTS[3], of=MUSTS[5].id)), "nonconformant"),
    "a SHOULD violated": (ledger(violation(SHOULDS[0])), "conformant"),
    "a MUST open": (ledger(record(MUSTS[3], "not_assessed")), "incomplete"),
    "a test of ours crashed": (ledger(record(MUSTS[3], "error")), "partial"),
    "a SHOULD open": (ledger(record(SHOULDS[0], "not_assessed")), "conformant"),
    "a MUST not applicable": (ledger(record(MUSTS[3], "not_applicable")), "conformant"),
    "a test lost": (ledger(missing=(MUSTS[3].id,)), "partial"),
    "violated and lost": (ledger(violation(MUSTS[0]), missing=(MUSTS[3].id,)), "partial"),
    "nothing applicable": (ledger(*(record(entry, "not_applicable") for entry in ALL)), "incomplete"),
    "no component": (Ledger("a"), "partial"),
    "no test": (Ledger("a", ("llm",)), "partial"),
}


@pytest.mark.parametrize(("found", "expected"), EXAMPLES.values(), ids=EXAMPLES)
def test_examples(found: Ledger, expected: str) -> None:
    """The verdict of plain cases."""
    assert decide(found).verdict == expected


def test_a_requirement_without_a_test_is_open() -> None:
    """A requirement that no test decides keeps the verdict from being conformant."""
    found = Ledger("a", ("llm",))
    take(found, *(record(entry) for entry in ALL if entry.id != MUSTS[2].id))
    verdict = decide(found)
    assert statuses(verdict)[MUSTS[2].id] == "not_assessed"
    assert verdict.verdict == "incomplete"


def test_the_worst_component_decides() -> None:
    """Over several components the overall verdict is the worst."""
    found = ledger()
    found.components = ("llm", "vector")
    assert [part.verdict for part in decide(found).components] == ["conformant", "incomplete"]
    assert decide(found).verdict == "incomplete"


def test_what_blocks_is_named() -> None:
    """An open requirement tells why, which keyword would help and what blocks it."""
    entry = record(MUSTS[3], "not_assessed", reason="blocked by X", blocked_by="COM-WIRE-1", keyword="provider")
    (part,) = decide(ledger(entry)).components
    (status,) = [each for each in part.statuses if each.requirement == MUSTS[3]]
    assert (status.reason, status.keyword, status.blocked_by) == ("blocked by X", "provider", ("COM-WIRE-1",))


@pytest.mark.parametrize("outcome", ["satisfied", "not_applicable"])
def test_what_blocks_is_no_longer_good(outcome: str) -> None:
    """A requirement that stands in the way of another one is violated or itself not assessed."""
    blocked = record(MUSTS[3], "not_assessed", reason="blocked", blocked_by=MUSTS[0].id)
    assert statuses(decide(ledger(blocked, record(MUSTS[0], outcome))))[MUSTS[0].id] == "not_assessed"
    assert statuses(decide(ledger(blocked, violation(MUSTS[0]))))[MUSTS[0].id] == "violated"


def test_findings_are_told_once() -> None:
    """The same finding of several tests is one finding."""
    found = ledger(violation(MUSTS[3], of=MUSTS[5].id), violation(MUSTS[4], of=MUSTS[5].id))
    (part,) = decide(found).components
    (status,) = [each for each in part.statuses if each.status == "violated"]
    assert len(status.findings) == 1
