"""`--corpus-level` and `corpus_level`: what a violated SHOULD counts."""

import pytest
from inner_runs import REFERENCE, Project, error_lines, said, violated

FEW = "--corpus-requirement=LLM-COMPLETE-5,LLM-COMPLETE-1"

OTHER_MODEL = """
class OtherModel(Wrapped):
    async def handle(self, envelope):
        answer = await self.inner.handle(envelope)
        if op_of(envelope) == "llm.complete" and answer["ok"]:
            answer["result"]["model"] = "another"
        return answer
"""


@pytest.fixture
def lax(project: Project) -> Project:
    """A folder with an adapter that keeps every MUST and breaks one SHOULD."""
    project.adapter(OTHER_MODEL)
    return project


def test_a_should_is_no_failure(lax: Project) -> None:
    """A violated SHOULD is yellow, is reported as such, and leaves the exit code 0."""
    result = lax.run("--corpus-adapter=mine:OtherModel", FEW, "--corpus-report=r.json", "--color=yes", "-v", "-rA")
    assert result.ret == 0
    assert violated(lax.report(), "SHOULD") == {"LLM-COMPLETE-5"}
    assert "\x1b[33mSHOULD\x1b" in said(result)
    assert "not kept  LLM-COMPLETE-5 (SHOULD)" in said(result)
    assert "failed" not in result.parseoutcomes()


def test_a_should_says_why(lax: Project) -> None:
    """The reason of a SHOULD that is not kept can be read without turning it red."""
    result = lax.run("--corpus-adapter=mine:OtherModel", FEW, "-rs")
    assert "LLM-COMPLETE-5 (SHOULD)" in said(result)


@pytest.mark.parametrize("given", ["option", "ini"])
def test_level_should(lax: Project, given: str) -> None:
    """With the level should it fails the run like a MUST."""
    options = ["--corpus-level=should"]
    if given == "ini":
        lax.pytester.makeini("[pytest]\ncorpus_level = should\n")
        options = []
    result = lax.run("--corpus-adapter=mine:OtherModel", FEW, "--corpus-report=r.json", *options)
    assert result.ret == 1
    assert result.parseoutcomes()["failed"] == 1
    assert lax.report()["level"] == "should"


def test_level_should_is_nonconformant(lax: Project) -> None:
    """A complete run at the level should says nonconformant of an adapter that keeps every MUST."""
    lax.run("--corpus-adapter=mine:OtherModel", "--corpus-level=should", "--corpus-report=r.json")
    assert violated(lax.report()) == set()
    assert (lax.report()["verdict"], lax.report()["complete"]) == ("nonconformant", True)


def test_level_should_changes_nothing_for_a_sound_adapter(project: Project) -> None:
    """The reference adapter keeps every SHOULD as well."""
    result = project.run(REFERENCE, "--corpus-level=should", "--corpus-report=r.json")
    assert result.ret == 0
    assert project.report()["verdict"] == "conformant"


def test_wrong_level(project: Project) -> None:
    """Anything else is a usage error that names the values."""
    result = project.run(REFERENCE, "--corpus-level=may")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert error_lines(result) == ["ERROR: --corpus-level=may: use must or should"]


@pytest.mark.slow
def test_distributed(lax: Project) -> None:
    """Workers and controller agree on the level."""
    options = ("--corpus-adapter=mine:OtherModel", FEW, "-n", "2")
    assert lax.run_apart(*options, plugins=("xdist",)).ret == 0
    assert lax.run_apart(*options, "--corpus-level=should", plugins=("xdist",)).ret == 1
