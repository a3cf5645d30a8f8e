"""Tests of routing, malformed requests and load (SPECIFICATION 4.2; SCHEMA 3.1; BC 8)."""

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any

import pytest

from pytest_corpus.adapter.calls import is_still_sending
from pytest_corpus.adapter.turns import call_side_by_side
from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import invoke_expired, invoke_plain
from pytest_corpus.kit.component import Subject, expect_audited
from pytest_corpus.kit.faults import MAX_PROVIDER_RETRIES
from pytest_corpus.kit.fixtures import core, operations_for_case
from pytest_corpus.kit.outcomes import NotApplicable, NotAssessed
from pytest_corpus.kit.reply import Reply, StreamReply, error_names
from pytest_corpus.kit.requests import Request, deadline_in
from pytest_corpus.kit.retries import is_retryable
from pytest_corpus.spec.components import COMPONENTS
from pytest_corpus.spec.errors import PERMANENT, TAXONOMY
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.spec.operations import BY_OP
from pytest_corpus.suites.shared.claims import envelopes
from pytest_corpus.suites.shared.claims.capabilities import RETRYABLE
from pytest_corpus.suites.shared.claims.context import UNKNOWN_ARGUMENT, call_with_extras
from pytest_corpus.suites.shared.claims.deadlines import (
    PROMPTLY_S,
    expect_in_time,
    require_deadline_support,
    retry_if_late,
    select_with_deadline,
)
from pytest_corpus.suites.shared.contexts import new_tenant_context

BEYOND_32_BITS = 2**40

ABSURD = (2**63, 10**400, -(10**400))
"""Integers beyond the range of any field."""

BUSY = ("ResourceExhausted", "Unavailable")
"""The errors with which an adapter may refuse concurrent calls."""

MOST_AT_ONCE, SLOW_MS = 32, 60
"""The largest concurrency that is tried, and the delay of the provider during that test."""


def classes_of_items(reply: Reply | StreamReply) -> Iterator[str]:
    """Yield the error classes that the failed items of a result name."""
    result = reply.result if isinstance(reply, Reply) else None
    lists = [result.get(key) for key in ("failures", "results")] if isinstance(result, Mapping) else []
    for item in chain.from_iterable(found for found in lists if isinstance(found, list)):
        if isinstance(item, Mapping):
            yield from error_names(item)[:1]


def plain_requests(subject: Subject) -> list[dict[str, Any]]:
    """Return a plain request of every working unary operation, or of the principal operation if none works."""
    names = [name for name in subject.operations(streaming=False) if subject.works(name)]
    return [subject.envelope(name) for name in names or [subject.principal]]


def require_offered(subject: Subject, requests: list[Request]) -> list[Request]:
    """Return the requests whose operation works. Raises NotApplicable if no operation works."""
    found = [request for request in requests if subject.works(request.op)]
    expect.applicable(found, "none of the operations that this test uses is offered and works")
    return found


def request_with_nulls(subject: Subject, name: str) -> Request:
    """Return a plain request with null for each optional argument whose schema allows null."""
    args: dict[str, Any] = subject.requests.minimal(name)
    for path in subject.requests.nullable[name]:
        place, _, key = path.rpartition(".")
        if place:
            args[place] = [{**item, key: None} for item in args[place]]
        else:
            args = {key: None, **args}
    return Request(name, args)


def distinct_requests(subject: Subject) -> tuple[list[dict[str, Any]], list[Any]]:
    """Return requests with different answers, and the fingerprints of these answers."""
    requests = subject.requests.distinct_requests()
    alone = [subject.requests.fingerprint(subject.send(each)) for each in requests]
    expect.assessable(len(set(alone)) >= 2, Obstacle.NOT_DISTINGUISHED)
    return requests, alone


def renew_tenant(subject: Subject, request: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the request for a new, uncached tenant; unchanged if the component stores data or claims no tenants."""
    stores = any(subject.operation(name).mutating for name in subject.operations())
    if stores or subject.capabilities.flag("supports_multi_tenant") is not True:
        return request
    return {**request, "ctx": {**request["ctx"], **new_tenant_context()}}


def expect_same_answers_together(subject: Subject, requests: Sequence[tuple[Any, Any]]) -> None:
    """Check that concurrent requests get their usual answers, or an error that asks for a retry."""
    replies = [
        Reply(exchange) for exchange in subject.send_all([renew_tenant(subject, request) for request, _ in requests])
    ]
    expect.assessable(not all(reply.is_a(*BUSY) for reply in replies), Obstacle.ALL_REFUSED)
    for reply, (request, own) in zip(replies, requests, strict=True):
        claim = "the answer that the same request gets when sent alone"
        if not reply.is_a(*BUSY):
            expect.success(reply, claim)
            found = subject.requests.fingerprint(reply)
            known = found in [each for _, each in requests]
            if not known and subject.requests.fingerprint(subject.send(renew_tenant(subject, request))) != own:
                raise NotAssessed(Obstacle.NOT_DISTINGUISHED)
            got = f"the answer to another of the {len(requests)} requests sent at once" if known else "another answer"
            if type(own) is type(found) is int:
                claim, got = f"{claim}: {own}", f"{got}: {found}"
            expect.check(found == own, claim, got, on=[reply])


class TestWireHandler:
    """Rules for requests of any operation."""

    @core("COM-WIRE-1")
    def test_no_exception_escapes(self, subject: Subject) -> None:
        """Valid and invalid requests are answered, and neither `handle` nor `handle_stream` raises an exception."""
        replies: list[Reply | StreamReply] = [invoke_plain(subject, subject.principal), *envelopes.refusals(subject)]
        replies += call_side_by_side(partial(envelopes.send_non_object, subject), envelopes.NO_OBJECTS)
        if subject.principal_stream and subject.client.instance.has_stream(subject.component):
            replies += call_side_by_side(partial(envelopes.stream_non_object, subject), envelopes.NO_OBJECTS)
        for reply in replies:
            expect_audited(expect.ANSWERS, reply, subject)

    @core("COM-WIRE-2")
    def test_every_call_comes_to_an_end(self, subject: Subject) -> None:
        """Each operation answers a plain request within the call limit, and each stream ends."""
        streams = subject.client.instance.has_stream(subject.component)
        for name in subject.operations(streaming=None if streams else False):
            reply = invoke_plain(subject, name)
            expect_audited(expect.IN_TIME, reply, subject)
            if is_still_sending(reply.exchange):  # a long stream proves nothing; send a short one
                short = subject.stream(name, subject.requests.short(name))
                expect_audited(expect.IN_TIME, short, subject)
                expect.readable(short)
                expect.assessable(not short.is_error, Obstacle.SHORT_REFUSED, reply=short)

    @core("COM-WIRE-3")
    def test_an_answer_is_an_envelope(self, subject: Subject) -> None:
        """The answers to valid and invalid requests are JSON objects with the keys of an envelope."""
        for reply in (
            *(invoke_plain(subject, name) for name in subject.operations(streaming=False)),
            *envelopes.refusals(subject),
        ):
            expect_audited(expect.ENVELOPE, reply, subject)

    @pytest.mark.requirement("COM-WIRE-4")
    @pytest.mark.parametrize("request_value", envelopes.NO_OBJECTS, ids=lambda value: type(value).__name__)
    def test_a_request_that_is_no_object_is_refused(self, subject: Subject, request_value: Any) -> None:
        """A list, a string, a number, null or a boolean instead of a request is refused with an error envelope."""
        expect.refusal(envelopes.send_non_object(subject, request_value), "BadRequest", "NotSupported")

    @pytest.mark.requirement("COM-WIRE-6")
    @pytest.mark.parametrize("missing", envelopes.KEYS)
    def test_a_request_without_a_required_key_is_refused(self, subject: Subject, missing: str) -> None:
        """Every operation requires `op`, `ctx` and `args`; keys are case-sensitive."""
        by_op = {request["op"]: request for request in plain_requests(subject)}
        for op in operations_for_case(by_op, f"{subject.component}.{subject.principal}", envelopes.KEYS.index(missing)):
            request = by_op[op]
            del request[missing]
            expect.refusal(subject.send(request), "BadRequest")
        plain = subject.envelope(subject.principal)
        shouted = {key.upper() if key == missing else key: value for key, value in plain.items()}
        expect.refusal(subject.send(shouted), "BadRequest")

    @pytest.mark.requirement("COM-WIRE-7")
    @pytest.mark.parametrize(("key", "value"), envelopes.WRONG_KEYS, ids=str)
    def test_a_required_key_of_the_wrong_type_is_refused(self, subject: Subject, key: str, value: Any) -> None:
        """Every operation refuses an `op` that is not a string, and a `ctx` or `args` that is not an object."""
        by_op = {request["op"]: request for request in plain_requests(subject)}
        principal = f"{subject.component}.{subject.principal}"
        case = envelopes.WRONG_KEYS.index((key, value))
        for op in operations_for_case(by_op, principal, case, one_in=len(envelopes.WRONG_KEYS) * 2 // 3):
            request = by_op[op]
            expect.refusal(subject.send({**request, key: value}), "BadRequest")

    @core("COM-WIRE-8")
    def test_an_unknown_operation_is_not_supported(self, subject: Subject) -> None:
        """An unknown operation of the component is NOT_SUPPORTED."""
        expect.refusal(envelopes.refusals(subject)[0], "NotSupported")

    @pytest.mark.requirement("COM-WIRE-9")
    @pytest.mark.parametrize("form", ["", "{name}", "{upper}", "{op} ", "{op}.", ".{name}", "{stranger}"])
    def test_a_malformed_op_is_refused(self, subject: Subject, form: str) -> None:
        """A name that only resembles an operation, or belongs to another component, is refused."""
        op = f"{subject.component}.{subject.principal}"
        others = (f"{other}.{subject.principal}" for other in COMPONENTS)
        stranger = next(other for other in others if other not in BY_OP)
        wrong = form.format(op=op, upper=op.upper(), name=subject.principal, stranger=stranger)
        reply = subject.send({**subject.envelope(subject.principal), "op": wrong})
        expect.refusal(reply, "BadRequest", "NotSupported")

    @pytest.mark.requirement("COM-WIRE-14")
    def test_any_read_may_be_the_first_call(self, subject: Subject) -> None:
        """Each read-only operation works as the first call of an instance, or reports missing data."""
        if subject.client.remote is not None:
            raise NotApplicable("the adapter runs outside this process, and a test does not start a new one")
        for name in subject.operations(streaming=False):
            if subject.operation(name).mutating or not subject.works(name):
                continue
            request, fresh = subject.envelope(name), subject.fresh()
            expect.assessable(fresh.client is not subject.client, Obstacle.SAME_OBJECT)
            reply = Reply(fresh.client.send(request, subject.component))
            expect.assessable(not reply.is_a("ResourceExhausted"), Obstacle.FIRST_CALL_WAITS)
            if is_retryable(reply) and reply.error.get("retry_after_ms") is not None:
                reply = fresh.send(request)
            expect.either(reply, "BadRequest", "IndexNotReady")

    @pytest.mark.requirement("COM-WIRE-12")
    def test_an_unknown_top_level_key_does_no_harm(self, subject: Subject) -> None:
        """An unknown key next to `op`, `ctx` and `args` is ignored or refused."""
        subject.require(subject.principal)
        reply = subject.send({**subject.envelope(subject.principal), "vendor_hint": {"a": 1}})
        expect.either(reply, "BadRequest")

    @pytest.mark.requirement("COM-WIRE-13")
    def test_an_unknown_argument_does_no_harm(self, subject: Subject) -> None:
        """Every operation ignores or refuses an undocumented key in `args`."""
        for name in subject.working_operations():
            reply = call_with_extras(subject, name)
            if reply.is_error:
                reply = subject.invoke(name, {**subject.requests.minimal(name), **UNKNOWN_ARGUMENT})
            expect.either(reply, "BadRequest")

    @pytest.mark.requirement("COM-WIRE-13")
    def test_an_unknown_key_inside_an_argument_does_no_harm(self, subject: Subject) -> None:
        """An undocumented key in an object inside `args` is ignored or refused permanently."""
        requests = require_offered(subject, subject.requests.with_unknown_keys(UNKNOWN_ARGUMENT))

        def expect_harmless(request: Request) -> None:
            reply = subject.carry_out(request)
            expect.either(reply, "BadRequest")
            for named in classes_of_items(reply):
                expect.check(TAXONOMY[named].retry == "no", "a failure that is not retryable", named, "result")

        call_side_by_side(expect_harmless, requests)

    @pytest.mark.requirement("COM-WIRE-15")
    def test_a_null_argument_does_no_harm(self, subject: Subject) -> None:
        """Null is accepted or refused permanently for each optional argument whose schema allows null."""
        for request in require_offered(
            subject, [request_with_nulls(subject, name) for name in subject.requests.nullable]
        ):
            reply = subject.carry_out(request)
            expect.either(reply, *PERMANENT)
            for named in classes_of_items(reply):
                expect.check(TAXONOMY[named].retry == "no", "a failure that is not retryable", named, "result")

    @pytest.mark.requirement("COM-NUM-1")
    @pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf], ids=["nan", "infinity", "minus_infinity"])
    def test_numbers_that_are_not_finite_are_refused(self, subject: Subject, number: float) -> None:
        """Numeric arguments refuse NaN and infinities. To save calls, only every fourth one gets infinities."""
        subject.require(subject.principal)
        requests = [each for each in subject.requests.with_number(number) if subject.works(each.op)]
        if math.isinf(number):
            requests = requests[2 if number > 0 else 0 :: 4] or requests[:1]
        for request, reply in zip(requests, call_side_by_side(subject.carry_out, requests), strict=True):
            expired = request.ctx.get("deadline_ms") == -math.inf  # R18: a deadline below zero
            past = ["DeadlineExceeded"] if expired else []
            expect.refusal(reply, "BadRequest", *past)

    @pytest.mark.requirement("COM-NUM-5")
    @pytest.mark.parametrize("number", [math.nan, math.inf], ids=["nan", "infinity"])
    def test_attributes_hold_finite_numbers(self, subject: Subject, number: float) -> None:
        """The principal operation and some others refuse NaN and infinity deep inside `attrs`, too."""
        subject.require(subject.principal)
        for name in subject.working_operations(
            operations_for_case(subject.deadline_operations(), subject.principal, int(math.isnan(number)))
        ):
            expect.refusal(subject.invoke(name, ctx={"attrs": {"note": [{"a": number}]}}), "BadRequest")

    @pytest.mark.requirement("COM-NUM-2")
    def test_no_answer_holds_a_number_that_is_not_finite(self, subject: Subject) -> None:
        """The answers of all operations contain finite numbers only."""
        for name in subject.working_operations():
            expect_audited("COM-NUM-2", invoke_plain(subject, name), subject)

    @pytest.mark.requirement("COM-NUM-3")
    @pytest.mark.parametrize("number", [2**63, -(2**63) - 1], ids=["2**63", "-2**63-1"])
    def test_integers_beyond_64_bits_are_refused(self, subject: Subject, number: int) -> None:
        """An integer outside the signed 64-bit range is refused."""
        subject.require(subject.principal)
        for request in require_offered(subject, subject.requests.with_integer(number)):
            expect.refusal(subject.carry_out(request), "BadRequest")

    @pytest.mark.requirement("COM-NUM-6")
    def test_integers_beyond_32_bits_are_taken_or_refused(self, subject: Subject) -> None:
        """An integer outside the 32-bit range but within 64 bits is accepted or refused permanently."""
        subject.require(subject.principal)
        for request in require_offered(subject, subject.requests.with_integer(BEYOND_32_BITS)):
            expect.either(subject.carry_out(request), *PERMANENT)

    @pytest.mark.requirement("COM-NUM-4")
    @pytest.mark.parametrize("number", ABSURD, ids=["2**63", "10**400", "-10**400"])
    def test_absurd_integers_do_no_harm(self, subject: Subject, number: int) -> None:
        """An absurdly large integer is refused or used with its true value, in a deadline too."""
        subject.require(subject.principal)
        past = ["DeadlineExceeded"] if number < 0 else []
        for name in subject.working_operations(
            operations_for_case(subject.deadline_operations(), subject.principal, ABSURD.index(number))
        ):
            expect.either(subject.invoke(name, ctx={"deadline_ms": number}), "BadRequest", *past)
        for request in subject.requests.with_integer(number):
            if number != ABSURD[0] and subject.works(request.op):  # COM-NUM-3 tests this number
                expect.either(subject.carry_out(request), "BadRequest", "NotSupported")

    @pytest.mark.requirement("COM-CONC-1")
    def test_calls_at_the_same_time_do_not_disturb_each_other(self, subject: Subject) -> None:
        """Concurrent requests get the answers that they get in sequence."""
        with subject.client.provider.paused():
            requests, alone = distinct_requests(subject)
        expect_same_answers_together(subject, list(zip(requests, alone, strict=True)))

    @pytest.mark.requirement("COM-CONC-2")
    def test_more_calls_than_the_concurrency_are_carried_out_or_put_off(self, subject: Subject) -> None:
        """With twice as many calls as `concurrency` allows, each call succeeds, or its error states when to retry."""
        most = subject.capabilities.limit("concurrency")
        if most is None or most > MOST_AT_ONCE:
            raise NotApplicable("no concurrency is stated" if most is None else f"{most} calls at once are too many")
        name = subject.principal
        subject.require(name)
        fresh = subject.fresh()
        fresh.client.provider.plan("slow", times=2 * most, delay_ms=SLOW_MS)
        requests = [fresh.envelope(name, fresh.requests.distinct(name)) for _ in range(2 * most)]
        with fresh.retries.calling_once():  # the test needs the answers that ask for a retry
            replies = [Reply(exchange) for exchange in fresh.send_all(requests)]
        fresh.client.provider.clear()
        for reply in replies:
            expect.either(reply, *BUSY)
            given = reply.is_success or reply.body.get("retry_after_ms") is not None
            expect.check(
                given or "suggested_backoff_ms" in reply.details,
                "retry_after_ms or details.suggested_backoff_ms",
                "neither of them",
            )


class TestStreamEntryPoint:
    """Requests that `handle_stream` must refuse."""

    @pytest.mark.requirement("COM-WIRE-5")
    @pytest.mark.parametrize("request_value", envelopes.NO_OBJECTS, ids=lambda value: type(value).__name__)
    def test_a_stream_request_that_is_no_object_is_refused(self, subject: Subject, request_value: Any) -> None:
        """A list, a string, a number, null or a boolean instead of a request is refused with an error envelope."""
        subject.require(subject.principal_stream)
        expect.refusal(envelopes.stream_non_object(subject, request_value), "BadRequest", "NotSupported")

    @pytest.mark.requirement("COM-WIRE-10")
    def test_a_streaming_operation_on_handle_is_refused(self, subject: Subject) -> None:
        """`handle` does not carry out a streaming operation."""
        reply = subject.send(subject.envelope(subject.principal_stream))
        expect.refusal(reply, "BadRequest", "NotSupported")

    @pytest.mark.requirement("COM-WIRE-11")
    def test_a_unary_operation_on_handle_stream_is_refused(self, subject: Subject) -> None:
        """`handle_stream` does not carry out a unary operation."""
        subject.require(subject.principal_stream)
        for request in plain_requests(subject):
            stream: StreamReply = subject.send_stream(request)
            expect.refusal(stream, "BadRequest", "NotSupported")

    @pytest.mark.requirement("COM-WIRE-11")
    def test_an_unknown_operation_on_handle_stream_is_refused(self, subject: Subject) -> None:
        """`handle_stream` refuses an unknown operation too."""
        subject.require(subject.principal_stream)
        stream = subject.send_stream({"op": f"{subject.component}.no_such_operation", "ctx": {}, "args": {}})
        expect.refusal(stream, "NotSupported")

    @pytest.mark.requirement("COM-WIRE-6")
    @pytest.mark.parametrize("missing", envelopes.KEYS)
    def test_a_stream_request_without_a_required_key_is_refused(self, subject: Subject, missing: str) -> None:
        """A stream requires `op`, `ctx` and `args` too."""
        subject.require(subject.principal_stream)
        request = subject.envelope(subject.principal_stream)
        del request[missing]
        expect.refusal(subject.send_stream(request), "BadRequest")

    @pytest.mark.requirement("COM-WIRE-7")
    @pytest.mark.parametrize(("key", "value"), envelopes.WRONG_KEYS, ids=str)
    def test_a_stream_request_with_a_key_of_the_wrong_type_is_refused(
        self, subject: Subject, key: str, value: Any
    ) -> None:
        """A stream refuses an `op` that is not a string, and a `ctx` or `args` that is not an object."""
        subject.require(subject.principal_stream)
        request = {**subject.envelope(subject.principal_stream), key: value}
        expect.refusal(subject.send_stream(request), "BadRequest")

    @pytest.mark.requirement("COM-WIRE-12")
    def test_an_unknown_top_level_key_does_a_stream_no_harm(self, subject: Subject) -> None:
        """An unknown key next to `op`, `ctx` and `args` is ignored or refused."""
        subject.require(subject.principal_stream)
        request = {**subject.envelope(subject.principal_stream), "vendor_hint": {"a": 1}}
        expect.either(subject.send_stream(request), "BadRequest")


AT_ONCE = 48
ROUNDS = 3
CALLS = 300
JITTER_MS = 40
BUDGETS_MS = (1, 5, 20, 60)


class TestStress:
    """Many concurrent calls, each judged like a single call; collected only with `--corpus-profile=stress`."""

    @pytest.mark.slow
    @pytest.mark.requirement("COM-CONC-1")
    def test_many_calls_at_the_same_time(self, subject: Subject) -> None:
        """Each of many concurrent requests gets the answer that it gets alone."""
        compare_concurrent_with_single(subject)

    @pytest.mark.slow
    @pytest.mark.requirement("COM-CONC-1")
    def test_many_calls_while_the_provider_jitters(self, subject: Subject) -> None:
        """If the provider answers in another order, each answer still belongs to its request."""
        if "provider" not in subject.client.hooks:
            raise NotAssessed(Obstacle.NO_KEYWORD, keyword="provider")
        subject.faults.provider_op(subject.principal)
        chance = random.Random(subject.settings.seed)
        for _ in range(AT_ONCE * ROUNDS):
            subject.client.provider.plan("slow", delay_ms=chance.uniform(0, JITTER_MS))
        compare_concurrent_with_single(subject)

    @pytest.mark.slow
    @pytest.mark.requirement("COM-DEADLINE-4")
    @pytest.mark.parametrize("budget_ms", BUDGETS_MS)
    def test_a_short_budget_is_kept_or_exceeded(self, subject: Subject, budget_ms: int) -> None:
        """A call with a budget of milliseconds succeeds, or ends with DEADLINE_EXCEEDED at most a second later."""
        for name in select_with_deadline(subject, subject.faults.backed_operations(streaming=False)):
            require_deadline_support(subject, name, invoke_expired(subject, name))
            retry_if_late(partial(expect_short_budget_kept, subject, name, budget_ms))

    @pytest.mark.slow
    @pytest.mark.requirement("COM-WIRE-3")
    def test_many_calls_one_after_another(self, subject: Subject) -> None:
        """The three hundredth call of an adapter is answered like the first."""
        requests = subject.requests.distinct_requests()
        chance = random.Random(subject.settings.seed)
        for _ in range(CALLS):
            expect_audited(expect.ENVELOPE, subject.send(chance.choice(requests)), subject)


def compare_concurrent_with_single(subject: Subject) -> None:
    """Send rounds of concurrent requests, and check that each gets the answer that it gets alone."""
    subject.require(subject.principal)
    with subject.client.provider.paused():
        pairs = list(zip(*distinct_requests(subject), strict=True))
    chance = random.Random(subject.settings.seed)
    for _ in range(ROUNDS):
        expect_same_answers_together(subject, chance.choices(pairs, k=AT_ONCE))


def expect_short_budget_kept(subject: Subject, name: str, budget_ms: int) -> None:
    """Check that a call ends in time if the provider takes about as long as the budget of the call, or longer."""
    fresh = subject.fresh()
    fresh.client.provider.plan("slow", subject.faults.provider_op(name), times=MAX_PROVIDER_RETRIES, delay_ms=JITTER_MS)
    deadline = {"deadline_ms": deadline_in(budget_ms)}
    reply = fresh.call(name, fresh.requests.distinct(name), deadline, limit_s=budget_ms / 1000 + PROMPTLY_S + 1)
    fresh.client.provider.clear()
    expect_in_time(reply, budget_ms)
    expect.either(reply, "DeadlineExceeded", *RETRYABLE)
