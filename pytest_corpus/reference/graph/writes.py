"""Writes of the reference adapter for graphs, alone or as steps of a batch or transaction."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.graph.arguments import Selection
from pytest_corpus.reference.graph.queries import Queries
from pytest_corpus.reference.graph.store import Edge, Entity, NamespaceGraph, Node, Space
from pytest_corpus.reference.request import Fields


@dataclass(slots=True)
class Outcome:
    """The outcome of a write: the number of processed items, and (index, id, error) of each failed item."""

    processed: int = 0
    failures: list[tuple[int, str, AdapterError]] = field(default_factory=list)


Change = Callable[[Space], Outcome]
"""A write with checked arguments. It applies or refuses each item as a whole, and returns the outcome."""


class GraphWrites(Queries):
    """Parses a write and applies it to the graphs of a tenant."""

    writes = ("upsert_nodes", "upsert_edges", "delete_nodes", "delete_edges")

    def read_change(self, op: str, args: Fields) -> Change:
        if op == "upsert_nodes":
            return partial(self.store, entities=self.read_nodes(args), put=self.put_node)
        if op == "upsert_edges":
            return partial(self.store, entities=self.read_edges(args), put=self.put_edge)
        remove = self.remove_nodes if op == "delete_nodes" else self.remove_edges
        return partial(self.delete, selection=self.read_selection(args), remove=remove)

    def store(self, space: Space, entities: Sequence[Any], put: Callable[[NamespaceGraph, Any], None]) -> Outcome:
        """Store entities one by one; return the outcome. An entity that cannot be stored does not stop the others."""
        outcome = Outcome()
        for index, entity in enumerate(entities):
            try:
                put(space.setdefault(entity.namespace, NamespaceGraph()), entity)
                outcome.processed += 1
            except AdapterError as error:
                outcome.failures.append((index, entity.id, error))
        return outcome

    def put_node(self, graph: NamespaceGraph, node: Node) -> None:
        self.check_names("node", node.id, *node.labels)
        graph.nodes[node.id] = self.stored_copy(node)

    def put_edge(self, graph: NamespaceGraph, edge: Edge) -> None:
        self.check_names("edge", edge.id, edge.src, edge.dst, edge.label)
        if edge.src not in graph.nodes or edge.dst not in graph.nodes:
            raise AdapterError("VertexNotFound", "src and dst of an edge must be nodes of its namespace")
        graph.edges[edge.id] = self.stored_copy(edge)

    def check_names(self, kind: str, *names: str) -> None:
        if not all(names):
            raise AdapterError("BadRequest", f"ids and labels of a {kind} must not be empty")

    def stored_copy(self, entity: Any) -> Any:
        """Return the stored form of an entity: a copy that shares nothing with the caller."""
        return replace(entity, properties=entity.to_wire()["properties"])

    def delete(self, space: Space, selection: Selection, remove: Callable[[NamespaceGraph, Selection], int]) -> Outcome:
        """Remove existing items; return the outcome. An absent item is not a failure (R26)."""
        graph = space.get(selection.namespace)
        return Outcome(processed=0 if graph is None else remove(graph, selection))

    def remove_nodes(self, graph: NamespaceGraph, selection: Selection) -> int:
        """Remove nodes and their edges; return the number of removed nodes."""
        victims = {node.id for node in graph.nodes.values() if self.is_selected(node, selection)}
        for node in victims:
            del graph.nodes[node]
        for edge in [edge for edge in graph.edges.values() if {edge.src, edge.dst} & victims]:
            del graph.edges[edge.id]
        return len(victims)

    def remove_edges(self, graph: NamespaceGraph, selection: Selection) -> int:
        victims = [edge.id for edge in graph.edges.values() if self.is_selected(edge, selection)]
        for edge in victims:
            del graph.edges[edge]
        return len(victims)

    def is_selected(self, entity: Entity, selection: Selection) -> bool:
        named = selection.ids is None or entity.id in selection.ids
        return named and self.matches(entity, selection.filter)

    def partial_success(self, outcome: Outcome) -> dict[str, Any]:
        """Return the counts and the failures of a write, valid under both editions (ERRORS 10, R14)."""
        failures = [
            {"index": index, "id": name, "error": error.kind.name, "detail": str(error)}
            for index, name, error in outcome.failures
        ]
        return {"processed_count": outcome.processed, "failed_count": len(failures), "failures": failures}
