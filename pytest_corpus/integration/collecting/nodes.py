"""Collectors for the chapters (modules) of the suite, and functions that identify their tests."""

from __future__ import annotations

import functools
import importlib
import inspect
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from pytest_corpus.integration.declaring.adapter_kinds import Adapter
from pytest_corpus.integration.running.surroundings import lenient_marks
from pytest_corpus.kit.target import FOUNDATIONS
from pytest_corpus.spec.requirements import catalogue
from pytest_corpus.suites import modules_of
from pytest_corpus.suites.inventory import case_numbers, tests
from pytest_corpus.verdict.ledger import ledger_key

REPETITION = "corpus_repetition"  # the fixture with the number of a test's repetition
NAMED = pytest.StashKey[tuple[str, int]]()  # on a conformance item: its name in the suite, and its repetition
REQUIREMENT = pytest.StashKey[str]()  # on a conformance item: the requirement that it decides
OWNER = pytest.StashKey[tuple[Adapter, str]]()  # on a conformance item: the adapter and the component that it tests


class Anchor(pytest.File):
    """The root collector of an adapter's suite for a file: the user's conftest.py, or the package itself."""

    adapter: Adapter
    separator = "::"

    def collect(self) -> Iterable[pytest.Collector]:
        return collect_chapters(self, self.adapter, self.nodeid + self.separator)


class SuiteNode(pytest.Collector):
    """The root collector of an adapter's suite that a test module declares."""

    adapter: Adapter

    def collect(self) -> Iterable[pytest.Collector]:
        return collect_chapters(self, self.adapter, self.nodeid + "::")


def collect_chapters(parent: pytest.Collector, adapter: Adapter, prefix: str) -> Iterator[Chapter]:
    """Yield the collectors of all chapters of an adapter, in the order of its components."""
    for component in adapter.components:
        for name, module in modules_of(component).items():
            wanted = _selected_names(adapter, component, f"{component}/{name}.py::")
            if not wanted:
                continue
            spec = find_spec(module)
            assert spec is not None
            assert spec.origin is not None
            title = f"{component}/{name}.py"
            chapter: Chapter = Chapter.from_parent(parent, path=Path(spec.origin), name=title, nodeid=prefix + title)
            chapter.adapter, chapter.component, chapter.module_name = adapter, component, spec.name
            chapter.wanted = wanted
            chapter.add_marker(component)
            for mark in lenient_marks(parent.config):
                chapter.add_marker(mark)
            yield chapter


def _selected_names(adapter: Adapter, component: str, title: str) -> frozenset[str]:
    """Return the functions and classes of a chapter that contain a selected test."""
    found = set()
    for name, requirement in tests_of(adapter, component).items():
        if name.startswith(title) and adapter.options.wants(requirement):
            first, _, rest = name.removeprefix(title).partition("[")[0].partition("::")
            found |= {first, rest}
    return frozenset(found)


class _SuiteNaming:
    """Recognizes tests by the naming rules of the suite; the user's project may have other rules."""

    def funcnamefilter(self, name: str) -> bool:
        return name.startswith("test_")

    def classnamefilter(self, name: str) -> bool:
        return name.startswith("Test")


class Chapter(_SuiteNaming, pytest.Module):
    """The collector of one module of the suite."""

    adapter: Adapter
    component: str
    module_name: str
    wanted: frozenset[str]

    def _getobj(self) -> Any:
        # pytest 8 reads the fixtures of each module object only once, so each adapter gets a copy of the module.
        module = importlib.import_module(self.module_name)
        view = ModuleType(module.__name__)
        vars(view).update((name, _copy_class(found, view.__name__)) for name, found in vars(module).items())
        return view


def _copy_class(found: object, module: str) -> object:
    """Replace an imported class of tests by a subclass of the chapter, in case `collect_imported_tests = false` is set.

    Return other objects unchanged.
    """
    if inspect.isclass(found) and found.__name__.startswith("Test") and found.__module__ != module:
        return type(found.__name__, (found,), {"__module__": module, "__doc__": found.__doc__})
    return found


class ChapterClass(_SuiteNaming, pytest.Class):
    """The collector of a class with shared tests in a chapter. Slow tests are left out unless the profile is stress."""

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        chapter = self.getparent(Chapter)
        assert chapter is not None
        for node in super().collect():
            if chapter.adapter.options.profile.stress or node.get_closest_marker("slow") is None:
                yield node


def make_item(collector: pytest.Collector, name: str, found: object) -> ChapterClass | list[pytest.Item] | None:
    """Return the collector for a class of a chapter, an empty list if it is not selected, None for any other object."""
    if not isinstance(collector, (Chapter, ChapterClass)):
        return None
    chapter = collector.getparent(Chapter)
    assert chapter is not None
    if name.startswith(("test_", "Test")) and name not in chapter.wanted:
        return []
    if inspect.isclass(found) and name.startswith("Test"):
        node: ChapterClass = ChapterClass.from_parent(collector, name=name, obj=found)
        return node
    return None


def owner(item: pytest.Item) -> tuple[Adapter, str] | None:
    """Return the adapter and the component that a conformance item tests; None for any other item."""
    if OWNER not in item.stash:
        chapter = item.getparent(Chapter)
        if chapter is None:
            return None
        item.stash[OWNER] = (chapter.adapter, chapter.component)
    return item.stash[OWNER]


def conformance_items(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """Return the conformance items among all items."""
    return [item for item in items if owner(item)]


def select_smoke_tests(items: Iterable[pytest.Item]) -> set[pytest.Item]:
    """Return the first core test of each requirement for each component and adapter."""
    first: dict[tuple[object, ...], pytest.Item] = {}
    for item in items:
        whose = owner(item)
        if whose is not None and item.get_closest_marker("core"):
            first.setdefault((whose[0].label, whose[1], requirement_of(item), name_and_repetition(item)[1]), item)
    return set(first.values())


def requirement_of(item: pytest.Item) -> str:
    """Return the id of the requirement that a conformance item decides. A shared test has an id for each component."""
    if REQUIREMENT not in item.stash:
        marker = item.get_closest_marker("requirement")
        assert marker is not None, f"{item.nodeid} names no requirement"
        first, *others = map(str, marker.args)
        chapter = item.getparent(Chapter) if others else None
        item.stash[REQUIREMENT] = next(
            (each for each in (first, *others) if chapter and chapter.component in catalogue()[each].components), first
        )
    return item.stash[REQUIREMENT]


def name_of_test(item: pytest.Item) -> str:
    """Return the name of a test within its suite, the same for every adapter, declaration and repetition."""
    return name_and_repetition(item)[0]


def name_and_repetition(item: pytest.Item) -> tuple[str, int]:
    """Return the name of a test within its suite, and the number of its repetition."""
    if NAMED not in item.stash:
        chapter = item.getparent(Chapter)
        assert chapter is not None
        name = f"{chapter.name}{item.nodeid[len(chapter.nodeid) :]}"
        is_repeated = chapter.adapter.options.repeat > 1
        item.stash[NAMED] = (strip_repetition(name), repetition_in(name)) if is_repeated else (name, 0)
    return item.stash[NAMED]


def put_foundations_first(items: Iterable[pytest.Item]) -> Iterator[pytest.Item]:
    """Yield the items; in each module, tests of basic requirements come first, because they explain faults best."""
    for _, module in groupby(items, lambda item: item.getparent(pytest.Module)):
        yield from sorted(module, key=lambda item: not (owner(item) and requirement_of(item) in FOUNDATIONS))


def parametrize_repetitions(metafunc: pytest.Metafunc, times: int) -> None:
    """Make pytest collect a test of the suite several times."""
    if times > 1 and metafunc.definition.getparent(Chapter) is not None:
        metafunc.fixturenames.append(REPETITION)
        ids = [f"run{number}of{times}" for number in range(1, times + 1)]
        metafunc.parametrize(REPETITION, range(1, times + 1), ids=ids, indirect=True)


def tests_of(adapter: Adapter, component: str) -> Mapping[str, str]:
    """Return the tests in a complete run of a component, each with its requirement."""
    return tests(component, adapter.options.profile.name)


def case_number_of(item: pytest.Item) -> int:
    """Return the number of a conformance item among all cases of its function, selected or not."""
    chapter = item.getparent(Chapter)
    assert chapter is not None
    return case_numbers(chapter.component, chapter.adapter.options.profile.name).get(name_of_test(item), 0)


def ledger_key_of(item: pytest.Item, component: str) -> str:
    """Return the key of a conformance item in its adapter's ledger."""
    return ledger_key(component, *name_and_repetition(item))


name_of_test.__test__ = False  # type: ignore[attr-defined]


@functools.lru_cache(1)
def positions_of(session: pytest.Session) -> Mapping[str, int]:
    """Return the position of each test among all tests, independent of the order of execution."""
    return {nodeid: place for place, nodeid in enumerate(sorted(item.nodeid for item in session.items))}


def function_of(item: pytest.Function) -> Callable[..., Any]:
    """Return the function of a conformance test. `item.obj` may be a replacement by another plugin."""
    found: Callable[..., Any] = getattr(item.cls() if item.cls else item.module, item.originalname)
    return found


def arguments_of(item: pytest.Function, target: Any) -> dict[str, Any]:
    """Return the arguments for a conformance test: its parameters, and the target (the component under test)."""
    given = item.callspec.params if hasattr(item, "callspec") else {}
    return {name: given.get(name, target) for name in inspect.signature(function_of(item)).parameters}


ROOT = "corpus"  # the first word of ids without a file
_REPETITION = re.compile(r"(?P<more>-)?(?(more)|\[)run(?P<number>\d+)of\d+\]$")
_ID = re.compile(r"corpus(?:\[(?P<label>.+?)\](?=/|$))?(?:/(?P<test>.*))?")


@dataclass(frozen=True, slots=True)
class NodeId:
    """An id on the command line. It selects a chapter, class or test for all adapters, or for one adapter (`label`)."""

    given: str
    label: str
    test: str

    def selects(self, label: str, test: str) -> bool:
        """True if the id selects a test of an adapter; `test` is its name within the suite."""
        beginnings = tuple(f"{self.test}{end}" for end in ("::", "[", "/"))
        below = self.test in ("", test) or test.startswith(beginnings)
        return below and self.label in ("", label)


def strip_repetition(name: str) -> str:
    """Return the name of a test without the number of its repetition."""
    return _REPETITION.sub(lambda found: "]" if found["more"] else "", name)


def repetition_in(name: str) -> int:
    """Return the number of a test's repetition, from 1; 0 if tests are not repeated."""
    found = _REPETITION.search(name)
    return int(found["number"]) if found else 0


def take_ids(config: pytest.Config) -> tuple[NodeId, ...]:
    """Remove and return the ids among the arguments of a run, because pytest would search files with these names."""
    if config.args_source is not pytest.Config.ArgsSource.ARGS:
        return ()
    found = {arg: each for arg in config.args if (each := _parse_id(arg, config))}
    config.args[:] = [arg for arg in config.args if arg not in found]
    return tuple(found.values())


def unknown_id_message(asked: Iterable[NodeId], known: Iterable[tuple[str, str]]) -> str:
    """Return an error message for the first id that selects no known test; empty if there is none."""
    every = list(known)
    for each in asked:
        if any(each.selects(label, test) for label, test in every):
            continue
        labels = sorted({label for label, _ in every})
        if each.label and each.label not in labels:
            near = get_close_matches(each.label, labels, n=1) or labels
            return f"{each.given}: no adapter has the label {each.label!r}; did you mean {' or '.join(near)}?"
        near = get_close_matches(each.test, {test for _, test in every}, n=1, cutoff=0.4)
        hint = f"did you mean {ROOT}/{near[0]}?" if near else "--collect-only -q lists them all"
        return f"{each.given}: the suite has no such test; {hint}"
    return ""


def _parse_id(arg: str, config: pytest.Config) -> NodeId | None:
    path, colons, rest = arg.partition("::")
    if Path(config.invocation_params.dir, path).exists():
        return None
    if os.path.isabs(path):
        path = os.path.relpath(path, config.rootpath)
    path = os.path.normpath(path).replace(os.sep, "/") if path else path
    read = _ID.fullmatch(f"{path}{colons}{rest}")
    return NodeId(arg, read["label"] or "", strip_repetition(read["test"] or "")) if read else None
