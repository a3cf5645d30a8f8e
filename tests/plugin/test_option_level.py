"""`--corpus-level` and `corpus_level`: what a violated SHOULD counts."""

import pytest
from inner_runs import Project, said, violated

FEW = "--corpus-requirement=LLM-COMPLETE-5,LLM-COMPLETE-1"

OTHER_MODEL = """
@changes("llm.complete")
def OtherModel(answer):
    answer["result"]["model"] = "another"
"""


@pytest.fixture
def lax(project: Project) -> Project:
    """A folder with an adapter that keeps every MUST and breaks one SHOULD."""
    project.adapter(OTHER_MODEL)
    return project


def test_a_should_is_no_failure(lax: Project) -> None:
    """A violated SHOULD is yellow, is reported as such, and leaves the exit code 0."""
    result, report = lax.judged("mine:OtherModel", FEW, "--color=yes", "-v", "-rA")
    assert result.ret == 0
    assert violated(report, "SHOULD") == {"LLM-COMPLETE-5"}
    assert "\x1b[33mSHOULD\x1b" in said(result)
    assert "not kept  LLM-COMPLETE-5 (SHOULD)" in said(result)
    assert "failed" not in result.parseoutcomes()
    assert "LLM-COMPLETE-5 (SHOULD)" in said(lax.run("--corpus-adapter=mine:OtherModel", FEW, "-rs"))


@pytest.mark.slow
def test_level_should_in_a_distributed_run(lax: Project) -> None:
    """With the level should it fails the run like a MUST; workers get adapter, selection and level."""
    options = ("--corpus-level=should", "--corpus-report=r.json", "-n", "1")
    result = lax.run("--corpus-adapter=mine:OtherModel", FEW, *options, plugins=("xdist",))
    assert (result.ret, result.parseoutcomes()["failed"]) == (1, 1)
    report = lax.report()
    assert {entry["id"] for entry in report["requirements"] if entry["tests"]} == {"LLM-COMPLETE-5", "LLM-COMPLETE-1"}
    assert (report["level"], report["verdict"]) == ("should", "partial")


DEVIATION = """
[[deviation]]
requirement = "LLM-TOKENS-1"
reason = "the tokenizer is away"
removal_plan = "it comes back in release 2"
expires = 2999-12-31
"""


def test_level_should_and_a_deviation_that_is_not_needed(lax: Project) -> None:
    """A complete run at the level should is nonconformant without a violated MUST; a needless deviation fails it."""
    (lax.path / "corpus-deviations.toml").write_text(DEVIATION)
    result, report = lax.judged("mine:OtherModel", "--corpus-level=should", "-q")
    assert violated(report) == set()
    assert (report["verdict"], report["complete"]) == ("nonconformant", True)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert "failed: LLM-TOKENS-1 is kept now: remove its deviation" in said(result)
