"""Fixtures of the conformance tests. Test modules import them by name, so that no fixture of a user's
`conftest.py` can take their place."""

from __future__ import annotations

import pytest

from pytest_corpus.kit.component import Subject
from pytest_corpus.kit.target import Target

SUBJECT = pytest.StashKey[Target]()
"""On a conformance item: the component or client library under test."""


@pytest.fixture
def subject(request: pytest.FixtureRequest) -> Subject:
    """The component under test."""
    return request.node.stash[SUBJECT]  # type: ignore[no-any-return]
