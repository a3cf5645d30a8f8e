"""The calls of later tests, made early where writes or reports come late, so that all share one wait (R46, R92).

A test that yields looks afterwards at what it has written or, if its requirement is about reports, at those of its
calls. If that comes late, the first such test begins some tests of the same kind that follow. Each of them goes on in
its turn, with the exchanges, the actions and the checks that it had then.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from pytest_corpus.adapter import inputs
from pytest_corpus.adapter.exceptions import MissingAnswer
from pytest_corpus.adapter.exchange import Exchange
from pytest_corpus.kit.answer_cache import is_cacheable
from pytest_corpus.kit.audit.positive_evidence import is_reported
from pytest_corpus.kit.fixtures import Steps
from pytest_corpus.kit.judgement import Judgement, judging, look_at, note_check
from pytest_corpus.kit.outcomes import NOT_ANSWERED, Undecided, Violation
from pytest_corpus.kit.run_state import Actions
from pytest_corpus.spec.requirements import Requirement

MOST = 24
"""The number of tests that are begun at a time."""


@dataclass(frozen=True, slots=True)
class SteppedTest:
    """A test in steps: its name, its requirement and its body."""

    name: str
    requirement: Requirement
    begin: Callable[[], Steps]

    @property
    def reported(self) -> bool:
        """True if it looks at reports, not at what it wrote."""
        return is_reported(self.requirement.id)


@dataclass(frozen=True, slots=True)
class Begun:
    """A test that has made its calls, and looks later."""

    steps: Steps
    exchanges: list[Exchange]
    actions: Actions
    places: list[Any]
    judgement: Judgement


def run(subject: Any, test: SteppedTest, following: Callable[[], Iterator[SteppedTest]]) -> None:
    """Run a test to its end, and begin others when it has made its calls."""
    subject.client.provider.mistakes.noted.extend(subject.shared.misled.pop(test.name, ()))
    begun: Begun | None = subject.shared.begun.pop(test.name, None)
    if begun is not None:
        subject.shared.actions = begun.actions
        subject.client.part.recall(begun.exchanges)
        if begun.judgement.checks:
            note_check()
        look_at(*begun.judgement.exchanges)
    for _ in test.begin() if begun is None else begun.steps:
        if not subject.shared.begun and subject.settings.remembers and _has_to_wait(subject, test):
            _begin_others(subject, (each for each in following() if each.reported is test.reported))


def _has_to_wait(subject: Any, test: SteppedTest) -> bool:
    if test.reported:
        return inputs.read("late", lambda: bool(subject.client.late.seen_s))
    return bool(subject.settling.find_out())


def _begin_others(subject: Any, following: Iterator[SteppedTest]) -> None:
    known: dict[str, SteppedTest] = {}

    def next_name() -> str:
        if len(known) < MOST and subject.has_room and (found := next(following, None)):
            known[found.name] = found
            return found.name
        return ""

    while name := inputs.read("begun", next_name):
        while name not in known and (found := next(following, None)):  # a transcript names those that were begun then
            known[found.name] = found
        if name not in known:
            return
        outer, places = subject.shared.actions, subject.places
        subject.shared.actions = type(outer)()
        try:
            with inputs.fact_scope(f"begun {name}") as part, judging() as judgement, _blaming(subject, name):
                subject.gate(known[name].requirement)
                steps = known[name].begin()
                next(steps)
        except NOT_ANSWERED:
            return
        except (StopIteration, Undecided, Violation):
            continue  # it begins again in its turn
        else:
            if all(map(is_cacheable, part.exchanges)) and name not in subject.shared.misled:
                written = [each for each in subject.places if each not in places]
                subject.shared.begun[name] = Begun(steps, part.exchanges, subject.shared.actions, written, judgement)
        finally:
            subject.shared.actions = outer


@contextmanager
def _blaming(subject: Any, name: str) -> Iterator[None]:
    """Keep the mistakes of the author's stand-in for the test that met them, and nothing else that came of them."""
    mistakes = subject.client.provider.mistakes.noted
    before = len(mistakes)
    try:
        yield
    finally:
        if found := mistakes[before:]:
            del mistakes[before:]
            if not all(isinstance(each, MissingAnswer) for each in found):
                subject.shared.unlearn()
            subject.shared.misled[name] = found
