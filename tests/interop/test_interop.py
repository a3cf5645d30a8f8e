"""What the suite finds in adapters built on the published SDK is what `docs/findings-corpus-sdk.md` lists."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from pytest_corpus.spec.components import COMPONENTS

ROOT = Path(__file__).parents[2]
FINDINGS = ROOT / "docs" / "findings-corpus-sdk.md"
ROW = re.compile(r"^\| (?P<id>[A-Z]+-[A-Z]+-\d+) \| (?P<level>MUST|SHOULD) \|", re.MULTILINE)
"""The first two columns of a row of the table of findings."""
BLOCKED = re.compile(r"^\| (?P<id>[A-Z]+-[A-Z]+-\d+) \| (?P<by>[A-Z]+-[A-Z]+-\d+) \|$", re.MULTILINE)
"""A row of the table of what a finding keeps from being told."""

Report = dict[str, Any]


@pytest.fixture(scope="module", params=COMPONENTS)
def component(request: pytest.FixtureRequest) -> str:
    """Each component in turn."""
    return str(request.param)


@pytest.fixture(scope="module")
def report(component: str, tmp_path_factory: pytest.TempPathFactory) -> Report:
    """What the suite says of the adapter itself."""
    return examined(component, "adapter", tmp_path_factory.mktemp("adapter"))


def test_the_documented_requirements_are_violated(component: str, report: Report) -> None:
    """The table names each violated requirement with its level, and no other."""
    assert violated(report) == documented(component)


def test_what_is_not_assessed_is_blocked_by_a_finding(component: str, report: Report) -> None:
    """With both hooks nothing is left open but what a finding blocks, and no test of the suite itself fails."""
    assert report["complete"] is True
    open_ = [entry for entry in report["requirements"] if entry["status"] == "not_assessed"]
    blocked = BLOCKED.findall(section(component))
    assert all(entry.get("blocked_by") for entry in open_)
    assert sorted((entry["id"], by) for entry in open_ for by in entry["blocked_by"]) == sorted(blocked)
    assert {by for _, by in blocked} <= set(documented(component))
    outcomes = {test["outcome"] for entry in report["requirements"] for test in entry["tests"]}
    assert outcomes <= {"satisfied", "violated", "not_applicable", *(["not_assessed"] if blocked else [])}


@pytest.mark.slow
def test_the_wire_handler_of_the_sdk_makes_no_difference(component: str, report: Report, tmp_path: Path) -> None:
    """The adapter in the SDK's own wire handler is found to be what the bare adapter is."""
    wired = examined(component, "wire", tmp_path)
    assert violated(wired) == documented(component)
    assert statuses(wired) == statuses(report)


def test_the_page_gives_the_number_of_violations(component: str) -> None:
    """The overview counts the rows of each table."""
    levels = list(documented(component).values())
    counts = f"{levels.count('MUST')} MUST, {levels.count('SHOULD')} SHOULD"
    assert re.search(rf"^\| \[\w+\]\(#{component}\) \| `nonconformant` \| {counts} \|", page(), re.MULTILINE)


def test_every_finding_is_explained(component: str) -> None:
    """Each row of a table has a paragraph of its own, and no paragraph speaks of anything else."""
    explained = re.findall(r"^#### ([A-Z]+-[A-Z]+-\d+)$", section(component), re.MULTILINE)
    assert explained == list(documented(component))


def test_the_findings_are_of_the_installed_sdk() -> None:
    """The page says which version it speaks of, and that is the one examined here."""
    assert f"`corpus-sdk` {version('corpus-sdk')}" in page()


def examined(component: str, factory: str, folder: Path) -> Report:
    """The report of the whole suite on a factory of an adapter, from a process of its own in an empty folder."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTEST_XDIST_WORKER"):
        environment.pop(name, None)
    command = [sys.executable, "-m", "pytest", "-q", "-ppytest_corpus.plugin", "-pno:cacheprovider"]
    asked = [f"--corpus-adapter=tests.interop.{component}_adapter:{factory}", "--corpus-report=report.json"]
    done = subprocess.run(
        [*command, *asked], cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, f"{done.stdout[-3000:]}\n{done.stderr[-1000:]}"
    found: Report = json.loads((folder / "report.json").read_text("utf-8"))
    assert list(found["components"]) == [component]
    return found


def page() -> str:
    """The page of findings."""
    return FINDINGS.read_text("utf-8")


def section(component: str) -> str:
    """What the page says of a component."""
    sections = {text.splitlines()[0].lower(): text for text in re.split(r"^## ", page(), flags=re.MULTILINE)}
    return sections[component]


def documented(component: str) -> dict[str, str]:
    """The level of each requirement of a component's table; a row that stands there twice is a mistake."""
    rows = ROW.findall(section(component))
    assert len(rows) == len(dict(rows)), "a requirement has two rows"
    return dict(rows)


def violated(report: Report) -> dict[str, str]:
    """The level of each violated requirement."""
    return {entry["id"]: entry["level"] for entry in report["requirements"] if entry["status"] == "violated"}


def statuses(report: Report) -> dict[str, str]:
    """The status of each requirement."""
    return {entry["id"]: entry["status"] for entry in report["requirements"]}
