"""Several clients that write, read and delete the same nodes at once."""

from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any

from pytest_corpus.adapter.facts import whole
from pytest_corpus.kit.generation.histories import Event, HistoryStep, Value, play
from pytest_corpus.kit.outcomes import NotApplicable
from pytest_corpus.suites.graph.support.answers import following, listed
from pytest_corpus.suites.graph.support.component import Graph
from pytest_corpus.suites.graph.support.sandbox import Sandbox
from pytest_corpus.suites.graph.support.scenarios.batches import narrowed
from pytest_corpus.suites.graph.support.scenarios.isolation import empty_place

PERHAPS = ("Unavailable", "TransientNetwork", "DeadlineExceeded")
"""The errors after which a write may have been carried out."""


class Clients:
    """The requests of the clients: each write has a number, which two properties of its nodes hold."""

    def __init__(self, graph: Graph, sandbox: Sandbox) -> None:
        self.graph, self.sandbox, self.numbers = graph, sandbox, count(1)
        self.look = self._step("bulk_vertices", {"limit": 100, **narrowed(sandbox)})

    def _step(self, name: str, args: Mapping[str, Any], writes: Mapping[str, Value] | None = None) -> HistoryStep:
        self.graph.shared.actions.note(name, args, (self.sandbox.tenant, self.sandbox.namespace))
        request = self.graph.envelope(name, {**self.sandbox.place, **args}, self.sandbox.ctx)
        self.graph.store.foresee(request)
        return HistoryStep(request, writes or {})

    def write(self, *names: str) -> HistoryStep:
        """Write nodes in one request."""
        number = next(self.numbers)
        nodes = [self.sandbox.node(name, rank=number, corpus_twin=number) for name in names[: self.graph.at_once]]
        return self._step("upsert_nodes", {"nodes": nodes}, {node["id"]: str(number) for node in nodes})

    def delete(self, *names: str) -> HistoryStep:
        """Delete nodes in one request."""
        ids = [self.sandbox.id(name) for name in names[: self.graph.at_once]]
        return self._step("delete_nodes", {"ids": ids}, dict.fromkeys(ids))

    def rounds(self) -> Iterator[tuple[list[list[HistoryStep]], HistoryStep]]:
        """The requests of the clients at once, and the read after them."""
        look = self.look
        yield [[self.write("a")], [self.write("a"), self.write("b")], [self.write("a", "b"), look], [look]], look
        yield [[self.delete("a")], [self.write("a"), self.delete("b")], [self.write("b"), look], [look]], look
        yield [[self.write("a", "b")], [self.delete("a")], [self.write("b", "a"), look]], look
        yield [[self.write("a", "b")], [look, look], [look, look]], look
        yield [[self.delete("a")], [self.write("b"), self.write("b")]], look

    def read(self, result: Any) -> Mapping[str, Value]:
        """The numbers of the writes that a listing saw; None: nothing; both, if a node is torn or listed twice.

        A page that is not the last tells nothing of a node that it does not show.
        """
        numbers: dict[str, list[str]] = {self.sandbox.id(name): [] for name in "ab"}
        for node in listed(result, "nodes"):
            properties = node.get("properties")
            if node.get("id") in numbers and isinstance(properties, Mapping):
                held = [properties.get(key) for key in ("corpus_rank", "corpus_twin")]
                numbers[node["id"]] += sorted({str(whole(value) or value) for value in held})
        shown = {name: found for name, found in numbers.items() if found or following(result) in (None, "")}
        return {name: " and ".join(found) or None for name, found in shown.items()}


def history(graph: Graph) -> dict[str, list[Event]]:
    """The history of two nodes."""
    graph.require("upsert_nodes", "delete_nodes", "bulk_vertices")
    graph.readers.trusted("bulk_vertices")
    sandbox = empty_place(graph)
    if sandbox.namespace is None and not narrowed(sandbox):
        raise NotApplicable("without namespaces and filters a page shows the nodes of other tests")
    clients = Clients(graph, sandbox)
    return play(graph, clients.rounds(), clients.read, PERHAPS)
