"""SCHEMA 7.3: every golden file is valid under its schemas and keeps the invariants."""

import os
from functools import cache

import pytest

from pytest_corpus.authoring.goldens import checks
from pytest_corpus.suites.schema.findings import assert_no_findings, group_by_file, list_files
from pytest_corpus.validation.schema.registry import ROOT_VARIABLE

pytestmark = pytest.mark.schema


@cache
def findings(*_: str | None) -> dict[str, list[str]]:
    """Return the findings in the folders that the environment names."""
    return group_by_file(checks.check)


@pytest.mark.parametrize("file", list_files(checks.files, "golden"))
def test_a_golden_file_passes_every_check(file: str) -> None:
    """A golden file exists, is listed, valid and consistent (SCHEMA 7.3; R40, R41)."""
    assert_no_findings(findings(os.environ.get(checks.ROOT_VARIABLE), os.environ.get(ROOT_VARIABLE)), file)
