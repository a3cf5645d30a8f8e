"""Waits for the reports of calls, which may arrive after the answers (R92).

No document requires that reports arrive before the answer, so a report counts if it arrives up to a second later, from
any thread. At first the suite waits for each missing report. If several late reports have named their calls
(`adapter/scope.py`), only a test that needs a report waits for it. If reports do not name their calls, each call waits
for the reports of the previous call. Adapters that report at once cause no waiting.
"""

import time
from collections import Counter, deque
from collections.abc import Callable, Sequence

from pytest_corpus.adapter.scope import LATEST_S, OBSERVATION, OUTCOME, Attribution, Observed
from pytest_corpus.adapter.turns import giving_way

MOST_OPEN = 32
"""If more calls than this lack a report, the suite waits for the oldest missing report before the next call."""

QUIET_S = 0.003
"""The seconds to wait for further reports after a call, in addition to twice the longest delay of a report."""

POLL_S = 0.001

PROVEN = 3
"""The number of late reports after which the suite relies on reports to name their calls."""

PATIENCE = 3
"""The number of unsuccessful waits after which the suite assumes that no report comes."""

MOST_FRUITLESS = 20
"""The number of unsuccessful waits that replaces `PATIENCE` if other reports of the adapter came late."""


def pause() -> None:
    """Wait a short time, before looking for reports again."""
    with giving_way():
        time.sleep(POLL_S)


def wait_for_reports(calls: Sequence[Observed]) -> None:
    """Wait until the reports of calls have arrived or are overdue."""
    while not all(call.is_settled for call in calls):
        pause()


class LateReports:
    """Waits for the reports of one adapter.

    Attributes:
        seen_s: the longest delay of a report in seconds; 0 if no report was late.
    """

    def __init__(self, attribution: Attribution) -> None:
        self._attribution = attribution
        self.seen_s = 0.0
        self._proven = 0
        self._fruitless: Counter[str] = Counter()
        self._open: deque[Observed] = deque()

    @property
    def is_exact(self) -> bool:
        """True if every report so far has named its call."""
        return self._attribution.is_exact

    @property
    def grace_s(self) -> float:
        """The seconds after a call in which a surplus report, which nothing requires, may arrive."""
        return min(LATEST_S, 2 * self.seen_s + QUIET_S)

    def finish(self, calls: Sequence[Observed]) -> None:
        """Wait for the reports of finished calls, unless it is proven that reports name their calls."""
        since = time.monotonic() - LATEST_S
        while self._open and self._open[0].ended < since:
            self._open.popleft()
        if self._proven < PROVEN or not self.is_exact:
            for call in calls:
                self._wait_for_reports(call)
        if not self.seen_s:
            return
        for call in calls:
            call.late = self
        self._open.extend(calls)
        incomplete = [call for call in self._open if not call.is_complete]
        if len(incomplete) > MOST_OPEN:
            first = incomplete[0]
            self._wait_until("backlog", lambda: first.is_complete, first.ended + LATEST_S, PATIENCE)

    def _wait_for_reports(self, call: Observed) -> None:
        """Wait for required reports of a call. If reports do not name their calls, wait for optional reports, too."""
        for kind in (OBSERVATION, OUTCOME):
            if not call.is_missing(kind):
                continue
            if not call.is_due:
                if self.seen_s and not self.is_exact:
                    self.wait_for(call, kind)
                continue
            if self.wait_for(call, kind):
                self.seen_s = max(self.seen_s, min(time.monotonic() - call.ended, LATEST_S))
                self._proven += 1

    def wait_for(self, call: Observed, kind: str) -> bool:
        """Wait for a report of a call; return True if it has arrived. The wait for an optional report is shorter."""
        wait_s = LATEST_S if call.is_due else self.grace_s
        return self._wait_until(
            kind if call.is_due else f"{kind} that is not due", lambda: not call.is_missing(kind), call.ended + wait_s
        )

    def settle(self, *, surplus: bool = True) -> None:
        """Wait until the reports of all calls have arrived or are overdue. With `surplus`, wait for further reports."""
        while not all((call.is_complete and not surplus) or self.is_settled(call) for call in self._open):
            pause()

    def is_settled(self, call: Observed) -> bool:
        """True if a call has all required reports, and the time for surplus reports is over."""
        past_s = time.monotonic() - call.ended
        return past_s > LATEST_S or (past_s > self.grace_s and call.is_complete)

    def _wait_until(self, kind: str, has_come: Callable[[], bool], until: float, most: int = MOST_FRUITLESS) -> bool:
        """Wait until `has_come` returns True; return False at the time `until`, or after `most` waits."""
        waited = False
        while not has_come():
            if self._fruitless[kind] >= (most if self.seen_s else PATIENCE):
                return False
            if time.monotonic() > until:
                self._fruitless[kind] += waited
                return False
            pause()
            waited = True
        return True
