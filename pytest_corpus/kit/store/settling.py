"""Looking at what was written only once it can be seen (R46).

No document promises that a write is seen at once. How long an adapter takes is given, or found out once a run, just
before the first look at something that was written: a plain write is read back until it shows. From then on a request
that looks at something waits until the last write before it is older than that. What a request finds then is what
the adapter says, whether it must show or must never show. An adapter that shows its writes at once never waits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from pytest_corpus.adapter import inputs
from pytest_corpus.adapter.exceptions import Unresponsive
from pytest_corpus.adapter.exchange import context_of, op_of
from pytest_corpus.adapter.turns import finding_out
from pytest_corpus.kit.judgement import judging
from pytest_corpus.kit.outcomes import Undecided, Violation
from pytest_corpus.spec.errors import BY_KIND
from pytest_corpus.spec.operations import BY_OP, Operation

LIMIT_S = 10.0
"""A write that does not show after this time is not late: it is missing."""

PAUSE_S, PAUSE = 0.002, 0.03
"""The pause between two reads of a write that does not show yet: this, or this share of the time since the write.

What never shows is read about 200 times until the limit.
"""

TRIALS = 3
"""The number of measurements if the first write is late: one that waits for a tick may be lucky."""

ENOUGH_S = 5.0
"""No measurement begins after this time."""

MARGIN, MARGIN_S = 0.25, 0.02
"""The settle time is more than the longest time that was seen: by this share of it, or by this if that is more."""

AT_ONCE, MISSING = (0.0, 0.0), (math.inf, math.inf)

EVERYWHERE = ""
"""The place of a write that may be seen in any place."""

Look = Callable[[], bool | None]
"""Returns if a write shows; None if that is unknown."""


@dataclass(slots=True)
class Settle:
    """The settle time of a component as far as it is known, the same for all its instances.

    Attributes:
        seconds: the settle time; None while it is not known.
        found: whether it was found out, and not given.
        missed_s: how long a plain write was looked for that did not show at all; 0 where all of them showed.
        waited_s: how long was waited in all.
        in_order: whether a write finds what was written just before it, although nothing shows that yet.
        written: by place when something was last written there, on the monotonic clock.
        applied: likewise, without writes that were refused: they matter to what is looked at, not to other writes.
    """

    seconds: float | None = None
    found: bool = False
    missed_s: float = 0.0
    waited_s: float = 0.0
    in_order: bool | None = None
    written: dict[str, float] = field(default_factory=dict)
    applied: dict[str, float] = field(default_factory=dict)


class Settling:
    """Waits where a request looks at what was written, for as long as it takes to settle.

    A component that stores data defines which requests read nothing, which places a request refers to, and how to try
    a write.

    Attributes:
        known: what is known of the settle time.
    """

    blind: frozenset[str] = frozenset({"capabilities", "health"})
    """Bare names of operations that do not depend on earlier writes."""

    def __init__(self, subject: Any) -> None:
        self._subject = subject
        self.known: Settle = subject.shared.settle
        self._given: float | None = subject.settings.settle_s
        self._at_once = False
        self._is_late = False

    @property
    def late(self) -> bool:
        """True if a write was seen to show late."""
        return self.known.found and bool(self.known.seconds)

    # -- what a component says ---------------------------------------------------------------------------

    def places(self, _request: Mapping[str, Any]) -> frozenset[str]:
        """The places that a request writes to or looks at; empty where it may be all of them."""
        return frozenset()

    def written_to(self, request: Mapping[str, Any]) -> frozenset[str]:
        """The places in which something that a request writes may be looked at; empty where it may be all of them."""
        return self.places(request)

    def looks(self, name: str, _request: Mapping[str, Any]) -> bool:
        """Return if a request of an operation reads what was written."""
        return name not in self.blind

    def trials(self) -> Iterator[Look]:
        """Write something in the plainest way, and give a look at it; once for each kind of write."""
        yield from ()

    def order(
        self, begun: float, seen: Callable[[], Collection[str] | None], kept: Collection[str], *, done: bool
    ) -> Look:
        """A look that finds out if writes find what was written just before them.

        Args:
            begun: when the first of them was sent, on the monotonic clock.
            seen: returns what is there; None if that is unknown.
            kept: all that has to be there in the end.
            done: whether every write was answered as one that was carried out; if not, nothing is to be seen.
        """
        first_s: list[float] = []

        def look() -> bool | None:
            if not done:
                self.known.in_order = False
                return None
            found = seen()
            if found is None or not set(kept) <= set(found):
                return None if found is None else False
            first_s.append(inputs.monotonic() - begun)
            in_order = set(kept) == set(found)
            self.known.in_order = in_order
            return in_order or first_s[-1] > 2 * first_s[0]  # a delete may show after what was written before it

        return look

    # -- what the component asks -------------------------------------------------------------------------

    def awaited(self, request: Any) -> Any:
        """The request, once all that it looks at has settled; its deadline is later by the time that was waited."""
        op = BY_OP.get(op_of(request))
        if op is None or self._at_once or not self.known.written or not self.looks(op.name, request):
            return request
        if has_expired(request) or self._will_fail(op) or not isinstance(request.get("args"), Mapping):
            return request
        self.find_out()
        if not self.looks(op.name, request):
            return request
        waited_s = self._wait(self.places(request), self.known.applied if op.mutating else self.known.written)
        return postponed(request, waited_s) if waited_s else request

    def note(self, request: Any, *, refused: bool = False) -> None:
        """Note that something may have been written."""
        op = BY_OP.get(op_of(request))
        if op is not None and op.mutating and self.known.seconds != 0:
            places = self.written_to(request)
            if refused and not places:
                return  # nothing that a test wrote was named
            written = dict.fromkeys(places or {EVERYWHERE}, inputs.monotonic())
            self.known.written.update(written)
            self.known.applied.update({} if refused else written)

    def pause(self) -> None:
        """Wait until everything that was written shows."""
        if self.known.written and self.find_out():
            self._wait(frozenset(), self.known.written)

    def find_out(self) -> float:
        """The settle time, which is found out where it is neither known nor given."""
        with finding_out(id(self.known)):
            if self.known.seconds is None:
                self.known.seconds = self._given
            if self.known.seconds is None:
                with self.at_once(), judging(), inputs.fact_scope("settling"):
                    try:
                        longest = self._longest()
                    except (Undecided, Violation, Unresponsive):
                        longest = 0.0
                self.known.seconds = longest + max(longest * MARGIN, MARGIN_S) if longest else 0.0
                self.known.found = True
        if not self.known.seconds:
            self.known.written.clear()
            self.known.applied.clear()
        return self.known.seconds

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Read without waiting for writes to settle."""
        outer, self._at_once = self._at_once, True
        try:
            yield
        finally:
            self._at_once = outer

    # -- waiting ---------------------------------------------------------------------------------------

    def _wait(self, places: frozenset[str], written: Mapping[str, float]) -> float:
        """Wait until what was written in some places has settled; the seconds that were waited."""
        known = [at for place, at in written.items() if not places or place in places or EVERYWHERE in (place, *places)]
        left_s = max(known, default=-math.inf) + (self.known.seconds or 0.0) - inputs.monotonic()
        if left_s <= 0:
            return 0.0
        inputs.sleep(left_s)
        self.known.waited_s += left_s
        return left_s

    def _will_fail(self, op: Operation) -> bool:
        """Return whether a read has to end in an error that is planned for it, whatever was written."""
        reached = (None, *self._subject.shared.provider_ops.get(op.name, ()))
        return not op.mutating and any(
            plan.op in reached and plan.at_chunk is None and plan.fired < plan.times and BY_KIND[plan.kind].canonical
            for plan in self._subject.client.provider.plans
        )

    def _longest(self) -> float:
        """The longest time in seconds that a plain write took to show; 0 where all show at once, or never."""
        begun, late = inputs.monotonic(), list[tuple[float, float]]()
        for _ in range(TRIALS):
            taken: list[tuple[float, float]] = []
            for look in self.trials():
                with suppress(Unresponsive):  # an operation that does not answer tells nothing of the others
                    taken.append(shows_after(look, LIMIT_S + (begun if MISSING in taken else inputs.monotonic())))
                    self._is_late |= taken[-1] != AT_ONCE
            if MISSING in taken:
                self.known.missed_s = inputs.monotonic() - begun
            late += [times for times in taken if times not in (AT_ONCE, MISSING)]
            if not late:
                return 0.0
            if inputs.monotonic() > begun + ENOUGH_S:
                break
        shortest = min(shown for _, shown in late)
        alike = all(hidden < shortest for hidden, _ in late)  # what took longer was seen late by a busy machine
        return shortest if alike else max(shown for _, shown in late)


def shows_after(look: Look, until: float) -> tuple[float, float]:
    """The seconds for which a write surely did not show, and those after which it did.

    `AT_ONCE` stands for a write that shows at once, or of which nothing is known, `MISSING` for one that never shows.

    Args:
        until: when to give up, on the monotonic clock.
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
    """True if the deadline of a request has passed: it may not look at anything."""
    deadline = (context_of(request) or {}).get("deadline_ms")
    return isinstance(deadline, int) and deadline <= inputs.wall_clock() * 1000


def postponed(request: Any, waited_s: float) -> Any:
    """The request as it would have been made now: a deadline that had not passed is as far away as it was meant."""
    ctx = (context_of(request) if waited_s else None) or {}
    deadline = ctx.get("deadline_ms")
    if isinstance(deadline, int) and deadline > (inputs.wall_clock() - waited_s) * 1000:
        return {**request, "ctx": {**ctx, "deadline_ms": deadline + round(waited_s * 1000)}}
    return request
