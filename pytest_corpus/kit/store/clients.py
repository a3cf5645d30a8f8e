"""Clients that concurrently write, delete and read the same things (nodes or vectors)."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any

from pytest_corpus.kit.component import Subject
from pytest_corpus.kit.generation.histories import Event, HistoryStep, Value, play
from pytest_corpus.spec.errors import UNCERTAIN


class Clients:
    """The requests of clients for the things `a` and `b`. Each write has a number, which a read shows.

    A component defines how to write, delete and read.

    Attributes:
        rounds: for each round the steps of the clients, separated by `|`: `+ab` writes both at once, `-a` deletes
            one thing, `?` reads. After each round one more read follows.
    """

    rounds: Sequence[str] = ()

    def __init__(self) -> None:
        self.numbers = map(str, count(1))

    def write(self, names: str) -> HistoryStep:
        """Return a step that writes the things with these names in one request."""
        raise NotImplementedError

    def delete(self, names: str) -> HistoryStep:
        """Return a step that deletes the things with these names in one request."""
        raise NotImplementedError

    @property
    def read_step(self) -> HistoryStep:
        """The step that reads both things."""
        raise NotImplementedError

    def read(self, result: Any) -> Mapping[str, Value]:
        """Return what a read shows of each thing: the number of its last write, None if absent, or a fault in words."""
        raise NotImplementedError

    def play(self, subject: Subject) -> dict[str, list[Event]]:
        """Play the rounds; return the history of each thing."""

        def step(word: str) -> HistoryStep:
            return self.read_step if word == "?" else (self.write if word[0] == "+" else self.delete)(word[1:])

        def rounds() -> Iterator[tuple[list[list[HistoryStep]], HistoryStep]]:
            for row in self.rounds:
                yield [[step(word) for word in client.split()] for client in row.split("|")], self.read_step

        return play(subject, rounds(), self.read, UNCERTAIN)
