"""Of many cases that differ little `make test` runs some; without ``-m 'not slow'`` all of them run."""

from collections.abc import Iterable

import pytest
from _pytest.mark import ParameterSet


def thinned(cases: Iterable[object], one_in: int, start: int = 0) -> list[ParameterSet]:
    """All cases, each a single parameter, of which every `one_in`-th, from `start` on, is not marked slow."""
    return thinned_rows([(case,) for case in cases], one_in, start)


def thinned_rows(rows: Iterable[tuple[object, ...]], one_in: int, start: int = 0) -> list[ParameterSet]:
    """Likewise cases of several parameters; each is named after its first."""
    return [
        pytest.param(*row, id=str(row[0]), marks=pytest.mark.slow if (at - start) % one_in else ())
        for at, row in enumerate(rows)
    ]
