"""From provider failures to the taxonomy (ERRORS 4, 6.3, 8; SPECIFICATION 12)."""

from __future__ import annotations

from pytest_corpus.suites.common.faults import Faults
from pytest_corpus.suites.fixtures import subject


class TestFaults(Faults):
    """Every operation of the component."""
