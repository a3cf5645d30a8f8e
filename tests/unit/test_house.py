"""The house: every module has a place, imports form no circle, and nothing is too large to be held in mind.

What is too large today stands in a list with its reason; a list may only become shorter.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from cli_runs import process

import pytest_corpus

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "pytest_corpus"

MOST_LINES = 400
MOST_LINES_OF_TESTS = 470
MOST_METHODS = 15
LONG: dict[str, str] = {}  # modules of more lines, and why

MANY: dict[str, str] = {
    "kit.component:Subject": "what every test says to a component: calls, and what delegates to its parts"
}
"""Classes of more public methods, and why."""


@cache
def modules() -> dict[str, Path]:
    """Every module of the package by its name below it; the package itself is ``""``."""
    found = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def tree_of(name: str) -> ast.Module:
    """The syntax tree of a module."""
    return ast.parse(modules()[name].read_text("utf-8"))


def imports_of(name: str) -> set[str]:
    """The modules of the package that a module imports anywhere: in functions and for type checkers too."""
    said: set[str] = set()
    for node in ast.walk(tree_of(name)):
        if isinstance(node, ast.Import):
            said |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            whole = {f"{node.module}.{alias.name}" for alias in node.names}
            below = {each for each in whole if each.removeprefix("pytest_corpus.") in modules()}
            said |= below | ({node.module} if below != whole else set())
    names = {each.removeprefix("pytest_corpus").removeprefix(".") for each in said if each.startswith("pytest_corpus")}
    return {each for each in names if each in modules() and each != name}


def classes() -> Iterator[tuple[str, ast.ClassDef]]:
    """Every class but those of test modules, as ``module:class``."""
    for name in modules():
        if not is_test(name):
            for node in tree_of(name).body:
                if isinstance(node, ast.ClassDef):
                    yield f"{name}:{node.name}", node


def is_test(name: str) -> bool:
    """Return if a module holds tests: a chapter, or what chapters share."""
    return name.rpartition(".")[2].startswith("test_") or name.startswith("suites.shared.claims.")


def public_methods(node: ast.ClassDef) -> list[str]:
    """The methods of a class that others call; a test is none."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return [each.name for each in node.body if isinstance(each, kinds) and not each.name.startswith(("_", "test_"))]


def test_imports_form_no_circle() -> None:
    """No module needs itself, not even for a type: what two need from each other is a third."""
    TopologicalSorter({name: imports_of(name) for name in modules()}).prepare()


def test_every_module_stands_in_a_contract() -> None:
    """The layers that import-linter checks name all modules of the package, and nothing else."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    for contract in settings["tool"]["importlinter"]["contracts"]:
        for container in contract.get("containers", ()):
            inside = container.removeprefix("pytest_corpus").removeprefix(".")
            below = {name for name in modules() if name and name.rpartition(".")[0] == inside}
            layers = {each.strip() for layer in contract["layers"] for each in layer.split("|")}
            assert {f"{inside}.{layer}".removeprefix(".") for layer in layers} == below, container


def test_no_module_is_long() -> None:
    """A module is read in one sitting."""
    long = {name for name, path in modules().items() if not is_test(name) and lines_of(path) > MOST_LINES}
    assert long == set(LONG)


def test_no_module_of_tests_is_much_longer() -> None:
    """One chapter a module, in the suite and in the project's own tests."""
    own = {str(path.relative_to(ROOT)): path for path in (ROOT / "tests").rglob("*.py")}
    suite = {name: path for name, path in modules().items() if is_test(name)}
    assert {name for name, path in (own | suite).items() if lines_of(path) > MOST_LINES_OF_TESTS} == set()


def test_no_class_has_many_methods() -> None:
    """A class is held in mind."""
    assert {name for name, node in classes() if len(public_methods(node)) > MOST_METHODS} == set(MANY)


def lines_of(path: Path) -> int:
    """The number of lines of a file."""
    return len(path.read_text("utf-8").splitlines())


API = Path(__file__).parents[1] / "typing" / "api.py"


def test_every_name_is_there_and_type_checked() -> None:
    """`tests/typing/api.py` uses every public name."""
    tree = ast.parse(API.read_text("utf-8"))
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    used |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert set(pytest_corpus.__all__) <= used
    assert all(getattr(pytest_corpus, name) for name in pytest_corpus.__all__)


def test_an_unknown_name() -> None:
    """A name that is not public is an `AttributeError`."""
    with pytest.raises(AttributeError, match="module 'pytest_corpus' has no attribute 'nothing'"):
        _ = pytest_corpus.nothing


def test_importing_the_package_imports_nothing_else() -> None:
    """The names cost nothing until they are used."""
    code = "import pytest_corpus, sys; print([name for name in sys.modules if name.startswith('pytest_corpus.')])"
    done = process(sys.executable, "-c", code)
    assert done.stdout.strip() == "[]"
