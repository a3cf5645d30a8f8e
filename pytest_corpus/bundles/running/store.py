"""The store, the spent budget and the answer journal. A store assigns each case once and keeps the results (R84).

The journal is a file of answers, so that a killed run can be resumed without asking the provider again.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_corpus.adapter.usage import Budget
from pytest_corpus.bundles.results import CaseResult, lost_result
from pytest_corpus.text import bounded
from pytest_corpus.validation.schema.evidence import first_flaw
from pytest_corpus.verdict.shards import Shard

FILE = "answers{}.jsonl"
"""The name of a journal. Each shard writes its own file, so that shards may share a folder; all files are read."""


class AnswerJournal:
    """The answers of all bundles of a run, in the files of a folder.

    Args:
        shard: the shard that runs; None for a complete run.

    Raises:
        FileRefused: a file in the folder is not a valid journal or exceeds its limits.
        OSError: the file cannot be written.
    """

    def __init__(self, folder: Path, shard: Shard | None = None) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        own = folder / FILE.format(f"-{shard.number}-of-{shard.of}" if shard else "")
        self._known: dict[str, bytes] = {}  # as text, which needs less memory than the values
        is_cut_off = False
        for path in sorted(folder.glob(FILE.format("*"))):
            line = b""
            for line in bounded.read_lines(path):
                with suppress(ValueError):  # an incomplete line; its question is asked again
                    entry = bounded.parse_value(line)
                    if not first_flaw("bundle/answer", entry):
                        self._known[entry[0]] = line
            is_cut_off = is_cut_off or (path == own and line[-1:] not in (b"", b"\n"))
        self._handle = os.open(own, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        if is_cut_off:  # the process was killed while it wrote
            os.write(self._handle, b"\n")

    def recall(self, key: str) -> Any:
        """Return the entry that was recorded under a key, or None."""
        line = self._known.get(key)
        return line and bounded.parse_value(line)[1]

    def record(self, key: str, entry: Any) -> None:
        """Record an entry under a key. It is in the file when this method returns."""
        line = json.dumps([key, entry]).encode() + b"\n"
        with self._lock:
            self._known[key] = line
            os.write(self._handle, line)

    def close(self) -> None:
        """Close the file."""
        os.close(self._handle)


@dataclass(frozen=True)
class CallsAndTokens:
    """Calls and tokens that were spent."""

    calls: int = 0
    tokens: int = 0

    def plus(self, calls: int, tokens: int) -> CallsAndTokens:
        """Return these numbers, increased by further calls and tokens."""
        return CallsAndTokens(self.calls + calls, self.tokens + tokens)

    def refusal(self, limit: Budget) -> str:
        """Return the reason why no further call is allowed; empty if a call is allowed."""
        for kind, most in limit.limits.items():
            if getattr(self, kind) >= most:
                return f"the budget of {most:,} {kind} is used up"
        return ""

    def __str__(self) -> str:
        return f"{self.calls:,} call{'s' * (self.calls != 1)}, {self.tokens:,} tokens"


class SpentBudget:
    """The calls and tokens that a process spent on all its bundles."""

    def __init__(self) -> None:
        self._spent = CallsAndTokens()
        self._lock = threading.Lock()

    @property
    def spent(self) -> CallsAndTokens:
        """Calls and tokens spent so far."""
        return self._spent

    def spend(self, limit: Budget, calls: int = 1) -> str:
        """Count calls; return the reason if the limit does not allow them, otherwise an empty text."""
        return self.change(calls, 0, limit)

    def add_tokens(self, tokens: int) -> None:
        """Count the tokens of a finished call."""
        if tokens:
            self.change(0, tokens, Budget())

    def change(self, calls: int, tokens: int, limit: Budget) -> str:
        """Count calls and tokens; return the reason if the limit does not allow them, otherwise an empty text."""
        with self._lock:
            if refusal := self._spent.plus(max(calls - 1, 0), 0).refusal(limit):
                return refusal
            self._spent = self._spent.plus(calls, tokens)
            return ""


class CaseStore:
    """Hands out each case of one bundle with one provider exactly once, and keeps the results.

    Args:
        cases: the ids of the selected cases, in order.
        slots: the largest number of cases that run concurrently in all processes.
        journal: saves answers, so that a run can be resumed.
    """

    is_shared = False
    """True if other processes use the same store."""

    def __init__(
        self, cases: Iterable[str], slots: int, spent_budget: SpentBudget, journal: AnswerJournal | None = None
    ) -> None:
        self.slots, self.spent_budget, self.journal = slots, spent_budget, journal
        self.results: dict[str, CaseResult] = {}
        self.cases = tuple(cases)
        self._in_order = (case for case in self.cases if self._is_waiting(case))
        self._running: dict[str, object] = {}
        self._lock = threading.Lock()

    def begin(self, start: Callable[[str], None], changed: Callable[[], None]) -> None:
        """Set the callbacks that start a case and report a new result. Only a store in another process needs them."""

    def leave(self) -> None:
        """Assign no further cases to this process."""

    def _is_waiting(self, case: str) -> bool:
        return case not in self.results and case not in self._running

    def next(self, wanted: str | None, owner: object = None) -> CaseResult | str | None:
        """Return the wanted result, or the id of a case that the caller must run now, or None if the caller must wait.

        Args:
            wanted: the case whose result the caller needs; None for any case. If several cases may run concurrently,
                another case may be assigned.
            owner: the process of the caller.
        """
        with self._lock:
            case = None
            if len(self._running) < self.slots:
                case = (
                    wanted if wanted and (self.slots == 1 or self._is_waiting(wanted)) else next(self._in_order, None)
                )
            if case is None or not self._is_waiting(case):
                return self.results.get(wanted or "")
            self._running[case] = owner
            return case

    def keep(self, result: CaseResult) -> None:
        """Keep the result of an assigned case; ignore a second result."""
        with self._lock:
            if self._running.pop(result.case, self) is not self:
                self.results[result.case] = result

    def leave_out(self, result: CaseResult) -> CaseResult:
        """Set the result of a case that is left out, and return this result. An earlier result of the case is replaced,
        because the outcome must not depend on timing.
        """
        with self._lock:
            self._running.pop(result.case, None)
            self.results[result.case] = result
        return result

    def abandon(self, owner: object) -> None:
        """Set an error as the result of each running case of a dead process."""
        for case in [case for case, each in list(self._running.items()) if each is owner]:
            self.keep(lost_result(case))
