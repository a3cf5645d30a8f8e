"""Tests of replays under an idempotency key, in sequence and concurrent (SPECIFICATION 6.1, 11.4; R24, R61, R126)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from pytest_corpus.adapter import inputs
from pytest_corpus.adapter.turns import break_off_body, call_side_by_side, resting
from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import ReplayProbe, cached, call_with_key, context_with_key
from pytest_corpus.kit.component import Subject
from pytest_corpus.kit.faults import try_with_fault
from pytest_corpus.kit.outcomes import Violation
from pytest_corpus.kit.reply import Reply
from pytest_corpus.kit.requests import reverse_keys
from pytest_corpus.redaction import list_keys
from pytest_corpus.spec.errors import PERMANENT
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.suites.shared.claims.capabilities import RETRYABLE
from pytest_corpus.suites.shared.contexts import new_key_context, new_tenant_context, unusual_key_context
from pytest_corpus.text.values import are_equal_json

ANSWERING = ("complete", "embed", "embed_batch")
"""The operations that can be replayed although they store nothing."""

SLOW_MS = 60
"""The delay of the provider while two calls overlap."""


def expect_same_result(first: Reply, again: Reply) -> None:
    """Check that a replay returns the result of the first call, compared as JSON."""
    result = expect.success(again, "the answer of the first call")
    got = describe_difference(first.result, result)
    expect.check(are_equal_json(result, first.result), "the result of the first call", got, "result", on=[first, again])


def send_first(call: Callable[[Mapping[str, Any]], Reply], **more: str) -> tuple[dict[str, str], Reply]:
    """Send the first call under an unusual new key; if it is refused, under a plain key. Return context and reply.

    Args:
        call: makes the call in a context.
        more: other members of the context.
    """
    key = unusual_key_context(**more)
    first = call(context_with_key(key))
    if not expect.either(first, *PERMANENT):
        key = new_key_context(**more)
        first = call(context_with_key(key))
    expect.success(first, "a write with an idempotency key to work")
    return key, first


def describe_difference(first: Any, again: Any) -> str:
    """Return the keys in which two results differ, as text."""
    if not isinstance(first, dict) or not isinstance(again, dict):
        return "another result"
    keys = [key for key in sorted({*first, *again}) if not are_equal_json(first.get(key, ...), again.get(key, ...))]
    return f"another result, different in {list_keys('the key', keys)}"


FEW_KEYS, OTHER_KEYS, LASTING_S = 10, 50, 5.0
"""A key must work after `FEW_KEYS` other keys; it should work after `OTHER_KEYS` other keys and `LASTING_S` seconds."""


class TestEarlyReplays:
    """Keys that were used recently."""

    @pytest.mark.requirement("COM-IDEM-6")
    def test_a_key_outlasts_ten_others(self, subject: Subject) -> None:
        """A write that is repeated after ten writes with other keys is not applied again."""
        expect_key_outlasts(subject, FEW_KEYS, 0.0)


class TestLateReplays:
    """Keys that were used some seconds ago. An earlier test may have made their writes."""

    @pytest.mark.requirement("COM-IDEM-6")
    def test_a_key_outlasts_fifty_others_and_five_seconds(self, subject: Subject) -> None:
        """A repeated write is not applied again, even after five seconds and fifty writes with other keys."""
        expect_key_outlasts(subject, OTHER_KEYS, LASTING_S)


@dataclass(frozen=True, slots=True)
class KeyedWrite:
    """A write, its key, its answer, its time on the monotonic clock, and the keys that were used before it."""

    replay_probe: ReplayProbe
    key: Mapping[str, Any]
    first: Reply
    at: float
    before: frozenset[str]


def expect_key_outlasts(subject: Subject, keys: int, seconds: float) -> None:
    """Check that a repeated write is answered as before and not applied, after other keys and some seconds.

    The write may be much older, because other tests use it too. If its key does not work, a new write decides.
    """
    kept = cached(subject, ("kept", subject.client.instance.generation), lambda: _write_with_key(subject))
    try:
        _expect_to_outlast(kept, subject, keys, seconds)
    except Violation:
        break_off_body()  # concurrent tests use further keys
        _expect_to_outlast(_write_with_key(subject), subject, keys, seconds)


def _expect_to_outlast(kept: KeyedWrite, subject: Subject, keys: int, seconds: float) -> None:
    name = kept.replay_probe.first.op
    left = keys - len(subject.shared.keys - kept.before)
    others = [(subject.requests.minimal(name), new_key_context()) for _ in range(left)]
    for reply in call_side_by_side(lambda each: subject.call(name, *each), others):
        expect.success(reply, "a write with another key")
    with resting():
        inputs.sleep(max(0.0, kept.at + seconds - inputs.monotonic()))
    kept.replay_probe.other()
    again = call_with_key(subject, kept.replay_probe.first, kept.key)
    kept.replay_probe.shows()
    assert isinstance(again, Reply)
    expect_same_result(kept.first, again)


def _write_with_key(subject: Subject) -> KeyedWrite:
    replay_probe, key = subject.replay_probe(), new_key_context()
    first = call_with_key(subject, replay_probe.first, key)
    assert isinstance(first, Reply)
    expect.success(first, "a write with an idempotency key to work")
    return KeyedWrite(replay_probe, key, first, inputs.monotonic(), frozenset(subject.shared.keys))


class TestAnswerReplays:
    """Idempotency keys of operations that store nothing."""

    @pytest.mark.requirement("COM-IDEM-7")
    def test_a_request_that_is_sent_twice_at_once_is_carried_out_once(self, subject: Subject) -> None:
        """If a request is sent twice at once under one key, the provider is called once, and the results are equal."""
        subject.require(subject.principal)
        for name in subject.working_operations(name for name in ANSWERING if name in subject.operations()):
            request = subject.envelope(name, subject.requests.distinct(name), new_key_context(**new_tenant_context()))
            require_countable_calls(subject)
            results, reached = send_twice_at_once(subject, request, subject.faults.provider_op(name))
            expect.check(reached == 1, "one call of the provider", f"{reached} at once")
            expect.check(are_equal_json(*results), "the same result for both", describe_difference(*results), "result")

    @pytest.mark.requirement("COM-IDEM-5")
    def test_a_request_that_failed_can_be_sent_again(self, subject: Subject) -> None:
        """If a request failed because of the provider, a retry under the same key is carried out."""
        subject.require(subject.principal)
        name, args = subject.principal, subject.requests.distinct(subject.principal)
        try_with_fault(
            subject, lambda instance: expect_second_attempt(instance, name, args), lambda reply: reply.is_success
        )


def send_twice_at_once(subject: Subject, request: dict[str, Any], op: str | None = None) -> tuple[list[Any], int]:
    """Send a request twice at once; return the results and the number of calls of a slow provider at `op`.

    The second copy has its keys in another order, which is the same JSON value.
    """
    provider = subject.client.provider
    plan = provider.plan("slow", op, times=2, delay_ms=SLOW_MS)
    replies = [Reply(exchange) for exchange in subject.send_all([request, reverse_keys(request)])]
    provider.clear()
    for reply in replies:
        expect.either(reply, *RETRYABLE)
    results = [reply.result for reply in replies if reply.is_success]
    expect.assessable(len(results) >= 2, Obstacle.ONE_COMES_AGAIN)
    return results, plan.fired


def expect_one_result(subject: Subject, request: dict[str, Any]) -> None:
    """Check that two concurrent calls of one request return the same result."""
    results, _ = send_twice_at_once(subject, request)
    expect.check(are_equal_json(*results), "the same result for both", describe_difference(*results), "result")


def require_countable_calls(subject: Subject) -> None:
    """Raise NotAssessed behind a tunnel, because a call may do the work or only look up a key."""
    expect.assessable(not subject.faults.is_tunnelled, Obstacle.TUNNEL_IS_BLIND)


def expect_one_provider_call(subject: Subject, request: dict[str, Any]) -> None:
    """Check that the provider is called only once if a request is sent twice at once."""
    op = subject.faults.provider_op(str(request["op"]).partition(".")[2])
    require_countable_calls(subject)
    _, reached = send_twice_at_once(subject, request, op)
    expect.check(reached == 1, "one call of the provider", f"{reached} at once")


def expect_second_attempt(subject: Subject, name: str, args: Mapping[str, Any]) -> Reply:
    """Check that a request succeeds under its key after the provider failed its first attempt."""
    key = new_key_context()
    plan = subject.faults.plan("unavailable", name)
    failed = subject.call(name, args, key)
    subject.faults.require_fired(plan)
    expect.assessable(failed.is_a(*RETRYABLE), Obstacle.FAILURE_ANSWERED, op=name, reply=failed)
    control = subject.call(name, args, new_key_context())
    expect.assessable(control.is_success, Obstacle.AFTER_FAILURE, op=name, reply=control)
    again = subject.call(name, args, key)
    expect.success(again, "the request to be carried out")
    return again
