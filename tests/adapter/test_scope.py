"""Whose call is this: a call is found wherever asyncio carries its context, and what names no call is assigned."""

import asyncio
import gc
import queue
import threading
import weakref
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from pytest_corpus.adapter import inputs
from pytest_corpus.adapter.client import AdapterClient
from pytest_corpus.adapter.scope import part_of

Open = Callable[..., AdapterClient]
Report = Callable[[], None]

LATE_S = 0.03


async def directly(report: Report) -> None:
    report()


async def in_a_task(report: Report) -> None:
    await asyncio.create_task(directly(report))


async def in_a_task_that_is_left(report: Report) -> None:
    async def later() -> None:
        await asyncio.sleep(LATE_S)
        report()

    KEPT.append(asyncio.create_task(later()))


async def in_a_generator(report: Report) -> None:
    async def reporting() -> AsyncIterator[int]:
        report()
        yield 1

    async for _ in reporting():
        pass


async def in_a_callback(report: Report) -> None:
    asyncio.get_running_loop().call_later(LATE_S, report)


async def in_a_thread(report: Report) -> None:
    await asyncio.to_thread(report)


async def in_the_default_executor(report: Report) -> None:
    await asyncio.get_running_loop().run_in_executor(None, report)


async def in_an_executor_of_its_own(report: Report) -> None:
    await asyncio.get_running_loop().run_in_executor(POOL, report)


async def in_a_raw_thread(report: Report) -> None:
    threading.Timer(LATE_S, report).start()


async def in_a_worker(report: Report) -> None:
    if not KEPT:
        KEPT.append(asyncio.create_task(work()))
    JOBS.append(report)


async def work() -> None:
    """The task that the first call starts, and all others use."""
    while True:
        await asyncio.sleep(LATE_S / 3)
        while JOBS:
            JOBS.pop(0)()


async def in_a_queue(report: Report) -> None:
    QUEUE.put(report)


def pass_on() -> None:
    """The thread that reports for all calls."""
    while (report := QUEUE.get()) is not None:
        report()


KEPT: list[asyncio.Task[None]] = []
JOBS: list[Report] = []
QUEUE: queue.Queue[Report | None] = queue.Queue()
POOL = ThreadPoolExecutor(2)

NAMED = [directly, in_a_task, in_a_task_that_is_left, in_a_generator, in_a_callback, in_a_thread]
NAMED += [in_the_default_executor]
UNNAMED = [in_an_executor_of_its_own, in_a_raw_thread, in_a_queue, in_a_worker]


@pytest.fixture(autouse=True)
def workers() -> Any:
    """Those of one test alone."""
    KEPT.clear()
    thread = threading.Thread(target=pass_on, daemon=True)
    thread.start()
    yield
    QUEUE.put(None)
    thread.join(5)


def factory_of(way: Callable[[Report], Awaitable[None]]) -> Callable[..., Any]:
    """The factory of an adapter that reports on a way, each call its own number, and asks its provider first."""

    class Reporting:
        def __init__(self, metrics: Any, provider: Any) -> None:
            self.metrics, self.provider = metrics, provider

        async def handle(self, envelope: Any) -> dict[str, Any]:
            await self.provider.reached("llm.complete", deadline_ms=envelope["args"]["number"])
            await asyncio.sleep(0.001)
            labels = {"number": envelope["args"]["number"]}

            def report() -> None:
                self.metrics.observe(component="llm", op="complete", ms=1, ok=True, extra=labels)

            await way(report)
            return {"ok": True}

    return Reporting


def request(number: int) -> dict[str, Any]:
    return {"op": "llm.complete", "ctx": {}, "args": {"number": number}}


@pytest.mark.parametrize("way", [*NAMED, *UNNAMED])
def test_each_report_belongs_to_its_call(opened: Open, way: Callable[[Report], Awaitable[None]]) -> None:
    """Calls one after the other have each its own, at once or late; reports that name no call are told as such."""
    client = opened(factory_of(way))
    exchanges = [client.send(request(number), "llm") for number in range(12)]
    client.late_reports.settle()
    found = [[seen.extra["number"] for seen in exchange.observed.observations] for exchange in exchanges]
    assert found == [[number] for number in range(12)]
    assert [[arrival.facts["deadline_ms"] for arrival in each.observed.arrivals] for each in exchanges] == found
    assert client.late_reports.is_exact is (way in NAMED)


@pytest.mark.parametrize("way", NAMED)
def test_calls_at_the_same_time_have_their_own(opened: Open, way: Callable[[Report], Awaitable[None]]) -> None:
    """Also if they are sent concurrently."""
    client = opened(factory_of(way))
    exchanges = client.send_all([request(number) for number in range(20)], "llm")
    client.late_reports.settle()
    found = [[seen.extra["number"] for seen in exchange.observed.observations] for exchange in exchanges]
    assert found == [[number] for number in range(20)]
    assert [[arrival.facts["deadline_ms"] for arrival in each.observed.arrivals] for each in exchanges] == found


def test_a_plan_strikes_the_call_that_it_struck(opened: Open) -> None:
    """Of calls at the same time, one has the fault."""
    client = opened(factory_of(directly))
    client.provider.plan("unavailable", times=1)
    exchanges = client.send_all([request(number) for number in range(5)], "llm")
    assert sorted(exchange.observed.faults for exchange in exchanges) == [(), (), (), (), ("unavailable",)]


def test_a_fact_is_a_part_of_the_test_that_finds_it_out(opened: Open) -> None:
    """Its calls become those of the test, no plan of the test strikes them, and another test recalls them."""
    client = opened(factory_of(directly))
    with part_of(None) as test:
        client.provider.plan("unavailable", times=1)
        with inputs.fact_scope("a fact") as fact:
            found = client.send(request(1), "llm")
        own = client.send(request(2), "llm")
        test.recall(fact.exchanges)
    assert (found.observed.faults, own.observed.faults) == ((), ("unavailable",))
    assert test.exchanges == test.own_exchanges == [found, own]
    with part_of(None) as other:
        other.recall(fact.exchanges)
    assert (other.exchanges, other.own_exchanges) == ([found], [])
    assert client.provider.plans == []


def test_calls_that_are_not_to_be_seen_leave_nothing(opened: Open) -> None:
    """Nor do those that a test drops."""
    client = opened(factory_of(directly))
    with part_of(None) as test:
        with part_of(test, is_seen=False):
            client.send(request(1), "llm")
        dropped, kept = (client.send(request(number), "llm") for number in (2, 3))
        test.drop([dropped])
    assert test.exchanges == [kept]


def test_an_exchange_that_is_kept_keeps_no_other(opened: Open) -> None:
    """A fact keeps its own exchanges for the run; those of the test that found it out are freed with the test."""
    client = opened(factory_of(directly))
    with part_of(None) as test:
        kept = client.send(request(1), "llm")
        client.send(request(2), "llm")
        left = weakref.ref(test)
        del test
    gc.collect()
    assert (kept.observed.is_over, left()) == (True, None)


def test_a_fact_has_its_own_random_inputs() -> None:
    """The same ones, whichever test finds it out."""
    found = []
    for name in ("one", "another"):
        with part_of(None):
            inputs.begin_test(inputs.Run(seed=1), name)
            before = inputs.random_hex(4)
            inputs.reset_entries(Counter())
            with inputs.fact_scope("a fact"):
                found.append(inputs.random_hex(4))
            assert inputs.random_hex(4) != before
    assert found[0] == found[1]
