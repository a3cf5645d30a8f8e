"""The inputs of a test besides answers: time, random texts, and the present state of the hooks.

Random texts depend on the seed and the test alone. All other inputs are read here, so that a transcript can record
them, and return them when it is judged.
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
"""The number of unique numbers that each scope may use; no test needs that many."""

SCOPES = 36**5
"""The number of different scopes; each scope has its own range of unique numbers."""

DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"

UNIQUE_DIGITS = 8
"""The number of digits that unique numbers have in names."""


class Clock:
    """The functions of `time`. Libraries that freeze or replace `time` do not replace functions inside a class.

    Tests then read the same clock as the adapter.
    """

    monotonic = staticmethod(time.monotonic)


class Source:
    """Reads inputs from the machine. A subclass reads them from a transcript."""

    def read(self, what: str, look: Callable[[], Any]) -> Any:  # noqa: ARG002 - a record tells its readings apart by it
        """Return the result of `look`."""
        return look()

    def sleep(self, seconds: float) -> None:
        """Wait."""
        with giving_way():
            time.sleep(seconds)

    def enter(self, scope: str) -> None:
        """Record that the following inputs belong to this shared fact or clean-up, until `leave`."""

    def leave(self) -> None:
        """Record that the current scope has ended."""


@dataclass(frozen=True, slots=True)
class Run:
    """The parts of a run's identity that the inputs of its tests depend on.

    Attributes:
        seed: the seed of random inputs.
        name: the id of the run, which is part of names; no random choice depends on the id.
        process: the name of this process, if it is one of several that find out the same facts.
        tests: the number of tests.
    """

    seed: int = 0
    name: str = ""
    process: str = ""
    tests: int = 0


class _Chance:
    """The random generator of one scope, such as a test, and the numbers that it has returned.

    Args:
        scope: the name of the scope; a fact adds the name of the process that finds it out.
        place: the index of the test among all tests; facts have a higher index than all tests.
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
    def shared_generator(self) -> random.Random:
        """A generator that returns the same values in each process."""
        return random.Random(f"{self.run.seed} {self.name}")

    @cached_property
    def first_number(self) -> int:
        return _hash(self.name) % SCOPES * MOST_NUMBERS

    @cached_property
    def rotation_start(self) -> int:
        """The first number of each rotation. The next case of a test, or the next seed, begins one number later."""
        function = self.name if self.case is None else self.name.partition("[")[0]
        return _hash(function) % SCOPES + (self.case or 0) + self.run.seed


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


_SOURCE: ContextVar[Source] = ContextVar("corpus_source", default=Source())  # noqa: B039 - it has no state
_OUTSIDE = _Chance(Run(), "", case=0)
_ordinals = itertools.count(1)
_entered: Counter[str] = Counter()


def begin_test(run: Run, scope: str, place: int = 0, case: int = 0) -> None:
    """Begin a test. Its random inputs depend on the seed, the scope, the place and the case alone."""
    begin_part(Part(chance=_Chance(run, scope, place, case)))


def _chance() -> _Chance:
    """Return the random generator of the current test or fact."""
    part = current_part()
    return _OUTSIDE if part is None or part.chance is None else part.chance


@contextmanager
def fact_scope(scope: str) -> Iterator[Part]:
    """Begin the scope of a shared fact or of a cleanup. The plans of the current test have no effect in it."""
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
def branch(number: int) -> Iterator[None]:
    """Begin a piece of a test. Its random inputs do not depend on other pieces. Ordinals may repeat in other pieces."""
    outer = _chance()
    with part_of(current_part(), _Chance(outer.run, f"{outer.name} {number}", outer.place, outer.case)):
        yield


@contextmanager
def read_from(given: Source) -> Iterator[None]:
    """Read inputs from this source instead of the machine, in this block."""
    before = _SOURCE.set(given)
    try:
        yield
    finally:
        _SOURCE.reset(before)


def scope_entries() -> Counter[str]:
    """Return the number of times that each scope was entered in this process."""
    return _entered.copy()


def reset_entries(given: Counter[str]) -> None:
    """Restore counts that `scope_entries` returned. The caller must forget the facts that were found out since then."""
    _entered.clear()
    _entered.update(given)


def read(what: str, look: Callable[[], T]) -> T:
    """Return the result of `look`, a JSON value that may differ each time. A transcript records it under this name."""
    found: T = _SOURCE.get().read(what, look)
    return found


def monotonic() -> float:
    """Return the seconds of the monotonic clock."""
    return read("monotonic", time.monotonic)


def wall_clock() -> float:
    """Return the seconds since 1970."""
    return read("time", time.time)


def sleep(seconds: float) -> None:
    """Wait."""
    _SOURCE.get().sleep(seconds)


def unique_number() -> int:
    """Return a number that no other test or fact of the run gets."""
    chance = _chance()
    chance.given += 1
    return chance.first_number + chance.given


def unique_digits() -> str:
    """Return digits of base 36 for a name, which no other test or fact of the run gets. Stores may limit names."""
    return digits_of(unique_number(), UNIQUE_DIGITS)


def digits_of(number: int, count: int) -> str:
    """Return the last `count` digits of a number in base 36."""
    return "".join(DIGITS[number // len(DIGITS) ** place % len(DIGITS)] for place in reversed(range(count)))


def unique_ordinal(most: int) -> int:
    """Return a small number that is unique in this process. A test may ask for at most `most` numbers."""

    def make_ordinal() -> int:
        chance = _chance()
        return chance.place * most + (next_in_rotation("ordinal") if chance.is_test else next(_ordinals))

    return read("ordinal", make_ordinal)


def next_in_rotation(what: str) -> int:
    """Return a number that grows by one with each call in a scope. The first number depends on the scope and the seed.

    So the cases of a test begin with different values. With the next seed, each case begins one value later.
    """
    chance = _chance()
    start = 0 if what == "ordinal" else chance.rotation_start
    chance.turns[what] += 1
    return start + chance.turns[what] - 1


def seed() -> int:
    """Return the seed of the run."""
    return _chance().run.seed


def process_number(process: str) -> int:
    """Return the number, from 1, of the process with this name; 0 if there is only one process."""
    return 1 + int(re.sub(r"\D", "", process) or 0) if process else 0


def mark_of(process: str) -> str:
    """Return the mark of a process in names: one character for up to 35 processes, because long names may be cut."""
    number = process_number(process)
    return DIGITS[number] if number < len(DIGITS) else str(number)


def process_mark() -> str:
    """Return the mark of this process. All processes use the same mark in tests, because any process may run a test."""
    chance = _chance()
    return mark_of("" if chance.is_test else chance.run.process)


def random_letters(alphabet: Sequence[str], length: int) -> str:
    """Return a random text of these letters; in a fact its first letter depends on the process."""
    chance = _chance()
    if chance.is_test:
        return "".join(chance.generator.choices(alphabet, k=length))
    own = alphabet[process_number(chance.run.process) % len(alphabet)]
    return own + "".join(chance.shared_generator.choices(alphabet, k=length - 1))


def random_hex(size: int) -> str:
    """Return random bytes as text, two hexadecimal digits each."""
    return _chance().generator.randbytes(size).hex()


def random_below(limit: int) -> int:
    """Return a random integer from 0 to `limit` - 1. For a fact, each process gets the same integer."""
    chance = _chance()
    return (chance.generator if chance.is_test else chance.shared_generator).randrange(limit)
