"""Claims and results of cases: in one process, or shared by the workers of a run (R84)."""

import threading
from typing import Protocol

from pytest_corpus.bundles.results import CaseResult
from pytest_corpus.bundles.running.spending import SpendingLimit, Spent


class Store(Protocol):
    """Keeps the results of one bundle with one provider. Each case is claimed once in all."""

    shared: bool
    """True if other processes write to it too."""

    def claim(self, case: str) -> bool:
        """Claim a case for this process; false if another one has it."""

    def keep(self, result: CaseResult) -> None:
        """Keep the result of a case that was claimed here; a second one is dropped."""

    def fetch(self, case: str) -> CaseResult | None:
        """The result of a case, whichever process asked it; a lost one if the process that claimed it has ended."""

    def take_slot(self) -> bool:
        """Take one of the places of cases that run side by side, if one is free."""

    def free_slot(self) -> None:
        """Give a place back."""

    def spend(self, limit: SpendingLimit) -> str:
        """Count a call; why it may not be made, or nothing."""

    def pay(self, tokens: int) -> None:
        """Count the tokens of a call."""


class SpentBudget:
    """Calls and tokens that a process spent in all its bundles."""

    def __init__(self) -> None:
        self.spent = Spent()
        self._lock = threading.Lock()

    def spend(self, limit: SpendingLimit) -> str:
        with self._lock:
            if refused := limit.exceeded(self.spent):
                return refused
            self.spent = self.spent.plus(1, 0)
            return ""

    def pay(self, tokens: int) -> None:
        with self._lock:
            self.spent = self.spent.plus(0, tokens)


class MemoryStore:
    """The store of a run in one process."""

    shared = False

    def __init__(self, slots: int, spent_budget: SpentBudget) -> None:
        self._claimed: set[str] = set()
        self._results: dict[str, CaseResult] = {}
        self._free, self._spent_budget = slots, spent_budget
        self._lock = threading.Lock()

    def claim(self, case: str) -> bool:
        with self._lock:
            if case in self._claimed:
                return False
            self._claimed.add(case)
            return True

    def keep(self, result: CaseResult) -> None:
        with self._lock:
            self._results.setdefault(result.case, result)

    def fetch(self, case: str) -> CaseResult | None:
        return self._results.get(case)

    def take_slot(self) -> bool:
        with self._lock:
            if self._free == 0:
                return False
            self._free -= 1
            return True

    def free_slot(self) -> None:
        with self._lock:
            self._free += 1

    def spend(self, limit: SpendingLimit) -> str:
        return self._spent_budget.spend(limit)

    def pay(self, tokens: int) -> None:
        self._spent_budget.pay(tokens)
