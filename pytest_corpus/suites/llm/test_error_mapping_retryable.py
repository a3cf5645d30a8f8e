"""From provider failures to the taxonomy (ERRORS 4, 6.1, 8; SPECIFICATION 12)."""

from __future__ import annotations

from pytest_corpus.suites.common.faults import ContentFilter, Faults, StreamFaults
from pytest_corpus.suites.fixtures import subject


class TestFaults(Faults):
    """Unary operations."""


class TestContentFilter(ContentFilter):
    """Content filters."""


class TestStreamFaults(StreamFaults):
    """Streams."""
