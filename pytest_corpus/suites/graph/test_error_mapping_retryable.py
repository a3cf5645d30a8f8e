"""From provider failures to the taxonomy (ERRORS 4, 6.4, 8; SPECIFICATION 12)."""

from __future__ import annotations

from pytest_corpus.suites.common.faults import Faults, StreamFaults
from pytest_corpus.suites.fixtures import subject


class TestFaults(Faults):
    """Unary operations."""


class TestStreamFaults(StreamFaults):
    """Streams."""
