"""`--corpus-budget`: a run that may not use more calls and tokens stops cleanly."""

import pytest
from inner_runs import REFERENCE, Project, said

FEW = "--corpus-requirement=COM-CAP-*,COM-ENV-*,COM-HEALTH-*,LLM-TOKENS-*"


def used(report: dict[str, object]) -> int:
    components: dict[str, dict[str, int]] = report["components"]  # type: ignore[assignment]
    return components["llm"].get("calls", 0)


@pytest.mark.parametrize("spread", [(), ("-n", "2")], ids=["one_process", "two_workers"])
def test_a_run_stops_at_its_budget(project: Project, spread: tuple[str, ...]) -> None:
    """No more calls are made than allowed, by all workers together, and what was not decided is named."""
    arguments = (REFERENCE, FEW, "--corpus-budget=calls=60", "--corpus-report=r.json", *spread)
    result = project.run(*arguments, plugins=("xdist",) if spread else ())
    assert result.ret == 0, said(result)
    report = project.report()
    assert (report["verdict"], report["complete"], report["budget"]) == ("partial", False, {"calls": 60})
    assert "the budget of 60 calls is spent" in report["gaps"]
    assert 20 < used(report) <= 60
    left = [entry["id"] for entry in report["requirements"] if "budget of 60" in entry.get("reason", "")]
    assert "LLM-TOKENS-2" in left
    told = next(line for line in result.outlines if line.strip().startswith("not assessed") and "budget" in line)
    assert all(name in told for name in left)
    assert "violated" not in {entry["status"] for entry in report["requirements"]}


def test_tokens_are_limited_too(project: Project) -> None:
    """The setting says it as the option does, and a strict run fails where something was left open."""
    project.pytester.makeini("[pytest]\ncorpus_budget = tokens=20\n")
    result = project.run(REFERENCE, "--corpus-requirement=LLM-COMPLETE-*", "--corpus-strict", "--corpus-report=r.json")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert "the budget of 20 tokens is spent" in project.report()["gaps"]


def test_a_budget_that_suffices_changes_nothing(project: Project) -> None:
    """A run that needs less is no part of one, and says in one line what it used."""
    result = project.run(REFERENCE, FEW, "--corpus-budget=calls=5000", "--corpus-report=r.json")
    assert project.report()["gaps"] == ["tests were deselected", *project.report()["gaps"][1:]]
    assert not any("budget" in gap for gap in project.report()["gaps"])
    assert sum(line.startswith(f"  calls: {used(project.report())}") for line in result.outlines) == 1, said(result)
