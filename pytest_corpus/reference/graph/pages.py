"""Pages of the nodes of a namespace, in the order of their ids (SPECIFICATION 11.5)."""

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_corpus.reference.graph.arguments import GraphArguments
from pytest_corpus.reference.graph.store import NamespaceGraph, Node
from pytest_corpus.reference.request import Fields


class Pages(GraphArguments):
    """Reads the start of a page and cuts the page."""

    vertices_in_page = 100

    def read_limit(self, args: Fields) -> int:
        return args.integer("limit", at_least=1) or self.vertices_in_page

    def read_cursor(self, args: Fields) -> str | None:
        """Return the id after which the page starts; None at the beginning."""
        cursor = args.text("cursor")
        try:
            return str(json.loads(base64.b64decode(cursor, validate=True))) if cursor else None
        except (binascii.Error, ValueError):
            raise args.invalid("cursor", "NOT_ALLOWED", "must come from the page before") from None

    def cursor(self, node: Node) -> str:
        """Return the cursor to the page after a node; clients cannot interpret it (SPECIFICATION 11.5)."""
        return base64.b64encode(json.dumps(node.id).encode()).decode()

    def vertices(self, graph: NamespaceGraph, wanted: Mapping[str, Any], after: str | None) -> list[Node]:
        """Return the nodes that match a filter, in the order of their ids, after a given id."""
        nodes = sorted(graph.nodes.values(), key=lambda node: node.id)
        return [node for node in nodes if self.matches(node, wanted) and (after is None or node.id > after)]

    def page(self, nodes: Sequence[Node], limit: int) -> dict[str, Any]:
        """Return the first `limit` nodes, and the cursor to the next page."""
        has_more = len(nodes) > limit
        cursor = self.cursor(nodes[limit - 1]) if has_more else None
        return {"nodes": [node.to_wire() for node in nodes[:limit]], "next_cursor": cursor, "has_more": has_more}
