"""Deadlines (SPECIFICATION 6.1; BEHAVIORAL_CONFORMANCE 6.1; R16 to R18)."""

import pytest

from pytest_corpus.kit.fixtures import subject
from pytest_corpus.kit.requests import deadline_in
from pytest_corpus.suites.shared.claims.deadlines import TestDeadlines, TestNestedDeadlines, require_deadline_support
from pytest_corpus.suites.vector.support.component import Vector, vector
from pytest_corpus.suites.vector.support.sandbox import sandbox_with_context
from pytest_corpus.suites.vector.support.scenarios.checks import expect_exactly


@pytest.mark.requirement("COM-DEADLINE-10")
def test_an_expired_write_changes_nothing(vector: Vector) -> None:
    """An expired call stores no vector and deletes no vector, by id or by filter."""
    vector.require("query", "upsert", "delete")
    items = [vector.item(20, {"kind": "a"}), vector.item(110, {"kind": "b"})]
    sandbox = vector.sandbox(*items)
    late = sandbox_with_context(sandbox, deadline_ms=deadline_in(-60_000))
    require_deadline_support(vector, "upsert", late.upsert(vector.item(160)))
    require_deadline_support(vector, "delete", late.delete(ids=[items[0]["id"]]))
    if vector.features.deletes_by_filter:
        require_deadline_support(vector, "delete", late.delete(filter={"kind": "b"}))
    expect_exactly(sandbox, *items)
