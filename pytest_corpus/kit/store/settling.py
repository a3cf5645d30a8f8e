"""Delays reads until earlier writes are visible (R46).

No document promises that a write is visible at once. The delay of an adapter is given, or measured once a run, just
before the first read of written data: a plain write is read back until it shows. From then on, a read waits until the
last write is older than this delay, its *settle time*. An adapter without a delay never waits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from pytest_corpus.adapter import inputs
from pytest_corpus.adapter.exceptions import Unresponsive
from pytest_corpus.adapter.exchange import context_of, op_of
from pytest_corpus.adapter.turns import finding_out
from pytest_corpus.kit.common_facts import FoundFact
from pytest_corpus.kit.judgement import judging
from pytest_corpus.kit.outcomes import Undecided, Violation
from pytest_corpus.spec.errors import BY_KIND
from pytest_corpus.spec.operations import BY_OP, Operation

LIMIT_S, RECHECK_LIMIT_S = 10.0, 3.0
"""A write that is invisible after this time is missing, not late. The second time is for `is_late_after_all`."""

PAUSE_S, PAUSE = 0.002, 0.03
"""The pause between two reads of a write that is not visible yet: these seconds, or this share of the time since the
write if that is more.

A write that never shows is read about 200 times until the limit.
"""

TRIALS = 3
"""The number of times the delay is measured if the first write is late, because one delay may be short by chance."""

ENOUGH_S = 5.0
"""No measurement begins after this time."""

MARGIN, MARGIN_S = 0.25, 0.02
"""The settle time is the longest measured delay plus this share of it, or plus these seconds if that is more."""

AT_ONCE, MISSING = (0.0, 0.0), (math.inf, math.inf)

EVERYWHERE = ""
"""The place of a write that may be visible in all places."""

VisibilityCheck = Callable[[], bool | None]
"""Looks for a write; returns True if it is visible, None if that is unknown."""


@dataclass(slots=True)
class SettleTime:
    """The settle time of a component as far as it is known, the same for all its instances.

    Attributes:
        seconds: the settle time; None while it is unknown.
        found: True if the settle time was measured, not given.
        missed_s: the seconds of reading after a plain write that never became visible; 0 if all became visible.
        waited_s: the sum of all waits in seconds.
        in_order: True if a write finds the data of the previous write, although no read shows the data yet.
        rechecked: True if the delay was measured again after a violation.
        written: by place, the time of the last write on the monotonic clock.
        applied: like `written`, without refused writes. Writes wait for these writes, reads wait for all in `written`.
    """

    seconds: float | None = None
    found: bool = False
    missed_s: float = 0.0
    waited_s: float = 0.0
    in_order: bool | None = None
    rechecked: bool = False
    written: dict[str, float] = field(default_factory=dict)
    applied: dict[str, float] = field(default_factory=dict)


class Probe:
    """Nodes or vectors that are written only to measure the delay of writes. Each component has a subclass.

    Attributes:
        readers: the operations that show the things.
    """

    readers: Sequence[str] = ()

    def write(self, *_names: str) -> bool:
        """Write things with these names; return True if the adapter reports that it stored them."""
        return False

    def delete(self, *_names: str) -> bool:
        """Delete the things with these names; return True if the adapter reports success."""
        return False

    def names_seen(self, _reader: str) -> set[str] | None:
        """Return the names of the things that an operation shows; None if the operation does not work."""
        return None

    def shows(self, reader: str, names: set[str]) -> bool | None:
        """True if an operation shows exactly these things; None if the operation does not work."""
        found = self.names_seen(reader)
        return None if found is None else found == names

    def write_in_order(self) -> tuple[bool, set[str]]:
        """Send writes that depend on each other; return True if all succeed, and the names that then remain stored."""
        return False, set()

    def slow_trials(self) -> Iterator[VisibilityCheck]:
        """Yield functions that look for writes that may be visible later, such as edges and filtered vectors."""
        yield from ()

    def close(self) -> None:
        """Delete the namespace of the things."""


class Settling:
    """Lets a request that reads written data wait for the settle time.

    A component that stores data defines the requests that read nothing, the places of a request (namespaces, or groups
    of nodes in a graph), and a probe.

    Attributes:
        known: the settle time, if it is known.
    """

    write_independent: frozenset[str] = frozenset({"capabilities", "health"})
    """Bare names of operations that do not depend on earlier writes."""

    def __init__(self, subject: Any) -> None:
        self._subject = subject
        self.known: SettleTime = subject.shared.settle_time
        self._given: float | None = subject.settings.settle_s
        self._at_once = False
        self._is_late = False

    @property
    def has_late_writes(self) -> bool:
        """True if a write became visible late."""
        return self.known.found and bool(self.known.seconds)

    def places(self, _request: Mapping[str, Any]) -> frozenset[str]:
        """Return the places that a request writes or reads; empty if it may use any place."""
        return frozenset()

    def places_written(self, request: Mapping[str, Any]) -> frozenset[str]:
        """Return the places where data that a request writes can be read; empty if it may be any place."""
        return self.places(request)

    def reads_written_data(self, name: str, _request: Mapping[str, Any]) -> bool:
        """True if the result of an operation depends on data that was written before."""
        return name not in self.write_independent

    @contextmanager
    def probe(self) -> Iterator[Probe]:
        """Yield a probe with a new namespace for plain writes."""
        yield Probe()

    def trials(self) -> Iterator[VisibilityCheck]:
        """Write and delete plain things; after each write, yield for each reader a function that looks for them."""
        with self.probe() as probe, closing(probe):
            if probe.write("a"):
                yield from (partial(probe.shows, reader, {"a"}) for reader in probe.readers)
                if probe.delete("a"):
                    yield from (partial(probe.shows, reader, set()) for reader in probe.readers)
            if self.known.rechecked:
                yield from probe.slow_trials()
            if probe.readers and self.known.in_order is None and self._is_late:
                yield self.try_order(probe)

    def try_order(self, probe: Probe) -> VisibilityCheck:
        """Send writes one after the other; return a function that finds out if each write saw the previous one."""
        begun, first_s = inputs.monotonic(), list[float]()
        done, kept = probe.write_in_order()

        def look() -> bool | None:
            found = probe.names_seen(probe.readers[0]) if done else None
            if not done:
                self.known.in_order = False
            if found is None or not kept <= found:
                return None if found is None else False
            first_s.append(inputs.monotonic() - begun)
            self.known.in_order = kept == found
            return kept == found or first_s[-1] > 2 * first_s[0]  # a delete may show after an older write

        return look

    def wait_until_settled(self, request: Any) -> Any:
        """Wait until the data that a request reads has settled; return the request with its deadline moved."""
        op = BY_OP.get(op_of(request))
        if op is None or self._at_once or not self.known.written or not self.reads_written_data(op.name, request):
            return request
        if has_expired(request) or self._will_fail(op) or not isinstance(request.get("args"), Mapping):
            return request
        self.find_settle_time()
        if not self.reads_written_data(op.name, request):
            return request
        waited_s = self._wait_for_places(
            self.places(request), self.known.applied if op.mutating else self.known.written
        )
        return postpone_deadline(request, waited_s) if waited_s else request

    def note(self, request: Any, *, refused: bool = False) -> None:
        """Record that a request may have written data."""
        op = BY_OP.get(op_of(request))
        if op is not None and op.mutating and self.known.seconds != 0:
            places = self.places_written(request)
            if refused and not places:
                return  # the refused request names no written data
            written = dict.fromkeys(places or {EVERYWHERE}, inputs.monotonic())
            self.known.written.update(written)
            self.known.applied.update({} if refused else written)

    def pause(self) -> None:
        """Wait until all written data is visible."""
        if self.known.written and self.find_settle_time():
            self._wait_for_places(frozenset(), self.known.written)

    def find_settle_time(self) -> float:
        """Return the settle time in seconds. If it is not known and not given, it is measured."""
        with finding_out(id(self.known)):
            if self.known.seconds is None:
                self.known.seconds = self._given
            if self.known.seconds is None:
                shared, forget = self._subject.shared, lambda: setattr(self.known, "seconds", None)
                self._keep_measurement(shared.find(f"{type(shared).__name__} settling", self._measure, forget))
        if not self.known.seconds:
            self.known.written.clear()
            self.known.applied.clear()
        return self.known.seconds or 0.0

    def is_late_after_all(self) -> bool:
        """Measure the delay again, once in a run, if writes seemed visible at once; return True if they are late.

        On a busy machine, the first reads may have come so late that the delay was over. This measurement also reads
        edges and filtered vectors, which an adapter may show later than nodes and vectors.
        """
        if self.known.seconds != 0 or self.known.missed_s or not self.known.found or self.known.rechecked:
            return False
        self.known.rechecked = True
        for _ in range(TRIALS):
            self.known.seconds = None
            self._keep_measurement(self._measure())  # here, not in another process
            if self.known.seconds or self.known.missed_s:
                break
        self.known.missed_s = 0.0  # the first measurement saw its writes
        if is_late := bool(self.find_settle_time()):
            self._subject.shared.unlearn()
        return is_late

    def _measure(self) -> FoundFact:
        """Measure the settle time; return it as a fact, with `missed_s` and `in_order` of `SettleTime`."""
        with self.reading_at_once(), judging(), inputs.fact_scope("settling"):
            try:
                longest = self._longest_delay()
            except (Undecided, Violation, Unresponsive):
                longest = 0.0
        seconds = longest + max(longest * MARGIN, MARGIN_S) if longest else 0.0
        return FoundFact((seconds, self.known.missed_s, self.known.in_order))

    def _keep_measurement(self, measured: FoundFact) -> None:
        self.known.seconds, self.known.missed_s, self.known.in_order = measured.answer
        self.known.found = True

    @contextmanager
    def reading_at_once(self) -> Iterator[None]:
        """Read without waiting for writes to settle."""
        outer, self._at_once = self._at_once, True
        try:
            yield
        finally:
            self._at_once = outer

    def _wait_for_places(self, places: frozenset[str], written: Mapping[str, float]) -> float:
        """Wait until the writes in these places have settled; return the waited seconds."""
        known = [at for place, at in written.items() if not places or place in places or EVERYWHERE in (place, *places)]
        left_s = max(known, default=-math.inf) + (self.known.seconds or 0.0) - inputs.monotonic()
        if left_s <= 0:
            return 0.0
        inputs.sleep(left_s)
        self.known.waited_s += left_s
        return left_s

    def _will_fail(self, op: Operation) -> bool:
        """True if a read will end in a planned error."""
        reached = (None, *self._subject.shared.provider_ops.get(op.name, ()))
        return not op.mutating and any(
            plan.op in reached and plan.at_chunk is None and plan.fired < plan.times and BY_KIND[plan.kind].canonical
            for plan in self._subject.client.provider.plans
        )

    def _longest_delay(self) -> float:
        """Return the longest delay of a plain write in seconds; 0 if writes are visible at once or never."""
        begun, late = inputs.monotonic(), list[tuple[float, float]]()
        limit_s = RECHECK_LIMIT_S if self.known.rechecked else LIMIT_S
        for _ in range(TRIALS):
            taken: list[tuple[float, float]] = []
            for look in self.trials():
                with suppress(Unresponsive):  # the other operations may still answer
                    taken.append(measure_delay(look, limit_s + (begun if MISSING in taken else inputs.monotonic())))
                    self._is_late |= taken[-1] != AT_ONCE
            if MISSING in taken:
                self.known.missed_s = inputs.monotonic() - begun
            late += [times for times in taken if times not in (AT_ONCE, MISSING)]
            if not late:
                return 0.0
            if inputs.monotonic() > begun + ENOUGH_S:
                break
        shortest = min(shown for _, shown in late)
        alike = all(hidden < shortest for hidden, _ in late)  # longer times are those of a busy machine
        return shortest if alike else max(shown for _, shown in late)


def measure_delay(look: VisibilityCheck, until: float) -> tuple[float, float]:
    """Return the seconds for which a write surely was invisible, and the seconds after which it was visible.

    `AT_ONCE` means that the write is visible at once or its delay is unknown, `MISSING` that it is never visible.

    Args:
        until: the time on the monotonic clock at which to give up.
    """
    begun, shows = inputs.monotonic(), look()
    if shows is not False:
        return AT_ONCE
    hidden_s = looked_s = 0.0
    while shows is False:
        if inputs.monotonic() > until:
            return MISSING
        hidden_s = looked_s
        inputs.sleep(max(PAUSE_S, looked_s * PAUSE))
        looked_s = inputs.monotonic() - begun
        shows = look()
    return (hidden_s, inputs.monotonic() - begun) if shows else AT_ONCE


def has_expired(request: Mapping[str, Any]) -> bool:
    """True if the deadline of a request has passed. Such a request must not read anything."""
    deadline = (context_of(request) or {}).get("deadline_ms")
    return isinstance(deadline, int) and deadline <= inputs.wall_clock() * 1000


def postpone_deadline(request: Any, waited_s: float) -> Any:
    """Return the request with its deadline moved by the waited seconds, unless the deadline had passed."""
    ctx = (context_of(request) if waited_s else None) or {}
    deadline = ctx.get("deadline_ms")
    if isinstance(deadline, int) and deadline > (inputs.wall_clock() - waited_s) * 1000:
        return {**request, "ctx": {**ctx, "deadline_ms": deadline + round(waited_s * 1000)}}
    return request
