"""Generated inputs, where a rule speaks of all inputs."""

from __future__ import annotations

import atexit
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, TypeVar

from pytest_corpus.kit.outcomes import Undecided, Violation

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

T = TypeVar("T")

SLOW_CALL_S = 0.005
"""From here on a failing example is not shrunk: it would cost hundreds of calls."""


@contextmanager
def imported_as_they_are() -> Iterator[None]:
    """Import without pytest's assertion rewriting, which takes hypothesis a second where no cache is written."""
    finders = list(sys.meta_path)
    sys.meta_path[:] = [finder for finder in finders if type(finder).__name__ != "AssertionRewritingHook"]
    try:
        yield
    finally:
        sys.meta_path[:] = finders


@contextmanager
def nothing_left_behind() -> Iterator[None]:
    """Keep what hypothesis notes for itself out of the user's folder; his own tests use it as before."""
    from hypothesis import configuration

    usual = getattr(configuration, "__hypothesis_home_directory", None)
    configuration.set_hypothesis_home_dir(_own_folder())
    try:
        yield
    finally:
        configuration.set_hypothesis_home_dir(usual)


@cache
def _own_folder() -> str:
    """A folder of this process, which is gone after it."""
    folder = tempfile.mkdtemp(prefix="pytest-corpus-hypothesis-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def strategies() -> ModuleType:
    """The module `hypothesis.strategies`, imported when it is first needed."""
    with imported_as_they_are():
        import hypothesis.strategies

    return hypothesis.strategies


def for_all(
    strategy: SearchStrategy[T], check: Callable[[T], None], *, seed: int, examples: int = 25, call_s: float = 0.0
) -> None:
    """Run `check` on generated values, the same ones for the same seed.

    Args:
        call_s: how long one check takes, in seconds; slow ones are not shrunk.

    Raises:
        whatever `check` raises, for the smallest failing value that was found.
    """
    with imported_as_they_are():
        import hypothesis
        import hypothesis.errors

    phases = [hypothesis.Phase.generate]
    if call_s < SLOW_CALL_S:
        phases.append(hypothesis.Phase.shrink)
    undecided: list[Undecided] = []
    violations: list[Violation] = []

    def body(value: T) -> None:
        if undecided:
            return
        try:
            check(value)
        except Undecided as outcome:
            undecided.append(outcome)
        except Violation as violation:
            violations.append(violation)
            raise

    configured = hypothesis.settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=False,
        phases=phases,
        report_multiple_bugs=False,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    test = configured(hypothesis.seed(seed)(hypothesis.given(strategy)(body)))
    try:
        with nothing_left_behind():
            test()
    except hypothesis.errors.HypothesisException as error:
        raise (violations[-1] if violations else error) from None
    if undecided:
        raise undecided[0]
