"""Bodies of tests in flight: one runs at a time, and pieces of its work go on while others wait."""

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from pytest_corpus.adapter.turns import (
    Body,
    MustRunAlone,
    Turns,
    call_side_by_side,
    finding_out,
    giving_way,
    run_as,
    values_in_other_bodies,
)

WAIT_S = 0.02


class Shared:
    """An object that tests share, with an attribute that belongs to each."""

    own = "main"


def in_flight(turns: Turns, work: Callable[[], Any], *, value: str = "body") -> tuple[list[Any], threading.Thread]:
    """The list that takes the result of a body, or what it raised, and the thread of the body."""
    body, found = Body(turns, [(Shared, "own")], [value]), list[Any]()

    def carry_out() -> None:
        body.resume()
        try:
            found.append(work())
        except BaseException as error:
            found.append(error)
        finally:
            turns.give_turn()

    thread = threading.Thread(target=run_as, args=(body, carry_out), daemon=True)
    thread.start()
    return found, thread


def ended(turns: Turns, work: Callable[[], Any]) -> Any:
    """The result of a body, or what it raised."""
    found, thread = in_flight(turns, work)
    turns.give_turn()
    thread.join(5)
    turns.take_turn()
    return found[0]


def pause() -> None:
    """Wait, as a call does."""
    with giving_way():
        time.sleep(WAIT_S)


class Filling(Turns):
    """Begins as many threads for pieces as there is room for."""

    def __init__(self, most: int) -> None:
        self.peak = 0
        super().__init__(lambda: self.begin(most))

    def begin(self, most: int) -> None:
        """Begin threads."""
        while self.helper_count < most - 1 and (split := next((each for each in self.splits if each.is_open), None)):
            split.begin()
        self.peak = max(self.peak, self.helper_count + 1)


@pytest.mark.parametrize("most", [1, 3, 20])
def test_pieces_of_work_wait_side_by_side(most: int) -> None:
    """Their results come in order, each begins after the one before it, and no more go on than there is room for."""
    turns, begun = Filling(most), list[int]()

    def step(number: int) -> int:
        begun.append(number)
        assert Shared.own == "body"
        pause()
        return -number

    assert ended(turns, lambda: call_side_by_side(step, range(9))) == [-number for number in range(9)]
    assert begun == sorted(begun)
    assert turns.peak == min(most, 9)
    assert not turns.splits
    assert not turns.bodies


def test_pieces_of_work_are_done_one_by_one_outside_of_any_body() -> None:
    """As in a test that is run alone."""
    assert call_side_by_side(lambda number: (number, threading.current_thread()), [1, 2]) == [
        (1, threading.current_thread()),
        (2, threading.current_thread()),
    ]


def test_a_piece_that_fails_ends_the_work() -> None:
    """The body raises what the piece raised, and no further piece is begun."""
    begun: list[int] = []

    def step(number: int) -> None:
        begun.append(number)
        pause()
        raise MustRunAlone(crowded=True)

    error = ended(Filling(2), lambda: call_side_by_side(step, range(9)))
    assert isinstance(error, MustRunAlone)
    assert error.crowded
    assert len(begun) <= 4


def test_a_piece_may_need_the_fact_that_its_body_finds_out() -> None:
    """It does not wait for the body, which waits for it."""

    def step(_number: int) -> str:
        with finding_out("fact"):
            return "found"

    def work() -> list[str]:
        with finding_out("fact"):
            return call_side_by_side(step, range(2))

    assert ended(Filling(2), work) == ["found", "found"]


def test_a_piece_of_a_piece_may_need_the_fact_that_the_body_finds_out() -> None:
    """It waits for no body of whose work it is a part."""

    def step(_number: int) -> list[str]:
        return call_side_by_side(inner, range(2))

    def inner(_number: int) -> str:
        with finding_out("fact"):
            return "found"

    def work() -> list[list[str]]:
        with finding_out("fact"):
            return call_side_by_side(step, range(2))

    assert ended(Filling(4), work) == [["found", "found"]] * 2


def test_pieces_of_two_bodies_do_not_wait_for_each_other() -> None:
    """Each body finds out a fact that the pieces of the other one need: neither waits for ever."""
    turns, begun = Filling(4), set[str]()

    def work(own: str, other: str) -> list[str]:
        def step(_number: int) -> str:
            begun.add(own)
            while begun != {"one", "other"}:
                pause()
            with finding_out(other):
                return other

        with finding_out(own):
            return call_side_by_side(step, range(2))

    found, thread = in_flight(turns, lambda: work("one", "other"))
    assert ended(turns, lambda: work("other", "one")) == ["one", "one"]
    turns.give_turn()
    thread.join(5)
    turns.take_turn()
    assert found == [["other", "other"]]


def test_a_body_knows_what_others_hold() -> None:
    """The value of an attribute of each other body in flight, not its own."""
    turns, seen = Turns(), threading.Event()

    def wait() -> None:
        with giving_way():
            seen.wait(5)

    def look() -> Any:
        while not (others := values_in_other_bodies(Shared, "own")):
            pause()
        seen.set()
        return others

    _, thread = in_flight(turns, wait, value="other")
    assert ended(turns, look) == ["other"]
    thread.join(5)
    assert values_in_other_bodies(Shared, "own") == []
