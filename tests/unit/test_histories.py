"""Histories of concurrent operations: which are linearizable, which converge, and how they are shown."""

import math
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_corpus.kit.generation.histories import Event, converges, lanes, linearizable, smallest


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
    assert (linearizable(history), converges(history)) == (ordered, whole)


def by_hand(events: list[Event]) -> bool:
    """Return whether one of all orders of the events is a possible one."""
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
    assert linearizable(events) == by_hand(events)


def test_the_smallest_history_is_shown_as_lanes() -> None:
    """Calls that do not matter are left out; time goes to the right."""
    more = [*RESURRECTED, write(1, "b", 6, 7), read(2, "b", 8, 9), write(4, "c", 6.5, math.inf)]
    assert smallest(more, linearizable) == RESURRECTED
    assert lanes(RESURRECTED).splitlines() == [
        "client 1: [write a]",
        "client 2:          [delete]",
        "client 3:                  [read a]",
    ]
    assert lanes(UNKNOWN).splitlines() == ["client 1: [write a" + " " * 15 + "...", "client 2:  [read nothing][read a]"]
