"""A verdict does not depend on the order of the tests (`tools/orders.py`, `make orders`)."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))

import orders


@pytest.mark.parametrize(("name", "numbers"), [
    ("reference-llm", (8,)),
    pytest.param("skeleton-llm", (6,), marks=pytest.mark.slow),
    pytest.param("reference-embedding", (4,), marks=pytest.mark.slow),
    pytest.param("reference-vector", (4,), marks=pytest.mark.slow),
    pytest.param("reference-graph", (4,), marks=pytest.mark.slow),
])  # fmt: skip
def test_the_same_in_any_order(name: str, numbers: tuple[int, ...], tmp_path: Path) -> None:
    """Every requirement has the same status in a random order as in the usual one."""
    differing = {number: lines for number, lines in orders.run_orders(name, numbers, tmp_path, jobs=1) if lines}
    assert not differing


def test_a_difference_is_told() -> None:
    """A requirement with another status is named, with what was found."""
    usual = orders.Result("conformant", {"llm LLM-A-1": "satisfied"}, {})
    other = orders.Result("conformant", {"llm LLM-A-1": "violated"}, {"llm LLM-A-1": "an error"})
    assert list(other.differences(usual)) == ["llm LLM-A-1 is violated, in the usual order satisfied: an error"]
    assert not list(usual.differences(usual))
