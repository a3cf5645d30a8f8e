"""The allow-list of Python syntax for expressions. An expression is checked completely before any part of it runs."""

import ast

from pytest_corpus.bundles.errors import suggestion
from pytest_corpus.bundles.evaluation import functions
from pytest_corpus.bundles.evaluation.values import ALL_METHODS

LONGEST = 4_096
"""The largest length of an expression, in bytes."""

DEEPEST = 60
"""The largest depth of an expression's syntax tree."""

VARIABLES = ("output", "raw_output", "input", "expected", "metadata")

FUNCTIONS = frozenset((*functions.FUNCTIONS, "isinstance"))

TYPES = {"str": str, "int": int, "float": float, "bool": bool, "list": list, "dict": dict, "set": set, "tuple": tuple}

_ALLOWED = (
    *(ast.Expression, ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.Compare, ast.IfExp, ast.Call, ast.Subscript, ast.Slice),
    *(ast.Constant, ast.Name, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.ListComp, ast.SetComp, ast.DictComp),
    *(ast.GeneratorExp, ast.comprehension, ast.keyword, ast.Attribute, ast.Load, ast.Store),
    *(ast.JoinedStr, ast.FormattedValue, ast.Lambda, ast.arguments, ast.arg),
    *(ast.And, ast.Or, ast.Not, ast.UAdd, ast.USub, ast.Invert, ast.cmpop),
    *(ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow),
    *(ast.BitAnd, ast.BitOr, ast.BitXor, ast.LShift, ast.RShift),
)

_WORDS: dict[type[ast.AST], str] = {
    ast.NamedExpr: "an assignment with :=",
    ast.Starred: "a star",
    ast.MatMult: "the operator @",
    ast.Await: "await",
    ast.Yield: "yield",
    ast.YieldFrom: "yield",
}

Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


class ExpressionError(Exception):
    """An expression that is not allowed. The message is the end of a sentence."""


def parse_expression(source: str) -> ast.expr:
    """Parse an expression. Raises ExpressionError if it contains something that is not allowed."""
    if len(source.encode("utf-8", "surrogatepass")) > LONGEST:
        raise ExpressionError(f"is longer than {LONGEST:,} bytes")
    try:
        tree = ast.parse(source.strip(), mode="eval")
    except SyntaxError as error:
        raise ExpressionError(f"is not a valid expression: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError, OverflowError):
        raise ExpressionError("cannot be parsed") from None
    waiting: list[tuple[ast.AST, int]] = [(tree, 0)]
    while waiting:
        node, depth = waiting.pop()
        if depth > DEEPEST:
            raise ExpressionError("is nested too deep")
        if not isinstance(node, _ALLOWED):
            raise ExpressionError(f"holds {_WORDS.get(type(node), type(node).__name__)}, which is not offered")
        if isinstance(node, ast.Constant) and type(node.value) not in (bool, int, float, str, type(None)):
            raise ExpressionError(f"holds a constant of type {type(node.value).__name__}, which is not offered")
        waiting += [(child, depth + 1) for child in ast.iter_child_nodes(node)]
    _check_names(tree.body, frozenset(VARIABLES))
    return tree.body


def _check_names(node: ast.AST, names: frozenset[str]) -> None:
    """Check that every name is known, also in branches that are not evaluated."""
    match node:
        case ast.Name():
            _check_variable(node.id, names)
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            _check_comprehension(node, names)
        case ast.Call():
            _check_call(node, names)
        case ast.Attribute():
            raise ExpressionError(
                f"reads the attribute {node.attr!r}; only methods can be called, items are read by []"
            )
        case ast.Dict() if None in node.keys:
            raise ExpressionError("holds **, which is not offered")
        case ast.Lambda():
            raise ExpressionError("holds a lambda that is not the function of map, filter, min, max or sorted")
        case _:
            for child in ast.iter_child_nodes(node):
                _check_names(child, names)


def _check_variable(name: str, names: frozenset[str]) -> None:
    _check_spelling(name)
    if name in names:
        return
    if name in FUNCTIONS:
        raise ExpressionError(f"uses {name!r} without calling it")
    raise ExpressionError(f"the name {name!r} is not known; {suggestion(name, {*VARIABLES, *FUNCTIONS})}")


def _check_comprehension(node: Comprehension, names: frozenset[str]) -> None:
    for part in node.generators:
        if part.is_async:
            raise ExpressionError("holds async, which is not offered")
        _check_names(part.iter, names)
        names |= _assigned_names(part.target)
        for condition in part.ifs:
            _check_names(condition, names)
    for element in (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,):
        _check_names(element, names)


def _check_call(node: ast.Call, names: frozenset[str]) -> None:
    for keyword in node.keywords:
        if keyword.arg is None:
            raise ExpressionError("holds **, which is not offered")
        _check_spelling(keyword.arg)
    arguments = _allowed_arguments(node, names)
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    keys = [keyword.value for keyword in node.keywords if keyword.arg == "key"]
    called = {**dict.fromkeys(("map", "filter"), arguments[:1]), **dict.fromkeys(("min", "max", "sorted"), keys)}
    for part in (*arguments, *(keyword.value for keyword in node.keywords)):
        if part in called.get(name, ()):
            _check_function(name, part, names)
        else:
            _check_names(part, names)


def _allowed_arguments(node: ast.Call, names: frozenset[str]) -> list[ast.expr]:
    """Check that the called function or method is allowed; return the arguments, without the types of `isinstance`."""
    arguments, function = node.args, node.func
    if isinstance(function, ast.Attribute):
        name = function.attr
        _check_spelling(name)
        if name not in ALL_METHODS:
            known = "use a method of text, list or dict that changes nothing"
            known = suggestion(name, ALL_METHODS) if len(name) > 1 else known
            raise ExpressionError(f"the method {name!r} is not offered; {known}")
        _check_names(function.value, names)
    elif isinstance(function, ast.Name):
        _check_spelling(function.id)
        if function.id not in FUNCTIONS or function.id in names:
            raise ExpressionError(f"the function {function.id!r} is not offered; {suggestion(function.id, FUNCTIONS)}")
        if function.id == "isinstance":
            if len(arguments) != 2 or node.keywords or parse_types(arguments[1]) is None:
                raise ExpressionError(f"isinstance takes a value and of the types {', '.join(TYPES)} one or a tuple")
            arguments = arguments[:1]
    else:
        raise ExpressionError("calls something that is neither a function nor a method")
    return arguments


def _check_function(caller: str, node: ast.expr, names: frozenset[str]) -> None:
    """Check a function argument: a lambda with plain parameters or a function's name. All but map also accept None."""
    if isinstance(node, ast.Lambda):
        given = node.args
        if given.posonlyargs or given.vararg or given.kwonlyargs or given.kwarg or given.defaults:
            raise ExpressionError("holds a lambda whose parameters are not plain names")
        targets = [_assigned_names(ast.Name(each.arg)) for each in given.args]
        _check_names(node.body, names.union(*targets))
    elif not (isinstance(node, ast.Name) and node.id in functions.FUNCTIONS and node.id not in names) and (
        caller == "map" or not (isinstance(node, ast.Constant) and node.value is None)
    ):
        raise ExpressionError(f"{caller} takes a lambda or the name of a function, such as len")


def parse_types(node: ast.expr) -> tuple[type, ...] | None:
    """Return the types in the second argument of `isinstance`; None if it contains anything else."""
    names = node.elts if isinstance(node, ast.Tuple) else [node]
    found = [TYPES.get(each.id) for each in names if isinstance(each, ast.Name)]
    known = tuple(each for each in found if each is not None)
    return known if len(known) == len(names) and known else None


def _assigned_names(node: ast.expr) -> frozenset[str]:
    if isinstance(node, ast.Name):
        _check_spelling(node.id)
        if node.id in FUNCTIONS:
            raise ExpressionError(f"gives the name of the function {node.id!r} to something else")
        return frozenset((node.id,))
    if isinstance(node, ast.Tuple | ast.List):
        return frozenset().union(*map(_assigned_names, node.elts))
    raise ExpressionError("assigns to something that is not a name")


def _check_spelling(name: str) -> None:
    if name.startswith("_"):
        raise ExpressionError(f"the name {name!r} begins with an underscore, which is not offered")
