"""Facts about an adapter that the processes of a run share: one finds a fact out, the others receive it as data.

A fact that was handed over saves calls, but decides nothing alone: a test that shows a violation runs again with facts
of its own process (`Shared.distrust`).
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pytest_corpus.adapter.exchange import Exchange


@dataclass(slots=True)
class Fact:
    """An answer that later tests may use.

    Attributes:
        answer: JSON values and replies, in lists, tuples and objects.
        exchanges: the exchanges that show it.
        actions: the actions of the test that found it out.
        read: the exchanges that this test read for it.
        lasting: True if it may be kept.
        handed: True if another process found it out.
    """

    answer: Any
    exchanges: list[Exchange] = field(default_factory=list)
    actions: frozenset[str] = frozenset()
    read: list[Exchange] = field(default_factory=list)
    lasting: bool = True
    handed: bool = False


class CommonFacts:
    """The facts of a run with one process, which finds out each of them."""

    def find(self, _name: str, find_out: Callable[[], Fact]) -> Fact:
        """Return a fact that another process found out, or the result of `find_out`."""
        return find_out()
