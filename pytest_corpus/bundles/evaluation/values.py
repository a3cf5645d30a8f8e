"""Operations on JSON values within a budget, shared by expressions and templates (R81)."""

import operator
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

MOST_STEPS = 100_000
MOST_SIZE = 2**20
"""The largest size of a value: its characters, plus eight for each item of a container."""

MOST_BITS = 4_096
"""The largest size of an integer."""

MOST_SECONDS = 5.0
"""The time limit of one evaluation, because some operations take longer than their number of steps suggests."""

SIZE_OF_A_STEP = 256
"""The number of characters or items that an operation processes for one step of the budget."""

_LEAF = 8


class BudgetError(Exception):
    """An evaluation that exceeded its budget. The message is the end of a sentence."""


class StepBudget:
    """The limits of one evaluation: number of steps, time, and sizes of values."""

    def __init__(self) -> None:
        self.steps = 0
        self._until = time.monotonic() + MOST_SECONDS

    def spend(self, steps: int = 1) -> None:
        """Count steps. Raises BudgetError if the steps or the time are used up."""
        before = self.steps >> 8
        self.steps += steps
        if self.steps > MOST_STEPS:
            raise BudgetError(f"takes more than {MOST_STEPS:,} steps")
        if self.steps >> 8 != before and time.monotonic() > self._until:
            raise BudgetError(f"takes longer than {MOST_SECONDS:g} s")

    def each(self, items: Iterable[Any]) -> Iterator[Any]:
        """Yield the items and count one step for each."""
        for item in items:
            self.spend()
            yield item

    def reserve(self, size: int) -> None:
        """Raise BudgetError if a value of this size would be too large; otherwise count the steps to create it."""
        if size > MOST_SIZE:
            raise BudgetError(f"makes a value larger than {MOST_SIZE:,} characters")
        self.spend(1 + size // SIZE_OF_A_STEP)

    def check_size(self, value: Any) -> Any:
        """Return a new value unchanged. Raises BudgetError if it is too large."""
        if value is None or isinstance(value, bool | float):
            return value
        if isinstance(value, int):
            if value.bit_length() > MOST_BITS:
                raise BudgetError(f"makes an integer of more than {MOST_BITS:,} bits")
            return value
        self.reserve(size_of(value))
        return value


def size_of(value: Any) -> int:
    """Return the size of a value with its items. Counting stops when the value is certainly too large."""
    size, waiting = 0, [value]
    while waiting:
        found = waiting.pop()
        if isinstance(found, str):
            size += len(found)
        elif isinstance(found, int) and not isinstance(found, bool):
            size += found.bit_length() // 8
        elif isinstance(found, dict):
            size += _LEAF * len(found)
            waiting.extend(found.keys())
            waiting.extend(found.values())
        elif isinstance(found, range):
            size += _LEAF * len(found)
        elif isinstance(found, list | tuple | set | frozenset):
            size += _LEAF * len(found)
            if size <= MOST_SIZE:
                waiting.extend(found)
        if size > MOST_SIZE:
            break
        size += 1
    return size


MOST_PIECES = MOST_SIZE // 8
"""The largest number of items in a new list."""

MOST_PLACES = 300
"""The largest number of decimal places for `round`."""

REGEX_SECONDS = 1.0


class OperationError(Exception):
    """An operation that Python refuses or that is not allowed. The message is the end of a sentence."""


def _to_names(words: str) -> frozenset[str]:
    return frozenset(words.split())


METHODS: Mapping[type, frozenset[str]] = {
    str: _to_names(
        "capitalize casefold center count endswith find index isalnum isalpha isascii isdecimal isdigit isidentifier "
        "islower isnumeric isspace istitle isupper join ljust lower lstrip partition removeprefix removesuffix replace "
        "rfind rindex rjust rpartition rsplit rstrip split splitlines startswith strip swapcase title upper zfill"
    ),
    list: _to_names("copy count index"),
    tuple: _to_names("count index"),
    dict: _to_names("copy get items keys values"),
    set: _to_names("copy difference intersection isdisjoint issubset issuperset symmetric_difference union"),
}
"""The methods that may be called, by the type of the value; none of them changes the value."""

ALL_METHODS = frozenset().union(*METHODS.values())


def call_method(budget: StepBudget, value: Any, name: str, arguments: list[Any], keywords: dict[str, Any]) -> Any:
    """Call a method of a value. Raises OperationError if it is not allowed, BudgetError if it costs too much."""
    if name not in METHODS.get(type(value), ()):
        raise OperationError(f"a value of type {type(value).__name__} has no method {name!r} here")
    if name == "join" and len(arguments) == 1:
        arguments = [collect(budget, arguments[0])]
    budget.spend(1 + (len(value) + sum(map(size_of, arguments))) // SIZE_OF_A_STEP)
    _reserve_result(budget, value, name, arguments)
    return budget.check_size(run_builtin(getattr(value, name), *arguments, **keywords))


def _reserve_result(budget: StepBudget, value: Any, name: str, arguments: list[Any]) -> None:
    """Raise BudgetError for a method call whose text would be too large, before the method runs."""
    if not isinstance(value, str):
        return
    if name in ("center", "ljust", "rjust", "zfill") and arguments and isinstance(arguments[0], int):
        budget.reserve(arguments[0])
    elif name == "replace" and len(arguments) > 1 and all(isinstance(text, str) for text in arguments[:2]):
        budget.reserve(len(value) + (value.count(arguments[0]) or 0) * max(0, len(arguments[1]) - len(arguments[0])))
    elif name == "join" and arguments:
        budget.reserve(len(value) * len(arguments[0]) + size_of(arguments[0]))
    elif name in ("strip", "lstrip", "rstrip") and arguments and isinstance(arguments[0], str):
        budget.spend(len(value) * len(arguments[0]) // 2**16)
    elif name in ("split", "rsplit", "splitlines"):
        separator = arguments[0] if arguments and isinstance(arguments[0], str) and arguments[0] else None
        pieces = value.count(separator) if separator and name != "splitlines" else sum(map(value.count, " \n\t\r"))
        if pieces > MOST_PIECES:
            raise BudgetError(f"makes a list of more than {MOST_PIECES:,} items")


def run_builtin(call: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    """Call a built-in function of Python with JSON values. Raises OperationError if the function raises."""
    try:
        return call(*arguments, **keywords)
    except (TypeError, ValueError, LookupError, ArithmeticError, AttributeError) as error:
        raise OperationError(describe_exception(error)) from None
    except RecursionError:
        raise OperationError("the values are nested too deep") from None


def describe_exception(error: BaseException) -> str:
    """Return the type and the first line of an exception, as a part of a sentence."""
    said = str(error).strip().splitlines()
    return f"{type(error).__name__}: {said[0][:200]}" if said else type(error).__name__


def apply_operator(budget: StepBudget, operation: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    """Apply a function of the module `operator` to two operands. Raises OperationError or BudgetError."""
    if operation is operator.mod and isinstance(left, str):
        _reserve_formatted(budget, left, right)
    elif operation is operator.mul:
        for many, often in ((left, right), (right, left)):
            if isinstance(many, str | list | tuple) and isinstance(often, int):
                budget.reserve(size_of(many) * max(0, often))
    elif operation is operator.pow:
        whole = isinstance(left, int) and isinstance(right, int) and right > 0 and left not in (0, 1, -1)
        if whole and (left.bit_length() - 1) * right > MOST_BITS:
            raise BudgetError(f"makes an integer of more than {MOST_BITS:,} bits")
    elif operation is operator.lshift and isinstance(left, int) and isinstance(right, int):
        if left and right + left.bit_length() > MOST_BITS:
            raise BudgetError(f"makes an integer of more than {MOST_BITS:,} bits")
    elif isinstance(left, str | list | tuple) and isinstance(right, str | list | tuple):
        budget.reserve(size_of(left) + size_of(right))
    result = run_builtin(operation, left, right)
    if isinstance(result, complex):
        raise OperationError("the result is a complex number")
    return budget.check_size(result)


_PERCENT = re.compile(r"[%)][#0\- +]*(\d*)(?:\.(\d*))?", re.ASCII)
"""Matches the flags, width and precision of a `%` conversion, and the `%` or the `)` before them."""


def _reserve_formatted(budget: StepBudget, text: str, given: Any) -> None:
    """Raise BudgetError if `%` formatting could make a text that is too large.

    Each conversion is assumed to write the largest value.
    """
    if re.search(r"%[#0\- +.\d]*\*", text):
        raise OperationError("a width of '*' is not offered")
    listed = given.values() if isinstance(given, dict) else given if isinstance(given, tuple) else (given,)
    if any(hasattr(each, "__next__") for each in listed):
        raise OperationError("an iterator cannot be written as text; use list()")
    largest = 32 + max(map(size_of, (given, *listed)))
    keyed = "%(" in text
    ends = [found for found in _PERCENT.finditer(text) if keyed or found[0][0] == "%"]
    widths = sum(_parse_width(digits) for found in ends for digits in found.groups(""))
    budget.reserve(len(text) + widths + text.count("%") * largest)


def format_value(budget: StepBudget, value: Any, conversion: int, spec: str) -> str:
    """Format a value as an f-string does. Raises OperationError or BudgetError."""
    if hasattr(value, "__next__"):
        raise OperationError("an iterator cannot be written as text; use list()")
    widths = sum(map(_parse_width, re.findall(r"\d+", spec)))
    budget.reserve(size_of(value) + widths)
    converters: dict[int, Callable[[Any], str]] = {ord("r"): repr, ord("s"): str, ord("a"): ascii}
    if conversion in converters:
        value = run_builtin(converters[conversion], value)
    return str(budget.check_size(run_builtin(format, value, spec)))


def _parse_width(digits: str) -> int:
    """Parse a width; if it has many digits, return a number above the limit."""
    return int(digits or 0) if len(digits) < 8 else MOST_SIZE + 1


def collect(budget: StepBudget, items: Any) -> list[Any]:
    """Return the items of an iterable as a list. Raises OperationError or BudgetError."""
    if isinstance(items, range | str | list | tuple | dict | set) and len(items) > MOST_PIECES:
        raise BudgetError(f"makes a list of more than {MOST_PIECES:,} items")
    walk = run_builtin(iter, items)
    found = []
    for item in budget.each(walk):
        found.append(item)
    return found


def search_pattern(pattern: str, text: str) -> bool:
    """Call `re.search` with a time limit. Raises OperationError for an invalid pattern, BudgetError for a slow one."""
    import regex

    check_pattern(pattern)
    try:
        return regex.search(_to_regex_syntax(pattern), text, timeout=REGEX_SECONDS) is not None
    except TimeoutError:
        raise BudgetError(f"searches for longer than {REGEX_SECONDS:g} s") from None
    except (regex.error, RecursionError, MemoryError, OverflowError) as error:
        raise OperationError(f"the pattern is not a valid regular expression: {describe_exception(error)}") from None


def _to_regex_syntax(pattern: str) -> str:
    """Escape braces in a pattern of `re`, because the library `regex` reads ``(cat){e<=1}`` as fuzzy matching."""
    return _BRACE.sub(lambda found: "\\{" if found[0] == "{" else found[0], pattern)


_BRACE = re.compile(r"\\N\{[^}]*\}|\\.|\{(?:\d+(?:,\d*)?|,\d*)\}|\{", re.DOTALL)
"""Matches named characters, escapes and repetitions, which stay unchanged, and any other ``{``, which is escaped."""

MOST_REPEATS = 10_000
"""The largest number of repetitions in a pattern; numbers of nested repetitions are multiplied."""


def check_pattern(pattern: str) -> None:
    """Check a pattern of Python's `re`. Raises OperationError if it is not valid or repeats too much."""
    import warnings

    if len(pattern) > MOST_BITS:
        raise OperationError(f"the pattern is longer than {MOST_BITS:,} characters")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(pattern)
    except (re.error, RecursionError, MemoryError, OverflowError) as error:
        raise OperationError(f"the pattern is not a valid regular expression: {describe_exception(error)}") from None
    repeats = 1
    for low, high in re.findall(r"\{(\d*)(?:,(\d*))?\}", pattern):
        repeats *= max(1, int(high or low or 1))
        if repeats > MOST_REPEATS:
            raise OperationError(f"the pattern repeats more than {MOST_REPEATS:,} times")
