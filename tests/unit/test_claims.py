"""The findings of shared claims, without an adapter."""

import pytest

from pytest_corpus.kit.outcomes import Blocked, Violation
from pytest_corpus.suites.graph.support.scenarios.batches import in_order
from pytest_corpus.suites.shared.claims import replays


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
