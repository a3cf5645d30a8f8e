"""Reading the arguments of graph operations (SPECIFICATION 7, SCHEMA 4.4)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pytest_corpus.reference.errors import invalid
from pytest_corpus.reference.graph.store import DEFAULT_NAMESPACE, Edge, Entity, Node, is_same
from pytest_corpus.reference.request import Admission, Fields


@dataclass(frozen=True, slots=True)
class Selection:
    """Selects the entities to delete, by id (None for any id) and by a filter on their properties."""

    namespace: str
    ids: list[str] | None
    filter: Mapping[str, Any]


class GraphArguments(Admission):
    """Reads the arguments of graph operations. Each method reads one argument; its errors name this argument."""

    def read_namespace(self, args: Fields) -> str:
        namespace = args.text("namespace") or DEFAULT_NAMESPACE
        if namespace != DEFAULT_NAMESPACE:
            self.require("supports_namespaces")
        return namespace

    # Nodes and edges

    def read_nodes(self, args: Fields) -> list[Node]:
        """Read nodes with members of the right types; later steps check if a node can be stored."""
        return [self.read_node(args, item) for item in args.objects("nodes", required=True)]

    def read_node(self, args: Fields, item: Fields) -> Node:
        labels = tuple(item.items("labels", "a string"))
        namespace = self.read_item_namespace(args, item)
        return Node(item.required_text("id"), labels, self.read_object(item, "properties"), namespace)

    def read_edges(self, args: Fields) -> list[Edge]:
        return [self.read_edge(args, item) for item in args.objects("edges", required=True)]

    def read_edge(self, args: Fields, item: Fields) -> Edge:
        name, src, dst, label = map(item.required_text, ("id", "src", "dst", "label"))
        namespace = self.read_item_namespace(args, item)
        return Edge(name, src, dst, label, self.read_object(item, "properties"), namespace)

    def read_item_namespace(self, args: Fields, item: Fields) -> str:
        """Return the namespace of an item. If the call also names one, both must be equal."""
        of_item, of_call = item.text("namespace"), args.text("namespace")
        if of_item is not None and of_call is not None and of_item != of_call:
            raise item.invalid("namespace", "CONTRADICTION", "must be the namespace of the call")
        return self.read_namespace(args if of_item is None else item)

    def read_object(self, args: Fields, name: str) -> Mapping[str, Any]:
        values: Mapping[str, Any] = args.read(name, "an object") or {}
        return values

    def read_selection(self, args: Fields) -> Selection:
        ids = args.items("ids", "a string") if args.values.get("ids") is not None else None
        if ids is None and args.values.get("filter") is None:
            raise args.invalid("ids", "REQUIRED", "or a filter is required")
        return Selection(self.read_namespace(args), ids, self.read_filter(args, "filter"))

    def read_filter(self, args: Fields, name: str) -> Mapping[str, Any]:
        """Return the properties of a filter and the values that they must equal; there are no operators."""
        wanted = self.read_object(args, name)
        if any(isinstance(value, (Mapping, list)) for value in wanted.values()):
            rule = "must give one plain value for each property"
            raise invalid(f"{args.path}.{name}", "FILTER_SYNTAX", rule, error="FilterSyntaxError")
        return wanted

    def read_operations(self, args: Fields, name: str) -> list[tuple[str, Fields]]:
        """Return the operations of a batch or transaction as bare names, each with its arguments."""
        return [(item.required_text("op"), item.member("args")) for item in args.objects(name, required=True)]

    def matches(self, entity: Entity, wanted: Mapping[str, Any]) -> bool:
        """True if an entity has all these properties with these values."""
        properties = entity.properties
        return all(key in properties and is_same(properties[key], value) for key, value in wanted.items())
