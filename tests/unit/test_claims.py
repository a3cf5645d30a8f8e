"""The findings of shared claims, and the retry hints that count as passed on, without an adapter."""

from types import SimpleNamespace
from typing import Any

import pytest

from pytest_corpus.kit.outcomes import Blocked, NotApplicable, Violation
from pytest_corpus.suites.graph.support.scenarios.batches import in_order
from pytest_corpus.suites.shared.claims import replays
from pytest_corpus.suites.shared.claims.faults import passed_on


def test_a_wrong_count_is_not_called_a_wrong_order() -> None:
    """Operations that count nothing are the finding of the counts, which tells what was counted."""
    with pytest.raises(Blocked, match=r"GRA-NODE-5: expected counts of \[2, 1\].*; got \[0, 0\]"):
        in_order([0, 0], [2, 1])


def test_a_wrong_order_is_called_one() -> None:
    """The right counts in another order are a wrong order; counts that are missing are none."""
    with pytest.raises(Violation, match=r"the order of the operations.*; got \[1, 2\]"):
        in_order([1, 2], [2, 1])
    in_order([None, 1], [2, 1])


def test_results_that_differ_are_told_by_their_keys() -> None:
    """Neither what a result holds nor the keys that agree are shown."""
    said = replays.differing({"text": "secret", "model": "m", "usage": {"a": 1}}, {"text": "canary", "model": "m"})
    assert "text" in said
    assert "usage" in said
    assert not any(word in said for word in ("secret", "canary", "model"))


def reply(hint: Any, *given: float) -> Any:
    """An error with a hint, after the provider gave some."""
    exchange = SimpleNamespace(hints_ms=frozenset(given))
    return SimpleNamespace(exchange=exchange, is_error=True, error={"retry_after_ms": hint})


@pytest.mark.parametrize(
    ("hint", "given"), [(1234, (1234,)), (1234.0, (1234,)), (2000, (1234,)), (1500, (1234,)), (2000, (1234, 2000))]
)
def test_any_spelling_of_the_providers_hint_is_right(hint: float, given: tuple[float, ...]) -> None:
    """A provider over HTTP says it in milliseconds and in whole seconds; rounding up to a full second is right."""
    passed_on(reply(hint, *given), "complete")


@pytest.mark.parametrize("hint", [None, 1, 1.234, 2, 1000, 2001, 3000, "1234", True])
def test_another_value_is_not(hint: Any) -> None:
    """Seconds, a shorter value, one beyond the next full second, and none are violations."""
    with pytest.raises(Violation):
        passed_on(reply(hint, 1234, 2000), "complete")


def test_a_hint_that_the_api_has_no_place_for_is_not_missed() -> None:
    """An event in mid-stream of a vendor's API has none."""
    with pytest.raises(NotApplicable):
        passed_on(reply(None), "stream")
