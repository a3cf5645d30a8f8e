"""Health (SPECIFICATION 7.6; R35)."""

from __future__ import annotations

from pytest_corpus.kit.fixtures import subject
from pytest_corpus.suites.common.claims.health import Health


class TestHealth(Health):
    """Reports on the LLM backend."""
