"""Ledgers for the tests of the reports, written by hand or generated."""

from typing import Any

from hypothesis import strategies as st

from pytest_corpus.reports.json_report import RunFacts
from pytest_corpus.spec.requirements import Requirement, applicable_requirements
from pytest_corpus.verdict.finding import Finding
from pytest_corpus.verdict.ledger import Ledger, TestRecord

ALL = applicable_requirements("llm")
MUSTS = [entry for entry in ALL if entry.level == "MUST"]
SHOULDS = [entry for entry in ALL if entry.level == "SHOULD"]
RUN = RunFacts("2026-01-01T00:00:00+00:00", 1.23456, 7, "must", None)


def record(requirement: Requirement | str, outcome: str = "satisfied", **changed: Any) -> TestRecord:
    name = requirement if isinstance(requirement, str) else requirement.id
    fields: dict[str, Any] = {"adapter": "a", "component": "llm", "test": f"llm/test_{name}.py::test"}
    return TestRecord(requirement=name, outcome=outcome, **{**fields, **changed})  # type: ignore[arg-type]


def take(into: Ledger, *records: TestRecord) -> None:
    """Let a ledger have records of tests that ran and were reported as they ended."""
    for each in records:
        into.expected.update([each.key])
        into.add_run(each)
        into.add_report(each, agrees=True)


def ledger(*records: TestRecord, missing: tuple[str, ...] = ()) -> Ledger:
    """A ledger in which every requirement without a record of its own is satisfied."""
    found = Ledger("a", ("llm",), {"llm": {"server": "s", "version": "1", "protocol": "llm/v1.0"}})
    given = {each.requirement for each in records}
    for entry in (*records, *(record(each) for each in ALL if each.id not in given)):
        found.expected.update([f"llm/{entry.test}"])
        if entry.requirement not in missing:
            take(found, entry)
    return found


def violation(requirement: Requirement | str, of: str = "") -> TestRecord:
    """A record with a finding of its own requirement, or of another one."""
    name = of or (requirement if isinstance(requirement, str) else requirement.id)
    outcome = "satisfied" if of else "violated"
    return record(requirement, outcome, findings=(Finding(name, "this", "that", "result.x"),))


OUTCOMES = st.sampled_from(["satisfied", "violated", "not_applicable", "not_assessed", "error"])


@st.composite
def ledgers(draw: st.DrawFn) -> Ledger:
    """Any ledger: some requirements with up to three tests each, some tests lost, findings anywhere."""
    found = Ledger("a", ("llm",))
    mostly = draw(st.sampled_from(["satisfied", "not_applicable", "not_assessed", ""]))
    odd = draw(st.dictionaries(st.sampled_from(ALL), st.lists(OUTCOMES, max_size=3), max_size=8))
    for entry in ALL:
        outcomes = odd.get(entry, [mostly] if mostly else [])
        for number, outcome in enumerate(outcomes):
            test = record(entry, outcome, test=f"llm/t.py::{entry.id}[{number}]")
            found.expected.update([f"llm/{test.test}"])
            take(found, test)
    for entry in draw(st.lists(st.sampled_from(ALL), max_size=2)):
        take(found, violation(draw(st.sampled_from(ALL)), of=entry.id))
    if draw(st.booleans()) and draw(st.booleans()):
        found.mark_partial("tests were deselected")
    if draw(st.booleans()) and draw(st.booleans()):
        found.expected.update(["llm/llm/t.py::lost"])
    return found
