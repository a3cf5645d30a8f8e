"""The graph component as tests use it."""

from collections.abc import Mapping
from types import NoneType
from typing import Any

from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import ReplayProbe
from pytest_corpus.kit.audit.auditor import ComponentAuditor, payload_problem
from pytest_corpus.kit.component import Parts
from pytest_corpus.kit.faults import ProviderFaults
from pytest_corpus.kit.fixtures import fixture_of
from pytest_corpus.kit.outcomes import Violation, Violations
from pytest_corpus.kit.reply import Reply
from pytest_corpus.kit.requests import Request
from pytest_corpus.redaction import describe_word
from pytest_corpus.spec.operations import Operation
from pytest_corpus.suites.graph.support.capabilities import ASKING, GraphCapabilities
from pytest_corpus.suites.graph.support.node_group import value_of
from pytest_corpus.suites.graph.support.readers import GraphPrerequisites, GraphSettling, Readers
from pytest_corpus.suites.graph.support.requests import NEEDY, GraphRequests
from pytest_corpus.suites.graph.support.run_state import GraphShared
from pytest_corpus.suites.graph.support.store import GraphStore

EXTENSIONS = ("provider_specific", "experimental_features")
"""Optional keys of any result; if present, each holds an object (SCHEMA 10.3, R56)."""

ANSWERED_WITH_IDS = ("upsert_nodes", "upsert_edges", "delete_nodes", "delete_edges")
"""The operations that may answer with ids or with nothing. Edition 1.0.0 forbids this (R123)."""


class GraphAuditor(ComponentAuditor):
    """Checks the payloads of the graph component."""

    _calls: GraphCapabilities
    content = ("records",)

    def result_findings(self, operation: Operation, result: Any) -> Violations:
        name, requirement, edition = operation.name, operation.shaped, self._calls.settings.edition
        if not isinstance(result, Mapping) and (name not in ANSWERED_WITH_IDS or edition == "1.0.0"):
            yield requirement, Violation("an object", describe_word(result), "result")
        elif name not in ("capabilities", "health") and edition != "1.0.0":
            # Edition 1.0.0 has no schema that says what the result of a graph operation is.
            whole = {"ok": True, "code": "OK", "ms": 0, "result": result}
            if problem := payload_problem(f"graph.{name}.success", whole, edition):
                yield requirement, problem
            for key in EXTENSIONS if isinstance(result, Mapping) else ():
                if not isinstance(result.get(key), (Mapping, NoneType)):
                    yield requirement, Violation("an object", describe_word(result[key]), f"result.{key}")


class Graph(GraphCapabilities):
    """Sends requests to the graph component. The ids of the suite's nodes are unique in a run."""

    parts = Parts(
        GraphRequests, GraphShared, ProviderFaults, GraphPrerequisites, GraphSettling, GraphStore, GraphAuditor
    )
    store: GraphStore
    requests: GraphRequests
    prerequisites: GraphPrerequisites
    readers: Readers

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.readers = Readers(self)

    def call(
        self, name: str, args: Mapping[str, Any] | None = None, ctx: Mapping[str, Any] | None = None, **options: Any
    ) -> Reply:
        tenant = (ctx or {}).get("tenant")
        of_seeds = args is None or f"{self.seeds.tag}-s1" in str(args)
        if name in NEEDY and name not in ASKING and isinstance(tenant, str) and tenant and of_seeds:
            self.seed(tenant)
        return super().call(name, args, ctx, **options)

    def require_limit(self, limit: str) -> int:
        """Return a limit that capabilities state. Raises NotApplicable without a stated limit."""
        return expect.applicable(self.capabilities.limit(limit), f"capabilities state no {limit}")

    def replay_probe(self) -> ReplayProbe:
        self.require("upsert_nodes")
        sandbox = self.sandbox(own=False)
        node, newer = sandbox.node("a"), sandbox.node("a")
        return ReplayProbe(
            Request("upsert_nodes", {**sandbox.namespace_arg, "nodes": [node]}, sandbox.ctx),
            lambda: sandbox.put(newer),
            lambda: sandbox.expect_all_show_values([value_of(newer)], "the last written node"),
        )


graph = fixture_of(Graph)

COMPONENT = Graph
