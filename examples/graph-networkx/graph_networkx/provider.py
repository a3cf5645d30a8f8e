"""The provider: a multigraph of NetworkX for each namespace, in memory.

NetworkX knows an edge by its ends and a key, the protocol by its id alone, so each graph has an index from an edge's id
to its ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import networkx as nx

from .context import sent_along
from .errors import WireError

DIRECTIONS = ("OUTGOING", "INCOMING", "BOTH")


class Probe(Protocol):
    """What a conformance run passes as `provider`."""

    async def reached(self, op: str, **facts: Any) -> object: ...


@dataclass(frozen=True)
class Node:
    """A vertex."""

    id: str
    labels: list[str]
    properties: dict[str, Any]


@dataclass(frozen=True)
class Edge:
    """A relationship from `src` to `dst`."""

    id: str
    src: str
    dst: str
    label: str
    properties: dict[str, Any]


@dataclass(frozen=True)
class Journey:
    """A traversal that was read and checked; without types it follows edges of all."""

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
        """With the edges at them, which NetworkX removes by itself."""
        self.net.remove_nodes_from(nodes)
        self.ends = {id_: ends for id_, ends in self.ends.items() if self.net.has_edge(*ends, id_)}

    def steps(self, here: str, direction: str) -> Iterator[tuple[Edge, str]]:
        """The edges at a node in a direction, each with the node that it leads to."""
        if direction != "INCOMING":
            for _, there, edge in self.net.out_edges(here, data="edge"):
                yield edge, there
        if direction != "OUTGOING":
            for there, _, edge in self.net.in_edges(here, data="edge"):
                yield edge, there


class Provider:
    """The graphs by the names of their namespaces."""

    max_depth = 16

    def __init__(self, probe: Probe | None = None) -> None:
        self.probe = probe
        self.graphs = {"default": Graph()}

    async def reached(self, op: str, **facts: Any) -> None:
        if self.probe is not None:
            await self.probe.reached(op, **sent_along(), **facts)

    async def is_up(self) -> bool:
        """Whether the provider answers."""
        try:
            await self.reached("graph.health")
        except Exception:  # noqa: BLE001 - why it does not answer is not the question
            return False
        return True

    async def upsert_nodes(self, namespace: str, nodes: Sequence[Node]) -> None:
        """Write all of them, in the place of those with the same id; the first write makes a namespace."""
        await self.reached("graph.upsert_nodes", items=len(nodes))
        self.graphs.setdefault(namespace, Graph()).net.add_nodes_from((node.id, {"node": node}) for node in nodes)

    async def upsert_edges(self, namespace: str, edges: Sequence[Edge]) -> None:
        """Write all of them, or none where one lacks a node, which NetworkX would make up."""
        await self.reached("graph.upsert_edges", items=len(edges))
        graph = self.graphs.get(namespace, Graph())
        if not all(end in graph.net for edge in edges for end in (edge.src, edge.dst)):
            raise WireError("VertexNotFound", "src and dst of an edge must be nodes that exist")
        for edge in edges:
            graph.put(edge)

    async def delete_nodes(self, namespace: str, ids: Sequence[str] | None, wanted: Mapping[str, Any]) -> int:
        """Delete by ids (None: whatever id) and filter, with the edges at these nodes; how many nodes that were."""
        await self.reached("graph.delete_nodes")
        graph = self.graphs.get(namespace, Graph())
        chosen = [node.id for node in graph.nodes() if selected(node, ids, wanted)]
        graph.remove_nodes(chosen)
        return len(chosen)

    async def delete_edges(self, namespace: str, ids: Sequence[str] | None, wanted: Mapping[str, Any]) -> int:
        await self.reached("graph.delete_edges")
        graph = self.graphs.get(namespace, Graph())
        chosen = [edge.id for edge in graph.edges() if selected(edge, ids, wanted)]
        graph.remove(chosen)
        return len(chosen)

    async def nodes(self, namespace: str, after: str, limit: int, wanted: Mapping[str, Any]) -> list[Node]:
        """The first nodes that fit a filter, in the order of their ids, after one id."""
        await self.reached("graph.bulk_vertices")
        later = [node for node in self.graph(namespace).nodes() if node.id > after and selected(node, None, wanted)]
        return sorted(later, key=lambda node: node.id)[:limit]

    async def traverse(self, journey: Journey) -> tuple[list[Node], list[Edge], list[list[str]]]:
        """The nodes that are reached, the edges on the way, and a shortest path to each of the nodes."""
        await self.reached("graph.traversal")
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
        """What labels nodes and edges have, in all namespaces."""
        await self.reached("graph.get_schema")
        nodes = [(label, node) for graph in self.graphs.values() for node in graph.nodes() for label in node.labels]
        edges = [(edge.label, edge) for graph in self.graphs.values() for edge in graph.edges()]
        return described(nodes), described(edges)

    def graph(self, namespace: str) -> Graph:
        """A graph to read from."""
        if namespace not in self.graphs:
            raise WireError("NamespaceNotFound", "args.namespace does not exist")
        return self.graphs[namespace]


def described(labelled: Iterable[tuple[str, Node | Edge]]) -> dict[str, Any]:
    """By label how many items have it, and the names and types of their properties; never a value."""
    found: dict[str, Any] = {}
    for label, item in labelled:
        entry = found.setdefault(label, {"count": 0, "properties": {}})
        entry["count"] += 1
        entry["properties"] |= {key: type(value).__name__ for key, value in item.properties.items()}
    return found


def crosses(journey: Journey, edge: Edge, node: Node) -> bool:
    """Whether a traversal goes over an edge to a node."""
    typed = not journey.types or edge.label in journey.types
    return typed and selected(edge, None, journey.edge_filter) and selected(node, None, journey.node_filter)


def selected(item: Node | Edge, ids: Sequence[str] | None, wanted: Mapping[str, Any]) -> bool:
    """Whether an item is one of the ids, and has all these properties with these values; true is not 1."""
    return (ids is None or item.id in ids) and all(
        key in item.properties
        and item.properties[key] == value
        and isinstance(item.properties[key], bool) == isinstance(value, bool)
        for key, value in wanted.items()
    )
