"""SCHEMA 8.1: every schema file passes every lint rule."""

from __future__ import annotations

import os
from functools import cache

import pytest

from pytest_corpus.authoring.lint import linter
from pytest_corpus.validation.schema.registry import ROOT_VARIABLE

pytestmark = pytest.mark.schema


@cache
def findings(_: str | None) -> dict[str, list[str]]:
    """The findings of the folder that the environment names, by file; under no name what holds for all files."""
    found: dict[str, list[str]] = {}
    try:
        for finding in linter.lint():
            found.setdefault(finding.file, []).append(str(finding))
    except OSError as fault:
        return {"": [str(fault)]}
    return found


def listed() -> tuple[str, ...]:
    """Every file of the table and of the folder; where there is no folder, the first test says so."""
    try:
        return linter.files()
    except OSError:
        return ("schemas",)


@pytest.mark.parametrize("file", listed())
def test_a_schema_file_passes_every_rule(file: str) -> None:
    """A schema file exists, is listed, and breaks no rule (SCHEMA 2.2, 2.3, 8.1, 8.3, 10.1; R41)."""
    found = findings(os.environ.get(ROOT_VARIABLE))
    if wrong := found.get("") or found.get(file):
        pytest.fail("\n".join(wrong), pytrace=False)
