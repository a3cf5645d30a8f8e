"""SCHEMA 8.1: every schema file passes every lint rule."""

import os
from functools import cache

import pytest

from pytest_corpus.authoring.lint import linter
from pytest_corpus.suites.schema.findings import assert_no_findings, group_by_file, list_files
from pytest_corpus.validation.schema.registry import ROOT_VARIABLE

pytestmark = pytest.mark.schema


@cache
def findings(_: str | None) -> dict[str, list[str]]:
    """Return the findings in the folder that the environment names."""
    return group_by_file(linter.lint)


@pytest.mark.parametrize("file", list_files(linter.files, "schemas"))
def test_a_schema_file_passes_every_rule(file: str) -> None:
    """A schema file exists, is listed, and keeps all rules (SCHEMA 2.2, 2.3, 8.1, 8.3, 10.1; R41)."""
    assert_no_findings(findings(os.environ.get(ROOT_VARIABLE)), file)
