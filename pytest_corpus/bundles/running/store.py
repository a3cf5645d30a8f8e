"""Claims and results of cases, and what their calls cost: in one process, or shared by the workers of a run (R84)."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from pytest_corpus.adapter.usage.budget import Budget
from pytest_corpus.bundles.results import CaseResult


@dataclass(frozen=True)
class Spent:
    """Calls and tokens spent so far."""

    calls: int = 0
    tokens: int = 0

    def plus(self, calls: int, tokens: int) -> Spent:
        """This and more."""
        return Spent(self.calls + calls, self.tokens + tokens)

    def refusal(self, limit: Budget) -> str:
        """The reason against a further call; empty if one may be made."""
        for kind, most in limit.limits.items():
            if getattr(self, kind) >= most:
                return f"the budget of {most:,} {kind} is used up"
        return ""

    def __str__(self) -> str:
        return f"{self.calls:,} call{'s' * (self.calls != 1)}, {self.tokens:,} tokens"


class SpentBudget:
    """Calls and tokens that a process spent in all its bundles."""

    def __init__(self) -> None:
        self._spent = Spent()
        self._lock = threading.Lock()

    @property
    def spent(self) -> Spent:
        """Calls and tokens spent so far."""
        return self._spent

    def spend(self, limit: Budget) -> str:
        """Count a call, or return the reason why it may not be made."""
        return self._change(1, 0, limit)

    def pay(self, tokens: int) -> None:
        """Count the tokens of a call."""
        self._change(0, tokens, Budget())

    def _change(self, calls: int, tokens: int, limit: Budget) -> str:
        with self._lock:
            if refusal := self._spent.refusal(limit):
                return refusal
            self._spent = self._spent.plus(calls, tokens)
            return ""


class Store:
    """Keeps the results of one bundle with one provider, in one process. Each case is claimed once in all.

    Attributes:
        shared: other processes write to it too.
    """

    shared = False

    def __init__(self, slots: int, spent_budget: SpentBudget) -> None:
        self._claimed: set[str] = set()
        self._results: dict[str, CaseResult] = {}
        self._slots, self.spent_budget = threading.Semaphore(slots), spent_budget
        self._lock = threading.Lock()

    def claim(self, case: str) -> bool:
        """Claim a case for this process; false if another one has it."""
        with self._lock:
            if case in self._claimed:
                return False
            self._claimed.add(case)
            return True

    def keep(self, result: CaseResult) -> None:
        """Keep the result of a case that was claimed here; a second one is dropped."""
        with self._lock:
            self._results.setdefault(result.case, result)

    def fetch(self, case: str) -> CaseResult | None:
        """The result of a case, asked by any process; a lost one if the process that claimed it has ended."""
        return self._results.get(case)

    def take_slot(self) -> bool:
        """Take one of the places of cases that run concurrently, if one is free."""
        return self._slots.acquire(blocking=False)

    def free_slot(self) -> None:
        """Give a place back."""
        self._slots.release()
