"""`--corpus-requirement` and `corpus_requirement`."""

import pytest
from inner_runs import REFERENCE, Project, assert_passed, error_lines, said


def ran(project: Project) -> set[str]:
    """The requirements that the last report has tests of."""
    return {entry["id"] for entry in project.report()["requirements"] if entry["tests"]}


@pytest.mark.parametrize(
    ("globs", "wanted"),
    [
        ("LLM-TOKENS-1", {"LLM-TOKENS-1"}),
        ("llm-tokens-1", {"LLM-TOKENS-1"}),
        ("LLM-CAP-*", {"LLM-CAP-1", "LLM-CAP-2"}),
        ("LLM-TOKENS-1, COM-CAP-2", {"LLM-TOKENS-1", "COM-CAP-2"}),
        ("COM-CAP-[23]", {"COM-CAP-2", "COM-CAP-3"}),
    ],
)
def test_selects(project: Project, globs: str, wanted: set[str]) -> None:
    """Ids and globs select exactly the tests of those requirements, in either case."""
    project.run(REFERENCE, f"--corpus-requirement={globs}", "--corpus-report=r.json")
    assert ran(project) == wanted


def test_ini(project: Project) -> None:
    """The ini twin selects, too, and makes the run partial just the same."""
    project.pytester.makeini("[pytest]\ncorpus_requirement = LLM-TOKENS-1\n")
    project.run(REFERENCE, "--corpus-report=r.json")
    assert ran(project) == {"LLM-TOKENS-1"}
    assert project.report()["verdict"] == "partial"


def test_makes_the_run_partial(project: Project) -> None:
    """A run of a few requirements issues no verdict, in no place."""
    result = project.run(REFERENCE, "--corpus-requirement=LLM-TOKENS-1", "--corpus-report=r.json")
    report = project.report()
    assert (report["verdict"], report["complete"]) == ("partial", False)
    assert report["components"]["llm"]["verdict"] == "partial"
    assert "no verdict: only a part of the suite ran" in said(result)
    assert result.ret == 0


def test_selecting_everything_is_complete(project: Project) -> None:
    """A glob that leaves nothing out leaves the run complete."""
    project.run(REFERENCE, "--corpus-requirement=*", "--corpus-report=r.json")
    assert (project.report()["verdict"], project.report()["complete"]) == ("conformant", True)


def test_users_own_tests_stay(project: Project) -> None:
    """The filter speaks of conformance tests alone."""
    project.pytester.makepyfile(test_own="def test_own(): pass")
    few = "--corpus-requirement=LLM-STREAM-1"
    assert_passed(project.run(REFERENCE, few), project, few, own=1)


def test_unknown(project: Project) -> None:
    """A glob without any match is a usage error with a suggestion, and nothing runs."""
    result = project.run(REFERENCE, "--corpus-requirement=LLM-TOKEN-1")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    (line,) = error_lines(result)
    assert "'LLM-TOKEN-1' matches no requirement; did you mean" in line
    assert "LLM-TOKENS-1" in line


def test_summary_of_a_few_requirements_is_short(project: Project) -> None:
    """What was left out on purpose is not listed requirement by requirement."""
    result = project.run(REFERENCE, "--corpus-requirement=LLM-TOKENS-1")
    assert len(result.outlines) < 30


@pytest.mark.slow
def test_distributed(project: Project) -> None:
    """Workers filter as a single process does."""
    project.run_apart(
        REFERENCE, "--corpus-requirement=LLM-CAP-*", "--corpus-report=r.json", "-n", "2", plugins=("xdist",)
    )
    assert ran(project) == {"LLM-CAP-1", "LLM-CAP-2"}
    assert project.report()["verdict"] == "partial"
