"""A correct adapter of an unusual shape is never failed for what is not a requirement."""

from __future__ import annotations

import json
from typing import Any

import legal_components
import legal_graphs
import legal_rulings
import pytest
import random_shapes
from inner_runs import Project, said, statuses, violated
from legal_adapters import LEGAL
from thinning import thinned

EXPECTED = {
    "Unary": {"LLM-STREAM-1": "not_applicable", "LLM-COMPLETE-1": "satisfied"},
    "Chatty": {"LLM-TOKENS-1": "not_applicable", "LLM-STREAM-1": "satisfied"},
    "Wordy": {"LLM-TOOLS-1": "not_applicable", "LLM-TOKENS-1": "satisfied"},
    "OpenSet": {"LLM-MODEL-2": "not_applicable", "LLM-STREAM-1": "satisfied"},
    "Cramped": {"LLM-CONTEXT-1": "satisfied"},
    "Silent": {"LLM-STREAM-1": "satisfied", "LLM-TOKENS-1": "satisfied"},
    "MinimalWithoutOptions": {"LLM-STREAM-1": "not_applicable", "LLM-TOKENS-1": "not_applicable"},
    "Nested": {"LLM-MODEL-2": "satisfied", "COM-OBS-6": "satisfied"},
}
"""What a shape must come to in particular."""


SHAPED = [
    *(f"legal_adapters:{shape.__name__}" for shape in LEGAL),
    *(f"legal_components:{shape.__name__}" for shape in legal_components.LEGAL if not hasattr(shape, "late_s")),
]
"""The legal shapes; what shows late is waited for in the slow tests alone."""


@pytest.mark.parametrize("declared", SHAPED)
def test_a_legal_shape_violates_nothing_plain(project: Project, declared: str) -> None:
    """No MUST is violated by one test of each requirement."""
    given = (f"--corpus-adapter={declared}", "--corpus-profile=quick", "--corpus-report=r.json")
    result = project.run(*given)
    assert violated(project.report()) == set(), said(result)


@pytest.mark.slow
@pytest.mark.parametrize("name", [shape.__name__ for shape in LEGAL])
def test_legal_shape(project: Project, name: str) -> None:
    """No MUST is violated, no test of ours crashes, and what the shape does without is not applicable."""
    result = project.run(f"--corpus-adapter=legal_adapters:{name}", "--corpus-report=r.json")
    report = project.report()
    assert violated(report) == set(), said(result)
    assert result.ret == 0, said(result)
    assert report["complete"]
    assert report["verdict"] in ("conformant", "incomplete")
    for requirement, status in EXPECTED.get(name, {}).items():
        assert statuses(report)["llm", requirement] == status
    assert report["components"]["llm"]["totals"]["must"]["satisfied"] >= 60


@pytest.mark.slow
@pytest.mark.parametrize("name", [shape.__name__ for shape in legal_components.LEGAL])
def test_legal_shape_of_other_components(project: Project, name: str) -> None:
    """Nor is a vector, embedding or graph adapter; what its shape leaves undecided is said to be."""
    result = project.run(f"--corpus-adapter=legal_components:{name}", "--corpus-report=r.json")
    report = project.report()
    [component] = report["components"].values()
    assert violated(report) == set(), said(result)
    assert result.ret == 0, said(result)
    assert report["complete"]
    assert component["totals"]["must"]["satisfied"] >= 90


SCOPES = {
    "TakesTurns": "LLM-*",
    "Accepting": "COM-ENV-*,COM-OBS-*,GRA-NODE-[14]",
    "Revoked": "COM-FAULT-*,LLM-COMPLETE-1",
    "CircuitBreaker": "COM-FAULT-*,COM-HEALTH-*,COM-LEAK-6,COM-DEADLINE-*,VEC-QUERY-1",
    "FloatUsage": "LLM-COMPLETE-*,LLM-STREAM-*,COM-CONC-1,COM-IDEM-*",
    "Untagged": "COM-OBS-*,COM-LEAK-4",
    "LogsKeys": "COM-LEAK-*",
    "WholeSeconds": "COM-FAULT-*",
    "VersionedLLM": "LLM-COMPLETE-*,LLM-CACHE-*,LLM-TOKENS-*",
    "VersionedEmbedding": "EMB-EMBED-*,EMB-BATCH-*,EMB-TOKENS-*",
    "VersionedGraph": "GRA-NODE-*,GRA-EDGE-*,GRA-DELETE-*,GRA-QUERY-1,GRA-BATCH-*",
    "QualifiedBatch": "GRA-BATCH-*,GRA-TXN-*,COM-CAP-*,GRA-MODEL-1",
    "ListedElsewhere": "GRA-BATCH-*,GRA-TXN-*,COM-CAP-*",
    "SimpleGraph": "GRA-EDGE-*,GRA-DELETE-*,GRA-TRAV-*,GRA-MODEL-1",
    "FloatCounts": "GRA-NODE-*,GRA-EDGE-*,GRA-DELETE-*,COM-IDEM-*,COM-CONC-1",
}
"""What the difference of each adapter bears on."""


@pytest.mark.parametrize("name", thinned((shape.__name__ for shape in legal_rulings.LEGAL), 2))
def test_what_the_documents_leave_open(project: Project, name: str) -> None:
    """What a ruling allows is not a finding of a MUST, where the difference bears on it."""
    scope = f"--corpus-requirement={SCOPES[name]}"
    result = project.run(f"--corpus-adapter=legal_rulings:{name}", scope, "--corpus-report=r.json")
    assert violated(project.report()) == set(), said(result)
    assert result.ret == 0, said(result)


@pytest.mark.parametrize(("shape", "scope"), legal_graphs.LEGAL.items(), ids=lambda each: getattr(each, "__name__", ""))
def test_what_the_documents_leave_open_to_graphs(project: Project, shape: type[Any], scope: str) -> None:
    """Nor is it of a graph, and no test of it is left undecided."""
    given = (f"--corpus-adapter=legal_graphs:{shape.__name__}", f"--corpus-requirement={scope}")
    result = project.run(*given, "--corpus-report=r.json")
    report = project.report()
    assert violated(report) == set(), said(result)
    asked = [entry for entry in report["requirements"] if entry["tests"] and entry["level"] == "MUST"]
    assert [entry["id"] for entry in asked if entry["status"] == "not_assessed"] == [], said(result)


def test_parameters_may_be_variables(project: Project) -> None:
    """What a query without its parameter means is not asked of a language whose probe queries are given (R119)."""
    project.path.joinpath("dialects.json").write_text(json.dumps(legal_graphs.VARIABLES))
    given = ("--corpus-adapter=legal_graphs:Variables", "--corpus-dialects=dialects.json")
    result = project.run(*given, "--corpus-requirement=GRA-QUERY-*,GRA-EDGE-*", "--corpus-report=r.json")
    report = project.report()
    assert (violated(report), violated(report, "SHOULD")) == (set(), set()), said(result)
    assert statuses(report)["graph", "GRA-QUERY-9"] == "not_applicable"


def test_a_probe_query_that_folds_edges_is_no_violation(project: Project) -> None:
    """Where a given probe query finds a node once for two edges, both of which are there, the query is to be mended."""
    project.path.joinpath("dialects.json").write_text(json.dumps(legal_graphs.VARIABLES))
    given = ("--corpus-adapter=legal_graphs:FoldedLinks", "--corpus-dialects=dialects.json")
    result = project.run(*given, "--corpus-requirement=GRA-EDGE-*", "--corpus-report=r.json")
    report = project.report()
    assert violated(report) == set(), said(result)
    assert statuses(report)["graph", "GRA-EDGE-9"] == "not_assessed"
    result.stdout.fnmatch_lines(["*a record for each edge*"])


@pytest.mark.slow
@pytest.mark.parametrize("name", [shape.__name__ for shape in legal_rulings.LEGAL])
def test_what_the_documents_leave_open_in_the_whole_suite(project: Project, name: str) -> None:
    """Nor anywhere else."""
    result = project.run(f"--corpus-adapter=legal_rulings:{name}", "--corpus-report=r.json")
    report = project.report()
    assert violated(report) == set(), said(result)
    assert result.ret == 0, said(result)
    assert report["complete"]


@pytest.mark.parametrize("name", thinned((shape.__name__ for shape in legal_rulings.LATE), 2))
def test_late_observations_count(project: Project, name: str) -> None:
    """Observations that arrive from another thread after the answer are waited for."""
    scope = "--corpus-requirement=COM-OBS-*,COM-LEAK-2,COM-CAP-1"
    result = project.run(f"--corpus-adapter=legal_rulings:{name}", scope, "--corpus-report=r.json")
    report = project.report()
    assert violated(report) == set(), said(result)
    assert statuses(report)[component_of(report), "COM-OBS-1"] == "satisfied"


@pytest.mark.parametrize("name", [shape.__name__ for shape in legal_rulings.LONG])
def test_a_stream_that_moves_is_not_a_hang(project: Project, name: str) -> None:
    """A prompt beyond the window that is streamed at length is one finding, and neither a hang nor a missing end."""
    scope = "--corpus-requirement=COM-WIRE-*,COM-STREAM-*,LLM-CONTEXT-*,COM-CAP-1"
    given = (f"--corpus-adapter=legal_rulings:{name}", scope, "-ocorpus_call_timeout=2")
    result = project.run(*given, "--corpus-report=r.json")
    report = project.report()
    assert violated(report) == {"LLM-CONTEXT-1"}, said(result)


def component_of(report: dict[str, Any]) -> str:
    """The only component of a report."""
    [component] = report["components"]
    return str(component)


SHAPES = [f"{component}_{seed}" for component in random_shapes.REFERENCES for seed in range(50)]
"""Random but truthful subsets of what the references can do."""


@pytest.mark.parametrize("name", SHAPES[3::10])
def test_a_random_shape_violates_nothing_plain(project: Project, name: str) -> None:
    """A tenth of the shapes, by one test of each requirement."""
    given = (f"--corpus-adapter=random_shapes:{name}", "--corpus-profile=quick", "--corpus-report=r.json")
    result = project.run(*given)
    assert violated(project.report()) == set(), said(result)


@pytest.mark.slow
@pytest.mark.parametrize("name", SHAPES)
def test_a_random_shape_violates_nothing(project: Project, name: str) -> None:
    """Whatever an adapter leaves out, denies or limits, and says so, is not a finding of a MUST."""
    result = project.run(f"--corpus-adapter=random_shapes:{name}", "--corpus-report=r.json")
    report = project.report()
    assert violated(report) == set(), said(result)
    assert report["complete"]
    assert report["verdict"] in ("conformant", "incomplete")
