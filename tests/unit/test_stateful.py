"""Sequences of steps: the shortest part that fails; histories: which are linearizable, which converge."""

import math
from collections.abc import Iterable
from itertools import permutations
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_corpus.adapter.exceptions import Unresponsive
from pytest_corpus.adapter.exchange import Exchange
from pytest_corpus.adapter.scope import current_part
from pytest_corpus.integration.running import presentation
from pytest_corpus.kit.generation import stateful as runner
from pytest_corpus.kit.generation.histories import Event, draw_history, is_convergent, is_linearizable, shrink
from pytest_corpus.kit.generation.stateful import SHRINK_CALLS, Step, Trial, run_sequences, shrink_failure
from pytest_corpus.kit.outcomes import NotApplicable, Outage, Story, Violation
from pytest_corpus.verdict.finding import Finding


@pytest.fixture(autouse=True)
def endless_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine must not end the search early."""
    monkeypatch.setattr(runner, "GENERATE_S", 600.0)
    monkeypatch.setattr(runner, "SHRINK_S", 600.0)


class Adder:
    """A subject that adds numbers, fails once the sum is above a limit, and counts its places and calls.

    From `silent` calls on it raises `raised` instead.
    """

    def __init__(self, limit: int, outcome: type[Exception] = Violation, **limits: int) -> None:
        meter = SimpleNamespace(total_calls=0, spending=SimpleNamespace(budget=SimpleNamespace(limits=limits)))
        self.client, self.settings = SimpleNamespace(meter=meter, part=None), SimpleNamespace(seed=1)
        self.outages, self.disturbance_count = SimpleNamespace(lasting=False), 0
        self.limit, self.outcome, self.open = limit, outcome, 0
        self.silent, self.raised = 10**9, Exception("silent")

    def call(self, number: int) -> None:
        self.client.meter.total_calls += 1
        if self.client.meter.total_calls > self.silent:
            raise self.raised
        part = current_part()
        assert part is not None
        part.exchanges.append(Exchange({"op": "add", "args": number}, streaming=False))

    def story(self, numbers: Iterable[int]) -> tuple[str, list[int]]:
        """The story of a failing sequence, and its numbers."""
        with pytest.raises(Violation) as caught:
            self.take(numbers)
        return told(caught.value)

    def take(self, numbers: Iterable[int]) -> None:
        trial: Trial[Any] = Trial(self, lambda: Sum(self))  # type: ignore[arg-type]
        with shrink_failure(trial):
            for number in numbers:
                trial.take_step(adding(number))


class Sum:
    """A sum of numbers, in a place of its own."""

    def __init__(self, adder: Adder) -> None:
        self.adder, self.sum = adder, 0
        adder.open += 1

    def add(self, number: int) -> None:
        self.adder.call(number)
        self.sum += number
        if self.sum > self.adder.limit:
            raise self.adder.outcome(f"at most {self.adder.limit}")

    def close(self) -> None:
        self.adder.open -= 1


def adding(number: int) -> Step[Sum]:
    return Step(lambda model: model.add(number))


def told(violation: Violation) -> tuple[str, list[int]]:
    assert violation.story is not None
    assert violation.exchange is violation.story.exchanges[-1]
    return violation.story.text, [each.request["args"] for each in violation.story.exchanges]


def run(adder: Adder, steps: int = 12) -> None:
    """Run sequences of additions."""

    def add(chance: Random, trial: Trial[Sum]) -> None:
        trial.take_step(adding(chance.randrange(10)))

    run_sequences(adder, lambda: Sum(adder), [add], steps=steps, examples=20)  # type: ignore[arg-type]


def test_sequences_that_agree_pass() -> None:
    """No violation, no error, and every place is released."""
    adder = Adder(10_000)
    run(adder, steps=8)
    assert adder.open == 0


def test_the_same_seed_gives_the_same_short_sequence() -> None:
    """Two numbers suffice to come above eleven, and no more are in the story."""
    found = []
    for _ in range(2):
        adder = Adder(11)
        with pytest.raises(Violation) as caught:
            run(adder)
        found.append(told(caught.value))
        assert adder.open == 0
    assert found[0] == found[1]
    assert len(found[0][1]) == 2


def test_a_rule_that_cannot_go_on_leaves_it_open() -> None:
    """The reason for a missing verdict is passed on as it is."""
    with pytest.raises(NotApplicable):
        run(Adder(3, NotApplicable))


def test_calls_that_are_not_needed_are_left_out() -> None:
    """The calls that remain keep their order, and the story says how many calls it took."""
    adder = Adder(15)
    said, numbers = adder.story([0, 8, 0, 1, 8])
    assert numbers == [8, 8]
    assert said == "smallest story: 2 calls, none of which can be left out; found with 13 further calls"
    assert adder.client.meter.total_calls == 5 + 13
    assert adder.open == 0


def test_the_budget_ends_the_search() -> None:
    """Not a call above the budget is made, and the story says that it may not be the shortest one."""
    adder = Adder(40)
    said, numbers = adder.story([1] * 45)
    assert len(numbers) == 41
    assert said == "smallest story: 41 calls, the smallest sequence found so far, after 5 further calls"
    adder = Adder(99)
    said, numbers = adder.story([50, 0, 0, 0, 0, 0, 0, 0, 0, 50])
    assert len(numbers) < 10
    assert "the smallest sequence found so far" in said
    assert adder.client.meter.total_calls <= 10 + SHRINK_CALLS


@pytest.mark.parametrize("raised", [Outage("away"), Unresponsive("add", moving=False)], ids=["outage", "silence"])
def test_a_provider_that_goes_away_leaves_the_finding(raised: Exception) -> None:
    """The sequence that failed stands, and no further call is made."""
    adder = Adder(15)
    adder.silent, adder.raised = 6, raised
    said, numbers = adder.story([0, 8, 0, 1, 8])
    assert numbers == [0, 8, 0, 1, 8]
    assert "so far" in said
    assert (adder.client.meter.total_calls, adder.open) == (7, 0)


@pytest.mark.parametrize("why", ["provider failed", "calls of the run are limited"])
def test_no_calls_are_made_for_a_story(why: str) -> None:
    """Neither if the provider is away, nor if the run may make only so many."""
    adder = Adder(15) if "provider" in why else Adder(15, calls=500)
    adder.outages.lasting = "provider" in why
    said, numbers = adder.story([0, 8, 8])
    assert numbers == [0, 8, 8]
    assert said.startswith(f"smallest story: 3 calls, not shortened, because the {why}")
    assert adder.client.meter.total_calls == 3


def test_a_story_stands_in_the_message() -> None:
    """A line on it, and a line for each call."""
    assert Violation("this", story=Story("a picture")).story == Story("a picture")
    lines = ("1 calls", '1. handle {"op": "x"}')
    said = presentation.failure_message([Finding("VEC-STATE-1", "this", "that", story=lines)], "shape")
    assert said.endswith('  story:\n    1 calls\n    1. handle {"op": "x"}')


def write(client: int, value: str | None, start: float, end: float) -> Event:
    return Event(client, False, value, start, end)


def read(client: int, value: str | None, start: float, end: float, *, settled: bool = False) -> Event:
    return Event(client, True, value, start, end, settled)


STALE = [write(1, "a", 0, 1), write(1, "b", 2, 3), read(2, "a", 4, 5)]
BACK_AND_FORTH = [write(1, "a", 0, 1), write(1, "b", 2, 9), read(2, "b", 3, 4), read(3, "a", 5, 6)]
OVERLAPPING = [write(1, "a", 0, 5), write(2, "b", 1, 4), read(3, "b", 2, 3), read(3, "a", 6, 7, settled=True)]
UNDONE = [write(1, "a", 0, 1), write(1, "b", 2, math.inf), read(2, "a", 3, 4, settled=True)]
UNKNOWN = [write(1, "a", 0, math.inf), read(2, None, 1, 2), read(2, "a", 3, 4)]
RESURRECTED = [write(1, "a", 0, 1), write(2, None, 2, 3), read(3, "a", 4, 5, settled=True)]
TORN = [write(1, "a", 0, 5), write(2, "b", 0, 5), read(3, "a with b", 1, 2)]


@pytest.mark.parametrize(("history", "ordered", "whole"), [
    (STALE, False, True),
    (BACK_AND_FORTH, False, True),
    (OVERLAPPING, True, True),
    (UNKNOWN, True, True),
    (UNDONE, True, True),
    (RESURRECTED, False, False),
    (TORN, False, False),
    ([], True, True),
])  # fmt: skip
def test_known_histories(history: list[Event], ordered: bool, whole: bool) -> None:
    """Stale reads break the order alone; what is torn or comes back breaks both rules."""
    assert (is_linearizable(history), is_convergent(history)) == (ordered, whole)


def by_hand(events: list[Event]) -> bool:
    """True if one of all orders of the events is possible."""
    for order in permutations(events):
        state, fits = None, True
        for at, event in enumerate(order):
            fits &= not any(later.end < event.start for later in order[at + 1 :])
            fits &= not event.is_read or event.value == state
            state = state if event.is_read else event.value
        if fits:
            return True
    return False


EVENTS = st.builds(
    lambda client, is_read, value, start, length: Event(client, is_read, value, start, start + length),
    st.integers(1, 3),
    st.booleans(),
    st.sampled_from(["a", "b", None]),
    st.integers(0, 6),
    st.integers(1, 4),
)


@given(st.lists(EVENTS, max_size=5))
def test_the_search_agrees_with_all_orders(events: list[Event]) -> None:
    """Of short histories every order can be tried."""
    assert is_linearizable(events) == by_hand(events)


def test_the_smallest_history_is_shown_as_lanes() -> None:
    """Calls that do not matter are left out; time goes to the right."""
    more = [*RESURRECTED, write(1, "b", 6, 7), read(2, "b", 8, 9), write(4, "c", 6.5, math.inf)]
    assert shrink(more, is_linearizable) == RESURRECTED
    assert draw_history(RESURRECTED).splitlines() == [
        "client 1: [write a]",
        "client 2:          [delete]",
        "client 3:                  [read a]",
    ]
    assert draw_history(UNKNOWN).splitlines() == [
        "client 1: [write a" + " " * 15 + "...",
        "client 2:  [read nothing][read a]",
    ]
