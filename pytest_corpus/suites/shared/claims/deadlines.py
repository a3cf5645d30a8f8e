"""Tests of deadlines, before and during an operation, and of cancelled calls (SPECIFICATION 6.1, 11.2; R16 to R18)."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import pytest

from pytest_corpus.adapter import inputs
from pytest_corpus.adapter.hooks.provider import Plan
from pytest_corpus.adapter.scope import LATEST_S
from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import invoke_expired
from pytest_corpus.kit.audit import telemetry
from pytest_corpus.kit.component import Subject
from pytest_corpus.kit.faults import MAX_PROVIDER_RETRIES, call_with_fault, try_with_fault
from pytest_corpus.kit.fixtures import core, operations_for_case
from pytest_corpus.kit.judgement import note_check
from pytest_corpus.kit.outcomes import NotApplicable, NotAssessed, Violation
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.kit.requests import deadline_in
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.spec.operations import Operation
from pytest_corpus.suites.shared.claims.capabilities import RETRYABLE
from pytest_corpus.suites.shared.claims.context import call_with_ample_deadline

S = TypeVar("S", bound=Subject)
R = TypeVar("R", Reply, StreamReply, "Reply | StreamReply")

BUDGETS_MS = (50, 150, 450, 1350)
"""Budgets for a hanging provider. If the adapter gave up before it called its provider, the next budget is tried."""

PROMPTLY_S = 1.0
"""A call must end at most this long after the end of its budget (R17)."""

ITEMS, ITEM_MS, BUDGET_MS = 8, 190, 230
"""The number of items, the delay of each item, and a budget that is long enough for one item but not for all."""

ATTEMPTS = 3
"""A violation needs this many late attempts, because a busy machine may delay one attempt."""

AGO_MS = {"a_moment_ago": 200, "a_second_ago": 1_000, "a_day_ago": 86_400_000}
"""The time since an expired deadline passed."""

AS_FLOAT = AGO_MS["a_second_ago"]
"""The age of the expired deadline that is sent as a float with a whole value, such as 5.0 (R49)."""

RETRIED_MS = 1_300
"""The budget of a call. An adapter that doubles it, or renews it for each retry, ends more than a second too late."""

PAST_MS = (0, -1, -60_000)
"""Deadlines that are never valid points in the future."""

SLOW_MS, CUT_OFF_MS = 400, 150
"""The delay of the provider, and a shorter budget."""

SLOW_CHUNKS = 12
STREAM_BUDGETS_MS = ((150, 140), (450, 400))
"""Rows of a budget and a delay per chunk: `SLOW_CHUNKS` chunks overrun the budget by more than a second."""


class TestDeadlines:
    """Deadlines of unary operations."""

    @core("COM-DEADLINE-1")
    @pytest.mark.parametrize("ago_ms", AGO_MS.values(), ids=list(AGO_MS))
    def test_an_expired_call_is_refused(self, subject: Subject, ago_ms: int) -> None:
        """Every operation with a deadline refuses a call whose deadline has passed."""
        subject.require(subject.principal)
        case = [*AGO_MS.values()].index(ago_ms)
        for name in subject.working_operations(
            operations_for_case(subject.deadline_operations(streaming=False), subject.principal, case)
        ):
            own = name == subject.principal or ago_ms == AS_FLOAT  # other operations: a minute ago
            reply = (
                subject.call(name, ctx={"deadline_ms": past_deadline(ago_ms)}) if own else invoke_expired(subject, name)
            )
            expect.refusal(reply, "DeadlineExceeded")

    @pytest.mark.requirement("COM-DEADLINE-2")
    def test_an_expired_call_does_no_backend_work(self, subject: Subject) -> None:
        """No operation calls the provider after its deadline has passed."""
        subject.faults.provider_op(subject.principal)
        for name in subject.working_operations(subject.deadline_operations()):
            reply = invoke_expired(subject, name)
            require_deadline_support(subject, name, reply)
            reached = reply.exchange.observed.reached_provider
            expect.check(reached == 0, f"{name} not to reach the provider", f"{reached} calls of the provider")

    @pytest.mark.requirement("COM-DEADLINE-4")
    def test_a_hanging_provider_ends_in_a_deadline(self, subject: Subject) -> None:
        """If the provider hangs, the call ends with DEADLINE_EXCEEDED at most a second after its budget."""
        for name in select_with_deadline(subject, subject.faults.backed_operations(streaming=False)):
            expect_cut_off(subject, name, at_chunk=None)

    @pytest.mark.requirement("COM-DEADLINE-4")
    def test_retries_share_the_budget(self, subject: Subject) -> None:
        """If the provider hangs at every retry, the call still ends at most a second after its budget."""
        name = subject.principal
        subject.faults.provider_op(name)
        require_deadline_support(subject, name, invoke_expired(subject, name))
        retry_if_late(partial(expect_retries_in_time, subject, name))

    @pytest.mark.requirement("COM-CONC-1")
    def test_the_deadline_of_one_call_does_not_end_another(self, subject: Subject) -> None:
        """A call without a deadline succeeds while a later concurrent call is cut off by its deadline."""
        expect.applicable(
            "provider" in subject.client.hooks, "the provider hook is missing, so no call can be made slow"
        )
        name = subject.principal
        subject.faults.provider_op(name)

        def attempt(instance: Subject) -> Reply:
            instance.client.provider.plan("slow", times=2, delay_ms=SLOW_MS)
            contexts: tuple[dict[str, Any], ...] = ({}, {"deadline_ms": deadline_in(CUT_OFF_MS)})
            requests = [instance.envelope(name, instance.requests.distinct(name), ctx) for ctx in contexts]
            exchanges = instance.send_all(requests)
            instance.client.provider.clear()
            return Reply(exchanges[0])

        _, first = try_with_fault(subject, attempt, lambda reply: reply.is_success)
        expect.readable(first)
        if first.is_a("DeadlineExceeded"):
            _, alone = call_with_fault(subject, "slow", name, delay_ms=SLOW_MS)
            expect.applicable(
                not alone.is_a("DeadlineExceeded"), "the adapter sets a short deadline if a call has none"
            )
        expect.check(not first.is_a("DeadlineExceeded"), "the call without a deadline to be carried out", str(first))

    @core("COM-DEADLINE-6")
    def test_an_ample_deadline_changes_nothing(self, subject: Subject) -> None:
        """Every operation works with an hour left, and the principal one with a minute left."""
        subject.require(subject.principal)
        for name in subject.working_operations():
            expect_success_as_without_deadline(subject, name, call_with_ample_deadline(subject, name))
        name = subject.principal
        expect_success_as_without_deadline(subject, name, subject.call(name, ctx={"deadline_ms": deadline_in(60_000)}))

    @pytest.mark.requirement("COM-DEADLINE-6")
    def test_a_slow_provider_within_the_budget_is_waited_for(self, subject: Subject) -> None:
        """A call with a budget of a minute waits for a provider that takes a moment."""
        if "provider" not in subject.client.hooks:
            expect.works(subject.call(subject.principal, ctx={"deadline_ms": deadline_in(60_000)}), "the call to work")
            return
        name, deadline = subject.principal, {"deadline_ms": deadline_in(60_000)}
        _, reply = call_with_fault(
            subject, "slow", name, lambda fresh: fresh.call(name, fresh.requests.distinct(name), deadline), delay_ms=60
        )
        if not reply.is_success:
            _, alone = call_with_fault(subject, "slow", name, delay_ms=60)
            require_success_without_deadline(subject.operation(name), alone)
        expect.works(reply, "a call well within its deadline to be carried out")

    @pytest.mark.requirement("COM-DEADLINE-7")
    @pytest.mark.parametrize("deadline_ms", PAST_MS)
    def test_a_deadline_of_zero_or_less_is_refused(self, subject: Subject, deadline_ms: int) -> None:
        """A deadline of zero or less is refused as invalid or expired."""
        subject.require(subject.principal)
        for name in subject.working_operations(
            operations_for_case(subject.deadline_operations(), subject.principal, PAST_MS.index(deadline_ms))
        ):
            reply = subject.invoke(name, ctx={"deadline_ms": deadline_ms})
            expect.refusal(reply, "BadRequest", "DeadlineExceeded")

    @pytest.mark.requirement("COM-DEADLINE-4")
    def test_health_does_not_hang_with_its_provider(self, subject: Subject) -> None:
        """If the provider hangs, `health` ends at most a second after its budget, with a report or an error."""
        subject.require(subject.principal, "health")
        require_deadline_support(subject, "health", invoke_expired(subject, "health"))
        retry_if_late(partial(expect_health_in_time, subject))


class TestNestedDeadlines:
    """Deadlines of operations on several items."""

    @pytest.mark.requirement("COM-DEADLINE-8")
    def test_the_budget_is_one_for_all_items(self, subject: Subject) -> None:
        """The call ends in time even if each item takes less than the budget but all items together take more."""
        names = [request.op for request in subject.requests.with_items(ITEMS) if subject.works(request.op)]
        for name in names:
            subject.faults.provider_op(name)
            require_deadline_support(subject, name, invoke_expired(subject, name))
            retry_if_late(partial(expect_one_budget_for_items, subject, name))
        expect.applicable(names, "no operation on several items is offered, or works")


def expect_one_budget_for_items(subject: Subject, name: str) -> None:
    def attempt(instance: Subject) -> Reply | StreamReply:
        request = next(each for each in instance.requests.with_items(ITEMS) if each.op == name)
        instance.client.provider.plan("slow", times=100 * ITEMS, delay_ms=ITEM_MS)
        limit_s = BUDGET_MS / 1000 + PROMPTLY_S + 0.5
        reply = instance.invoke(name, request.args, {"deadline_ms": deadline_in(BUDGET_MS)}, limit_s=limit_s)
        instance.client.provider.clear()
        return reply

    expect_in_time(try_with_fault(subject, attempt, lambda reply: is_in_time(reply, BUDGET_MS))[1], BUDGET_MS)


class TestStreamDeadlines:
    """Deadlines of streams."""

    @core("COM-DEADLINE-3")
    @pytest.mark.parametrize("ago_ms", AGO_MS.values(), ids=list(AGO_MS))
    def test_an_expired_stream_is_one_error(self, subject: Subject, ago_ms: int) -> None:
        """A stream whose deadline has passed consists of one error frame."""
        subject.require(subject.principal_stream)
        stream = subject.stream(subject.principal_stream, ctx={"deadline_ms": past_deadline(ago_ms)})
        require_deadline_support(subject, subject.principal, invoke_expired(subject, subject.principal))
        expect.refusal(stream, "DeadlineExceeded")
        expect.check(len(stream.bodies) == 1, "one error envelope and no data", f"{len(stream.bodies)} frames")

    @pytest.mark.requirement("COM-DEADLINE-5")
    @pytest.mark.parametrize(
        "at_chunk", [None, 0, 1, 3], ids=["before_the_stream", "first_chunk", "second_chunk", "fourth_chunk"]
    )
    def test_a_hanging_stream_ends_in_a_deadline(self, subject: Subject, at_chunk: int | None) -> None:
        """If the provider hangs, the stream ends with DEADLINE_EXCEEDED at most a second after its budget."""
        for name in subject.faults.backed_operations(streaming=True):
            expect_cut_off(subject, name, at_chunk=at_chunk)

    @pytest.mark.requirement("COM-DEADLINE-5")
    def test_the_budget_of_a_stream_is_one_for_all_its_chunks(self, subject: Subject) -> None:
        """The stream ends in time even if each chunk takes less than the budget but all chunks together take more."""
        for name in subject.faults.backed_operations(streaming=True):
            require_deadline_support(subject, name, invoke_expired(subject, name))
            retry_if_late(partial(expect_slow_stream_in_time, subject, name))


def past_deadline(milliseconds: int) -> float:
    """Return a deadline that passed this long ago."""
    deadline = deadline_in(-milliseconds)
    return float(deadline) if milliseconds == AS_FLOAT else deadline


def select_with_deadline(subject: Subject, names: list[str]) -> list[str]:
    """Keep the operations that have a deadline (R16)."""
    return [name for name in names if name in subject.deadline_operations()]


def require_deadline_support(subject: Subject, name: str, reply: Reply | StreamReply) -> None:
    """Check that the operation refuses an expired call. Another requirement reports a call that is not refused."""
    with expect.resting_on("COM-DEADLINE-3" if subject.operation(name).streaming else "COM-DEADLINE-1"):
        expect.refusal(reply, "DeadlineExceeded", claim=f"an expired {name} to be an error of class DeadlineExceeded")
        frames = len(reply.bodies) if isinstance(reply, StreamReply) else 1
        expect.check(frames == 1, "one error envelope and no data", f"{frames} frames")


class _LateCall(Violation):
    """The error for a call that ended too late."""


def retry_if_late(attempt: Callable[[], None]) -> None:
    """Repeat a late attempt, because a busy machine may delay a call; raise the violation if all attempts are late."""
    for left in reversed(range(ATTEMPTS)):
        try:
            attempt()
        except _LateCall:
            if not left:
                raise
        else:
            return


def call_with_hanging_provider(
    subject: S, plan: Callable[[S], Plan], call: Callable[[S, dict[str, int], float], R], *, is_shared: bool = True
) -> tuple[Plan, R, float]:
    """Run `call` while the provider hangs; return the plan, the answer and the budget in milliseconds.

    If the adapter gave up before it called its provider, a longer budget is tried.

    Args:
        is_shared: False to use a new instance, at which no other test planned a fault.
    """
    for budget_ms in BUDGETS_MS:

        def attempt(instance: S) -> tuple[Plan, R]:
            planned = plan(instance)
            ctx = {"deadline_ms": deadline_in(budget_ms)}  # noqa: B023 - it is called at once
            reply = call(instance, ctx, budget_ms / 1000 + PROMPTLY_S + 0.5)  # noqa: B023
            instance.client.provider.clear()
            return planned, reply

        def is_valid(found: tuple[Plan, R]) -> bool:
            return found[1].is_a("DeadlineExceeded") and is_in_time(found[1], budget_ms)  # noqa: B023

        if is_shared:
            planned, reply = try_with_fault(subject, attempt, is_valid)[1]
        else:
            planned, reply = attempt(subject.fresh())
        if planned.fired or not reply.is_a("DeadlineExceeded"):
            break
    return planned, reply, budget_ms


def expect_retries_in_time(subject: Subject, name: str) -> None:
    """Check that a call ends in time if its provider never answers, even with retries."""

    def attempt(instance: Subject) -> Reply | StreamReply:
        plan, args = instance.faults.plan("hang", name), instance.requests.distinct(name)
        limit_s = RETRIED_MS / 1000 + PROMPTLY_S + 0.5
        reply = instance.invoke(name, args, {"deadline_ms": deadline_in(RETRIED_MS)}, limit_s=limit_s)
        instance.faults.require_fired(plan)
        return reply

    expect_in_time(try_with_fault(subject, attempt, lambda reply: is_in_time(reply, RETRIED_MS))[1], RETRIED_MS)


def expect_health_in_time(subject: Subject) -> None:
    """Check that `health` ends in time although the provider never answers."""

    def plan_anywhere(fresh: Subject) -> Plan:
        fresh.client.provider.clear()
        return fresh.client.provider.plan("hang", times=MAX_PROVIDER_RETRIES)

    planned, reply, budget_ms = call_with_hanging_provider(
        subject, plan_anywhere, lambda fresh, ctx, limit_s: fresh.call("health", ctx=ctx, limit_s=limit_s)
    )
    expect.applicable(planned.fired, "health does not ask the provider")
    expect_in_time(reply, budget_ms)
    expect.either(reply, "DeadlineExceeded", *RETRYABLE)


def expect_slow_stream_in_time(subject: Subject, name: str) -> None:
    """Check that a stream ends in time although the provider is slow for each of many chunks."""
    op = subject.faults.provider_op(name)
    for budget_ms, slow_ms in STREAM_BUDGETS_MS:
        fresh = subject.fresh()
        fresh.client.provider.clear()
        plans = [
            fresh.client.provider.plan("slow", op, at_chunk=chunk, delay_ms=slow_ms) for chunk in range(SLOW_CHUNKS)
        ]
        reply = fresh.invoke(name, fresh.requests.long(name), {"deadline_ms": deadline_in(budget_ms)})
        fresh.client.provider.clear()
        expect_in_time(reply, budget_ms)
        if plans[0].fired and reply.is_a("DeadlineExceeded"):  # otherwise it may have too few chunks to be late
            return


def expect_cut_off(subject: Subject, name: str, *, at_chunk: int | None) -> None:
    """Check that an operation ends in time although its provider never answers."""
    require_deadline_support(subject, name, invoke_expired(subject, name))
    retry_if_late(lambda: _expect_cut_off_once(subject, name, at_chunk))


def _expect_cut_off_once(subject: Subject, name: str, at_chunk: int | None) -> None:
    planned, reply, budget_ms = call_with_hanging_provider(
        subject,
        lambda fresh: fresh.faults.plan("hang", name, at_chunk=at_chunk),
        lambda fresh, ctx, limit_s: fresh.invoke(name, fresh.requests.long(name), ctx, limit_s=limit_s),
    )
    if not planned.fired and reply.is_a("DeadlineExceeded"):  # it ended in time without the provider
        expect_in_time(reply, budget_ms)
        return
    if not planned.fired and at_chunk:
        if isinstance(reply, StreamReply) and not reply.is_finished:
            raise NotAssessed(Obstacle.NEVER_HUNG)
        raise NotApplicable("the stream has fewer chunks than the test needs")
    subject.faults.require_fired(planned)
    expect_in_time(reply, budget_ms)
    expect.failure(reply, "DeadlineExceeded")


def expect_success_as_without_deadline(subject: Subject, name: str, reply: Reply | StreamReply) -> None:
    """Check that a request with an ample deadline works, if it works without a deadline."""
    try:
        expect.works(reply, f"{name} to work")
    except Violation:
        require_success_without_deadline(subject.operation(name), subject.invoke(name))
        raise


def require_success_without_deadline(operation: Operation, reply: Reply | StreamReply) -> None:
    """Check that a request works without a deadline, so that the deadline must be the cause of a failure."""
    with expect.resting_on(operation.works):
        expect.works(reply, f"{operation.op} to work without a deadline")


def is_in_time(reply: Reply | StreamReply, budget_ms: float) -> bool:
    """True if a call ended at most a second after its budget."""
    return reply.exchange.fault is None and reply.exchange.elapsed_s - budget_ms / 1000 <= PROMPTLY_S


def expect_in_time(reply: Reply | StreamReply, budget_ms: float) -> None:
    """Check that a call ended at most a second after its budget."""
    note_check()
    fault = reply.exchange.fault
    if fault is not None and fault.kind == "timeout":
        raise _LateCall("an end within the budget plus 1 s", f"no end after {reply.exchange.elapsed_s:.1f} s")
    late = reply.exchange.elapsed_s - budget_ms / 1000
    if late > PROMPTLY_S:
        raise _LateCall("an end within the budget plus 1 s", f"an end {late:.1f} s after the budget")


GIVEN_UP_S = 0.3
"""The time after which the suite cancels a call whose provider never answers."""


class TestCancelling:
    """Calls that the client cancels."""

    @pytest.mark.requirement("COM-OBS-25")
    def test_a_cancelled_call_is_observed(self, subject: Subject) -> None:
        """A call that is cancelled while its provider hangs is observed within a second."""
        name = subject.principal
        subject.faults.provider_op(name)
        with expect.resting_on("COM-OBS-1"):
            reply = subject.call(name, subject.requests.distinct(name))
            expect.works(reply, f"{name} to work")
        fresh = subject.fresh()
        if fresh.client is not subject.client:  # observed calls may prepare the first one
            expect.works(fresh.call(name, fresh.requests.distinct(name)), f"{name} to work")
        arguments = fresh.requests.distinct(name)
        subject.client.late_reports.settle(surplus=False)
        with expect.resting_on("COM-OBS-1"):
            expect.check(bool(telemetry.observations_of(reply.exchange)), "an observation", "no observation")
        before = len(subject.client.metrics.observations)
        given_up_before = inputs.read("given up", lambda: count_abandoned_waits(subject))
        plan = fresh.faults.plan("hang", name)
        given_up = fresh.call(name, arguments, limit_s=GIVEN_UP_S)
        fresh.faults.require_fired(plan)
        fault = given_up.exchange.fault
        expect.assessable(fault is not None and fault.kind == "timeout", Obstacle.ENDS_ANYWAY)
        if subject.client.remote is not None and not wait_until(
            lambda: count_abandoned_waits(subject) > given_up_before
        ):
            raise NotAssessed(Obstacle.CONNECTION_KEPT)
        wait_until(lambda: has_observation(subject, before))
        found = inputs.read("observed", lambda: has_observation(subject, before))
        expect.check(found, "an observation of the call that was cancelled", "no observation")


def wait_until(holds: Callable[[], bool]) -> bool:
    """Wait until a condition holds, at most as long as an observation may take; return False if it never holds."""
    until = inputs.monotonic() + LATEST_S
    while not inputs.read("holds", holds):
        if inputs.monotonic() > until:
            return False
        inputs.sleep(0.01)
    return True


def count_abandoned_waits(subject: Subject) -> int:
    """Return the number of times that a remote adapter stopped waiting for its provider."""
    return subject.client.remote.hooks.given_up if subject.client.remote is not None else 0


def has_observation(subject: Subject, before: int) -> bool:
    """True if the principal operation was observed again, not counting the first `before` observations."""
    names = subject.principal, f"{subject.component}.{subject.principal}"
    return any(one.op in names for one in subject.client.metrics.observations[before:])
