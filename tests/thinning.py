"""Marks most cases of a large parametrized test as slow; `make test` runs the others, and runs without ``-m`` all."""

from collections.abc import Iterable

import pytest
from _pytest.mark import ParameterSet


def thin_out(cases: Iterable[object], one_in: int, start: int = 0) -> list[ParameterSet]:
    """Return all cases as parameters; every `one_in`-th one, from `start` on, is not marked as slow."""
    return thin_out_rows([(case,) for case in cases], one_in, start)


def thin_out_rows(rows: Iterable[tuple[object, ...]], one_in: int, start: int = 0) -> list[ParameterSet]:
    """Like `thin_out`, for cases with several parameters; each is named after its first parameter."""
    return [
        pytest.param(*row, id=str(row[0]), marks=pytest.mark.slow if (at - start) % one_in else ())
        for at, row in enumerate(rows)
    ]
