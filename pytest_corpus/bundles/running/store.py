"""Claims and results of cases, and the cost of their calls (R84). A journal file keeps answers if a run is killed."""

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
"""Each shard writes a file of its own, so that shards may share a folder; all of them are read."""


class AnswerJournal:
    """The answers of all bundles of a run, in a folder.

    Args:
        shard: the shard that runs; None for a whole run.

    Raises:
        FileRefused: a file in the folder is not a valid journal or exceeds its limits.
        OSError: the file cannot be written.
    """

    def __init__(self, folder: Path, shard: Shard | None = None) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        own = folder / FILE.format(f"-{shard.number}-of-{shard.of}" if shard else "")
        self._known: dict[str, bytes] = {}  # as lines, which take less memory than their values
        is_cut_off = False
        for path in sorted(folder.glob(FILE.format("*"))):
            line = b""
            for line in bounded.read_lines(path):
                with suppress(ValueError):  # a line that was cut off; what it answered is asked again
                    entry = bounded.parse_value(line)
                    if not first_flaw("bundle/answer", entry):
                        self._known[entry[0]] = line
            is_cut_off = is_cut_off or (path == own and line[-1:] not in (b"", b"\n"))
        self._handle = os.open(own, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        if is_cut_off:  # the process was killed while it wrote
            os.write(self._handle, b"\n")

    def recall(self, key: str) -> Any:
        """Return the entry of a key, or None."""
        line = self._known.get(key)
        return line and bounded.parse_value(line)[1]

    def record(self, key: str, entry: Any) -> None:
        """Save an entry. It is in the file when this method returns."""
        line = json.dumps([key, entry]).encode() + b"\n"
        with self._lock:
            self._known[key] = line
            os.write(self._handle, line)

    def close(self) -> None:
        """Close the file."""
        os.close(self._handle)


@dataclass(frozen=True)
class Spent:
    """Calls and tokens spent so far."""

    calls: int = 0
    tokens: int = 0

    def plus(self, calls: int, tokens: int) -> Spent:
        """Return these numbers plus more calls and tokens."""
        return Spent(self.calls + calls, self.tokens + tokens)

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
        self._spent = Spent()
        self._lock = threading.Lock()

    @property
    def spent(self) -> Spent:
        """Calls and tokens spent so far."""
        return self._spent

    def spend(self, limit: Budget, calls: int = 1) -> str:
        """Count calls, or return the reason why they are not allowed."""
        return self.change(calls, 0, limit)

    def pay(self, tokens: int) -> None:
        """Count the tokens of a call."""
        if tokens:
            self.change(0, tokens, Budget())

    def change(self, calls: int, tokens: int, limit: Budget) -> str:
        """Count calls and tokens, or return the reason why no further call is allowed."""
        with self._lock:
            if refusal := self._spent.plus(max(calls - 1, 0), 0).refusal(limit):
                return refusal
            self._spent = self._spent.plus(calls, tokens)
            return ""


class CaseStore:
    """Hands out each case of one bundle with one provider exactly once, and keeps the results.

    Args:
        cases: the selected cases, in their order.
        slots: the largest number of cases that run concurrently in all processes.
        journal: keeps answers so that a run can be resumed.
    """

    is_shared = False
    """Other processes wait for its cases."""

    def __init__(
        self, cases: Iterable[str], slots: int, spent_budget: SpentBudget, journal: AnswerJournal | None = None
    ) -> None:
        self.slots, self.spent_budget, self.journal = slots, spent_budget, journal
        self.results: dict[str, CaseResult] = {}
        self.cases = tuple(cases)
        self._in_order = (case for case in self.cases if self._waits(case))
        self._running: dict[str, object] = {}
        self._lock = threading.Lock()

    def begin(self, start: Callable[[str], None], changed: Callable[[], None]) -> None:
        """Set the callbacks that start a case and report a new result; only stores of other processes use them."""

    def leave(self) -> None:
        """Stop handing out cases."""

    def _waits(self, case: str) -> bool:
        return case not in self.results and case not in self._running

    def next(self, wanted: str | None, owner: object = None) -> CaseResult | str | None:
        """Return the wanted result, or the id of a case that the caller must run now, or None if it must wait.

        Args:
            wanted: the case whose result the caller needs; None for any case. Other cases are handed out if several may
                run concurrently.
            owner: the process of the caller.
        """
        with self._lock:
            case = None
            if len(self._running) < self.slots:
                case = wanted if wanted and (self.slots == 1 or self._waits(wanted)) else next(self._in_order, None)
            if case is None or not self._waits(case):
                return self.results.get(wanted or "")
            self._running[case] = owner
            return case

    def keep(self, result: CaseResult) -> None:
        """Keep the result of a case that was handed out; drop a second result."""
        with self._lock:
            if self._running.pop(result.case, self) is not self:
                self.results[result.case] = result

    def leave_out(self, result: CaseResult) -> CaseResult:
        """Set the result of a case that is left out. It replaces a real result, so that timing has no influence."""
        with self._lock:
            self._running.pop(result.case, None)
            self.results[result.case] = result
        return result

    def abandon(self, owner: object) -> None:
        """Mark the cases of a dead process as failed; they do not run again."""
        for case in [case for case, each in list(self._running.items()) if each is owner]:
            self.keep(lost_result(case))
