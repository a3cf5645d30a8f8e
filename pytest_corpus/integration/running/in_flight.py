"""Concurrent tests: later tests begin while earlier tests wait for the adapter.

The result of a concurrent test (an attempt) counts if it shows that the requirement holds. After any other result, such
as a violation or a failure that may be transient, the test runs again alone, at its place in pytest's order (its turn).
"""

from __future__ import annotations

import contextvars
import functools
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from pytest_corpus.adapter import inputs, turns
from pytest_corpus.adapter.exchange import Exchange
from pytest_corpus.adapter.hooks.late_reports import wait_for_reports
from pytest_corpus.adapter.inputs import Clock
from pytest_corpus.adapter.scope import Part, current_part, part_of
from pytest_corpus.adapter.turns import Body, MustRunAlone, Turns
from pytest_corpus.integration.collecting.nodes import (
    REPETITION,
    arguments_of,
    case_number_of,
    function_of,
    name_and_repetition,
    owner,
    positions_of,
    requirement_of,
)
from pytest_corpus.integration.declaring.adapter_kinds import Adapter
from pytest_corpus.integration.running.endings import Ending
from pytest_corpus.integration.running.width import Width, reason_against_concurrency, times_of_plain_calls
from pytest_corpus.kit.component import Subject
from pytest_corpus.kit.judgement import judging
from pytest_corpus.kit.outcomes import Blocked, NotApplicable, Outage, Undecided, Violation
from pytest_corpus.kit.retries import has_transient_error
from pytest_corpus.spec.requirements import catalogue

CONCURRENT = "COM-CONC-1"
"""The id of the requirement by which concurrent calls must not disturb each other."""

AHEAD = 2
"""The largest number, per running test, of finished attempts that wait for their turn, if the run may end early."""

ENOUGH = 3
"""If tests of this many requirements fail only while other tests run, concurrent calls count as disturbing."""

TIMED = frozenset(("COM-CACHE", "COM-DEADLINE", "COM-IDEM", "COM-OBS"))
"""Chapters with tests that other tests may disturb, because they measure time or depend on a cache of limited size."""

FACTS = 1_000
"""The number of positions that are reserved for shared facts, after the positions of the tests."""

LONGEST_S = 0.5
"""The longest time that a waiting thread sleeps before it checks again."""

STOP_S = 1.0
"""The time for which the end of a run waits for running tests; their calls end when the adapter is closed."""

MARKS = ("skip", "skipif", "xfail", "usefixtures")

HARMLESS = frozenset(("subject", "request", REPETITION))
"""Fixtures whose values other tests cannot change, in addition to the fixture of the component."""

BEGUN = pytest.StashKey[int]()  # on a conformance item: how often it was started


def name_with_repetition(item: pytest.Item) -> str:
    return " ".join(map(str, name_and_repetition(item)))


def begin_inputs(item: pytest.Item, adapter: Adapter) -> None:
    """Prepare the random inputs of a test, so that its requests depend only on the seed, the test and the answers."""
    begun = item.stash[BEGUN] = item.stash.get(BEGUN, 0) + 1  # a plugin may rerun a test
    scope = f"{name_with_repetition(item)} {begun}"
    if adapter.number:  # different adapters may share a provider, so their texts must differ
        scope += f" {adapter.number}"
    places = positions_of(item.session)
    own = inputs.Run(adapter.options.seed, adapter.settings.run, adapter.process, len(places))
    # A rerun sends other requests than before, because an adapter may cache answers.
    place = places.get(item.nodeid, 0) + (begun - 1) * (len(places) + FACTS)
    inputs.begin_test(own, scope, place, case_number_of(item))


@dataclass(eq=False)
class Attempt:
    """A run of a test before its turn, concurrently with other tests.

    Attributes:
        part: the exchanges of the attempt.
        body: the thread of the attempt.
        editions: the schema versions under which all successful answers are valid.
        holds: True if the attempt has shown that the requirement holds.
        unoffered: the reason why the test does not apply, or None.
        violation: the violation that the attempt found, or None.
        other_exchange: the last exchange of another concurrent test, or None. It is also None if the adapter was
            opened again and so lost its earlier data.
    """

    item: pytest.Function
    body: Body
    part: Part = field(default_factory=Part)
    editions: set[str] = field(default_factory=set)
    holds: bool = False
    unoffered: NotApplicable | None = None
    violation: Violation | None = None
    other_exchange: Exchange | None = None
    duration_s: float = 0.0
    over: threading.Event = field(default_factory=threading.Event)

    @property
    def spent(self) -> tuple[float, int]:
        """The seconds of the attempt, and the number of its calls."""
        return self.duration_s, len(self.part.own_exchanges)


class ConcurrentTests:
    """The concurrent tests of a run.

    Attributes:
        width: the number of tests that may run concurrently.
        session_fixtures: the session-scoped fixtures that were set up.
    """

    def __init__(self, width: Width, *, may_be_cut_short: bool) -> None:
        self.width, self._may_be_cut_short = width, may_be_cut_short
        self._turns = Turns(self._begin_attempts)
        self._attempts: dict[pytest.Item, Attempt] = {}
        self._running: set[Attempt] = set()
        self._waiting: deque[pytest.Function] = deque()
        self._known: set[pytest.Item] = set()
        self._subject: Subject | None = None
        self._disturbed: dict[str, Attempt] = {}
        self._unoffered: set[tuple[str, str]] = set()
        self.session_fixtures = set[str]()
        self._is_troubled = self._is_told = False
        self._context = contextvars.copy_context()

    @property
    def running(self) -> int:
        """The number of attempts that have begun and not ended."""
        return len(self._running)

    def finished_attempt(
        self, item: pytest.Item, target: Any, following: Callable[[], Iterable[pytest.Item]]
    ) -> Attempt | None:
        """Return the finished attempt of a test whose turn it is; None if there was no attempt."""
        if not isinstance(target, Subject) or not self.width.is_open:
            return None
        self.width.limit(target.capabilities)
        if target.store.most_in_flight is not None:
            self.width.narrow(target.store.most_in_flight, "`--corpus-max-namespaces` leaves room for no more")
        if why := reason_against_concurrency(target):
            self.width.narrow(1, why)
        with part_of(None):
            if target.store.has_much_data and self._attempts and not target.store.free_space():
                self.wait_until_quiet(may_rest=True)
                target.begin()
        if self.width.is_unknown and target.store.isolates_tests:
            self.width.begin([*times_of_plain_calls(target)])
            if target.shared.unmade:
                target.begin(unlearn=True)  # forget failures, because a call may succeed when the test runs alone
        target.store.together = self.width.now
        if self.width.now > 1:
            self._look_ahead(item, target, following)
            if item in self._waiting and isinstance(item, pytest.Function):
                self._waiting.remove(item)
                self._begin_attempt(item, target)
            self._begin_attempts()
        found = self._attempts.pop(item, None)
        self._known.discard(item)
        if found is not None:
            while not found.over.is_set():
                self._wait_a_while(found)
            if late := [each.observed for each in found.part.exchanges if not each.observed.is_settled]:
                with self._let_attempts_run():
                    wait_for_reports(late)
        return found

    def wait_until_quiet(self, *, may_rest: bool = False) -> None:
        """Wait until no attempt is running; with `may_rest`, attempts that only wait for a time to pass may remain.

        Such an attempt cannot continue while a test runs alone.
        """
        while busy := next((each for each in self._running if not (may_rest and each.body.is_resting)), None):
            self._wait_a_while(busy)

    def stop(self) -> None:
        """Break off all running attempts."""
        self._turns.stopped = True
        until = time.monotonic() + STOP_S
        self._turns.give_turn()
        for attempt in tuple(self._running):
            attempt.over.wait(max(0.0, until - time.monotonic()))
        self._attempts.clear()

    def must_unlearn(self, attempt: Attempt | None) -> bool:
        """Wait until no attempt makes calls; return True if a test must not use the known shared facts.

        Facts may be wrong if a concurrent test failed. If the test's own attempt made calls, the adapter may answer
        from a cache. This does not matter for an attempt that found the test not applicable.
        """
        self.wait_until_quiet(may_rest=True)
        if attempt is None or not (self._is_troubled or (attempt.part.own_exchanges and attempt.unoffered is None)):
            return False
        self._is_troubled = False
        return True

    def find_disturbance(
        self, item: pytest.Item, attempt: Attempt | None, target: Any, ending: Ending, seen: Collection[Violation]
    ) -> Violation | None:
        """Record the end of a test that ran alone; return a violation if several tests fail only in concurrent runs."""
        if isinstance(target, Subject) and self.width.is_open and target.store.isolates_tests:
            late_s = max(target.settle_time.seconds or 0.0, target.client.late_reports.seen_s)
            self.width.note_single_test(target.part.own_exchanges, late_s=late_s)
        requirement = catalogue()[requirement_of(item)]
        if isinstance(ending.undecided, NotApplicable):
            self._unoffered.add((requirement.id, ending.undecided.reason))
        if attempt is None or attempt.violation is None or ending.outcome != "satisfied" or seen:
            return None
        made = attempt.part.own_exchanges
        if requirement.chapter in TIMED or attempt.other_exchange is None or any(map(has_transient_error, made)):
            return None  # an adapter may refuse a call while it is busy
        self._disturbed.setdefault(requirement.id, attempt)
        if len(self._disturbed) < ENOUGH or self._is_told or have_overlapped(self._disturbed.values()):
            return None
        self._is_told = True
        self.width.narrow(1, "calls at the same time disturb each other")
        named = ", ".join(self._disturbed)
        got = f"beside other calls, and not alone, the tests of {named} fail: {attempt.violation.got}"
        found = Violation(catalogue()[CONCURRENT].text, got).for_requirement(CONCURRENT)
        return found.attach_exchanges(attempt.other_exchange, *attempt.violation.exchanges[-1:])

    def ending_from_attempt(self, attempt: Attempt) -> Ending | None:
        """Return the end of a test as its attempt showed it; None if the test must run alone.

        The result "not applicable" counts only if another test of the requirement ran alone and had this result for
        the same reason.
        """
        if attempt.holds:
            return Ending("satisfied")
        known = attempt.unoffered and (requirement_of(attempt.item), attempt.unoffered.reason) in self._unoffered
        return Ending("not_applicable", attempt.unoffered) if known else None

    def _wait_a_while(self, attempt: Attempt) -> None:
        with self._let_attempts_run():
            attempt.over.wait(LONGEST_S)

    @contextmanager
    def _let_attempts_run(self) -> Iterator[None]:
        """Let attempts run within the context."""
        assert self._subject is not None
        places = [place for place, _ in self._subject.test_attributes()]
        kept = [getattr(holder, name) for holder, name in places]
        self._turns.give_turn()
        try:
            yield
        finally:
            self._turns.take_turn()
            for (holder, name), value in zip(places, kept, strict=True):
                setattr(holder, name, value)

    # -- the tests that follow ---------------------------------------------------------------------------

    def _look_ahead(self, item: pytest.Item, subject: Subject, following: Callable[[], Iterable[pytest.Item]]) -> None:
        """Find the tests that may run concurrently: this test and the next tests of the same component."""
        if item in self._known:
            return
        self.wait_until_quiet()
        self._subject, own = subject, owner(item)
        self._waiting.clear()
        self._known.clear()
        found: list[pytest.Function] = []
        for each in (item, *following()) if subject.store.isolates_tests else ():
            if owner(each) != own:
                break
            self._known.add(each)
            if isinstance(each, pytest.Function) and self._may_begin(each, subject):
                found.append(each)
        # The first case of each function is the longest, so it begins first.
        self._waiting.extend(sorted(found, key=case_number_of))

    def _may_begin(self, item: pytest.Function, subject: Subject) -> bool:
        """True if a test may run concurrently with others."""
        parameters = item.callspec.params if hasattr(item, "callspec") else {}
        known = {subject.component, *HARMLESS, *self.session_fixtures, *parameters}
        is_plain = known.issuperset(item.fixturenames)
        is_marked = any(mark.name in MARKS for mark in item.iter_markers())
        return is_plain and not is_marked and subject.component not in catalogue()[requirement_of(item)].quiet

    # -- bodies ------------------------------------------------------------------------------------------

    def _begin_attempts(self) -> None:
        """Begin as many attempts as may run concurrently."""
        subject = self._subject
        if self._turns.stopped or subject is None:
            return
        if why := reason_against_concurrency(subject):
            self.width.narrow(1, why)
        most = self.width.now * (1 + AHEAD) if self._may_be_cut_short else len(self._attempts) + 1
        while len(self._running) + self._turns.helper_count < self.width.now > 1:
            if split := next((each for each in self._turns.splits if each.is_open), None):
                self._start_thread(split.begin)
                continue
            if subject.store.has_much_data or not self._waiting or len(self._attempts) > most:
                return
            item = self._waiting.popleft()
            if item in self._known:  # its turn is still to come
                self._begin_attempt(item, subject)

    def _begin_attempt(self, item: pytest.Function, subject: Subject) -> None:
        places, values = zip(*subject.test_attributes(), strict=True)
        attempt = self._attempts[item] = Attempt(item, Body(self._turns, places, values))
        self._running.add(attempt)
        work = functools.partial(turns.run_as, attempt.body, functools.partial(self._run_in_thread, attempt, subject))
        name = f"corpus-test-{requirement_of(item)}"
        thread = threading.Thread(target=self._context.copy().run, args=(work,), name=name, daemon=True)
        if not self._start_thread(thread.start):
            self._running.discard(attempt)
            attempt.over.set()

    def _start_thread(self, begin: Callable[[], None]) -> bool:
        """Start a thread and return True. If the system refuses, allow fewer concurrent tests and return False."""
        try:
            begin()
        except RuntimeError:
            room = len(self._running) - 1 + self._turns.helper_count
            self.width.narrow(max(1, room), "the system begins no more threads")
            return False
        return True

    def _run_in_thread(self, attempt: Attempt, subject: Subject) -> None:
        generation = subject.client.instance.generation
        try:
            attempt.body.resume()
            started = Clock.monotonic()
            with inputs.read_from(inputs.Source()), part_of(None):
                self._run_attempt(attempt, subject)
            attempt.duration_s = Clock.monotonic() - started
            self.width.note_concurrent_test(attempt.part.own_exchanges)
        except MustRunAlone as disturbed:
            self._is_troubled = True
            if disturbed.crowded:
                self.width.note_refusal()
        except NotApplicable as reason:
            attempt.unoffered = reason
        except Undecided as undecided:
            self._is_troubled |= isinstance(undecided, (Blocked, Outage))
        except BaseException as ended:  # noqa: BLE001 - whatever it is, the test shows it again alone
            attempt.violation = ended if isinstance(ended, Violation) else None
            self._is_troubled = True
        finally:
            if subject.client.instance.generation == generation:
                made = (each.part.own_exchanges for each in self._running if each is not attempt)
                attempt.other_exchange = max(
                    (each[-1] for each in made if each), key=lambda exchange: exchange.observed.ended, default=None
                )
            subject.store.written.end_test(attempt.part)
            self._running.discard(attempt)
            self._begin_attempts()
            attempt.over.set()
            self._turns.give_turn()

    def _run_attempt(self, attempt: Attempt, subject: Subject) -> None:
        item, requirement = attempt.item, catalogue()[requirement_of(attempt.item)]
        own = owner(item)
        assert own is not None
        begin_inputs(item, own[0])
        attempt.part = current_part() or attempt.part
        before = len(subject.client.provider.mistakes.noted), subject.disturbance_count
        try:
            subject.gate(requirement)
            with judging() as judgement:
                function_of(item)(**arguments_of(item, subject))
            undisturbed = (len(subject.client.provider.mistakes.noted), subject.disturbance_count) == before
            attempt.holds = bool(judgement.checks) and undisturbed and not reason_against_concurrency(subject)
            attempt.editions = subject.auditor.editions
        finally:
            subject.close_fresh()


def have_overlapped(attempts: Iterable[Attempt]) -> bool:
    """True if all attempts were running at the same time, so that one event may explain all their results."""
    made = [each.part.own_exchanges for each in attempts if each.part.own_exchanges]
    began = max((calls[0].started for calls in made), default=0.0)
    return all(began < calls[-1].started + calls[-1].elapsed_s for calls in made)
