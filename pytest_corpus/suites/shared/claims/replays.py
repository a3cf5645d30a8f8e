"""Replays under an idempotency key, one after the other and at once (SPECIFICATION 6.1, 11.4; R24, R61)."""

from collections.abc import Mapping
from typing import Any

from pytest_corpus.kit import expect
from pytest_corpus.kit.component import Subject
from pytest_corpus.kit.outcomes import NotAssessed
from pytest_corpus.kit.reply import Reply
from pytest_corpus.redaction.values import listed
from pytest_corpus.suites.shared.claims.health import RETRYABLE
from pytest_corpus.suites.shared.contexts import new_key
from pytest_corpus.text.values import same

SLOW_MS = 60
"""How long the provider takes while two calls are under way."""


def answers_again(first: Reply, again: Reply) -> None:
    """A replay has the whole result of the first call, as JSON."""
    result = expect.success(again, "the answer of the first call")
    expect.that(same(result, first.result), "the result of the first call", differing(first.result, result), "result")


def differing(first: Any, again: Any) -> str:
    """In what two results differ, by their keys."""
    if not isinstance(first, dict) or not isinstance(again, dict):
        return "another one"
    keys = [key for key in sorted({*first, *again}) if not same(first.get(key, ...), again.get(key, ...))]
    return f"another one, by {listed('the key', keys)}"


def has_one_answer(subject: Subject, request: dict[str, Any]) -> None:
    """Two calls of one request at once, while the provider is slow, have one result; one of them may be put off.

    Raises:
        NotAssessed: one of the two is to come again.
    """
    provider = subject.client.provider
    provider.plan("slow", times=2, delay_ms=SLOW_MS)
    replies = [Reply(exchange) for exchange in subject.send_all([request, request])]
    provider.clear()
    for reply in replies:
        expect.either(reply, *RETRYABLE)
    results = [reply.result for reply in replies if reply.is_success]
    if len(results) < 2:
        raise NotAssessed("one of the two is to come again")
    expect.that(same(*results), "the same result for both", differing(*results), "result")


def can_be_sent_again(subject: Subject, name: str, args: Mapping[str, Any]) -> Reply:
    """The answer to a request whose first attempt the provider failed, under the same key: a success.

    Raises:
        NotAssessed: the failure is not retryable, or the request does not work under a new key either.
    """
    key = new_key()
    plan = subject.faults.plan("unavailable", name)
    failed = subject.call(name, args, key)
    subject.faults.fired(plan)
    if not failed.is_a(*RETRYABLE):
        raise NotAssessed(f"{name} whose provider fails is answered with {failed}")
    control = subject.call(name, args, new_key())
    if not control.is_success:
        raise NotAssessed(f"after a failure {name} is answered with {control}")
    again = subject.call(name, args, key)
    expect.success(again, "the request to be carried out")
    return again
