"""The calls and tokens that a run may use, such as `calls=500,tokens=20000`, and has used."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from pytest_corpus.adapter.exceptions import BudgetSpent

KINDS = ("calls", "tokens")
"""The things that a budget may limit."""

LONGEST = 15
"""The most digits of a limit."""


@dataclass(frozen=True, slots=True)
class Budget:
    """The most calls that a run may make, and the most tokens that its answers may account for; None: any number."""

    calls: int | None = None
    tokens: int | None = None

    def __str__(self) -> str:
        given = ((self.calls, "call"), (self.tokens, "token"))
        return " and ".join(f"{most} {kind}{'' if most == 1 else 's'}" for most, kind in given if most is not None)

    @property
    def limits(self) -> dict[str, int]:
        """The limits, by the keys of `KINDS`."""
        given = {"calls": self.calls, "tokens": self.tokens}
        return {kind: most for kind, most in given.items() if most is not None}

    def share(self, number: int, of: int, *, used: Spending | None = None) -> Budget:
        """The part of one of several processes, from 0 on: all parts together are what is left of the budget."""
        gone = {"calls": used.calls, "tokens": used.tokens} if used else {}
        left = {kind: max(0, most - gone.get(kind, 0)) for kind, most in self.limits.items()}
        return Budget(**{kind: most // of + (number < most % of) for kind, most in left.items()})


def parse(text: str) -> Budget:
    """The budget of a text such as ``calls=500,tokens=20000``. Raises ValueError, which says what is wrong."""
    found: dict[str, int] = {}
    for part in text.split(","):
        kind, _, number = (piece.strip() for piece in part.partition("="))
        if kind not in KINDS:
            raise ValueError(
                f"{kind or 'nothing'} cannot be limited; write it as calls=500, tokens=20000, or both with a comma"
            )
        if kind in found:
            raise ValueError(f"{kind} is given twice")
        if not (number.isascii() and number.isdecimal() and len(number) <= LONGEST and int(number) > 0):
            raise ValueError(f"{kind} must be a positive integer")
        found[kind] = int(number)
    return Budget(**found)


@dataclass(slots=True)
class Spending:
    """The part of a budget that one process has used.

    Attributes:
        calls: the calls that were made, to any adapter.
        tokens: the tokens that the answers account for.
        refused: how many calls were not made because the budget was spent.
    """

    budget: Budget = field(default_factory=Budget)
    calls: int = 0
    tokens: int = 0
    refused: int = 0
    _enforced: bool = False

    @contextmanager
    def enforced(self) -> Iterator[None]:
        """Within a test the budget holds; opening, tidying up and closing are counted and not refused."""
        self._enforced = True
        try:
            yield
        finally:
            self._enforced = False

    def admit(self, calls: int) -> None:
        """Go on only if this number of calls may be made. Raises BudgetSpent if the budget does not allow them."""
        if self._enforced and self._is_over(calls):
            self.refused += 1
            raise BudgetSpent(str(self.budget))

    def _is_over(self, more: int) -> bool:
        most = self.budget
        return (most.calls is not None and self.calls + more > most.calls) or (
            most.tokens is not None and self.tokens >= most.tokens
        )
