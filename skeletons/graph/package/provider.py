"""The provider: call your library here. The present code is a stand-in that keeps a graph in memory.

Keep the line `await self.reached(...)` before each call of the library. In production it does nothing; in a
conformance run the suite lets the provider fail, hang or be slow there. `query` and `stream` do so for `records`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .corpus_wire import Probe, WireError
from .corpus_wire.graph import Edge, GraphProvider, Node, Query, selected
from .query import QueryError, evaluate


@dataclass
class Graph:
    """The nodes and edges of one namespace by their ids."""

    nodes: dict[str, Node] = field(default_factory=dict)
    edges: dict[str, Edge] = field(default_factory=dict)


class Provider(GraphProvider):
    """EDIT: the dialects, the limits, and how each method asks your library instead of the dictionaries here.

    `aclose` closes the library's client.
    """

    dialects = ("cypher",)

    def __init__(self, probe: Probe | None = None) -> None:
        super().__init__(probe)
        self.graphs = {"default": Graph()}

    async def ping(self) -> None:
        """EDIT: make a cheap call of your library."""

    async def records(self, query: Query) -> list[dict[str, Any]]:
        """Evaluate a query."""
        # EDIT: here call your library, for example
        #     answer = await driver.execute_query(query.text, query.params)
        # and raise QueryParseError if it cannot read the text
        try:
            graph = self.graph(query.namespace)
            return evaluate(graph.nodes, graph.edges.values(), query.text, query.params)
        except QueryError as error:
            raise WireError("QueryParseError", f"args.text {error}") from None

    async def upsert_nodes(self, namespace: str, nodes: Sequence[Node]) -> None:
        """Write all nodes; each replaces the one with its id. The first write creates a namespace."""
        await self.reached("upsert_nodes", items=len(nodes))
        self.graphs.setdefault(namespace, Graph()).nodes.update((node.id, node) for node in nodes)

    async def upsert_edges(self, namespace: str, edges: Sequence[Edge]) -> None:
        """Write all edges, or none if one lacks a node."""
        await self.reached("upsert_edges", items=len(edges))
        graph = self.graphs.get(namespace, Graph())
        if not all(end in graph.nodes for edge in edges for end in (edge.src, edge.dst)):
            raise WireError("VertexNotFound", "src and dst of an edge must be nodes that exist")
        graph.edges.update((edge.id, edge) for edge in edges)

    async def delete_nodes(self, namespace: str, ids: Sequence[str] | None, wanted: Mapping[str, Any]) -> int:
        """Delete nodes by ids (None: any id) and filter, and the edges at them; return the number of nodes."""
        await self.reached("delete_nodes")
        graph = self.graphs.get(namespace, Graph())
        chosen = [id_ for id_, node in graph.nodes.items() if selected(node, ids, wanted)]
        for id_ in chosen:
            del graph.nodes[id_]
        for edge in list(graph.edges.values()):
            if edge.src not in graph.nodes or edge.dst not in graph.nodes:
                del graph.edges[edge.id]
        return len(chosen)

    async def delete_edges(self, namespace: str, ids: Sequence[str] | None, wanted: Mapping[str, Any]) -> int:
        """Delete edges likewise."""
        await self.reached("delete_edges")
        graph = self.graphs.get(namespace, Graph())
        chosen = [id_ for id_, edge in graph.edges.items() if selected(edge, ids, wanted)]
        for id_ in chosen:
            del graph.edges[id_]
        return len(chosen)

    async def nodes(self, namespace: str, after: str, limit: int, wanted: Mapping[str, Any]) -> list[Node]:
        """Return the first nodes that pass a filter, in the order of their ids, after one id."""
        await self.reached("bulk_vertices")
        graph = self.graph(namespace)
        later = [node for node in graph.nodes.values() if node.id > after and selected(node, None, wanted)]
        return sorted(later, key=lambda node: node.id)[:limit]

    def graph(self, namespace: str) -> Graph:
        """Return a graph that exists."""
        if namespace not in self.graphs:
            raise WireError("NamespaceNotFound", "args.namespace does not exist")
        return self.graphs[namespace]
