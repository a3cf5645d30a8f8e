"""The provider: here you call your library. What stands here now is a stand-in that keeps a graph in memory.

Keep the line `await self.reached(...)` before each call of the library. In production it does nothing; in a
conformance run it is where the suite lets the provider fail, hang or be slow.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from . import query
from .context import sent_along
from .errors import WireError


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
class Query:
    """A query that was read and checked; its text is in one of the `dialects`."""

    namespace: str
    text: str
    params: Mapping[str, Any]
    timeout_ms: float | None


@dataclass
class Graph:
    """The nodes and edges of one namespace by their ids."""

    nodes: dict[str, Node] = field(default_factory=dict)
    edges: dict[str, Edge] = field(default_factory=dict)


class Provider:
    """EDIT: the dialects, the limits, and how each method asks your library instead of the dictionaries here."""

    dialects = ("cypher",)
    max_query_length = 8192

    def __init__(self, probe: Probe | None = None) -> None:
        self.probe = probe
        self.graphs = {"default": Graph()}

    async def reached(self, op: str, **facts: Any) -> None:
        if self.probe is not None:
            await self.probe.reached(op, **sent_along(), **facts)

    async def aclose(self) -> None:
        """EDIT: close your library's client; called once, by whoever made the adapter."""

    async def is_up(self) -> bool:
        """Whether the provider answers."""
        try:
            await self.reached("graph.health")
            # EDIT: a cheap call of your library
        except Exception:  # noqa: BLE001 - why it does not answer is not the question
            return False
        return True

    async def query(self, asked: Query) -> list[dict[str, Any]]:
        """The records of a query."""
        await self.reached("graph.query")
        return self.records(asked)

    async def stream(self, asked: Query) -> AsyncGenerator[dict[str, Any], None]:
        """The records of a query one by one; the probe is reached once more before each of them."""
        await self.reached("graph.stream_query")
        for number, record in enumerate(self.records(asked)):
            await self.reached("graph.stream_query", chunk=number)
            yield record

    def records(self, asked: Query) -> list[dict[str, Any]]:
        # EDIT: here call your library, for example
        #     answer = await driver.execute_query(asked.text, asked.params)
        # and say QueryParseError where it cannot read the text
        try:
            return query.run(self.graph(asked.namespace), asked.text, asked.params)
        except query.QueryError as error:
            raise WireError("QueryParseError", f"args.text {error}") from None

    async def upsert_nodes(self, namespace: str, nodes: Sequence[Node]) -> None:
        """Write all of them, in the place of those with the same id; the first write makes a namespace."""
        await self.reached("graph.upsert_nodes", items=len(nodes))
        self.graphs.setdefault(namespace, Graph()).nodes.update((node.id, node) for node in nodes)

    async def upsert_edges(self, namespace: str, edges: Sequence[Edge]) -> None:
        """Write all of them, or none where one lacks a node."""
        await self.reached("graph.upsert_edges", items=len(edges))
        graph = self.graphs.get(namespace, Graph())
        if not all(end in graph.nodes for edge in edges for end in (edge.src, edge.dst)):
            raise WireError("VertexNotFound", "src and dst of an edge must be nodes that exist")
        graph.edges.update((edge.id, edge) for edge in edges)

    async def delete_nodes(self, namespace: str, ids: Sequence[str] | None, wanted: Mapping[str, Any]) -> int:
        """Delete by ids (None: whatever id) and filter, with the edges at these nodes; how many nodes that were."""
        await self.reached("graph.delete_nodes")
        graph = self.graphs.get(namespace, Graph())
        doomed = [id_ for id_, node in graph.nodes.items() if selected(node, ids, wanted)]
        for id_ in doomed:
            del graph.nodes[id_]
        for edge in list(graph.edges.values()):
            if edge.src not in graph.nodes or edge.dst not in graph.nodes:
                del graph.edges[edge.id]
        return len(doomed)

    async def delete_edges(self, namespace: str, ids: Sequence[str] | None, wanted: Mapping[str, Any]) -> int:
        await self.reached("graph.delete_edges")
        graph = self.graphs.get(namespace, Graph())
        doomed = [id_ for id_, edge in graph.edges.items() if selected(edge, ids, wanted)]
        for id_ in doomed:
            del graph.edges[id_]
        return len(doomed)

    async def nodes(self, namespace: str, after: str, limit: int, wanted: Mapping[str, Any]) -> list[Node]:
        """The first nodes that fit a filter, in the order of their ids, after one id."""
        await self.reached("graph.bulk_vertices")
        graph = self.graph(namespace)
        later = [node for node in graph.nodes.values() if node.id > after and selected(node, None, wanted)]
        return sorted(later, key=lambda node: node.id)[:limit]

    def graph(self, namespace: str) -> Graph:
        """A graph to read from."""
        if namespace not in self.graphs:
            raise WireError("NamespaceNotFound", "args.namespace does not exist")
        return self.graphs[namespace]


# The stand-in: delete it when nothing calls it any more.


def selected(item: Node | Edge, ids: Sequence[str] | None, wanted: Mapping[str, Any]) -> bool:
    """Whether an item is one of the ids, and has all these properties with these values."""
    return (ids is None or item.id in ids) and query.fits(item.properties, wanted)
