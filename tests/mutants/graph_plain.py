"""Mistakes that nearly every test of a graph meets: one root cause is one finding."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
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


@catches("GRA-NODE-6")
class LabelsOfANumberAreNone(ReferenceGraph):
    """It takes labels that are no list for none."""

    def read_node(self, args: Fields, item: Fields) -> Node:
        labels = item.values.get("labels")
        if labels is not None and not isinstance(labels, (list, str, dict)):
            item = replace(item, values={**item.values, "labels": []})
        return super().read_node(args, item)


@catches("COM-WIRE-13")
class StrangeKeysOfANodeCrash(ReferenceGraph):
    """It makes a node of all its keys, which makes an unknown one UNAVAILABLE."""

    def read_node(self, args: Fields, item: Fields) -> Node:
        known = {"id", "labels", "properties", "namespace", "created_at", "updated_at"}
        if set(item.values) - known and "id" in item.values:
            raise TypeError("unexpected keyword argument")
        return super().read_node(args, item)


@catches("GRA-BATCH-4")
class FailedOperationsAreUnavailable(ReferenceGraph):
    """It reports an operation of a batch that cannot be carried out as UNAVAILABLE."""

    def step(self, draft: Space, index: int, op: str, args: Fields) -> dict[str, Any]:
        result = super().step(draft, index, op, args)
        return result if result["ok"] else {**result, "error": "Unavailable", "code": "UNAVAILABLE"}


@catches("GRA-DELETE-1")
class DeletedNodesComeBack(ReferenceGraph):
    """It brings back the node that was deleted last with the next delete."""

    def __init__(self, *, metrics: Any = None, provider: Any = None) -> None:
        super().__init__(metrics=metrics, provider=provider)
        self.last: dict[str, Node] = {}

    def remove_nodes(self, graph: Graph, selection: Selection) -> int:
        before = dict(graph.nodes)
        removed = super().remove_nodes(graph, selection)
        gone = {name: node for name, node in before.items() if name not in graph.nodes}
        if gone:
            back = {name: node for name, node in self.last.items() if node.namespace == selection.namespace}
            graph.nodes.update(back)
            self.last = gone
        return removed


@catches("GRA-NODE-11")
class FirstOfAnIdIsKept(ReferenceGraph):
    """Of two nodes of one id in a request it keeps the first."""

    def store(self, space: Space, entities: Sequence[Any], put: Callable[[Graph, Any], None]) -> Outcome:
        first = {entity.id: entity for entity in reversed(entities)}
        outcome = super().store(space, [*first.values()], put)
        outcome.processed += len(entities) - len(first)
        return outcome


@catches("GRA-NODE-3")
class LongIdsAreCut(ReferenceGraph):
    """It keeps a hundred letters of an id."""

    def put_node(self, graph: Graph, node: Node) -> None:
        super().put_node(graph, replace(node, id=node.id[:100]))


@catches("GRA-NODE-10")
class NullIsAWord(ReferenceGraph):
    """It stores a property of null as a word."""

    def put_node(self, graph: Graph, node: Node) -> None:
        words = {key: "None" if value is None else value for key, value in node.properties.items()}
        super().put_node(graph, replace(node, properties=words))


@catches("GRA-DELETE-6")
class BatchesDeleteNothingByFilter(ReferenceGraph):
    """It deletes nothing by a filter in a batch or a transaction."""

    def perform_step(self, draft: Space, op: str, args: Fields) -> dict[str, Any]:
        if op == "delete_nodes" and args.values.get("filter") is not None:
            return self.partial_success(Outcome())
        return super().perform_step(draft, op, args)


@catches("GRA-TRAV-6")
class FiltersAtTheFirstStep(ReferenceGraph):
    """It heeds filters at the first step of a traversal only."""

    def crosses(self, journey: Journey, edge: Edge, node: Node) -> bool:
        if not {edge.src, edge.dst} & set(journey.start_nodes):
            journey = replace(journey, node_filters={}, relationship_filters={})
        return super().crosses(journey, edge, node)


@catches("GRA-TRAV-11")
class UnknownStartAmongKnownIsDown(ReferenceGraph):
    """It answers an unknown start node among known ones with UNAVAILABLE."""

    def travel(self, graph: Graph, journey: Journey) -> tuple[dict[str, list[str]], list[Edge]]:
        unknown = set(journey.start_nodes) - graph.nodes.keys()
        if unknown and len(unknown) < len(set(journey.start_nodes)):
            raise KeyError("start node")
        return super().travel(graph, journey)


@catches("COM-IDEM-1")
class KeyHoldsInEveryNamespace(ReferenceGraph):
    """It takes a write of the same key in another namespace for a replay."""

    def replay_key(self, call: Call) -> str | None:
        plain = replace(call.args, values={key: value for key, value in call.args.values.items() if key != "namespace"})
        return super().replay_key(replace(call, args=plain))


@catches("GRA-TXN-2")
class CommitsBeforeItAsks(ReferenceGraph):
    """It commits a transaction before it reaches the provider, which may fail."""

    async def transaction(self, call: Call) -> dict[str, Any]:
        draft = self.draft(call)
        steps = enumerate(self.read_operations(call.args, "operations"))
        if all(self.step(draft, index, op, args)["ok"] for index, (op, args) in steps):
            self.commit(call, draft)
        return await super().transaction(call)


@catches("GRA-QUERY-2")
class BatchesLeaveTheCache(ReferenceGraph):
    """It answers queries from its cache after a batch changed what they find."""

    async def batch(self, call: Call) -> dict[str, Any]:
        cache = dict(self.cache)
        result = await super().batch(call)
        self.cache.update(cache)
        return result


@catches("GRA-OBS-2")
class ListsCountTheNamespace(ReferenceGraph):
    """It counts how often a namespace is listed, by its name."""

    async def bulk_vertices(self, call: Call) -> dict[str, Any]:
        if namespace := call.args.values.get("namespace"):
            self.count("lists_total", 1, {"namespace": str(namespace)})
        return await super().bulk_vertices(call)


@catches("COM-LEAK-2")
class EdgeFiltersAreALabel(ReferenceGraph):
    """It labels a traversal with the values of its filter of relationships."""

    async def traversal(self, call: Call) -> dict[str, Any]:
        wanted = call.args.values.get("relationship_filters")
        if isinstance(wanted, dict) and wanted:
            call.labels["filtered"] = ",".join(map(str, wanted.values()))
        return await super().traversal(call)


@catches("COM-FAULT-8")
class ListsForgetTheHint(ReferenceGraph):
    """It does not say when to list nodes again."""

    def failure(self, call: Call, fault: Exception) -> dict[str, Any]:
        error = super().failure(call, fault)
        return {**error, "retry_after_ms": None} if call.op == "bulk_vertices" else error
