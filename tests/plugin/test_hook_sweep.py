"""Each behaviour of a plugin at each hook: never a green light for a violating client."""

import pytest
from fail_closed import (
    CLIENT,
    QUICK,
    REPORT,
    VIOLATED_TEST,
    VIOLATING,
    assert_conformant,
    assert_fail_closed,
    assert_partial,
    hostile_run,
    shorten,
)
from inner_runs import Project, said
from sweep_plugins import CASES, Case
from thinning import thin_out


@pytest.fixture(autouse=True)
def _short_suite(monkeypatch: pytest.MonkeyPatch) -> None:
    shorten(monkeypatch)


@pytest.mark.parametrize("case", thin_out(CASES, 5))
def test_violating_and_the_test_is_hit(project: Project, case: Case) -> None:
    """Whatever is done to the one test that sees the violation, the run is not green."""
    result = hostile_run(project, case.source(VIOLATED_TEST), sound=False)
    assert_fail_closed(project, result, sound=False)


@pytest.mark.parametrize("case", thin_out(CASES, 5, 1))
def test_violating_and_every_test_is_hit(project: Project, case: Case) -> None:
    """Whatever is done to every test, the run is not green."""
    assert_fail_closed(project, hostile_run(project, case.source(""), sound=False), sound=False)


@pytest.mark.parametrize("case", thin_out(CASES, 5, 2))
def test_sound_and_every_test_is_hit(project: Project, case: Case) -> None:
    """A sound client is never failed for it: the run has no verdict, or the client is conformant."""
    result = hostile_run(project, case.source(""), sound=True)
    assert_fail_closed(project, result, sound=True)
    if case.sound == "partial":
        assert_partial(project, result)
    elif case.sound == "conformant":
        assert_conformant(project, result)


BROKEN = """
@changes("llm.complete")
def Broken(answer):
    answer["result"]["finish_reason"] = "because"
"""

BY_NAME = {str(case): case for case in CASES}

DOZEN = (
    "runtest_setup-first-skip", "runtest_setup-around_first-return_before", "runtest_call-first-xfail",
    "runtest_call-around_first-swallow", "runtest_call-around_last-return_before",
    "runtest_makereport-around_first-return_before", "runtest_makereport-around_first-swallow",
    "runtest_logreport-around_first-return_before", "pyfunc_call-first-return", "pyfunc_call-around_last-swallow",
    "runtest_protocol-first-return", "collection_modifyitems-last-return",
)  # fmt: skip


@pytest.mark.parametrize(
    "scope", [("--corpus-requirement=LLM-COMPLETE-2",), pytest.param((), marks=pytest.mark.slow)], ids=["few", "whole"]
)
@pytest.mark.parametrize("name", DOZEN)
def test_a_violating_adapter(project: Project, name: str, scope: tuple[str, ...]) -> None:
    """With an adapter it is the same: its violation is not satisfied, and the exit code is not 0."""
    project.adapter(BROKEN)
    project.pytester.makepyfile(hostile=BY_NAME[name].source(""))
    project.pytester.syspathinsert()
    result = project.run("--corpus-adapter=mine:Broken", *scope, REPORT, *QUICK, "-p", "hostile")
    assert_fail_closed(project, result, sound=False, violated="LLM-COMPLETE-2", whole=not scope)
    assert result.ret != 0, said(result)


@pytest.mark.slow
@pytest.mark.parametrize("name", DOZEN)
def test_on_two_workers(project: Project, name: str) -> None:
    """So it is on two workers."""
    project.pytester.makepyfile(mine=CLIENT, hostile=BY_NAME[name].source(VIOLATED_TEST))
    given = (VIOLATING, REPORT, *QUICK, "-p", "hostile", "-n", "2")
    assert_fail_closed(project, project.run_apart(*given, plugins=("xdist",)), sound=False)
