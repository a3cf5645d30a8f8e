"""A Cypher interpreter for the reference adapter: MATCH, UNWIND, WHERE and RETURN, as in openCypher and GQL.

A text is parsed completely before it runs. Parameters are looked up at run time and never parsed as text.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_corpus.reference.graph.expressions import Expression, Expressions, Scope, member, sort_key
from pytest_corpus.reference.graph.scanner import QueryError, QueryFeatureError, Row, ScannedQuery, Scanner
from pytest_corpus.reference.graph.store import Edge, Entity, NamespaceGraph, Node, is_same

Clause = Callable[[NamespaceGraph, list[Scope]], list[Scope]]

NOT_OFFERED = ("CALL", "CREATE", "DELETE", "DETACH", "DROP", "INSERT", "LOAD", "MERGE", "OPTIONAL", "REMOVE", "SET")


@dataclass(slots=True)
class QueryPart:
    """A node or a relationship in the pattern of a MATCH."""

    name: str | None = None
    labels: list[str] = field(default_factory=list)
    properties: dict[str, Expression] = field(default_factory=dict)
    direction: str = "BOTH"

    def fits(self, entity: Entity, scope: Scope) -> bool:
        """True if an entity has this part's labels and properties, and this part is not bound to another entity."""
        known = scope.get(self.name or "")
        if isinstance(known, (Node, Edge)) and known != entity:
            return False
        if isinstance(entity, Node):
            labelled = set(self.labels) <= set(entity.labels)
        else:
            labelled = not self.labels or entity.label in self.labels
        return labelled and all(is_same(member(entity, key), value(scope)) for key, value in self.properties.items())

    def bind(self, entity: Entity, scope: Scope) -> Scope:
        return {**scope, self.name: entity} if self.name else scope


@dataclass(frozen=True, slots=True)
class Column:
    """An item of RETURN. `counts` is True if it is an aggregate over all rows of a group."""

    name: str
    value: Expression
    counts: bool


class Cypher(Expressions, ScannedQuery):
    """A parsed query."""

    def __init__(self, text: str) -> None:
        self.scanner = Scanner(text)
        self.names: set[str] = set()
        self.clauses: list[Clause] = []
        while not self.scanner.skip_if_next("RETURN"):
            self.clauses.extend(self.read_clause())
        self.clauses.append(self.read_return())
        self.scanner.skip_if_next(";")
        self.scanner.next_token("end")

    def run(self, graph: NamespaceGraph, params: Mapping[str, Any]) -> list[Row]:
        scopes: list[Scope] = [{f"${name}": value for name, value in params.items()}]
        try:
            for clause in self.clauses:
                scopes = clause(graph, scopes)
        except (TypeError, AttributeError, ValueError):
            raise QueryError("applies an operation to a value of another type") from None
        return scopes

    # Clauses

    def read_clause(self) -> Iterator[Clause]:
        scanner = self.scanner
        if scanner.skip_if_next("MATCH"):
            yield self.match_clause(self.read_pattern())
            while scanner.skip_if_next(","):
                yield self.match_clause(self.read_pattern())
        elif scanner.skip_if_next("UNWIND"):
            value = self.read_expression()
            scanner.skip_required("AS")
            yield self.unwind_clause(value, self.read_variable())
        elif scanner.skip_if_next("WHERE"):
            yield self.where_clause(self.read_expression())
        elif any(map(scanner.sees, NOT_OFFERED)):
            raise QueryFeatureError("uses a clause that is not offered")
        else:
            raise QueryError("lacks a clause")

    def match_clause(self, pattern: list[QueryPart]) -> Clause:
        return lambda graph, scopes: [found for scope in scopes for found in walk(graph, pattern, scope)]

    def unwind_clause(self, value: Expression, name: str) -> Clause:
        return lambda _, scopes: [{**scope, name: item} for scope in scopes for item in value(scope) or []]

    def where_clause(self, condition: Expression) -> Clause:
        return lambda _, scopes: [scope for scope in scopes if condition(scope) is True]

    def read_return(self) -> Clause:
        scanner = self.scanner
        distinct = scanner.skip_if_next("DISTINCT")
        columns = [self.read_column()]
        while scanner.skip_if_next(","):
            columns.append(self.read_column())
        self.names |= {column.name for column in columns}
        order: list[tuple[Expression, bool]] = []
        while scanner.skip_if_next(*(["ORDER", "BY"] if not order else [","])):
            value = self.read_expression()
            order.append((value, scanner.skip_if_next("DESC")))
            scanner.skip_if_next("ASC")
        first = (
            self.read_expression() if scanner.skip_if_next("SKIP") or scanner.skip_if_next("OFFSET") else lambda _: 0
        )
        most = self.read_expression() if scanner.skip_if_next("LIMIT") else lambda _: None

        def project(_: NamespaceGraph, scopes: list[Scope]) -> list[Scope]:
            pairs = project_columns(columns, scopes)
            if distinct:
                pairs = [pair for i, pair in enumerate(pairs) if pair[1] not in [row for _, row in pairs[:i]]]
            for value, descending in reversed(order):
                pairs.sort(key=lambda pair: sort_key(value({**pair[0], **pair[1]})), reverse=descending)
            start, length = first(self.parameters(scopes)), most(self.parameters(scopes))
            return [row for _, row in pairs[start : None if length is None else start + length]]

        return project

    @staticmethod
    def parameters(scopes: list[Scope]) -> Scope:
        return scopes[0] if scopes else {}

    def read_column(self) -> Column:
        start, self.counts = self.scanner.position, False
        value = self.read_expression()
        text = "".join(text for _, text in self.scanner.tokens[start : self.scanner.position])
        return Column(self.scanner.read_name() if self.scanner.skip_if_next("AS") else text, value, self.counts)

    # Patterns

    def read_pattern(self) -> list[QueryPart]:
        """Parse a node, followed by any number of relationships, each with a node."""
        parts = [self.read_node()]
        while self.scanner.sees("-") or self.scanner.sees("<"):
            parts += [self.read_relationship(), self.read_node()]
        return parts

    def read_node(self) -> QueryPart:
        self.scanner.skip_required("(")
        part = self.read_part()
        self.scanner.skip_required(")")
        return part

    def read_relationship(self) -> QueryPart:
        backwards = self.scanner.skip_if_next("<")
        self.scanner.skip_required("-")
        part = QueryPart()
        if self.scanner.skip_if_next("["):
            part = self.read_part()
            self.scanner.skip_required("]")
        self.scanner.skip_required("-")
        forwards = self.scanner.skip_if_next(">")
        if backwards != forwards:
            part.direction = "INCOMING" if backwards else "OUTGOING"
        return part

    def read_part(self) -> QueryPart:
        part = QueryPart(self.read_variable() if self.scanner.kind == "name" else None)
        while self.scanner.skip_if_next(":") or (part.labels and self.scanner.skip_if_next("|")):
            part.labels.append(self.scanner.read_name())
        if self.scanner.skip_if_next("{"):
            while not self.scanner.skip_if_next("}"):
                key = self.scanner.read_name()
                self.scanner.skip_required(":")
                part.properties[key] = self.read_expression()
                if not self.scanner.skip_if_next(","):
                    self.scanner.skip_required("}")
                    break
        return part

    def read_variable(self) -> str:
        name = self.scanner.read_name()
        self.names.add(name)
        return name


def walk(graph: NamespaceGraph, pattern: Sequence[QueryPart], scope: Scope) -> Iterator[Scope]:
    """Yield the variables of every match of a pattern in a graph."""
    for node in graph.nodes.values():
        if pattern[0].fits(node, scope):
            yield from follow(graph, pattern[1:], node, pattern[0].bind(node, scope), frozenset())


def follow(
    graph: NamespaceGraph, rest: Sequence[QueryPart], node: Node, scope: Scope, used: frozenset[str]
) -> Iterator[Scope]:
    """Yield the matches of the rest of a pattern from a node on, without using a relationship twice."""
    if not rest:
        yield scope
        return
    relationship, target = rest[:2]
    for edge, other in graph.neighbours(node.id, relationship.direction):
        if edge.id in used or not relationship.fits(edge, scope):
            continue
        there, found = graph.nodes[other], relationship.bind(edge, scope)
        if target.fits(there, found):
            yield from follow(graph, rest[2:], there, target.bind(there, found), used | {edge.id})


def project_columns(columns: Sequence[Column], scopes: list[Scope]) -> list[tuple[Scope, Row]]:
    """Return the rows, each with its scope. With a count, rows that agree in the other columns become one row."""
    pairs = [(scope, {column.name: column.value(scope) for column in columns}) for scope in scopes]
    counts = [column.name for column in columns if column.counts]
    if not counts:
        return pairs
    plain = [column.name for column in columns if not column.counts]
    groups: list[Row] = [] if plain else [dict.fromkeys(counts, 0)]
    for _, row in pairs:
        group = next((group for group in groups if all(group[name] == row[name] for name in plain)), None)
        if group is None:
            group = {**row, **dict.fromkeys(counts, 0)}
            groups.append(group)
        group.update({name: group[name] + (row[name] is not None) for name in counts})
    return [({}, {column.name: group[column.name] for column in columns}) for group in groups]
