"""Of a basic fault the one requirement comes first that says what to mend, and the others are blocked by it."""

import pytest
from thinning import thin_out_rows

from mutants.basic_faults import first
from mutants.runner import Laboratory

MOST = 5
"""The most MUSTs that may be violated by a basic fault."""


@pytest.mark.parametrize(("fault", "first"), thin_out_rows(first().items(), 45, 1))
def test_a_basic_fault_has_one_finding_that_comes_first(fault: str, first: str) -> None:
    """Hardly anything else is violated, and the run is complete: it is no outage."""
    with Laboratory(1) as laboratory:
        report = laboratory.report(f"mutants.basic_faults:{fault}")
    assert report.to_fix[:1] == [first], str(report)
    assert len(report.to_fix) <= MOST, str(report)
    assert (report.verdict, report.gaps, report.errors) == ("nonconformant", [], []), str(report)
    words = [said for found in report.findings.values() for said in found]
    assert not [said for said in words if "blocked by" in said or "not so" in said], words


@pytest.mark.slow
@pytest.mark.parametrize(
    ("refusal", "verdict"),
    [
        ("NodeFiltersRefused", "conformant"),
        ("graph_bulk_vertices_refused", "conformant"),
        ("NoNamespaces", "incomplete"),
    ],
)
def test_what_may_be_refused_permanently_violates_nothing(refusal: str, verdict: str) -> None:
    """A graph may refuse filters (GRA-BULK-5), lists of nodes (R123) and namespaces that it does not know (R133)."""
    with Laboratory(1) as laboratory:
        report = laboratory.report(f"mutants.basic_faults:{refusal}")
    assert (report.to_fix, report.verdict, report.errors) == ([], verdict, []), str(report)
