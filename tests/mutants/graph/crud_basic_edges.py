"""Mistakes that graph/test_crud_basic_edges.py finds (GRA-EDGE)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.graph.adapter import ReferenceGraph
from pytest_corpus.reference.graph.store import Edge, Graph, Node, Space
from pytest_corpus.reference.graph.writes import Outcome
from pytest_corpus.reference.request import Call, Fields

from .. import catches
from .shared import Broken, ItemByItem, Lenient


@catches("GRA-EDGE-10")
class EdgeNanIsNull(Lenient):
    """It stores null for NaN and infinities in the properties of edges."""

    kind = "edges"


@catches("GRA-EDGE-1")
class EndsAreSorted(ReferenceGraph):
    """It stores the ends of an edge in the order of their ids."""

    def put_edge(self, graph: Graph, edge: Edge) -> None:
        src, dst = sorted([edge.src, edge.dst])
        super().put_edge(graph, replace(edge, src=src, dst=dst))


@catches("GRA-EDGE-1", others=5)
class EdgeLabelsAreLowered(ReferenceGraph):
    """It stores the labels of edges in small letters."""

    def put_edge(self, graph: Graph, edge: Edge) -> None:
        super().put_edge(graph, replace(edge, label=edge.label.lower()))


@catches("GRA-EDGE-2")
class EdgeFlagsDropped(ReferenceGraph):
    """It drops the booleans among the properties of an edge."""

    def put_edge(self, graph: Graph, edge: Edge) -> None:
        kept = {key: value for key, value in edge.properties.items() if not isinstance(value, bool)}
        super().put_edge(graph, replace(edge, properties=kept))


@catches("GRA-EDGE-3")
class EdgeUpdateIgnored(ReferenceGraph):
    """It leaves an edge alone that is there already."""

    def put_edge(self, graph: Graph, edge: Edge) -> None:
        if edge.id not in graph.edges:
            super().put_edge(graph, edge)


@catches("GRA-EDGE-3")
class EdgeUpdateAddsOne(ReferenceGraph):
    """It adds another edge where an edge of the id exists."""

    def put_edge(self, graph: Graph, edge: Edge) -> None:
        old = graph.edges.get(edge.id)
        if old is not None:
            graph.edges[f"{edge.id}#{len(graph.edges)}"] = old
        super().put_edge(graph, edge)


class Dangling(ReferenceGraph):
    """The reference with one place for edges without one of their nodes."""

    def put_edge(self, graph: Graph, edge: Edge) -> None:
        if edge.src in graph.nodes and edge.dst in graph.nodes:
            super().put_edge(graph, edge)
        else:
            self.put_dangling(graph, edge)

    def put_dangling(self, graph: Graph, edge: Edge) -> None:
        """What becomes of such an edge."""
        super().put_edge(graph, edge)


@catches("GRA-EDGE-4")
class MissingEndIsUnavailable(Dangling):
    """It reports the end that it does not find as an outage."""

    def put_dangling(self, graph: Graph, edge: Edge) -> None:
        raise AdapterError("Unavailable", "The end of an edge could not be read")


@catches("GRA-EDGE-5")
class MissingEndsAreMade(Dangling):
    """It makes an empty node for an end that is not there."""

    def put_dangling(self, graph: Graph, edge: Edge) -> None:
        for name in filter(None, (edge.src, edge.dst)):
            graph.nodes.setdefault(name, Node(name, (), {}, edge.namespace))
        super().put_edge(graph, edge)


@catches("GRA-EDGE-6")
class EdgeLabelsAreCoerced(ReferenceGraph):
    """It makes a text of an edge's label of any type."""

    def read_edge(self, args: Fields, item: Fields) -> Edge:
        return super().read_edge(args, replace(item, values={**item.values, "label": str(item.values.get("label"))}))


@catches("GRA-EDGE-6")
class EndsAreAnIndexError(ReferenceGraph):
    """It hashes the ends of an edge unchecked, which makes a list UNAVAILABLE."""

    def read_edge(self, args: Fields, item: Fields) -> Edge:
        hash(item.values.get("dst"))
        return super().read_edge(args, item)


@catches("GRA-EDGE-7", control=ItemByItem)
class EdgesAfterAFailureDropped(ItemByItem):
    """It stops at the first edge that fails and says nothing of those after it."""

    def store(self, space: Space, entities: Sequence[Any], put: Callable[[Graph, Any], None]) -> Outcome:
        ends = [index for index, entity in enumerate(entities) if isinstance(entity, Broken)]
        whole = put == self.put_node or not ends
        return super().store(space, entities if whole else entities[: ends[0] + 1], put)


@catches("GRA-EDGE-7", control=ItemByItem)
class FailureIsOfTheNext(ItemByItem):
    """It counts the edges from one when it reports one that failed."""

    async def upsert_edges(self, call: Call) -> dict[str, Any]:
        result = await super().upsert_edges(call)
        return {**result, "failures": [{**failure, "index": failure["index"] + 1} for failure in result["failures"]]}


@catches("GRA-EDGE-8")
class EdgeCountIsOfEnds(ReferenceGraph):
    """It counts the nodes that edges touch."""

    async def upsert_edges(self, call: Call) -> dict[str, Any]:
        result = await super().upsert_edges(call)
        return {**result, "processed_count": 2 * result["processed_count"]}


@catches("GRA-EDGE-8")
class EdgeResultIsAListOfEdges(ReferenceGraph):
    """It answers an upsert of edges with a list of the edges."""

    async def upsert_edges(self, call: Call) -> Any:
        await super().upsert_edges(call)
        return call.args.values["edges"]


@catches("GRA-EDGE-9")
class OneEdgeBetweenTwo(ReferenceGraph):
    """It keeps one edge of a label between two nodes, the last one."""

    def put_edge(self, graph: Graph, edge: Edge) -> None:
        super().put_edge(graph, edge)
        ends = edge.src, edge.dst, edge.label
        for other in [*graph.edges.values()]:
            if other.id != edge.id and (other.src, other.dst, other.label) == ends:
                del graph.edges[other.id]


@catches("GRA-EDGE-9")
class SelfLoopDropped(ReferenceGraph):
    """It forgets edges from a node to itself."""

    def put_edge(self, graph: Graph, edge: Edge) -> None:
        super().put_edge(graph, edge)
        if edge.src == edge.dst:
            del graph.edges[edge.id]


@catches("GRA-EDGE-1")
class StoresNoEdge(ReferenceGraph):
    """It stores no edge."""

    def put_edge(self, graph: Graph, edge: Edge) -> None:
        super().put_edge(graph, edge)
        del graph.edges[edge.id]


@catches("GRA-EDGE-6")
class EmptyEdgeLabelsTaken(ReferenceGraph):
    """It writes an edge with an empty label."""

    def check_names(self, kind: str, *names: str) -> None:
        super().check_names(kind, *(names[:3] if kind == "edge" else names))


@catches("GRA-EDGE-8")
class FailedEdgesAreCounted(ReferenceGraph):
    """It counts edges that failed among those that were written."""

    async def upsert_edges(self, call: Call) -> dict[str, Any]:
        result = await super().upsert_edges(call)
        return {**result, "processed_count": result["processed_count"] + result["failed_count"]}
