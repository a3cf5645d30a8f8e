"""Parts of mutants of several chapters."""

from collections.abc import Sequence


def product(left: Sequence[float], right: Sequence[float]) -> float:
    """The sum of the products of the components."""
    return sum(a * b for a, b in zip(left, right, strict=True))
