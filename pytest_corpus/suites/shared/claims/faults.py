"""Tests of the errors for a provider's failures (ERRORS 1, 4, 8; SPECIFICATION 12)."""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from pytest_corpus.adapter import inputs
from pytest_corpus.adapter.hooks.provider import Plan
from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import cached, context_with_key
from pytest_corpus.kit.component import Subject
from pytest_corpus.kit.faults import MAX_PROVIDER_RETRIES, call_with_fault, try_with_fault
from pytest_corpus.kit.fixtures import ONE_IN
from pytest_corpus.kit.outcomes import NotApplicable, NotAssessed, Violation
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.kit.requests import canary, deadline_in
from pytest_corpus.kit.retries import is_retryable
from pytest_corpus.spec.errors import AWAY, BY_KIND, FILTERED, PERMANENT, RESOURCE_SCOPES, TAXONOMY
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.suites.shared.claims.context import PASSING, provider_failure, two_tenants
from pytest_corpus.suites.shared.claims.deadlines import call_with_hanging_provider, expect_cut_off

REQUIREMENTS = {
    "COM-FAULT-1": ("rate_limited", "quota_exhausted"),
    "COM-FAULT-2": ("overloaded", "unavailable"),
    "COM-FAULT-3": ("network", "gateway_timeout"),
    "COM-FAULT-4": ("auth", "forbidden"),
    "COM-FAULT-5": ("content_filtered",),
    "COM-FAULT-6": ("invalid_request",),
    "COM-FAULT-7": ("unexpected",),
}
KINDS = [
    pytest.param(kind, marks=pytest.mark.requirement(requirement), id=kind)
    for requirement, kinds in REQUIREMENTS.items()
    for kind in kinds
]
PASSED_ON = [kind.kind for kind in BY_KIND.values() if kind.passes_retry_after]
HINT_MS = 1234
MINUTE_MS = 61_000
"""A hint of more than a minute. The call has a budget of `BUDGET_MS`, because an adapter may wait before it retries."""

BUDGET_MS = 3_000
LONGEST_SCOPE = 256
HINTLESS = ("quota_exhausted", "unavailable", "network")
BROKEN_STREAMS = [{"form": "unfinished"}, {"form": "reset"}]
"""The ways in which a provider's stream breaks. Clients often mistake the first one for a normal end."""

ALL_KINDS = [kind for kinds in REQUIREMENTS.values() for kind in kinds]


class TestFaults:
    """The provider's failures in unary calls."""

    @pytest.mark.parametrize("kind", KINDS)
    def test_a_failure_becomes_its_canonical_class(self, subject: Subject, kind: str) -> None:
        """Each kind of failure becomes its class of the taxonomy, in every operation that calls the provider.

        The principal operation is called with a full context. An operation on several items may report the failure for
        each item.
        """
        names = operations_in_turn(subject, kind)
        classes = subject.faults.error_classes(kind)
        for name in names:
            expect.failure(answer_to_fault(subject, name, kind), *classes)
        expect.failure(provider_failure(subject, subject.principal, kind), *classes)
        for form in subject.faults.forms(kind, subject.principal):
            away = AWAY if form == "garbage" else ()  # the network may have damaged an unreadable answer
            expect.failure(answer_to_fault(subject, subject.principal, kind, form=form), *classes, *away)
        if kind == "content_filtered" and subject.component == "llm":
            _, reply = call_with_fault(subject, "content_filtered", subject.principal, form="in_answer")
            assert isinstance(reply, Reply)
            if expect.either(reply, "BadRequest"):
                reason = reply.result.get("finish_reason") if isinstance(reply.result, Mapping) else None
                expect.check(reason == "content_filter", "content_filter", found=reason, path="result.finish_reason")

    @pytest.mark.requirement("COM-FAULT-1")
    def test_a_second_rate_limit_has_the_class_of_the_first(self, subject: Subject) -> None:
        """If the provider rate-limits two calls in a row, the second error is ResourceExhausted too."""
        name = subject.principal

        def send(fresh: Subject) -> Reply | StreamReply:
            first = fresh.invoke(name, fresh.requests.distinct(name))
            if first.exchange.observed.faults:
                expect.failure(first, "ResourceExhausted")
            return fresh.invoke(name, fresh.requests.distinct(name))

        _, second = call_with_fault(subject, "rate_limited", name, send, times=2 * MAX_PROVIDER_RETRIES)
        if not second.exchange.observed.reached_provider or not second.is_error:
            raise NotApplicable("after the failure, the adapter did not call the provider, or the call succeeded")
        expect.refusal(second, "ResourceExhausted")

    @pytest.mark.requirement("COM-FAULT-8")
    @pytest.mark.parametrize("kind", PASSED_ON)
    def test_the_providers_retry_hint_is_passed_on(self, subject: Subject, kind: str) -> None:
        """The error of every operation has the provider's `retry_after_ms`. Failures of single items are not judged."""
        for name in subject.faults.backed_operations(streaming=False):
            reply = answer_to_fault(subject, name, kind, sound=has_provider_hint, retry_after_ms=HINT_MS)
            if isinstance(reply, Reply) and reply.failed_items:
                continue
            require_class(subject, reply, kind, requirement_of(kind))
            expect_provider_hint(reply, name)

    @pytest.mark.requirement("COM-FAULT-8")
    def test_a_long_retry_hint_is_passed_on(self, subject: Subject) -> None:
        """A `retry_after_ms` of more than a minute is passed on unchanged."""
        ctx = {"deadline_ms": deadline_in(BUDGET_MS)}
        reply = answer_to_fault(subject, subject.principal, "rate_limited", ctx, retry_after_ms=MINUTE_MS)
        expect.applicable(not reply.is_a("DeadlineExceeded"), "the adapter itself waits before it retries")
        require_class(subject, reply, "rate_limited", "COM-FAULT-1")
        expect_provider_hint(reply, subject.principal)

    @pytest.mark.requirement("COM-FAULT-10")
    @pytest.mark.parametrize("kind", HINTLESS)
    def test_a_retryable_error_gives_a_hint(self, subject: Subject, kind: str) -> None:
        """A retryable error says when to retry, in one of the two documented ways."""
        reply = answer_to_fault(subject, subject.principal, kind)
        require_class(subject, reply, kind, requirement_of(kind))
        expect_hint(reply)

    @pytest.mark.requirement("COM-FAULT-13")
    @pytest.mark.parametrize("kind", REQUIREMENTS["COM-FAULT-1"])
    def test_an_exhausted_resource_gives_its_scope(self, subject: Subject, kind: str) -> None:
        """`details.throttle_scope` says what is throttled."""
        reply = answer_to_fault(subject, subject.principal, kind)
        require_class(subject, reply, kind, requirement_of(kind))
        expect.check(reply.details.get("throttle_scope"), "a scope", "no scope", "details.throttle_scope")

    @pytest.mark.requirement("COM-FAULT-15")
    def test_the_scope_of_throttling_is_bounded(self, subject: Subject) -> None:
        """Two throttled requests of one tenant have the same scope, although their ids differ."""
        tenant, scopes = two_tenants(subject)[0], []
        for _ in range(2):
            reply = answer_to_fault(subject, subject.principal, "rate_limited", {"tenant": tenant, **unique_ids()})
            require_class(subject, reply, "rate_limited", "COM-FAULT-1")
            scopes.append(reply.details.get("throttle_scope"))
        expect.applicable(None not in scopes, "no throttle_scope is given")
        where = "details.throttle_scope"
        expect.check(scopes[0] == scopes[1], "the same scope for both requests", "another scope", where)
        expect.check(
            len(str(scopes[0])) <= LONGEST_SCOPE, "a short identifier", f"{len(str(scopes[0]))} letters", where
        )

    @pytest.mark.requirement("COM-FAULT-16")
    def test_an_exhausted_resource_is_named(self, subject: Subject) -> None:
        """`details.resource_scope` names the exhausted resource."""
        reply = answer_to_fault(subject, subject.principal, "rate_limited")
        require_class(subject, reply, "rate_limited", "COM-FAULT-1")
        named = reply.details.get("resource_scope")
        expect.check(named in RESOURCE_SCOPES, " or ".join(RESOURCE_SCOPES), found=named, path="details.resource_scope")

    @pytest.mark.requirement("COM-FAULT-12")
    @pytest.mark.parametrize("kind", PASSING)
    def test_the_next_call_works_again(self, subject: Subject, kind: str) -> None:
        """After one failure of the provider, the next call works."""
        expect_recovery(subject, subject.principal, kind)

    @pytest.mark.requirement("COM-FAULT-12")
    def test_the_call_after_a_deadline_works_again(self, subject: Subject) -> None:
        """After a call that was cut off by its deadline, the next call works."""
        expect.applicable(subject.capabilities.flag("supports_deadline") is not False, "deadlines are denied")
        name = subject.principal
        subject.faults.provider_op(name)
        opened: list[Subject] = []

        def plan(fresh: Subject) -> Plan:
            opened.append(fresh)
            fresh.invoke(name, fresh.requests.distinct(name))  # this waits while an index is built (R141)
            return fresh.faults.plan("hang", name, times=1)

        planned, cut, _ = call_with_hanging_provider(
            subject,
            plan,
            lambda fresh, ctx, limit_s: fresh.invoke(name, fresh.requests.distinct(name), ctx, limit_s=limit_s),
            is_shared=False,
        )
        fresh = opened[-1]
        fresh.faults.require_fired(planned)
        if not cut.is_a("DeadlineExceeded"):
            with expect.resting_on("COM-DEADLINE-4"):
                expect_cut_off(subject, name, at_chunk=None)
            raise NotAssessed(Obstacle.NO_DEADLINE)
        expect.works(fresh.invoke(name, fresh.requests.distinct(name)), "the next call to work")

    @pytest.mark.requirement("COM-FAULT-14")
    @pytest.mark.parametrize("kind", ["quota_exhausted", "overloaded", "unavailable"])
    def test_any_retry_hint_of_the_provider_is_passed_on(self, subject: Subject, kind: str) -> None:
        """The provider's `retry_after_ms` is passed on for all kinds of failures, not only for rate limits."""
        reply = answer_to_fault(subject, subject.principal, kind, retry_after_ms=HINT_MS)
        require_class(subject, reply, kind, requirement_of(kind))
        expect_provider_hint(reply, subject.principal)


class TestContentFilter:
    """Content filters."""

    @pytest.mark.requirement("COM-FAULT-11")
    def test_a_content_filter_has_its_own_class(self, subject: Subject) -> None:
        """Filtered content has the subtype ContentFiltered, which distinguishes it from other bad requests."""
        expect.refusal(answer_to_fault(subject, subject.principal, "content_filtered"), *FILTERED)


class TestOverload:
    """Overloaded models."""

    @pytest.mark.requirement("COM-FAULT-17")
    def test_an_overloaded_model_has_its_own_class(self, subject: Subject) -> None:
        """A model at capacity has the subtype ModelOverloaded, which distinguishes it from an outage."""
        reply = answer_to_fault(subject, subject.principal, "overloaded")
        require_class(subject, reply, "overloaded", "COM-FAULT-2")
        expect.refusal(reply, "ModelOverloaded")


class TestStreamFaults:
    """The provider's failures in streams."""

    @pytest.mark.requirement("COM-FAULT-9")
    @pytest.mark.parametrize(
        ("kind", "at_chunk"), [(kind, at) for n, kind in enumerate(ALL_KINDS) for at in (None, n % 2)]
    )
    def test_a_stream_classifies_as_the_unary_call(self, subject: Subject, kind: str, at_chunk: int | None) -> None:
        """A failure at any chunk of a stream has the same class as in a unary call."""
        unary = provider_failure(subject, subject.principal, kind)
        classes = subject.faults.error_classes(kind)
        expect.readable(unary)
        if unary.is_error and not unary.is_a(*classes):
            raise NotApplicable(f"the unary call does not report the failure as {' or '.join(classes)} either")
        if at_chunk is None:
            expect.refusal(provider_failure(subject, subject.principal_stream, kind), *classes)
            return
        for form in BROKEN_STREAMS if kind == "network" else [{}]:
            expect.refusal(stream_with_fault(subject, kind, at_chunk, **form), *classes)

    @pytest.mark.requirement("COM-FAULT-12")
    @pytest.mark.parametrize("kind", PASSING[::2])
    def test_the_next_stream_works_again(self, subject: Subject, kind: str) -> None:
        """After one failure of the provider, the next stream works."""
        expect_recovery(subject, subject.principal_stream, kind)

    @pytest.mark.requirement("COM-FAULT-8")
    @pytest.mark.parametrize("at_chunk", [None, 1], ids=["at_the_start", "second_chunk"])
    @pytest.mark.parametrize("kind", PASSED_ON)
    def test_the_providers_retry_hint_is_passed_on_by_a_stream(
        self, subject: Subject, kind: str, at_chunk: int | None
    ) -> None:
        """The error that ends a stream has the provider's `retry_after_ms`."""
        stream = stream_with_fault(subject, kind, at_chunk, retry_after_ms=HINT_MS)
        require_stream_class(subject, stream, kind)
        expect_provider_hint(stream, subject.principal_stream)

    @pytest.mark.requirement("COM-FAULT-10")
    @pytest.mark.parametrize("kind", HINTLESS)
    def test_a_retryable_error_of_a_stream_gives_a_hint(self, subject: Subject, kind: str) -> None:
        """A retryable error that ends a stream says when to retry."""
        stream = answer_to_fault(subject, subject.principal_stream, kind)
        require_stream_class(subject, stream, kind)
        expect_hint(stream)


def unique_ids() -> dict[str, Any]:
    """Return a context whose ids no other request has."""
    return context_with_key({"idempotency_key": f"key{canary()}"})


def expect_recovery(subject: Subject, name: str, kind: str) -> None:
    """Check that the request after a provider failure works: the same one after a retryable error, else a new one."""
    same = subject.requests.distinct(name)
    retryable = TAXONOMY[str(BY_KIND[kind].canonical)].retry == "yes"

    def fail_once(instance: Subject) -> Subject:
        plan = instance.faults.plan(kind, name, times=1)
        instance.invoke(name, same)
        instance.faults.require_fired(plan)
        return instance

    def ask_again(instance: Subject) -> Reply | StreamReply:
        with fail_once(instance).retries.calling_once():
            return instance.invoke(name, same if retryable else instance.requests.distinct(name))

    subject.faults.provider_op(name)
    _, again = try_with_fault(subject, ask_again, lambda reply: not reply.is_error)
    if not again.is_error:
        expect.works(again, "the next call to work")
        return
    # The shared instance may have opened a circuit breaker, so the failure counts only on a new one (R114).
    fresh = fail_once(subject.fresh())
    broken = kind == "unexpected" and is_broken(subject, fresh, name)
    if broken and is_broken(subject, new_failed_instance(subject, name), name):
        expect.check(False, "the next call to work", "an error, although the call after it works")
    again = fresh.invoke(name, same if retryable else fresh.requests.distinct(name))
    if again.is_a(*PERMANENT) and subject.fresh().invoke(name, same).is_a(*PERMANENT):
        raise NotApplicable("a new instance refuses the request even without a failure of its provider")
    expect.works(again, "the next call to work")


def new_failed_instance(subject: Subject, name: str) -> Subject:
    """Return a new instance whose provider failed once with an unexpected exception."""
    fresh = subject.fresh()
    plan = fresh.faults.plan("unexpected", name, times=1)
    fresh.invoke(name, fresh.requests.distinct(name))
    fresh.faults.require_fired(plan)
    return fresh


def is_broken(subject: Subject, fresh: Subject, name: str) -> bool:
    """True if the next call of an instance fails and the following call works at once.

    A circuit breaker or an unavailable provider (R114) does not behave in this way.
    """
    if fresh.client is subject.client:
        return False
    replies = []
    with fresh.retries.calling_once():
        for _ in range(2):
            replies.append(fresh.invoke(name, fresh.requests.distinct(name)))
            if not is_retryable(replies[0]):
                return False
    return not replies[1].is_error


def answer_to_fault(
    subject: Subject,
    name: str,
    kind: str,
    ctx: Mapping[str, Any] | None = None,
    *,
    sound: Callable[[Reply | StreamReply], bool] | None = None,
    **options: Any,
) -> Reply | StreamReply:
    """Send a request while the provider fails, and return the answer. See `call_with_fault` for `sound`."""

    def ask() -> Reply | StreamReply:
        def send(fresh: Subject) -> Reply | StreamReply:
            return fresh.invoke(name, fresh.requests.distinct(name), ctx)

        return call_with_fault(subject, kind, name, send, sound=sound, **options)[1]

    return ask() if ctx else cached(subject, ("struck", name, kind, *sorted(options.items())), ask, common=True)


def operations_in_turn(subject: Subject, kind: str) -> Iterator[str]:
    """Yield the operations, except the principal one, that are tested with a kind of failure.

    Unexpected failures are tested with each operation. Each other kind is tested with some operations, which the
    seed selects.
    """
    case, alike = next(each for each in enumerate(REQUIREMENTS.values()) if kind in each[1])
    for number, name in enumerate(subject.faults.backed_operations(streaming=False), inputs.seed()):
        in_turn = kind == "unexpected" or number % ONE_IN == case % ONE_IN
        if name != subject.principal and in_turn and alike[number % len(alike)] == kind:
            yield name


def has_provider_hint(reply: Reply | StreamReply) -> bool:
    """True if an error has the provider's retry hint."""
    return reply.error.get("retry_after_ms") in reply.exchange.observed.hints_ms


def stream_with_fault(subject: Subject, kind: str, at_chunk: int | None, **options: Any) -> Reply | StreamReply:
    """Return a stream whose provider fails at its start or before a chunk."""
    name = subject.principal_stream
    if at_chunk is None:
        return answer_to_fault(subject, name, kind, None, **options)
    subject.faults.provider_op(name)
    ends = ("unfinished",) if subject.faults.is_tunnelled else ("unfinished", "reset")

    def attempt(instance: Subject) -> StreamReply:
        plan, provider = instance.faults.plan(kind, name, at_chunk=at_chunk, **options), instance.client.provider
        before = provider.calls()
        stream = instance.stream(name, instance.requests.long(name))
        is_cut = plan.form in ends and plan.on_wire
        ended = inputs.read("ended", lambda: is_cut and provider.calls() == before + 1)
        provider.clear()
        if ended and stream.is_finished:
            wanted = "an error, because the provider's stream ended without its last event"
            raise Violation(wanted, "a successful end").attach_exchanges(stream.exchange)
        expect.applicable(not stream.is_finished, "the stream has too few chunks, or goes on after the failure")
        return stream

    return try_with_fault(subject, attempt, lambda stream: stream.is_a(*subject.faults.error_classes(kind)))[1]


def require_class(subject: Subject, reply: Reply | StreamReply, kind: str, requirement: str) -> None:
    """Check that a failure became an error of the right class. `requirement` reports any other answer."""
    if isinstance(reply, Reply) and reply.failed_items:
        raise NotApplicable("a failure of the provider is reported for each item")
    with expect.resting_on(requirement):
        classes = subject.faults.error_classes(kind)
        expect.refusal(reply, *classes, claim=f"a failure of kind {kind} to become {' or '.join(classes)}")


def require_stream_class(subject: Subject, stream: Reply | StreamReply, kind: str) -> None:
    """Check that a failure in a stream has the right class. If unary calls have a wrong class too, block the test."""
    if not stream.is_a(*subject.faults.error_classes(kind)):
        require_class(subject, answer_to_fault(subject, subject.principal, kind), kind, requirement_of(kind))
    require_class(subject, stream, kind, "COM-FAULT-9")


def requirement_of(kind: str) -> str:
    """Return the requirement that defines the class of a kind of failure."""
    return next(requirement for requirement, kinds in REQUIREMENTS.items() if kind in kinds)


def expect_provider_hint(reply: Reply | StreamReply, name: str) -> None:
    """Check that an error has the provider's retry hint, unchanged or rounded up to a full second (R111)."""
    given = reply.exchange.observed.hints_ms
    expect.applicable(given, "the failure of the provider has no retry hint")
    hint = reply.error.get("retry_after_ms")
    number = hint if isinstance(hint, (int, float)) and not isinstance(hint, bool) else -1
    right = any(each <= number <= math.ceil(each / 1000) * 1000 for each in given)
    wanted = f"{' or '.join(map(str, sorted(given)))} from {name}, unchanged or rounded up to a full second"
    expect.check(right, wanted, found=hint, path="retry_after_ms")


def expect_hint(reply: Reply | StreamReply) -> None:
    """Check that an error states the time of a retry in one of the two documented ways."""
    given = reply.error.get("retry_after_ms") is not None or "suggested_backoff_ms" in reply.details
    expect.check(given, "retry_after_ms or details.suggested_backoff_ms", "neither of them")


assert all(BY_KIND[kind].canonical in TAXONOMY for kinds in REQUIREMENTS.values() for kind in kinds)
