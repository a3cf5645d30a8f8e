"""Reports that come after the answers of their calls (R92): each belongs to its call, and few are waited for."""

import threading
import time
from typing import Any

import pytest

from pytest_corpus.adapter.hooks.late_reports import MOST_OPEN, PATIENCE, PROVEN, LateReports
from pytest_corpus.adapter.hooks.metrics import RecordingSink
from pytest_corpus.adapter.scope import OBSERVATION, OUTCOME, Observed, call_scope


class Calls:
    """Calls of an adapter that reports late, after `late_s`; `named` says that its reports name their calls."""

    def __init__(self, late_s: float = 0.0, *, named: bool = True, proven: bool = True) -> None:
        self.sink = RecordingSink()
        self.late = LateReports(self.sink.attribution)
        self.late_s, self.named = late_s, named
        if proven:
            for _ in range(PROVEN):
                self.made(late_s=0.005)
        self.sink.attribution.is_exact = named

    def made(self, op: str = "complete", *, late_s: float | None = None, **facts: Any) -> Observed:
        """A call that has just ended, whose report comes late."""
        call = self.begun(op, **facts)
        self.report(call, op, self.late_s if late_s is None else late_s)
        self.end(call)
        return call

    def begun(self, op: str = "complete", *, is_due: bool = True, **facts: Any) -> Observed:
        """A call that is under way."""
        call = Observed((op, f"llm.{op}") if op else (), is_due=is_due, **facts)
        self.sink.attribution.begin(call)
        return call

    def end(self, call: Observed) -> None:
        """End a call."""
        call.ended = time.monotonic()
        self.late.finish([call])

    def report(self, call: Observed, op: str = "complete", late_s: float = 0.0) -> None:
        """Observe a call, later from another thread."""

        def observe() -> None:
            with call_scope(call if self.named else None):
                self.sink.observe(component="llm", op=op, ms=0.1, ok=True)

        if late_s:
            threading.Timer(late_s, observe).start()
        else:
            observe()


def taken(call: Observed) -> int:
    """The number of observations of a call, after those that must come."""
    return len(call.wait_for_report(OBSERVATION).observations)


def test_a_prompt_adapter_is_never_waited_for() -> None:
    """Its calls are settled at once."""
    calls = Calls(proven=False)
    started = time.monotonic()
    found = [calls.made() for _ in range(20)]
    assert time.monotonic() - started < 0.5
    assert all(call.is_settled for call in found)


def test_lateness_is_learnt_from_a_few_calls() -> None:
    """They wait; later calls end at once, and only a look at them waits."""
    calls = Calls(0.3, proven=False)
    for _ in range(PROVEN):
        assert len(calls.made().observations) == 1
    assert calls.late.seen_s >= 0.3
    started = time.monotonic()
    found = [calls.made() for _ in range(5)]
    assert time.monotonic() - started < 0.25
    assert not found[0].is_settled
    assert [taken(call) for call in found] == [1] * 5
    calls.late.settle()
    assert all(call.is_settled for call in found)


def test_two_late_reports_of_one_operation_are_not_exchanged() -> None:
    """The second one comes first, and each belongs to its call."""
    calls = Calls()
    first, second = calls.begun(), calls.begun()
    for call in (first, second):
        calls.end(call)
    calls.report(second)
    assert (len(first.observations), len(second.observations)) == (0, 1)
    calls.report(first)
    assert (len(first.observations), len(second.observations)) == (1, 1)


def test_a_surplus_report_that_comes_late_is_that_of_its_call() -> None:
    """It is seen before the call counts as settled."""
    calls = Calls()
    call = calls.begun()
    for late_s in (0.0, 0.003):
        calls.report(call, late_s=late_s)
    calls.end(call)
    calls.late.settle()
    assert len(call.observations) == 2


def test_if_reports_name_no_call_each_call_waits() -> None:
    """So that of the one before has come, whether it must be observed or may be."""
    calls = Calls(0.05, named=False)
    calls.late.seen_s = 0.05
    found = [calls.made(), calls.made(is_due=False), calls.made("health")]
    assert [[seen.op for seen in call.observations] for call in found] == [["complete"], ["complete"], ["health"]]


def test_an_adapter_that_reports_slowly_is_waited_for() -> None:
    """Many calls lack their reports, so the first is waited for; if none ever comes, that is soon given up."""
    calls = Calls()
    first, *_ = [calls.made(late_s=0.15) for _ in range(MOST_OPEN + 1)]
    assert first.observations
    calls = Calls(10.0)
    started = time.monotonic()
    for _ in range(MOST_OPEN + 10):
        calls.made()
    assert time.monotonic() - started < PATIENCE + 0.5


def test_what_never_comes_is_soon_given_up() -> None:
    """After a few vain waits nothing is waited for."""
    calls = Calls(10.0, proven=False)
    started = time.monotonic()
    for _ in range(10):
        calls.made()
    assert time.monotonic() - started < PATIENCE + 0.5


def test_a_report_after_a_second_is_too_late() -> None:
    """It belongs to no call."""
    calls = Calls()
    call = calls.begun()
    calls.end(call)
    call.ended -= 1.5
    calls.report(call)
    assert not call.observations


@pytest.mark.parametrize("surplus", [True, False])
def test_settling_ends_when_the_reports_have_come(surplus: bool) -> None:
    """Without surplus ones it does not take the time in which they may come."""
    calls = Calls()
    calls.late.seen_s = 0.4
    calls.made(late_s=0.02)
    started = time.monotonic()
    calls.late.settle(surplus=surplus)
    assert (time.monotonic() - started < calls.late.grace_s / 2) is not surplus


def test_a_call_that_was_given_up_is_observed_whenever_its_work_ends() -> None:
    """Its observation is of more time than the call that is under way took; what that call took is its own."""
    calls = Calls(named=False)
    given_up, other = calls.begun(), calls.begun("embed")
    for call in (given_up, other):
        call.began -= 4
        call.end(call.began + 1, is_given_up=True)
    active = calls.begun()
    for ms in (3900, 3900, 0.1):
        calls.sink.observe(component="llm", op="complete", ms=ms, ok=True)
    assert [[seen.ms for seen in call.observations] for call in (given_up, other, active)] == [[3900], [], [3900, 0.1]]


def test_a_false_time_stays_with_its_call() -> None:
    """An observation stays with its call if no call that was given up can have taken that long."""
    calls = Calls(named=False)
    ended = calls.made(late_s=0.0)
    given_up = calls.begun()
    given_up.end(time.monotonic(), is_given_up=True)
    active = calls.begun()
    calls.sink.observe(component="llm", op="complete", ms=3900, ok=True)
    assert [len(call.observations) for call in (ended, given_up, active)] == [1, 0, 1]


def test_an_outcome_is_waited_for() -> None:
    """A stream lacks its final outcome until it is counted."""
    calls = Calls()
    stream = calls.begun("stream", streaming=True)
    calls.report(stream, "stream")
    calls.end(stream)
    with call_scope(stream):
        calls.sink.counter(component="llm", name="tokens")
        assert (stream.is_missing(OBSERVATION), stream.is_missing(OUTCOME), stream.is_complete) == (False, True, False)
        calls.sink.counter(component="llm", name="count_stream_final_outcome")
    assert stream.is_complete
