"""Invariants: attacks are refused within their budget with nothing executed, and ordinary ones are what Python says."""

import resource
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tables import read_rows

from pytest_corpus.bundles.evaluation.expression import Expression, Interpreter
from pytest_corpus.bundles.evaluation.syntax import ExpressionError
from pytest_corpus.bundles.evaluation.values import BudgetError, OperationError, StepBudget

HERE = Path(__file__).parent
REFUSALS = (ExpressionError, OperationError, BudgetError)

NAMES: dict[str, Any] = {
    "output": {"answer": "Paris", "confidence": 0.9, "items": [3, 1, 2], "nested": {"a": [1, {"b": None}]}},
    "raw_output": '{"answer": "Paris"}',
    "input": {"question": "Capital?"},
    "expected": {"answer": "Paris"},
    "metadata": {"tags": ["geo"]},
}

ATTACKS = (
    *read_rows(HERE / "hostile_expressions.txt"),
    "(" * 500 + "1" + ")" * 500,
    "-" * 3000 + "1",
    "not " * 1000 + "1",
    "[" * 200 + "]" * 200,
    "1" * 5000,
    "+".join(["1"] * 3000),
)
"""Expressions that reach for what they may not have, or use up everything."""


def python(source: str) -> Any:
    return eval(source, dict(NAMES))


def attacked(source: str) -> str:
    try:
        Expression(source).value(NAMES)
    except REFUSALS as refusal:
        return str(refusal)
    return ""


HARMFUL = ("os.system", "os.exec", "os.posix_spawn", "subprocess.Popen", "open", "socket.connect", "builtins.input")
"""Audit events of CPython: what an attack would cause if any of it were executed."""


def test_attacks_are_refused() -> None:
    """More than 100 attacks end in a clear error, each within seconds, in little memory; nothing is executed."""
    assert len(set(ATTACKS)) >= 100
    attacked("matches('a', 'a')")  # imports what it needs
    seen: list[str] = []
    watching = True
    sys.addaudithook(lambda event, _: seen.append(event) if watching and event in HARMFUL else None)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for source in ATTACKS:
        started = time.process_time()
        said = attacked(source)
        assert said, source[:80]
        assert "\n" not in said
        assert time.process_time() - started < 7, source[:80]
    watching = False
    assert seen == []
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 * 1024


@pytest.mark.parametrize("source", read_rows(HERE / "ordinary_expressions.txt"))
def test_ordinary_expressions(source: str) -> None:
    """An allowed expression has the value that Python gives, of the same type."""
    found = Expression(source).value(NAMES)
    wanted = python(source)
    assert (type(found), found) == (type(wanted), wanted)


def test_comprehensions_see_the_names_around() -> None:
    """A comprehension reads `output` and names of comprehensions around it."""
    assert Expression("[x for x in range(2) if output and [y for y in range(x) if raw_output]]").value(NAMES) == [1]


@pytest.mark.parametrize("source", ["True or unknown", "False and unknown.x()", "1 if True else eval('1')"])
def test_what_would_not_run_is_looked_at_too(source: str) -> None:
    """A branch that is never taken has to be sound as well."""
    with pytest.raises(ExpressionError):
        _ = Expression(source).tree


def test_suggestion() -> None:
    """An unknown name is answered with the nearest one."""
    with pytest.raises(ExpressionError, match=r"'ouput' is not known; did you mean 'output'\?"):
        _ = Expression("ouput").tree


def test_truth_decides() -> None:
    """A value that is not a boolean counts by its truth, with a note (R81)."""
    found = Expression("output.get('items')").judge(NAMES)
    assert found.holds
    assert "a list, which counts as True" in found.note


def test_a_failing_invariant_names_its_parts() -> None:
    """An invariant that does not hold shows the values of its parts."""
    found = Expression("len(output['items']) > 5 and output['confidence'] > 2").judge(NAMES)
    assert not found.holds
    assert dict(found.parts) == {
        "output['items']": [3, 1, 2],
        "len(output['items'])": 3,
        "len(output['items']) > 5": False,
    }


def test_an_error_at_run_time_fails_the_invariant() -> None:
    """A missing key is not a collection error but fails the case, with Python's own words."""
    found = Expression("output['nothing'] > 1").judge(NAMES)
    assert not found.holds
    assert found.error == "KeyError: 'nothing'"


def test_steps_are_counted() -> None:
    """100,000 steps and no more."""
    budget = StepBudget()
    with pytest.raises(BudgetError, match="100,000 steps"):
        Interpreter(budget).value(Expression("[0 for x in range(100000)]").tree, NAMES)
