"""Tests that make their calls before their turn, and look in it."""

import json
from collections.abc import Iterator
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_corpus.adapter.hooks.provider import ProviderProbe
from pytest_corpus.adapter.scope import Part
from pytest_corpus.adapter.tracebacks import escaped_exception
from pytest_corpus.kit.early_calls import SteppedTest, run
from pytest_corpus.kit.fixtures import Steps
from pytest_corpus.kit.judgement import judging, note_check
from pytest_corpus.kit.outcomes import Undecided, Violation
from pytest_corpus.kit.run_state import Settings, Shared


class Store:
    """A component with a write delay and late reports, of which nothing is called."""

    def __init__(self, delay_s: float, seen_s: float = 0.0) -> None:
        self.shared, self.settings = Shared(), Settings()
        self.client = SimpleNamespace(part=Part(), provider=ProviderProbe(), late=SimpleNamespace(seen_s=seen_s))
        self.settling = SimpleNamespace(find_out=lambda: delay_s)
        self.places: list[Any] = []
        self.has_room, self.done = True, list[str]()

    def gate(self, requirement: Any) -> None:
        if requirement.id == "missing":
            raise Undecided("not offered")

    def test(self, name: str, fails: str = "") -> Steps:
        if fails == "writing":
            raise Violation("a write", "a refusal")
        self.done.append(f"{name} writes")
        self.shared.actions.done.add(name)
        note_check()
        yield
        assert self.shared.actions.done == {name}
        self.done.append(f"{name} looks")

    def follow(self, *rows: tuple[str, str, str]) -> Iterator[SteppedTest]:
        for name, requirement, fails in rows:
            yield SteppedTest(name, SimpleNamespace(id=requirement), partial(self.test, name, fails))  # type: ignore[arg-type]

    def run(self, name: str, *following: tuple[str, str, str], requirement: str = "") -> int:
        self.shared.actions.done.clear()
        with judging() as taken:
            run(self, next(self.follow((name, requirement, ""))), lambda: self.follow(*following))
            return taken.checks


ROWS = (("b", "", ""), ("c", "missing", ""), ("d", "", "writing"), ("e", "", ""))


@pytest.mark.parametrize(
    ("delay_s", "order"),
    [(0.0, ["a writes", "a looks", "b writes", "b looks"]), (0.1, ["a writes", "b writes", "e writes", "a looks"])],
)
def test_the_others_write_before_the_first_look(delay_s: float, order: list[str]) -> None:
    """If writes show late, tests that can write do so; one that cannot begins again in its turn."""
    store = Store(delay_s)
    assert store.run("a", *ROWS) == 1
    assert store.run("b", *ROWS[1:]) == 1
    assert store.done[:4] == order
    assert store.run("e") == store.run("f") == 1
    assert store.done[-3:] == ["e looks", "f writes", "f looks"]
    assert not store.shared.begun


def test_a_store_without_room_begins_no_other_test() -> None:
    """A test keeps a limited number of places (R115)."""
    store = Store(0.1)
    store.has_room = False
    store.run("a", *ROWS)
    assert store.done == ["a writes", "a looks"]


def test_a_mistake_of_the_stand_in_is_of_the_test_that_met_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not of the one that begins it early; nothing that was found out meanwhile is kept."""
    store, error = Store(0.1), escaped_exception(KeyError("choices"))

    def gate(requirement: Any) -> None:
        if requirement.id == "misled":
            store.client.provider.mistakes.noted.append(error)
            store.shared.obstacles["complete"] = None

    monkeypatch.setattr(store, "gate", gate)
    store.run("a", ("b", "", ""), ("c", "misled", ""), ("d", "", ""))
    assert store.client.provider.mistakes.take() == ([], [])
    assert (list(store.shared.begun), store.shared.obstacles) == (["d"], {})
    store.run("b")
    assert store.client.provider.mistakes.take() == ([], [])
    store.run("c")
    assert store.client.provider.mistakes.take() == ([error], [])
    assert store.done[-2:] == ["c writes", "c looks"]


def test_a_mistake_after_its_test_is_of_no_other_test() -> None:
    """A request that came before the mistakes were taken notes what it raises as late."""
    provider = ProviderProbe()
    note = provider.mistakes.noting()
    assert provider.mistakes.take() == ([], [])
    try:
        json.loads("{")
    except json.JSONDecodeError as error:
        note(error)
    taken, (late,) = provider.mistakes.take()
    assert taken == []
    assert "provider.serve) raised JSONDecodeError at " in late
    assert f"after its test ({json.decoder.__file__}:" in late
    assert late.endswith(" in test_a_mistake_after_its_test_is_of_no_other_test)"), late


MIXED = (("b", "GRA-CRUD-1", ""), ("c", "COM-OBS-13", ""), ("d", "GRA-OBS-1", ""), ("e", "COM-LEAK-3", ""))


@pytest.mark.parametrize(
    ("delay_s", "seen_s", "requirement", "ahead"),
    [
        (0.1, 0.0, "GRA-CRUD-2", ["b writes", "e writes"]),
        (0.1, 0.0, "COM-OBS-2", []),
        (0.0, 0.03, "COM-OBS-2", ["c writes", "d writes"]),
        (0.0, 0.03, "GRA-CRUD-2", []),
    ],
)
def test_only_tests_that_wait_for_the_same_are_begun(
    delay_s: float, seen_s: float, requirement: str, ahead: list[str]
) -> None:
    """Late reports begin the tests that look at reports, late writes the others."""
    store = Store(delay_s, seen_s)
    store.run("a", *MIXED, requirement=requirement)
    assert store.done == ["a writes", *ahead, "a looks"]
