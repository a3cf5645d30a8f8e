"""The provider: a multigraph of NetworkX for each namespace, in memory.

NetworkX knows an edge by its ends and a key, the protocol by its id alone, so each graph has an index from an edge's id
to its ends.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import networkx as nx
from corpus_wire import Probe, WireError
from corpus_wire.graph import Edge, GraphProvider, Node, selected

DIRECTIONS = ("OUTGOING", "INCOMING", "BOTH")


@dataclass(frozen=True)
class Journey:
    """A traversal that was read and checked; without types it follows every edge."""

    namespace: str
    start: Sequence[str]
    depth: int
    direction: str
    types: Sequence[str]
    node_filter: Mapping[str, Any]
    edge_filter: Mapping[str, Any]


class Graph:
    """One namespace: `Node` and `Edge` are the data of NetworkX's nodes and edges."""

    def __init__(self) -> None:
        self.net = nx.MultiDiGraph()
        self.ends: dict[str, tuple[str, str]] = {}

    def node(self, id_: str) -> Node:
        found: Node = self.net.nodes[id_]["node"]
        return found

    def nodes(self) -> Iterator[Node]:
        yield from map(self.node, self.net)

    def edges(self) -> Iterator[Edge]:
        for _, _, edge in self.net.edges(data="edge"):
            yield edge

    def put(self, edge: Edge) -> None:
        self.remove([edge.id])
        self.net.add_edge(edge.src, edge.dst, edge.id, edge=edge)
        self.ends[edge.id] = (edge.src, edge.dst)

    def remove(self, edges: Iterable[str]) -> None:
        for id_ in edges:
            if id_ in self.ends:
                self.net.remove_edge(*self.ends.pop(id_), id_)

    def remove_nodes(self, nodes: Iterable[str]) -> None:
        """Remove nodes; NetworkX removes the edges at them."""
        self.net.remove_nodes_from(nodes)
        self.ends = {id_: ends for id_, ends in self.ends.items() if self.net.has_edge(*ends, id_)}

    def steps(self, here: str, direction: str) -> Iterator[tuple[Edge, str]]:
        """Yield the edges at a node in a direction, each with the node at its other end."""
        if direction != "INCOMING":
            for _, there, edge in self.net.out_edges(here, data="edge"):
                yield edge, there
        if direction != "OUTGOING":
            for there, _, edge in self.net.in_edges(here, data="edge"):
                yield edge, there


class Provider(GraphProvider):
    """The graphs by the names of their namespaces."""

    max_depth = 16

    def __init__(self, probe: Probe | None = None) -> None:
        super().__init__(probe)
        self.graphs = {"default": Graph()}

    async def upsert_nodes(self, namespace: str, nodes: Sequence[Node]) -> None:
        await self.reached("upsert_nodes", items=len(nodes))
        self.graphs.setdefault(namespace, Graph()).net.add_nodes_from((node.id, {"node": node}) for node in nodes)

    async def upsert_edges(self, namespace: str, edges: Sequence[Edge]) -> None:
        await self.reached("upsert_edges", items=len(edges))
        graph = self.graphs.get(namespace, Graph())
        # NetworkX would invent a missing node
        if not all(end in graph.net for edge in edges for end in (edge.src, edge.dst)):
            raise WireError("VertexNotFound", "src and dst of an edge must be nodes that exist")
        for edge in edges:
            graph.put(edge)

    async def delete_nodes(self, namespace: str, ids: Sequence[str] | None, wanted: Mapping[str, Any]) -> int:
        await self.reached("delete_nodes")
        graph = self.graphs.get(namespace, Graph())
        chosen = [node.id for node in graph.nodes() if selected(node, ids, wanted)]
        graph.remove_nodes(chosen)
        return len(chosen)

    async def delete_edges(self, namespace: str, ids: Sequence[str] | None, wanted: Mapping[str, Any]) -> int:
        await self.reached("delete_edges")
        graph = self.graphs.get(namespace, Graph())
        chosen = [edge.id for edge in graph.edges() if selected(edge, ids, wanted)]
        graph.remove(chosen)
        return len(chosen)

    async def nodes(self, namespace: str, after: str, limit: int, wanted: Mapping[str, Any]) -> list[Node]:
        await self.reached("bulk_vertices")
        later = [node for node in self.graph(namespace).nodes() if node.id > after and selected(node, None, wanted)]
        return sorted(later, key=lambda node: node.id)[:limit]

    async def traverse(self, journey: Journey) -> tuple[list[Node], list[Edge], list[list[str]]]:
        """Return the nodes that are reached, the edges on the way, and a shortest path to each node."""
        await self.reached("traversal")
        graph = self.graph(journey.namespace)
        if not all(start in graph.net for start in journey.start):
            raise WireError("VertexNotFound", "args.start_nodes must be nodes of the namespace")
        paths = {start: [start] for start in journey.start}
        crossed: dict[str, Edge] = {}
        front = list(paths)
        for _ in range(journey.depth):
            before, front = front, []
            for here in before:
                for edge, there in graph.steps(here, journey.direction):
                    if not crosses(journey, edge, graph.node(there)):
                        continue
                    crossed[edge.id] = edge
                    if there not in paths:
                        paths[there] = [*paths[here], edge.id, there]
                        front.append(there)
        return [graph.node(id_) for id_ in paths], [*crossed.values()], [path for path in paths.values() if path[1:]]

    async def labels(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Describe the labels of nodes and edges in all namespaces."""
        await self.reached("get_schema")
        nodes = [(label, node) for graph in self.graphs.values() for node in graph.nodes() for label in node.labels]
        edges = [(edge.label, edge) for graph in self.graphs.values() for edge in graph.edges()]
        return described(nodes), described(edges)

    def graph(self, namespace: str) -> Graph:
        """Return a graph that exists."""
        if namespace not in self.graphs:
            raise WireError("NamespaceNotFound", "args.namespace does not exist")
        return self.graphs[namespace]


def described(labelled: Iterable[tuple[str, Node | Edge]]) -> dict[str, Any]:
    """The number of items by label, and the names and types of their properties; never a value."""
    found: dict[str, Any] = {}
    for label, item in labelled:
        entry = found.setdefault(label, {"count": 0, "properties": {}})
        entry["count"] += 1
        entry["properties"] |= {key: type(value).__name__ for key, value in item.properties.items()}
    return found


def crosses(journey: Journey, edge: Edge, node: Node) -> bool:
    """Tell if a traversal goes over an edge to a node."""
    typed = not journey.types or edge.label in journey.types
    return typed and selected(edge, None, journey.edge_filter) and selected(node, None, journey.node_filter)
