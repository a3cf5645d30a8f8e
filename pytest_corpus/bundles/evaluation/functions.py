"""The functions that an expression may call."""

from collections.abc import Callable, Iterator
from typing import Any

from pytest_corpus.bundles.evaluation import values
from pytest_corpus.bundles.evaluation.budget import SIZE_OF_A_STEP, Budget, BudgetError, size_of
from pytest_corpus.bundles.evaluation.values import OperationError, attempt, gathered


def call(budget: Budget, name: str, arguments: list[Any], keywords: dict[str, Any]) -> Any:
    """The result of a function.

    Raises:
        OperationError: Python refuses the call.
        BudgetError: it would use up too much.
    """
    budget.spend(1 + sum(size_of(each) for each in arguments) // SIZE_OF_A_STEP)
    try:
        return budget.keep(_FUNCTIONS[name](budget, *arguments, **keywords))
    except TypeError as error:
        raise OperationError(values.refusal(error).replace(f"_{name}()", f"{name}()")) from None


def _len(_budget: Budget, value: Any, /) -> Any:
    return attempt(len, value)


def _str(_budget: Budget, value: Any = "", /) -> Any:
    return attempt(str, value)


def _int(_budget: Budget, value: Any = 0, /, base: Any = None) -> Any:
    return values.number_of(value, base)


def _float(_budget: Budget, value: Any = 0.0, /) -> Any:
    return attempt(float, value)


def _bool(_budget: Budget, value: Any = False, /) -> Any:
    return bool(value)


def _list(budget: Budget, items: Any = (), /) -> Any:
    return gathered(budget, items)


def _tuple(budget: Budget, items: Any = (), /) -> Any:
    return tuple(gathered(budget, items))


def _set(budget: Budget, items: Any = (), /) -> Any:
    found: set[Any] = set()
    for item in gathered(budget, items):
        budget.spend()
        attempt(found.add, item)
    return found


def _dict(budget: Budget, items: Any = (), /, **named: Any) -> Any:
    return attempt(dict, items if isinstance(items, dict) else gathered(budget, items), **named)


def _all(budget: Budget, items: Any, /) -> bool:
    return all(budget.each(attempt(iter, items)))


def _any(budget: Budget, items: Any, /) -> bool:
    return any(budget.each(attempt(iter, items)))


def _sum(budget: Budget, items: Any, /, start: Any = 0) -> Any:
    return values.total(budget, items, start)


def _keyed(budget: Budget, key: Any) -> Callable[[Any], Any] | None:
    """The function that `key` names."""
    if key is None:
        return None
    if key not in _FUNCTIONS:
        raise OperationError("key takes the name of a function")
    return lambda item: call(budget, key, [item], {})


def _extreme(choose: Callable[..., Any]) -> Callable[..., Any]:
    def chosen(budget: Budget, /, *items: Any, key: Any = None, **more: Any) -> Any:
        found = gathered(budget, items[0]) if len(items) == 1 else list(items)
        if items and "default" in more and not found:
            return more["default"]
        if more.keys() - {"default"} or not items:
            raise OperationError("TypeError: wrong arguments")
        return attempt(choose, found, key=_keyed(budget, key))

    return chosen


def _sorted(budget: Budget, items: Any, /, *, key: Any = None, reverse: Any = False) -> Any:
    found = gathered(budget, items)
    budget.spend(len(found) * max(1, len(found).bit_length()) // 16)
    return attempt(sorted, found, key=_keyed(budget, key), reverse=bool(reverse))


def _abs(_budget: Budget, value: Any, /) -> Any:
    return attempt(abs, value)


def _round(_budget: Budget, value: Any, /, ndigits: Any = None) -> Any:
    return values.rounded(value, ndigits)


def _range(_budget: Budget, /, *ends: Any) -> Any:
    found = attempt(range, *ends)
    # Not its length: that of a range may be larger than Python can say.
    if found[values.MOST_PIECES : values.MOST_PIECES + 1]:
        raise BudgetError(f"makes a range of more than {values.MOST_PIECES:,} items")
    return found


def _enumerate(budget: Budget, items: Any, /, start: Any = 0) -> Iterator[Any]:
    return iter(attempt(enumerate, gathered(budget, items), start))


def _zip(budget: Budget, /, *many: Any, strict: Any = False) -> Iterator[Any]:
    found = [gathered(budget, items) for items in many]
    return iter(attempt(lambda: list(zip(*found, strict=bool(strict)))))


def _reversed(budget: Budget, items: Any, /) -> Iterator[Any]:
    return iter(gathered(budget, attempt(reversed, items)))


def _matches(budget: Budget, pattern: Any, text: Any, /) -> bool:
    return values.matches(budget, pattern, text)


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "len": _len, "str": _str, "int": _int, "float": _float, "bool": _bool, "list": _list, "dict": _dict, "set": _set,
    "tuple": _tuple, "all": _all, "any": _any, "sum": _sum, "min": _extreme(min), "max": _extreme(max),
    "sorted": _sorted, "abs": _abs, "round": _round, "range": _range, "enumerate": _enumerate, "zip": _zip,
    "reversed": _reversed, "matches": _matches,
}  # fmt: skip
