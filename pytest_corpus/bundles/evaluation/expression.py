"""Invariants, which are expressions that must be true: parse, evaluate, and explain a false result."""

import ast
import contextlib
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pytest_corpus.bundles.evaluation import values
from pytest_corpus.bundles.evaluation.functions import call_allowed
from pytest_corpus.bundles.evaluation.syntax import Comprehension, parse_expression, parse_types
from pytest_corpus.bundles.evaluation.values import (
    SIZE_OF_A_STEP,
    BudgetError,
    OperationError,
    StepBudget,
    run_builtin,
    size_of,
)

Names = Mapping[str, Any]

_BINARY: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}

_UNARY: Mapping[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.Not: operator.not_,
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Invert: operator.invert,
}

_COMPARE: Mapping[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda left, right: left in right,
    ast.NotIn: lambda left, right: left not in right,
}


class Interpreter:
    """One evaluation of an expression.

    Args:
        budget: the limits of the evaluation.
        seen: if given, a list to which each part of the expression is appended with its value.
    """

    def __init__(self, budget: StepBudget, seen: list[tuple[ast.expr, Any]] | None = None) -> None:
        self._budget, self._seen = budget, seen

    def value(self, node: ast.expr, names: Names) -> Any:
        """Evaluate a part of an expression. Raises OperationError or BudgetError."""
        self._budget.spend()
        found: Any = getattr(self, f"_{type(node).__name__.lower()}")(node, names)
        if self._seen is not None:
            self._seen.append((node, found))
        return found

    def _constant(self, node: ast.Constant, _names: Names) -> Any:
        return self._budget.check_size(node.value)

    def _name(self, node: ast.Name, names: Names) -> Any:
        if node.id in names:
            return names[node.id]
        return lambda *items: call_allowed(self._budget, node.id, list(items), {})

    def _boolop(self, node: ast.BoolOp, names: Names) -> Any:
        ends = isinstance(node.op, ast.Or)
        found: Any = None
        for part in node.values:
            found = self.value(part, names)
            if bool(found) == ends:
                break
        return found

    def _unaryop(self, node: ast.UnaryOp, names: Names) -> Any:
        return self._budget.check_size(run_builtin(_UNARY[type(node.op)], self.value(node.operand, names)))

    def _binop(self, node: ast.BinOp, names: Names) -> Any:
        left = self.value(node.left, names)
        return values.apply_operator(self._budget, _BINARY[type(node.op)], left, self.value(node.right, names))

    def _compare(self, node: ast.Compare, names: Names) -> Any:
        left = self.value(node.left, names)
        found: Any = True
        for how, part in zip(node.ops, node.comparators, strict=True):
            right = self.value(part, names)
            for side in (left, right):
                if isinstance(side, str | list | tuple | dict | set | range):
                    self._budget.spend(size_of(side) // SIZE_OF_A_STEP)
            if isinstance(how, ast.In | ast.NotIn) and isinstance(right, Iterator):
                right = values.collect(self._budget, right)
            found = run_builtin(_COMPARE[type(how)], left, right)
            if not found:
                break
            left = right
        return found

    def _ifexp(self, node: ast.IfExp, names: Names) -> Any:
        return self.value(node.body if self.value(node.test, names) else node.orelse, names)

    def _subscript(self, node: ast.Subscript, names: Names) -> Any:
        found = self.value(node.value, names)
        if isinstance(node.slice, ast.Slice):
            parts = (node.slice.lower, node.slice.upper, node.slice.step)
            ends = [None if part is None else self.value(part, names) for part in parts]
            return self._budget.check_size(run_builtin(operator.getitem, found, slice(*ends)))
        return run_builtin(operator.getitem, found, self.value(node.slice, names))

    def _list(self, node: ast.List, names: Names) -> Any:
        return self._budget.check_size([self.value(item, names) for item in node.elts])

    def _tuple(self, node: ast.Tuple, names: Names) -> Any:
        return self._budget.check_size(tuple(self.value(item, names) for item in node.elts))

    def _set(self, node: ast.Set, names: Names) -> Any:
        return self._budget.check_size(run_builtin(set, [self.value(item, names) for item in node.elts]))

    def _dict(self, node: ast.Dict, names: Names) -> Any:
        pairs = [
            (self.value(key, names), self.value(item, names))
            for key, item in zip(node.keys, node.values, strict=True)
            if key is not None
        ]
        return self._budget.check_size(run_builtin(dict, pairs))

    def _listcomp(self, node: ast.ListComp, names: Names) -> Any:
        return self._budget.check_size([self.value(node.elt, inner) for inner in self._iterate(node, names)])

    def _setcomp(self, node: ast.SetComp, names: Names) -> Any:
        found: set[Any] = set()
        for inner in self._iterate(node, names):
            run_builtin(found.add, self.value(node.elt, inner))
        return self._budget.check_size(found)

    def _dictcomp(self, node: ast.DictComp, names: Names) -> Any:
        found: dict[Any, Any] = {}
        for inner in self._iterate(node, names):
            key = self.value(node.key, inner)
            run_builtin(found.__setitem__, key, self.value(node.value, inner))
        return self._budget.check_size(found)

    def _generatorexp(self, node: ast.GeneratorExp, names: Names) -> Iterator[Any]:
        return (self.value(node.elt, inner) for inner in self._iterate(node, names))

    def _iterate(self, node: Comprehension, names: Names) -> Iterator[Names]:
        """Yield the variables for each round of a comprehension. The first iterable is evaluated now, as in Python."""
        first = run_builtin(iter, self.value(node.generators[0].iter, names))
        return self._loop(node.generators, 0, first, dict(names))

    def _loop(
        self, generators: list[ast.comprehension], at: int, items: Iterator[Any], names: dict[str, Any]
    ) -> Iterator[Names]:
        part = generators[at]
        for item in self._budget.each(items):
            self._bind(part.target, item, names)
            if not all(self.value(condition, names) for condition in part.ifs):
                continue
            if at + 1 == len(generators):
                yield names
                continue
            inner = run_builtin(iter, self.value(generators[at + 1].iter, names))
            yield from self._loop(generators, at + 1, inner, names)

    def _bind(self, target: ast.expr, item: Any, names: dict[str, Any]) -> None:
        if isinstance(target, ast.Name):
            names[target.id] = item
            return
        assert isinstance(target, ast.Tuple | ast.List)
        parts = values.collect(self._budget, item)
        if len(parts) != len(target.elts):
            raise OperationError(f"ValueError: {len(parts)} values for {len(target.elts)} names")
        for each, part in zip(target.elts, parts, strict=True):
            self._bind(each, part, names)

    def _call(self, node: ast.Call, names: Names) -> Any:
        function = node.func
        if isinstance(function, ast.Attribute):
            owner = self.value(function.value, names)
            arguments, keywords = self._arguments(node, names)
            return values.call_method(self._budget, owner, function.attr, arguments, keywords)
        assert isinstance(function, ast.Name)
        if function.id == "isinstance":
            return isinstance(self.value(node.args[0], names), parse_types(node.args[1]) or ())
        arguments, keywords = self._arguments(node, names)
        return call_allowed(self._budget, function.id, arguments, keywords)

    def _arguments(self, node: ast.Call, names: Names) -> tuple[list[Any], dict[str, Any]]:
        arguments = [self.value(argument, names) for argument in node.args]
        keywords = {}
        for keyword in node.keywords:
            assert keyword.arg is not None
            keywords[keyword.arg] = self.value(keyword.value, names)
        return arguments, keywords

    def _lambda(self, node: ast.Lambda, names: Names) -> Callable[..., Any]:
        """Return a function for a lambda. Values inside it are not recorded, because they differ for each item."""

        def call_lambda(*items: Any) -> Any:
            if len(items) != len(node.args.args):
                raise OperationError(f"TypeError: a lambda takes {len(node.args.args)} values, not {len(items)}")
            inner = dict(names)
            inner.update(zip((each.arg for each in node.args.args), items, strict=True))
            return Interpreter(self._budget).value(node.body, inner)

        return call_lambda

    def _joinedstr(self, node: ast.JoinedStr, names: Names) -> str:
        size, parts, quiet = 0, [], Interpreter(self._budget)
        for part in node.values:
            parts.append(str(quiet.value(part, names)))
            size += len(parts[-1])
            self._budget.reserve(size)
        return "".join(parts)

    def _formattedvalue(self, node: ast.FormattedValue, names: Names) -> str:
        spec = "" if node.format_spec is None else self.value(node.format_spec, names)
        return values.format_value(self._budget, self.value(node.value, names), node.conversion, spec)


MOST_PARTS = 8
LONGEST_VALUE = 200


def is_size(source: str) -> bool:
    """True if a part of an expression is a length, such as ``len(output['items'])``, which reveals no content."""
    try:
        node = ast.parse(source.strip(), mode="eval").body
    except SyntaxError:  # some parts are not complete expressions
        return False
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len"


@dataclass(frozen=True)
class InvariantVerdict:
    """The verdict of an invariant on an answer.

    Attributes:
        holds: True if the invariant is true.
        error: the reason why it cannot be evaluated; otherwise empty.
        note: a remark about an unusual type of the invariant's value; may be empty.
        parts: if the invariant is false, the source and the value of each part of the expression.
    """

    holds: bool
    error: str = ""
    note: str = ""
    parts: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True)
class Expression:
    """An expression in the allowed subset of Python's syntax."""

    source: str

    @cached_property
    def tree(self) -> ast.expr:
        """The syntax tree of the expression. Raises ExpressionError if the expression is not allowed."""
        return parse_expression(self.source)

    def value(self, names: Mapping[str, Any]) -> Any:
        """Evaluate the expression. Raises OperationError or BudgetError."""
        return Interpreter(StepBudget()).value(self.tree, names)

    def judge(self, names: Mapping[str, Any]) -> InvariantVerdict:
        """Evaluate the expression. It holds if its value is true in Python's sense, whatever its type (R81)."""
        try:
            found = self.value(names)
        except (OperationError, BudgetError) as error:
            return InvariantVerdict(False, error=str(error), parts=self._part_values(names))
        except RecursionError:
            return InvariantVerdict(False, error="the values are nested too deep")
        kind = type(found).__name__
        note = (
            "" if isinstance(found, bool) else f"its value is not a boolean but a {kind}, which counts as {bool(found)}"
        )
        return InvariantVerdict(bool(found), note=note, parts=() if found else self._part_values(names))

    def _part_values(self, names: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
        """Return the source and value of each part, innermost first. Leave out constants and the whole expression."""
        seen: list[tuple[ast.expr, Any]] = []
        with contextlib.suppress(OperationError, BudgetError, RecursionError):
            Interpreter(StepBudget(), seen).value(self.tree, names)
        found: dict[str, Any] = {}
        for node, value in seen:
            if isinstance(node, ast.Constant) or node is self.tree or hasattr(value, "__next__"):
                continue
            said = ast.get_source_segment(self.source.strip(), node)
            if said and said not in ("raw_output", "output", "input", "metadata"):
                found.setdefault(said, value)
        return tuple(found.items())[:MOST_PARTS]
