"""The loop of an adapter: results, limits, and its end."""

import asyncio
import time

import pytest

from pytest_corpus.adapter.event_loop.loop import LoopThread, TimeLimit
from pytest_corpus.adapter.hooks.provider import ProviderProbe


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


def test_what_is_handed_on_of_the_context_is_kept_until_the_next_test() -> None:
    """The trace and the deadline are noted as given, null included; other facts and missing ones are not."""
    probe = ProviderProbe()
    asyncio.run(probe.reached("llm.complete", traceparent="00-a-b-01", deadline_ms=7, items=2))
    asyncio.run(probe.reached("llm.stream", chunk=0, traceparent=None))
    asyncio.run(probe.reached("llm.complete"))
    assert [(arrival.op, arrival.facts) for arrival in probe.handed_on] == [
        ("llm.complete", {"traceparent": "00-a-b-01", "deadline_ms": 7}),
        ("llm.stream", {"traceparent": None}),
    ]
    probe.forget()
    assert (probe.handed_on, probe.calls()) == ([], 2)
