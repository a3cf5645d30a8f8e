"""A small graph database in memory: property graphs in namespaces, a tenant apart, read with a part of Cypher.

It takes the part of a graph database; the adapter in `graph_adapter` puts the SDK around it.
"""

from __future__ import annotations

import base64
import binascii
import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from corpus_sdk.graph import graph_base
from corpus_sdk.graph.graph_base import (
    BadRequest,
    BulkVerticesResult,
    BulkVerticesSpec,
    DeleteResult,
    Edge,
    GraphQuerySpec,
    GraphSchema,
    GraphTraversalSpec,
    Node,
    NotSupported,
    ResourceExhausted,
    TraversalResult,
    UpsertResult,
)

from .authoring import Taxonomy, same, subtype
from .graph_cypher import Query
from .graph_values import Arc, Graph, UnboundError, UnofferedError, UnreadableError, Vertex

DIALECTS = ("cypher", "opencypher")
DEFAULT = "default"
"""The namespace of a call that names none."""

# -- errors ----------------------------------------------------------------------------------------------


QueryParseError = subtype(BadRequest, "QueryParseError")
FilterSyntaxError = subtype(BadRequest, "FilterSyntaxError")
VertexNotFound = subtype(BadRequest, "VertexNotFound")
ProviderQuotaExceeded = subtype(ResourceExhausted, "ProviderQuotaExceeded")
TAXONOMY = Taxonomy(graph_base, {"quota_exhausted": ProviderQuotaExceeded})

# -- what goes in and out --------------------------------------------------------------------------------


def parsed(spec: GraphQuerySpec) -> Query:
    """The query of a request.

    Raises:
        NotSupported: the dialect, or a clause, is not offered.
        QueryParseError: the text is not a query.
    """
    if spec.dialect is not None and spec.dialect not in DIALECTS:
        raise NotSupported("the dialect is not offered", details={"supported_query_dialects": DIALECTS})
    try:
        return Query(spec.text)
    except UnofferedError:
        raise NotSupported("the query uses a part of the language that is not offered") from None
    except (UnreadableError, RecursionError):
        raise QueryParseError("the query cannot be read", details={"dialect": spec.dialect}) from None


def check_filter(wanted: Mapping[str, Any] | None) -> None:
    """Refuse a filter that `passes` would not understand.

    Raises:
        FilterSyntaxError: it asks for more than equality.
    """
    for key, value in (wanted or {}).items():
        if isinstance(value, Mapping):
            raise FilterSyntaxError("the filter uses an operator that is not offered", details={"field": key})


def passes(properties: Mapping[str, Any], wanted: Mapping[str, Any] | None) -> bool:
    """Tell if properties have every value that a filter asks for."""
    return all(key in properties and same(properties[key], value) for key, value in (wanted or {}).items())


def node_of(vertex: Vertex, namespace: str, only: Sequence[str] | None = None) -> Node:
    """A node as the SDK has it."""
    return Node(vertex.id, vertex.labels, shown(vertex.properties, only), namespace)


def edge_of(arc: Arc, namespace: str, only: Sequence[str] | None = None) -> Edge:
    """A relationship as the SDK has it."""
    return Edge(arc.id, arc.src, arc.dst, arc.label, shown(arc.properties, only), namespace)


def shown(properties: Mapping[str, Any], only: Sequence[str] | None) -> dict[str, Any]:
    """A copy of properties, or of those that are asked for."""
    return copy.deepcopy({key: value for key, value in properties.items() if only is None or key in only})


def written(value: Any, namespace: str) -> Any:
    """A value of a row as JSON."""
    if isinstance(value, Vertex):
        labels, properties = list(value.labels), copy.deepcopy(dict(value.properties))
        return {"id": value.id, "labels": labels, "properties": properties, "namespace": namespace}
    if isinstance(value, Arc):
        ends = {"src": value.src, "dst": value.dst, "label": value.label}
        return {"id": value.id, **ends, "properties": copy.deepcopy(dict(value.properties)), "namespace": namespace}
    if isinstance(value, Mapping):
        return {key: written(each, namespace) for key, each in value.items()}
    return [written(each, namespace) for each in value] if isinstance(value, (list, tuple)) else value


def cursor_after(last: str) -> str:
    """The start of the next page; it is opaque."""
    return base64.urlsafe_b64encode(last.encode("utf-8", "surrogatepass")).decode()


def read_cursor(cursor: str | None) -> str | None:
    """The id after which a page begins.

    Raises:
        BadRequest: the cursor is none that was given out.
    """
    try:
        return (
            None if cursor is None else base64.b64decode(cursor, b"-_", validate=True).decode("utf-8", "surrogatepass")
        )
    except (ValueError, binascii.Error):
        TAXONOMY.require(False, "cursor", "is none that was given out")
        raise


# -- graphs ----------------------------------------------------------------------------------------------


class Store:
    """The graphs of one tenant by namespace."""

    def __init__(self, graphs: Mapping[str, Graph] | None = None) -> None:
        self._graphs: dict[str, Graph] = {name: graph.copy() for name, graph in (graphs or {}).items()}

    def copy(self) -> Store:
        """One that can be changed without changing this."""
        return Store(self._graphs)

    @property
    def sizes(self) -> dict[str, dict[str, int]]:
        """The numbers of nodes and edges in each namespace."""
        return {name: {"nodes": len(graph.nodes), "edges": len(graph.edges)} for name, graph in self._graphs.items()}

    def graph(self, namespace: str | None) -> Graph:
        """The graph of a namespace, empty if nothing was written to it."""
        return self._graphs.setdefault(namespace or DEFAULT, Graph())

    def put_nodes(self, nodes: Sequence[Node], namespace: str | None) -> UpsertResult:
        """Store nodes; what was there under their ids is gone."""
        for node in nodes:
            properties = copy.deepcopy(dict(node.properties))
            self.graph(node.namespace or namespace).nodes[node.id] = Vertex(
                node.id, tuple(node.labels or ()), properties
            )
        return UpsertResult(len(nodes), 0, [])

    def put_edges(self, edges: Sequence[Edge], namespace: str | None) -> UpsertResult:
        """Store relationships, or none if an end of one does not exist."""
        for index, edge in enumerate(edges):
            known = self.graph(edge.namespace or namespace).nodes
            if edge.src not in known or edge.dst not in known:
                raise VertexNotFound("an end of the relationship does not exist", details={"index": index})
        for edge in edges:
            arc = Arc(edge.id, edge.src, edge.dst, edge.label, copy.deepcopy(dict(edge.properties)))
            self.graph(edge.namespace or namespace).edges[edge.id] = arc
        return UpsertResult(len(edges), 0, [])

    def drop_nodes(self, ids: Sequence[str], wanted: Mapping[str, Any] | None, namespace: str | None) -> DeleteResult:
        """Forget nodes, with the relationships that hang on them."""
        graph = self.graph(namespace)
        doomed = set(chosen(graph.nodes, ids, wanted))
        for each in doomed:
            del graph.nodes[each]
        for arc in list(graph.edges.values()):
            if arc.src in doomed or arc.dst in doomed:
                del graph.edges[arc.id]
        return DeleteResult(len(doomed), 0, [])

    def drop_edges(self, ids: Sequence[str], wanted: Mapping[str, Any] | None, namespace: str | None) -> DeleteResult:
        """Forget relationships."""
        edges = self.graph(namespace).edges
        doomed = chosen(edges, ids, wanted)
        for each in doomed:
            del edges[each]
        return DeleteResult(len(doomed), 0, [])

    def records(self, query: Query, spec: GraphQuerySpec) -> list[dict[str, Any]]:
        """Return the records of a query.

        Raises:
            BadRequest: a parameter is missing.
            QueryParseError: a value does not fit into the query.
        """
        try:
            rows = query.rows(self.graph(spec.namespace), spec.params)
        except UnboundError:
            TAXONOMY.require(False, "params", "lacks a parameter of the query")
            raise
        except (UnreadableError, RecursionError):
            raise QueryParseError("a value does not fit into the query") from None
        return [written(row, spec.namespace or DEFAULT) for row in rows]

    def page(self, spec: BulkVerticesSpec) -> BulkVerticesResult:
        """Some of the nodes, in the order of their ids."""
        check_filter(spec.filter)
        after, graph = read_cursor(spec.cursor), self.graph(spec.namespace)
        ids = sorted(
            each
            for each, vertex in graph.nodes.items()
            if (after is None or each > after) and passes(vertex.properties, spec.filter)
        )
        here, more = ids[: spec.limit], len(ids) > spec.limit
        nodes = [node_of(graph.nodes[each], spec.namespace or DEFAULT) for each in here]
        return BulkVerticesResult(nodes, cursor_after(here[-1]) if more else None, more)

    def schema(self) -> GraphSchema:
        """Labels and relationship types, with how many there are and which properties they have."""
        nodes: dict[str, dict[str, Any]] = {}
        edges: dict[str, dict[str, Any]] = {}
        for graph in self._graphs.values():
            for vertex in graph.nodes.values():
                for label in vertex.labels:
                    describe(nodes, label, vertex.properties)
            for arc in graph.edges.values():
                describe(edges, arc.label, arc.properties)
        return GraphSchema(nodes, edges, {"namespaces": sorted(self._graphs)})

    def walk(self, spec: GraphTraversalSpec) -> TraversalResult:
        """Walk from the start nodes, breadth first."""
        check_filter(spec.node_filters)
        check_filter(spec.relationship_filters)
        graph, namespace, only = self.graph(spec.namespace), spec.namespace or DEFAULT, spec.return_properties
        for each in spec.start_nodes:
            if each not in graph.nodes:
                raise VertexNotFound("a start node does not exist")
        paths: dict[str, list[Vertex | Arc]] = {each: [graph.nodes[each]] for each in spec.start_nodes}
        taken: dict[str, Arc] = {}
        border = list(paths)
        for _ in range(spec.max_depth):
            reached: list[str] = []
            for arc, start, end in steps(graph, spec, border):
                taken[arc.id] = arc
                if end not in paths:
                    paths[end] = [*paths[start], arc, graph.nodes[end]]
                    reached.append(end)
            border = reached
        return TraversalResult(
            [node_of(graph.nodes[each], namespace, only) for each in paths],
            [edge_of(arc, namespace, only) for arc in taken.values()],
            [[entity_of(each, namespace, only) for each in path] for path in paths.values() if len(path) > 1],
            {"nodes": len(paths), "relationships": len(taken)},
            namespace,
        )


def entity_of(entity: Vertex | Arc, namespace: str, only: Sequence[str] | None) -> Node | Edge:
    """A node or relationship as the SDK has it."""
    return node_of(entity, namespace, only) if isinstance(entity, Vertex) else edge_of(entity, namespace, only)


def steps(graph: Graph, spec: GraphTraversalSpec, border: Sequence[str]) -> Iterator[tuple[Arc, str, str]]:
    """The relationships that a traversal may follow from some nodes, with the node that each comes from and goes to."""
    for arc in graph.edges.values():
        if spec.relationship_types and arc.label not in spec.relationship_types:
            continue
        if not passes(arc.properties, spec.relationship_filters):
            continue
        ways = {"OUTGOING": [(arc.src, arc.dst)], "INCOMING": [(arc.dst, arc.src)]}
        for start, end in ways.get(spec.direction, [(arc.src, arc.dst), (arc.dst, arc.src)]):
            if start in border and passes(graph.nodes[end].properties, spec.node_filters):
                yield arc, start, end


def chosen(
    entities: Mapping[str, Vertex] | Mapping[str, Arc], ids: Sequence[str], wanted: Mapping[str, Any] | None
) -> list[str]:
    """The ids of what is named and passes the filter."""
    check_filter(wanted)
    named = set(ids) if ids else set(entities)
    return [each for each in entities if each in named and passes(entities[each].properties, wanted)]


def describe(schema: dict[str, dict[str, Any]], label: str, properties: Mapping[str, Any]) -> None:
    """Add an entity to what is known of its label."""
    known = schema.setdefault(label, {"count": 0, "properties": []})
    known["count"] += 1
    known["properties"] = sorted({*known["properties"], *properties})


class Backend:
    """The graphs of all tenants."""

    def __init__(self) -> None:
        self._stores: dict[str | None, Store] = {}

    def store(self, tenant: str | None) -> Store:
        """The graphs of one tenant."""
        return self._stores.setdefault(tenant, Store())

    def commit(self, tenant: str | None, store: Store) -> None:
        """Replace the graphs of a tenant by a changed copy."""
        self._stores[tenant] = store
