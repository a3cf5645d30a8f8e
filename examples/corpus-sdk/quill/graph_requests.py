"""The checks that the SDK leaves to the author of a graph adapter, and the operations of batches and transactions."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from corpus_sdk.graph.graph_base import (
    BatchOperation,
    BulkVerticesSpec,
    Edge,
    GraphAdapterError,
    GraphQuerySpec,
    GraphTraversalSpec,
    Node,
    NotSupported,
)

from .authoring import finite, text_or_none
from .graph_backend import TAXONOMY, Store, check_filter, parsed

require = TAXONOMY.require

Work = Callable[[Store], dict[str, Any]]
"""The work of an operation in a batch; returns its result as JSON."""


def texts(value: Any) -> bool:
    """Tell if a value is a list of texts, none of them empty."""
    return isinstance(value, (list, tuple)) and all(isinstance(each, str) and each for each in value)


def whole(value: Any) -> bool:
    """Tell if a value is a whole number above zero, of 64 bits."""
    return isinstance(value, (int, float)) and finite(value) and value == int(value) and 0 < value < 2**63


def check_object(value: Any, name: str) -> None:
    """Refuse what is not an object of finite numbers; none at all is fine."""
    require(value is None or isinstance(value, Mapping), name, "must be an object")
    require(finite(value), name, "must hold finite numbers only")


def check_namespace(value: Any) -> None:
    """Refuse a namespace that is not text."""
    require(text_or_none(value), "namespace", "must be a string")


def check_node(node: Node) -> None:
    """Refuse a node with a value of a wrong type."""
    labels = () if node.labels is None else node.labels
    require(texts(labels), "nodes[].labels", "must be a list of strings that are not empty")
    check_object(node.properties, "nodes[].properties")
    check_namespace(node.namespace)
    check_times(node)


def check_edge(edge: Edge) -> None:
    """Refuse a relationship with a value of a wrong type."""
    check_object(edge.properties, "edges[].properties")
    check_namespace(edge.namespace)
    check_times(edge)


def check_times(entity: Node | Edge) -> None:
    """Refuse times that are not numbers."""
    for name in ("created_at", "updated_at"):
        time = getattr(entity, name)
        require(time is None or (isinstance(time, (int, float)) and finite(time)), name, "must be a number")


def check_victims(ids: Any, wanted: Any, namespace: Any) -> None:
    """Refuse a deletion that does not say properly of what."""
    require(ids is None or texts(ids), "ids", "must be a list of strings")
    check_object(wanted, "filter")
    check_filter(wanted)
    check_namespace(namespace)
    require(ids or wanted, "ids", "or a filter is required")


def check_query(spec: GraphQuerySpec) -> None:
    """Refuse a query with a value of a wrong type."""
    require(isinstance(spec.text, str) and spec.text.strip(), "text", "must be a string that is not empty")
    require(text_or_none(spec.dialect), "dialect", "must be a string")
    check_object(spec.params, "params")
    check_namespace(spec.namespace)
    require(spec.timeout_ms is None or whole(spec.timeout_ms), "timeout_ms", "must be a number above zero")


def check_page(spec: BulkVerticesSpec) -> BulkVerticesSpec:
    """The request for a page, its limit a whole number."""
    require(whole(spec.limit), "limit", "must be a whole number above zero")
    require(text_or_none(spec.cursor), "cursor", "must be a string")
    check_object(spec.filter, "filter")
    check_namespace(spec.namespace)
    return BulkVerticesSpec(spec.namespace, int(spec.limit), spec.cursor or None, spec.filter)


def check_traversal(spec: GraphTraversalSpec) -> None:
    """Refuse a traversal with a value of a wrong type."""
    require(texts(spec.start_nodes), "start_nodes", "must be a list of strings")
    require(whole(spec.max_depth), "max_depth", "must be a whole number above zero")
    for name in ("relationship_types", "return_properties"):
        value = getattr(spec, name)
        require(value is None or texts(value), name, "must be a list of strings")
    check_object(spec.node_filters, "node_filters")
    check_object(spec.relationship_filters, "relationship_filters")
    check_namespace(spec.namespace)


# -- batches and transactions ----------------------------------------------------------------------------


def objects(args: Mapping[str, Any], name: str) -> Sequence[Mapping[str, Any]]:
    """The items of an operation, each with the id that it must have."""
    items = args.get(name)
    sound = isinstance(items, list) and items and all(isinstance(item, Mapping) for item in items)
    require(sound, name, "must be a list of objects")
    require(texts([item.get("id") for item in items or ()]), f"{name}[].id", "must be a string that is not empty")
    return items or ()


def nodes_of(args: Mapping[str, Any]) -> list[Node]:
    """The nodes of an operation."""
    nodes = []
    for item in objects(args, "nodes"):
        labels = item.get("labels") or ()
        require(texts(labels), "nodes[].labels", "must be a list of strings that are not empty")
        nodes.append(Node(item["id"], tuple(labels), item.get("properties"), item.get("namespace")))
        check_node(nodes[-1])
    return nodes


def edges_of(args: Mapping[str, Any]) -> list[Edge]:
    """The relationships of an operation."""
    edges = []
    for item in objects(args, "edges"):
        ends = [item.get(name) for name in ("src", "dst", "label")]
        require(texts(ends), "edges[]", "must have a src, a dst and a label")
        edges.append(Edge(item["id"], *ends, item.get("properties"), item.get("namespace")))
        check_edge(edges[-1])
    return edges


def upsert_nodes(args: Mapping[str, Any]) -> Work:
    """Store nodes."""
    nodes, namespace = nodes_of(args), args.get("namespace")
    check_namespace(namespace)
    return lambda store: asdict(store.put_nodes(nodes, namespace))


def upsert_edges(args: Mapping[str, Any]) -> Work:
    """Store relationships."""
    edges, namespace = edges_of(args), args.get("namespace")
    check_namespace(namespace)
    return lambda store: asdict(store.put_edges(edges, namespace))


def delete_nodes(args: Mapping[str, Any]) -> Work:
    """Forget nodes."""
    ids, wanted, namespace = args.get("ids"), args.get("filter"), args.get("namespace")
    check_victims(ids, wanted, namespace)
    return lambda store: asdict(store.drop_nodes(ids or (), wanted, namespace))


def delete_edges(args: Mapping[str, Any]) -> Work:
    """Forget relationships."""
    ids, wanted, namespace = args.get("ids"), args.get("filter"), args.get("namespace")
    check_victims(ids, wanted, namespace)
    return lambda store: asdict(store.drop_edges(ids or (), wanted, namespace))


def query(args: Mapping[str, Any]) -> Work:
    """Ask."""
    names = ("text", "dialect", "params", "namespace", "timeout_ms")
    spec = GraphQuerySpec(**{"text": None, **{name: args[name] for name in names if name in args}})
    check_query(spec)
    question = parsed(spec)
    return lambda store: {"records": store.records(question, spec), "summary": {}}


OPERATIONS: Mapping[str, Callable[[Mapping[str, Any]], Work]] = {
    "upsert_nodes": upsert_nodes,
    "upsert_edges": upsert_edges,
    "delete_nodes": delete_nodes,
    "delete_edges": delete_edges,
    "query": query,
}


def work_of(operation: BatchOperation) -> Work:
    """The work of an operation.

    Raises:
        NotSupported: it is none of `OPERATIONS`.
        BadRequest: its arguments are not what it takes.
    """
    if operation.op not in OPERATIONS:
        raise NotSupported("the operation is not offered in a batch", details={"batch_ops": list(OPERATIONS)})
    return OPERATIONS[operation.op](operation.args)


def each_done(operations: Sequence[BatchOperation], store: Store) -> list[dict[str, Any]]:
    """One after the other; what fails is reported in its place and the others are done."""
    results: list[dict[str, Any]] = []
    for index, operation in enumerate(operations):
        try:
            results.append({"ok": True, "index": index, "result": work_of(operation)(store)})
        except GraphAdapterError as error:
            name = {"error": type(error).__name__, "code": error.code, "message": error.message}
            results.append({"ok": False, "index": index, **name})
    return results


def all_done(operations: Sequence[BatchOperation], store: Store) -> list[dict[str, Any]]:
    """One after the other.

    Raises:
        GraphAdapterError: the first that fails; its details say which one it is.
    """
    results: list[dict[str, Any]] = []
    for index, operation in enumerate(operations):
        try:
            results.append({"ok": True, "index": index, "result": work_of(operation)(store)})
        except GraphAdapterError as error:
            error.details["index"] = index
            raise
    return results
