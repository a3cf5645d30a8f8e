"""The suite finds in adapters built on the published SDK what `docs/findings-corpus-sdk.md` lists."""

import json
import os
import re
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from cli_runs import run_process

from pytest_corpus.spec.components import COMPONENTS
from pytest_corpus.spec.requirements import catalogue
from pytest_corpus.verdict import deviations

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "corpus-sdk"
FINDINGS = ROOT / "docs" / "findings-corpus-sdk.md"
ID = r"[A-Z]+-[A-Z]+-\d+"
ROW = re.compile(rf"^\| ({ID}) \| (MUST|SHOULD) \| ([^|]+) \| ([^|]+) \| [^|]+ \|$", re.MULTILINE)
"""A row of the table of findings: requirement, level, components, what the SDK does."""
BLOCKS = re.compile(rf"^\| ({ID}) \| ({ID}(?:, {ID})*) \|$", re.MULTILINE)
"""A row of the table of what a finding keeps from being told."""

Report = dict[str, Any]


@pytest.mark.slow
def test_the_documented_findings_are_those_of_the_suite(tmp_path: Path) -> None:
    """Each finding is a declared deviation of the page, and nothing is open but what one of them blocks."""
    found = examined("factory", tmp_path)
    assert (found["verdict"], found["complete"]) == ("incomplete", True)
    deviated = {each for each in entries(found) if each[2] == "deviated"}
    assert {(each[0], each[1]) for each in deviated} == {
        (component, identity) for identity, (_, components, _) in documented().items() for component in components
    }
    open_ = [entry for entry in found["requirements"] if entry["status"] in ("not_assessed", "violated")]
    blocked = {(by, entry["id"]) for entry in open_ for by in entry["blocked_by"]}
    assert blocked == {(by, identity) for by, named in BLOCKS.findall(page()) for identity in named.split(", ")}
    outcomes = {test["outcome"] for entry in found["requirements"] for test in entry["tests"]}
    assert outcomes == {"satisfied", "violated", "not_applicable", "not_assessed"}


@pytest.mark.slow
def test_the_wire_handlers_of_the_sdk_make_no_difference(tmp_path: Path) -> None:
    """The adapters in the SDK's own wire handlers are found to be what the bare adapters are."""
    (tmp_path / "bare").mkdir()
    (tmp_path / "wired").mkdir()
    assert entries(examined("handlers", tmp_path / "wired")) == entries(examined("factory", tmp_path / "bare"))


def test_the_page_and_the_declared_deviations_say_the_same() -> None:
    """The example declares each finding of the page, for the reason that the page gives."""
    declared = {entry.requirement: entry.reason for entry in deviations.read(EXAMPLE / deviations.FILE)}
    assert declared == {identity: said.replace("`", "") for identity, (_, _, said) in documented().items()}


def test_the_page_gives_the_levels_of_the_catalogue() -> None:
    """A finding is a MUST or a SHOULD as the requirement is."""
    assert {identity: level for identity, (level, _, _) in documented().items()} == {
        identity: catalogue()[identity].level for identity in documented()
    }


def test_the_page_is_read_in_five_minutes() -> None:
    """It has a thousand words at most, and the example's README counts its rows."""
    assert len(re.findall(r"\w[^\s|]*", page())) <= 1000
    assert f"{len(documented())} sentences are broken" in (EXAMPLE / "README.md").read_text("utf-8")


def test_the_findings_are_of_the_installed_sdk() -> None:
    """The page says which version it speaks of, and that is the one examined here and required by the example."""
    assert f"`corpus-sdk` {version('corpus-sdk')}" in page()
    assert f'"corpus-sdk=={version("corpus-sdk")}"' in (EXAMPLE / "pyproject.toml").read_text("utf-8")


def examined(factory: str, folder: Path) -> Report:
    """The report of the whole suite on a factory of the example, from a process of its own in an empty folder."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(EXAMPLE), os.environ.get("PYTHONPATH", "")]),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTEST_XDIST_WORKER"):
        environment.pop(name, None)
    command = [sys.executable, "-m", "pytest", "-q", "-ppytest_corpus.plugin", "-pno:cacheprovider"]
    asked = [f"--corpus-adapter=quill:{factory}", f"--corpus-deviations={EXAMPLE / deviations.FILE}"]
    run_process(*command, *asked, "--corpus-report=report.json", cwd=folder, env=environment)
    found: Report = json.loads((folder / "report.json").read_text("utf-8"))
    assert set(found["components"]) == set(COMPONENTS)
    return found


def page() -> str:
    return FINDINGS.read_text("utf-8")


def documented() -> dict[str, tuple[str, list[str], str]]:
    """Level, components and what the SDK does, by requirement; one that stands there twice is a mistake."""
    rows = ROW.findall(page())
    assert len(rows) == len({row[0] for row in rows}), "a requirement has two rows"
    return {
        identity: (level, list(COMPONENTS) if where == "all" else where.split(", "), said)
        for identity, level, where, said in rows
    }


def entries(report: Report) -> set[tuple[str, str, str]]:
    return {(entry["component"], entry["id"], entry["status"]) for entry in report["requirements"]}
