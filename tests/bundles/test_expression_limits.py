"""Hostile sources made by machine: whatever they are, the limits of the interpreter hold."""

import time

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_expressions import NAMES, REFUSALS

from pytest_corpus.bundles.evaluation.expression import Expression, Interpreter
from pytest_corpus.bundles.evaluation.syntax import ExpressionError
from pytest_corpus.bundles.evaluation.values import MOST_SIZE, MOST_STEPS, StepBudget, size_of

ATOMS = ("x", "y", "raw_output", "output", "'a' * 900000", "range(99999)", "10 ** 9", "2 ** 4000", "-1", "None", "'%s'")
SHAPES = (
    "list(map(lambda x: {0}, {1}))",
    "list(filter(lambda x: {0}, {1}))",
    "list(map(lambda x, y: {0}, {1}, {2}))",
    "next(map(str, {0}), {1})",
    "next(x for x in {0} if {1})",
    "sorted({0}, key=lambda x: {1})",
    "max({0}, key=lambda y: {1}, default={2})",
    "sum(map(lambda x: {0}, {1}))",
    "[{0} for y in {1} for x in {2}]",
    "f'{{{0}}}{{{1}!r:>{{{2}}}}}'",
    "f'{{{0}:{{{1}}}d}}'",
    "'%(a)s%(a)s' % dict(a={0})",
    "('%s' * {0}) % ({1},)",
    "'%{0}d' % {1}",
    "{0} % {1}",
    "{0} * {1}",
    "({0}).join(map(str, {1}))",
    "({0} if {1} else {2})",
    "[{0}, {1}]",
)


def _grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.builds(str.format, st.sampled_from(SHAPES), inner, inner, inner)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.recursive(st.sampled_from(ATOMS), _grown, max_leaves=12))
def test_limits_hold(source: str) -> None:
    """An expression ends in a value of a legal size or a refusal, within its steps and some seconds."""
    budget = StepBudget()
    expression = Expression(f"[{source} for x in [7] for y in ['b']]")
    started = time.process_time()
    try:
        found = Interpreter(budget).value(expression.tree, NAMES)
    except (*REFUSALS, RecursionError):
        found = None
    assert size_of(found) <= MOST_SIZE + 1
    assert budget.steps <= MOST_STEPS * 2
    assert time.process_time() - started < 7


def test_most_of_them_are_expressions() -> None:
    """The shapes are offered syntax, so that the limits are what is tested."""
    for shape in SHAPES:
        source = shape.format("raw_output", "output", "[1]").replace("'%raw_outputd'", "'%5d'")
        try:
            _ = Expression(source).tree
        except ExpressionError as error:
            raise AssertionError(source) from error
