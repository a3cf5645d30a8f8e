"""Random sequences of operations, compared with a small model of their expected effect.

A component has its own model, and steps that act on the model and on the adapter. A step raises a `Violation` if the
two differ. A failing sequence is shortened: steps are removed as long as the sequence still fails.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from random import Random
from typing import Any, Generic, Protocol, TypeVar

from pytest_corpus.adapter import inputs
from pytest_corpus.adapter.exchange import Exchange
from pytest_corpus.adapter.scope import part_of
from pytest_corpus.adapter.turns import call_side_by_side
from pytest_corpus.kit.component import Subject
from pytest_corpus.kit.outcomes import NOT_ANSWERED, Story, Undecided, Violation

GENERATE_S = 5.0
"""The time limit for generating sequences; a fast adapter needs far less."""

SHRINK_CALLS, SHRINK_S = 30, 10.0
"""The calls and the seconds that may be spent on shortening a failing sequence."""

FEW = 4
"""A failing sequence often still fails if only this many of its last steps are kept."""


class Model(Protocol):
    """The expected content of a store, with a reserved sandbox in the adapter."""

    def close(self) -> None:
        """Release the sandbox."""


M = TypeVar("M", bound=Model)


@dataclass(frozen=True, eq=False)
class Step(Generic[M]):
    """One step of a sequence.

    Attributes:
        act: the function that carries the step out.
        place: the part of the store that the step uses.
        names: the names that the step uses in the place; empty for all names.
        is_read_only: True if the step changes nothing.
        is_reset: True if the step empties the place.
    """

    act: Callable[[M], object]
    place: Hashable = None
    names: frozenset[str] = frozenset()
    is_read_only: bool = False
    is_reset: bool = False


class Trial(Generic[M]):
    """Carries out steps on a new model, one after the other.

    Attributes:
        calls: the steps that made calls, and the number of calls of each step.
        exchanges: the recorded calls.
        closing: the number of calls that were necessary to release the sandbox.
    """

    def __init__(self, subject: Subject, make: Callable[[], M]) -> None:
        self.subject, self.make = subject, make
        self.calls: dict[Step[M], int] = {}
        self.closing = 0
        with self._collect_calls() as self.exchanges:
            self.model = make()

    def take_step(self, step: Step[M]) -> None:
        """Carry out a step."""
        made: list[Exchange] = []
        try:
            with self._collect_calls() as made:
                step.act(self.model)
        finally:
            if made:
                self.calls[step] = len(made)
                self.exchanges += made

    def close(self) -> None:
        """Release the sandbox, if calls can still be made."""
        with suppress(*NOT_ANSWERED), self._collect_calls() as made:
            self.model.close()
        self.closing = len(made)

    @contextmanager
    def _collect_calls(self) -> Iterator[list[Exchange]]:
        """Collect the calls that are made in this block."""
        with part_of(self.subject.client.part) as part:
            yield part.exchanges


class _Search(Generic[M]):
    """Searches for the shortest failing part of a sequence, within a budget of calls and seconds."""

    def __init__(self, failed: Trial[M], violation: Violation) -> None:
        self.best, self.violation = failed, violation
        self.is_complete = True
        self._meter = failed.subject.client.meter
        self._begun, self._until = self._meter.total_calls, inputs.monotonic() + SHRINK_S
        self._tried: set[frozenset[Step[M]]] = set()

    @property
    def call_count(self) -> int:
        """The number of calls that were made."""
        return self._meter.total_calls - self._begun

    @property
    def steps(self) -> list[Step[M]]:
        return list(self.best.calls)

    def run(self) -> None:
        """Shorten the sequence: keep the last steps on the names in the violation, then remove ever smaller parts."""
        *before, last = self.steps
        about = self.violation.about or last.names
        alike = [each for each in before if each.place == last.place and not each.is_read_only]
        related = [each for each in alike if not (about and each.names) or about & each.names]
        fresh = next((size for size, each in enumerate(reversed(related)) if each.is_reset), FEW)
        parts = [related[-size:] for size in sorted({fresh, FEW, len(related)}) if 0 < size <= len(related)]
        others = (
            [each for each in before if not each.is_read_only],
            [each for each in before if each.place == last.place],
        )
        any(self._fails([*part, last]) for part in (*parts, alike, *others))
        size = max(1, len(self.steps) // 4)
        while size:
            start, length = 0, len(self.steps)
            while start < len(self.steps) - 1:
                fewer = [*self.steps[:start], *self.steps[start + size : -1], self.steps[-1]]
                start += 0 if self._fails(fewer) else size
            size = size // 2 if size > 1 or len(self.steps) == length else size

    def _has_room(self, calls: int) -> bool:
        has_room = self.call_count + calls + self.best.closing <= SHRINK_CALLS and inputs.monotonic() < self._until
        self.is_complete &= has_room
        return has_room

    def _fails(self, steps: Sequence[Step[M]]) -> bool:
        """True if these steps, which are fewer than in the shortest failing sequence so far, also fail."""
        if len(steps) == len(self.steps) or frozenset(steps) in self._tried:
            return False
        self._tried.add(frozenset(steps))
        if not self._has_room(1 + sum(self.best.calls[step] for step in steps)):
            return False
        trial = Trial(self.best.subject, self.best.make)
        try:
            for step in steps:
                if not self._has_room(1):
                    return False
                trial.take_step(step)
        except NOT_ANSWERED:
            self._until, self.is_complete = 0.0, False
        except Undecided:
            return False
        except Violation as violation:
            self.best, self.violation = trial, violation
            return True
        finally:
            trial.close()
        return False


def shrink(failed: Trial[Any], violation: Violation, *, is_disturbed: bool = False) -> Violation:
    """Return the violation of the shortest failing part of a sequence, with its calls as `story`."""
    search, subject = _Search(failed, violation), failed.subject
    if is_disturbed or subject.outages.lasting:
        said = "not shortened, because the provider failed during the test"
    elif subject.client.meter.spending.budget.limits:
        said = "not shortened, because the calls of the run are limited"
    elif failed.calls:
        search.run()
        said = f"the smallest sequence found so far, after {search.call_count} further calls"
        if search.is_complete:
            said = f"none of which can be left out; found with {search.call_count} further calls"
    found, exchanges = search.violation, search.best.exchanges
    if exchanges:
        calls = "1 call" if len(exchanges) == 1 else f"{len(exchanges)} calls"
        found.story = Story(f"smallest story: {calls}, {said}", tuple(exchanges))
        found.attach_exchanges(exchanges[-1])
    return found


@contextmanager
def shrink_failure(trial: Trial[Any]) -> Iterator[None]:
    """Replace a `Violation` in this block by the violation of the shortest sequence that causes it."""
    disturbances = trial.subject.disturbance_count
    try:
        yield
    except Violation as violation:
        trial.close()
        is_disturbed = trial.subject.disturbance_count > disturbances
        raise shrink(trial, violation, is_disturbed=is_disturbed) from None


Rule = Callable[[Random, Trial[M]], object]
"""A rule carries out one or more steps of a trial, with random arguments."""


def run_sequences(
    subject: Subject, make: Callable[[], M], rules: Sequence[Rule[M]], *, steps: int, examples: int
) -> None:
    """Apply random rules to new models; the seed determines the rules.

    Raises:
        Violation: the violation of the shortest failing sequence, with a story.
        Undecided: a step could not be judged.
    """
    until, disturbances = inputs.monotonic() + GENERATE_S, subject.disturbance_count

    def run_sequence(number: int) -> None:
        if inputs.monotonic() > until:
            return
        chance, trial = Random(f"{subject.settings.seed} {number}"), Trial(subject, make)
        found: Violation | None = None
        try:
            for _ in range(steps):
                chance.choice(rules)(chance, trial)
        except Violation as violation:
            found = violation
        finally:
            trial.close()
        if found is not None:
            raise shrink(trial, found, is_disturbed=subject.disturbance_count > disturbances) from None

    def run_in_branch(number: int) -> None:
        with inputs.branch(number):
            run_sequence(number)

    call_side_by_side(run_in_branch, range(examples))
