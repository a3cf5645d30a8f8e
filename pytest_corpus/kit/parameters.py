"""Parameters of tests that decide a requirement each."""

from __future__ import annotations

import pytest


def rules(**by_name: str) -> pytest.MarkDecorator:
    """A parameter `requirement`: for each name the id of the requirement that this case decides."""
    cases = [
        pytest.param(requirement, marks=pytest.mark.requirement(requirement), id=name)
        for name, requirement in by_name.items()
    ]
    return pytest.mark.parametrize("requirement", cases)
