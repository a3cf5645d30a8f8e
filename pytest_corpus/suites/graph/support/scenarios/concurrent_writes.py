"""Several clients that concurrently write, read and delete the same nodes."""

from collections.abc import Mapping
from typing import Any

from pytest_corpus.adapter.facts import to_whole_number
from pytest_corpus.kit.generation.histories import Event, HistoryStep, Value
from pytest_corpus.kit.outcomes import NotApplicable
from pytest_corpus.kit.store.clients import Clients
from pytest_corpus.kit.store.results import next_cursor
from pytest_corpus.suites.graph.support.answers import items_of
from pytest_corpus.suites.graph.support.component import Graph
from pytest_corpus.suites.graph.support.sandbox import GraphSandbox
from pytest_corpus.suites.graph.support.scenarios.batches import own_nodes_filter
from pytest_corpus.suites.graph.support.scenarios.isolation import empty_sandbox


class GraphClients(Clients):
    """Clients that use two nodes. Two properties of a node have the number of its last write."""

    rounds = ("+a | +a +b | +ab ? | ?", "-a | +a -b | +b ? | ?", "+ab | -a | +ba ?", "+ab | ? ? | ? ?", "-a | +b +b")

    def __init__(self, graph: Graph, sandbox: GraphSandbox) -> None:
        super().__init__()
        self.graph, self.sandbox = graph, sandbox

    def _step(self, name: str, args: Mapping[str, Any], writes: Mapping[str, Value]) -> HistoryStep:
        self.graph.shared.actions.note(name, args, (self.sandbox.tenant, self.sandbox.namespace))
        request = self.graph.envelope(name, {**self.sandbox.namespace_arg, **args}, self.sandbox.ctx)
        self.graph.store.note_planned_writes(request)
        return HistoryStep(request, writes)

    def write(self, names: str) -> HistoryStep:
        number = next(self.numbers)
        twice = int(number)
        nodes = [
            self.sandbox.node(name, rank=twice, corpus_twin=twice) for name in names[: self.graph.items_per_request]
        ]
        return self._step("upsert_nodes", {"nodes": nodes}, {node["id"]: number for node in nodes})

    def delete(self, names: str) -> HistoryStep:
        ids = [self.sandbox.id(name) for name in names[: self.graph.items_per_request]]
        return self._step("delete_nodes", {"ids": ids}, dict.fromkeys(ids))

    @property
    def read_step(self) -> HistoryStep:
        return self._step("bulk_vertices", {"limit": 100, **own_nodes_filter(self.sandbox)}, {})

    def read(self, result: Any) -> Mapping[str, Value]:
        # A half-written node shows two numbers. If more pages follow, an absent node may be on them.
        numbers: dict[str, list[str]] = {self.sandbox.id(name): [] for name in "ab"}
        for node in items_of(result, "nodes"):
            properties = node.get("properties")
            if node.get("id") in numbers and isinstance(properties, Mapping):
                held = [properties.get(key) for key in ("corpus_rank", "corpus_twin")]
                numbers[node["id"]] += sorted({str(to_whole_number(value) or value) for value in held})
        shown = {name: found for name, found in numbers.items() if found or next_cursor(result) in (None, "")}
        return {name: " and ".join(found) or None for name, found in shown.items()}


def history(graph: Graph) -> dict[str, list[Event]]:
    """Return the history of two nodes."""
    graph.require("upsert_nodes", "delete_nodes", "bulk_vertices")
    graph.readers.require_correct("bulk_vertices")
    sandbox = empty_sandbox(graph)
    if sandbox.namespace is None and not own_nodes_filter(sandbox):
        raise NotApplicable("without namespaces and filters a page shows the nodes of other tests")
    return GraphClients(graph, sandbox).play(graph)
