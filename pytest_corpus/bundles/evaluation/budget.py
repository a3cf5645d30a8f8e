"""The budget of an expression or a template (R81): steps, sizes of values, time."""

import time
from collections.abc import Iterable, Iterator
from typing import Any

MOST_STEPS = 100_000
MOST_SIZE = 2**20
"""Of a value: characters, plus eight for each item of what holds others."""

MOST_BITS = 4_096
"""Of an integer."""

MOST_SECONDS = 5.0
"""A net below the steps, for what costs more than its steps say."""

SIZE_OF_A_STEP = 256
"""So many characters or items that are looked at cost a step."""

_LEAF = 8


class BudgetError(Exception):
    """Too much was asked for; the end of a sentence."""


class Budget:
    """The budget of one evaluation."""

    def __init__(self) -> None:
        self.steps = 0
        self._until = time.monotonic() + MOST_SECONDS

    def spend(self, steps: int = 1) -> None:
        """Take steps. Raises BudgetError if none are left, or no time."""
        before = self.steps >> 8
        self.steps += steps
        if self.steps > MOST_STEPS:
            raise BudgetError(f"takes more than {MOST_STEPS:,} steps")
        if self.steps >> 8 != before and time.monotonic() > self._until:
            raise BudgetError(f"takes longer than {MOST_SECONDS:g} s")

    def each(self, items: Iterable[Any]) -> Iterator[Any]:
        """Yield the items; each counts as one step."""
        for item in items:
            self.spend()
            yield item

    def reserve(self, size: int) -> None:
        """Make sure that a value of a size may be made. Raises BudgetError if it would be too large."""
        if size > MOST_SIZE:
            raise BudgetError(f"makes a value larger than {MOST_SIZE:,} characters")
        self.spend(1 + size // SIZE_OF_A_STEP)

    def keep(self, value: Any) -> Any:
        """A value that was just made. Raises BudgetError if it is too large."""
        if value is None or isinstance(value, bool | float):
            return value
        if isinstance(value, int):
            if value.bit_length() > MOST_BITS:
                raise BudgetError(f"makes an integer of more than {MOST_BITS:,} bits")
            return value
        self.reserve(size_of(value))
        return value


def size_of(value: Any) -> int:
    """The size of a value: of what holds others all of them, as often as they stand in it; counted no further than
    needed to tell that it is too large."""
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
