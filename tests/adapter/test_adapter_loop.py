"""The loop of an adapter: results, limits, and its end."""

import asyncio
import inspect
import signal
import threading
import time
import warnings
from collections.abc import AsyncIterator, Callable
from typing import Any, cast

import pytest

from pytest_corpus.adapter.client import AdapterClient
from pytest_corpus.adapter.event_loop.loop import LoopThread, TimeLimit
from pytest_corpus.adapter.exceptions import DeclarationError
from pytest_corpus.adapter.exchange import CallFault
from pytest_corpus.adapter.hooks.provider import ProviderProbe

Open = Callable[..., AdapterClient]
REQUEST = {"op": "llm.complete", "ctx": {}, "args": {}}


async def _value(value: int) -> int:
    await asyncio.sleep(0)
    return value


def test_loop_gives_results_and_exceptions(loop: LoopThread) -> None:
    """The result of a coroutine comes back, and what it raises too."""

    async def failing() -> None:
        raise ValueError("inside")

    assert loop.run(_value(7), 1) == 7
    with pytest.raises(ValueError, match="inside"):
        loop.run(failing(), 1)


def test_loop_limit(loop: LoopThread) -> None:
    """A coroutine that takes longer is cancelled; the loop does not count as blocked, and goes on."""
    with pytest.raises(TimeLimit) as caught:
        loop.run(asyncio.sleep(1000), 0.05)
    assert caught.value.blocked is False
    assert loop.run(_value(1), 1) == 1


def test_a_call_that_is_interrupted_before_it_began(loop: LoopThread) -> None:
    """It is closed: Python would complain of a coroutine that was never awaited."""

    began = threading.Event()

    async def interrupting() -> None:
        began.set()
        time.sleep(0.1)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        time.sleep(0.1)

    work = _value(1)
    loop.begin(interrupting())
    assert began.wait(1)
    with pytest.raises(KeyboardInterrupt):
        loop.run(work, 5)
    assert loop.run(_value(2), 1) == 2
    assert inspect.getcoroutinestate(work) == inspect.CORO_CLOSED


def test_loop_that_is_blocked() -> None:
    """A coroutine that blocks the whole loop is recognised, and stopping does not wait for it."""

    async def blocking() -> None:
        time.sleep(3)

    loop = LoopThread("blocked")
    with pytest.raises(TimeLimit) as caught:
        loop.run(blocking(), 0.05)
    assert caught.value.blocked is True
    started = time.monotonic()
    loop.stop()
    assert time.monotonic() - started < 2.5


def test_a_time_out_of_the_adapters_own(loop: LoopThread) -> None:
    """A TimeoutError that the coroutine raises is not taken for ours."""

    async def timing_out() -> None:
        raise TimeoutError

    with pytest.raises((asyncio.TimeoutError, TimeoutError)):
        loop.run(timing_out(), 5)


def test_loop_that_was_ended() -> None:
    """A loop that a coroutine ended counts as blocked: no crash, no endless wait, and stopping it does nothing."""
    loop = LoopThread("ended")

    async def ending() -> None:
        asyncio.get_running_loop().stop()
        await asyncio.sleep(0.1)

    with pytest.raises(TimeLimit):
        loop.run(ending(), 0.3)
    with pytest.raises(TimeLimit):
        loop.run(_value(1), 0.3)
    loop.stop()


def test_stop_cancels_what_still_runs() -> None:
    """Tasks that an adapter left behind are cancelled when the loop stops."""
    seen: list[str] = []

    async def leave() -> None:
        async def left() -> None:
            try:
                await asyncio.sleep(1000)
            except asyncio.CancelledError:
                seen.append("cancelled")
                raise

        seen.append("started")
        loop.left = asyncio.get_running_loop().create_task(left())  # type: ignore[attr-defined]
        await asyncio.sleep(0)

    loop = LoopThread("leaving")
    loop.run(leave(), 1)
    loop.stop()
    assert seen == ["started", "cancelled"]


def test_what_is_handed_on_of_the_context_is_kept_until_it_is_taken() -> None:
    """The trace and the deadline are noted as given, null included; other facts and missing ones are not."""
    probe = ProviderProbe()
    asyncio.run(probe.reached("llm.complete", traceparent="00-a-b-01", deadline_ms=7, items=2))
    asyncio.run(probe.reached("llm.stream", chunk=0, traceparent=None))
    asyncio.run(probe.reached("llm.complete"))
    assert [(arrival.op, arrival.facts) for arrival in probe.take_arrivals()] == [
        ("llm.complete", {"traceparent": "00-a-b-01", "deadline_ms": 7}),
        ("llm.stream", {"traceparent": None}),
        ("llm.complete", {}),
    ]
    assert (probe.take_arrivals(), probe.calls()) == ([], 2)


@pytest.mark.parametrize("kind", [SystemExit, KeyboardInterrupt], ids=lambda kind: kind.__name__)
def test_a_task_beside_the_call_that_ends_the_loop(opened: Open, kind: type[BaseException]) -> None:
    """The call that it strikes is at fault at once, and the next one works in another loop."""

    async def die() -> None:
        raise kind

    class Dying:
        async def handle(self, envelope: Any) -> Any:
            if envelope["args"]:
                self.task = asyncio.ensure_future(die())
                await asyncio.sleep(1000)
            return {"ok": True}

    client = opened(Dying, 20.0)
    exchange = client.send({**REQUEST, "args": {"die": 1}}, "llm")
    assert exchange.fault is not None
    assert (exchange.fault.kind, exchange.elapsed_s < 5) == ("raised", True)
    assert kind.__name__ in exchange.fault.text
    assert client.send(REQUEST, "llm").frames[0].body == {"ok": True}


def test_a_call_that_was_given_up_writes_no_more(opened: Open) -> None:
    """Actions after the limit do not change its record."""

    class Late:
        async def handle(self, envelope: Any) -> Any:
            return {"ok": True}

        async def handle_stream(self, envelope: Any) -> AsyncIterator[Any]:
            yield {"frame": 1}
            try:
                await asyncio.sleep(1000)
            except asyncio.CancelledError:
                yield {"frame": 2}

    client = opened(Late, 0.2)
    exchange = client.send(REQUEST, "llm", streaming=True)
    client.send(REQUEST, "llm")
    assert [frame.body for frame in exchange.frames] == [{"frame": 1}]
    assert exchange.fault is not None
    assert exchange.fault.kind == "timeout"


def test_a_loop_that_ends_between_calls(opened: Open) -> None:
    """The next call is at fault, also where a fresh instance finds it out, and only one is."""
    died = threading.Event()

    async def die() -> None:
        died.set()
        raise SystemExit

    class Dying:
        async def handle(self, envelope: Any) -> Any:
            if envelope["args"]:
                asyncio.get_running_loop().call_later(0.05, lambda: asyncio.ensure_future(die()))
            return {"ok": True}

    client = opened(Dying)
    assert client.send({**REQUEST, "args": {"die": 1}}, "llm").fault is None
    assert died.wait(10)
    time.sleep(0.3)
    with pytest.raises(DeclarationError, match="SystemExit"):
        client.fresh()
    faults = [client.send(REQUEST, "llm").fault for _ in range(2)]
    assert faults == [CallFault("raised", "SystemExit, which ended the event loop"), None]


def test_loops_of_others_are_kept() -> None:
    """The event loop of a policy that somebody has set is used as it is, and serves calls all the same."""
    made: list[asyncio.AbstractEventLoop] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # from Python 3.14 on

        class Policy(asyncio.DefaultEventLoopPolicy):
            def new_event_loop(self) -> asyncio.AbstractEventLoop:
                made.append(super().new_event_loop())
                return made[-1]

        asyncio.set_event_loop_policy(Policy())
        try:
            thread = LoopThread("own")
        finally:
            asyncio.set_event_loop_policy(None)
    try:
        running = thread.run(_running_loop(), 5)
    finally:
        assert thread.stop() == []
    assert made == [running]


async def _running_loop() -> asyncio.AbstractEventLoop:
    return asyncio.get_running_loop()


def test_a_result_before_the_loop_ends() -> None:
    """A call that returned is not lost when another task ends the loop in the same turn."""
    thread = LoopThread("ending")

    async def leave() -> None:
        raise SystemExit

    async def call() -> int:
        ready = asyncio.get_running_loop().create_future()

        def go_on_and_leave() -> None:
            ready.set_result(7)
            leaving.append(asyncio.ensure_future(leave()))

        asyncio.get_running_loop().call_soon(go_on_and_leave)
        return cast(int, await ready)

    leaving: list[asyncio.Task[None]] = []
    assert thread.run(call(), 5) == 7
    with pytest.raises(TimeLimit):
        thread.run(asyncio.sleep(0), 5)
    assert thread.blocked
    assert isinstance(leaving[0].exception(), SystemExit)


def test_an_answer_before_the_loop_is_blocked(loop: LoopThread) -> None:
    """A call that returned in time is not late when something else then blocks the loop in the same turn."""

    async def call() -> int:
        ready = asyncio.get_running_loop().create_future()

        def go_on_and_block() -> None:
            ready.set_result(7)
            asyncio.get_running_loop().call_soon(time.sleep, 0.3)

        asyncio.get_running_loop().call_soon(go_on_and_block)
        return cast(int, await ready)

    assert loop.run(call(), 0.1) == 7
    assert not loop.blocked
    assert loop.run(asyncio.sleep(0, 8), 5) == 8
