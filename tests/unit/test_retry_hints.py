"""Retry hints that count as passed on."""

from types import SimpleNamespace
from typing import Any

import pytest

from pytest_corpus.kit.outcomes import NotApplicable, Violation
from pytest_corpus.suites.shared.claims.faults import passed_on


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
