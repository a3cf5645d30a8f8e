"""Mistakes in lists of nodes, in the schema, in labels and in what a sequence of writes adds up to."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.graph_adapter import ReferenceGraph
from pytest_corpus.reference.graph_arguments import Selection
from pytest_corpus.reference.graph_store import Entity, Graph, Node, Space
from pytest_corpus.reference.request import Call, Fields

from . import catches

Result = dict[str, Any]
Labelled = Sequence[tuple[str, Entity]]


@catches("GRA-BULK-1")
class ListedNodesAreBare(ReferenceGraph):
    """It lists nodes without their properties."""

    def page(self, nodes: Sequence[Node], limit: int) -> Result:
        page = super().page(nodes, limit)
        return {**page, "nodes": [{**node, "properties": {}} for node in page["nodes"]]}


@catches("GRA-BULK-1")
class FirstNodeNotListed(ReferenceGraph):
    """It begins its list after the first node."""

    def vertices(self, graph: Graph, wanted: Mapping[str, Any], after: str | None) -> list[Node]:
        return super().vertices(graph, wanted, after)[1 if after is None else 0 :]


@catches("GRA-BULK-2")
class ListTellsTheDegree(ReferenceGraph):
    """It adds the number of edges to each node."""

    def page(self, nodes: Sequence[Node], limit: int) -> Result:
        page = super().page(nodes, limit)
        return {**page, "nodes": [{**node, "degree": 0} for node in page["nodes"]]}


@catches("GRA-BULK-2")
class LabelsLeftOut(ReferenceGraph):
    """It leaves `labels` out where a node has none."""

    def page(self, nodes: Sequence[Node], limit: int) -> Result:
        page = super().page(nodes, limit)
        listed = [{key: node[key] for key in node if key != "labels" or node[key]} for node in page["nodes"]]
        return {**page, "nodes": listed}


@catches("GRA-BULK-3")
class PagesOverlap(ReferenceGraph):
    """It begins each page with the last node of the page before."""

    def vertices(self, graph: Graph, wanted: Mapping[str, Any], after: str | None) -> list[Node]:
        last = [graph.nodes[after]] if after in graph.nodes else []
        return [*last, *super().vertices(graph, wanted, after)]

    def page(self, nodes: Sequence[Node], limit: int) -> Result:
        return super().page(nodes, max(limit, 2))


@catches("GRA-BULK-3")
class PagesSkipANode(ReferenceGraph):
    """It skips the node between two pages."""

    def vertices(self, graph: Graph, wanted: Mapping[str, Any], after: str | None) -> list[Node]:
        return super().vertices(graph, wanted, after)[0 if after is None else 1 :]


@catches("GRA-BULK-3")
class LastPageIsLost(ReferenceGraph):
    """It gives no cursor where the next page would not be full."""

    def page(self, nodes: Sequence[Node], limit: int) -> Result:
        page = super().page(nodes, limit)
        return page if len(nodes) >= 2 * limit else {**page, "next_cursor": None, "has_more": False}


@catches("GRA-BULK-3")
class PagesNeverEnd(ReferenceGraph):
    """It always gives a cursor, and begins again after the last page."""

    def page(self, nodes: Sequence[Node], limit: int) -> Result:
        page = super().page(nodes, limit)
        return page if page["has_more"] else {**page, "next_cursor": base64.b64encode(b'""').decode(), "has_more": True}


@catches("GRA-BULK-4")
class LimitIgnored(ReferenceGraph):
    """It lists all nodes at once, whatever the limit."""

    def read_limit(self, args: Fields) -> int:
        super().read_limit(args)
        return 1_000_000


@catches("GRA-BULK-4")
class LimitOfOneIsTwo(ReferenceGraph):
    """It gives one node more than the limit."""

    def read_limit(self, args: Fields) -> int:
        return super().read_limit(args) + 1


@catches("GRA-BULK-5")
class FilterOfFirstPage(ReferenceGraph):
    """It forgets the filter from the second page on."""

    def vertices(self, graph: Graph, wanted: Mapping[str, Any], after: str | None) -> list[Node]:
        return super().vertices(graph, {} if after else wanted, after)


@catches("GRA-BULK-5")
class ListFilterIgnored(ReferenceGraph):
    """It lists nodes that do not fit the filter."""

    def vertices(self, graph: Graph, wanted: Mapping[str, Any], after: str | None) -> list[Node]:
        return super().vertices(graph, {}, after)


@catches("GRA-BULK-6")
class LimitOfNothing(ReferenceGraph):
    """It takes a limit below one for none."""

    def read_limit(self, args: Fields) -> int:
        limit = args.number("limit")
        return self.vertices_in_page if limit is not None and limit < 1 else super().read_limit(args)


@catches("GRA-BULK-6")
class CursorIsAnAttributeError(ReferenceGraph):
    """It decodes a cursor unchecked, which makes a number UNAVAILABLE."""

    def read_cursor(self, args: Fields) -> str | None:
        (args.values.get("cursor") or "").encode()
        return super().read_cursor(args)


@catches("GRA-BULK-7")
class OddCursorIsTheBeginning(ReferenceGraph):
    """It begins again where it does not know a cursor."""

    def read_cursor(self, args: Fields) -> str | None:
        args.text("cursor")
        try:
            return super().read_cursor(args)
        except AdapterError:
            return None


class Describing(ReferenceGraph):
    """The reference with one place for what is told of the schema."""

    async def get_schema(self, call: Call) -> Result:
        return self.told(await super().get_schema(call))

    def told(self, schema: Result) -> Result:
        """The schema that is given."""
        return schema


@catches("GRA-SCHEMA-1")
class SchemaIsAList(Describing):
    """It lists the labels of nodes and edges."""

    def told(self, schema: Result) -> Result:
        return {**schema, "nodes": [*schema["nodes"]], "edges": [*schema["edges"]]}


@catches("GRA-SCHEMA-1")
class SchemaOfVertices(Describing):
    """It calls the nodes `vertices`."""

    def told(self, schema: Result) -> Result:
        return {"vertices": schema["nodes"], "edges": schema["edges"]}


@catches("GRA-SCHEMA-2")
class EdgesNotDescribed(Describing):
    """It describes no edges."""

    def told(self, schema: Result) -> Result:
        return {**schema, "edges": {}}


@catches("GRA-SCHEMA-2")
class SchemaIsConfigured(Describing):
    """It describes the graph as it was when first asked."""

    def __init__(self, *, metrics: Any = None, provider: Any = None) -> None:
        super().__init__(metrics=metrics, provider=provider)
        self.known: Result = {}

    def told(self, schema: Result) -> Result:
        self.known = self.known or schema
        return self.known


@catches("GRA-SCHEMA-3")
class PropertiesOfTheFirst(ReferenceGraph):
    """It describes labels and not their properties."""

    def describe(self, labelled: Labelled) -> Result:
        return {label: {"count": entry["count"]} for label, entry in super().describe(labelled).items()}


@catches("GRA-SCHEMA-4")
class SchemaHasExamples(ReferenceGraph):
    """It gives examples of each property."""

    def describe(self, labelled: Labelled) -> Result:
        described = super().describe(labelled)
        for label, entity in labelled:
            for name, value in entity.properties.items():
                described[label].setdefault("examples", {}).setdefault(name, []).append(value)
        return described


class Labelling(ReferenceGraph):
    """The reference with one place for labels of metrics that come from arguments."""

    labelled = ""

    def route(self, call: Call) -> None:
        super().route(call)
        value = call.args.values.get(self.labelled)
        if isinstance(value, str):
            call.labels[self.labelled] = value


@catches("GRA-OBS-1")
class DialectIsALabel(Labelling):
    """It labels metrics with the dialect that a client names."""

    labelled = "dialect"


@catches("GRA-OBS-1")
class NodeIsALabel(ReferenceGraph):
    """It labels the metrics of a delete with the node."""

    def route(self, call: Call) -> None:
        super().route(call)
        ids = call.args.values.get("ids") or call.args.values.get("start_nodes")
        if isinstance(ids, list) and ids:
            call.labels["node"] = str(ids[0])


@catches("GRA-OBS-2")
class NamespaceIsALabel(Labelling):
    """It labels metrics with the namespace."""

    labelled = "namespace"


@catches("GRA-MODEL-1")
class DeletedTwiceStaysAway(ReferenceGraph):
    """It does not write a node again that was deleted twice."""

    def __init__(self, *, metrics: Any = None, provider: Any = None) -> None:
        super().__init__(metrics=metrics, provider=provider)
        self.deleted: dict[tuple[str, str], int] = {}

    def remove_nodes(self, graph: Graph, selection: Selection) -> int:
        for node in graph.nodes.values():
            if self.selected(node, selection):
                key = node.namespace, node.id
                self.deleted[key] = self.deleted.get(key, 0) + 1
        return super().remove_nodes(graph, selection)

    def put_node(self, graph: Graph, node: Node) -> None:
        if self.deleted.get((node.namespace, node.id), 0) < 2:
            super().put_node(graph, node)


@catches("GRA-MODEL-1")
class EdgeOfAnUpdatedNodeIsLost(ReferenceGraph):
    """It loses the edges from a node that is written again with edges at it."""

    def put_node(self, graph: Graph, node: Node) -> None:
        if node.id in graph.nodes:
            for edge in [edge for edge in graph.edges.values() if edge.src == node.id]:
                del graph.edges[edge.id]
        super().put_node(graph, node)


@catches("GRA-MODEL-1")
class TransactionRestoresEdges(ReferenceGraph):
    """It forgets to delete edges in a transaction that also writes nodes."""

    async def transaction(self, call: Call) -> Result:
        self.wrote = False
        return await super().transaction(call)

    def perform_step(self, draft: Space, op: str, args: Fields) -> Result:
        self.wrote = getattr(self, "wrote", False) or op == "upsert_nodes"
        return super().perform_step(draft, op, args)

    def remove_edges(self, graph: Graph, selection: Selection) -> int:
        if getattr(self, "wrote", False):
            return super().remove_edges(graph.draft(), selection)
        return super().remove_edges(graph, selection)

    async def delete_edges(self, call: Call) -> Result:
        self.wrote = False
        return await super().delete_edges(call)
