"""What the suite finds in an adapter built on the published SDK is what `docs/findings-corpus-sdk.md` lists."""

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

ROOT = Path(__file__).parents[2]
FINDINGS = ROOT / "docs" / "findings-corpus-sdk.md"
ROW = re.compile(r"^\| (?P<id>[A-Z]+-[A-Z]+-\d+) \| (?P<level>MUST|SHOULD) \|", re.MULTILINE)
"""The first two columns of a row of the table of findings."""

Report = dict[str, Any]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """What the suite says of the adapter itself."""
    return examined("adapter", tmp_path_factory.mktemp("adapter"))


def test_the_documented_requirements_are_violated(report: Report) -> None:
    """The table names each violated requirement with its level, and no other."""
    assert violated(report) == documented()


def test_every_requirement_is_assessed(report: Report) -> None:
    """With both hooks nothing is left open, and no test of the suite itself fails."""
    assert report["complete"] is True
    assert [entry["id"] for entry in report["requirements"] if entry["status"] == "not_assessed"] == []
    outcomes = {test["outcome"] for entry in report["requirements"] for test in entry["tests"]}
    assert outcomes <= {"satisfied", "violated", "not_applicable"}


def test_the_wire_handler_of_the_sdk_makes_no_difference(report: Report, tmp_path: Path) -> None:
    """The adapter in the SDK's own wire handler is found to be what the bare adapter is."""
    wired = examined("wire", tmp_path)
    assert violated(wired) == documented()
    assert statuses(wired) == statuses(report)


def test_the_findings_are_of_the_installed_sdk() -> None:
    """The page says which version it speaks of, and that is the one examined here."""
    assert f"`corpus-sdk` {version('corpus-sdk')}" in FINDINGS.read_text("utf-8")


def examined(factory: str, folder: Path) -> Report:
    """The report of the whole suite on a factory of `llm_adapter`, from a process of its own in an empty folder."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTEST_XDIST_WORKER"):
        environment.pop(name, None)
    command = [sys.executable, "-m", "pytest", "-q", "-ppytest_corpus.plugin", "-pno:cacheprovider"]
    asked = [f"--corpus-adapter=tests.interop.llm_adapter:{factory}", "--corpus-report=report.json"]
    done = subprocess.run(
        [*command, *asked], cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, f"{done.stdout[-3000:]}\n{done.stderr[-1000:]}"
    found: Report = json.loads((folder / "report.json").read_text("utf-8"))
    return found


def documented() -> dict[str, str]:
    """The level of each requirement of the table of findings; a row that stands there twice is a mistake."""
    rows = ROW.findall(FINDINGS.read_text("utf-8"))
    assert len(rows) == len(dict(rows)), "a requirement has two rows"
    return dict(rows)


def violated(report: Report) -> dict[str, str]:
    """The level of each violated requirement."""
    return {entry["id"]: entry["level"] for entry in report["requirements"] if entry["status"] == "violated"}


def statuses(report: Report) -> dict[str, str]:
    """The status of each requirement."""
    return {entry["id"]: entry["status"] for entry in report["requirements"]}
