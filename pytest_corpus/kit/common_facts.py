"""Facts about an adapter that the processes of a run share. One process finds a fact out, and the others receive it.

A received fact saves calls, but it is never the only basis of a violation: a test that finds a violation runs again
with facts that its own process found out (`Shared.distrust`).
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pytest_corpus.adapter.exchange import Exchange


@dataclass(slots=True)
class FoundFact:
    """An answer to a question about the adapter, kept for later tests.

    Attributes:
        answer: JSON values and replies, in lists, tuples and objects.
        exchanges: the exchanges that were made to find the answer out.
        actions: the actions on stored data (see `Actions`) of the test that found the answer out.
        read: the exchanges in `exchanges` whose replies were read.
        lasting: True if later tests may use the answer.
        handed: True if another process found the answer out.
    """

    answer: Any
    exchanges: list[Exchange] = field(default_factory=list)
    actions: frozenset[str] = frozenset()
    read: list[Exchange] = field(default_factory=list)
    lasting: bool = True
    handed: bool = False


class CommonFacts:
    """The facts of a run that has one process. The process finds out each fact itself."""

    def find(self, _name: str, find_out: Callable[[], FoundFact]) -> FoundFact:
        """Return a fact that another process found out, or the result of `find_out`."""
        return find_out()
