"""The tests of this version. Their names are computed from the marks in the suites; pytest collects nothing."""

import importlib
import inspect
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from types import MappingProxyType, ModuleType
from typing import Any, NamedTuple

import pytest

from pytest_corpus.spec.requirements import catalogue
from pytest_corpus.suites import modules_of

_PARAMETERS = type(pytest.param())


class _Case(NamedTuple):
    """One case of a parametrization: its addition to the test's name, and its marks."""

    name: str
    marks: tuple[pytest.Mark, ...]


@cache
def tests(component: str, profile: str) -> Mapping[str, str]:
    """Map the name of each test of a component in a complete run to the requirement that the test decides.

    Args:
        profile: the profile of the run; ``stress`` has additional tests.
    """
    left_out = () if profile == "stress" else ("slow",)
    found = {
        f"{component}/{name}.py::{test}": requirement
        for name, module in modules_of(component).items()
        for test, requirements in _module_tests(importlib.import_module(module), left_out)
        for requirement in requirements
        if component in catalogue()[requirement].components
    }
    return MappingProxyType(found)


@cache
def case_numbers(component: str, profile: str) -> Mapping[str, int]:
    """Map the name of each test in reports to its position among the cases of its function, from 0."""
    seen: Counter[str] = Counter()
    found = {}
    for name in tests(component, profile):
        function = name.partition("[")[0]
        found[name] = seen[function]
        seen[function] += 1
    return MappingProxyType(found)


def _module_tests(module: ModuleType, left_out: Sequence[str]) -> Iterator[tuple[str, Sequence[str]]]:
    marks = _marks(module)
    for name, found in vars(module).items():
        if name.startswith("test_") and callable(found):
            yield from _expand_test(name, found, marks, ())
        elif name.startswith("Test") and inspect.isclass(found):
            above = [*(mark for base in found.__mro__ for mark in _marks(base)), *marks]
            for own in dict.fromkeys(each for base in found.__mro__ for each in vars(base)):
                if own.startswith("test_") and callable(getattr(found, own)):
                    yield from _expand_test(f"{name}::{own}", getattr(found, own), above, left_out)


def _expand_test(
    name: str, function: Any, above: Sequence[pytest.Mark], left_out: Sequence[str]
) -> Iterator[tuple[str, Sequence[str]]]:
    """For each combination of parameters, yield the test's name and the requirements of its closest mark."""
    own = _marks(function)
    parametrized = [mark for mark in (*own, *above) if mark.name == "parametrize"]
    for cases in product(*map(_cases, parametrized)):
        marks = [*own, *(mark for case in cases for mark in case.marks), *above]
        if not any(mark.name in left_out for mark in marks):
            (requirements, *_) = (mark.args for mark in marks if mark.name == "requirement")
            yield name + (f"[{'-'.join(case.name for case in cases)}]" if cases else ""), requirements


def _marks(found: Any) -> list[pytest.Mark]:
    """Return the marks of a module, a class without its bases, a function or a case."""
    given = vars(found).get("pytestmark", [])
    given = given if isinstance(given, list) else [given]
    return [_unwrap_mark(each) for each in given]


def _unwrap_mark(given: pytest.MarkDecorator | pytest.Mark) -> pytest.Mark:
    return given.mark if isinstance(given, pytest.MarkDecorator) else given


def _cases(mark: pytest.Mark) -> list[_Case]:
    names, values = mark.args[:2]
    names = [part.strip() for part in names.split(",")] if isinstance(names, str) else list(names)
    ids = mark.kwargs.get("ids")
    namer = ids if callable(ids) else None
    given = list(ids) if ids is not None and namer is None else [None] * len(values)
    shown, marks = [], []
    for number, (value, said) in enumerate(zip(values, given, strict=True)):
        case = value if isinstance(value, _PARAMETERS) else pytest.param(*(value if len(names) > 1 else [value]))
        name = (
            case.id
            or said
            or "-".join(
                _parameter_text(each, namer, f"{of}{number}") for of, each in zip(names, case.values, strict=True)
            )
        )
        shown.append(str(name).encode("unicode_escape").decode("ascii"))
        marks.append(tuple(_unwrap_mark(each) for each in case.marks))
    return [_Case(*case) for case in zip(_number_duplicates(shown), marks, strict=True)]


def _parameter_text(value: Any, namer: Any, otherwise: str) -> str:
    """Return the text that pytest uses for a value in the name of a test."""
    said = namer(value) if namer else None
    value = value if said is None else said
    if value is None or isinstance(value, str | bool | int | float):
        return str(value)
    return str(getattr(value, "__name__", otherwise))


def _number_duplicates(names: list[str]) -> Iterator[str]:
    """Return names in which repeated names get a number, as in pytest."""
    number = dict.fromkeys(names, 0)
    for name in names:
        if names.count(name) == 1:
            yield name
            continue
        yield f"{name}{'_' if name[-1:].isdigit() else ''}{number[name]}"
        number[name] += 1
