"""The reports of calls, which may come after the answers (R92).

No document says that a report is there when the answer is: one that comes up to a second later, from any thread,
counts. The suite waits for a missing report until it has seen that this adapter reports late. From then on no call
waits. Reports are assigned to calls by their operation and outcome, in the order in which they come; only a test that
looks at a report waits for it. An adapter that reports at once is never waited for.
"""

import time
from collections import Counter, deque
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, field
from typing import TypeVar

from pytest_corpus.adapter.hooks.metrics import Count, Observation, RecordingSink
from pytest_corpus.spec.errors import BY_CODE, TAXONOMY
from pytest_corpus.spec.words import STREAM_OUTCOME

LATEST_S = 1.0
"""The time after the answer within which a report counts."""

QUIET_S = 0.003
"""A surplus report comes at most this long, and twice the lateness, after the call."""

POLL_S = 0.001

PATIENCE = 3
"""The number of vain waits after which the suite assumes that nothing comes."""

MOST_FRUITLESS = 20
"""The same number if other reports came late."""

STEP_MS = 50
"""A call may be said to take so much longer than it took (R116)."""

OBSERVATION, OUTCOME = "observation", "outcome"

Report = TypeVar("Report", Observation, Count)


@dataclass(slots=True)
class Expected:
    """The call that reports belong to.

    Attributes:
        component: that of its operation.
        ops: the names that an observation of the call may have; empty for an unknown operation.
        is_due: it must be observed, and if it is `streaming`, its final outcome must be counted.
        streaming: its operation is a stream, or was called as one.
        failed: None if either outcome may be reported.
        codes: the codes of its error.
        labels: the labels of its context.
        begun, ended: on the monotonic clock.
        turn: the turn of the hooks over the wire in which it was made; None in this process.
    """

    component: str = ""
    ops: tuple[str, ...] = ()
    is_due: bool = False
    streaming: bool = False
    failed: bool | None = None
    codes: tuple[str, ...] = ()
    labels: Set[str] = frozenset()
    begun: float = 0.0
    ended: float = 0.0
    turn: int | None = None

    def differs(self, seen: Observation) -> int:
        """The number of facts in which an observation does not fit the call."""
        given = {label for label in ("tenant_hash", "deadline_bucket") if seen.extra.get(label) not in (None, "")}
        limit_ms = (self.ended - self.begun) * 1000 + STEP_MS
        facts = (
            bool(seen.component != self.component),
            self.failed is not None and seen.ok is self.failed,
            str(seen.code) not in self.codes if self.codes else self.failed is False and names_error(str(seen.code)),
            isinstance(seen.ms, (int, float)) and bool(seen.ms > limit_ms),
        )
        return sum(facts) + len(given ^ self.labels)

    def fits(self, seen: Observation) -> bool:
        """True if an observation can be that of the call."""
        return seen.op in self.ops and not self.differs(seen)

    def steps(self, seen: Observation) -> float:
        """The difference between the time that an observation gives and that of the call, in steps of `STEP_MS`."""
        took_ms = (self.ended - self.begun) * 1000
        return abs(took_ms - seen.ms) // STEP_MS if isinstance(seen.ms, (int, float)) else 0.0

    def miscounts(self, count: Count) -> bool:
        """True if the counter of a final outcome names another one."""
        named = set(map(str, count.extra.values()))
        if self.codes:
            return named.isdisjoint(self.codes)
        return self.failed is False and any(map(names_error, named))

    def ends_as(self, count: Count) -> bool:
        """True if a counter can be that of the call's final outcome."""
        return is_outcome(count) and not self.miscounts(count)


@dataclass(slots=True, eq=False)
class Reports:
    """The observations and counters of one call; with `late` more of them may come."""

    observations: list[Observation] = field(default_factory=list)
    counts: list[Count] = field(default_factory=list)
    call: Expected = field(default_factory=Expected)
    late: "LateReports | None" = None

    def lacks(self, kind: str) -> bool:
        """True if a report of this kind belongs to the call and has not come."""
        if kind == OBSERVATION:
            return bool(self.call.ops) and not any(seen.op in self.call.ops for seen in self.observations)
        return self.call.streaming and not any(map(is_outcome, self.counts))

    @property
    def is_complete(self) -> bool:
        """True if everything that must come has come."""
        return not self.call.is_due or not (self.lacks(OBSERVATION) or self.lacks(OUTCOME))

    @property
    def is_settled(self) -> bool:
        """True if nothing more can come."""
        return self.late is None or self.late.is_settled(self)

    def awaited(self, kind: str) -> "Reports":
        """Wait for the report of a kind, if it has to come."""
        if self.late is not None:
            self.late.wait_for(self, kind)
        return self


def names_error(code: str) -> bool:
    """True if a code is that of an error, or its name."""
    return code in TAXONOMY or code in BY_CODE


def is_outcome(count: Count) -> bool:
    """True if a counter reports the final outcome of a stream."""
    return str(count.name).endswith(STREAM_OUTCOME)


def exchanged(
    lacking: Reports,
    report: Report,
    calls: Sequence[Reports],
    kept: Callable[[Reports], list[Report]],
    fits: Callable[[Expected, Report], bool],
) -> Reports:
    """The call that a report belongs to: the one that lacks it, or else one that has been given the report of that."""
    for each in () if fits(lacking.call, report) else calls:
        for held in kept(each) if fits(each.call, report) else ():
            if lacking.call.begun <= held.at and fits(lacking.call, held):
                kept(each).remove(held)
                kept(lacking).append(held)
                return each
    return lacking


class LateReports:
    """The reports of one sink, assigned to the calls of its adapter.

    Attributes:
        seen_s: the longest delay of a report in seconds; 0 if none was late.
    """

    def __init__(self, sink: RecordingSink) -> None:
        self.sink = sink
        self._taken = (0, 0)
        self.seen_s = 0.0
        self._fruitless: Counter[str] = Counter()
        self._calls: deque[Reports] = deque()

    @property
    def grace_s(self) -> float:
        """The seconds after a call in which a surplus report may come."""
        return min(LATEST_S, 2 * self.seen_s + QUIET_S)

    def finish(self, calls: Sequence[Reports], observed: int, counted: int) -> None:
        """Assign the reports of calls that have just ended, or let them come.

        Args:
            observed: how many observations there were before the calls.
            counted: how many counters.
        """
        if self.seen_s:
            self._expect(calls)
            return
        turns = (None, calls[0].call.turn)

        def observations() -> list[Observation]:
            return [seen for seen in self.sink.observations[observed:] if seen.turn in turns]

        def counts() -> list[Count]:
            return [count for count in self.sink.counts[counted:] if count.turn in turns]

        due = [each.call.streaming for each in calls if each.call.is_due]
        if due:
            self._learn(OBSERVATION, lambda: len(observations()) >= len(due))
        if True in due:
            self._learn(OUTCOME, lambda: sum(map(is_outcome, counts())) >= sum(due))
        if self.seen_s:
            self._taken = observed, counted
            self._expect(calls)
        elif len(calls) == 1:
            calls[0].observations, calls[0].counts = observations(), counts()
        else:
            self._taken = observed, counted
            self._calls.extend(calls)
            self.assign()
            self._calls.clear()

    def _learn(self, kind: str, has_come: Callable[[], bool]) -> None:
        started = time.monotonic()
        if not has_come() and self._comes(kind, has_come, started + LATEST_S):
            self.seen_s = max(self.seen_s, time.monotonic() - started)

    def _expect(self, calls: Sequence[Reports]) -> None:
        for each in calls:
            each.late = self
        self._calls.extend(calls)
        self.assign()
        for each in calls:
            if not each.call.is_due:  # what a later call is taken for would be missing there, and so on
                self.wait_for(each, OUTCOME if each.call.streaming else OBSERVATION)

    def wait_for(self, reports: Reports, kind: str) -> None:
        """Wait for a report of a call; of one that need not be observed, as long as reports usually take."""

        def has_come() -> bool:
            self.assign()
            return not reports.lacks(kind) if reports.call.is_due or kind == OUTCOME else bool(reports.observations)

        wait_s = LATEST_S if reports.call.is_due else self.grace_s
        self._comes(kind if reports.call.is_due else f"{kind} that is not due", has_come, reports.call.ended + wait_s)

    def forget(self) -> None:
        """Drop the observations and counters of the sink; what comes late is still assigned to its call."""
        self.assign()
        observed, counted = self._taken
        del self.sink.observations[:observed], self.sink.counts[:counted]
        self._taken = (0, 0)

    def settle(self, *, surplus: bool = True) -> None:
        """Wait until the reports of all calls have come, or until it is too late for them; `surplus`: all of them."""
        while not all((each.is_complete and not surplus) or self.is_settled(each) for each in list(self._calls)):
            time.sleep(POLL_S)

    def is_settled(self, reports: Reports) -> bool:
        """True if a call has everything that it must have, and the time for surplus reports is over."""
        self.assign()
        past_s = time.monotonic() - reports.call.ended
        return past_s > LATEST_S or (reports.is_complete and past_s > self.grace_s)

    def _comes(self, kind: str, has_come: Callable[[], bool], until: float) -> bool:
        """Wait until a report has come; False if it does not come, or is not expected to."""
        while not has_come():
            if kind and self._fruitless[kind] >= (MOST_FRUITLESS if self.seen_s else PATIENCE):
                return False
            if time.monotonic() > until:
                self._fruitless[kind] += 1
                return False
            time.sleep(POLL_S)
        return True

    def assign(self) -> None:
        """Assign what has come: to the first call that lacks it and fits best, else to the last one that it names."""
        observed, counted = self._taken
        observations, counts = self.sink.observations[observed:], self.sink.counts[counted:]
        self._taken = observed + len(observations), counted + len(counts)
        for seen in observations if self._calls else ():
            if (reports := self._observed(seen)) is not None:
                reports.observations.append(seen)
        for count in counts if self._calls else ():
            if (reports := self._counted(count)) is not None:
                reports.counts.append(count)
        now = time.monotonic()
        while self._calls and now - self._calls[0].call.ended > LATEST_S:
            self._calls.popleft()

    def _observed(self, seen: Observation) -> Reports | None:
        known = self._made_before(seen)
        named = [each for each in known if seen.op in each.call.ops]
        if lacking := [each for each in named if each.lacks(OBSERVATION)]:
            overdue = seen.at - (self.seen_s + LATEST_S) / 2  # such a call may only seem to have taken long
            best = min(
                lacking,
                key=lambda each: (
                    each.call.differs(seen),
                    not each.call.is_due,
                    each.call.steps(seen) if each.call.ended > overdue else 0.0,
                ),
            )
            return exchanged(best, seen, named, lambda each: each.observations, Expected.fits)
        if named:
            return min(reversed(named), key=lambda each: each.call.differs(seen))
        return self._nearest([each for each in known if not each.call.ops] or known, seen.at)

    def _counted(self, count: Count) -> Reports | None:
        known = self._made_before(count)
        if is_outcome(count) and (streams := [each for each in known if each.call.streaming]):
            lacking = [each for each in streams if each.lacks(OUTCOME)]
            best = min(lacking or streams[::-1], key=lambda each: (each.call.miscounts(count), not each.call.is_due))
            return exchanged(best, count, streams, lambda each: each.counts, Expected.ends_as) if lacking else best
        named = [each for each in known if count.extra.get("op") in each.call.ops]
        return self._nearest(named or known, count.at)

    def _made_before(self, report: Observation | Count) -> list[Reports]:
        """The calls that a report may belong to."""
        turns = (None, report.turn)
        return [
            each
            for each in self._calls
            if each.call.begun <= report.at and (report.turn is None or each.call.turn in turns)
        ]

    def _nearest(self, calls: Sequence[Reports], at: float) -> Reports | None:
        """The call that was under way when a report was probably made."""
        made = at - self.seen_s
        return min(calls, key=lambda each: max(each.call.begun - made, made - each.call.ended, 0.0), default=None)
