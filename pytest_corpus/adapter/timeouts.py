"""The calls of an adapter that ran into the time limit."""

from collections import Counter

from pytest_corpus.adapter.exceptions import Unresponsive

MOST_OF_ONE_OPERATION = 2
"""An operation with this number of timeouts is not called again."""

MOST_WITHOUT_ANSWER = 2
"""A remote adapter with this number of timeouts, of any operation, and no answer at all is not called again."""


class Timeouts:
    """Counts timeouts, and stops the calls of operations that have too many.

    Attributes:
        has_answered: the adapter has sent a frame.
    """

    def __init__(self) -> None:
        self.has_answered = False
        self._number: Counter[str] = Counter()
        self._moving: set[str] = set()

    def add(self, op: str, *, moving: bool = False) -> None:
        """Count a timeout; `moving` if the stream still sent frames."""
        self._number[op] += 1
        if moving:
            self._moving.add(op)

    def check(self, op: str, *, remote: bool) -> None:
        """Pass if an operation may be called.

        Raises:
            Unresponsive: it ran into the time limit too often.
        """
        is_silent = remote and not self.has_answered and self._number.total() >= MOST_WITHOUT_ANSWER
        if self._number[op] >= MOST_OF_ONE_OPERATION or is_silent:
            raise Unresponsive(op, moving=op in self._moving)
