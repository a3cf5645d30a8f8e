"""From provider failures to the taxonomy (ERRORS 4, 6.1, 8; SPECIFICATION 12)."""

from __future__ import annotations

from pytest_corpus.kit.fixtures import subject
from pytest_corpus.suites.common.claims.faults import ContentFilter, Faults, Overload, StreamFaults


class TestFaults(Faults):
    """Unary operations."""


class TestContentFilter(ContentFilter):
    """Content filters."""


class TestOverload(Overload):
    """Models at capacity."""


class TestStreamFaults(StreamFaults):
    """Streams."""
