"""`--corpus-schema-version` and `corpus_schema_version`."""

import pytest
from inner_runs import REFERENCE, Project, violated

TOKENS = "--corpus-requirement=LLM-TOKENS-1"

BARE_COUNT = """
@changes("llm.count_tokens")
def BareCount(answer):
    answer["result"] = answer["result"]["tokens"]
"""


def test_either_edition_without_it(project: Project) -> None:
    """Without the option an answer of either edition is good, and the report pins none."""
    project.adapter(BARE_COUNT)
    assert project.run("--corpus-adapter=mine:BareCount", TOKENS, "--corpus-report=r.json").ret == 0
    assert project.report()["spec"]["pinned_schema_version"] is None


def test_pinned_to_the_elder(project: Project) -> None:
    """Pinned to 1.0.0, what only 1.1.0 allows is a violation."""
    project.adapter(BARE_COUNT)
    result, report = project.judged("mine:BareCount", TOKENS, "--corpus-schema-version=1.0.0")
    assert result.ret == 1
    assert violated(report) == {"LLM-TOKENS-1"}
    assert report["spec"]["pinned_schema_version"] == "1.0.0"


@pytest.mark.parametrize(("version", "few"), [
    ("1.1.0", "COM-CAP-*,LLM-STREAM-*,LLM-TOKENS-1"),
    ("1.0.0", "COM-CAP-*,COM-CTX-*,COM-ENV-*,LLM-*"),
    pytest.param("1.0.0", "*", marks=pytest.mark.slow),
])  # fmt: skip
def test_the_reference_meets_either_edition_and_every_should(project: Project, version: str, few: str) -> None:
    """It violates nothing; a glob that selects everything leaves the run whole."""
    options = (f"--corpus-schema-version={version}", "--corpus-level=should", f"--corpus-requirement={few}")
    result = project.run(REFERENCE, *options, "--corpus-report=r.json")
    report = project.report()
    assert (result.ret, report["verdict"]) == (0, "conformant" if few == "*" else "partial")
    assert report["spec"]["pinned_schema_version"] == version
