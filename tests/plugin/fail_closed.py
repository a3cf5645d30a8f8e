"""Whatever other plugins do: what every run must keep to, and what it is tried on."""

import functools
import importlib
from collections.abc import Callable
from typing import Any

import pytest
from inner_runs import Project, said

from pytest_corpus.integration.collecting import nodes as collect
from pytest_corpus.suites import inventory

REPORT = "--corpus-report=r.json"
SOUND = "--corpus-client=pytest_corpus.reference:client"
VIOLATING = "--corpus-client=mine:Client"
VIOLATED = "WIR-ARGS-2"
VIOLATED_TEST = "test_the_arguments_meet_their_schema"
OPERATIONS = ("embedding.embed", "llm.complete")

CLIENT = '''
from pytest_corpus.reference.request_builders import ReferenceClient

class Client(ReferenceClient):
    """Breaks WIR-ARGS-2; all that this blocks is a SHOULD."""

    def build_embed_request(self):
        return super().build_embed_request(text=["Hello"])
'''
"""What is violated is seen by one test alone: where that test says nothing, all others are satisfied."""

QUICK = ("--tb=no", "--assert=plain", "-p", "no:warnings")

GREEN = ("conformant", "conformant_with_deviations")


@functools.cache
def _inventory(_operations: tuple[str, ...]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    return functools.cache(inventory.tests.__wrapped__), functools.cache(inventory.case_numbers.__wrapped__)


def shorten(monkeypatch: pytest.MonkeyPatch, *more: str) -> None:
    """Leave the suite of request builders two operations of 33, and `more`, for speed; in this process only."""
    operations = (*OPERATIONS, *more)
    chapter = importlib.import_module("pytest_corpus.suites.wire.test_request_builders")
    few = pytest.mark.parametrize("op", operations).mark
    for name, function in vars(chapter).items():
        marks = getattr(function, "pytestmark", [])
        fewer = [few if mark.name == "parametrize" and mark.args[0] == "op" else mark for mark in marks]
        if name.startswith("test_") and fewer != marks:
            monkeypatch.setattr(function, "pytestmark", fewer)
    tests, case_numbers = _inventory(operations)
    monkeypatch.setattr(inventory, "tests", tests)  # read by `case_numbers`; the true ones keep all tests
    monkeypatch.setattr(collect, "tests", tests)
    monkeypatch.setattr(collect, "case_numbers", case_numbers)


def hostile_run(project: Project, source: str, *options: str, sound: bool) -> pytest.RunResult:
    """Run the whole suite of a client in this process, with a plugin that has this source."""
    project.pytester.makepyfile(mine=CLIENT, hostile=source)
    project.pytester.syspathinsert()
    return project.run(SOUND if sound else VIOLATING, REPORT, "-p", "hostile", *QUICK, *options)


def crashed(result: pytest.RunResult) -> str:
    """The last line of an internal error that no hostile plugin raised; empty where there is none.

    A worker that a plugin ends in the middle of a test makes xdist itself fail (`worker_workerfinished`).
    """
    lines = [line for line in (*result.outlines, *result.errlines) if line.startswith("INTERNALERROR>")]
    theirs = any(
        said in "\n".join(lines[-3:]) for said in ("hostile", "in worker_workerfinished", "assert not crashitem")
    )
    return lines[-1] if lines and not theirs else ""


def found(project: Project) -> dict[str, Any] | None:
    return project.report() if (project.path / "r.json").exists() else None


def assert_fail_closed(
    project: Project,
    result: pytest.RunResult,
    *,
    sound: bool,
    violated: str = VIOLATED,
    whole: bool = True,
    disturbed_end: bool = False,
) -> None:
    """Assertions that hold for every run, whatever a plugin did to it.

    Args:
        sound: the target violates nothing; else it violates `violated` alone.
        whole: the whole suite was asked for, and nothing else.
        disturbed_end: the plugin makes pytest itself end with a code of its own, after the verdict.
    """
    report, text = found(project), said(result)
    assert not crashed(result), text
    if report is None:
        assert result.ret != 0, f"neither a report nor an exit code\n{text}"
        return
    status = {entry["id"]: entry["status"] for entry in report["requirements"]}
    verdict = report["verdict"]
    if sound:
        assert verdict != "nonconformant", text
        assert "violated" not in status.values(), text
    else:
        assert verdict not in GREEN, text
        assert status[violated] != "satisfied", text
        assert result.ret != 0 or not whole, text
    assert report["complete"] is (verdict != "partial")
    assert bool(report["gaps"]) is (verdict == "partial"), report["gaps"]
    if whole and result.ret == 0:
        assert verdict in GREEN, text
    if whole and verdict in GREEN and not disturbed_end:
        assert result.ret == 0, text
    for entry in report["requirements"]:
        if entry["status"] == "satisfied":
            assert {test["outcome"] for test in entry["tests"]} <= {"satisfied", "not_applicable"}, entry


def assert_partial(project: Project, result: pytest.RunResult) -> None:
    """A sound target, some of whose tests did not run to their end or did not pass: no verdict, and no green."""
    report = found(project)
    assert report is not None, said(result)
    assert (report["verdict"], report["complete"]) == ("partial", False), said(result)
    assert report["gaps"], said(result)
    assert result.ret != 0, said(result)


def assert_conformant(project: Project, result: pytest.RunResult) -> None:
    """A sound target that nothing disturbed."""
    report = found(project)
    assert report is not None, said(result)
    assert (report["verdict"], report["complete"], report["gaps"]) == ("conformant", True, []), said(result)
    assert result.ret == 0, said(result)
