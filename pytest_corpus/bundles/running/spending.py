"""A bound on what a run may pay for: calls and tokens."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_corpus.adapter.usage.budget import parse


@dataclass(frozen=True)
class Spent:
    """Calls and tokens spent so far."""

    calls: int = 0
    tokens: int = 0

    def plus(self, calls: int, tokens: int) -> Spent:
        """This and more."""
        return Spent(self.calls + calls, self.tokens + tokens)

    def __str__(self) -> str:
        return f"{self.calls:,} call{'s' * (self.calls != 1)}, {self.tokens:,} tokens"


@dataclass(frozen=True)
class SpendingLimit:
    """The most calls and tokens of a run; None where there is no bound."""

    calls: int | None = None
    tokens: int | None = None

    def exceeded(self, spent: Spent) -> str:
        """The reason against a further call; empty if one may be made."""
        if self.calls is not None and spent.calls >= self.calls:
            return f"the budget of {self.calls:,} calls is used up"
        if self.tokens is not None and spent.tokens >= self.tokens:
            return f"the budget of {self.tokens:,} tokens is used up"
        return ""


NO_LIMIT = SpendingLimit()


def read_limit(given: str) -> SpendingLimit:
    """The limit of a text such as ``calls=500,tokens=20000``.

    Raises:
        ValueError: it is none.
    """
    budget = parse(given)
    return SpendingLimit(budget.calls, budget.tokens)
