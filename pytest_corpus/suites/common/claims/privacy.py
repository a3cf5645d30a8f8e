"""Nothing secret leaves: content, tenants, keys, ids, texts of the provider (SPECIFICATION 15; R21, R59)."""

from __future__ import annotations

import secrets
from typing import Any

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.audit import holds
from pytest_corpus.kit.component import Subject
from pytest_corpus.kit.outcomes import NotAssessed
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.kit.request import Request, canary
from pytest_corpus.suites.common.claims.context import FAILURES, TRACE, every_outcome


class IdPrivacy:
    """Ids of items stay out of messages."""

    @pytest.mark.requirement("COM-LEAK-9")
    def test_no_ids_of_items_in_messages(self, subject: Subject) -> None:
        """A message that refuses an item does not name it."""
        subject.require(subject.principal)
        for request in subject.requests.with_ids(canary(24)):
            if subject.works(request.op):
                reply = subject.carry_out(request)
                expect.readable(reply)
                holds("COM-LEAK-9", reply, subject)


class Privacy:
    """Nothing that a request holds reappears in errors, metrics or logs."""

    @pytest.mark.requirement("COM-LEAK-1")
    def test_no_content_in_errors(self, subject: Subject) -> None:
        """Refused requests of every kind are explained without their content."""
        subject.require(subject.principal)
        for reply in answers_to_canaries(subject, refused=True):
            expect.readable(reply)
            holds("COM-LEAK-1", reply, subject)

    @pytest.mark.requirement("COM-LEAK-2")
    def test_no_content_in_metrics(self, subject: Subject) -> None:
        """Good and refused requests are reported without their content."""
        subject.require(subject.principal)
        for reply in (*answers_to_canaries(subject), *answers_to_canaries(subject, refused=True)):
            holds("COM-LEAK-2", reply, subject)

    @pytest.mark.requirement("COM-LEAK-3")
    def test_no_content_in_logs(self, subject: Subject) -> None:
        """Good and refused requests are logged without their content."""
        subject.require(subject.principal)
        for reply in (*answers_to_canaries(subject), *answers_to_canaries(subject, refused=True)):
            holds("COM-LEAK-3", reply, subject)

    @pytest.mark.requirement("COM-LEAK-4")
    def test_no_tenant_anywhere(self, subject: Subject) -> None:
        """A raw tenant id stands in no error, metric or log record, whatever the outcome."""
        for reply in with_context(subject, "tenant", canary(24), "tenant"):
            holds("COM-LEAK-4", reply, subject)

    @pytest.mark.requirement("COM-LEAK-4")
    def test_no_tenant_in_a_refusal_of_the_provider(self, subject: Subject) -> None:
        """A rate limit names its throttling scope without the raw tenant id."""
        if "provider" not in subject.client.hooks:
            for reply in with_context(subject, "tenant", canary(24), "tenant"):
                holds("COM-LEAK-4", reply, subject)
            return
        subject.faults.provider_op(subject.principal)
        fresh, tenant = subject.fresh(), canary(24)
        plan = fresh.faults.plan("rate_limited", subject.principal)
        reply = fresh.invoke(
            subject.principal,
            fresh.requests.distinct(subject.principal),
            {"tenant": tenant},
            secrets={"tenant": tenant},
        )
        fresh.faults.fired(plan)
        holds("COM-LEAK-4", reply, fresh)

    @pytest.mark.requirement("COM-LEAK-5")
    def test_no_idempotency_key_anywhere(self, subject: Subject) -> None:
        """An idempotency key stands in no error, metric or log record, whatever the outcome."""
        for reply in with_context(subject, "idempotency_key", canary(24), "idempotency key"):
            holds("COM-LEAK-5", reply, subject)

    @pytest.mark.requirement("COM-LEAK-6")
    @pytest.mark.parametrize("kind", FAILURES)
    def test_no_text_of_the_provider_anywhere(self, subject: Subject, kind: str) -> None:
        """What a failing provider said stands in no answer, metric or log record."""
        for reply in provider_failures(subject, kind):
            expect.readable(reply)
            holds("COM-LEAK-6", reply, subject)

    @pytest.mark.requirement("COM-LEAK-8")
    def test_no_attributes_anywhere(self, subject: Subject) -> None:
        """What a client put into `attrs` stands in no error, metric or log record, whatever the outcome."""
        secret = canary(24)
        for reply in every_outcome(subject, {"attrs": {"note": secret}}, secrets={"attribute": secret}):
            holds("COM-LEAK-8", reply, subject)

    @pytest.mark.requirement("COM-LEAK-9")
    def test_no_ids_of_a_request_in_messages(self, subject: Subject) -> None:
        """A message names neither the request nor its trace."""
        identity, trace = canary(24), secrets.token_hex(16)
        ctx = {"request_id": identity, "traceparent": TRACE.replace(TRACE.split("-")[1], trace)}
        for reply in every_outcome(subject, ctx, secrets={"request id": identity, "request id of the trace": trace}):
            holds("COM-LEAK-9", reply, subject)

    @pytest.mark.requirement("COM-LEAK-7")
    def test_no_content_in_debug_records(self, subject: Subject) -> None:
        """With debug logging switched on, content stays out of the records too."""
        if not subject.client.declaration.in_process:
            raise NotAssessed("debug logging cannot be switched on outside this process")
        subject.require(subject.principal)
        tenant, key = canary(24), canary(24)
        context = {"tenant": tenant, "idempotency_key": key}
        unique = {"tenant": tenant, "idempotency key": key}
        for reply in (
            *answers_to_canaries(subject, debug_logs=True),
            *answers_to_canaries(subject, refused=True, debug_logs=True),
            *every_outcome(subject, context, secrets=unique, debug_logs=True),
        ):
            holds("COM-LEAK-7", reply, subject)
        if "provider" in subject.client.hooks:
            for reply in provider_failures(subject, "unexpected", debug_logs=True):
                holds("COM-LEAK-7", reply, subject)


def answers_to_canaries(
    subject: Subject, *, refused: bool = False, debug_logs: bool = False
) -> list[Reply | StreamReply]:
    """Answers to requests that carry secrets; `refused` ones are wrong in some way."""
    replies = []
    for request in subject.requests.with_canaries(refused=refused):
        if subject.works(request.op):
            replies.append(subject.carry_out(request, debug_logs=debug_logs))
    return replies


def with_context(subject: Subject, key: str, value: str, what: str) -> list[Reply | StreamReply]:
    """Answers to good, refused and expired requests with a secret in `ctx`."""
    return every_outcome(subject, {key: value}, secrets={what: value})


def provider_failures(subject: Subject, kind: str, **options: Any) -> list[Reply | StreamReply]:
    """The answers of the principal operation, and of its stream, to a failing provider."""
    replies = []
    for name in (subject.principal, subject.principal_stream):
        if name and (name == subject.principal or subject.works(name)):
            subject.faults.provider_op(name)
            fresh = subject.fresh()
            plan = fresh.faults.plan(kind, name)
            plain = next(each for each in subject.requests.with_canaries(refused=False) if each.op == name)
            tenant, key = canary(24), canary(24)
            ctx = {**plain.ctx, "tenant": tenant, "idempotency_key": key}
            hidden = {**plain.canaries, "tenant": tenant, "idempotency key": key}
            replies.append(fresh.carry_out(Request(name, plain.args, ctx, hidden), **options))
            fresh.faults.fired(plan)
            fresh.client.provider.clear()
    return replies
