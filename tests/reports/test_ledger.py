"""The ledger keeps what the tests said and knows what is missing; the rules of the verdict over it."""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ledgers import ALL, MUSTS, SHOULDS, ledger, ledgers, record, take, violation

from pytest_corpus.verdict.finding import Finding
from pytest_corpus.verdict.ledger import Ledger, TestRecord
from pytest_corpus.verdict.verdict import STATUSES, VERDICTS, Verdict, decide

TEXT = st.text(max_size=20)


@given(
    st.builds(
        TestRecord,
        *[TEXT] * 4,
        st.sampled_from(["satisfied", "violated", "not_assessed"]),
        *[TEXT] * 3,
        st.lists(st.builds(Finding, TEXT, TEXT, TEXT, TEXT), max_size=3).map(tuple),
        st.lists(TEXT, max_size=2).map(tuple),
        st.floats(0, 100),
        st.integers(0, 3),
        TEXT,
    )
)
def test_a_record_travels(found: TestRecord) -> None:
    """A record that went through `dump` and `load` is the same one."""
    assert TestRecord.load(found.dump()) == found


def test_a_finding_travels_with_its_evidence() -> None:
    """Another process reads all of a record's findings; two findings are equal if their facts are."""
    shape = Finding("LLM-MODEL-1", "this", "that", "result", adapter="a", sent="handle {}", story=("1 call", "2. x"))
    sent = record("LLM-MODEL-1", findings=(replace(shape, full=replace(shape, answer='{"ok": true}')),))
    text = sent.dump()
    record("COM-CAP-1").dump()  # a process remembers the last record that it dumped
    (arrived,) = TestRecord.load(text).findings
    assert [*map(repr, (arrived, arrived.at_level("shape")))] == [repr(sent.findings[0]), repr(shape)]
    assert arrived == Finding("LLM-MODEL-1", "this", "that", "result") != replace(shape, indirect=True)
    assert set(arrived.fact) == {"requirement", "expected", "got", "path", "indirect"}


RERUNS = [
    *((first, second) for first in ("violated", "error") for second in ("satisfied", "not_assessed", "not_applicable")),
    ("not_assessed", "satisfied"),
]
"""Outcomes of two runs of one test, the one that stays first."""


@pytest.mark.parametrize(("kept", "other"), RERUNS)
def test_a_rerun_hides_nothing(kept: str, other: str) -> None:
    """A test that failed once stays failed, and one that was open stays open, in either order."""
    for outcomes in ((kept, other), (other, kept)):
        ledger = Ledger("a", ("llm",))
        for outcome in outcomes:
            take(ledger, record("COM-CAP-1", outcome))
        assert [each.outcome for each in ledger.records.values()] == [kept]


def test_a_rerun_loses_no_finding() -> None:
    """A finding of another requirement stays when the test is run again without it."""
    for number in (0, 1):
        ledger = Ledger("a", ("llm",))
        runs = [violation("COM-CAP-1", of="COM-CAP-2"), record("COM-CAP-1")]
        take(ledger, runs[number])
        take(ledger, runs[1 - number])
        (kept,) = ledger.records.values()
        assert [finding.requirement for finding in kept.findings] == ["COM-CAP-2"]


def test_one_test_of_two_components() -> None:
    """The same test of two components is two records."""
    ledger = Ledger("a", ("llm", "vector"))
    take(ledger, record("COM-CAP-1"))
    take(ledger, record("COM-CAP-1", component="vector"))
    assert len(ledger.records) == 2


def test_gaps() -> None:
    """Whatever is missing is a gap, and nothing else is."""
    ledger = Ledger("a", ("llm",))
    assert ledger.gaps == ["no conformance test ran"]
    done = record("COM-CAP-1")
    ledger.expected.update([f"llm/{done.test}", "llm/other"])
    take(ledger, done)
    assert ledger.gaps == ["1 of 2 tests did not run"]
    take(ledger, record("COM-CAP-2", test="other"))
    assert ledger.gaps == []
    ledger.mark_partial("why")
    ledger.mark_partial("why")
    assert ledger.gaps == ["why"]


def agreed() -> tuple[Ledger, TestRecord]:
    """A ledger that expects one test, and the record of it."""
    ledger, found = Ledger("a", ("llm",)), record("COM-CAP-1")
    ledger.expected.update([found.key])
    ledger.selected.update([found.key])
    return ledger, found


def test_what_agrees_counts() -> None:
    """A test that was collected, ran once, and was reported as it ended is what its record says."""
    ledger, found = agreed()
    take(ledger, found)
    assert (ledger.records, ledger.gaps, ledger.unrequested_gaps) == ({found.key: found}, [], [])


DISAGREEMENTS: dict[str, Callable[[Ledger, TestRecord], object]] = {
    "not reported": lambda ledger, found: ledger.add_run(found),
    "not run": lambda ledger, found: ledger.add_report(found, agrees=True),
    "altered": lambda ledger, found: (
        ledger.add_run(found),
        ledger.add_report(replace(found, duration_s=9.0), agrees=True),
    ),
    "run twice": lambda ledger, found: (ledger.add_run(found), take(ledger, found)),
    "reported twice": lambda ledger, found: (take(ledger, found), ledger.add_report(found, agrees=True)),
    "reported otherwise": lambda ledger, found: (ledger.add_run(found), ledger.add_report(found, agrees=False)),
    "disputed": lambda ledger, found: (take(ledger, found), ledger.mark_mismatch(found.key)),
    "not collected": lambda ledger, found: (take(ledger, found), ledger.expected.clear()),
    "broken off": lambda ledger, found: take(ledger, replace(found, broken_off="Failed ended the test")),
}


@pytest.mark.parametrize("spoil", DISAGREEMENTS.values(), ids=DISAGREEMENTS)
@pytest.mark.parametrize("outcome", ["satisfied", "not_applicable", "not_assessed", "violated"])
def test_what_disagrees_proves_nothing(spoil: Callable[[Ledger, TestRecord], object], outcome: str) -> None:
    """Whatever disagrees makes a good record not assessed, leaves a violation, and is a gap that fails the run."""
    ledger, found = agreed()
    spoil(ledger, replace(found, outcome=outcome))  # type: ignore[arg-type]
    (kept,) = ledger.records.values()
    assert kept.outcome == ("violated" if outcome == "violated" else "not_assessed")
    assert kept.reason or outcome in ("violated", "not_assessed")
    assert ledger.gaps
    assert ledger.unrequested_gaps


def test_an_account_travels() -> None:
    """A ledger that takes a worker's account knows what the worker knew."""
    worker, found = agreed()
    worker.add_run(found)
    worker.mark_mismatch("llm/other")
    controller = Ledger("a")
    controller.take_account(json.loads(json.dumps(worker.account())))
    controller.add_report(found, agrees=True)
    assert (controller.expected, controller.selected) == (worker.expected, worker.selected)
    assert controller.mismatched == {"llm/other"}
    assert (controller.records, controller.unrequested_gaps) == ({found.key: found}, [])


def test_workers_that_collect_differently() -> None:
    """Accounts of different suites are a doubt."""
    controller = Ledger("a")
    for tests in (["llm/one"], ["llm/one", "llm/two"]):
        worker = Ledger("a", ("llm",))
        worker.expected.update(tests)
        controller.take_account(worker.account())
    assert "the workers collected different tests" in controller.unrequested_gaps


def test_a_worker_without_an_account() -> None:
    """If a worker was lost, what it reported stands, and the run has failed."""
    ledger, found = agreed()
    ledger.add_report(found, agrees=True)
    ledger.unaccounted = True
    ledger.mark_unreliable("a worker was lost")
    assert [each.outcome for each in ledger.records.values()] == ["satisfied"]
    assert ledger.unrequested_gaps == ["a worker was lost"]


def test_a_choice_is_no_fault() -> None:
    """Tests that were deselected are a gap and no fault; tests that were selected and did not run are one."""
    ledger, found = agreed()
    ledger.expected.update(["llm/other"])
    take(ledger, found)
    ledger.mark_partial("tests were deselected")
    assert (len(ledger.gaps), ledger.unrequested_gaps) == (2, [])
    ledger.selected.update(["llm/other"])
    assert ledger.unrequested_gaps == ["1 of 2 tests did not run"]


def statuses(verdict: Verdict) -> dict[str, str]:
    return {entry.requirement.id: entry.status for part in verdict.components for entry in part.statuses}


def at_level(verdict: Verdict, level: str) -> Counter[str]:
    return sum((part.totals(level) for part in verdict.components), Counter())


def every_requirement_has_one_status(_found: Ledger, verdict: Verdict, _should: Verdict) -> None:
    """Each requirement that speaks of the component is in exactly one of the statuses."""
    (part,) = verdict.components
    assert [entry.requirement for entry in part.statuses] == list(ALL)
    assert {entry.status for entry in part.statuses} <= set(STATUSES)
    assert sum(part.totals().values()) == len(ALL)


def a_gap_is_no_verdict(found: Ledger, verdict: Verdict, _should: Verdict) -> None:
    """A run is partial if, and only if, it has a gap; then nothing in it has another verdict."""
    assert (verdict.verdict == "partial") == bool(found.gaps) == (not verdict.complete)
    assert all((part.verdict == "partial") == bool(found.gaps) for part in verdict.components)


def a_violated_must_is_nonconformant(_found: Ledger, verdict: Verdict, should: Verdict) -> None:
    """A complete run is nonconformant if, and only if, a MUST is violated; with the level should, a SHOULD as well.

    Statuses do not depend on the level.
    """
    musts = at_level(verdict, "MUST")["violated"]
    if verdict.complete:
        assert (verdict.verdict == "nonconformant") == bool(musts)
        assert (should.verdict == "nonconformant") == bool(musts + at_level(should, "SHOULD")["violated"])
    assert statuses(verdict) == statuses(should)
    assert VERDICTS.index(should.verdict) >= VERDICTS.index(verdict.verdict)


def conformant_means_every_must(_found: Ledger, verdict: Verdict, _should: Verdict) -> None:
    """Conformant implies that every MUST is satisfied or not applicable, and at least one is satisfied."""
    musts = at_level(verdict, "MUST")
    if verdict.verdict == "conformant":
        assert set(+musts) <= {"satisfied", "not_applicable"}
        assert musts["satisfied"] >= 1
        assert verdict.gaps == ()
    if verdict.complete and musts["not_assessed"]:
        assert verdict.verdict in ("incomplete", "nonconformant")


def satisfied_means_every_test_of_it(found: Ledger, verdict: Verdict, _should: Verdict) -> None:
    """A requirement is satisfied only where some test says so and no test says otherwise."""
    records = found.records.values()
    blamed = {finding.requirement for entry in records for finding in entry.findings}
    outcomes: dict[str, set[str]] = {}
    for entry in records:
        outcomes.setdefault(entry.requirement, set()).add(entry.outcome)
    for requirement, status in statuses(verdict).items():
        own = outcomes.get(requirement, set())
        assert status != "satisfied" or {"satisfied"} <= own <= {"satisfied", "not_applicable"}
        assert (status == "violated") == ("violated" in own or requirement in blamed)
        assert status != "not_applicable" or own == {"not_applicable"}


@given(ledgers())
def test_the_rules_of_a_verdict(found: Ledger) -> None:
    """Whatever the tests said, every rule is kept."""
    verdict, should = decide(found), decide(found, "should")
    for rule in (
        every_requirement_has_one_status, a_gap_is_no_verdict, a_violated_must_is_nonconformant,
        conformant_means_every_must, satisfied_means_every_test_of_it,
    ):  # fmt: skip
        rule(found, verdict, should)


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
