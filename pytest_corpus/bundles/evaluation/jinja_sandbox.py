"""A stricter Jinja sandbox: no files, an allow-list of filters, and a budget for all steps and values (R81).

Import this module only if Jinja is installed.
"""

import json
import operator
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from typing import Any

from jinja2 import StrictUndefined, TemplateSyntaxError, nodes, pass_context
from jinja2.defaults import DEFAULT_FILTERS
from jinja2.runtime import Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment, SecurityError
from jinja2.tests import TESTS as DEFAULT_TESTS
from jinja2.utils import Namespace
from jinja2.visitor import NodeTransformer

from pytest_corpus.bundles.evaluation import values
from pytest_corpus.bundles.evaluation.functions import call_allowed
from pytest_corpus.bundles.evaluation.values import (
    MOST_BITS,
    MOST_SIZE,
    SIZE_OF_A_STEP,
    BudgetError,
    StepBudget,
    size_of,
)

_BUDGET: ContextVar[StepBudget] = ContextVar("corpus_template_budget")

FILTERS = (
    *("abs", "attr", "batch", "capitalize", "center", "count", "d", "default", "dictsort", "e", "escape", "first"),
    *("float", "indent", "int", "items", "join", "last", "length", "list", "lower", "map", "max", "min", "reject"),
    *("rejectattr", "replace", "reverse", "round", "select", "selectattr", "sort", "string", "sum", "title", "tojson"),
    *("trim", "truncate", "unique", "upper", "wordcount", "wordwrap"),
)
"""The filters of Jinja that a prompt may use."""

TESTS = tuple(name for name in DEFAULT_TESTS if name not in ("filter", "test", "callable"))
"""The tests of Jinja (`is defined`, ...) that a prompt may use."""

_BY_REMAINDER = ("odd", "even", "divisibleby")
"""Jinja's tests that use `%`. They accept only numbers, because `%` would format a text."""

_REFUSED: Mapping[type[nodes.Node], str] = {
    nodes.Include: "includes another file",
    nodes.Import: "imports another file",
    nodes.FromImport: "imports another file",
    nodes.Extends: "extends another file",
    nodes.Block: "holds a block, which only other files could fill",
}

_ARITHMETIC: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
}


def current_budget() -> StepBudget:
    """Return the budget of the template that is being rendered."""
    return _BUDGET.get()


def render(template: Any, variables: Mapping[str, Any]) -> str:
    """Render a compiled template within a new budget."""
    token = _BUDGET.set(StepBudget())
    try:
        return _join(template.generate(dict(variables)))
    finally:
        _BUDGET.reset(token)


def compile_template(source: str) -> Any:
    """Compile a template. Raises jinja2.TemplateSyntaxError if it is not valid or not allowed."""
    sandbox = PromptSandbox(undefined=StrictUndefined, autoescape=False, optimized=False, finalize=_to_text)
    tree = sandbox.parse(source, filename="<template>")
    for node in tree.find_all(nodes.Node):
        _refuse_node(node)
    return sandbox.from_string(_StepCounter().visit(tree))


def _refuse_node(node: nodes.Node) -> None:
    for kind, said in _REFUSED.items():
        if isinstance(node, kind):
            raise TemplateSyntaxError(f"it {said}, which is not offered", node.lineno)
    if isinstance(node, nodes.For) and node.recursive:
        raise TemplateSyntaxError("it holds a recursive loop, which is not offered", node.lineno)
    if isinstance(node, nodes.Filter) and node.name not in FILTERS:
        raise TemplateSyntaxError(f"the filter {node.name!r} is not offered", node.lineno)
    name = node.attr if isinstance(node, nodes.Getattr) else node.name if isinstance(node, nodes.Name) else ""
    if name.startswith("_"):
        raise TemplateSyntaxError(f"the name {name!r} begins with an underscore, which is not offered", node.lineno)
    text = node.value if isinstance(node, nodes.Const) else None
    if isinstance(text, str) and text.startswith("__"):
        raise TemplateSyntaxError("it names something that begins with two underscores", node.lineno)


class _StepCounter(NodeTransformer):  # type: ignore[misc]
    """Adds step-counting calls to those parts of a template that contain no call."""

    def visit_For(self, node: nodes.For) -> nodes.Node:  # noqa: N802 - Jinja's own name
        self.generic_visit(node)
        node.iter = _wrap_in_call("corpus_each", node.iter)
        return node

    def visit_TemplateData(self, node: nodes.TemplateData) -> nodes.Node:  # noqa: N802
        return _wrap_in_call("corpus_text", nodes.Const(node.data, lineno=node.lineno))

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        return _wrap_in_call("corpus_joined", nodes.List(node.nodes, lineno=node.lineno))


def _wrap_in_call(name: str, node: Any) -> nodes.Filter:
    return nodes.Filter(node, name, [], [], None, None, lineno=node.lineno)


class PromptSandbox(ImmutableSandboxedEnvironment):  # type: ignore[misc]
    """Jinja's sandbox, in which every operation counts towards the budget of the template."""

    intercepted_binops = frozenset(_ARITHMETIC)

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        own: dict[str, Any] = dict(DEFAULT_FILTERS)
        self.filters = {name: _make_counting_filter(name, own[name]) for name in FILTERS if name in own}
        self.filters["attr"] = pass_context(lambda context, value, name: context.environment.getattr(value, str(name)))
        self.filters["tojson"] = pass_context(_tojson)
        self.filters |= {
            "corpus_each": pass_context(lambda _context, items: current_budget().each(iter(items))),
            "corpus_text": pass_context(_count_text),
            "corpus_joined": pass_context(lambda _context, items: _join(map(_to_text, items))),
        }
        self.tests = {name: _make_counting_test(name, DEFAULT_TESTS[name]) for name in TESTS}
        self.globals = {"range": _range, "namespace": Namespace}

    def call_binop(self, _context: Any, symbol: str, left: Any, right: Any) -> Any:
        if symbol == "%" and isinstance(left, str):
            raise SecurityError("'%' on text is not offered")
        return values.apply_operator(current_budget(), _ARITHMETIC[symbol], _unwrap(left), _unwrap(right))

    def getattr(self, obj: Any, attribute: str) -> Any:
        if isinstance(obj, str | list | tuple | dict | set):
            return self._look_up(obj, attribute)
        return super().getattr(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        current_budget().spend()
        if isinstance(obj, str | list | tuple | dict | set):
            if isinstance(argument, slice):
                return current_budget().check_size(values.run_builtin(lambda: obj[argument]))  # type: ignore[index]
            try:
                return obj[argument]  # type: ignore[index]
            except (TypeError, LookupError):
                named = isinstance(argument, str)
                return self._look_up(obj, argument) if named else self.undefined(obj=obj, name=argument)
        return super().getitem(obj, argument)

    def _look_up(self, obj: Any, name: str) -> Any:
        """Return an item or a method of a value; in a mapping, items take precedence over methods."""
        current_budget().spend()
        if isinstance(obj, dict) and name in obj:
            return obj[name]
        if name in values.METHODS.get(type(obj), ()):
            return _Method(obj, name)
        if name.startswith("_") or hasattr(obj, name):
            raise SecurityError(f"{name!r} of a value of type {type(obj).__name__} is not offered")
        return self.undefined(obj=obj, name=name)

    def call_allowed(__self, __context: Any, __obj: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N805 - as in Jinja
        current_budget().spend(10)
        if isinstance(__obj, _Method):
            return __obj(*args, **kwargs)
        if isinstance(__obj, Macro) or __obj is _range or __obj is Namespace or _is_loop_method(__obj):
            return super().call(__context, __obj, *args, **kwargs)
        raise SecurityError("only macros, range, namespace and methods that change nothing can be called")


class _Method:
    """A method that a template calls, with the JSON value to which the method belongs."""

    def __init__(self, owner: Any, name: str) -> None:
        self._owner, self._name = owner, name

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return values.call_method(current_budget(), self._owner, self._name, [_unwrap(each) for each in args], keywords)


def _is_loop_method(found: Any) -> bool:
    return type(getattr(found, "__self__", None)).__name__ == "LoopContext" and found.__name__ in ("cycle", "changed")


def _unwrap(value: Any) -> Any:
    """Return the str in a wrapper of Jinja, such as Markup; any other value unchanged."""
    return str(value) if isinstance(value, str) and type(value) is not str else value


def _range(*ends: Any) -> range:
    found: range = call_allowed(current_budget(), "range", list(ends), {})
    return found


def _count_text(_context: Any, text: str) -> str:
    current_budget().reserve(len(text))
    current_budget().spend(len(text) // SIZE_OF_A_STEP)
    return text


def _join(parts: Iterable[str]) -> str:
    """Join the parts of a rendered template. Raises BudgetError before the text becomes too large."""
    size, found = 0, []
    for part in parts:
        size += len(part)
        current_budget().reserve(size)
        found.append(part)
    return "".join(found)


def _to_text(value: Any) -> str:
    """Convert a value to text. Raises SecurityError or BudgetError if it is not a JSON value or too large."""
    if isinstance(value, StrictUndefined):
        return str(value)  # raises and names it
    if not isinstance(value, _SHOWN):
        raise SecurityError("the value to write is not a plain value; is a call or |list missing?")
    current_budget().reserve(size_of(value))
    _refuse_undefined(value)
    text = str(value)
    current_budget().reserve(len(text))
    return text


def _refuse_undefined(value: Any) -> None:
    """Raise if a list or a mapping contains an undefined value, which Jinja would write as text."""
    waiting = [value]
    while waiting:
        found = waiting.pop()
        if isinstance(found, StrictUndefined):
            str(found)  # raises and names it
        elif isinstance(found, dict):
            waiting.extend(found.values())
        elif isinstance(found, list | tuple | set | type({}.values()) | type({}.items())):
            waiting.extend(found)


_VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()))
_SHOWN: tuple[type, ...] = (str, int, float, list, tuple, dict, set, range, type(None), *_VIEWS)
"""The types of values that a template may write."""


def _make_counting_filter(name: str, function: Any) -> Any:
    kind = getattr(function, "jinja_pass_arg", None)
    how = kind.name if kind is not None else ""

    @pass_context  # type: ignore[untyped-decorator]
    def counted(context: Any, value: Any, *args: Any, **keywords: Any) -> Any:
        if isinstance(value, StrictUndefined):
            if name not in ("default", "d"):
                str(value)  # raises and names it
        elif hasattr(value, "__next__"):
            value = values.collect(current_budget(), value)
        else:
            current_budget().reserve(size_of(value))
        for each in (*args, *keywords.values()):
            current_budget().reserve(size_of(each))
        _refuse_large_result(name, value, [*args, *keywords.values()])
        first = {"context": (context,), "eval_context": (context.eval_ctx,), "environment": (context.environment,)}
        result = function(*first.get(how, ()), value, *args, **keywords)
        if hasattr(result, "__next__"):
            result = values.collect(current_budget(), result)
        return result if isinstance(result, StrictUndefined) else current_budget().check_size(_unwrap(result))

    return counted


def _make_counting_test(name: str, function: Any) -> Any:

    def counted(value: Any, *args: Any) -> bool:
        for each in (value, *args):
            current_budget().reserve(size_of(each))
        if name in _BY_REMAINDER and not isinstance(value, int | float):
            raise SecurityError(f"the test {name!r} is for numbers alone")
        return bool(function(value, *args))

    return counted


def _refuse_large_result(name: str, value: Any, arguments: list[Any]) -> None:
    """Raise BudgetError for a filter whose result would be too large, before the filter runs."""
    numbers = [each for each in arguments if isinstance(each, int) and not isinstance(each, bool)]
    largest = max(map(abs, numbers), default=0)
    if name == "round" and largest > values.MOST_PLACES:
        raise BudgetError(f"rounds to more than {values.MOST_PLACES} places")
    lines = len(value.splitlines()) + 1 if name == "indent" and isinstance(value, str) else 1
    longest = max((len(each) for each in arguments if isinstance(each, str)), default=0)
    if name in ("center", "indent", "batch", "truncate"):
        current_budget().reserve(size_of(value) + lines * max(largest, longest))
    if name == "wordwrap" and isinstance(value, str):
        # Two successive lines are longer than the width; a long word is copied for each of its lines.
        folds = 2 * len(value) // max(1, numbers[0] if numbers else 79) + len(value.splitlines()) + 1
        current_budget().reserve(len(value) + folds * longest)
        current_budget().spend(len(value) * folds // (SIZE_OF_A_STEP * 64))
    if name == "tojson":
        current_budget().reserve(size_of(value) * max(1, largest))
    if name == "replace" and len(arguments) > 1:
        text, old, new = map(str, (value, *arguments[:2]))
        current_budget().reserve(len(text) + text.count(old) * len(new))
    if name == "join":
        between = len(str(arguments[0])) if arguments else 0
        current_budget().reserve(size_of(value) + between * (len(value) if hasattr(value, "__len__") else 0))
    if name == "int" and isinstance(value, str) and len(value) > MOST_BITS:
        raise BudgetError(f"makes an integer of more than {MOST_BITS:,} bits")
    # sum() of lists would build a new list for each item.
    if name == "sum" and isinstance(value, list | tuple) and any(isinstance(v, list | tuple | str) for v in value):
        raise SecurityError("the filter sum adds numbers alone")


def _tojson(_context: Any, value: Any, indent: int | None = None) -> str:
    size, parts = 0, []
    for part in json.JSONEncoder(ensure_ascii=False, indent=indent).iterencode(value):
        size += len(part)
        if size > MOST_SIZE:
            break
        parts.append(part)
    current_budget().reserve(size)
    return "".join(parts)
