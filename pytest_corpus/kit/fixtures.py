"""Fixtures and parameters of the conformance tests.

Test modules import fixtures by name, so that a fixture of a user's `conftest.py` cannot take their place.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import pytest

from pytest_corpus.kit.component import Subject
from pytest_corpus.kit.target import Target

SUBJECT = pytest.StashKey[Target]()
"""On a conformance item: the component or client library under test."""

Own = TypeVar("Own", bound=Subject)
Test = TypeVar("Test", bound=Callable[..., Any])

ONE_IN = 3
"""An operation other than the principal one gets every third case."""


@pytest.fixture
def subject(request: pytest.FixtureRequest) -> Subject:
    """The component under test."""
    return request.node.stash[SUBJECT]  # type: ignore[no-any-return]


def fixture_of(component: type[Own]) -> Callable[..., Own]:
    """The fixture with the name of a component: the component under test."""

    @pytest.fixture(name=component.component)
    def tested(request: pytest.FixtureRequest) -> Own:
        found = request.node.stash[SUBJECT]
        assert isinstance(found, component)
        return found

    return tested


def take_turns(names: Iterable[str], principal: str, case: int, *, one_in: int = ONE_IN) -> Iterator[str]:
    """The operations that get a case, by its number: the principal one gets each, the others take turns."""
    others = 0
    for name in names:
        others += name != principal
        if name == principal or others % one_in == case % one_in:
            yield name


def core(*requirements: str) -> Callable[[Test], Test]:
    """Mark a test that every adapter must pass, with the requirements that it decides."""

    def marked(test: Test) -> Test:
        return pytest.mark.core(pytest.mark.requirement(*requirements)(test))  # type: ignore[no-any-return]

    return marked


def rules(table: str = "", **by_name: str) -> pytest.MarkDecorator:
    """A parameter `requirement`: after the name of each case the id of the requirement that it decides."""
    named = {**dict(row.split() for row in table.split(",") if row), **by_name}
    cases = [pytest.param(each, marks=pytest.mark.requirement(each), id=name) for name, each in named.items()]
    return pytest.mark.parametrize("requirement", cases)


def deciding(parameter: str, **by_value: str) -> pytest.MarkDecorator:
    """A parameter of these values: each case decides the requirement of its value."""
    cases = [pytest.param(value, marks=pytest.mark.requirement(each)) for value, each in by_value.items()]
    return pytest.mark.parametrize(parameter, cases)
