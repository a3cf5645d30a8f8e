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
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from pytest_corpus.adapter.scope import Part, begin_part, current_part, part_of
from pytest_corpus.adapter.turns import giving_way

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
        with giving_way():
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
        scope: the name of the scope; the process that finds out a fact is added to it.
        place: the place of the test among all tests; that of a fact is after them.
        case: the number of the test among the cases of its function; None for a fact.
    """

    def __init__(self, run: Run, scope: str, place: int = 0, case: int | None = None) -> None:
        self.run, self.name, self.given, self.place, self.case = run, scope, 0, place, case
        self.is_test = is_test = case is not None
        self.scope = scope if is_test else " ".join(filter(None, (scope, run.process)))
        self.turns: Counter[str] = Counter()

    @cached_property
    def generator(self) -> random.Random:
        return random.Random(f"{self.run.seed} {self.scope}")

    @cached_property
    def common(self) -> random.Random:
        """A generator that gives the same in each process."""
        return random.Random(f"{self.run.seed} {self.name}")

    @cached_property
    def first(self) -> int:
        return _hash(self.name) % SCOPES * MOST_NUMBERS

    @cached_property
    def first_turn(self) -> int:
        """The first turn: the cases of a function begin one after the other, and so do the seeds."""
        function = self.name if self.case is None else self.name.partition("[")[0]
        return _hash(function) % SCOPES + (self.case or 0) + self.run.seed


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


_SOURCE: ContextVar[Source] = ContextVar("corpus_source", default=Source())  # noqa: B039 - it has no state
_OUTSIDE = _Chance(Run(), "", case=0)
_ordinals = itertools.count(1)
_entered: Counter[str] = Counter()


def begin(run: Run, scope: str, place: int = 0, case: int = 0) -> None:
    """Begin a test: what is random in it depends on the seed, the scope, the place and the case alone."""
    begin_part(Part(chance=_Chance(run, scope, place, case)))


def _chance() -> _Chance:
    """The chance of the test or fact at hand."""
    part = current_part()
    return _OUTSIDE if part is None or part.chance is None else part.chance


@contextmanager
def fact_scope(scope: str) -> Iterator[Part]:
    """A part for what any test may be the first to find out, or to clean up; no plan of a test strikes it."""
    outer, run = current_part(), _chance().run
    if run.name and run.name.lower() in scope.lower():
        scope = re.sub(f"{run.name}[{DIGITS}]", "", scope, flags=re.IGNORECASE)
    key = f"{run.process} {scope}"
    _entered[key] += 1
    chance = _Chance(run, f"{scope} {_entered[key]}", place=run.tests)
    _SOURCE.get().enter(chance.scope)
    try:
        with part_of(outer, chance) as part:
            yield part
    finally:
        _SOURCE.get().leave()


@contextmanager
def source(given: Source) -> Iterator[None]:
    """Read from another source than the machine."""
    before = _SOURCE.set(given)
    try:
        yield
    finally:
        _SOURCE.reset(before)


def entered() -> Counter[str]:
    """The number of times that each scope has been entered in this process."""
    return _entered.copy()


def reset(given: Counter[str]) -> None:
    """Count scopes as they were counted then: what was found out since has been forgotten."""
    _entered.clear()
    _entered.update(given)


def read(what: str, look: Callable[[], T]) -> T:
    """Return what `look` finds: a JSON value that may differ from one moment to the next."""
    found: T = _SOURCE.get().read(what, look)
    return found


def monotonic() -> float:
    """The seconds of the monotonic clock."""
    return read("monotonic", time.monotonic)


def wall_clock() -> float:
    """The seconds since 1970."""
    return read("time", time.time)


def sleep(seconds: float) -> None:
    """Wait."""
    _SOURCE.get().sleep(seconds)


def number() -> int:
    """A number that no other test of the run is given."""
    chance = _chance()
    chance.given += 1
    return chance.first + chance.given


def ordinal(most: int) -> int:
    """A small number that this process gives once, as long as no test asks for more than `most`."""

    def found() -> int:
        chance = _chance()
        return chance.place * most + (next_in_rotation("ordinal") if chance.is_test else next(_ordinals))

    return read("ordinal", found)


def next_in_rotation(what: str) -> int:
    """A number that grows by one with each call in a scope; the first one depends on the scope and the seed.

    What is asked in turn is asked by some case of each test that has enough of them, and by each case with some seed.
    """
    chance = _chance()
    start = 0 if what == "ordinal" else chance.first_turn
    chance.turns[what] += 1
    return start + chance.turns[what] - 1


def seed() -> int:
    """The seed of the run."""
    return _chance().run.seed


def number_of(process: str) -> int:
    """The number of a process among several, from 1; of a single one 0."""
    return 1 + int(re.sub(r"\D", "", process) or 0) if process else 0


def mark_of(process: str) -> str:
    """The mark of a process in names; a letter for up to 35 processes, because texts may be cut off at a length."""
    number = number_of(process)
    return DIGITS[number] if number < len(DIGITS) else str(number)


def mark() -> str:
    """The mark of this process in a fact; that of a single one in a test, which may run in any process."""
    chance = _chance()
    return mark_of("" if chance.is_test else chance.run.process)


def letters(alphabet: Sequence[str], length: int) -> str:
    """A random text of letters of an alphabet; that of a fact begins with a letter for its process."""
    chance = _chance()
    if chance.is_test:
        return "".join(chance.generator.choices(alphabet, k=length))
    own = alphabet[number_of(chance.run.process) % len(alphabet)]
    return own + "".join(chance.common.choices(alphabet, k=length - 1))


def hexadecimal(size: int) -> str:
    """Random bytes, two hexadecimal digits each."""
    return _chance().generator.randbytes(size).hex()


def below(limit: int) -> int:
    """A random whole number from 0, less than a limit."""
    return _chance().generator.randrange(limit)
