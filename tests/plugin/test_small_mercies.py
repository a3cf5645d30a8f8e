"""Misspelt options, files that a run leaves behind."""

import sys

import pytest
from inner_runs import PYTHON, REFERENCE, Project, error_lines, said


@pytest.mark.parametrize(("given", "hint"), [
    ("--corpus-adpater=mine:x", "--corpus-adpater: there is no such option; did you mean --corpus-adapter?"),
    ("--corpus-zzz", "--corpus-zzz: there is no such option; pytest --help lists them all"),
])  # fmt: skip
def test_did_you_mean(project: Project, given: str, hint: str) -> None:
    """A misspelt option or value ends in one sentence with a near one."""
    result = project.run(REFERENCE, given)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert [line for line in error_lines(result) if hint in line], said(result)


def test_an_option_of_somebody_else(project: Project) -> None:
    """An option of a conftest that begins as ours do is let through."""
    (project.path / "conftest.py").write_text("def pytest_addoption(parser): parser.addoption('--corpus-mine')\n")
    assert project.run(REFERENCE, "--corpus-mine=1", "--corpus-requirement=COM-CAP-1").ret == 0


def test_a_run_leaves_no_folder_of_hypothesis(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """What hypothesis keeps does not lie in the user's folder afterwards; his own tests keep it there as ever."""
    monkeypatch.setattr(sys, "executable", PYTHON)  # hypothesis says at its import where it is
    project.run_apart(
        "--corpus-adapter=pytest_corpus.reference:vector", "--corpus-requirement=VEC-STATE-*", "--corpus-profile=quick"
    )
    project.run_apart(REFERENCE, "--corpus-requirement=LLM-SAMPLING-*,LLM-TOKENS-*")
    assert not (project.path / ".hypothesis").exists()
    project.pytester.makepyfile(
        test_own="from hypothesis import given, strategies\n"
        "@given(strategies.integers())\ndef test_own(number): assert number < 100\n"
    )
    project.run_apart(REFERENCE, "--corpus-requirement=LLM-SAMPLING-*,LLM-TOKENS-*", "test_own.py")
    assert (project.path / ".hypothesis").exists()
