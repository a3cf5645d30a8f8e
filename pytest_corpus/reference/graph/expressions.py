"""Expressions of Cypher for the reference adapter: parsed once, evaluated for each row."""

import operator
from collections.abc import Callable, Mapping
from typing import Any

from pytest_corpus.reference.graph.scanner import QueryError, QueryFeatureError, Scanner
from pytest_corpus.reference.graph.store import is_same

Scope = dict[str, Any]
"""The variables of a row by name, and the parameters by name with a leading `$`."""

Expression = Callable[[Scope], Any]

ORDERS: Mapping[str, Callable[[Any, Any], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}
FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "ID": lambda entity: entity.id,
    "ELEMENTID": lambda entity: entity.id,
    "LABELS": lambda node: list(node.labels),
    "TYPE": lambda edge: edge.label,
    "PROPERTIES": lambda entity: dict(entity.properties),
    "RANGE": lambda first, last: list(range(first, min(last, first + 10_000) + 1)),
    "SIZE": len,
    "COALESCE": lambda *values: next((value for value in values if value is not None), None),
}


class Expressions:
    """Parses expressions. `names` are the variables in scope; `counts` is True after a count was parsed."""

    scanner: Scanner
    names: set[str]
    counts = False

    # From the loosest binding to the closest

    def read_expression(self) -> Expression:
        left = self.read_conjunction()
        while self.scanner.skip_if_next("OR"):
            left = disjunction(left, self.read_conjunction())
        return left

    def read_conjunction(self) -> Expression:
        left = self.read_negation()
        while self.scanner.skip_if_next("AND"):
            left = conjunction(left, self.read_negation())
        return left

    def read_negation(self) -> Expression:
        if self.scanner.skip_if_next("NOT"):
            inner = self.read_negation()
            return lambda scope: inner(scope) is False
        return self.read_comparison()

    def read_comparison(self) -> Expression:
        left, scanner = self.read_sum(), self.scanner
        if scanner.skip_if_next("="):
            return equality(left, self.read_sum())
        if scanner.skip_if_next("<>"):
            alike = equality(left, self.read_sum())
            return lambda scope: not alike(scope)
        if scanner.skip_if_next("IN"):
            options = self.read_sum()
            return lambda scope: any(is_same(left(scope), option) for option in options(scope))
        if scanner.skip_if_next("IS", "NOT", "NULL"):
            return lambda scope: left(scope) is not None
        if scanner.skip_if_next("IS", "NULL"):
            return lambda scope: left(scope) is None
        for sign, order in ORDERS.items():
            if scanner.skip_if_next(sign):
                return order_comparison(order, left, self.read_sum())
        return left

    def read_sum(self) -> Expression:
        left = self.read_member()
        while self.scanner.sees("+") or self.scanner.sees("-"):
            sign = operator.add if self.scanner.next_token("sign")[1] == "+" else operator.sub
            left = binary_expression(sign, left, self.read_member())
        return left

    def read_member(self) -> Expression:
        value = self.read_primary()
        while self.scanner.skip_if_next("."):
            value = self.access_member(value, self.scanner.read_name())
        return value

    def access_member(self, value: Expression, key: str) -> Expression:
        return lambda scope: member(value(scope), key)

    def read_primary(self) -> Expression:
        scanner = self.scanner
        if scanner.skip_if_next("("):
            inner = self.read_expression()
            scanner.skip_required(")")
            return inner
        if scanner.skip_if_next("["):
            items = self.read_list("]")
            return lambda scope: [item(scope) for item in items]
        if scanner.skip_if_next("-"):
            negated = self.read_member()
            return lambda scope: -negated(scope)
        if scanner.kind == "parameter":
            return variable_value(scanner.next_token("parameter")[1])
        if scanner.kind != "name":
            return constant_value(scanner.literal())
        for word, constant in (("TRUE", True), ("FALSE", False), ("NULL", None)):
            if scanner.skip_if_next(word):
                return constant_value(constant)
        name = scanner.read_name()
        if scanner.skip_if_next("("):
            return self.read_function(name.upper())
        if name not in self.names:
            raise QueryError("uses an unknown name")
        return variable_value(name)

    def read_list(self, end: str) -> list[Expression]:
        items: list[Expression] = []
        while not self.scanner.skip_if_next(end):
            items.append(self.read_expression())
            if not self.scanner.skip_if_next(","):
                self.scanner.skip_required(end)
                break
        return items

    def read_function(self, name: str) -> Expression:
        if name == "COUNT":
            self.counts = True
            if self.scanner.skip_if_next("*"):
                self.scanner.skip_required(")")
                return lambda _: True
        elif name not in FUNCTIONS:
            raise QueryFeatureError("uses a function that is not offered")
        values = self.read_list(")")
        if name == "COUNT":
            return values[0]
        return lambda scope: FUNCTIONS[name](*(value(scope) for value in values))


def member(value: Any, key: str) -> Any:
    """Return a property, or null if it is absent. `id` is the entity's id unless a property has that name."""
    if value is None or isinstance(value, Mapping):
        return (value or {}).get(key)
    return value.properties.get(key, value.id if key == "id" else None)


def sort_key(value: Any) -> tuple[bool, str, Any]:
    """Return a key that sorts nulls last and values of one kind together."""
    if value is None:
        return True, "", 0
    if isinstance(value, (int, float)):
        return False, "number", value
    return False, type(value).__name__, value if isinstance(value, str) else repr(value)


def constant_value(value: Any) -> Expression:
    return lambda _: value


def variable_value(name: str) -> Expression:
    def value(scope: Scope) -> Any:
        if name not in scope:
            raise QueryError("uses a parameter that is not given")
        return scope[name]

    return value


def equality(left: Expression, right: Expression) -> Expression:
    return lambda scope: is_same(left(scope), right(scope))


def order_comparison(order: Callable[[Any, Any], bool], left: Expression, right: Expression) -> Expression:
    """Return an expression that compares two numbers or two strings; other values have no order."""

    def value(scope: Scope) -> bool:
        low, high = left(scope), right(scope)
        return (
            low is not None and high is not None and isinstance(low, str) == isinstance(high, str) and order(low, high)
        )

    return value


def disjunction(left: Expression, right: Expression) -> Expression:
    return lambda scope: left(scope) is True or right(scope) is True


def conjunction(left: Expression, right: Expression) -> Expression:
    return lambda scope: left(scope) is True and right(scope) is True


def binary_expression(sign: Callable[[Any, Any], Any], left: Expression, right: Expression) -> Expression:
    return lambda scope: sign(left(scope), right(scope))
