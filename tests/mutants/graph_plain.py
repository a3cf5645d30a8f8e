"""Mistakes that nearly every test of a graph meets: one root cause is one finding."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pytest_corpus.reference.graph_adapter import ReferenceGraph
from pytest_corpus.reference.graph_arguments import Journey, Selection
from pytest_corpus.reference.graph_store import DEFAULT_NAMESPACE, Edge, Graph, Node, Space
from pytest_corpus.reference.graph_writes import Outcome
from pytest_corpus.reference.request import Call, Fields

from . import catches


@catches("GRA-NODE-1")
class StoresNoNode(ReferenceGraph):
    """It stores no node."""

    def put_node(self, graph: Graph, node: Node) -> None:
        self.check_names("node", node.id, *node.labels)


@catches("GRA-NODE-2")
class UpdatesNoNode(ReferenceGraph):
    """It leaves a node that is there as it is."""

    def put_node(self, graph: Graph, node: Node) -> None:
        if node.id not in graph.nodes:
            super().put_node(graph, node)


@catches("GRA-NODE-3")
class StoresAllButTheLastNode(ReferenceGraph):
    """It counts the last of several nodes and does not store it."""

    def store(self, space: Space, entities: Sequence[Any], put: Callable[[Graph, Any], None]) -> Outcome:
        lost = put == self.put_node and len(entities) > 1
        outcome = super().store(space, entities[:-1] if lost else entities, put)
        outcome.processed += lost
        return outcome


@catches("GRA-DELETE-1")
class DeletesNoNode(ReferenceGraph):
    """It deletes no node."""

    def remove_nodes(self, graph: Graph, selection: Selection) -> int:
        return sum(self.selected(node, selection) for node in graph.nodes.values())


@catches("GRA-DELETE-1")
class DeletesEveryNode(ReferenceGraph):
    """It empties the namespace, whatever is to be deleted."""

    def remove_nodes(self, graph: Graph, selection: Selection) -> int:
        removed = super().remove_nodes(graph, selection)
        graph.nodes.clear()
        graph.edges.clear()
        return removed


@catches("GRA-EDGE-1")
class StoresNoEdge(ReferenceGraph):
    """It stores no edge."""

    def put_edge(self, graph: Graph, edge: Edge) -> None:
        super().put_edge(graph, edge)
        del graph.edges[edge.id]


@catches("GRA-DELETE-2")
class DeletesNoEdge(ReferenceGraph):
    """It deletes no edge."""

    def remove_edges(self, graph: Graph, selection: Selection) -> int:
        return sum(self.selected(edge, selection) for edge in graph.edges.values())


@catches("GRA-TRAV-2")
class TraversesNothing(ReferenceGraph):
    """It reaches nothing from any start node."""

    def travel(self, graph: Graph, journey: Journey) -> tuple[dict[str, list[str]], list[Edge]]:
        super().travel(graph, journey)
        return {}, []


@catches("GRA-NS-1")
class NamespacesAreOne(ReferenceGraph):
    """It checks the namespace and keeps everything in one."""

    def read_namespace(self, args: Fields) -> str:
        super().read_namespace(args)
        return DEFAULT_NAMESPACE


@catches("GRA-BATCH-1")
class BatchesAreForgotten(ReferenceGraph):
    """It answers batches and keeps nothing of them."""

    async def batch(self, call: Call) -> dict[str, Any]:
        before = self.space(call)
        result = await super().batch(call)
        self.commit(call, before)
        return result


@catches("GRA-TXN-1")
class TransactionsAreForgotten(ReferenceGraph):
    """It answers transactions and keeps nothing of them."""

    async def transaction(self, call: Call) -> dict[str, Any]:
        before = self.space(call)
        result = await super().transaction(call)
        self.commit(call, before)
        return result
