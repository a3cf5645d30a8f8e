"""The graph component as its suite speaks to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from pytest_corpus.kit.audit import payload_problem
from pytest_corpus.kit.fixtures import SUBJECT
from pytest_corpus.kit.outcomes import Violation
from pytest_corpus.kit.reply import Reply
from pytest_corpus.suites.graph.capabilities import ASKING, GraphCapabilities
from pytest_corpus.suites.graph.prerequisites import GraphPrerequisites
from pytest_corpus.suites.graph.readers import Readers
from pytest_corpus.suites.graph.requests import NEEDY, GraphRequests
from pytest_corpus.suites.graph.settling import GraphSettling

ANSWERED_WITH_IDS = ("upsert_nodes", "upsert_edges", "delete_nodes", "delete_edges")
"""The operations that may answer with ids or nothing, where edition 1.0.0 does not forbid it (R123)."""


class Graph(GraphCapabilities):
    """Requests of the graph component: nodes of unique ids, in the default namespace unless a test has its own."""

    prerequisites_type = GraphPrerequisites
    requests_type = GraphRequests
    settling_type = GraphSettling
    requests: GraphRequests
    prerequisites: GraphPrerequisites

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.readers = Readers(self)

    # -- requests --------------------------------------------------------------------------------------

    def call(
        self,
        name: str,
        args: Mapping[str, Any] | None = None,
        ctx: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Reply:
        tenant = (ctx or {}).get("tenant")
        if name in NEEDY and name not in ASKING and isinstance(tenant, str) and tenant and self._plain(args):
            self.seed(tenant)
        return super().call(name, args, ctx, **options)

    def _plain(self, args: Mapping[str, Any] | None) -> bool:
        """Whether a request speaks of the seeds."""
        return args is None or f"{self.seeds.tag}-s1" in str(args)

    def send(self, request: Any, **options: Any) -> Reply:
        self.shared.written_items.note(request)
        return super().send(request, **options)

    # -- what holds for every answer -------------------------------------------------------------------

    def audit_payload(self, name: str, result: Any) -> Iterator[tuple[str, Violation]]:
        requirement = self.operation(name).shaped
        if not requirement or self.operation(name).streaming:
            return
        if not isinstance(result, Mapping) and (name not in ANSWERED_WITH_IDS or self.settings.edition == "1.0.0"):
            yield requirement, Violation("an object", type(result).__name__, "result")
        elif name not in ("capabilities", "health") and self.settings.edition != "1.0.0":
            # Edition 1.0.0 has no schema that says what the result of a graph operation is.
            whole = {"ok": True, "code": "OK", "ms": 0, "result": result}
            if problem := payload_problem(f"graph.{name}.success", whole, self.settings.edition):
                yield requirement, problem

    def audit_chunk(self, _name: str, _chunk: Mapping[str, Any]) -> Iterator[tuple[str, Violation]]:
        yield from ()

    # -- leaving no trace ------------------------------------------------------------------------------

    def tidy(self) -> None:
        """Delete all that was written; what an adapter refuses to delete stays."""
        with self.settling.at_once():
            self.shared.written_items.remove(self, self.at_once)


@pytest.fixture
def graph(request: pytest.FixtureRequest) -> Graph:
    """The graph component under test."""
    found = request.node.stash[SUBJECT]
    assert isinstance(found, Graph)
    return found


COMPONENT = Graph
