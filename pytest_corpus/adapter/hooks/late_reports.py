"""The reports of calls, which may come after the answers (R92).

No document says that a report is there when the answer is: one that comes up to a second later, from any thread,
counts. The suite waits for a missing report until it has seen that this adapter reports late. From then on no call
waits, unless many reports are missing, or reports come in any order and would be taken for one another. Reports are
assigned to calls by their operation and outcome, in the order in which they come; only a test that looks at a report
waits for it. An adapter that reports at once is never waited for.
"""

import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Sequence, Set
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from pytest_corpus.adapter.hooks.metrics import Count, Observation, RecordingSink
from pytest_corpus.spec.errors import BY_CODE, TAXONOMY
from pytest_corpus.spec.words import STREAM_OUTCOME

LATEST_S = 1.0
"""The time after the answer within which a report counts."""

MOST_OPEN = 32
"""If more calls than this lack a report, no other call is made before that of the first has come."""

QUIET_S = 0.003
"""A surplus report comes at most this long, and twice the lateness, after the call."""

POLL_S = 0.001

PATIENCE = 3
"""The number of vain waits after which the suite assumes that nothing comes."""

MOST_FRUITLESS = 20
"""The same number if other reports came late."""

MOST_DISORDERED = 10
"""So many reports may come in the place of another without a conclusion."""

STEP_MS = 50
"""A call may be said to take so much longer than it took (R116)."""

OBSERVATION, OUTCOME = "observation", "outcome"


@dataclass(slots=True)
class Expected:
    """The call that reports belong to.

    Attributes:
        component: that of its operation.
        ops: the names that an observation of the call may have; empty for an unknown operation.
        is_due: it must be observed, and if it is `streaming`, its final outcome must be counted.
        misdirected: no operation was called: the name or the component is unknown, or the entry point the other one.
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
    misdirected: bool = False
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
        missing = set() if self.failed else self.labels - given  # a request may be refused before its context is read
        limit_ms = (self.ended - self.begun) * 1000 + STEP_MS
        facts = (
            bool(self.ops and seen.component != self.component),
            self.failed is not None and seen.ok is self.failed,
            str(seen.code) not in self.codes if self.codes else self.failed is False and names_error(str(seen.code)),
            isinstance(seen.ms, (int, float)) and bool(seen.ms > limit_ms),
        )
        return sum(facts) + len(given - self.labels) + len(missing)

    def fits(self, report: Observation | Count) -> bool:
        """True if an observation can be that of the call, or a counter that of its final outcome."""
        if isinstance(report, Count):
            return is_outcome(report) and not self.miscounts(report)
        return (report.op in self.ops or not self.ops) and not self.differs(report)

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


@dataclass(slots=True, eq=False)
class Reports:
    """The observations and counters of one call; with `late` more of them may come."""

    observations: list[Observation] = field(default_factory=list)
    counts: list[Count] = field(default_factory=list)
    call: Expected = field(default_factory=Expected)
    late: "LateReports | None" = None

    def of(self, kind: str) -> list[Any]:
        """The reports of this kind."""
        return self.observations if kind == OBSERVATION else self.counts

    def lacks(self, kind: str) -> bool:
        """True if a report of this kind belongs to the call and has not come."""
        if kind == OBSERVATION:
            ops, seen = self.call.ops, self.observations
            return not seen or (bool(ops) and seen[0].op not in ops and all(each.op not in ops for each in seen))
        return self.call.streaming and not any(map(is_outcome, self.counts))

    @property
    def is_complete(self) -> bool:
        """True if everything that must come has come."""
        return not self.call.is_due or not (self.lacks(OBSERVATION) or self.lacks(OUTCOME))

    @property
    def is_settled(self) -> bool:
        """True if nothing more can come."""
        if self.late is not None and self.late.is_settled(self):
            self.late = None
        return self.late is None

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


def place(report: Observation | Count, calls: Sequence[Reports], kind: str) -> bool:
    """Give a report to a call that lacks it, if need be by way of others that give theirs on.

    Reports come in any order, so a call may have been given one that only it could leave to another. Calls that
    must report come first.
    """

    def placed(given: Observation | Count, tried: set[int], *, is_due: bool) -> bool:
        able = [each for each in calls if each.call.begun <= given.at and each.call.fits(given)]
        for each in able:
            if each.call.is_due >= is_due and each.lacks(kind):
                each.of(kind).append(given)
                return True
        for each in able:
            for held in () if id(each) in tried else each.of(kind):
                tried.add(id(each))
                if placed(held, tried, is_due=is_due):
                    each.of(kind)[:] = [given if one is held else one for one in each.of(kind)]
                    return True
        return False

    return placed(report, set(), is_due=True) or placed(report, set(), is_due=False)


class LateReports:
    """The reports of one sink, assigned to the calls of its adapter.

    Attributes:
        seen_s: the longest delay of a report in seconds; 0 if none was late.
    """

    def __init__(self, sink: RecordingSink) -> None:
        self.sink = sink
        self._taken = (0, 0)
        self.seen_s = self._delay_s = self._latest = 0.0
        self._order = [0, 0]
        self._fruitless: Counter[str] = Counter()
        self._calls: deque[Reports] = deque()
        self._unobserved: list[Reports] = []

    @property
    def grace_s(self) -> float:
        """The seconds after a call in which a surplus report may come."""
        return min(LATEST_S, 2 * self.seen_s + QUIET_S)

    @property
    def is_disordered(self) -> bool:
        """True if many reports came after that of a later call; a few do where the adapter has several instances."""
        ordered, disordered = self._order
        return disordered > MOST_DISORDERED and disordered * 4 > ordered

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
            self._unobserved.extend(calls)
            self.assign()
            self._calls.clear()
            self._unobserved.clear()

    def _learn(self, kind: str, has_come: Callable[[], bool]) -> None:
        started = time.monotonic()
        if not has_come() and self._comes(kind, has_come, started + LATEST_S):
            self.seen_s = max(self.seen_s, time.monotonic() - started)

    def _expect(self, calls: Sequence[Reports]) -> None:
        for each in calls:
            each.late = self
        self._calls.extend(calls)
        self._unobserved.extend(calls)
        self.assign()
        for each in calls:
            call = each.call
            if self.is_disordered and "tenant_hash" in call.labels:  # one of another tenant must not be taken for it
                self.wait_for(each, OBSERVATION)
            elif not (call.is_due or call.misdirected):  # what a later call is taken for would be missing there
                self.wait_for(each, OUTCOME if call.streaming else OBSERVATION)
        self._catch_up()

    def _catch_up(self) -> None:
        """Wait if the adapter reports more slowly than it is called, or its reports come too late to count."""
        since = time.monotonic() - LATEST_S
        self._unobserved = [each for each in self._unobserved if each.call.ended > since]
        waiting = [each for each in self._unobserved if each.call.is_due]
        if len(waiting) > MOST_OPEN:

            def has_come() -> bool:
                self.assign()
                return waiting[0].is_complete

            self._comes("backlog", has_come, waiting[0].call.ended + LATEST_S, PATIENCE)

    def wait_for(self, reports: Reports, kind: str) -> None:
        """Wait for a report of a call; of one that need not be observed, as long as reports usually take."""

        def has_come() -> bool:
            self.assign()
            return not reports.lacks(kind)

        wait_s = LATEST_S if reports.call.is_due else self.grace_s
        self._comes(kind if reports.call.is_due else f"{kind} that is not due", has_come, reports.call.ended + wait_s)
        if not (reports.call.ops or reports.observations):
            self._claim(reports)

    def _claim(self, nameless: Reports) -> None:
        """Take the last observation that another call of no operation may have been given in the place of this one."""
        for each in reversed(self._calls):
            for seen in () if each.call.ops else each.observations:
                if nameless.call.begun <= seen.at and nameless.call.fits(seen):
                    each.observations.remove(seen)
                    nameless.observations.append(seen)
                    return

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
            self.assign()

    def is_settled(self, reports: Reports) -> bool:
        """True if a call has everything that it must have, and the time for surplus reports is over."""
        past_s = time.monotonic() - reports.call.ended
        if past_s <= self.grace_s:
            return False
        self.assign()
        return past_s > LATEST_S or reports.is_complete

    def _comes(self, kind: str, has_come: Callable[[], bool], until: float, most: int = MOST_FRUITLESS) -> bool:
        """Wait until a report has come; False if it does not come, or is not expected to."""
        waited = False
        while not has_come():
            if kind and self._fruitless[kind] >= (most if self.seen_s else PATIENCE):
                return False
            if time.monotonic() > until:
                self._fruitless[kind] += waited
                return False
            time.sleep(POLL_S)
            waited = True
        return True

    def assign(self) -> None:
        """Assign what has come: to the first call that lacks it and fits best, else to the last one that it names."""
        observed, counted = self._taken
        self._taken = len(self.sink.observations), len(self.sink.counts)
        since = time.monotonic() - LATEST_S
        if self._calls and self._taken != (observed, counted):
            for seen in self.sink.observations[observed : self._taken[0]]:
                self._observed(seen)
            for count in self.sink.counts[counted : self._taken[1]]:
                self._counted(count)
            if self._taken[0] != observed:
                self._unobserved = [each for each in self._unobserved if each.lacks(OBSERVATION)]
        while self._calls and self._calls[0].call.ended < since:
            self._calls.popleft()

    def _observed(self, seen: Observation) -> None:
        candidates = self._made_before(seen, self._unobserved)
        lacking = [each for each in candidates if seen.op in each.call.ops and each.lacks(OBSERVATION)]
        overdue = seen.at - (self.seen_s + LATEST_S) / 2  # such a call may only seem to have taken long

        def unlikeness(each: Reports) -> tuple[object, ...]:
            steps = each.call.steps(seen) if each.call.ended > overdue else 0.0
            return each.call.differs(seen), not each.call.is_due, steps

        best = min(lacking, key=unlikeness, default=None)
        if best is None or not best.call.fits(seen):
            known = self._made_before(seen, self._calls)
            named = [each for each in known if seen.op in each.call.ops]
            nameless = [each for each in known if not each.call.ops]
            if not named:
                strangers = [each for each in nameless if each.lacks(OBSERVATION) and each.call.fits(seen)]
                best = self._nearest(strangers or nameless or known, seen.at)
            elif place(seen, [*named, *nameless], OBSERVATION):
                return
            else:
                best = best or min(reversed(named), key=lambda each: each.call.differs(seen))
        if best is not None:
            best.observations.append(seen)
            if best.call.is_due:
                self._delay_s = min(seen.at - best.call.ended, LATEST_S)
                self.seen_s = max(self.seen_s, self._delay_s)
                self._order[best.call.ended < self._latest] += 1
                self._latest = max(self._latest, best.call.begun)

    def _counted(self, count: Count) -> None:
        streams = [each for each in self._calls if each.call.streaming] if is_outcome(count) else []
        if streams := self._made_before(count, streams):
            lacking = [each for each in streams if each.lacks(OUTCOME)]
            best = min(lacking or streams[::-1], key=lambda each: (each.call.miscounts(count), not each.call.is_due))
            if best.call.fits(count) or not place(count, streams, OUTCOME):
                best.counts.append(count)
            return
        since = count.at - self.grace_s
        recent = [*takewhile(lambda each: each.call.ended >= since, reversed(self._calls))][::-1]
        known = self._made_before(count, recent) or self._made_before(count, self._calls)
        named = [each for each in known if count.extra.get("op") in each.call.ops]
        if (nearest := self._nearest(named or known, count.at)) is not None:
            nearest.counts.append(count)

    def _made_before(self, report: Observation | Count, calls: Collection[Reports]) -> list[Reports]:
        """Those of some calls that a report may belong to."""
        turns = (None, report.turn)
        return [
            each for each in calls if each.call.begun <= report.at and (report.turn is None or each.call.turn in turns)
        ]

    def _nearest(self, calls: Sequence[Reports], at: float) -> Reports | None:
        """The call that was under way when a report was made, if it came as late as the last one."""
        made = at - self._delay_s
        return min(calls, key=lambda each: max(each.call.begun - made, made - each.call.ended, 0.0), default=None)
