"""The way of an exchange through the package is short (`tools/exchange_path.py`); it may only become shorter."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))

import exchange_path

MOST_FRAMES, MOST_MODULES = 12, 18


@pytest.mark.parametrize("component", ["llm", "vector", "embedding", "graph"])
def test_an_exchange_takes_a_short_way(component: str) -> None:
    """Few frames stand before the loop, and few modules judge an answer."""
    sending, audit = exchange_path.followed(component)
    assert 0 < sending.depth <= MOST_FRAMES
    assert 0 < len(audit.modules) <= MOST_MODULES
