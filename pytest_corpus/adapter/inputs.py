"""Everything that a test takes in besides the answers: time, random texts, and what the hooks say at a moment.

Random texts depend on the seed and the test alone. What cannot depend on them is read here, so that a transcript can
record it and give it back when it is judged.
"""

import hashlib
import itertools
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

T = TypeVar("T")

MOST_NUMBERS = 1 << 12
"""More numbers than a test needs."""

SCOPES = 36**5
"""The number of scopes that numbers tell apart."""

DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


class Clock:
    """The clock of the machine. Libraries that stop or replace those of `time` do not look for it in a class.

    Tests read those of `time`, which the adapter reads too.
    """

    monotonic = staticmethod(time.monotonic)


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


@dataclass(frozen=True, slots=True)
class Run:
    """The members of a run on which its tests depend, or the facts that they share.

    Attributes:
        seed: the seed of what is random.
        name: the id of the run, which is in names; no random choice depends on it.
        process: the name of this process, if it is one of several that find out the same facts.
        tests: the number of tests.
    """

    seed: int = 0
    name: str = ""
    process: str = ""
    tests: int = 0


class _Chance:
    """The random generator of one scope, such as a test, and the numbers that it has given.

    Args:
        scope: the name of the scope.
        process: the process that finds out a fact; empty in the scope of a test.
        place: the place of the test among all tests; that of a fact is after them.
    """

    def __init__(self, seed: int, scope: str, process: str = "", place: int = 0, *, is_test: bool = False) -> None:
        self.name, self.given, self.place, self.is_test = scope, 0, place, is_test
        self.scope, self._seed = " ".join(filter(None, (scope, process))), seed
        self.turns: Counter[str] = Counter()

    @cached_property
    def generator(self) -> random.Random:
        return random.Random(f"{self._seed} {self.scope}")

    @cached_property
    def common(self) -> random.Random:
        """A generator that gives the same in each process."""
        return random.Random(f"{self._seed} {self.name}")

    @cached_property
    def first(self) -> int:
        return int.from_bytes(hashlib.sha256(self.name.encode()).digest()[:8], "big") % SCOPES * MOST_NUMBERS


_source = Source()
_run = Run()
_chance = _Chance(0, "", is_test=True)
_ordinals = itertools.count(1)
_entered: Counter[str] = Counter()


def begin(run: Run, scope: str, place: int = 0) -> None:
    """Begin the scope of a test: what is random in it depends on the seed, the scope and the place alone."""
    global _run, _chance
    _run, _chance = run, _Chance(run.seed, scope, place=place, is_test=True)


@contextmanager
def apart(scope: str) -> Iterator[None]:
    """A scope of its own for what any test may be the first to find out, or to clean up."""
    global _chance  # noqa: PLW0603
    outer = _chance
    if _run.name and _run.name.lower() in scope.lower():
        scope = re.sub(f"{_run.name}[{DIGITS}]", "", scope, flags=re.IGNORECASE)
    key = f"{_run.process} {scope}"
    _entered[key] += 1
    _chance = _Chance(_run.seed, f"{scope} {_entered[key]}", _run.process, _run.tests)
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


def number() -> int:
    """A number that no other test of the run is given."""
    _chance.given += 1
    return _chance.first + _chance.given


def ordinal(most: int) -> int:
    """A small number that this process gives once, as long as no test asks for more than `most`."""

    def found() -> int:
        return _chance.place * most + (turn("ordinal") if _chance.is_test else next(_ordinals))

    return read("ordinal", found)


def turn(what: str) -> int:
    """The number of times that this was called before in this scope, from a start that differs between scopes."""
    start = 0 if what == "ordinal" else _chance.first // MOST_NUMBERS
    _chance.turns[what] += 1
    return start + _chance.turns[what] - 1


def number_of(process: str) -> int:
    """The number of a process among several, from 1; of a single one 0."""
    return 1 + int(re.sub(r"\D", "", process) or 0) if process else 0


def mark_of(process: str) -> str:
    """The mark of a process in names; a letter for up to 35 processes, because texts may be cut off at a length."""
    number = number_of(process)
    return DIGITS[number] if number < len(DIGITS) else str(number)


def mark() -> str:
    """The mark of this process in a fact; that of a single one in a test, which may run in any process."""
    return mark_of("" if _chance.is_test else _run.process)


def letters(alphabet: Sequence[str], length: int) -> str:
    """A random text of letters of an alphabet; that of a fact begins with a letter for its process."""
    if _chance.is_test:
        return "".join(_chance.generator.choices(alphabet, k=length))
    own = alphabet[number_of(_run.process) % len(alphabet)]
    return own + "".join(_chance.common.choices(alphabet, k=length - 1))


def hexadecimal(size: int) -> str:
    """Random bytes, two hexadecimal digits each."""
    return _chance.generator.randbytes(size).hex()


def below(limit: int) -> int:
    """A random whole number from 0, less than a limit."""
    return _chance.generator.randrange(limit)
