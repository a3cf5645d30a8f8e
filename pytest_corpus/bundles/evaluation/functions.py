"""The functions that an expression may call."""

import operator
import re
from collections.abc import Callable, Iterator
from typing import Any

from pytest_corpus.bundles.evaluation.values import (
    MOST_BITS,
    MOST_PIECES,
    MOST_PLACES,
    SIZE_OF_A_STEP,
    BudgetError,
    OperationError,
    StepBudget,
    apply_operator,
    collect,
    describe_exception,
    run_builtin,
    search_pattern,
    size_of,
)


def call_allowed(budget: StepBudget, name: str, arguments: list[Any], keywords: dict[str, Any]) -> Any:
    """Call one of `FUNCTIONS`. Raises OperationError if the call fails, or BudgetError."""
    budget.spend(1 + sum(map(size_of, arguments)) // SIZE_OF_A_STEP)
    try:
        return budget.check_size(FUNCTIONS[name](budget, *arguments, **keywords))
    except TypeError as error:
        raise OperationError(re.sub(r"\S+\(\)", f"{name}()", describe_exception(error), count=1)) from None


def _int(_: StepBudget, value: Any = 0, /, base: Any = None) -> Any:
    if isinstance(value, str) and len(value) > MOST_BITS:
        raise BudgetError(f"makes an integer of more than {MOST_BITS:,} bits")
    return run_builtin(int, value) if base is None else run_builtin(int, value, base)


def _set(budget: StepBudget, items: Any = (), /) -> Any:
    found: set[Any] = set()
    for item in budget.each(collect(budget, items)):
        run_builtin(found.add, item)
    return found


def _sum(budget: StepBudget, items: Any, /, start: Any = 0) -> Any:
    found = collect(budget, items)
    if all(isinstance(item, int | float) for item in (*found, start)):
        return run_builtin(sum, found, start)
    if isinstance(start, str):
        raise OperationError("TypeError: sum() can't sum strings; join them")
    for item in found:
        start = apply_operator(budget, operator.add, start, item)
    return start


def _make_extreme(choose: Callable[..., Any]) -> Callable[..., Any]:
    def choose_extreme(budget: StepBudget, /, *items: Any, key: Any = None, **more: Any) -> Any:
        found = collect(budget, items[0]) if len(items) == 1 else list(items)
        if items and "default" in more and not found:
            return more["default"]
        if more.keys() - {"default"} or not items:
            raise OperationError("TypeError: wrong arguments")
        return run_builtin(choose, found, key=key)

    return choose_extreme


def _sorted(budget: StepBudget, items: Any, /, *, key: Any = None, reverse: Any = False) -> Any:
    found = collect(budget, items)
    budget.spend(len(found) * max(1, len(found).bit_length()) // 16)
    return run_builtin(sorted, found, key=key, reverse=bool(reverse))


def _round(_: StepBudget, value: Any, /, ndigits: Any = None) -> Any:
    if isinstance(ndigits, int) and abs(ndigits) > MOST_PLACES:
        raise BudgetError(f"rounds to more than {MOST_PLACES} places")
    return run_builtin(round, value) if ndigits is None else run_builtin(round, value, ndigits)


def _range(_: StepBudget, /, *ends: Any) -> Any:
    found = run_builtin(range, *ends)
    # len() fails for very long ranges.
    if found[MOST_PIECES : MOST_PIECES + 1]:
        raise BudgetError(f"makes a range of more than {MOST_PIECES:,} items")
    return found


def _zip(budget: StepBudget, /, *many: Any, strict: Any = False) -> Any:
    found = [collect(budget, items) for items in many]
    return iter(run_builtin(lambda: list(zip(*found, strict=bool(strict)))))


def _map(budget: StepBudget, function: Callable[..., Any], /, *many: Any) -> Iterator[Any]:
    if not many:
        raise OperationError("TypeError: map() must have at least two arguments.")
    walks = [run_builtin(iter, items) for items in many]
    return (function(*items) for items in budget.each(zip(*walks, strict=False)))


def _filter(budget: StepBudget, function: Callable[..., Any] | None, items: Any, /) -> Iterator[Any]:
    walk = run_builtin(iter, items)
    return (item for item in budget.each(walk) if (item if function is None else function(item)))


def _next(_: StepBudget, items: Any, /, *default: Any) -> Any:
    if not hasattr(items, "__next__") or len(default) > 1:
        raise OperationError(f"TypeError: {type(items).__name__!r} object is not an iterator")
    for item in items:
        return item
    if not default:
        raise OperationError("StopIteration")
    return default[0]


def _matches(budget: StepBudget, pattern: Any, text: Any, /) -> bool:
    if not isinstance(pattern, str) or not isinstance(text, str):
        raise OperationError("matches(pattern, text) takes two texts")
    budget.spend(1 + len(text) // SIZE_OF_A_STEP)
    return search_pattern(pattern, text)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "len": lambda _, value, /: run_builtin(len, value),
    "str": lambda _, value="", /: run_builtin(str, value),
    "int": _int,
    "float": lambda _, value=0.0, /: run_builtin(float, value),
    "bool": lambda _, value=False, /: bool(value),
    "list": lambda budget, items=(), /: collect(budget, items),
    "dict": lambda budget, items=(), /, **named: run_builtin(
        dict, items if isinstance(items, dict) else collect(budget, items), **named
    ),
    "set": _set,
    "tuple": lambda budget, items=(), /: tuple(collect(budget, items)),
    "all": lambda budget, items, /: all(budget.each(run_builtin(iter, items))),
    "any": lambda budget, items, /: any(budget.each(run_builtin(iter, items))),
    "sum": _sum,
    "min": _make_extreme(min),
    "max": _make_extreme(max),
    "sorted": _sorted,
    "abs": lambda _, value, /: run_builtin(abs, value),
    "round": _round,
    "range": _range,
    "enumerate": lambda budget, items, /, start=0: iter(run_builtin(enumerate, collect(budget, items), start)),
    "zip": _zip,
    "reversed": lambda budget, items, /: iter(collect(budget, run_builtin(reversed, items))),
    "map": _map,
    "filter": _filter,
    "next": _next,
    "matches": _matches,
}
"""The functions that an expression may call. The interpreter itself handles `isinstance`, whose argument is a type."""
