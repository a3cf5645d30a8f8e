"""Everything that a test takes in besides the answers: time, random texts, and what the hooks say at a moment.

Random texts depend on the seed and the test alone. What cannot depend on them is read here, so that a transcript can
record it and give it back when it is judged.
"""

import hashlib
import itertools
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any, TypeVar

T = TypeVar("T")

MOST_NUMBERS = 1 << 12
"""More numbers than a test needs."""

SCOPES = 36**5
"""The number of scopes that numbers tell apart."""


class Source:
    """The source of what is read: the machine."""

    def read(self, what: str, look: Callable[[], Any]) -> Any:  # noqa: ARG002 - a record tells its readings apart by it
        """Return what `look` says now."""
        return look()

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)

    def enter(self, scope: str) -> None:
        """Take note that what follows belongs to a scope of its own."""

    def leave(self) -> None:
        """Take note that this scope has ended."""


class _Chance:
    """The random generator of one scope, such as a test, and the numbers that it has given."""

    def __init__(self, seed: int, scope: str) -> None:
        self._seed, self.scope, self.given = seed, scope, 0

    @cached_property
    def generator(self) -> random.Random:
        return random.Random(f"{self._seed} {self.scope}")

    @cached_property
    def first(self) -> int:
        return int.from_bytes(hashlib.sha256(self.scope.encode()).digest()[:8], "big") % SCOPES * MOST_NUMBERS


_source = Source()
_seed = 0
_chance = _Chance(0, "")
_process = ""
_ordinals = itertools.count(1)
_entered: Counter[str] = Counter()


def begin(seed: int, scope: str, process: str = "") -> None:
    """Begin the scope of a test: what is random in it depends on seed and scope alone.

    Args:
        seed: the seed of the run.
        scope: the name of the test.
        process: the name of this process, if it is one of several that find out the same things.
    """
    global _seed, _chance, _process
    _seed, _chance, _process = seed, _Chance(seed, scope), process


@contextmanager
def apart(scope: str) -> Iterator[None]:
    """A scope of its own for what any test may be the first to find out."""
    global _chance  # noqa: PLW0603
    outer = _chance
    key = f"{_process} {scope}"
    _entered[key] += 1
    _chance = _Chance(_seed, " ".join(filter(None, (scope, str(_entered[key]), _process))))
    _source.enter(_chance.scope)
    try:
        yield
    finally:
        _chance = outer
        _source.leave()


@contextmanager
def source(given: Source) -> Iterator[None]:
    """Read from another source than the machine."""
    global _source  # noqa: PLW0603
    outer, _source = _source, given
    try:
        yield
    finally:
        _source = outer


def entered() -> Counter[str]:
    """The number of times that each scope has been entered in this process."""
    return _entered.copy()


def reset(given: Counter[str]) -> None:
    """Count scopes as they were counted then: what was found out since has been forgotten."""
    _entered.clear()
    _entered.update(given)


# -- what is read ------------------------------------------------------------------------------------------


def read(what: str, look: Callable[[], T]) -> T:
    """Return what `look` finds: a JSON value that may differ from one moment to the next."""
    found: T = _source.read(what, look)
    return found


def monotonic() -> float:
    """The seconds of the monotonic clock."""
    return read("monotonic", time.monotonic)


def wall_clock() -> float:
    """The seconds since 1970."""
    return read("time", time.time)


def sleep(seconds: float) -> None:
    """Wait."""
    _source.sleep(seconds)


# -- what is random ----------------------------------------------------------------------------------------


def number() -> int:
    """A number that no other test of the run is given."""
    _chance.given += 1
    return _chance.first + _chance.given


def ordinal() -> int:
    """A small number that was not given before in this process."""
    return read("ordinal", lambda: next(_ordinals))


def letters(alphabet: Sequence[str], length: int) -> str:
    """A random text of letters of an alphabet."""
    return "".join(_chance.generator.choices(alphabet, k=length))


def hexadecimal(size: int) -> str:
    """Random bytes, two hexadecimal digits each."""
    return _chance.generator.randbytes(size).hex()


def below(limit: int) -> int:
    """A random whole number from 0, less than a limit."""
    return _chance.generator.randrange(limit)
