"""A reader of graphs: the part of Cypher that asks, MATCH, UNWIND, WHERE, RETURN, and the order and cut of rows.

A text is parsed whole before anything runs.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .authoring import same
from .graph_expressions import ELSEWHERE, PARAMETERS, WRITING, Aggregate, Expressions, Row, Value, Words
from .graph_values import Arc, Graph, UnofferedError, UnreadableError, Vertex, held, identity, rank

Step = Callable[[list[Row], Graph, Row], list[Row]]
"""From rows to rows; the last argument is the row of nothing but the parameters."""


@dataclass(frozen=True)
class Pattern:
    """The conditions of a node or relationship; `direction` is ``>``, ``<`` or none for either way."""

    name: str | None
    kinds: tuple[tuple[str, ...], ...]
    properties: Mapping[str, Value]
    direction: str = ""

    def fits(self, entity: Vertex | Arc, row: Row) -> bool:
        """Tell if an entity is like that, and the one that the name stands for already."""
        if self.name in row and identity(row[self.name]) != identity(entity):
            return False
        labels = entity.labels if isinstance(entity, Vertex) else (entity.label,)
        if not all(any(label in labels for label in either) for either in self.kinds):
            return False
        return all(same(held(entity, key), value(row)) for key, value in self.properties.items())

    def bound(self, entity: Vertex | Arc, row: Row) -> Row:
        """The row in which the name stands for the entity."""
        return row if self.name is None else {**row, self.name: entity}


def ends(arc: Arc, direction: str) -> Iterator[tuple[str, str]]:
    """The start and the end of a relationship, read in a direction."""
    if direction != "<":
        yield arc.src, arc.dst
    if direction != ">" and (direction == "<" or arc.src != arc.dst):
        yield arc.dst, arc.src


def walks(
    chain: Sequence[Pattern], row: Row, graph: Graph, used: frozenset[str]
) -> Iterator[tuple[Row, frozenset[str]]]:
    """Every way to lay a chain of patterns over a graph, none of which goes twice over one relationship."""
    for node in graph.nodes.values():
        if chain[0].fits(node, row):
            yield from onward(chain[1:], node.id, chain[0].bound(node, row), graph, used)


def onward(
    chain: Sequence[Pattern], at: str, row: Row, graph: Graph, used: frozenset[str]
) -> Iterator[tuple[Row, frozenset[str]]]:
    """Every way to go on from a node."""
    if not chain:
        yield row, used
        return
    link, node, *rest = chain
    for arc in graph.edges.values():
        if arc.id in used or not link.fits(arc, row):
            continue
        along = link.bound(arc, row)
        for start, end in ends(arc, link.direction):
            if start == at and node.fits(graph.nodes[end], along):
                reached = node.bound(graph.nodes[end], along)
                yield from onward(rest, end, reached, graph, used | {arc.id})


@dataclass(frozen=True)
class Cut:
    """The order and the limits of the rows of RETURN."""

    orders: tuple[tuple[Value, bool], ...]
    skip: Value | None
    limit: Value | None

    def of(self, pairs: list[tuple[Row, Row]], start: Row) -> list[Row]:
        """The new rows of pairs of an old row and a new one."""
        for value, descending in reversed(self.orders):
            pairs.sort(key=self._key(value), reverse=descending)
        first = self._whole(self.skip, start) or 0
        count = self._whole(self.limit, start)
        return [new for _, new in pairs[first : None if count is None else first + count]]

    @staticmethod
    def _key(value: Value) -> Callable[[tuple[Row, Row]], tuple[int, Any]]:
        return lambda pair: rank(value({**pair[0], **pair[1]}))

    @staticmethod
    def _whole(value: Value | None, start: Row) -> int | None:
        number = None if value is None else value(start)
        if value is not None and (not isinstance(number, int) or isinstance(number, bool) or number < 0):
            raise UnreadableError("SKIP and LIMIT take a whole number")
        return number


class Query:
    """A text that has been read.

    Raises:
        UnreadableError: it cannot be.
        UnofferedError: it asks for what is not served.
    """

    def __init__(self, text: str) -> None:
        self._words = Words(text)
        self._expressions = Expressions(self._words)
        self._steps: list[Step] = []
        while not self._words.keyword("RETURN"):
            self._clause()
        self._steps.append(self._return())
        self._words.sign(";")
        if self._words.peek()[0] != "end":
            raise UnreadableError("there is more than a query")

    def rows(self, graph: Graph, parameters: Mapping[str, Any]) -> list[Row]:
        """Return the rows of the query in a graph.

        Raises:
            UnreadableError: a value is none that an operator takes.
            UnboundError: a parameter is missing.
        """
        start: Row = {PARAMETERS: parameters}
        rows = [start]
        for step in self._steps:
            rows = step(rows, graph, start)
        return rows

    def _clause(self) -> None:
        if self._words.keyword("MATCH"):
            self._match()
        elif self._words.keyword("UNWIND"):
            self._unwind()
        elif self._words.peek()[1].upper() in (*WRITING, *ELSEWHERE):
            raise UnofferedError("a clause")
        else:
            raise UnreadableError("a clause is missing")

    def _match(self) -> None:
        chains = [self._chain()]
        while self._words.sign(","):
            chains.append(self._chain())

        def step(rows: list[Row], graph: Graph, _: Row) -> list[Row]:
            found: list[tuple[Row, frozenset[str]]] = [(row, frozenset()) for row in rows]
            for chain in chains:
                found = [way for row, used in found for way in walks(chain, row, graph, used)]
            return [row for row, _ in found]

        self._steps.append(step)
        if self._words.keyword("WHERE"):
            condition = self._expressions.expression()
            self._steps.append(lambda rows, *_: [row for row in rows if condition(row) is True])

    def _unwind(self) -> None:
        value = self._expressions.expression()
        if not self._words.keyword("AS"):
            raise UnreadableError("UNWIND takes AS")
        name = self._words.name()

        def step(rows: list[Row], graph: Graph, _: Row) -> list[Row]:
            lists = ((row, value(row)) for row in rows)
            return [
                {**row, name: each}
                for row, items in lists
                if items is not None
                for each in (items if isinstance(items, (list, tuple)) else [items])
            ]

        self._steps.append(step)

    # -- patterns

    def _chain(self) -> list[Pattern]:
        chain = [self._node()]
        while self._words.peek() in (("sign", "-"), ("sign", "<")):
            chain += [self._link(), self._node()]
        return chain

    def _node(self) -> Pattern:
        self._words.need("(")
        pattern = self._inside("")
        self._words.need(")")
        return pattern

    def _link(self) -> Pattern:
        words = self._words
        backward = words.sign("<") is not None
        words.need("-")
        pattern = Pattern(None, (), {})
        if words.sign("["):
            pattern = self._inside("")
            words.need("]")
        words.need("-")
        forward = words.sign(">") is not None
        direction = "" if backward is forward else "<" if backward else ">"
        return Pattern(pattern.name, pattern.kinds, pattern.properties, direction)

    def _inside(self, direction: str) -> Pattern:
        words, kinds = self._words, []
        name = words.name() if words.has_name() else None
        while words.sign(":"):
            either = [words.name()]
            while words.sign("|"):
                words.sign(":")
                either.append(words.name())
            kinds.append(tuple(either))
        if words.sign("*"):
            raise UnofferedError("a path of any length")
        return Pattern(name, tuple(kinds), self._expressions.pairs(), direction)

    # -- results

    def _return(self) -> Step:
        words = self._words
        distinct = words.keyword("DISTINCT")
        items: list[tuple[str, Value | Aggregate]] = []
        everything = words.sign("*") is not None
        while not everything and (not items or words.sign(",")):
            at = words.at
            item = self._expressions.item()
            written = words.since(at)
            items.append((words.name() if words.keyword("AS") else written, item))
        cut = Cut(self._orders(), self._after("SKIP"), self._after("LIMIT"))

        def step(rows: list[Row], _: Graph, start: Row) -> list[Row]:
            pairs = [(row, without_parameters(row)) for row in rows] if everything else projected(rows, items)
            if distinct:
                pairs = list(
                    {str([identity(value) for value in new.values()]): (old, new) for old, new in pairs}.values()
                )
            return cut.of(pairs, start)

        return step

    def _orders(self) -> tuple[tuple[Value, bool], ...]:
        orders: list[tuple[Value, bool]] = []
        if self._words.keyword("ORDER", "BY"):
            while not orders or self._words.sign(","):
                value = self._expressions.expression()
                descending = self._words.keyword("DESC") or self._words.keyword("DESCENDING")
                if not descending and not self._words.keyword("ASC"):
                    self._words.keyword("ASCENDING")
                orders.append((value, descending))
        return tuple(orders)

    def _after(self, keyword: str) -> Value | None:
        return self._expressions.expression() if self._words.keyword(keyword) else None


def without_parameters(row: Row) -> Row:
    """The variables of a row."""
    return {name: value for name, value in row.items() if name != PARAMETERS}


def projected(rows: list[Row], items: Sequence[tuple[str, Value | Aggregate]]) -> list[tuple[Row, Row]]:
    """Each old row with its new one, or each group of old rows with one new one."""
    plain = {name: item for name, item in items if not isinstance(item, Aggregate)}
    if len(plain) == len(items):
        return [(row, {name: value(row) for name, value in plain.items()}) for row in rows]
    groups: dict[str, list[Row]] = {} if plain else {"": list(rows)}
    for row in rows if plain else ():
        groups.setdefault(str([identity(value(row)) for value in plain.values()]), []).append(row)
    return [
        (
            group[0] if group else {},
            {name: item.over(group) if isinstance(item, Aggregate) else item(group[0]) for name, item in items},
        )
        for group in groups.values()
    ]
