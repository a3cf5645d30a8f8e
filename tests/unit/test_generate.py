"""Random values: the same for a seed, small ones first; the first outcome ends them."""

from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_corpus.kit.generation import generate
from pytest_corpus.kit.outcomes import NotAssessed, Undecided, Violation


def component(seed: int = 0) -> Any:
    """A component whose settings hold a seed."""
    return SimpleNamespace(settings=SimpleNamespace(seed=seed))


def sizes(chance: Random, size: float) -> tuple[float, int]:
    """The size, and a number that depends on it."""
    return size, generate.random_length(chance, size, 40)


def drawn(seed: int) -> list[tuple[float, int]]:
    """The values of a run."""
    values: list[tuple[float, int]] = []
    generate.for_all(sizes, values.append, component(seed), examples=8)
    return values


def test_values_depend_on_the_seed_alone() -> None:
    """One seed gives the same values each time, another one others."""
    assert drawn(7) == drawn(7) != drawn(8)


def test_small_values_come_first() -> None:
    """The sizes grow evenly to the greatest, and a length is within its size."""
    assert [size for size, _ in drawn(3)] == [number / 8 for number in range(1, 9)]
    assert all(1 <= length <= max(1, round(size * 40)) for size, length in drawn(3))


@pytest.mark.parametrize("outcome", [NotAssessed("no provider"), Violation("less")])
def test_an_outcome_ends_the_run(outcome: Undecided | Violation) -> None:
    """An exception of the first value is raised at once."""
    values: list[object] = []

    def check(value: object) -> None:
        values.append(value)
        raise outcome

    with pytest.raises(type(outcome)):
        generate.for_all(sizes, check, component(), examples=8)
    assert len(values) == 1
