"""Assigns reports, exchanges and plans to the calls and parts of a run. A part is a test, or a fact that tests share.

Exchanges, plans and random inputs belong to the innermost `Part`. An adapter's reports, logs and provider requests
belong to a call, and the call belongs to the part in which it was made.

Context variables hold the part and the call; asyncio copies them into the task of the call. So the call is known in the
code that the adapter awaits, in its tasks, generators and callbacks, in `asyncio.to_thread` and in the loop's executor.
A report over the wire is sent to an address of its call. The adapter's own executors, raw threads and queue workers
know no call, or only the call that started them. Their reports are assigned to the active call, and from then on each
call waits until the reports of the previous call have arrived. An observation of more time than that call took belongs
to a call that was given up, if there is one: a queue worker may go on with it, and report it much later.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Protocol

from pytest_corpus.adapter.fault_plan import Plan
from pytest_corpus.adapter.reports import CLOCKS_MS, Arrival, Count, Observation

LATEST_S = 1.0
"""The time after the answer within which a report counts (R92)."""

MOST_CALLS = 256
"""The number of latest calls to which a report that names no call may be assigned."""

OBSERVATION, OUTCOME = "observation", "outcome"
"""The kinds of reports that a call must have; only a stream must have an outcome."""


class Part:
    """A part of a run: a test, or a fact that tests share.

    Attributes:
        exchanges: the exchanges of the part, in order, including the exchanges of known facts that it uses.
        recalled: the exchanges in `exchanges` that another part made.
        plans: the plans at the provider; plans of a test do not affect the calls of a fact.
        chance: the random inputs.
    """

    def __init__(self, outer: Part | None = None, chance: Any = None) -> None:
        self.outer = outer
        self.exchanges: list[Any] = []
        self.recalled: set[Any] = set()
        self.plans: list[Plan] = []
        self.chance: Any = chance if outer is None or chance is not None else outer.chance

    @property
    def own_exchanges(self) -> list[Any]:
        """The exchanges that this part made itself."""
        return [exchange for exchange in self.exchanges if exchange not in self.recalled]

    def recall(self, exchanges: Iterable[Any]) -> None:
        """Add the exchanges of a fact that another test found out."""
        known = {exchange for part in self.family for exchange in part.exchanges}
        new = [exchange for exchange in exchanges if exchange not in known]
        self.exchanges += new
        self.recalled.update(new)

    def drop(self, exchanges: Iterable[Any]) -> None:
        """Remove exchanges that prove nothing, such as failed attempts."""
        dropped = set(exchanges)
        self.exchanges[:] = [exchange for exchange in self.exchanges if exchange not in dropped]

    @property
    def family(self) -> Iterator[Part]:
        """This part, the part that it belongs to, and so on."""
        part: Part | None = self
        while part is not None:
            yield part
            part = part.outer


_PART: ContextVar[Part | None] = ContextVar("corpus_part", default=None)


def current_part() -> Part | None:
    """Return the innermost current part of the run; None outside of any part."""
    return _PART.get()


def begin_part(part: Part | None) -> None:
    """Begin the part of a test. This part ends when the next part begins, or with the run."""
    _PART.set(part)


@contextmanager
def part_of(outer: Part | None, chance: Any = None, *, is_seen: bool = True) -> Iterator[Part]:
    """Begin a part within `outer`, with the random inputs `chance`. If `is_seen`, `outer` gets the part's exchanges."""
    part = Part(outer, chance)
    before = _PART.set(part)
    try:
        yield part
    finally:
        _PART.reset(before)
        if outer is not None and is_seen:
            outer.exchanges += part.exchanges
            outer.recalled |= part.recalled


class ReportWaiter(Protocol):
    """Waits for the reports of a call."""

    def wait_for(self, call: Observed, kind: str) -> bool: ...

    def is_settled(self, call: Observed) -> bool: ...


@dataclass(slots=True, eq=False)
class Observed:
    """The scope of a call: everything that is observed of the call besides its answer.

    Attributes:
        ops: the names that an observation of the call may have; empty for an unknown operation.
        is_due: True if the adapter must report an observation of the call, and for a stream also its final outcome.
        streaming: True if the operation is a stream, or was called as a stream.
        part: the part of the run that made the call; None after its end, because a part holds all its exchanges.
        plans: the plans of this part.
        began: the beginning of the call on the monotonic clock.
        ended: the end of the call on the monotonic clock; infinite while it is under way.
        is_given_up: True if the suite stopped waiting for the answer; the adapter may go on, and report at any time.
        applied_plans: the plans at the provider that affected the call.
        hints_ms: the values of `retry_after_ms` that the provider gave with these faults.
        debug_logs: the log records below INFO.
        log_sources, debug_sources: the logger and the line of each record, if they are known.
        headers: the headers of an answer over HTTP.
        late: the object that waits for late reports; None if no report can come.
    """

    ops: tuple[str, ...] = ()
    is_due: bool = False
    streaming: bool = False
    part: Part | None = None
    plans: list[Plan] | None = None
    began: float = -math.inf
    ended: float = math.inf
    is_given_up: bool = False
    observations: list[Observation] = field(default_factory=list)
    counts: list[Count] = field(default_factory=list)
    arrivals: list[Arrival] = field(default_factory=list)
    applied_plans: list[Plan] = field(default_factory=list)
    hints_ms: frozenset[float] = frozenset()
    logs: Sequence[str] = ()
    debug_logs: Sequence[str] = ()
    log_sources: Sequence[str] = ()
    debug_sources: Sequence[str] = ()
    headers: Sequence[str] = ()
    late: ReportWaiter | None = None

    def end(self, at: float, *, is_given_up: bool = False) -> None:
        """Record the end of the call."""
        self.ended, self.is_given_up, self.part = at, is_given_up, None

    @property
    def is_over(self) -> bool:
        """True if the call has ended."""
        return self.ended < math.inf

    @property
    def reached_provider(self) -> int:
        """The number of operations that reached the provider."""
        return sum(arrival.chunk is None for arrival in self.arrivals)

    @property
    def arrivals_with_context(self) -> list[Arrival]:
        """The arrivals at the provider that passed on members of the context."""
        return [arrival for arrival in self.arrivals if arrival.facts]

    @property
    def faults(self) -> tuple[str, ...]:
        """The kinds of the planned faults that affected the call."""
        return tuple(plan.kind for plan in self.applied_plans)

    def is_missing(self, kind: str) -> bool:
        """True if a report of this kind belongs to the call but has not arrived."""
        if kind == OBSERVATION:
            return not any(seen.op in self.ops or not self.ops for seen in self.observations)
        return self.streaming and not any(count.is_outcome for count in self.counts)

    @property
    def is_complete(self) -> bool:
        """True if all required reports have arrived."""
        return not self.is_due or not (self.is_missing(OBSERVATION) or self.is_missing(OUTCOME))

    @property
    def is_settled(self) -> bool:
        """True if no more reports can arrive."""
        if self.late is not None and self.late.is_settled(self):
            self.late = None
        return self.late is None

    def wait_for_report(self, kind: str) -> Observed:
        """Wait for a report of this kind, if the call must have one; return the call."""
        if self.late is not None:
            self.late.wait_for(self, kind)
        return self


_CALL: ContextVar[Observed | None] = ContextVar("corpus_call", default=None)


def current_call() -> Observed | None:
    """Return the call of the current scope, even if the call has ended; None outside of any call."""
    return _CALL.get()


@contextmanager
def call_scope(call: Observed | None) -> Iterator[None]:
    """Run the block in the scope of a call, or in no call."""
    before = _CALL.set(call)
    try:
        yield
    finally:
        with suppress(ValueError):  # a collected coroutine is closed in another context
            _CALL.reset(before)


class Attribution:
    """Assigns reports of an adapter to its calls. All instances of the adapter share one object.

    Attributes:
        is_exact: True if every report so far has named its call.
        names_arrivals: True if every arrival at the provider so far has named its call.
        outside: the part for calls outside of all parts of the run.
    """

    def __init__(self) -> None:
        self.outside = Part()
        self.is_exact = self.names_arrivals = True
        self._calls: deque[Observed] = deque(maxlen=MOST_CALLS)

    @property
    def latest(self) -> Observed | None:
        """The call that began last."""
        return self._calls[-1] if self._calls else None

    @property
    def operation(self) -> str | None:
        """The operation of the call that began last."""
        return self.latest.ops[-1] if self.latest is not None and self.latest.ops else None

    @property
    def part(self) -> Part:
        """The current part of the run; in a thread without a part, the part of the latest call."""
        if (part := current_part()) is not None:
            return part
        latest = self.latest
        return latest.part if latest is not None and latest.part is not None else self.outside

    def begin(self, call: Observed) -> None:
        """Record the beginning of a call."""
        call.began, call.part = time.monotonic(), self.part
        call.plans = call.part.plans
        self._calls.append(call)

    def is_past(self, call: Observed) -> bool:
        """True if another call has begun since this call ended."""
        return call.is_over and self.latest is not None and self.latest is not call

    def call_of_arrival(self) -> Observed | None:
        """Return the call that an arrival at the provider belongs to; None if no call is active."""
        call = current_call()
        if call is not None and not call.is_over:
            return call
        under_way = next((each for each in reversed(self._calls) if not each.is_over), None)
        self.names_arrivals = self.names_arrivals and under_way is None
        return under_way

    def call_of_report(self, report: Observation | Count) -> Observed | None:
        """Return the call that a report belongs to; None if the report is too late for every call."""
        call, kind = current_call(), OUTCOME if isinstance(report, Count) else OBSERVATION
        if call is not None and not _is_doubtful(call, report, kind):
            return call
        others = [each for each in self._calls if _is_awaiting(each, report, kind)]
        if call is None or others:
            self.is_exact = self.is_exact and not self._calls
            call = next((each for each in others if not each.is_over), others[0] if others else self.latest)
        found = call if call is not None and report.at - call.ended <= LATEST_S else None
        if call is None or _took_as_long(call, report):
            return found
        given_up = (each for each in self._calls if each.is_given_up and _is_of(each, report) and each.is_missing(kind))
        return next((each for each in given_up if _took_as_long(each, report)), found)


def _is_doubtful(call: Observed, report: Observation | Count, kind: str) -> bool:
    """True if a report may belong to another call: this call has such a report already, or ended too long ago."""
    if report.at - call.ended > LATEST_S:
        return True
    is_other = isinstance(report, Count) and not report.is_outcome
    return call.is_over and not is_other and not call.is_missing(kind)


def _is_awaiting(call: Observed, report: Observation | Count, kind: str) -> bool:
    """True if a call lacks this report and may still get it: the call is active, or just ended and must have it."""
    in_time = not call.is_over or (call.is_due and report.at - call.ended <= LATEST_S)
    return _is_of(call, report) and in_time and call.is_missing(kind)


def _is_of(call: Observed, report: Observation | Count) -> bool:
    """True if a report is an outcome, or an observation of the operation of this call."""
    return report.is_outcome if isinstance(report, Count) else not call.ops or report.op in call.ops


def _took_as_long(call: Observed, report: Observation | Count) -> bool:
    """True if a call, or the work on it if it was given up, took at least the time that a report states."""
    ms = report.ms if isinstance(report, Observation) and isinstance(report.ms, (int, float)) else 0
    until = report.at if call.is_given_up else min(report.at, call.ended)
    return not ms > 1000 * (until - call.began) + CLOCKS_MS
