"""Mistakes that graph/test_batch_operations_pages.py finds (GRA-BULK)."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.graph.adapter import ReferenceGraph
from pytest_corpus.reference.graph.store import Graph, Node
from pytest_corpus.reference.request import Fields

from .. import catches
from .shared import Result


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
