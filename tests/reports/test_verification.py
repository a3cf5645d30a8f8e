"""A report that was edited and sealed again is refused where a true report could not say so."""

import copy
import json
from collections.abc import Callable
from datetime import date
from functools import cache, reduce
from operator import getitem
from pathlib import Path
from typing import Any

import pytest
from sound import DAY, blocked, recounted, sound, violated, written

from pytest_corpus.reports import json_report
from pytest_corpus.reports.checking.verification import find_faults
from pytest_corpus.spec.requirements import applicable_requirements
from pytest_corpus.suites import inventory
from pytest_corpus.verdict.deviations import Deviation

Report = dict[str, Any]
Edit = Callable[[Report], object]

VIOLATED, DEVIATED, OPEN, BLOCKED, SATISFIED = "LLM-TOKENS-1", "COM-WIRE-3", "COM-OBS-1", "COM-OBS-2", "LLM-COMPLETE-1"
ABSENT, HINTED, STREAMED = "LLM-TOOLS-1", "LLM-TOKENS-2", "LLM-STREAM-1"
"""Requirements of the rich report, by what became of them."""

RICH = {
    VIOLATED: violated(VIOLATED),
    DEVIATED: violated(DEVIATED),
    OPEN: {"outcome": "not_assessed", "reason": "the factory takes no argument 'metrics'", "keyword": "metrics"},
    BLOCKED: blocked("COM-CAP-2"),
    **{
        each.id: {"outcome": "not_applicable", "reason": "capabilities deny supports_tools"}
        for each in applicable_requirements("llm")
        if "supports_tools" in each.needs
    },
}
DECLARED = Deviation(DEVIATED, "an old provider", "an upgrade", date(2025, 3, 31))


def rich(times: int = 0) -> Report:
    """A report with every status."""
    found = sound(RICH, times=times)
    found.capabilities["llm"] = {**found.capabilities["llm"], "supports_tools": False}
    return written(found, [DECLARED])


TRUE: dict[str, Callable[[], Report]] = {
    "conformant": lambda: written(sound()),
    "nonconformant": lambda: written(sound({VIOLATED: violated(VIOLATED)})),
    "incomplete": lambda: written(sound({OPEN: RICH[OPEN], BLOCKED: RICH[BLOCKED]})),
    "deviating": lambda: written(sound({DEVIATED: violated(DEVIATED)}), [DECLARED]),
    "rich": rich,
    "repeated": lambda: rich(times=3),
    "seen elsewhere": lambda: written(sound({SATISFIED: {"findings": violated(VIOLATED)["findings"]}})),
}


@cache
def true(name: str) -> str:
    """A report as a text, to be made anew from it."""
    return json_report.render(TRUE[name]())


def found_in(report: Report, folder: Path, day: date = DAY) -> list[str]:
    json_report.write_report(report, folder / "r.json")
    return find_faults(folder / "r.json", day, inventory.tests)


@pytest.mark.parametrize("name", TRUE)
def test_what_a_run_writes_stands(tmp_path: Path, name: str) -> None:
    """No rule refuses what a run wrote, whatever it came to."""
    assert found_in(json.loads(true(name)), tmp_path) == []


# Edits: each changes one thing, as somebody would who wants to look better or who knows no better.


def entry(report: Report, name: str) -> Any:
    return next(each for each in report["requirements"] if each["id"] == name)


def says(name: str, **members: Any) -> Edit:
    """An edit that changes members of a requirement."""
    return lambda report: entry(report, name).update(members)


def drops(name: str, *members: str) -> Edit:
    """One that takes members away."""
    return lambda report: [entry(report, name).pop(member) for member in members]


def of_test(name: str, place: int, **members: Any) -> Edit:
    """One that changes a test of a requirement."""
    return lambda report: entry(report, name)["tests"][place].update(members)


def sets(*path: str, to: Any) -> Edit:
    return lambda report: reduce(getitem, path[:-1], report).update({path[-1]: to})


def whitewashed(name: str, outcome: str, **more: str) -> Edit:
    """One that gives the tests of a requirement another outcome, and nothing else unless `more` names it."""
    return lambda report: [test.update(outcome=outcome, **more) for test in entry(report, name)["tests"]]


def all_of(*edits: Edit) -> Edit:
    return lambda report: [each(report) for each in edits]


def moved_test(report: Report) -> None:
    """A test of one requirement stands below another."""
    entry(report, SATISFIED)["tests"].append(entry(report, HINTED)["tests"].pop())
    entry(report, SATISFIED)["tests"].sort(key=lambda test: test["test"])


FAIR = {"expected": "e", "got": "g", "path": "p"}
EDITS: dict[str, Edit] = {
    "violated to satisfied": says(VIOLATED, status="satisfied"),
    "violated to not applicable": says(VIOLATED, status="not_applicable", reason="not offered"),
    "violated to not assessed": says(VIOLATED, status="not_assessed", reason="it could not be seen"),
    "violated to satisfied, without findings": all_of(drops(VIOLATED, "findings"), says(VIOLATED, status="satisfied")),
    "findings that no test has": all_of(whitewashed(VIOLATED, "satisfied"), says(VIOLATED, status="satisfied")),
    "deviated to satisfied": all_of(drops(DEVIATED, "deviation"), says(DEVIATED, status="satisfied")),
    "deviated without a violation": all_of(drops(DEVIATED, "findings"), whitewashed(DEVIATED, "satisfied")),
    "deviation of another adapter": lambda report: entry(report, DEVIATED)["deviation"].update(adapter="b"),
    "deviation that expired": lambda report: entry(report, DEVIATED)["deviation"].update(expires="2025-01-01"),
    "deviation on no day": lambda report: entry(report, DEVIATED)["deviation"].update(expires="2025-02-31"),
    "deviation of what is satisfied": says(
        SATISFIED, deviation={"reason": "r", "removal_plan": "p", "expires": "2030-01-01"}
    ),
    "open to satisfied": says(OPEN, status="satisfied"),
    "open to satisfied without its reason": all_of(drops(OPEN, "reason", "keyword"), says(OPEN, status="satisfied")),
    "open to not applicable": says(OPEN, status="not_applicable"),
    "open without a reason": drops(OPEN, "reason"),
    "open for another reason": says(OPEN, reason="it rained"),
    "open tests to satisfied": whitewashed(OPEN, "satisfied"),
    "open to satisfied with crashed tests": all_of(whitewashed(OPEN, "error"), says(OPEN, status="satisfied")),
    "one open test among satisfied ones": of_test(SATISFIED, 0, outcome="not_assessed", reason="r"),
    "one violated test among satisfied ones": of_test(SATISFIED, 0, outcome="violated"),
    "one crashed test among satisfied ones": of_test(SATISFIED, -1, outcome="error"),
    "satisfied without a test": says(SATISFIED, tests=[]),
    "not applicable without a test": says(ABSENT, tests=[]),
    "not assessed without a test": says(OPEN, tests=[]),
    "violated without a test": says(VIOLATED, tests=[]),
    "satisfied to violated": says(SATISFIED, status="violated"),
    "satisfied to not applicable": says(SATISFIED, status="not_applicable", reason="not offered"),
    "satisfied to not assessed": says(SATISFIED, status="not_assessed", reason="not seen"),
    "satisfied with a finding": says(SATISFIED, findings=[FAIR]),
    "satisfied with a reason": says(SATISFIED, reason="of course"),
    "satisfied with a keyword": says(SATISFIED, keyword="metrics"),
    "satisfied and blocked": says(SATISFIED, blocked_by=["COM-CAP-2"]),
    "satisfied with a hint": says(SATISFIED, hint="well done"),
    "satisfied test with a reason": of_test(SATISFIED, 0, reason="of course"),
    "no finding at all": says(VIOLATED, findings=[]),
    "six findings": says(VIOLATED, findings=[FAIR] * 6),
    "another hint": says(VIOLATED, hint="nothing to do"),
    "not applicable to satisfied": all_of(
        whitewashed(ABSENT, "satisfied"),
        lambda report: [test.pop("reason", None) for test in entry(report, ABSENT)["tests"]],
        drops(ABSENT, "reason"),
        says(ABSENT, status="satisfied"),
    ),
    "not applicable for another reason": says(ABSENT, reason="no need"),
    "not applicable and blocked": says(ABSENT, blocked_by=["COM-CAP-2"]),
    "not applicable test without a reason": lambda report: entry(report, ABSENT)["tests"][0].pop("reason"),
    "not applicable though claimed": all_of(
        whitewashed(STREAMED, "not_applicable", reason="capabilities deny supports_streaming"),
        says(STREAMED, status="not_applicable", reason="capabilities deny supports_streaming"),
    ),
    "blocked by nothing": says(BLOCKED, blocked_by=[]),
    "not blocked any more": drops(BLOCKED, "blocked_by"),
    "blocked by something else": says(BLOCKED, blocked_by=["COM-CAP-3"]),
    "blocked by itself": says(BLOCKED, blocked_by=[BLOCKED]),
    "blocked by another component": says(BLOCKED, blocked_by=["COM-CAP-2", "GRA-QUERY-1"]),
    "blocked by what the catalogue does not have": says(BLOCKED, blocked_by=["XXX-1"]),
    "blocked twice": says(BLOCKED, blocked_by=["COM-CAP-2", "COM-CAP-2"]),
    "a test is lost": lambda report: entry(report, SATISFIED)["tests"].pop(),
    "a test has another name": of_test(SATISFIED, 0, test="llm/test_complete_basic.py::test_a_thing"),
    "a test appears twice": lambda report: (tests := entry(report, SATISFIED)["tests"]).append(tests[-1]),
    "a test stands elsewhere": moved_test,
    "tests in another order": lambda report: entry(report, SATISFIED)["tests"].reverse(),
    "a requirement is lost": lambda report: report["requirements"].remove(entry(report, VIOLATED)),
    "a requirement appears twice": lambda report: report["requirements"].append(entry(report, SATISFIED)),
    "requirements in another order": lambda report: report["requirements"].reverse(),
    "another level": says(VIOLATED, level="SHOULD"),
    "another text": says(VIOLATED, text="The adapter is fine."),
    "another source": says(VIOLATED, source=["SPECIFICATION 1"]),
    "another component": says(VIOLATED, component="graph"),
    "a component more": lambda report: report["components"].update(graph=copy.deepcopy(report["components"]["llm"])),
    "a client library more": sets("components", "wire", to={"verdict": "conformant", "totals": {}}),
    "no capabilities": sets("capabilities", to={}),
    "capabilities of another component": sets("capabilities", "graph", to={"server": "s", "version": "1"}),
    "capabilities of no document": sets("capabilities", "llm", "certified", to=True),
    "capabilities that deny what was tested": sets("capabilities", "llm", "supports_streaming", to=False),
    "another server": sets("adapter", "server", to="t"),
    "another version of the server": sets("adapter", "version", to="2"),
    "no name": sets("adapter", "name", to=""),
    "gaps in a complete run": sets("gaps", to=["tests were deselected"]),
    "a run that is not complete": sets("complete", to=False),
    "another catalogue": sets("spec", "catalogue", to="1.1"),
    "editions in another order": sets("spec", "schema_versions_met", to=["1.1.0", "1.0.0"]),
    "another version": sets("environment", "pytest-corpus", to="99.0"),
    "no version": lambda report: report["environment"].pop("pytest-corpus"),
    "no Python": lambda report: report["environment"].pop("python"),
    "a quick run": sets("profile", to="quick"),
    "no profile": lambda report: report.pop("profile"),
    "a stress run without its tests": sets("profile", to="stress"),
    "started in the future": sets("started_at", to="2025-01-05T00:00:00+00:00"),
    "started on no day": sets("started_at", to="2024-02-30T00:00:00+00:00"),
    "ended in the future": sets("duration_s", to=9e9),
    "ended never": sets("duration_s", to=1e300),
    "took no time": sets("duration_s", to=0),
    "repeated once in a while": of_test(SATISFIED, 0, repeats={"runs": 2, "passed": 2}),
    "repeated without its tests": says(SATISFIED, repeats={"runs": 2, "passed": 2}),
}  # fmt: skip

REPEATED: dict[str, Edit] = {
    "not repeated": drops(SATISFIED, "repeats"),
    "a test not repeated": lambda report: entry(report, SATISFIED)["tests"][0].pop("repeats"),
    "a test repeated less": of_test(SATISFIED, 0, repeats={"runs": 2, "passed": 2}),
    "satisfied, but not each time": of_test(SATISFIED, 0, repeats={"runs": 3, "passed": 2}),
    "violated, but passed": of_test(VIOLATED, 0, repeats={"runs": 3, "passed": 3}),
    "passed more often than it ran": of_test(SATISFIED, 0, repeats={"runs": 3, "passed": 4}),
    "rounds that all passed": says(VIOLATED, repeats={"runs": 3, "passed": 3}),
    "rounds that did not pass": says(SATISFIED, repeats={"runs": 3, "passed": 2}),
    "fewer rounds": says(SATISFIED, repeats={"runs": 1, "passed": 1}),
    "more rounds": says(SATISFIED, repeats={"runs": 4, "passed": 4}),
    "one failure is none": whitewashed(VIOLATED, "satisfied"),
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_is_refused(tmp_path: Path, name: str) -> None:
    """A report in which one thing was changed is refused, though its numbers, verdict and digest fit."""
    report = json.loads(true("rich"))
    EDITS[name](report)
    if name != "a client library more":
        report = recounted(report)
    assert found_in(json_report.add_digest(report), tmp_path)


@pytest.mark.parametrize("name", REPEATED)
def test_an_edit_of_a_repeated_run_is_refused(tmp_path: Path, name: str) -> None:
    """So is one that changes how often tests passed."""
    report = json.loads(true("repeated"))
    REPEATED[name](report)
    assert found_in(recounted(report), tmp_path)


def test_the_forger_of_the_whole(tmp_path: Path) -> None:
    """Turning every status of a violated report into satisfied is not enough."""
    report = json.loads(true("nonconformant"))
    for each in report["requirements"]:
        each["status"] = "satisfied"
    report = recounted(report)
    assert report["verdict"] == "conformant"
    assert f"llm: {VIOLATED}: it is said to be satisfied, but its tests and findings make it violated" in found_in(
        report, tmp_path
    )


def test_many_faults_of_one_kind_are_one_line(tmp_path: Path) -> None:
    """A fault of many requirements is reported once, with the first of them."""
    report = json.loads(true("conformant"))
    for each in report["requirements"]:
        each["text"] = "Nothing."
    (fault,) = found_in(recounted(report), tmp_path)
    assert fault.endswith(" and others: its text or its source is not that of the catalogue")
