"""`--corpus-requirement` and `corpus_requirement`."""

import pytest
from inner_runs import REFERENCE, Project, assert_passed


def ran(project: Project) -> set[str]:
    return {entry["id"] for entry in project.report()["requirements"] if entry["tests"]}


@pytest.mark.parametrize(("globs", "wanted"), [
    ("LLM-TOKENS-1", {"LLM-TOKENS-1"}),
    ("llm-tokens-1", {"LLM-TOKENS-1"}),
    ("LLM-CAP-*", {"LLM-CAP-1", "LLM-CAP-2", "LLM-CAP-3"}),
    ("LLM-TOKENS-1, COM-CAP-2", {"LLM-TOKENS-1", "COM-CAP-2"}),
    ("COM-CAP-[23]", {"COM-CAP-2", "COM-CAP-3"}),
])  # fmt: skip
def test_selects(project: Project, globs: str, wanted: set[str]) -> None:
    """Ids and globs select exactly the tests of those requirements, in either case."""
    project.run(REFERENCE, f"--corpus-requirement={globs}", "--corpus-report=r.json")
    assert ran(project) == wanted


def test_users_own_tests_stay(project: Project) -> None:
    """The filter speaks of conformance tests alone."""
    project.pytester.makepyfile(test_own="def test_own(): pass")
    few = "--corpus-requirement=LLM-STREAM-1"
    assert_passed(project.run(REFERENCE, few), project, few, own=1)
