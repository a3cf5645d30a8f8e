"""Mistakes with ids that graph/test_crud_basic.py finds (GRA-NODE-12)."""

from __future__ import annotations

import re

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.graph.adapter import ReferenceGraph
from pytest_corpus.reference.graph.arguments import Selection
from pytest_corpus.reference.graph.store import Edge, Node
from pytest_corpus.reference.graph.traversals import Journey
from pytest_corpus.reference.request import Fields

from .. import catches


@catches("GRA-NODE-12")
class UuidsOnly(ReferenceGraph):
    """It takes ids that are UUIDs and no others, wherever ids go in."""

    def read_node(self, args: Fields, item: Fields) -> Node:
        node = super().read_node(args, item)
        are_uuids(node.id)
        return node

    def read_edge(self, args: Fields, item: Fields) -> Edge:
        edge = super().read_edge(args, item)
        are_uuids(edge.id, edge.src, edge.dst)
        return edge

    def read_selection(self, args: Fields) -> Selection:
        selection = super().read_selection(args)
        are_uuids(*(selection.ids or ()))
        return selection

    def read_journey(self, args: Fields) -> Journey:
        journey = super().read_journey(args)
        are_uuids(*journey.start_nodes)
        return journey


@catches("GRA-NODE-12")
class OtherIdsFail(ReferenceGraph):
    """It reports nodes and edges whose ids are not UUIDs as failed."""

    def check_names(self, kind: str, *names: str) -> None:
        super().check_names(kind, *names)
        are_uuids(names[0])


def are_uuids(*ids: str) -> None:
    """Refuse other ids."""
    if not all(re.fullmatch("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", each) for each in ids):
        raise AdapterError("BadRequest", "an id must be a UUID")
