"""Reading the arguments of graph operations (SPECIFICATION 7, SCHEMA 4.4)."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from pytest_corpus.reference.errors import AdapterError, invalid
from pytest_corpus.reference.graph.cypher import Cypher
from pytest_corpus.reference.graph.gremlin import Gremlin
from pytest_corpus.reference.graph.scanner import Query, QueryError, QueryFeatureError
from pytest_corpus.reference.graph.store import DEFAULT_NAMESPACE, Edge, Node
from pytest_corpus.reference.request import Admission, Fields

DIRECTIONS = ("OUTGOING", "INCOMING", "BOTH")


@dataclass(frozen=True, slots=True)
class Selection:
    """What a delete is about: the ids, if not None, whose properties equal those of the filter."""

    namespace: str
    ids: list[str] | None
    filter: Mapping[str, Any]


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


@dataclass(frozen=True, slots=True)
class Question:
    """A query that was read, its parameters beside it."""

    namespace: str
    dialect: str
    query: Query
    params: Mapping[str, Any]
    timeout_ms: float | None


class Arguments(Admission):
    """Each reader checks one thing and refuses it by name."""

    dialects: tuple[str, ...] = ("cypher", "opencypher", "gql", "gremlin")
    languages: ClassVar[Mapping[str, Callable[[str], Query]]] = {
        "cypher": Cypher,
        "opencypher": Cypher,
        "gql": Cypher,
        "gremlin": Gremlin,
    }
    max_query_length = 8192
    max_traversal_depth = 6
    vertices_in_page = 100

    def read_namespace(self, args: Fields) -> str:
        namespace = args.text("namespace") or DEFAULT_NAMESPACE
        if namespace != DEFAULT_NAMESPACE:
            self.require("supports_namespaces")
        return namespace

    # Nodes and edges

    def read_nodes(self, args: Fields) -> list[Node]:
        """Nodes of sound types; whether one can be stored is a question of its own."""
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
        """The item's own namespace, which must be the call's where both are given."""
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
        """Properties and the values that they must equal; there are no operators."""
        wanted = self.read_object(args, name)
        if any(isinstance(value, (Mapping, list)) for value in wanted.values()):
            rule = "must give one plain value for each property"
            raise invalid(f"{args.path}.{name}", "FILTER_SYNTAX", rule, error="FilterSyntaxError")
        return wanted

    def read_operations(self, args: Fields, name: str) -> list[tuple[str, Fields]]:
        """The operations of a batch or transaction, by their bare names."""
        return [(item.required_text("op"), item.member("args")) for item in args.objects(name, required=True)]

    # Queries

    def read_question(self, args: Fields) -> Question:
        dialect, text = self.read_dialect(args), args.required_text("text")
        params = self.read_object(args, "params")
        namespace, timeout_ms = self.read_namespace(args), self.read_timeout(args)
        self.check_length(text)
        return Question(namespace, dialect, self.read_text(dialect, text, params), params, timeout_ms)

    def check_length(self, text: str) -> None:
        if len(text) > self.max_query_length:
            rule = f"must have at most {self.max_query_length} characters"
            raise invalid("args.text", "TOO_LONG", rule, max_query_length=self.max_query_length)

    def read_dialect(self, args: Fields) -> str:
        """An advertised dialect; the first one where none is named (SPECIFICATION 7.4)."""
        dialect = args.text("dialect") or self.dialects[0]
        if dialect not in self.dialects:
            raise AdapterError("NotSupported", "args.dialect must be advertised", supported_dialects=[*self.dialects])
        return dialect

    def read_text(self, dialect: str, text: str, params: Mapping[str, Any]) -> Query:  # noqa: ARG002 - never text
        try:
            return self.languages[dialect](text)
        except RecursionError:
            raise self.query_refused(QueryError("is nested too deeply")) from None
        except QueryError as problem:
            raise self.query_refused(problem) from None

    def query_refused(self, problem: QueryError) -> AdapterError:
        """A query that cannot be run, by what is wrong and not by its text (ERRORS 6.4)."""
        if isinstance(problem, QueryFeatureError):
            return AdapterError("NotSupported", f"args.text {problem}")
        return invalid("args.text", "QUERY_PARSE", str(problem), error="QueryParseError")

    def read_timeout(self, args: Fields) -> float | None:
        timeout_ms = args.number("timeout_ms")
        if timeout_ms is not None and timeout_ms < 0:
            raise args.invalid("timeout_ms", "OUT_OF_RANGE", "must be at least 0")
        return timeout_ms

    # Traversals and pages

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

    def read_limit(self, args: Fields) -> int:
        return args.integer("limit", at_least=1) or self.vertices_in_page

    def read_cursor(self, args: Fields) -> str | None:
        """The id that a page comes after; None at the beginning."""
        cursor = args.text("cursor")
        try:
            return str(json.loads(base64.b64decode(cursor, validate=True))) if cursor else None
        except (binascii.Error, ValueError):
            raise args.invalid("cursor", "NOT_ALLOWED", "must come from the page before") from None

    def cursor(self, node: Node) -> str:
        """What leads to the page after a node; opaque to clients (SPECIFICATION 11.5)."""
        return base64.b64encode(json.dumps(node.id).encode()).decode()
