"""Random inputs for rules that apply to all inputs."""

from collections.abc import Callable
from random import Random
from typing import TypeVar

from pytest_corpus.kit.requests import Calls

T = TypeVar("T")


def for_all(draw: Callable[[Random, float], T], check: Callable[[T], None], calls: Calls, *, examples: int) -> None:
    """Run `check` on random values, which the seed determines. The values grow, so that a small value fails first.

    Args:
        draw: makes a value of a size above 0, and at most 1.
        check: checks a value, and raises the outcome of the test if it fails or cannot decide.
        calls: the component, whose settings hold the seed.
        examples: the number of values.
    """
    chance = Random(calls.settings.seed)
    for number in range(1, examples + 1):
        check(draw(chance, number / examples))


def random_length(chance: Random, size: float, most: int) -> int:
    """Return a random number from 1 to `most`, small for a small size."""
    return chance.randint(1, max(1, round(size * most)))
