"""A correct adapter of an unusual shape is never failed for what is not a requirement (DESIGN 1)."""

from __future__ import annotations

import legal_components
import pytest
from inner_runs import Project, said, statuses, violated
from legal_adapters import LEGAL

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


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(shape.__name__, marks=[pytest.mark.slow] if hasattr(shape, "late_s") else [])
        for shape in legal_components.LEGAL
    ],
)
def test_legal_shape_of_other_components(project: Project, name: str) -> None:
    """Nor is a vector, embedding or graph adapter; what its shape leaves undecided is said to be."""
    result = project.run(f"--corpus-adapter=legal_components:{name}", "--corpus-report=r.json")
    report = project.report()
    [component] = report["components"].values()
    assert violated(report) == set(), said(result)
    assert result.ret == 0, said(result)
    assert report["complete"]
    assert component["totals"]["must"]["satisfied"] >= 90
