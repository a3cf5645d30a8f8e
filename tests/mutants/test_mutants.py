"""Every requirement has a mutant that its tests turn red, and hardly anything else with it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest

from pytest_corpus.spec.requirements import applicable

from . import REFERENCE, Mutant, mutants
from .runner import Report, Runner

MOST_OTHERS = 3
"""How many other requirements a mutant may violate: some mistakes break more than one sentence."""

MUTANTS = mutants()
CONTROLS = sorted({mutant.control for mutant in MUTANTS} - {REFERENCE})


@pytest.fixture(scope="session")
def runner() -> Iterator[Runner]:
    """A process in which the suite runs."""
    with Runner() as runner:
        yield runner


@cache
def reference_report(runner: Runner) -> Report:
    """What the suite says of the reference adapter."""
    return runner.run(REFERENCE)


def test_the_reference_violates_nothing(runner: Runner) -> None:
    """The unmutated adapter is conformant, and all of the suite ran."""
    report = reference_report(runner)
    assert (report.violated, report.errors) == ([], []), str(report)
    assert (report.verdict, report.complete) == ("conformant", True)


def test_every_requirement_has_a_test(runner: Runner) -> None:
    """The suite decides every sentence of the catalogue that speaks of the component."""
    tests = reference_report(runner).tests
    assert [entry.id for entry in applicable("llm") if not tests[entry.id]] == []


def test_every_requirement_has_a_mutant() -> None:
    """A sentence without a mutant might have a test that cannot fail."""
    caught = {mutant.requirement for mutant in MUTANTS}
    assert [entry.id for entry in applicable("llm") if entry.id not in caught] == []


@pytest.mark.parametrize("control", CONTROLS)
def test_a_control_violates_nothing(runner: Runner, control: str) -> None:
    """A legal variant is conformant until it is mutated."""
    report = runner.run(control)
    assert (report.violated, report.errors) == ([], []), str(report)
    assert (report.verdict, report.complete) == ("conformant", True)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_mutant(runner: Runner, mutant: Mutant) -> None:
    """A mutant violates the requirement it was made for, and at most three others."""
    report = runner.run(mutant.factory)
    said = f"{mutant.name} ({mutant.description}) should violate {mutant.requirement}; {report}"
    assert mutant.requirement in report.violated, said
    others = [requirement for requirement in report.violated if requirement != mutant.requirement]
    assert len(others) <= MOST_OTHERS, f"{said}\n{len(others)} other requirements are violated"
    assert report.errors == [], f"{said}\nthe suite itself fails"
    assert report.complete, f"{said}\nthe run is not complete"
