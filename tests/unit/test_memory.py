"""What a run has learnt is not asked again, and a call that came to nothing is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from pytest_corpus.adapter.client import AdapterClient, Declaration
from pytest_corpus.adapter.facts import Capabilities
from pytest_corpus.kit.memory import expired, plain
from pytest_corpus.kit.settings import Settings
from pytest_corpus.reference import llm as reference
from pytest_corpus.suites.llm.component import LLM


@pytest.fixture
def llm() -> Iterator[LLM]:
    """The reference adapter."""
    client = AdapterClient(Declaration("a", reference, "a")).open(("llm",))
    yield LLM(client, Capabilities("llm", {}), Settings())
    client.close()


def test_an_answer_is_asked_for_once(llm: LLM) -> None:
    """The second test gets the exchange of the first, without a call, and its audit leaves it to the first."""
    first = plain(llm, "health")
    assert not first.exchange.recalled
    llm.begin()
    assert plain(llm, "health") is first
    assert (llm.calls, llm.client.exchanges, first.exchange.recalled) == (1, [first.exchange], True)
    assert list(llm.audit()) == []


def test_within_a_test_it_is_no_other_exchange(llm: LLM) -> None:
    """A test that looks twice at what it made itself has one exchange, which is its own."""
    reply = plain(llm, "health")
    assert plain(llm, "health") is reply
    assert (len(llm.client.exchanges), reply.exchange.recalled) == (1, False)


def test_other_requests_are_other_answers(llm: LLM) -> None:
    """A plain request and one that came too late are not mixed up."""
    assert plain(llm, "complete").is_success
    assert expired(llm, "complete").is_a("DeadlineExceeded")
    assert llm.calls == 2


class FailsFirst:
    """An adapter whose first call raises."""

    def __init__(self) -> None:
        self.inner, self.calls = reference(), 0

    async def handle(self, envelope: Any) -> Any:
        self.calls += 1
        if self.calls == 1:
            raise OSError("not yet")
        return await self.inner.handle(envelope)


def test_what_did_not_end_is_asked_again() -> None:
    """A call that raised has taught nothing."""
    client = AdapterClient(Declaration("a", FailsFirst, "a")).open(("llm",))
    llm = LLM(client, Capabilities("llm", {}), Settings())
    assert plain(llm, "health").exchange.fault is not None
    assert plain(llm, "health").exchange.fault is None
    client.close()


def test_repeated_tests_ask_each_time() -> None:
    """With `--corpus-repeat` nothing is remembered."""
    client = AdapterClient(Declaration("a", reference, "a")).open(("llm",))
    llm = LLM(client, Capabilities("llm", {}), Settings(remembers=False))
    assert plain(llm, "health") is not plain(llm, "health")
    assert llm.calls == 2
    client.close()
