"""Closing has one limit for all, raises nothing, and tells what it left behind."""

import asyncio
import os
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from pytest_corpus.adapter import client as client_module
from pytest_corpus.adapter.client import AdapterClient, Declaration
from pytest_corpus.adapter.event_loop.closing import ClosingBudget
from pytest_corpus.adapter.event_loop.loop import Phase
from pytest_corpus.adapter.exceptions import Unresponsive

REQUEST = {"op": "llm.complete", "ctx": {}, "args": {}}


class Handler:
    """A handler whose first call starts what `leave` does."""

    async def handle(self, envelope: Any) -> Any:
        await self.leave()
        return {"ok": True}

    async def leave(self) -> None:
        """Leave nothing behind."""


def opened(factory: Callable[..., Any], **budget: Any) -> AdapterClient:
    declaration = Declaration("mine", factory, "tests:factory")
    return AdapterClient(declaration, 5.0, closing=ClosingBudget(**budget)).open(("llm",))


def closed(kind: type[Handler]) -> tuple[list[str], float]:
    """The report of closing after one call, and its duration."""
    client = opened(kind)
    assert client.send(REQUEST, "llm").fault is None
    started = time.monotonic()
    return client.close(), time.monotonic() - started


class Tasks(Handler):
    """Leaves one task behind for each number."""

    count = 1

    async def work(self) -> None:
        await asyncio.sleep(1000)

    async def leave(self) -> None:
        self.tasks = [asyncio.ensure_future(self.work()) for _ in range(self.count)]
        await asyncio.sleep(0)


class Blocking(Tasks):
    """A task that blocks the loop when it is cancelled."""

    async def work(self) -> None:
        try:
            await asyncio.sleep(1000)
        finally:
            time.sleep(4)


class Exiting(Tasks):
    """Tasks that raise SystemExit when they are cancelled."""

    count = 50

    async def work(self) -> None:
        try:
            await asyncio.sleep(1000)
        except asyncio.CancelledError:
            raise SystemExit(3) from None


class Stubborn(Tasks):
    """A task that does not heed cancelling."""

    count = 2

    async def work(self) -> None:
        while True:
            try:
                await asyncio.sleep(1000)
            except asyncio.CancelledError:
                continue


class Many(Tasks):
    count = 2000


class Generator(Handler):
    """An open generator whose end hangs."""

    async def numbers(self) -> AsyncIterator[int]:
        try:
            yield 1
            yield 2
        finally:
            await asyncio.sleep(1000)

    async def leave(self) -> None:
        self.open = self.numbers()
        await self.open.__anext__()


class Exploding(Generator):
    """An open generator whose end exits."""

    async def numbers(self) -> AsyncIterator[int]:
        try:
            yield 1
        finally:
            raise SystemExit(3)


class Restarting(Handler):
    """A callback that raises into the loop, again and again."""

    async def leave(self) -> None:
        loop = asyncio.get_running_loop()

        def again() -> None:
            if os.environ.get("CORPUS_CLOSING_TEST"):
                loop.call_soon(again)
                raise KeyboardInterrupt
            loop.call_later(0.01, again)

        loop.call_soon(again)


@pytest.mark.parametrize(("kind", "said"), [
    (Handler, []),
    (Tasks, ["closing left behind 1 task (Tasks.work)"]),
    (Blocking, ["closing left behind 1 task (Blocking.work), 1 blocked event loop"]),
    (Exiting, ["closing left behind 50 tasks (Exiting.work)"]),
    (Stubborn, ["closing left behind 2 tasks (Stubborn.work), 2 of them still running"]),
    (Many, ["closing left behind 2000 tasks (Tasks.work)"]),
    (Generator, ["closing left behind 1 open generator (Generator.numbers)"]),
    (Exploding, []),
], ids=lambda value: value.__name__ if isinstance(value, type) else "")  # fmt: skip
def test_what_is_left_behind(kind: type[Handler], said: list[str]) -> None:
    """It is reported by kind, number and name, within seconds; nothing is raised."""
    found, seconds = closed(kind)
    assert found == said
    assert seconds < 6


def test_a_callback_that_raises_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even then closing ends."""
    client = opened(Restarting)
    client.send(REQUEST, "llm")
    threading.Timer(0.3, monkeypatch.setenv, ("CORPUS_CLOSING_TEST", "1")).start()
    client.instance._loop._phase = Phase.CLOSING  # type: ignore[attr-defined]
    time.sleep(0.5)
    started = time.monotonic()
    client.close()
    assert time.monotonic() - started < 6


def test_a_thread_for_which_python_waits() -> None:
    """It would keep the process alive after the report, so it is reported."""
    enough = threading.Event()

    class Threads(Handler):
        async def leave(self) -> None:
            def keep_alive() -> None:
                enough.wait(30)

            threading.Thread(target=keep_alive, daemon=False).start()

    found, _ = closed(Threads)
    enough.set()
    assert found == ["closing left behind 1 thread (keep_alive), for which Python waits"]


def test_a_thread_of_an_executor_is_not_told() -> None:
    """Python ends it by itself."""

    class Pooled(Handler):
        async def leave(self) -> None:
            await asyncio.get_running_loop().run_in_executor(None, time.sleep, 0)

    assert closed(Pooled)[0] == []


class Hanging(Handler):
    """Its closing hangs; `closings` counts how often it was begun."""

    closings = 0

    async def aclose(self) -> None:
        Hanging.closings += 1
        await asyncio.sleep(1000)


def test_hanging_fresh_instances_are_given_up() -> None:
    """A few are waited for, the others are no longer closed, and all of it is reported once."""
    Hanging.closings = 0
    client = opened(Hanging, each_s=0.1, max_hanging=3)
    started = time.monotonic()
    for _ in range(30):
        client.fresh().close()
    assert time.monotonic() - started < 5
    assert Hanging.closings == 3
    assert client.close() == [
        "closing takes longer than 0.1 s",
        "closing 3 fresh instances did not end in time, 27 more were not closed",
    ]


def test_one_limit_for_all_closings() -> None:
    """When the time is used up, fresh instances are closed during the tests; the last one still gets its turn."""
    done: list[int] = []

    class Slow(Handler):
        async def aclose(self) -> None:
            await asyncio.sleep(0.7)
            done.append(1)

    client = opened(Slow, total_s=2.0)
    started = time.monotonic()
    for _ in range(10):
        client.fresh().close()
    assert time.monotonic() - started < 8
    time.sleep(1.5)
    assert client.close() == []
    assert len(done) == 11


def test_budgets_are_not_shared_by_chance() -> None:
    """Two runs have their own."""
    first, second = ClosingBudget(), ClosingBudget()
    first.spend(100)
    first.note_hanging("mine")
    assert (first.allot_seconds(last=True), second.allot_seconds(last=True)) == (0.0, 8.0)
    assert second.describe_failures("mine") == []


def test_at_most_thirty_seconds() -> None:
    """All closings together, fresh or last, are given no more than the whole."""
    budget, given = ClosingBudget(), 0.0
    for number in range(50):
        limit = budget.allot_seconds(last=number > 30)
        budget.spend(limit)
        given += limit
    assert 25 < given <= 30


def test_a_blocking_close_of_a_fresh_instance() -> None:
    """It blocks the loop that both share; the next call is made in another."""

    class Blocker(Handler):
        first = True

        async def aclose(self) -> None:
            time.sleep(3)

    client = opened(Blocker, each_s=0.1)
    client.fresh().close()
    assert client.send(REQUEST, "llm").fault is None
    assert client.close()[-1] == "closing left behind 2 blocked event loops"


@pytest.fixture
def pids() -> Iterator[list[int]]:
    """The processes that were forked off; they are gone in the end."""
    found: list[int] = []
    yield found
    for pid in found:
        assert os.waitpid(pid, 0)[1] != 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.parametrize("awaits", [False, True])
def test_a_fork_ends_when_it_returns(pids: list[int], awaits: bool) -> None:
    """A process that was forked off in a call answers nothing, and does not live on in the loop."""

    class Forking(Handler):
        async def leave(self) -> None:
            pid = os.fork()
            if pid:
                pids.append(pid)
            elif awaits:
                await asyncio.sleep(0.01)

    client = opened(Forking)
    for _ in range(3):
        assert client.send(REQUEST, "llm").frames[0].body == {"ok": True}
    deadline = time.monotonic() + 5
    while not all(map(ended, pids)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert all(map(ended, pids))
    assert client.close() == []


def ended(pid: int) -> bool:
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None


def test_the_last_calls_of_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that takes far longer than those before is not waited for, and nothing is sent after it."""

    class Blocks(Handler):
        calls = 0

        async def leave(self) -> None:
            self.calls += 1
            await asyncio.sleep(1000 if self.calls == 4 else 0.05)

    monkeypatch.setattr(client_module, "LEAST_S", 0.2)
    client = opened(Blocks)
    assert client.send(REQUEST, "llm").fault is None
    client.hurries = True
    for _ in range(2):
        assert client.send(REQUEST, "llm").fault is None
    began = time.monotonic()
    assert client.send(REQUEST, "llm").fault is not None
    with pytest.raises(Unresponsive):
        client.send(REQUEST, "llm")
    assert time.monotonic() - began < 3
    client.close()
