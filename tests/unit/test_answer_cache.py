"""Answers are asked for once in a run; a call that failed is repeated."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from pytest_corpus.adapter.client import AdapterClient, Declaration
from pytest_corpus.adapter.facts import Capabilities
from pytest_corpus.adapter.scope import part_of
from pytest_corpus.kit.answer_cache import cached, invoke_expired, invoke_plain
from pytest_corpus.kit.reply import Reply
from pytest_corpus.kit.root_causes import RootCauses
from pytest_corpus.kit.run_state import Settings
from pytest_corpus.reference import llm as reference
from pytest_corpus.suites.llm.support.component import LLM


@contextmanager
def opened(factory: Callable[..., Any], **settings: Any) -> Iterator[LLM]:
    client = AdapterClient(Declaration("a", factory, "a")).open(("llm",))
    with part_of(None):
        llm = LLM(client, Capabilities("llm", {}), Settings(**settings))
        llm.shared.brief = True  # or the first request would be preceded by one that finds it out
        yield llm
    client.close()


@pytest.fixture
def llm() -> Iterator[LLM]:
    with opened(reference) as llm:
        yield llm


def test_an_answer_is_asked_for_once(llm: LLM) -> None:
    """The second test gets the exchange of the first, without a call, and its audit leaves it to the first."""
    first = invoke_plain(llm, "health")
    assert llm.part.own_exchanges == [first.exchange]
    llm.begin()
    assert invoke_plain(llm, "health") is first
    assert (llm.calls, llm.part.exchanges, llm.part.own_exchanges) == (1, [first.exchange], [])
    assert list(llm.auditor.audit()) == []


def test_within_a_test_it_is_no_other_exchange(llm: LLM) -> None:
    """A test that looks twice at what it made itself has one exchange, which is its own."""
    reply = invoke_plain(llm, "health")
    assert invoke_plain(llm, "health") is reply
    assert llm.part.exchanges == llm.part.own_exchanges == [reply.exchange]


def test_nothing_is_kept_that_a_mistake_of_the_stand_in_may_have_made(llm: LLM) -> None:
    """It is asked for again by the next test."""
    asked = list[int]()

    def ask() -> int:
        if not asked:
            llm.client.provider.mistakes.mistake_recorder()(KeyError("choices"))
        asked.append(len(asked))
        return asked[-1]

    for number in (0, 1, 1):
        llm.begin()
        assert cached(llm, "fact", ask) == number
        llm.client.provider.mistakes.take_mistakes()


def test_root_causes_are_searched_for_again_after_a_mistake_of_the_stand_in(llm: LLM) -> None:
    """Causes that were found with its answers explain no later finding."""
    causes, searched = RootCauses(llm), list[int]()

    def find() -> Iterator[int]:
        searched.append(len(searched))
        yield searched[-1]

    assert (causes._find_once(find), causes._find_once(find)) == ((0,), (0,))
    causes.forget()
    assert causes._find_once(find) == (1,)


def test_other_requests_are_other_answers(llm: LLM) -> None:
    """A plain request and one that came too late are not mixed up."""
    assert not invoke_plain(llm, "complete").is_error
    assert invoke_expired(llm, "complete").is_a("DeadlineExceeded")
    assert llm.calls == 2


class FailsFirst:
    """An adapter whose first call raises."""

    def __init__(self) -> None:
        self.inner, self.calls = reference(), 0

    async def handle(self, envelope: Any) -> Any:
        self.calls += 1
        return self.first(envelope) if self.calls == 1 else await self.inner.handle(envelope)

    def first(self, envelope: Any) -> Any:
        raise OSError("not yet")


class UnavailableFirst(FailsFirst):
    """An adapter whose back end was gone at the first call."""

    def first(self, envelope: Any) -> Any:
        return {"ok": False, "code": "UNAVAILABLE", "error": "Unavailable", "message": "gone", "details": {}, "ms": 1}


def test_what_did_not_end_is_asked_again() -> None:
    """A call that raised has taught nothing."""
    with opened(FailsFirst) as llm:
        assert invoke_plain(llm, "health").exchange.fault is not None
        assert invoke_plain(llm, "health").exchange.fault is None


def test_a_passing_failure_is_asked_again() -> None:
    """A failure that may pass, and that no test planned, is asked again at once, and leaves no trace but the time."""
    with opened(UnavailableFirst) as llm:
        assert not invoke_plain(llm, "health").is_error
        assert (llm.calls, len(llm.client.part.exchanges), llm.outages.interruptions) == (2, 1, 1)
        assert llm.outages.clock


def test_nothing_is_learnt_under_a_plan(llm: LLM) -> None:
    """A fault that a test planned strikes the test's own call, and nothing that is learnt before or after it."""
    plan = llm.client.provider.plan("unavailable", times=9)
    assert not invoke_plain(llm, "complete").is_error
    assert llm.works("stream")
    assert llm.faults.provider_op("count_tokens") is None
    assert plan.fired == 0
    assert llm.call("complete").is_a("Unavailable")
    llm.begin()
    assert not invoke_plain(llm, "complete").is_error
    assert llm.shared.provider_ops == {"count_tokens": ("llm.count_tokens",)}


def test_what_a_planned_failure_becomes_is_asked_for_once(llm: LLM) -> None:
    """A test may ask for the answer to a fault that it plans itself, and that is remembered."""

    def ask() -> Reply:
        llm.client.provider.plan("unavailable")
        return llm.call("complete")

    assert cached(llm, "struck", ask).is_a("Unavailable")
    assert cached(llm, "struck", ask).is_a("Unavailable")
    assert llm.calls == 1


def test_repeated_tests_ask_each_time() -> None:
    """With `--corpus-repeat` a test remembers what it asked itself, and the next one asks again."""
    with opened(reference, remembers=False) as llm:
        assert invoke_plain(llm, "health") is invoke_plain(llm, "health")
        llm.begin()
        invoke_plain(llm, "health")
        assert llm.calls == 2
