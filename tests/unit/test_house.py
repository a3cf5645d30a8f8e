"""The house: every module has a place, imports form no circle, and nothing is too large to be held in mind.

What is too large today stands in a list with its reason; a list may only become shorter.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from cli_runs import run_process

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
    """True if a module holds tests: a chapter, or what chapters share."""
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
    [contract] = [each for each in settings["tool"]["importlinter"]["contracts"] if each.get("exhaustive")]
    below = {name for name in modules() if name and "." not in name}
    assert {each.strip() for layer in contract["layers"] for each in layer.split("|")} == below


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


MOST_INHERITED = 25
"""The public names that a class inherits within the package: its parts are attributes, not ancestors."""

INHERITING: dict[str, int] = {
    "reference.graph.adapter:ReferenceGraph": 111,
    "reference.vector.adapter:ReferenceVector": 111,
    "reference.graph.batches:Batches": 87,
    "reference.embedding.adapter:ReferenceEmbedding": 84,
    "reference.llm.adapter:ReferenceLLM": 77,
    "suites.embedding.support.component:Embedding": 73,
    "suites.llm.support.component:LLM": 70,
    "reference.vector.search:Search": 67,
    "suites.embedding.support.requests:EmbeddingCalls": 60,
    "suites.llm.support.capabilities:LLMCapabilities": 57,
    "suites.graph.support.component:Graph": 53,
    "suites.vector.support.component:Vector": 53,
    "suites.llm.support.capabilities:ContextWindows": 51,
    "suites.embedding.support.texts:Texts": 51,
    "reference.vector.namespaces:Namespaces": 51,
    "suites.vector.support.capabilities:VectorCalls": 39,
    "suites.graph.support.capabilities:GraphCapabilities": 39,
    "reference.graph.writes:GraphWrites": 37,
    "reference.vector.arguments:VectorArguments": 35,
    "suites.graph.support.sandbox:GraphSandbox": 32,
    "reference.foundation:ReferenceAdapter": 29,
    "reference.llm.arguments:LLMArguments": 28,
}
"""Classes that inherit more, and how many."""


def inherited_names(made: type) -> set[str]:
    """The public names of a class's ancestors in the package."""
    own = [each for each in made.__mro__[1:] if each.__module__.startswith("pytest_corpus.")]
    return {name for each in own for name in (*vars(each), *inspect.get_annotations(each)) if not name.startswith("_")}


def test_no_class_inherits_many_names() -> None:
    """The origin of a name is found at once; a class that inherits too many today may only inherit fewer."""
    found: dict[str, int] = {}
    for name in filter(None, modules()):
        if not is_test(name) and any(isinstance(node, ast.ClassDef) for node in tree_of(name).body):
            for made in vars(importlib.import_module(f"pytest_corpus.{name}")).values():
                if isinstance(made, type) and made.__module__ == f"pytest_corpus.{name}":
                    found[f"{name}:{made.__name__}"] = len(inherited_names(made))
    assert {name: many for name, many in found.items() if many > MOST_INHERITED} == INHERITING


OTHERS = ("_pytest", "hypothesis.internal", "ctypes")
"""Modules that are private to others, or that reach into the interpreter."""

TRICKS = {"meta_path", "set_threshold", "freeze", "sched_setaffinity"}
"""Names of `sys`, `gc` and `os` that change the user's process."""

REPLACED = {"_exit", "__class__"}
"""Names that are never assigned to on an object of others."""

PRIVATE: dict[str, str] = {
    "_replace": "documented of every named tuple",
    "_exit": "documented of `os`: called, never replaced",
    "_asyncgens": "asyncio names its open generators nowhere else; `getattr` with a default",
}
"""Private names of others that are used, and why."""


def reach_of(node: ast.AST, own: set[str]) -> Iterator[str]:
    """The private names of others, and the tricks, in a part of a module; `own` are the names that modules define."""
    match node:
        case ast.Import(names=names):
            yield from (each.name for each in names if f"{each.name}.".startswith(tuple(f"{one}." for one in OTHERS)))
        case ast.ImportFrom(module=str(module), names=names) if not module.startswith("pytest_corpus"):
            if f"{module}.".startswith(tuple(f"{one}." for one in OTHERS)):
                yield module
            yield from (each.name for each in names if is_private(each.name, set()))
        case ast.Attribute(attr=name, ctx=context):
            stored = not isinstance(context, ast.Load) and name in REPLACED
            if is_private(name, own) or ((stored or name in TRICKS) and is_other(node.value)):
                yield ast.unparse(node)
        case ast.Call(
            func=ast.Name(id="getattr" | "setattr" | "delattr" as does), args=[_, ast.Constant(str(name)), *_]
        ):
            if is_private(name, own) or (does != "getattr" and name in REPLACED):
                yield name
        case ast.keyword(arg=str(name)) if is_private(name, own):
            yield f"{name}="


def is_other(value: ast.expr) -> bool:
    """True unless an attribute is that of the object itself."""
    return not (isinstance(value, ast.Name) and value.id in ("self", "cls"))


def is_private(name: str, own: set[str]) -> bool:
    """True for a private name that no module of the package defines."""
    return name.startswith("_") and not name.startswith("__") and name not in own | PRIVATE.keys()


def names_defined(tree: ast.Module) -> Iterator[str]:
    """The names of functions, parameters, variables and attributes that a module defines."""
    for node in ast.walk(tree):
        match node:
            case (
                ast.FunctionDef(name=name)
                | ast.AsyncFunctionDef(name=name)
                | ast.ClassDef(name=name)
                | ast.arg(arg=name)
            ):
                yield name
            case ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name, ctx=ast.Store()):
                yield name


@cache
def own_names() -> set[str]:
    """The names that the modules of the package define."""
    return {name for module in modules() for name in names_defined(tree_of(module))}


def test_no_module_reaches_into_others() -> None:
    """No private name of pytest, xdist, hypothesis or execnet is used, and nothing changes the user's process."""
    found = {
        name: {each for node in ast.walk(tree_of(name)) for each in reach_of(node, own_names())} for name in modules()
    }
    assert {name: each for name, each in found.items() if each} == {}


@pytest.mark.parametrize(
    "line",
    [
        "from _pytest.terminal import KNOWN_TYPES",
        "import ctypes",
        "from hypothesis.internal.conjecture import providers",
        "from xdist.dsession import _worker",
        "sys.meta_path.insert(0, finder)",
        "gc.freeze()",
        "os.sched_setaffinity(0, {1})",
        "os._exit = checked",
        "setattr(os, '_exit', checked)",
        "config.option.__class__ = IdleOptions",
        "write = gateway._io.write",
        "reporter._determine_main_color = decide",
        "getattr(reporter, '_determine_main_color', None)",
        "pytest.Mark(name, (), {}, _ispytest=True)",
    ],
)
def test_what_reaches_into_others_is_seen(line: str) -> None:
    """Each trick that the package once had is seen."""
    assert [each for node in ast.walk(ast.parse(line)) for each in reach_of(node, own_names())]


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
    done = run_process(sys.executable, "-c", code)
    assert done.stdout.strip() == "[]"
