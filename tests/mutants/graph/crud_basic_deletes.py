"""Mistakes that graph/test_crud_basic_deletes.py finds (GRA-DELETE)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.graph.adapter import ReferenceGraph
from pytest_corpus.reference.graph.arguments import Selection
from pytest_corpus.reference.graph.store import Edge, Entity, Graph, Node, Space
from pytest_corpus.reference.graph.writes import Outcome
from pytest_corpus.reference.request import Call, Fields

from .. import catches


@catches("GRA-DELETE-1")
class DeletesTheFirstId(ReferenceGraph):
    """It deletes the first of several nodes."""

    def remove_nodes(self, graph: Graph, selection: Selection) -> int:
        ids = selection.ids
        return super().remove_nodes(graph, replace(selection, ids=ids and ids[:1]))


@catches("GRA-DELETE-1")
class DeletesByPrefix(ReferenceGraph):
    """It deletes the nodes whose ids begin with the given ones."""

    def remove_nodes(self, graph: Graph, selection: Selection) -> int:
        if selection.ids:
            ids = [name for name in graph.nodes if name.startswith(tuple(selection.ids))]
            selection = replace(selection, ids=ids)
        return super().remove_nodes(graph, selection)


@catches("GRA-DELETE-2")
class DeleteEdgesTakesNodes(ReferenceGraph):
    """It deletes nodes that have no edge left."""

    def remove_edges(self, graph: Graph, selection: Selection) -> int:
        victims = [edge for edge in graph.edges.values() if self.selected(edge, selection)]
        removed = super().remove_edges(graph, selection)
        for name in {end for edge in victims for end in (edge.src, edge.dst)}:
            if not any(graph.neighbours(name, "BOTH")):
                graph.nodes.pop(name, None)
        return removed


@catches("GRA-DELETE-2")
class DeletesParallelEdges(ReferenceGraph):
    """It deletes every edge between the nodes of a deleted one."""

    def remove_edges(self, graph: Graph, selection: Selection) -> int:
        ends = {(edge.src, edge.dst) for edge in graph.edges.values() if self.selected(edge, selection)}
        if selection.ids is not None:
            ids = [edge.id for edge in graph.edges.values() if (edge.src, edge.dst) in ends]
            selection = replace(selection, ids=ids)
        return super().remove_edges(graph, selection)


@catches("GRA-DELETE-3")
class MissingNodeIsNotFound(ReferenceGraph):
    """It refuses to delete a node that is not there."""

    def remove_nodes(self, graph: Graph, selection: Selection) -> int:
        if not set(selection.ids or ()) <= graph.nodes.keys():
            raise AdapterError("VertexNotFound", "A node to delete does not exist")
        return super().remove_nodes(graph, selection)


@catches("GRA-DELETE-3")
class MissingEdgeFails(ReferenceGraph):
    """It reports an edge that is not there as one that failed."""

    def delete(self, space: Space, selection: Selection, remove: Callable[[Graph, Selection], int]) -> Outcome:
        outcome = super().delete(space, selection, remove)
        missing = len(selection.ids or ()) - outcome.processed
        if remove == self.remove_edges and missing > 0:
            error = AdapterError("EdgeNotFound", "An edge to delete does not exist")
            outcome.failures = [(index, "", error) for index in range(missing)]
        return outcome


@catches("GRA-DELETE-4")
class TombstonesAreTraversed(ReferenceGraph):
    """It marks nodes as deleted, which queries and lists look at and traversals do not."""

    def __init__(self, *, metrics: Any = None, provider: Any = None) -> None:
        super().__init__(metrics=metrics, provider=provider)
        self.marked: dict[str, Node] = {}
        self.edges: dict[str, Edge] = {}

    def remove_nodes(self, graph: Graph, selection: Selection) -> int:
        gone = {node.id: node for node in graph.nodes.values() if self.selected(node, selection)}
        self.marked |= gone
        self.edges |= {edge.id: edge for edge in graph.edges.values() if edge.dst in gone}
        return super().remove_nodes(graph, selection)

    async def traversal(self, call: Call) -> dict[str, Any]:
        result = await super().traversal(call)
        reached = {node["id"] for node in result["nodes"]}
        ghosts = {edge.dst for edge in self.edges.values() if edge.src in reached} - reached
        ghosts &= self.marked.keys()
        return {**result, "nodes": [*result["nodes"], *(self.marked[name].to_wire() for name in ghosts)]}


@catches("GRA-DELETE-5")
class EdgesComeBack(ReferenceGraph):
    """It remembers the edges of a deleted node, for when it is written again."""

    def __init__(self, *, metrics: Any = None, provider: Any = None) -> None:
        super().__init__(metrics=metrics, provider=provider)
        self.orphans: dict[str, Edge] = {}

    def remove_nodes(self, graph: Graph, selection: Selection) -> int:
        before = dict(graph.edges)
        removed = super().remove_nodes(graph, selection)
        self.orphans |= {name: edge for name, edge in before.items() if name not in graph.edges}
        return removed

    def put_node(self, graph: Graph, node: Node) -> None:
        super().put_node(graph, node)
        for name, edge in [*self.orphans.items()]:
            ends = {edge.src, edge.dst}
            if node.id in ends and ends <= graph.nodes.keys() and edge.namespace == node.namespace:
                graph.edges[name] = self.orphans.pop(name)


@catches("GRA-DELETE-6")
class DeleteFitsAnyTerm(ReferenceGraph):
    """It deletes what fits one term of a filter."""

    def selected(self, entity: Entity, selection: Selection) -> bool:
        terms = [{key: value} for key, value in selection.filter.items()]
        if not terms or selection.ids is not None:
            return super().selected(entity, selection)
        return any(self.matches(entity, term) for term in terms)


@catches("GRA-DELETE-6")
class EdgeFilterDeletesNothing(ReferenceGraph):
    """It takes a filter of edges and deletes nothing by it."""

    def remove_edges(self, graph: Graph, selection: Selection) -> int:
        return super().remove_edges(graph, replace(selection, ids=selection.ids or []))


@catches("GRA-DELETE-7")
class DeleteOfNothing(ReferenceGraph):
    """It deletes nothing where it is not told what."""

    def read_selection(self, args: Fields) -> Selection:
        if args.values.get("ids") is None and args.values.get("filter") is None:
            return Selection(self.read_namespace(args), [], {})
        return super().read_selection(args)


@catches("GRA-DELETE-7")
class OneIdIsAList(ReferenceGraph):
    """It takes a text for a list of one id."""

    def read_selection(self, args: Fields) -> Selection:
        ids = args.values.get("ids")
        if isinstance(ids, str):
            args = replace(args, values={**args.values, "ids": [ids]})
        return super().read_selection(args)


class Deleting(ReferenceGraph):
    """The reference with one place for what is told of a delete."""

    async def delete_nodes(self, call: Call) -> dict[str, Any]:
        return self.told(call, await super().delete_nodes(call))

    async def delete_edges(self, call: Call) -> dict[str, Any]:
        return self.told(call, await super().delete_edges(call))

    def told(self, call: Call, result: dict[str, Any]) -> Any:
        """The result that is given."""
        return result


@catches("GRA-DELETE-8")
class DeleteIsATruth(Deleting):
    """It answers a delete with `true`."""

    def told(self, call: Call, result: dict[str, Any]) -> Any:
        return True


@catches("GRA-DELETE-8")
class DeletedEdgesAreIds(Deleting):
    """It lists the deleted edges where their number belongs."""

    def told(self, call: Call, result: dict[str, Any]) -> dict[str, Any]:
        return {**result, "processed_count": call.args.values.get("ids")} if call.op == "delete_edges" else result


@catches("GRA-DELETE-9")
class DeletedCountIsOfIds(Deleting):
    """It counts the given ids, whether they were there or not."""

    def told(self, call: Call, result: dict[str, Any]) -> dict[str, Any]:
        return {**result, "processed_count": len(call.args.values.get("ids") or ())}


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


@catches("GRA-DELETE-2")
class DeletesNoEdge(ReferenceGraph):
    """It deletes no edge."""

    def remove_edges(self, graph: Graph, selection: Selection) -> int:
        return sum(self.selected(edge, selection) for edge in graph.edges.values())


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


@catches("GRA-DELETE-6")
class BatchesDeleteNothingByFilter(ReferenceGraph):
    """It deletes nothing by a filter in a batch or a transaction."""

    def perform_step(self, draft: Space, op: str, args: Fields) -> dict[str, Any]:
        if op == "delete_nodes" and args.values.get("filter") is not None:
            return self.partial_success(Outcome())
        return super().perform_step(draft, op, args)


@catches("GRA-DELETE-7")
class NullIdsAreAllIds(ReferenceGraph):
    """It deletes every node of the namespace where `ids` is null and there is no filter."""

    def read_selection(self, args: Fields) -> Selection:
        if "ids" in args.values and args.values["ids"] is None and args.values.get("filter") is None:
            return Selection(self.read_namespace(args), None, {})
        return super().read_selection(args)


@catches("GRA-DELETE-7")
class NullsAreNoIds(ReferenceGraph):
    """It deletes nothing, and calls it a success, where both `ids` and `filter` are null."""

    def read_selection(self, args: Fields) -> Selection:
        if args.values.keys() >= {"ids", "filter"} and args.values["ids"] is None and args.values["filter"] is None:
            return Selection(self.read_namespace(args), [], {})
        return super().read_selection(args)


class EmptyIdsFail(Deleting):
    """A legal variant that reports empty ids of a delete as failed."""

    def told(self, call: Call, result: dict[str, Any]) -> dict[str, Any]:
        ids = call.args.values.get("ids") or []
        failures = [{"index": index, "id": "", "error": "BadRequest"} for index, each in enumerate(ids) if each == ""]
        return {**result, "failed_count": len(failures), "failures": failures}


@catches("GRA-DELETE-9", control=EmptyIdsFail)
class FailedDeletesAreCounted(EmptyIdsFail):
    """It counts ids that failed among the deleted ones."""

    def told(self, call: Call, result: dict[str, Any]) -> dict[str, Any]:
        told = super().told(call, result)
        return {**told, "processed_count": told["processed_count"] + told["failed_count"]}
