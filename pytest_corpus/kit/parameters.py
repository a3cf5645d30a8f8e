"""Parameters of tests that decide a requirement each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest

ONE_IN = 3
"""Of so many cases an operation beside the principal one gets one."""


def in_turn(names: Iterable[str], principal: str, case: int) -> Iterator[str]:
    """The operations that get a case, by its number: the principal one gets each, the others take turns."""
    others = 0
    for name in names:
        if name == principal:
            yield name
        else:
            others += 1
            if others % ONE_IN == case % ONE_IN:
                yield name


def rules(**by_name: str) -> pytest.MarkDecorator:
    """A parameter `requirement`: for each name the id of the requirement that this case decides."""
    cases = [
        pytest.param(requirement, marks=pytest.mark.requirement(requirement), id=name)
        for name, requirement in by_name.items()
    ]
    return pytest.mark.parametrize("requirement", cases)
