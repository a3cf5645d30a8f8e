"""The ledger keeps what the tests said and knows what is missing."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ledgers import record, take, violation

from pytest_corpus.verdict.ledger import Finding, Ledger, TestRecord

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
    "not reported": lambda ledger, found: ledger.ran(found),
    "not run": lambda ledger, found: ledger.reported(found, agrees=True),
    "altered": lambda ledger, found: (ledger.ran(found), ledger.reported(replace(found, duration_s=9.0), agrees=True)),
    "run twice": lambda ledger, found: (ledger.ran(found), take(ledger, found)),
    "reported twice": lambda ledger, found: (take(ledger, found), ledger.reported(found, agrees=True)),
    "reported otherwise": lambda ledger, found: (ledger.ran(found), ledger.reported(found, agrees=False)),
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
    worker.ran(found)
    worker.mark_mismatch("llm/other")
    controller = Ledger("a")
    controller.take_account(json.loads(json.dumps(worker.account())))
    controller.reported(found, agrees=True)
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
    """Where a worker was lost, what it reported stands, and the run has failed."""
    ledger, found = agreed()
    ledger.reported(found, agrees=True)
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
