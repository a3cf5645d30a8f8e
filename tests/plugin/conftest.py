"""Fixtures of the tests that run pytest inside pytest."""

import sys

import pytest
from forks import forking_python
from inner_runs import Project, preload


@pytest.fixture(scope="session", autouse=True)
def _preloaded() -> None:
    """Import what every inner run needs before the first `pytester`, which forgets what came after it."""
    preload()


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Project:
    """An empty folder of a user's."""
    monkeypatch.setattr(sys, "executable", forking_python())
    for name in ("PYTEST_ADDOPTS", "CI", "BUILD_NUMBER", "GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CORPUS_TEST_ENV", "local")
    return Project(pytester)
