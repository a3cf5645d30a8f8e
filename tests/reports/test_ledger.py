"""The ledger keeps what the tests said and knows what is missing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ledgers import record, violation

from pytest_corpus.reports.ledger import Finding, Ledger, TestRecord

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
    )
)
def test_a_record_travels(found: TestRecord) -> None:
    """A record that went through `dump` and `load` is the same one."""
    assert TestRecord.load(found.dump()) == found


@pytest.mark.parametrize("first", ["violated", "error"])
@pytest.mark.parametrize("second", ["satisfied", "not_assessed", "not_applicable"])
def test_a_rerun_hides_nothing(first: str, second: str) -> None:
    """A test that failed once stays failed, in either order."""
    for outcomes in ((first, second), (second, first)):
        ledger = Ledger("a", ("llm",))
        for outcome in outcomes:
            ledger.add(record("COM-CAP-1", outcome))
        assert [each.outcome for each in ledger.records.values()] == [first]


def test_a_rerun_makes_a_skip_no_pass() -> None:
    """Of an open and a satisfied run of one test the open one stays."""
    for outcomes in (("satisfied", "not_assessed"), ("not_assessed", "satisfied")):
        ledger = Ledger("a", ("llm",))
        for outcome in outcomes:
            ledger.add(record("COM-CAP-1", outcome))
        assert [each.outcome for each in ledger.records.values()] == ["not_assessed"]


def test_a_rerun_loses_no_finding() -> None:
    """A finding of another requirement stays when the test is run again without it."""
    for number in (0, 1):
        ledger = Ledger("a", ("llm",))
        runs = [violation("COM-CAP-1", of="COM-CAP-2"), record("COM-CAP-1")]
        ledger.add(runs[number])
        ledger.add(runs[1 - number])
        (kept,) = ledger.records.values()
        assert [finding.requirement for finding in kept.findings] == ["COM-CAP-2"]


def test_one_test_of_two_components() -> None:
    """The same test of two components is two records."""
    ledger = Ledger("a", ("llm", "vector"))
    ledger.add(record("COM-CAP-1"))
    ledger.add(record("COM-CAP-1", component="vector"))
    assert len(ledger.records) == 2


def test_gaps() -> None:
    """Whatever is missing is a gap, and nothing else is."""
    ledger = Ledger("a", ("llm",))
    assert ledger.gaps == ["no conformance test ran"]
    done = record("COM-CAP-1")
    ledger.expect([f"llm/{done.test}", "llm/other"])
    ledger.add(done)
    assert ledger.gaps == ["1 of 2 tests did not run"]
    ledger.add(record("COM-CAP-2", test="other"))
    assert ledger.gaps == []
    ledger.cut_short("why")
    ledger.cut_short("why")
    assert ledger.gaps == ["why"]
