"""Markers of conformance tests, registered only in runs that have some."""

import pytest

from pytest_corpus.spec.components import ROWS

MARKERS = (
    *(f"{row.name}: conformance tests of the {row.title} component" for row in ROWS),
    "wire: conformance tests of envelopes and frames, and of clients that build requests",
    "core: behaviour that every adapter of a component must have",
    "slow: takes noticeably longer than the other conformance tests",
    "requirement(id, ...): the requirement of the catalogue that a conformance test decides, one for each component",
)


def register(config: pytest.Config) -> None:
    """Register the markers."""
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)
