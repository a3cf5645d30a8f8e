"""Load: many calls at once, a provider that takes its time, budgets of milliseconds (BEHAVIORAL_CONFORMANCE 8)."""

import random
from functools import partial

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import expired
from pytest_corpus.kit.component import Subject
from pytest_corpus.kit.faults import MAX_PROVIDER_RETRIES
from pytest_corpus.kit.outcomes import NotAssessed
from pytest_corpus.kit.requests import in_ms
from pytest_corpus.suites.shared.claims.deadlines import PROMPTLY_S, deadlined, heeded, in_time, repeatedly
from pytest_corpus.suites.shared.claims.health import RETRYABLE
from pytest_corpus.suites.shared.claims.wire_handler import sent_together, told_apart
from pytest_corpus.verdict.ledger import LACKING

AT_ONCE = 48
ROUNDS = 3
CALLS = 300
JITTER_MS = 40
BUDGETS_MS = (1, 5, 20, 60)


class Stress:
    """Many calls at once, each judged as if it were alone; collected only with `--corpus-profile=stress`."""

    @pytest.mark.slow
    @pytest.mark.requirement("COM-CONC-1")
    def test_many_calls_at_the_same_time(self, subject: Subject) -> None:
        """Each of many requests sent together gets the answer that it gets alone."""
        crowded(subject)

    @pytest.mark.slow
    @pytest.mark.requirement("COM-CONC-1")
    def test_many_calls_while_the_provider_jitters(self, subject: Subject) -> None:
        """Answers that come back from the provider in another order still go where they belong."""
        if "provider" not in subject.client.hooks:
            raise NotAssessed(LACKING.format("provider"), "provider")
        subject.faults.provider_op(subject.principal)
        chance = random.Random(subject.settings.seed)
        for _ in range(AT_ONCE * ROUNDS):
            subject.client.provider.plan("slow", delay_ms=chance.uniform(0, JITTER_MS))
        crowded(subject)

    @pytest.mark.slow
    @pytest.mark.requirement("COM-DEADLINE-4")
    @pytest.mark.parametrize("budget_ms", BUDGETS_MS)
    def test_a_short_budget_is_kept_or_exceeded(self, subject: Subject, budget_ms: int) -> None:
        """A call with a budget of milliseconds succeeds, or ends with DEADLINE_EXCEEDED within a second after it."""
        for name in deadlined(subject, subject.faults.backed(streaming=False)):
            heeded(subject, name, expired(subject, name))
            repeatedly(partial(hurried, subject, name, budget_ms))

    @pytest.mark.slow
    @pytest.mark.requirement("COM-WIRE-3")
    def test_many_calls_one_after_another(self, subject: Subject) -> None:
        """An adapter answers its three hundredth call as it should answer its first."""
        requests = subject.requests.distinguishable()
        chance = random.Random(subject.settings.seed)
        for _ in range(CALLS):
            expect.readable(subject.send(chance.choice(requests)))


def crowded(subject: Subject) -> None:
    """Rounds of requests sent together, each with the answer that it gets alone."""
    subject.require(subject.principal)
    with subject.client.provider.paused():
        pairs = list(zip(*told_apart(subject), strict=True))
    chance = random.Random(subject.settings.seed)
    for _ in range(ROUNDS):
        sent_together(subject, chance.choices(pairs, k=AT_ONCE))


def hurried(subject: Subject, name: str, budget_ms: int) -> None:
    """A call whose provider takes longer than its budget, or hardly less."""
    fresh = subject.fresh()
    fresh.client.provider.plan("slow", subject.faults.provider_op(name), times=MAX_PROVIDER_RETRIES, delay_ms=JITTER_MS)
    deadline = {"deadline_ms": in_ms(budget_ms)}
    reply = fresh.call(name, fresh.requests.distinct(name), deadline, limit_s=budget_ms / 1000 + PROMPTLY_S + 1)
    fresh.client.provider.clear()
    in_time(reply, budget_ms)
    expect.either(reply, "DeadlineExceeded", *RETRYABLE)
