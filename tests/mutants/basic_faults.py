"""The most basic faults of an adapter: an operation that fails, or a thing that all tests give and it does not take.

`vector_upsert_broken` is the reference adapter for vectors whose `upsert` is broken, `vector_dead_broken` one of which
nothing but capabilities works, `vector_writes_denied` one whose login may not write. The others are classes.
`test_basic_faults.py` states what comes first.
"""

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pytest_corpus.reference.embedding.adapter import ReferenceEmbedding
from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.graph.adapter import ReferenceGraph
from pytest_corpus.reference.graph.store import DEFAULT_NAMESPACE, Edge, Entity, Graph, Node, Space
from pytest_corpus.reference.graph.traversals import Journey
from pytest_corpus.reference.llm.adapter import ReferenceLLM
from pytest_corpus.reference.request import Call, Fields
from pytest_corpus.reference.vector.adapter import ReferenceVector
from pytest_corpus.reference.vector.arguments import QueryArguments
from pytest_corpus.reference.vector.store import Hit, Item
from pytest_corpus.spec.operations import BY_OP, operations_of

REFERENCES: Mapping[str, type[Any]] = {
    made.component: made for made in (ReferenceLLM, ReferenceVector, ReferenceEmbedding, ReferenceGraph)
}

TOO_LONG_S = 600


async def broken() -> dict[str, Any]:
    """Fail by a mistake of the author, which an adapter reports as UNAVAILABLE."""
    raise AttributeError("'NoneType' object has no attribute 'cursor'")


async def refused() -> dict[str, Any]:
    """Take no request for a valid one."""
    raise AdapterError("BadRequest", "the request is not valid")


async def denied() -> dict[str, Any]:
    """Refuse because the login may not do it."""
    raise AdapterError("AuthError", "permission denied")


async def empty() -> dict[str, Any]:
    """Succeed without a result."""
    return {}


async def slow() -> dict[str, Any]:
    """Answer too late."""
    await asyncio.sleep(TOO_LONG_S)
    return {}


KINDS = {each.__name__: each for each in (broken, refused, denied, empty, slow)}


def failing(kind: str, *, streaming: bool) -> Callable[..., Any]:
    """An operation that fails in one of these ways."""
    fail = KINDS[kind]

    async def operation(_self: Any, _call: Call) -> dict[str, Any]:
        return await fail()

    async def stream(_self: Any, _call: Call) -> AsyncIterator[dict[str, Any]]:
        if found := await fail():
            yield found

    return stream if streaming else operation


def made(component: str, names: Sequence[str], kind: str) -> type[Any]:
    """A reference adapter of which some operations fail in one way."""
    methods = {name: failing(kind, streaming=BY_OP[f"{component}.{name}"].streaming) for name in names}
    return type(f"{component}_{kind}", (REFERENCES[component],), methods)


def without_tenants(component: str) -> type[Any]:
    """A reference adapter that refuses every tenant."""

    def tenant_hash(_self: Any, _tenant: str) -> str:
        raise AdapterError("BadRequest", "tenant is not taken")

    return type(f"{component}_tenants", (REFERENCES[component],), {"tenant_hash": tenant_hash})


def is_uuid(name: str) -> bool:
    """Return if a text is a UUID."""
    try:
        return str(uuid.UUID(name)) == name.lower()
    except ValueError:
        return False


class NoTopKBeyond(ReferenceVector):
    """It refuses a `top_k` that exceeds the number of vectors."""

    def search(self, call: Call, query: QueryArguments) -> dict[str, Any]:
        if query.top_k > len(self.space(call, query.namespace).items):
            raise AdapterError("BadRequest", "top_k exceeds the number of vectors")
        return super().search(call, query)


class OnlyUuids(ReferenceVector):
    """It takes no id but a UUID."""

    def read_item(self, fields: Fields, namespace: str) -> Item:
        item = super().read_item(fields, namespace)
        if not is_uuid(item.id):
            raise AdapterError("BadRequest", "id must be a UUID")
        return item


class IdsBecomeUuids(ReferenceVector):
    """It answers with a UUID in place of the id."""

    def match(self, query: QueryArguments, hit: Hit) -> dict[str, Any]:
        found = super().match(query, hit)
        found["vector"]["id"] = str(uuid.uuid5(uuid.NAMESPACE_URL, hit.item.id))
        return found


class FiltersRefused(ReferenceVector):
    """It takes no filter."""

    def read_filter(self, fields: Fields) -> list[Any]:
        if fields.values.get("filter"):
            raise AdapterError("BadRequest", "filter is not taken")
        return super().read_filter(fields)


class FiltersIgnored(ReferenceVector):
    """It accepts filters and does not apply them."""

    def passes(self, metadata: Mapping[str, Any], conditions: Any) -> bool:
        return True


class MetadataRefused(ReferenceVector):
    """It takes no metadata."""

    def read_metadata(self, fields: Fields) -> dict[str, Any]:
        if fields.values.get("metadata"):
            raise AdapterError("BadRequest", "metadata is not taken")
        return super().read_metadata(fields)


class MetadataDropped(ReferenceVector):
    """It stores no metadata."""

    def read_metadata(self, fields: Fields) -> dict[str, Any]:
        super().read_metadata(fields)
        return {}


class NothingKept(ReferenceVector):
    """It says that it has stored, and has not."""

    def store(self, space: Any, item: Item) -> None:
        return None


class OneStore(dict[str | None, Any]):
    """The data of all tenants, which is that of each."""

    def get(self, _tenant: str | None, default: Any = None) -> Any:
        return super().get(None, default)

    def setdefault(self, _tenant: str | None, default: Any = None) -> Any:
        return super().setdefault(None, default)

    def __getitem__(self, _tenant: str | None) -> Any:
        return super().__getitem__(None)

    def __setitem__(self, _tenant: str | None, value: Any) -> None:
        super().__setitem__(None, value)


class TenantsShared(ReferenceVector):
    """It takes tenants, and gives all of them one store."""

    def __init__(self, **hooks: Any) -> None:
        super().__init__(**hooks)
        self.tenants = OneStore()


class EmptyResults(ReferenceVector):
    """Its `batch_query` answers with an empty list."""

    async def batch_query(self, call: Call) -> dict[str, Any]:
        return {"results": []}


class NoMatches(ReferenceVector):
    """Its `query` finds nothing."""

    def search(self, call: Call, query: QueryArguments) -> dict[str, Any]:
        return {**super().search(call, query), "matches": [], "total_matches": 0}


class NothingDeleted(ReferenceVector):
    """It says that it has deleted, and has not."""

    def erase(self, call: Call, namespace: str, ids: Sequence[str], conditions: Any) -> int:
        return len(ids)


class NoNodesKept(ReferenceGraph):
    """It says that it has stored nodes, and has not."""

    def put_node(self, graph: Graph, node: Node) -> None:
        self.check_names("node", node.id, *node.labels)


class NoEdgesKept(ReferenceGraph):
    """It says that it has stored edges, and has not."""

    def put_edge(self, graph: Graph, edge: Edge) -> None:
        self.check_names("edge", edge.id, edge.src, edge.dst, edge.label)


class GraphKeepsNothing(NoNodesKept, NoEdgesKept):
    """It says that it has stored nodes and edges, and has not."""


class PropertiesDropped(ReferenceGraph):
    """It stores no properties."""

    def own(self, entity: Any) -> Any:
        return replace(entity, properties={})


class PropertiesRefused(ReferenceGraph):
    """It takes no properties."""

    def read_object(self, args: Fields, name: str) -> Mapping[str, Any]:
        found = super().read_object(args, name)
        if name == "properties" and found:
            raise AdapterError("BadRequest", "properties are not taken")
        return found


class EdgePropertiesDropped(ReferenceGraph):
    """It stores no properties of edges."""

    def put_edge(self, graph: Graph, edge: Edge) -> None:
        super().put_edge(graph, replace(edge, properties={}))


class LabelsChanged(ReferenceGraph):
    """It stores labels in lower case."""

    def put_node(self, graph: Graph, node: Node) -> None:
        super().put_node(graph, replace(node, labels=tuple(each.lower() for each in node.labels)))


class LabelsDropped(ReferenceGraph):
    """It stores no labels."""

    def put_node(self, graph: Graph, node: Node) -> None:
        super().put_node(graph, replace(node, labels=()))


class LabelsRefused(ReferenceGraph):
    """It takes no labels of nodes."""

    def put_node(self, graph: Graph, node: Node) -> None:
        if node.labels:
            raise AdapterError("BadRequest", "labels are not taken")
        super().put_node(graph, node)


class EdgeLabelsChanged(ReferenceGraph):
    """It stores the labels of edges in lower case."""

    def put_edge(self, graph: Graph, edge: Edge) -> None:
        super().put_edge(graph, replace(edge, label=edge.label.lower()))


class OnlyUuidsOfNodes(ReferenceGraph):
    """It takes no id but a UUID."""

    def check_names(self, kind: str, *names: str) -> None:
        super().check_names(kind, *names)
        if not is_uuid(names[0]):
            raise AdapterError("BadRequest", "id must be a UUID")


class NodeIdsBecomeUuids(ReferenceGraph):
    """It answers with a UUID in place of the id of a node."""

    def value(self, value: Any) -> Any:
        return super().value(renamed(value))

    def page(self, nodes: Sequence[Node], limit: int) -> dict[str, Any]:
        return super().page([renamed(node) for node in nodes], limit)

    async def traversal(self, call: Call) -> dict[str, Any]:
        found = await super().traversal(call)
        return {**found, "nodes": [{**node, "id": uuid_for(node["id"])} for node in found["nodes"]]}


class NodeFiltersIgnored(ReferenceGraph):
    """It accepts filters and does not apply them."""

    def matches(self, entity: Entity, wanted: Mapping[str, Any]) -> bool:
        return True


class NodeFiltersRefused(ReferenceGraph):
    """It claims filters, and takes none."""

    def read_filter(self, args: Fields, name: str) -> Mapping[str, Any]:
        if super().read_filter(args, name):
            raise AdapterError("BadRequest", "filters are not taken")
        return {}


class GraphTenantsShared(ReferenceGraph):
    """It takes tenants, and gives all of them one graph."""

    def __init__(self, **hooks: Any) -> None:
        super().__init__(**hooks)
        self.tenants = OneStore()


class NoNamespaces(ReferenceGraph):
    """It claims namespaces, and takes none."""

    def read_namespace(self, args: Fields) -> str:
        if super().read_namespace(args) != DEFAULT_NAMESPACE:
            raise AdapterError("BadRequest", "namespace is not taken")
        return DEFAULT_NAMESPACE


class NamespacesIgnored(ReferenceGraph):
    """It claims namespaces, and holds one graph for all of them."""

    def read_namespace(self, args: Fields) -> str:
        super().read_namespace(args)
        return DEFAULT_NAMESPACE


class NothingReached(ReferenceGraph):
    """Its traversal ends at the start nodes."""

    def travel(self, graph: Graph, journey: Journey) -> tuple[dict[str, list[str]], list[Edge]]:
        super().travel(graph, journey)
        return {start: [start] for start in journey.start_nodes}, []


class DialectRefused(ReferenceGraph):
    """It lists dialects, and supports none."""

    def read_dialect(self, args: Fields) -> str:
        super().read_dialect(args)
        raise AdapterError("NotSupported", "the dialect is not supported")


class DialectsButOneRefused(ReferenceGraph):
    """It lists dialects, and supports the first alone."""

    def read_dialect(self, args: Fields) -> str:
        if (found := super().read_dialect(args)) != self.dialects[0]:
            raise AdapterError("NotSupported", "the dialect is not supported")
        return found


class ParamsRefused(ReferenceGraph):
    """It takes no parameters of queries."""

    def read_object(self, args: Fields, name: str) -> Mapping[str, Any]:
        found = super().read_object(args, name)
        if name == "params" and found:
            raise AdapterError("BadRequest", "params are not taken")
        return found


class NoRecords(ReferenceGraph):
    """Its queries find nothing."""

    def records(self, space: Space, question: Any) -> list[dict[str, Any]]:
        super().records(space, question)
        return []


class NoNodesDeleted(ReferenceGraph):
    """It says that it has deleted, and has not."""

    def delete(self, space: Space, selection: Any, remove: Callable[..., int]) -> Any:
        return super().delete({name: graph.draft() for name, graph in space.items()}, selection, remove)


def uuid_for(name: str) -> str:
    """The UUID in place of an id."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, name))


def renamed(value: Any) -> Any:
    """A node with a UUID in place of its id."""
    return replace(value, id=uuid_for(value.id)) if isinstance(value, Node) else value


def __getattr__(name: str) -> type[Any]:
    component, _, rest = name.partition("_")
    if component in REFERENCES and rest == "without_tenants":
        return without_tenants(component)
    failed, _, kind = rest.rpartition("_")
    rows = [row for row in operations_of(component) if row.name != "capabilities"] if component in REFERENCES else []
    groups = {"dead": [row.name for row in rows], "writes": [row.name for row in rows if row.mutating]}
    groups.update({row.name: [row.name] for row in rows})
    if failed not in groups or kind not in KINDS:
        raise AttributeError(name)
    return made(component, groups[failed], kind)
