"""A Gremlin interpreter for the reference adapter: read-only traversals as text.

Parameters are bindings, as in Gremlin Server: a bare name in the text refers to the value in the request.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_corpus.reference.graph.expressions import member, sort_key
from pytest_corpus.reference.graph.scanner import QueryError, QueryFeatureError, Row, ScannedQuery, Scanner
from pytest_corpus.reference.graph.store import Edge, Entity, NamespaceGraph, Node, is_same

CONSTANTS: Mapping[str, Any] = {"true": True, "false": False, "null": None, "asc": "asc", "desc": "desc"}
STARTS = ("V", "E", "inject")
STEPS = {
    "V": "vertices",
    "E": "edges",
    "inject": "inject",
    "unfold": "unfold",
    "hasId": "has_id",
    "hasLabel": "has_label",
    "has": "has",
    "inV": "targets",
    "outV": "sources",
    "values": "values",
    "id": "ids",
    "label": "labels",
    "valueMap": "value_maps",
    "elementMap": "element_maps",
    "count": "count",
    "dedup": "dedup",
    "limit": "limit",
    "range": "range",
    "order": "order",
    "project": "project",
    "by": "modulate",
}
"""The method of each step."""
VERTEX_STEPS = {"out": "OUTGOING", "in": "INCOMING", "both": "BOTH"}
EDGE_STEPS = {"outE": "OUTGOING", "inE": "INCOMING", "bothE": "BOTH"}

Flow = list[Any]


@dataclass(frozen=True, slots=True)
class Binding:
    """A name in a query whose value is in the parameters of the request."""

    name: str


@dataclass(frozen=True, slots=True)
class TraversalStep:
    name: str
    args: tuple[Any, ...]


class Gremlin(ScannedQuery):
    """A parsed traversal."""

    def __init__(self, text: str) -> None:
        self.scanner = Scanner(text)
        if self.scanner.read_name() != "g":
            raise QueryError("must begin at g")
        self.steps: list[TraversalStep] = []
        while self.scanner.skip_if_next("."):
            self.steps.append(self.read_step())
        self.scanner.skip_if_next(";")
        self.scanner.next_token("end")
        if not self.steps or self.steps[0].name not in STARTS:
            raise QueryError("lacks a first step")

    def read_step(self) -> TraversalStep:
        name = self.scanner.read_name()
        if name not in {**STEPS, **VERTEX_STEPS, **EDGE_STEPS}:
            raise QueryFeatureError("uses a step that is not offered")
        self.scanner.skip_required("(")
        args = []
        while not self.scanner.skip_if_next(")"):
            args.append(self.read_argument())
            if not self.scanner.skip_if_next(","):
                self.scanner.skip_required(")")
                break
        return TraversalStep(name, tuple(args))

    def read_argument(self) -> Any:
        if self.scanner.skip_if_next("-"):
            return -self.read_argument()
        if self.scanner.kind != "name":
            return self.scanner.literal()
        name = self.scanner.read_name()
        while self.scanner.skip_if_next("."):  # e.g. Order.desc
            name = self.scanner.read_name()
        return CONSTANTS[name] if name in CONSTANTS else Binding(name)

    def run(self, graph: NamespaceGraph, params: Mapping[str, Any]) -> list[Row]:
        traversal = Traversal(graph)
        try:
            for step in self.steps:
                args = [self.resolve(arg, params) for arg in step.args]
                traversal.apply_step(step.name, args)
        except (TypeError, AttributeError, ValueError, IndexError):
            raise QueryError("applies a step to a value of another type") from None
        return [value if isinstance(value, dict) else {"value": value} for value in traversal.flow]

    @staticmethod
    def resolve(argument: Any, params: Mapping[str, Any]) -> Any:
        """Return the value of a binding, or another argument unchanged. Raises QueryError for an unknown binding."""
        if not isinstance(argument, Binding):
            return argument
        if argument.name not in params:
            raise QueryError("uses a binding that is not given")
        return params[argument.name]


class FilterSteps:
    """Steps that keep some of a traversal's values."""

    flow: Flow

    def has_id(self, *ids: str) -> Flow:
        return self.select(self.flow, ids or ("",))

    def has_label(self, *labels: str) -> Flow:
        return [entity for entity in self.flow if set(labels) & set(labels_of(entity))]

    def has(self, *args: Any) -> Flow:
        """Keep the entities with a property: `has(key)`, `has(key, value)` or `has(label, key, value)`."""
        if len(args) == 3:
            return [entity for entity in self.has_label(args[0]) if is_same(member(entity, args[1]), args[2])]
        key, *wanted = args
        if not wanted:
            return [entity for entity in self.flow if key in entity.properties]
        return [entity for entity in self.flow if is_same(member(entity, key), wanted[0])]

    def dedup(self) -> Flow:
        return [value for i, value in enumerate(self.flow) if value not in self.flow[:i]]

    def limit(self, most: int) -> Flow:
        return self.flow[:most]

    def range(self, first: int, end: int) -> Flow:
        return self.flow[first : None if end < 0 else end]

    @staticmethod
    def select(entities: Iterable[Entity], ids: Sequence[str]) -> list[Entity]:
        return [entity for entity in entities if not ids or entity.id in ids]


class MapSteps:
    """Steps that replace each value of a traversal."""

    flow: Flow

    def values(self, *keys: str) -> Flow:
        return [entity.properties[key] for entity in self.flow for key in keys if key in entity.properties]

    def ids(self) -> Flow:
        return [entity.id for entity in self.flow]

    def labels(self) -> Flow:
        return [labels_of(entity)[0] for entity in self.flow]

    def value_maps(self, *keys: str) -> Flow:
        return [
            {key: value for key, value in entity.properties.items() if not keys or key in keys} for entity in self.flow
        ]

    def element_maps(self) -> Flow:
        return [{**entity.properties, "id": entity.id, "label": labels_of(entity)[0]} for entity in self.flow]

    def count(self) -> Flow:
        return [len(self.flow)]

    def inject(self, *values: Any) -> Flow:
        return [*self.flow, *values]

    def unfold(self) -> Flow:
        return [item for value in self.flow for item in (value if isinstance(value, list) else [value])]


class Traversal(FilterSteps, MapSteps):
    """A running traversal, with the values between two of its steps."""

    def __init__(self, graph: NamespaceGraph) -> None:
        self.graph = graph
        self.flow: Flow = []
        self.by: Callable[[Sequence[Any]], None] = self.skip_ordering

    def apply_step(self, name: str, args: Sequence[Any]) -> None:
        if name in VERTEX_STEPS:
            flow: Iterable[Any] = (
                self.graph.nodes[other] for _, other in self.adjacent_edges(VERTEX_STEPS[name], args)
            )
        elif name in EDGE_STEPS:
            flow = (edge for edge, _ in self.adjacent_edges(EDGE_STEPS[name], args))
        else:
            flow = getattr(self, STEPS[name])(*args)
        self.flow = list(flow)

    def adjacent_edges(self, direction: str, labels: Sequence[str]) -> Iterator[tuple[Edge, str]]:
        for node in self.flow:
            for edge, other in self.graph.neighbours(node.id, direction):
                if not labels or edge.label in labels:
                    yield edge, other

    def skip_ordering(self, _args: Sequence[Any]) -> None:
        raise QueryError("has nothing that by() belongs to")

    def vertices(self, *ids: str) -> Flow:
        return self.select(self.graph.nodes.values(), ids)

    def edges(self, *ids: str) -> Flow:
        return self.select(self.graph.edges.values(), ids)

    def targets(self) -> Flow:
        return [self.graph.nodes[edge.dst] for edge in self.flow]

    def sources(self) -> Flow:
        return [self.graph.nodes[edge.src] for edge in self.flow]

    def order(self) -> Flow:
        self.by = self.order_by
        return sorted(self.flow, key=sort_key)

    def order_by(self, args: Sequence[Any]) -> None:
        key, *direction = args
        self.flow.sort(key=lambda value: sort_key(member(value, key)), reverse=direction == ["desc"])

    def project(self, *names: str) -> Flow:
        """Begin to make a record with these names for each value. Each following `by` fills the next name."""
        entities, empty = list(self.flow), iter(names)

        def fill(args: Sequence[Any]) -> None:
            name = next(empty, None)
            if name is None:
                raise QueryError("has more by() than names")
            for row, entity in zip(self.flow, entities, strict=True):
                row[name] = member(entity, args[0])

        self.by = fill
        return [dict.fromkeys(names) for _ in entities]

    def modulate(self, *args: Any) -> Flow:
        self.by(args)
        return self.flow


def labels_of(entity: Entity) -> tuple[str, ...]:
    return (entity.labels or ("vertex",)) if isinstance(entity, Node) else (entity.label,)
