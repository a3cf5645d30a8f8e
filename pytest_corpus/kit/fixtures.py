"""Fixtures and parameters of the conformance tests.

Test modules import the fixtures, so that a user's `conftest.py` cannot replace them.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import pytest

from pytest_corpus.kit.component import Subject
from pytest_corpus.kit.target import Target

SUBJECT = pytest.StashKey[Target]()
"""The component or client library under test, in the stash of a conformance item."""

Own = TypeVar("Own", bound=Subject)
Test = TypeVar("Test", bound=Callable[..., Any])

ONE_IN = 3
"""Every operation except the principal one is tested with only one of this many cases."""


@pytest.fixture
def subject(request: pytest.FixtureRequest) -> Subject:
    """The component under test."""
    return request.node.stash[SUBJECT]  # type: ignore[no-any-return]


def fixture_of(component: type[Own]) -> Callable[..., Own]:
    """Return a fixture with the name of a component; its value is the component under test."""

    @pytest.fixture(name=component.component)
    def tested(request: pytest.FixtureRequest) -> Own:
        found = request.node.stash[SUBJECT]
        assert isinstance(found, component)
        return found

    return tested


def operations_for_case(names: Iterable[str], principal: str, case: int, *, one_in: int = ONE_IN) -> Iterator[str]:
    """Yield the operations that get a case: always the principal one, and every `one_in`-th of the others.

    Args:
        case: the number of the case; it decides which of the others are selected.
    """
    others = 0
    for name in names:
        others += name != principal
        if name == principal or others % one_in == case % one_in:
            yield name


def core(*requirements: str) -> Callable[[Test], Test]:
    """Mark a test that every adapter must pass, and state the requirements that the test decides."""

    def mark(test: Test) -> Test:
        return pytest.mark.core(pytest.mark.requirement(*requirements)(test))  # type: ignore[no-any-return]

    return mark


def rules(table: str = "", **by_name: str) -> pytest.MarkDecorator:
    """Parametrize `requirement`. The table has the name of each case and the requirement that the case decides."""
    named = {**dict(row.split() for row in table.split(",") if row), **by_name}
    cases = [pytest.param(each, marks=pytest.mark.requirement(each), id=name) for name, each in named.items()]
    return pytest.mark.parametrize("requirement", cases)


def deciding(parameter: str, **by_value: str) -> pytest.MarkDecorator:
    """Parametrize a test with the names of `by_value` as values. Each value decides the requirement given for it."""
    cases = [pytest.param(value, marks=pytest.mark.requirement(each)) for value, each in by_value.items()]
    return pytest.mark.parametrize(parameter, cases)
