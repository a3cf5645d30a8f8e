"""Looking at what was written once it can be seen."""

import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_corpus.adapter import inputs
from pytest_corpus.adapter.hooks.provider import ProviderProbe
from pytest_corpus.kit.run_state import Settings, Shared
from pytest_corpus.kit.store import settling
from pytest_corpus.kit.store.settling import (
    Probe,
    SettleTime,
    Settling,
    VisibilityCheck,
    measure_delay,
    postpone_deadline,
)
from pytest_corpus.spec.operations import BY_OP
from pytest_corpus.suites.graph.support.readers import GraphSettling
from pytest_corpus.suites.graph.support.run_state import GraphShared

WRITE: Mapping[str, Any] = {"op": "vector.upsert", "ctx": {}, "args": {}}
LOOK: Mapping[str, Any] = {"op": "vector.query", "ctx": {}, "args": {}}


@dataclass
class Store:
    """The answer of a component."""

    shared: Shared = field(default_factory=Shared)
    settings: Settings = field(default_factory=Settings)
    client: Any = field(default_factory=lambda: SimpleNamespace(provider=ProviderProbe()))


class Late(Settling):
    """Shows a write after a while; None: never."""

    tried = 0

    def __init__(self, late_s: float | None, given: float | None = None, settle: SettleTime | None = None) -> None:
        super().__init__(Store(Shared(settle_time=settle or SettleTime()), Settings(settle_s=given)))
        self.late_s = late_s

    def places(self, _request: Mapping[str, Any]) -> frozenset[str]:
        return frozenset({"place"})

    def trials(self) -> Iterator[VisibilityCheck]:
        self.tried += 1
        begun = time.monotonic()
        yield lambda: self.late_s is not None and time.monotonic() - begun >= self.late_s


def took(work: Any, *args: Any) -> float:
    begun = time.monotonic()
    work(*args)
    return time.monotonic() - begun


class Hasty(inputs.Source):
    """A machine on which no time passes but that of pauses, and a millisecond for each look."""

    now = looks = 0.0

    def read(self, what: str, look: Callable[[], Any]) -> Any:
        return self.now if what == "monotonic" else look()

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.mark.parametrize("late_s", [0.003, 0.05, 0.7, 4.0, 9.0, math.inf])
def test_a_late_write_is_looked_for_some_hundred_times(late_s: float) -> None:
    """However fast an adapter answers; the time that a write takes is still found to some per cent."""
    with inputs.read_from(machine := Hasty()):

        def look() -> bool:
            machine.now, machine.looks = machine.now + 0.001, machine.looks + 1
            return machine.now >= late_s

        hidden_s, shown_s = measure_delay(look, settling.LIMIT_S)
    assert machine.looks < 250
    assert (hidden_s, shown_s) == settling.MISSING or hidden_s <= late_s <= shown_s <= late_s * 1.05 + 0.005
    assert (shown_s == math.inf) is (late_s == math.inf)


def test_what_shows_at_once_is_tried_once_and_never_waited_for() -> None:
    """Nothing is tried before the first look at something written."""
    store = Late(0.0)
    assert store.wait_until_settled(LOOK) is LOOK
    assert (store.known.seconds, store.tried) == (None, 0)
    for _ in range(3):
        store.note(WRITE)
        assert store.wait_until_settled(LOOK) is LOOK
    assert (store.known.seconds, store.tried, store.has_late_writes) == (0.0, 1, False)


@pytest.mark.parametrize(
    ("late_s", "given", "is_late", "tried"), [(0.0, None, False, 4), (0.01, None, True, 4), (0.01, 0.0, False, 0)]
)
def test_a_measurement_is_repeated_once(late_s: float, given: float | None, is_late: bool, tried: int) -> None:
    """Three times if writes seem visible at once, and not if the user gives the delay."""
    store = Late(0.0, given)
    store.note(WRITE)
    assert store.find_settle_time() == 0
    store.late_s = late_s
    assert store.is_late_after_all() is is_late
    assert store.tried == tried
    assert not store.is_late_after_all()
    assert store.has_late_writes is is_late


def test_a_look_after_a_write_waits() -> None:
    """A look waits until the last write is old enough; the next one, and what looks at nothing, do not wait."""
    store = Late(0.3)
    store.note(WRITE)
    store.wait_until_settled(LOOK)
    assert 0.3 <= (store.known.seconds or 0) < 5
    assert store.has_late_writes
    store.note(WRITE)
    assert took(store.wait_until_settled, {"op": "vector.health", "ctx": {}, "args": {}}) < 0.3
    assert took(store.wait_until_settled, LOOK) >= 0.3
    assert took(store.wait_until_settled, LOOK) < 0.3
    assert store.known.waited_s >= 0.3


def test_what_never_shows_is_not_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """A write that does not show at all is a finding, not a settle time."""
    monkeypatch.setattr(settling, "LIMIT_S", 0.05)
    store = Late(None)
    store.note(WRITE)
    assert store.find_settle_time() == 0
    assert store.known.missed_s >= 0.05


def test_a_given_time_is_not_tried() -> None:
    """A delay that the user gives is used as it is."""
    store = Late(5.0, given=0.02)
    store.note(WRITE)
    assert took(store.wait_until_settled, LOOK) < 4
    assert (store.known.seconds, store.tried, store.has_late_writes) == (0.02, 0, False)


def test_the_time_is_shared() -> None:
    """Another instance of the same component does not try it again."""
    settle = SettleTime(seconds=0.02, found=True)
    one, other = Late(0.0, settle=settle), Late(0.0, settle=settle)
    one.note(WRITE)
    assert took(other.wait_until_settled, LOOK) >= 0.01
    assert other.tried == 0


def test_a_look_that_cannot_tell_is_given_up() -> None:
    """An answer that says nothing either way makes no settle time."""
    answers = iter([False, None])
    assert measure_delay(lambda: next(answers), time.monotonic() + 1) == settling.AT_ONCE


@pytest.mark.parametrize(("left_ms", "moved"), [(60_000, 500), (-60_000, 0)])
def test_a_deadline_is_as_far_away_as_it_was_meant(left_ms: int, moved: int) -> None:
    """Waiting takes nothing of a budget; a deadline that had passed stays where it was."""
    deadline = round(time.time() * 1000) + left_ms
    request = {**LOOK, "ctx": {"deadline_ms": deadline}}
    assert postpone_deadline(request, 0.5)["ctx"]["deadline_ms"] == deadline + moved
    assert postpone_deadline(request, 0.0) is request
    assert postpone_deadline("no request", 0.5) == "no request"


def test_what_can_see_nothing_does_not_wait() -> None:
    """A write does not wait for one that was refused, nor a request whose deadline has passed for anything."""
    store = Late(None, given=0.3)
    write = {**WRITE, "op": "vector.delete"}
    store.note(write, refused=True)
    assert took(store.wait_until_settled, write) < 0.3
    assert took(store.wait_until_settled, {**LOOK, "ctx": {"deadline_ms": 1}}) < 0.3
    assert took(store.wait_until_settled, LOOK) > 0
    assert store.known.waited_s > 0
    store.note(write)
    store.pause()
    assert store.known.waited_s >= 0.3


class Ordered(Probe):
    """Writes of which one after the other shows what is given."""

    readers = ("query",)

    def __init__(self, kept: str, found: list[list[str]], *, done: bool) -> None:
        self.kept, self.answers, self.done, self.looks = kept, found, done, 0

    def names_seen(self, _reader: str) -> set[str]:
        self.looks += 1
        return set(self.answers[min(self.looks, len(self.answers)) - 1])

    def write_in_order(self) -> tuple[bool, set[str]]:
        return self.done, set(self.kept)


@pytest.mark.parametrize(("kept", "found", "done", "in_order"), [
    ("ab", [["a", "b"]], True, True),
    ("ab", [[], ["a"], ["a", "b", "c"], ["a", "b"]], True, True),
    ("ab", [["a", "b", "c"]] * 9, True, False),
    ("ab", [["a", "b"]], False, False),
])  # fmt: skip
def test_the_order_of_writes_is_found_out(kept: str, found: list[list[str]], done: bool, in_order: bool) -> None:
    """A delete that was lost, or a refusal, means that writes do not find what was written just before them."""
    store = Late(0.0)
    measure_delay(store.try_order(Ordered(kept, found, done=done)), time.monotonic() + 1)
    assert store.known.in_order is in_order


def test_what_was_refused_is_not_looked_for() -> None:
    """A trial whose writes were not carried out looks at nothing, and shows nothing of the settle time."""
    probe = Ordered("a", [], done=False)

    class Refusing(Late):
        def trials(self) -> Iterator[VisibilityCheck]:
            yield self.try_order(probe)

    store = Refusing(0.0)
    assert took(store.find_settle_time) < 1
    assert (store.known.seconds, store.known.missed_s, probe.looks) == (0.0, 0.0, 0)


@pytest.mark.parametrize(("times", "longest"), [
    ([(0.04, 0.05), (0.03, 0.09), (0.045, 0.055)], 0.05),
    ([(0.04, 0.05), (0.08, 0.09), (0.0, 0.0)], 0.09),
    ([settling.AT_ONCE], 0),
])  # fmt: skip
def test_the_longest_time_counts_if_times_differ(
    monkeypatch: pytest.MonkeyPatch, times: list[tuple[float, float]], longest: float
) -> None:
    """Times that can be one and the same were measured late; others show that a write may take as long."""
    measured = iter(times)
    monkeypatch.setattr(settling, "measure_delay", lambda *_: next(measured))
    assert Late(0.0)._longest_delay() == longest


def test_a_read_that_has_to_fail_does_not_wait() -> None:
    """A planned fault decides the answer, whatever was written; a fault of another operation does not."""
    store = Late(None, given=5.0)
    store._subject.shared.provider_ops["query"] = ("search",)
    store.note(WRITE)
    store._subject.client.provider.plan("unavailable", "search")
    assert took(store.wait_until_settled, LOOK) < 4
    assert not store._will_fail(BY_OP["vector.batch_query"])
    assert not store._will_fail(BY_OP["vector.delete"])


@dataclass
class Graph(Store):
    """A graph whose seeds are of no interest."""

    shared: GraphShared = field(default_factory=GraphShared)
    seeds: Any = field(default_factory=lambda: SimpleNamespace(tag="seeds"))
    capabilities: Any = field(default_factory=lambda: SimpleNamespace(flag=lambda _name: True))


@pytest.mark.parametrize("process", ["", "gw3"])
def test_each_group_of_nodes_settles_for_itself(process: str) -> None:
    """A look at a group waits for the writes to that group, whichever process began it."""
    settings = Settings(run="k3f9tm6l3k", process=process)
    for tag in (f"{settings.prefix}12", f"{settings.process_prefix}p"):
        nodes = [{"id": f"{tag}-a", "labels": [], "properties": {"corpus_group": f"g-{tag}-"}}]
        written = {"op": "graph.upsert_nodes", "args": {"nodes": nodes, "namespace": f"{settings.run_prefix}n3"}}
        found = GraphSettling(Graph(settings=settings))  # type: ignore[arg-type]
        assert found.places_written(written) == {tag, f"{settings.run_prefix}n3"}
        assert found.places({"op": "graph.query", "args": {"params": {"group": f"g-{tag}-"}}}) == {tag}
