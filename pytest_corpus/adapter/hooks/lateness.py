"""Waiting for observations that arrive after the answer (R92).

No document says that an observation is there when the answer is. One that comes up to a second later, from whatever
thread, counts; the suite waits only where it would otherwise say "none". Who is never late is never waited for, and
who never reports is not waited for again and again.
"""

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

LATEST_S = 1.0
"""The time after an answer in which an observation still counts."""

QUIET_S = 0.003
"""Late reports are complete if none has come for this time and half of the lateness."""

PATIENCE = 3
"""The number of waits in vain after which the suite expects no more reports."""

MOST_FRUITLESS = 20
"""The same number for an adapter whose other reports came late."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Reports that a call must lead to: how many there are by now, and how many there must be."""

    present: Callable[[], int]
    expected: int


class Lateness:
    """The lateness of an adapter's reports, as far as it is known.

    Attributes:
        seen_s: the most that one was late, in seconds; 0 where none was.
    """

    def __init__(self) -> None:
        self.seen_s = 0.0
        self._fruitless: Counter[str] = Counter()

    def wait(self, wanted: Mapping[str, Wanted], reports: Callable[[], int]) -> None:
        """Wait for the reports of a call that has just ended.

        Args:
            wanted: the kinds of reports of which there must be some, by name.
            reports: how many reports of any kind there are by now.
        """
        for kind, each in wanted.items():
            if each.present() < each.expected:
                self._wait_for(kind, each)
        if self.seen_s and not reports() and not any(each.expected for each in wanted.values()):
            time.sleep(min(LATEST_S, 2 * self.seen_s + QUIET_S))
        if self.seen_s:
            self._wait_for_quiet(reports)

    def _wait_for(self, kind: str, wanted: Wanted) -> None:
        if self._fruitless[kind] >= (MOST_FRUITLESS if self.seen_s else PATIENCE):
            return
        started = time.monotonic()
        while wanted.present() < wanted.expected:
            if time.monotonic() - started > LATEST_S:
                self._fruitless[kind] += 1
                return
            time.sleep(0.001)
        self.seen_s = max(self.seen_s, time.monotonic() - started)

    def _wait_for_quiet(self, reports: Callable[[], int]) -> None:
        """Until nothing has come for a while: a stream is observed and counted."""
        before = -1
        while before != (before := reports()):
            time.sleep(QUIET_S + self.seen_s / 2)
