"""Health (SPECIFICATION 7.6; R35)."""

from __future__ import annotations

from pytest_corpus.suites.common.health import Health
from pytest_corpus.suites.fixtures import subject


class TestHealth(Health):
    """Reports on the graph database."""
