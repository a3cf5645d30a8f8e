"""SCHEMA 7.3: every golden file is valid under its schemas and keeps the invariants."""

from __future__ import annotations

import os
from functools import cache

import pytest

from pytest_corpus.authoring.goldens import checks
from pytest_corpus.validation.schema.registry import ROOT_VARIABLE

pytestmark = pytest.mark.schema


@cache
def findings(*_: str | None) -> dict[str, list[str]]:
    """The findings of the folders that the environment names, by file; under no name what holds for all files."""
    found: dict[str, list[str]] = {}
    try:
        for finding in checks.check():
            found.setdefault(finding.file, []).append(str(finding))
    except OSError as fault:
        return {"": [str(fault)]}
    return found


def listed() -> tuple[str, ...]:
    """Every file of the table and of the folder; where there is no folder, the first test says so."""
    try:
        return checks.files()
    except OSError:
        return ("golden",)


@pytest.mark.parametrize("file", listed())
def test_a_golden_file_passes_every_check(file: str) -> None:
    """A golden file exists, is listed, is valid under its editions and true to itself (SCHEMA 7.3; R40, R41)."""
    found = findings(os.environ.get(checks.ROOT_VARIABLE), os.environ.get(ROOT_VARIABLE))
    if wrong := found.get("") or found.get(file):
        pytest.fail("\n".join(wrong), pytrace=False)
