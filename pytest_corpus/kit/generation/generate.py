"""Generated inputs, where a rule speaks of all inputs."""

from __future__ import annotations

import atexit
import math
import shutil
import sys
import tempfile
import unittest
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from pytest_corpus.adapter import inputs
from pytest_corpus.kit.outcomes import Undecided, Violation
from pytest_corpus.kit.requests import Calls

if TYPE_CHECKING:
    import hypothesis
    from hypothesis.strategies import SearchStrategy

T = TypeVar("T")

SHRINK_CALLS, SHRINK_S = 30, 10.0
"""The calls, and the seconds, in which a failing example is made smaller."""


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
    """Keep hypothesis's notes out of the user's folder, and the constants of the modules there out of the inputs.

    Reading them takes seconds, and the inputs would depend on more than the seed. Users' own tests are not affected.
    """
    from hypothesis import configuration
    from hypothesis.internal.conjecture import providers

    usual = getattr(configuration, "__hypothesis_home_directory", None)
    constants = getattr(providers, "_get_local_constants", None)  # since 6.131
    configuration.set_hypothesis_home_dir(_own_folder())
    if constants is not None:
        providers._get_local_constants = type(providers._local_constants)
    try:
        yield
    finally:
        configuration.set_hypothesis_home_dir(usual)
        if constants is not None:
            providers._get_local_constants = constants


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


class Over(unittest.SkipTest):
    """The time or the calls are used up. Hypothesis passes a skip on at once, without shrinking or repeating it."""


def settings(examples: int, **more: Any) -> hypothesis.settings:
    """The settings of a run of hypothesis that keeps nothing and reports one failure."""
    import hypothesis

    return hypothesis.settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=False,
        phases=[hypothesis.Phase.generate, hypothesis.Phase.shrink],
        report_multiple_bugs=False,
        suppress_health_check=list(hypothesis.HealthCheck),
        **more,
    )


def for_all(strategy: SearchStrategy[T], check: Callable[[T], None], calls: Calls, *, examples: int = 25) -> None:
    """Run `check` on generated values, the same ones for the same seed, and shrink a failing one within a budget.

    Raises:
        Violation: that of the smallest failing value that was found.
        Undecided: a check could not decide.
    """
    with imported_as_they_are():
        import hypothesis
        import hypothesis.errors

    meter = calls.client.meter
    begun, last_call, until = meter.total_calls, math.inf, math.inf
    outcomes: list[Undecided | Violation] = []

    def body(value: T) -> None:
        nonlocal last_call, until
        if meter.total_calls >= last_call or inputs.monotonic() > until:
            raise Over("the budget is used up")
        try:
            check(value)
        except (Undecided, Violation) as outcome:
            outcomes.append(outcome)
            if isinstance(outcome, Undecided):
                raise Over("a check could not decide") from None
            if math.isinf(until):
                last_call, until = meter.total_calls + SHRINK_CALLS, inputs.monotonic() + SHRINK_S
            outcome.seen_in(outcome.exchange or calls.client.exchanges[-1])
            outcome.calls = meter.total_calls - begun
            raise

    test = settings(examples)(hypothesis.seed(calls.settings.seed)(hypothesis.given(strategy)(body)))
    try:
        with nothing_left_behind():
            test()
    except (Violation, Over, hypothesis.errors.HypothesisException):
        failing = [outcome for outcome in outcomes if isinstance(outcome, Violation)]
        if not outcomes:
            raise
        raise (failing or outcomes)[-1] from None
