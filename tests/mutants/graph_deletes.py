"""Mistakes in deletes and namespaces (GRA-DELETE, GRA-NS)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from dataclasses import replace
from typing import Any

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.foundation import Chunk
from pytest_corpus.reference.graph_adapter import ReferenceGraph
from pytest_corpus.reference.graph_arguments import Selection
from pytest_corpus.reference.graph_store import DEFAULT_NAMESPACE, Edge, Entity, Graph, Node, Space
from pytest_corpus.reference.graph_writes import Outcome
from pytest_corpus.reference.request import Call, Fields

from . import catches


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

    def told(self, call: Call, result: dict[str, Any]) -> dict[str, Any]:
        """The result that is given."""
        return result


@catches("GRA-DELETE-8")
class DeleteIsATruth(Deleting):
    """It answers a delete with `deleted: true`."""

    def told(self, call: Call, result: dict[str, Any]) -> dict[str, Any]:
        return {"deleted": True}


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


@catches("GRA-NS-1")
class StreamsReadAll(ReferenceGraph):
    """It streams the records of all namespaces."""

    async def stream_query(self, call: Call) -> AsyncGenerator[Chunk, None]:
        space = self.space(call)
        merged = Graph()
        for graph in space.values():
            merged.nodes |= graph.nodes
            merged.edges |= graph.edges
        self.tenants[call.tenant_hash] = dict.fromkeys(space, merged)
        try:
            chunks = [chunk async for chunk in super().stream_query(call)]
        finally:
            self.tenants[call.tenant_hash] = space
        for chunk in chunks:
            yield chunk


@catches("GRA-NS-1")
class IdsAreGlobal(ReferenceGraph):
    """It keeps one node of an id: writing it elsewhere moves it there."""

    def store(self, space: Space, entities: Any, put: Callable[[Graph, Any], None]) -> Outcome:
        outcome = super().store(space, entities, put)
        for entity in entities:
            for namespace, graph in space.items():
                if isinstance(entity, Node) and namespace != entity.namespace:
                    graph.nodes.pop(entity.id, None)
                    for edge in [edge for edge in graph.edges.values() if entity.id in (edge.src, edge.dst)]:
                        del graph.edges[edge.id]
        return outcome


@catches("GRA-NS-2")
class DeletesEverywhere(ReferenceGraph):
    """It deletes nodes in all namespaces."""

    def delete(self, space: Space, selection: Selection, remove: Callable[[Graph, Selection], int]) -> Outcome:
        outcome = super().delete(space, selection, remove)
        for graph in space.values():
            if remove == self.remove_nodes:
                remove(graph, selection)
        return outcome


@catches("GRA-NS-3")
class ItemNamespaceIgnored(ReferenceGraph):
    """It looks for `namespace` beside the items only."""

    def read_item_namespace(self, args: Fields, item: Fields) -> str:
        super().read_item_namespace(args, item)
        return self.read_namespace(args)


@catches("GRA-NS-4")
class TraversalOfUnknownIsDown(ReferenceGraph):
    """It fails on a traversal in a namespace that it does not know."""

    async def traversal(self, call: Call) -> dict[str, Any]:
        self.space(call)[self.read_namespace(call.args)]
        return await super().traversal(call)


@catches("GRA-NS-4")
class UnknownNamespaceIsDefault(ReferenceGraph):
    """It reads the default namespace where it does not know the one that is asked for."""

    def graph(self, space: Space, namespace: str) -> Graph:
        return super().graph(space, namespace if namespace in space else DEFAULT_NAMESPACE)


@catches("GRA-NS-5")
class DeleteEdgesInUnknownIsDown(ReferenceGraph):
    """It fails on a delete of edges in a namespace that it does not know."""

    async def delete_edges(self, call: Call) -> dict[str, Any]:
        self.space(call)[self.read_namespace(call.args)]
        return await super().delete_edges(call)
