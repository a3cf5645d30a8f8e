"""Deadlines (SPECIFICATION 6.1, 7.3.2; BEHAVIORAL_CONFORMANCE 6.1; R16 to R18)."""

from typing import Any

import pytest

from pytest_corpus.kit.fixtures import subject
from pytest_corpus.kit.requests import deadline_in
from pytest_corpus.suites.graph.support.component import Graph, graph
from pytest_corpus.suites.graph.support.run_state import MANY
from pytest_corpus.suites.graph.support.scenarios.batches import drop_operation, put_operation
from pytest_corpus.suites.shared.claims.deadlines import (
    TestDeadlines,
    TestNestedDeadlines,
    TestStreamDeadlines,
    require_deadline_support,
)


@pytest.mark.requirement("COM-DEADLINE-10")
def test_an_expired_write_changes_nothing(graph: Graph) -> None:
    """An expired call writes and deletes no node or edge, alone or in a batch."""
    sandbox = graph.sandbox("upsert_nodes")
    values = sandbox.put_named("abc")
    linked = graph.works("upsert_edges") and graph.works("delete_edges")
    if linked:
        sandbox.put_edges(sandbox.edge("a", "b", "e"))
    writes: list[tuple[str, dict[str, Any]]] = [
        ("upsert_nodes", {"nodes": [sandbox.node("d")]}),
        ("delete_nodes", {"ids": [sandbox.id("b")]}),
        ("delete_nodes", {"filter": {"corpus_group": sandbox.group}}),
        *(("upsert_edges", {"edges": [sandbox.edge("a", "c", "f")]}) for _ in range(linked)),
        *(("delete_edges", {"ids": [sandbox.id("e")]}) for _ in range(linked)),
        *((name, {MANY[name]: [put_operation(sandbox, sandbox.node("d"))]}) for name in MANY),
        *((name, {MANY[name]: [drop_operation(sandbox, "c")]}) for name in MANY),
    ]
    for name, args in writes:
        if graph.works(name):
            require_deadline_support(graph, name, sandbox.call(name, args, {"deadline_ms": deadline_in(-60_000)}))
    sandbox.expect_all_show_values(values.values(), "the nodes as they were")
    if linked and graph.readers.for_edges():
        sandbox.expect_one_shows_targets("a", {"b": values["b"]}, "the edge as it was")
