"""Generated values: the smallest failing one is found within a budget of calls and seconds."""

from types import SimpleNamespace
from typing import Any

import pytest

from pytest_corpus.adapter.exchange import Exchange
from pytest_corpus.kit.generation import generate
from pytest_corpus.kit.outcomes import NotAssessed, Violation


class Calls:
    """A component whose calls are counted, and take no time."""

    def __init__(self) -> None:
        self.client = SimpleNamespace(meter=SimpleNamespace(total_calls=0), exchanges=[])
        self.settings = SimpleNamespace(seed=0)

    def call(self, value: int) -> None:
        """Note a call."""
        self.client.meter.total_calls += 1
        self.client.exchanges.append(Exchange({"args": {"value": value}}, False))


def checked(calls: Any, *, limit: int, cost: int = 1) -> None:
    """Find a value that is not below a limit; each takes some calls."""

    def check(value: int) -> None:
        for _ in range(cost):
            calls.call(value)
        if value >= limit:
            raise Violation(f"less than {limit}", found=value)

    generate.for_all(generate.strategies().integers(0, 10**9), check, calls)


def test_what_holds_for_all_raises_nothing() -> None:
    """No value fails, no outcome."""
    calls = Calls()
    checked(calls, limit=10**9 + 1)
    assert calls.client.meter.total_calls == 25


@pytest.mark.parametrize("cost", [1, 7])
def test_a_failing_value_is_shrunk_within_the_budget(cost: int) -> None:
    """After the first failure few calls follow, and the smallest value so far is shown with its exchange."""
    calls = Calls()
    with pytest.raises(Violation, match=r"in the smallest example after [0-9]+ calls") as caught:
        checked(calls, limit=1000, cost=cost)
    violation = caught.value
    values = [exchange.request["args"]["value"] for exchange in calls.client.exchanges]
    failing = [value for value in values if value >= 1000]
    assert violation.exchange is not None
    assert violation.exchange.request["args"]["value"] == min(failing)
    first = next(number for number, value in enumerate(values) if value >= 1000)
    assert len(values) - first <= generate.SHRINK_CALLS + 2 * cost


def test_a_slow_value_is_not_shrunk_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the end of the time the finding so far is raised."""
    monkeypatch.setattr(generate, "SHRINK_S", -1.0)
    calls = Calls()
    with pytest.raises(Violation):
        checked(calls, limit=1000)
    assert sum(exchange.request["args"]["value"] >= 1000 for exchange in calls.client.exchanges) == 1


def test_a_check_that_cannot_decide_ends_the_run() -> None:
    """Its outcome is raised at once."""
    calls: Any = Calls()

    def check(value: int) -> None:
        calls.call(value)
        raise NotAssessed("no provider")

    with pytest.raises(NotAssessed):
        generate.for_all(generate.strategies().integers(), check, calls)
    assert calls.client.meter.total_calls == 1


def test_inputs_depend_on_the_seed_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The constants of the modules in the current folder are not read; afterwards hypothesis is as before."""
    providers = pytest.importorskip("hypothesis.internal.conjecture.providers")
    read: list[int] = []
    monkeypatch.setattr(providers, "_get_local_constants", lambda: read.append(1), raising=False)
    usual = providers._get_local_constants
    checked(Calls(), limit=10**9 + 1)
    assert (read, providers._get_local_constants) == ([], usual)
