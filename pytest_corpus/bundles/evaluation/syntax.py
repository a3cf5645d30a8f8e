"""The allow-list of Python's syntax for expressions, checked as a whole before anything runs."""

import ast
from collections.abc import Iterable

from pytest_corpus.bundles.errors import suggestion
from pytest_corpus.bundles.evaluation.values import ALL_METHODS

LONGEST = 4_096
"""Characters of source."""

DEEPEST = 60
"""Levels of syntax."""

VARIABLES = ("output", "raw_output", "input", "expected", "metadata")

FUNCTIONS = frozenset(
    (
        *("len", "str", "int", "float", "bool", "list", "dict", "set", "tuple", "isinstance", "all", "any", "sum"),
        *("min", "max", "sorted", "abs", "round", "range", "enumerate", "zip", "reversed", "matches"),
    )
)

TYPES = {"str": str, "int": int, "float": float, "bool": bool, "list": list, "dict": dict, "set": set, "tuple": tuple}

_ALLOWED = (
    *(ast.Expression, ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.Compare, ast.IfExp, ast.Call, ast.Subscript, ast.Slice),
    *(ast.Constant, ast.Name, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.ListComp, ast.SetComp, ast.DictComp),
    *(ast.GeneratorExp, ast.comprehension, ast.keyword, ast.Attribute, ast.Load, ast.Store),
    *(ast.And, ast.Or, ast.Not, ast.UAdd, ast.USub, ast.Invert, ast.cmpop),
    *(ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow),
    *(ast.BitAnd, ast.BitOr, ast.BitXor, ast.LShift, ast.RShift),
)

_WORDS: dict[type[ast.AST], str] = {
    ast.Lambda: "a lambda",
    ast.NamedExpr: "an assignment with :=",
    ast.JoinedStr: "an f-string",
    ast.Starred: "a star",
    ast.MatMult: "the operator @",
    ast.Await: "await",
    ast.Yield: "yield",
    ast.YieldFrom: "yield",
}

Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


class ExpressionError(Exception):
    """An expression that is not offered; the end of a sentence."""


def parsed(source: str, variables: Iterable[str] = VARIABLES) -> ast.expr:
    """The syntax tree of an expression, all of which is allowed.

    Raises:
        ExpressionError: it is no expression, or holds something that is not offered.
    """
    if len(source.encode("utf-8", "surrogatepass")) > LONGEST:
        raise ExpressionError(f"is longer than {LONGEST:,} bytes")
    try:
        tree = ast.parse(source.strip(), mode="eval")
    except SyntaxError as error:
        raise ExpressionError(f"is not a valid expression: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError, OverflowError):
        raise ExpressionError("cannot be parsed") from None
    _check_nodes(tree)
    _Scope(variables).check(tree.body, frozenset())
    return tree.body


def _check_nodes(tree: ast.AST) -> None:
    waiting = [(tree, 0)]
    while waiting:
        node, depth = waiting.pop()
        if depth > DEEPEST:
            raise ExpressionError("is nested too deep")
        if not isinstance(node, _ALLOWED):
            raise ExpressionError(f"holds {_WORDS.get(type(node), type(node).__name__)}, which is not offered")
        if isinstance(node, ast.Constant):
            _check_constant(node.value)
        waiting += [(child, depth + 1) for child in ast.iter_child_nodes(node)]


def _check_constant(value: object) -> None:
    if value is not None and type(value) not in (bool, int, float, str):
        raise ExpressionError(f"holds a constant of type {type(value).__name__}, which is not offered")


class _Scope:
    """Looks up every name where it is used; what Python would find out only on the way is found out here."""

    def __init__(self, variables: Iterable[str]) -> None:
        self._variables = frozenset(variables)

    def check(self, node: ast.AST, own: frozenset[str]) -> None:
        if isinstance(node, ast.Name):
            self._name(node.id, own)
        elif isinstance(node, Comprehension):
            self._comprehension(node, own)
        elif isinstance(node, ast.Call):
            self._call(node, own)
        elif isinstance(node, ast.Attribute):
            raise ExpressionError(
                f"reads the attribute {node.attr!r}; only methods can be called, items are read by []"
            )
        elif isinstance(node, ast.Dict) and None in node.keys:
            raise ExpressionError("holds **, which is not offered")
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and _is_text(node.left):
            raise ExpressionError("holds % on text, which is not offered")
        else:
            self._children(node, own)

    def _children(self, node: ast.AST, own: frozenset[str]) -> None:
        for child in ast.iter_child_nodes(node):
            self.check(child, own)

    def _name(self, name: str, own: frozenset[str]) -> None:
        _check_name(name)
        if name in own or name in self._variables:
            return
        if name in FUNCTIONS:
            raise ExpressionError(f"uses {name!r} without calling it")
        raise ExpressionError(f"the name {name!r} is not known; {suggestion(name, {*self._variables, *FUNCTIONS})}")

    def _comprehension(self, node: Comprehension, own: frozenset[str]) -> None:
        inner = own
        for part in node.generators:
            if part.is_async:
                raise ExpressionError("holds async, which is not offered")
            self.check(part.iter, inner)
            inner |= _targets(part.target)
            for condition in part.ifs:
                self.check(condition, inner)
        for element in (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,):
            self.check(element, inner)

    def _call(self, node: ast.Call, own: frozenset[str]) -> None:
        function = node.func
        for keyword in node.keywords:
            if keyword.arg is None:
                raise ExpressionError("holds **, which is not offered")
            _check_name(keyword.arg)
        if isinstance(function, ast.Attribute):
            _check_name(function.attr)
            if function.attr not in ALL_METHODS:
                raise ExpressionError(f"the method {function.attr!r} is not offered; {_method(function.attr)}")
            self.check(function.value, own)
            self._arguments(node.args, node.keywords, own)
        elif isinstance(function, ast.Name):
            _check_name(function.id)
            if function.id not in FUNCTIONS or function.id in own:
                raise ExpressionError(
                    f"the function {function.id!r} is not offered; {suggestion(function.id, FUNCTIONS)}"
                )
            self._arguments(self._plain_arguments(function.id, node), node.keywords, own)
        else:
            raise ExpressionError("calls something that is neither a function nor a method")

    def _plain_arguments(self, name: str, node: ast.Call) -> list[ast.expr]:
        """The arguments but for the types of `isinstance`."""
        if name != "isinstance":
            return node.args
        if len(node.args) != 2 or node.keywords or types_of(node.args[1]) is None:
            raise ExpressionError(f"isinstance takes a value and of the types {', '.join(TYPES)} one or a tuple")
        return node.args[:1]

    def _arguments(self, arguments: list[ast.expr], keywords: list[ast.keyword], own: frozenset[str]) -> None:
        for argument in arguments:
            self.check(argument, own)
        for keyword in keywords:
            if keyword.arg == "key" and isinstance(keyword.value, ast.Name) and keyword.value.id in FUNCTIONS:
                continue
            self.check(keyword.value, own)


def types_of(node: ast.expr) -> tuple[type, ...] | None:
    """The types that the second argument of `isinstance` names; None where it names something else."""
    names = node.elts if isinstance(node, ast.Tuple) else [node]
    found = [TYPES.get(each.id) for each in names if isinstance(each, ast.Name)]
    known = tuple(each for each in found if each is not None)
    return known if len(known) == len(names) and known else None


def _targets(node: ast.expr) -> frozenset[str]:
    if isinstance(node, ast.Name):
        _check_name(node.id)
        if node.id in FUNCTIONS:
            raise ExpressionError(f"gives the name of the function {node.id!r} to something else")
        return frozenset((node.id,))
    if isinstance(node, ast.Tuple | ast.List):
        return frozenset().union(*map(_targets, node.elts))
    raise ExpressionError("assigns to something that is not a name")


def _check_name(name: str) -> None:
    if name.startswith("_"):
        raise ExpressionError(f"the name {name!r} begins with an underscore, which is not offered")


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _method(name: str) -> str:
    return suggestion(name, ALL_METHODS) if len(name) > 1 else "use a method of text, list or dict that changes nothing"
