"""Budgets: what may be written, how processes share one, and when a call is refused."""

import pytest

from pytest_corpus.adapter.exceptions import BudgetSpent
from pytest_corpus.adapter.usage import Budget, Spending, parse


@pytest.mark.parametrize(
    ("text", "budget"), [("calls=500,tokens=20000", Budget(500, 20_000)), (" tokens = 7 ", Budget(tokens=7))]
)
def test_a_budget_is_read(text: str, budget: Budget) -> None:
    """Calls, tokens or both, with a comma."""
    assert parse(text) == budget


@pytest.mark.parametrize(
    "text", ["", "500", "calls", "calls=", "calls=-1", "calls=0", "calls=1.5", "money=3", "calls=1,calls=2"]
)
def test_what_is_no_budget_is_refused(text: str) -> None:
    """Anything else is refused in a few words."""
    with pytest.raises(ValueError, match=r"limited|given twice|positive integer"):
        parse(text)


def test_the_shares_are_what_is_left() -> None:
    """Processes may together use the budget less what was used before."""
    shares = [Budget(500, 10).share(number, 8, used=Spending(calls=7)) for number in range(8)]
    assert (sum(share.calls or 0 for share in shares), sum(share.tokens or 0 for share in shares)) == (493, 10)
    assert Budget(calls=3).share(0, 2, used=Spending(calls=9)) == Budget(calls=0)
    assert Budget().share(0, 2) == Budget()


def test_a_spent_budget_refuses_calls_of_tests_alone() -> None:
    """Within a test no call goes beyond the budget; what opens, tidies and closes is not refused."""
    spending = Spending(Budget(calls=2), calls=2)
    spending.admit(1)
    with spending.enforced(), pytest.raises(BudgetSpent, match="the budget of 2 calls is spent"):
        spending.admit(1)
    assert spending.refused == 1


def test_a_batch_of_calls_is_made_whole_or_not_at_all() -> None:
    """Calls that go out together are refused together where the budget holds only some of them."""
    spending = Spending(Budget(calls=5), calls=3)
    with spending.enforced():
        spending.admit(2)
        with pytest.raises(BudgetSpent):
            spending.admit(3)


def test_tokens_are_spent_when_they_are_reached() -> None:
    """The tokens of a call are known afterwards: the call that reaches the limit is the last one."""
    spending = Spending(Budget(tokens=10), tokens=9)
    with spending.enforced():
        spending.admit(1)
        spending.tokens = 12
        with pytest.raises(BudgetSpent, match="10 tokens"):
            spending.admit(1)
