"""Fixtures of the tests that run pytest inside pytest."""

from __future__ import annotations

import pytest
from inner_runs import Project, preload


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Project:
    """An empty folder of a user's."""
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    preload()
    return Project(pytester)
