"""`--corpus-repeat`, `--corpus-strict`, `--corpus-traceback`."""

import pytest
from inner_runs import REFERENCE, Project, said, statuses

FEW = "--corpus-requirement=LLM-TOKENS-1"

FLAKY = """
from itertools import count
calls = count(1)

@changes("llm.count_tokens")
def Flaky(answer):
    if next(calls) % 3 == 0:
        answer["result"] = -1
"""

CLIENT = "--corpus-client=pytest_corpus.reference:client"


@pytest.mark.parametrize("spread", [(), ("-n", "1")], ids=["one_process", "a_worker"])
def test_a_flaky_requirement_is_violated(project: Project, spread: tuple[str, ...]) -> None:
    """A requirement that holds in some repetitions only is violated, and said to pass so many of so many."""
    project.adapter(FLAKY)
    arguments = ("--corpus-adapter=mine:Flaky", FEW, "--corpus-repeat=6", "--corpus-report=r.json", *spread)
    result = project.run(*arguments, plugins=("xdist",) if spread else ())
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    report = project.report()
    assert statuses(report)["llm", "LLM-TOKENS-1"] == "violated"
    (entry,) = (each for each in report["requirements"] if each["id"] == "LLM-TOKENS-1")
    assert {test["repeats"]["runs"] for test in entry["tests"]} == {6}
    assert any(0 < test["repeats"]["passed"] < 6 for test in entry["tests"])
    assert "of 6" in next(line for line in result.outlines if "violated  LLM-TOKENS-1" in line)


def test_each_test_runs_so_often(project: Project) -> None:
    """Every test of a selection is run N times, under ids that can be run again."""
    once = project.run(REFERENCE, FEW).parseoutcomes()["passed"]
    result = project.run(REFERENCE, FEW, "--corpus-repeat=3", "--corpus-report=r.json")
    assert result.parseoutcomes()["passed"] == 3 * once
    (entry,) = (each for each in project.report()["requirements"] if each["id"] == "LLM-TOKENS-1")
    assert len(entry["tests"]) == once


def test_strict_lets_the_reference_pass(project: Project) -> None:
    """If every MUST was assessed, --corpus-strict changes nothing."""
    assert project.run(CLIENT, "-q", "--corpus-strict").ret == 0


def test_a_traceback_is_there_on_request(project: Project) -> None:
    """A finding shows no code of the kit, unless --corpus-traceback asks for it."""
    project.adapter(FLAKY.replace("% 3 == 0", "> 0"))
    without = said(project.run("--corpus-adapter=mine:Flaky", FEW))
    assert "LLM-TOKENS-1 (MUST):" in without
    assert "suites/" not in without.replace("corpus/llm", "")
    with_it = said(project.run("--corpus-adapter=mine:Flaky", FEW, "--corpus-traceback"))
    assert "LLM-TOKENS-1 (MUST):" in with_it
    assert "Violation" in with_it


def test_the_seed_of_a_failure(project: Project) -> None:
    """The seed stands at the end of a run, and in the command that reruns a failure."""
    project.adapter(FLAKY.replace("% 3 == 0", "> 0"))
    text = said(project.run("--corpus-adapter=mine:Flaky", FEW, "--corpus-seed=41", "-q"))
    assert "seed 41, profile dev" in text
    assert "--corpus-requirement=LLM-TOKENS-1 --corpus-seed=41" in text


def test_a_repeated_test_agrees_with_itself(project: Project) -> None:
    """A test that is repeated gets the same tenants and the same place."""
    few = "--corpus-requirement=COM-OBS-9,GRA-TRAV-4,GRA-TRAV-7"
    result = project.run("--corpus-adapter=pytest_corpus.reference:graph", few, "--corpus-repeat=2")
    assert result.ret == 0, result.outlines
