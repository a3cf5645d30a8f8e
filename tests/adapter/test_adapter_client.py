"""Calls are recorded, limited in time and number, and survive whatever an adapter does."""

import asyncio
import logging
import threading
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from pytest_corpus.adapter import instance
from pytest_corpus.adapter.client import AdapterClient, Declaration
from pytest_corpus.adapter.exceptions import BudgetSpent, DeclarationError, Unresponsive
from pytest_corpus.adapter.exchange import Exchange, Frame
from pytest_corpus.adapter.usage import Budget, Meter, Spending, parse

Open = Callable[..., AdapterClient]
REQUEST = {"op": "llm.complete", "ctx": {}, "args": {"text": "hi"}}


def handler(answer: Callable[[Any], Any]) -> Callable[[], Any]:
    """The factory of a handler whose answers `answer` gives."""

    class Handler:
        async def handle(self, envelope: Any) -> Any:
            found = answer(envelope)
            return await found if asyncio.iscoroutine(found) else found

        def handle_stream(self, envelope: Any) -> Any:
            return answer(envelope)

    return Handler


def test_an_answer(opened: Open) -> None:
    """An answer is recorded as JSON, with its size in bytes and its time."""
    client = opened(handler(lambda envelope: {"text": "ä", "numbers": (1, 2)}))
    exchange = client.send(REQUEST, "llm")
    (frame,) = exchange.frames
    assert frame.body == {"text": "ä", "numbers": [1, 2]}
    assert frame.size == len('{"text":"ä","numbers":[1,2]}'.encode())
    assert 0 <= frame.at_s <= exchange.elapsed_s
    assert exchange.fault is None
    assert client.part.exchanges == [exchange]


def test_hanging(opened: Open) -> None:
    """A call that hangs is given up after the limit, cancelled, and others go on."""
    ended = threading.Event()

    async def hang() -> None:
        try:
            await asyncio.sleep(1000)
        finally:
            ended.set()

    client = opened(handler(lambda envelope: hang() if envelope["args"] else {"ok": True}), 0.1)
    exchange = client.send(REQUEST, "llm")
    assert exchange.fault is not None
    assert exchange.fault.kind == "timeout"
    assert exchange.elapsed_s < 3
    assert ended.wait(2)
    assert client.send({**REQUEST, "args": {}}, "llm").frames[0].body == {"ok": True}


def test_a_call_that_ends_at_the_limit_has_an_answer_or_is_late() -> None:
    """Never neither, and nothing is raised that is not a fault of the adapter."""
    limit_s = 0.05
    for after_s in (0.048, 0.049, 0.05, 0.051, 0.052) * 4:
        answering = handler(lambda envelope, seconds=after_s: asyncio.sleep(seconds, {}))
        client = AdapterClient(Declaration("test", answering, "tests:factory", startup_s=10), limit_s).open(("llm",))
        exchange = client.send(REQUEST, "llm")
        assert (exchange.fault is None) == (len(exchange.frames) == 1)
        assert client.close() == []


def test_unresponsive(opened: Open) -> None:
    """An operation that ran into the limit a few times is not called again; others are."""
    client = opened(handler(lambda envelope: asyncio.sleep(1000) if envelope["args"] else {"ok": True}), 0.5)
    for _ in range(instance.MOST_OF_ONE_OPERATION):
        client.send(REQUEST, "llm")
    with pytest.raises(Unresponsive, match=r"llm\.complete"):
        client.send(REQUEST, "llm")
    assert client.send({"op": "llm.health", "ctx": {}, "args": {}}, "llm").fault is None


def test_a_shorter_limit_is_no_mark_against_it(opened: Open) -> None:
    """A call that a test limits by itself does not use up patience."""
    client = opened(handler(lambda envelope: asyncio.sleep(1000)), 30.0)
    for _ in range(instance.MOST_OF_ONE_OPERATION + 1):
        exchange = client.send(REQUEST, "llm", limit_s=0.02)
        assert exchange.limited
        assert exchange.fault is not None


def test_blocking_the_loop(opened: Open) -> None:
    """A call that blocks the loop is left behind, and another instance goes on in another loop."""
    made = []

    def factory() -> Any:
        made.append(1)
        return handler(lambda envelope: time.sleep(2.5) if envelope["args"] else {"ok": True})()

    client = opened(factory, 0.5)
    fault = client.send(REQUEST, "llm").fault
    assert fault is not None
    assert "blocked" in fault.text
    assert client.send({**REQUEST, "args": {}}, "llm").frames[0].body == {"ok": True}
    assert len(made) == 2


async def _frames(*bodies: Any) -> AsyncIterator[Any]:
    for body in bodies:
        yield body


def test_a_stream(opened: Open) -> None:
    """All frames are recorded in order."""
    client = opened(handler(lambda envelope: _frames({"a": 1}, {"a": 2})))
    exchange = client.send(REQUEST, "llm", streaming=True)
    assert [frame.body for frame in exchange.frames] == [{"a": 1}, {"a": 2}]
    assert exchange.fault is None


@pytest.mark.parametrize("answer", [[{"a": 1}], None, 7], ids=str)
def test_no_stream(opened: Open, answer: Any) -> None:
    """A value that cannot be iterated asynchronously is a fault that names the type."""
    fault = opened(handler(lambda envelope: answer)).send(REQUEST, "llm", streaming=True).fault
    assert fault is not None
    assert (fault.kind, type(answer).__name__ in fault.text) == ("no_stream", True)


@pytest.mark.parametrize("streaming", [False, True])
def test_no_handler(opened: Open, streaming: bool) -> None:
    """A component that is not served, or a missing entry point, is a fault, not a crash."""

    class OneEntryPoint:
        async def handle(self, envelope: Any) -> Any:
            return {}

    client = opened(lambda: {"llm": OneEntryPoint()})
    assert not client.instance.has_stream("llm")
    assert not client.instance.has_handler("vector")
    component = "llm" if streaming else "vector"
    assert client.send(REQUEST, component, streaming=streaming).fault is not None


def test_telemetry_of_each_call(opened: Open) -> None:
    """Observations, counts, logs and provider calls belong to the call that made them."""

    def factory(metrics: Any, provider: Any) -> Any:
        async def answer(envelope: Any) -> dict[str, Any]:
            number = envelope["args"]["number"]
            metrics.observe(component="llm", op=f"op{number}", ms=1, ok=True)
            metrics.counter(component="llm", name=f"name{number}")
            logging.getLogger("tests.client").warning("log %s", number)
            await provider.reached("llm.complete")
            return {}

        return handler(answer)()

    client = opened(factory)
    for number in (1, 2):
        exchange = client.send({"op": "llm.complete", "args": {"number": number}}, "llm")
        assert [seen.op for seen in exchange.observed.observations] == [f"op{number}"]
        assert [seen.name for seen in exchange.observed.counts] == [f"name{number}"]
        assert exchange.observed.logs == (f"log {number}",)
        assert exchange.observed.reached_provider == 1
    client.forget()
    assert client.part.exchanges == []


def test_hooks(opened: Open) -> None:
    """The hooks are those that the factory asks for by name."""
    plain = handler(lambda envelope: {})
    assert opened(plain).hooks == frozenset()
    assert opened(lambda metrics: plain()).hooks == {"metrics"}
    assert opened(lambda provider, metrics: plain()).hooks == {"metrics", "provider"}


def test_logs_are_heard_in_this_process() -> None:
    """Log records can be read only of an adapter in this process; that of a fresh instance is the same."""
    for in_process in (True, False):
        declaration = Declaration("test", handler(lambda envelope: {}), "tests:factory", in_process)
        client = AdapterClient(declaration).open(("llm",))
        assert client.hears_logs is in_process
        assert client.fresh().hears_logs is in_process
        client.close()


def test_send_all(opened: Open) -> None:
    """Requests that are sent at once run at the same time and get their own answers."""
    together = []

    async def answer(envelope: Any) -> dict[str, Any]:
        together.append(1)
        await asyncio.sleep(0.05)
        return {"number": envelope["args"]["number"], "together": len(together)}

    client = opened(handler(answer))
    requests = [{"op": "llm.complete", "args": {"number": number}} for number in range(5)]
    bodies = [exchange.frames[0].body for exchange in client.send_all(requests, "llm")]
    assert [body["number"] for body in bodies] == [0, 1, 2, 3, 4]
    assert {body["together"] for body in bodies} == {5}


def test_closing_twice(opened: Open) -> None:
    """A second close does nothing."""
    client = opened(handler(lambda envelope: {}))
    assert client.close() == []
    assert client.close() == []


def test_component_keyword(opened: Open) -> None:
    """A factory that asks for `component` is called for each; those that it refuses are not served."""
    asked = []

    def factory(component: str) -> Any:
        asked.append(component)
        if component != "graph":
            raise ValueError("only graphs")
        return handler(lambda envelope: {})()

    client = opened(factory, 5.0, "llm", "graph")
    assert asked == ["llm", "graph"]
    assert (client.instance.has_handler("llm"), client.instance.has_handler("graph")) == (False, True)


def test_component_keyword_refused_throughout(opened: Open) -> None:
    """If it refuses every component, the first reason is given."""

    def factory(component: str) -> Any:
        raise ValueError(f"not {component}")

    with pytest.raises(DeclarationError, match="not llm"):
        opened(factory, 5.0, "llm", "graph")


@pytest.mark.parametrize(("op", "frames", "tokens"), [
    ("embedding.embed_batch", [{"ok": True, "result": {"total_tokens": 9}}], 9),
    ("embedding.get_stats", [{"ok": True, "result": {"total_tokens": 9}}], 0),
    ("llm.complete", [{"ok": True, "result": {"usage": {"total_tokens": 7}}}], 7),
    ("llm.stream", [{"chunk": {"usage_so_far": {"total_tokens": 2}}}, {"chunk": {"usage_so_far": None}}], 2),
    ("llm.complete", [{"ok": True, "result": {"usage": {"total_tokens": True}}}], 0),
    ("llm.complete", [{"ok": True, "result": {"usage": {"total_tokens": -1}}}], 0),
    ("llm.complete", [["no", "object"]], 0),
    ("llm.complete", [], 0),
])  # fmt: skip
def test_the_tokens_of_a_call(op: str, frames: list[Any], tokens: int) -> None:
    """The most that one of its frames accounts for; statistics count all calls so far, so they are none."""
    meter = Meter()
    answers = [Frame(body, 1, 0.0) for body in frames]
    meter.count_calls("llm", [Exchange({"op": op}, streaming=False, frames=answers)])
    assert (meter.calls["llm"], meter.tokens["llm"]) == (1, tokens)


@pytest.mark.parametrize(
    ("text", "budget"), [("calls=500,tokens=20000", Budget(500, 20_000)), (" tokens = 7 ", Budget(tokens=7))]
)
def test_a_budget_is_read(text: str, budget: Budget) -> None:
    """Calls, tokens or both, with a comma."""
    assert parse(text) == budget


@pytest.mark.parametrize(
    "text", ["", "500", "calls", "calls=", "calls=-1", "calls=0", "calls=1.5", "money=3", "calls=1,calls=2"]
)
def test_what_is_no_budget_is_refused(text: str) -> None:
    """Anything else is refused in a few words."""
    with pytest.raises(ValueError, match=r"write it as|limited|given twice|positive integer"):
        parse(text)


def test_the_shares_are_what_is_left() -> None:
    """Processes may together use the budget less what was used before."""
    shares = [Budget(500, 10).share(number, 8, used=Spending(calls=7)) for number in range(8)]
    assert (sum(share.calls or 0 for share in shares), sum(share.tokens or 0 for share in shares)) == (493, 10)
    assert Budget(calls=3).share(0, 2, used=Spending(calls=9)) == Budget(calls=0)
    assert Budget().share(0, 2) == Budget()


def test_a_spent_budget_refuses_calls_of_tests_alone() -> None:
    """Within a test no call goes beyond the budget; what opens, tidies and closes is not refused."""
    spending = Spending(Budget(calls=2), calls=2)
    spending.admit(1)
    with spending.enforce(), pytest.raises(BudgetSpent, match="the budget of 2 calls is spent"):
        spending.admit(1)
    assert spending.refused == 1


def test_a_batch_of_calls_is_made_whole_or_not_at_all() -> None:
    """Calls that go out together are refused together where the budget holds only some of them."""
    spending = Spending(Budget(calls=5), calls=3)
    with spending.enforce():
        spending.admit(2)
        with pytest.raises(BudgetSpent):
            spending.admit(3)


def test_tokens_are_spent_when_they_are_reached() -> None:
    """The tokens of a call are known afterwards: the call that reaches the limit is the last one."""
    spending = Spending(Budget(tokens=10), tokens=9)
    with spending.enforce():
        spending.admit(1)
        spending.tokens = 12
        with pytest.raises(BudgetSpent, match="10 tokens"):
            spending.admit(1)
