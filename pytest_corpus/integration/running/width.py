"""The number of concurrent tests: the requested number, or as many as save time and the adapter accepts."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

from pytest_corpus.adapter import inputs
from pytest_corpus.adapter.exceptions import UNCALLABLE
from pytest_corpus.adapter.exchange import Exchange, looks_like_error
from pytest_corpus.adapter.facts import Capabilities
from pytest_corpus.adapter.scope import part_of
from pytest_corpus.kit.component import Subject
from pytest_corpus.kit.outcomes import Undecided, Violation
from pytest_corpus.kit.reply import Reply
from pytest_corpus.kit.retries import UNRELATED
from pytest_corpus.kit.run_state import MOST_IN_FLIGHT

PROMPT_S = 0.005
"""If an adapter answers within this time, concurrent tests save nothing."""

FEW, MANY = (8, 5), 32
"""The fewest answers and the fewest successes that give a usual time; the number of latest times that are kept."""

TRIALS, TRIAL_S = 3, 5.0
"""The number of calls that are timed before the first test, and the time limit of each of these calls."""

FIRST = 8
"""The first number of concurrent tests."""

SLOWER = 3.0
"""If concurrent calls take this many times as long as single calls, the number of tests is halved."""


def times_of_plain_calls(subject: Subject) -> Iterator[float]:
    """Yield the seconds of a few plain calls, until one is fast or fails."""
    limit_s = min(TRIAL_S, subject.client.call_timeout / 2)  # a time-out at a shorter limit does not count
    undisturbed = suppress(Undecided, Violation, *UNCALLABLE)
    with inputs.read_from(inputs.Source()), part_of(None), subject.retries.calling_once(), undisturbed:
        for _ in range(TRIALS):
            reply = subject.invoke(subject.principal, limit_s=limit_s)
            if not isinstance(reply, Reply) or not reply.is_success:
                return
            yield reply.exchange.elapsed_s
            if reply.exchange.elapsed_s <= PROMPT_S:
                return


def reason_against_concurrency(subject: Subject) -> str:
    """Return the reason why metrics and logs cannot be assigned to one of several calls; empty if they can."""
    client = subject.client
    if client.remote is not None:
        return "the adapter runs outside this process"
    if client.provider.is_on_wire:
        return "its provider is reached at an address"
    if not client.late_reports.is_exact:
        return "a report of the adapter names no call"
    return "" if client.provider.attribution.names_arrivals else "a request to the provider names no call"


class CallTimes:
    """The times of recent answers. Successes are also kept apart, because a refusal may not reach the provider."""

    def __init__(self) -> None:
        self._latest: tuple[deque[float], ...] = tuple(deque(maxlen=MANY) for _ in FEW)

    def note(self, exchanges: Iterable[Exchange]) -> None:
        """Add the times of finished calls."""
        for each in exchanges:
            if not (each.fault or each.observed.applied_plans or each.op.partition(".")[2] in UNRELATED):
                refused = any(looks_like_error(frame.body) for frame in each.frames)
                for latest in self._latest[: 1 if refused else 2]:
                    latest.append(each.elapsed_s)

    def forget(self) -> None:
        """Forget all times."""
        for latest in self._latest:
            latest.clear()

    @property
    def is_known(self) -> bool:
        """True if there is any time."""
        return any(self._latest)

    @property
    def usual_s(self) -> list[float | None]:
        """The lower quartiles of the times of answers and of successes; None if too few times are known. A busy machine
        and cached answers hardly change a quartile.
        """
        known = zip(self._latest, FEW, strict=True)
        return [sorted(latest)[len(latest) // 4] if len(latest) >= few else None for latest, few in known]

    @property
    def longest_s(self) -> float:
        """The larger usual time, of answers or of successes; 0 if no usual time is known."""
        return max((usual_s for usual_s in self.usual_s if usual_s is not None), default=0.0)


class Width:
    """The number of tests that may run concurrently.

    Attributes:
        now: the current number; with 1, each test runs in its turn.
        peak: the highest number so far.
        limit_reasons: the reasons why the number is lower than possible.
    """

    def __init__(self, asked: int | None) -> None:
        """Start with the requested number; None means as many as save time."""
        self._asked, self._most = asked, asked or MOST_IN_FLIGHT
        self.now = self.peak = asked or 1
        self.limit_reasons: dict[str, None] = {}
        self._alone, self._beside = CallTimes(), CallTimes()
        self._ended = self._since_halved = 0
        self._objected = False

    @property
    def is_open(self) -> bool:
        """True if several tests may run concurrently, now or later."""
        return self._most > 1

    @property
    def is_unknown(self) -> bool:
        """True if the number is not known yet, because no call was timed."""
        return self._asked is None and self.now == 1 and not (self._objected or self._alone.is_known)

    def begin(self, times_s: Sequence[float]) -> None:
        """Start with several tests if all calls before the first test were slow enough."""
        if len(times_s) == TRIALS and min(times_s) > PROMPT_S:
            self.now = self.peak = min(FIRST, self._most)

    def limit(self, capabilities: Capabilities) -> None:
        """Allow no more concurrent tests than an adapter's capabilities permit."""
        if (most := capabilities.limit("concurrency")) is not None:
            self.narrow(max(1, most), f"the adapter states a `concurrency` of {most}")
        rate, usual_s = capabilities.limit("rate_limit_qps"), self._alone.longest_s
        if rate is not None and usual_s:
            self.narrow(max(1, int(rate * max(usual_s, PROMPT_S))), f"the adapter states a `rate_limit_qps` of {rate}")

    def narrow(self, most: int, why: str) -> None:
        """Allow no more than `most` concurrent tests from now on."""
        if most < self._most:
            self._most = most
            if self.now > most or self._asked is not None:
                self.limit_reasons[f"at most {most} test{'s' if most > 1 else ''} at a time: {why}"] = None
            self.now = min(self.now, most)

    def note_single_test(self, exchanges: Iterable[Exchange], *, late_s: float = 0.0) -> None:
        """Record the times of calls and late metrics in a test that ran alone. If they are long, allow more tests."""
        self._alone.note(exchanges)
        waits = max(self._alone.longest_s, late_s) > PROMPT_S
        if self._asked is None and self.now == 1 and not self._objected and waits:
            self.now = self.peak = min(FIRST, self._most)

    def note_concurrent_test(self, exchanges: Iterable[Exchange]) -> None:
        """Record the times of a concurrent test, and increase or halve the number of concurrent tests."""
        self._beside.note(exchanges)
        self._ended += 1
        self._since_halved += 1
        times = zip(self._alone.usual_s, self._beside.usual_s, strict=True)
        slower = any(one and beside and beside > SLOWER * max(one, PROMPT_S) + PROMPT_S for one, beside in times)
        if self._asked is None and slower:
            self._halve("its calls take longer beside others")
        elif self._asked is None or self._objected:
            grows = not self._objected or self._ended >= self.now
            self._ended = 0 if grows else self._ended
            self.now = min(self._most, self.now + grows)
            self.peak = max(self.peak, self.now)

    def note_refusal(self) -> None:
        """Halve the number because the adapter refused a concurrent call. The running tests can halve it only once."""
        if not self._objected or self._since_halved >= self.now:
            self._halve("the adapter puts calls off")

    def _halve(self, why: str) -> None:
        self._objected, self.now, self._ended, self._since_halved = True, max(1, self.now // 2), 0, 0
        self._beside.forget()
        self.limit_reasons[f"fewer tests at a time than could be in flight: {why}"] = None
