"""Health (SPECIFICATION 7.6; R35)."""

from __future__ import annotations

from pytest_corpus.kit.fixtures import subject
from pytest_corpus.suites.common.claims.health import Health as TestHealth
