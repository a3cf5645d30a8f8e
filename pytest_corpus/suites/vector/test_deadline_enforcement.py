"""Deadlines (SPECIFICATION 6.1; BEHAVIORAL_CONFORMANCE 6.1; R16 to R18)."""

from __future__ import annotations

from pytest_corpus.kit.fixtures import subject
from pytest_corpus.suites.common.claims.deadlines import Deadlines, NestedDeadlines


class TestDeadlines(Deadlines):
    """Every operation of the component."""


class TestNestedDeadlines(NestedDeadlines):
    """Operations on several items."""
