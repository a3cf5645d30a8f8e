"""Reports that come after the answers of their calls (R92): each is assigned to its call, and few are waited for."""

import threading
import time
from typing import Any

import pytest

from pytest_corpus.adapter.hooks.late_reports import (
    MOST_DISORDERED,
    MOST_OPEN,
    OBSERVATION,
    OUTCOME,
    Expected,
    LateReports,
    Reports,
)
from pytest_corpus.adapter.hooks.metrics import Count, Observation, RecordingSink


@pytest.fixture
def late() -> LateReports:
    """The reports of an adapter that was seen to report late."""
    found = LateReports(RecordingSink())
    found.seen_s = 0.001
    return found


def made(late: LateReports, op: str = "complete", *, is_due: bool = True, **facts: Any) -> Reports:
    """The reports of a call that has just ended."""
    now = time.monotonic()
    call = Expected("llm", (op, f"llm.{op}"), is_due=is_due, begun=now - 0.001, ended=now, **facts)
    reports = Reports(call=call)
    late.finish([reports], 0, 0)
    return reports


def observe(late: LateReports, op: str = "complete", **given: Any) -> None:
    """One observation."""
    late.sink.observe(**{"component": "llm", "op": op, "ms": 0.1, "ok": True, **given})


FAILED: dict[str, Any] = {"failed": True, "codes": ("BAD_REQUEST", "BadRequest")}


@pytest.mark.parametrize(("facts", "report"), [
    (FAILED, {"ok": False, "code": "BadRequest"}),
    ({"labels": {"tenant_hash"}}, {"extra": {"tenant_hash": "h"}}),
    ({"labels": {"deadline_bucket"}}, {"extra": {"deadline_bucket": "b"}}),
    ({"op": "health"}, {"op": "health"}),
    ({"turn": 3}, {"turn": 3}),
])  # fmt: skip
def test_a_report_goes_to_the_call_that_it_fits(
    late: LateReports, facts: dict[str, Any], report: dict[str, Any]
) -> None:
    """The outcome, the labels, the operation and the turn decide, whatever the order."""
    other, own = made(late, turn=2, failed=False) if "turn" in facts else made(late, failed=False), made(late, **facts)
    late.sink.turn = report.pop("turn", None)
    observe(late, **report)
    late.sink.turn = None
    observe(late)
    late.assign()
    assert [seen.ok for seen in own.observations] == [report.get("ok", True)]
    assert [seen.extra for seen in own.observations] == [report.get("extra", {})]
    assert [seen.op for seen in other.observations] == ["complete"]


def test_reports_that_fit_equally_go_in_order(late: LateReports) -> None:
    """Each call gets one; a surplus one goes to a call of the operation."""
    calls = [made(late) for _ in range(2)]
    for ms in (1, 2, 3):
        observe(late, ms=ms)
    late.assign()
    assert [[seen.ms for seen in each.observations] for each in calls] == [[1], [2, 3]]


def test_a_call_that_need_not_be_observed_comes_last(late: LateReports) -> None:
    """It has reports only if those that must be observed have theirs."""
    given_up, due = made(late, is_due=False, failed=True), made(late, failed=True)
    observe(late, ok=False)
    late.assign()
    assert (len(given_up.observations), len(due.observations)) == (0, 1)
    observe(late, ok=False)
    late.assign()
    assert (len(given_up.observations), len(due.observations)) == (1, 1)


def test_a_call_that_need_not_be_observed_is_waited_for(late: LateReports) -> None:
    """Its report comes before the next call, which might take it otherwise; one that never comes is soon given up."""
    late.seen_s = 0.1
    outcome = {"component": "llm", "name": "count_stream_final_outcome", "extra": {"code": "BadRequest"}}
    threading.Timer(0.05, late.sink.counter, kwargs=outcome).start()
    odd = made(late, "capabilities", is_due=False, streaming=True, **FAILED)
    due = made(late, "stream", streaming=True, **FAILED)
    assert (len(odd.counts), len(due.counts)) == (1, 0)
    started = time.monotonic()
    made(late, is_due=False, failed=True)
    assert 0.15 < time.monotonic() - started < 0.4


def test_a_call_of_no_operation_is_not_waited_for(late: LateReports) -> None:
    """Its report comes later, and goes to it, and not to a call that it does not fit."""
    late.seen_s = 0.3
    started = time.monotonic()
    calls = [made(late, "", is_due=False, misdirected=True, **FAILED) for _ in range(2)]
    for each in calls:
        each.call.ops = ()
    due = made(late, failed=False)
    assert time.monotonic() - started < 0.2
    observe(late, "unknown", ok=False, code="BadRequest")
    observe(late, "complete", ok=False, code="BadRequest")
    observe(late)
    assert [[seen.code for seen in each.awaited(OBSERVATION).observations] for each in (*calls, due)] == [
        ["BadRequest"], ["BadRequest"], ["OK"]
    ]  # fmt: skip


def test_a_call_of_no_operation_takes_the_report_that_another_was_given(late: LateReports) -> None:
    """One of them need not be observed: whichever is looked at has the report."""
    unobserved = made(late, is_due=False, misdirected=True, **FAILED)
    observed = made(late, is_due=False, misdirected=True, **FAILED)
    unobserved.call.ops = observed.call.ops = ()
    observe(late, "unknown", ok=False, code="BadRequest")
    late.assign()
    unobserved.observations, observed.observations = [*unobserved.observations, *observed.observations], []
    assert len(observed.awaited(OBSERVATION).observations) == 1
    assert not unobserved.observations


def test_a_report_is_made_room_for_by_several_calls(late: LateReports) -> None:
    """One that only the first call can have moves that of the first to the second, and that of the second on."""
    either, cancelled, refused = made(late), made(late, failed=True), made(late, **FAILED)
    for ok, code in ((False, "Cancelled"), (False, "BadRequest"), (True, "OK")):
        observe(late, ok=ok, code=code)
    late.assign()
    found = [[seen.code for seen in each.observations] for each in (either, cancelled, refused)]
    assert found == [["OK"], ["Cancelled"], ["BadRequest"]]


def test_an_adapter_that_reports_slowly_is_waited_for(late: LateReports) -> None:
    """Many calls lack their reports, so the first is waited for; if none ever comes, that is soon given up."""
    first, *_ = [made(late) for _ in range(MOST_OPEN)]
    started = time.monotonic()
    threading.Timer(0.1, observe, [late]).start()
    made(late)
    assert first.observations
    assert 0.08 < time.monotonic() - started < 0.5
    for _ in range(10):
        made(late)
    assert time.monotonic() - started < 3.5


def test_if_reports_come_in_any_order_that_of_a_tenant_is_waited_for(late: LateReports) -> None:
    """That of another tenant, which is as good in all else, would be taken for it."""
    late.seen_s = 0.1
    for _ in range(2 * MOST_DISORDERED):
        earlier = made(late)
        earlier.call.ended -= 0.01
        made(late, "health")
        observe(late, "health")
        observe(late)
        late.assign()
    assert late.is_disordered
    threading.Timer(0.05, observe, [late], {"extra": {"tenant_hash": "h"}}).start()
    assert made(late, labels={"tenant_hash"}).observations


@pytest.mark.parametrize("streaming", [False, True])
def test_reports_are_exchanged_if_one_fits_better_elsewhere(late: LateReports, streaming: bool) -> None:
    """A call of any outcome that was given the report of another hands it on when its own comes."""
    either, failed = made(late, streaming=streaming), made(late, streaming=streaming, **FAILED)
    for code in ("BadRequest", "OK"):
        if streaming:
            late.sink.counter(component="llm", name="count_stream_final_outcome", extra={"code": code})
        else:
            observe(late, ok=code == "OK", code=code)
    late.assign()
    found = [[*(one.extra["code"] for one in each.counts), *(one.code for one in each.observations)]
             for each in (either, failed)]  # fmt: skip
    assert found == [["OK"], ["BadRequest"]]


def test_an_outcome_is_that_of_its_stream(late: LateReports) -> None:
    """The code in the counter tells a stream that failed from one that finished."""
    finished, failed = (
        made(late, "stream", streaming=True, failed=False),
        made(late, "stream", streaming=True, **FAILED),
    )
    for code in ("BadRequest", "OK"):
        late.sink.counter(component="llm", name="count_stream_final_outcome", extra={"code": code})
    late.assign()
    assert [each.counts[0].extra["code"] for each in (finished, failed)] == ["OK", "BadRequest"]
    assert not finished.lacks(OUTCOME)
    assert finished.lacks(OBSERVATION)


def test_a_counter_is_that_of_the_call_during_which_it_was_made(late: LateReports) -> None:
    """One report that came very late does not say how late the next ones come."""
    late.seen_s = 0.2
    calls = [made(late) for _ in range(4)]
    begun = time.monotonic() - 0.2
    for number, each in enumerate(calls):
        each.call.begun, each.call.ended = begun + number * 0.01, begun + number * 0.01 + 0.005
    late.sink.observations.append(Observation("llm", "complete", 1, True, at=calls[0].call.ended + 0.03))
    late.sink.counts.append(Count("llm", "texts", at=calls[1].call.ended + 0.029))
    late.assign()
    assert [len(each.counts) for each in calls] == [0, 1, 0, 0]


def test_settling_ends_when_the_reports_have_come(late: LateReports) -> None:
    """Without surplus ones it does not take the time in which they may come."""
    late.seen_s = 0.4
    made(late)
    threading.Timer(0.02, observe, [late]).start()
    started = time.monotonic()
    late.settle(surplus=False)
    assert time.monotonic() - started < late.grace_s / 2


def test_lateness_is_learnt_once() -> None:
    """The first late report is waited for; later calls end at once, and only a look at them waits."""
    late = LateReports(RecordingSink())

    def call() -> Reports:
        threading.Timer(0.4, observe, [late]).start()
        return made(late)

    started = time.monotonic()
    first = call()
    assert 0.3 <= late.seen_s <= time.monotonic() - started
    started = time.monotonic()
    calls = [call() for _ in range(5)]
    assert time.monotonic() - started < 0.35
    assert not calls[0].is_settled
    late.forget()
    assert [len(each.awaited(OBSERVATION).observations) for each in (first, *calls)] == [1] * 6
    late.settle()
    assert all(each.is_settled for each in calls)


def test_a_report_goes_to_the_call_that_took_as_long(late: LateReports) -> None:
    """If reports come in another order than the calls, their times decide."""
    now = time.monotonic()
    calls = [
        Reports(call=Expected("llm", ("complete",), is_due=True, begun=now - taken_s, ended=now))
        for taken_s in (0.3, 0.001)
    ]
    late.finish(calls, 0, 0)
    for ms in (1, 300):
        observe(late, ms=ms)
    late.assign()
    assert [[seen.ms for seen in each.observations] for each in calls] == [[300], [1]]


def test_a_call_that_seems_to_take_long_is_not_passed_over_for_ever(late: LateReports) -> None:
    """Quick calls after it come first, until it would be too late for its report."""
    now = time.monotonic()
    slow, quick = (
        Reports(call=Expected("llm", ("complete",), is_due=True, begun=now - taken_s, ended=now - past_s))
        for taken_s, past_s in ((0.8, 0.7), (0.01, 0.0))
    )
    late.finish([slow, quick], 0, 0)
    observe(late, ms=0.1)
    late.assign()
    assert (len(slow.observations), len(quick.observations)) == (1, 0)
