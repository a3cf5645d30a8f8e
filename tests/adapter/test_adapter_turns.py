"""The processor on which a loop and the thread that waits for it take turns."""

import asyncio
import os
import threading
import time
import warnings
from typing import cast

import pytest

from pytest_corpus.adapter.event_loop.loop import LoopThread, TimeLimit
from pytest_corpus.adapter.event_loop.turns import Turns

pytestmark = pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system cannot bind threads")


def _processors(thread: int = 0) -> set[int]:
    return os.sched_getaffinity(thread)


def test_only_waiting_is_bound(loop: LoopThread) -> None:
    """The waiting thread is bound; code of an adapter, what it starts, and the thread after its wait are not."""
    everywhere, waiting = _processors(), threading.get_native_id()
    seen: list[set[int]] = []

    async def call() -> set[int]:
        thread = threading.Thread(target=lambda: seen.append(_processors()))
        thread.start()
        thread.join()
        seen.append(_processors())
        await asyncio.sleep(0.01)
        seen.append(_processors())
        return _processors(waiting)

    for _ in range(3):
        bound = loop.run(call(), 5, by_turns=True)
    assert len(bound) == 1
    assert loop.run(call(), 5) == everywhere, "only a call of the adapter is waited for by turns"
    assert seen == [everywhere] * 12
    assert _processors() == everywhere


@pytest.mark.parametrize("ending", ["an error", "a limit"])
def test_a_wait_that_fails_leaves_nothing_bound(loop: LoopThread, ending: str) -> None:
    """The thread may run everywhere after a call that raised, or took too long."""
    everywhere = _processors()

    async def failing() -> None:
        raise ValueError

    loop.run(asyncio.sleep(0), 5)
    with pytest.raises((ValueError, TimeLimit)):
        loop.run(failing() if ending == "an error" else asyncio.sleep(1000), 0.05, by_turns=True)
    assert _processors() == everywhere
    assert loop.run(asyncio.sleep(0, _processors), 5)() == everywhere


def test_what_an_adapter_chooses_is_kept(loop: LoopThread) -> None:
    """An adapter that confines the thread of its loop finds it confined in its next calls."""
    chosen = {max(_processors())}
    everywhere = _processors()

    async def confine() -> None:
        os.sched_setaffinity(0, chosen)

    async def processors() -> set[int]:
        return _processors()

    loop.run(confine(), 5)
    assert [loop.run(processors(), 5) for _ in range(2)] == [chosen, chosen]
    assert _processors() == everywhere


def test_what_an_adapter_chooses_for_the_waiting_thread_is_kept(loop: LoopThread) -> None:
    """The thread of the tests has the number of the process, whose processors an adapter may choose."""
    everywhere, waiting = _processors(), threading.get_native_id()
    chosen: list[set[int]] = []

    async def choose() -> None:
        chosen.append((everywhere - _processors(waiting)) or everywhere)
        os.sched_setaffinity(waiting, chosen[0])

    loop.run(asyncio.sleep(0), 5)
    try:
        loop.run(choose(), 5, by_turns=True)
        assert chosen == [_processors()]
    finally:
        os.sched_setaffinity(0, everywhere)


def _refused(_thread: int, _processors: object = None) -> set[int]:
    raise OSError("not permitted")


@pytest.mark.parametrize("name", ["sched_getaffinity", "sched_setaffinity"])
def test_a_system_that_refuses(loop: LoopThread, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Calls go on where threads may not be bound."""
    loop.run(asyncio.sleep(0), 5)
    monkeypatch.setattr(os, name, _refused)
    assert loop.run(asyncio.sleep(0, 7), 5, by_turns=True) == 7


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
        running = [thread.run(_running_loop(), 5, by_turns=by_turns) for by_turns in (True, False)]
    finally:
        assert thread.stop() == []
    assert running == [*made, *made]


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


def test_waits_end_once() -> None:
    """A wait that is over ends when the loop waits, or with the loop; not before and not twice."""
    turns = Turns()
    try:
        wait = threading.Lock()
        wait.acquire()
        turns.end(wait)
        assert wait.locked()
        turns.end_all()
        assert not wait.locked()
        turns.end_all()
    finally:
        turns.loop.close()
