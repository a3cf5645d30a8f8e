"""A vector store that is as sound as a real back end allows is not blamed for what it may leave out."""

from __future__ import annotations

import legal_stores
import pytest
from inner_runs import Project, said, statuses, violated

SCOPES = {
    "FortyAtMost": "VEC-LIMIT-*,VEC-UPSERT-3,COM-CONC-1",
    "Hnsw": "VEC-LIMIT-*,VEC-FILTER-*,VEC-QUERY-*",
    "Ivf": "VEC-QUERY-*,VEC-SCORE-*,VEC-UPSERT-*,VEC-DELETE-*,VEC-NS-*,VEC-MULTI-*,COM-CONC-1,COM-TENANT-1,COM-CACHE-*",
    "IvfElsewhere": "VEC-QUERY-*",
    "IvfPostFiltered": "VEC-FILTER-*,VEC-STATE-1,VEC-QUERY-*",
    "DeletesByIdOnly": "VEC-DELETE-*,VEC-FILTER-11,VEC-STATE-1,COM-IDEM-3,COM-TENANT-1,COM-NUM-1",
    "RefusesZeros": "VEC-SCORE-*,COM-NUM-2",
    "PostFilteringInASentence": "VEC-FILTER-*,VEC-STATE-1",
    "DeletesNothing": "VEC-DELETE-*",
}
"""The requirements that the difference of each store bears on."""

EXPECTED = {
    "Ivf": {"VEC-QUERY-19": "violated", "VEC-QUERY-3": "satisfied", "COM-CONC-1": "satisfied"},
    "IvfElsewhere": {"VEC-QUERY-4": "satisfied", "VEC-QUERY-19": "violated"},
    "Hnsw": {"VEC-QUERY-19": "satisfied", "VEC-LIMIT-1": "satisfied"},
    "DeletesByIdOnly": {"VEC-DELETE-5": "not_applicable", "VEC-DELETE-9": "satisfied", "VEC-STATE-1": "satisfied"},
    "RefusesZeros": {"VEC-SCORE-9": "satisfied"},
    "PostFilteringInASentence": {"VEC-FILTER-2": "satisfied", "VEC-STATE-1": "satisfied"},
    "DeletesNothing": {"VEC-DELETE-8": "satisfied", "VEC-DELETE-15": "violated"},
}
"""Statuses that follow from what a store does."""


@pytest.mark.parametrize("name", SCOPES)
def test_what_a_store_may_leave_out(project: Project, name: str) -> None:
    """No MUST is violated that the difference bears on."""
    given = (f"--corpus-adapter=legal_stores:{name}", f"--corpus-requirement={SCOPES[name]}", "--corpus-report=r.json")
    result = project.run(*given)
    report = project.report()
    assert violated(report) == set(), said(result)
    for requirement, status in EXPECTED.get(name, {}).items():
        assert statuses(report)["vector", requirement] == status


@pytest.mark.slow
@pytest.mark.parametrize("name", [shape.__name__ for shape in legal_stores.LEGAL])
def test_what_a_store_may_leave_out_in_the_whole_suite(project: Project, name: str) -> None:
    """Nor is any other, and the run comes to a verdict."""
    result = project.run(f"--corpus-adapter=legal_stores:{name}", "--corpus-report=r.json")
    report = project.report()
    assert violated(report) == set(), said(result)
    assert (report["complete"], report["verdict"]) == (True, "conformant")
