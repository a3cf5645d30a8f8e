"""Traversals of a graph: parsing of requests and execution (SPECIFICATION 7)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pytest_corpus.reference.errors import AdapterError, invalid
from pytest_corpus.reference.graph.arguments import GraphArguments
from pytest_corpus.reference.graph.store import Edge, NamespaceGraph, Node
from pytest_corpus.reference.request import Fields

DIRECTIONS = ("OUTGOING", "INCOMING", "BOTH")


@dataclass(frozen=True, slots=True)
class Journey:
    """A checked request for a traversal."""

    namespace: str
    start_nodes: list[str]
    max_depth: int
    direction: str
    relationship_types: list[str]
    node_filters: Mapping[str, Any]
    relationship_filters: Mapping[str, Any]


class Traversals(GraphArguments):
    """Parses a traversal and executes it, breadth first."""

    max_traversal_depth = 6

    def read_journey(self, args: Fields) -> Journey:
        start_nodes: list[str] = args.items("start_nodes", "a string", required=True)
        if not start_nodes:
            raise args.invalid("start_nodes", "REQUIRED", "must name a node")
        return Journey(
            self.read_namespace(args),
            start_nodes,
            self.read_depth(args),
            self.read_direction(args),
            args.items("relationship_types", "a string"),
            self.read_filter(args, "node_filters"),
            self.read_filter(args, "relationship_filters"),
        )

    def read_depth(self, args: Fields) -> int:
        depth = args.integer("max_depth", at_least=1) or 1
        if depth > self.max_traversal_depth:
            rule = f"must be at most {self.max_traversal_depth}"
            raise invalid("args.max_depth", "OUT_OF_RANGE", rule, max_traversal_depth=self.max_traversal_depth)
        return depth

    def read_direction(self, args: Fields) -> str:
        direction = args.text("direction") or DIRECTIONS[0]
        if direction not in DIRECTIONS:
            raise args.invalid("direction", "NOT_ALLOWED", f"must be one of {', '.join(DIRECTIONS)}")
        return direction

    def travel(self, graph: NamespaceGraph, journey: Journey) -> tuple[dict[str, list[str]], list[Edge]]:
        """Return the path of ids to each reached node, shortest first, and the crossed edges."""
        if not set(journey.start_nodes) <= graph.nodes.keys():
            raise AdapterError("VertexNotFound", "args.start_nodes must be nodes of the namespace")
        paths = {start: [start] for start in journey.start_nodes}
        crossed: dict[str, Edge] = {}
        front = list(paths)
        for _ in range(journey.max_depth):
            following = []
            for here in front:
                for edge, there in graph.neighbours(here, journey.direction):
                    if not self.crosses(journey, edge, graph.nodes[there]):
                        continue
                    crossed[edge.id] = edge
                    if there not in paths:
                        paths[there] = [*paths[here], edge.id, there]
                        following.append(there)
            front = following
        return paths, list(crossed.values())

    def crosses(self, journey: Journey, edge: Edge, node: Node) -> bool:
        """True if the traversal may follow an edge to a node."""
        typed = not journey.relationship_types or edge.label in journey.relationship_types
        return typed and self.matches(edge, journey.relationship_filters) and self.matches(node, journey.node_filters)
