"""The values of queries: nodes, relationships and JSON, how they compare, and what can be made of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .authoring import same


class UnreadableError(Exception):
    """The text is not of the language, or asks for what makes no sense."""


class UnofferedError(Exception):
    """The text is of the language, but of a part that is not served."""


class UnboundError(Exception):
    """The text names a parameter that was not given."""


# -- graphs ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Vertex:
    """A node."""

    id: str
    labels: tuple[str, ...]
    properties: Mapping[str, Any]


@dataclass(frozen=True)
class Arc:
    """A relationship from `src` to `dst`."""

    id: str
    src: str
    dst: str
    label: str
    properties: Mapping[str, Any]


@dataclass
class Graph:
    """Nodes and relationships by id."""

    nodes: dict[str, Vertex] = field(default_factory=dict)
    edges: dict[str, Arc] = field(default_factory=dict)

    def copy(self) -> Graph:
        """One that can be changed without changing this."""
        return Graph(dict(self.nodes), dict(self.edges))


def identity(value: Any) -> Any:
    """The key of a value: equal for the same entity or value."""
    if isinstance(value, (Vertex, Arc)):
        return type(value).__name__, value.id
    return type(value).__name__, repr(value)


def rank(value: Any) -> tuple[int, Any]:
    """The sort key of a value: null comes last, and types do not mix."""
    if isinstance(value, bool):
        return 1, value
    if isinstance(value, (int, float)):
        return 2, value
    if isinstance(value, str):
        return 0, value
    return (9, 0) if value is None else (3, repr(value))


# -- operators and functions ------------------------------------------------------------------------------


def compared(sign: str, one: Any, other: Any) -> bool | None:
    """A comparison; unknown where a side is, or where sides have no common order."""
    if one is None or other is None:
        return None
    if sign in ("=", "<>"):
        return same(one, other) is (sign == "=")
    (kind, left), (other_kind, right) = rank(one), rank(other)
    if kind != other_kind:
        return None
    return bool({"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[sign])


def calculated(sign: str, one: Any, other: Any) -> Any:
    """A sum, difference, product, quotient or remainder."""
    if one is None or other is None:
        return None
    try:
        if sign == "+":
            return one + other
        if sign == "-":
            return one - other
        if sign == "*":
            return one * other
        if sign == "%":
            return one % other
        whole = isinstance(one, int) and isinstance(other, int)
        return int(one / other) if whole else one / other
    except (TypeError, ArithmeticError):
        raise UnreadableError("an operand does not fit") from None


def held(value: Any, key: str) -> Any:
    """A property; `id` is an entity's own where it has no property of that name."""
    if value is None or isinstance(value, Mapping):
        return None if value is None else value.get(key)
    if not isinstance(value, (Vertex, Arc)):
        raise UnreadableError("only nodes, relationships and maps have properties")
    return value.properties.get(key, value.id if key == "id" else None)


def found_in(one: Any, many: Any) -> bool | None:
    """Tell if a list holds a value."""
    if one is None or many is None:
        return None
    if not isinstance(many, (list, tuple)):
        raise UnreadableError("IN takes a list")
    return any(same(one, each) for each in many if each is not None)


def within(test: Callable[[str, str], bool], one: Any, other: Any) -> bool | None:
    """A test of texts; unknown where a side is none."""
    return test(one, other) if isinstance(one, str) and isinstance(other, str) else None


def both(one: Any, other: Any) -> bool | None:
    """AND, where the one or the other may be unknown."""
    if one is False or other is False:
        return False
    return None if one is None or other is None else True


def negated(value: Any) -> bool | None:
    """NOT."""
    return None if value is None else not value


FUNCTIONS: Mapping[str, Callable[[Any], Any]] = {
    "id": lambda value: getattr(value, "id", None),
    "elementid": lambda value: getattr(value, "id", None),
    "labels": lambda value: list(value.labels),
    "type": lambda value: value.label,
    "properties": lambda value: dict(getattr(value, "properties", value)),
    "keys": lambda value: sorted(getattr(value, "properties", value)),
    "size": len,
    "tolower": str.lower,
    "toupper": str.upper,
    "abs": abs,
}
AGGREGATES: Mapping[str, Callable[[list[Any]], Any]] = {
    "count": len,
    "collect": list,
    "sum": sum,
    "min": lambda values: min(values, key=rank, default=None),
    "max": lambda values: max(values, key=rank, default=None),
    "avg": lambda values: sum(values) / len(values) if values else None,
}
