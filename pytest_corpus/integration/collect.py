"""Collectors: the chapters of the suite below the user's own file, or below the session."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from pytest_corpus.integration.adapters import Adapter
from pytest_corpus.suites import chapters_of

OWNER = pytest.StashKey[tuple[Adapter, str]]()
"""On a conformance item: the adapter and the component that it tests."""


class Anchor(pytest.File):
    """The root of an adapter's suite below a file: the user's conftest.py, or the packaged suites."""

    adapter: Adapter
    separator = "::"

    def collect(self) -> Iterable[pytest.Collector]:
        return chapters(self, self.adapter, self.nodeid + self.separator)


class Below(pytest.Collector):
    """The root of an adapter's suite below a name in a test module."""

    adapter: Adapter

    def collect(self) -> Iterable[pytest.Collector]:
        return chapters(self, self.adapter, self.nodeid + "::")


def chapters(parent: pytest.Collector, adapter: Adapter, prefix: str) -> Iterator[Chapter]:
    """The chapters of all components of an adapter, in their order."""
    for component in adapter.components:
        for name in chapters_of(component):
            spec = find_spec(f"pytest_corpus.suites.{component}.{name}")
            assert spec is not None
            assert spec.origin is not None
            title = f"{component}/{name}.py"
            chapter: Chapter = Chapter.from_parent(parent, path=Path(spec.origin), name=title, nodeid=prefix + title)
            chapter.adapter, chapter.component, chapter.module_name = adapter, component, spec.name
            chapter.add_marker(component)
            yield chapter


class _OwnNames:
    """Tests are found by our names, whatever the user's project sets for its own."""

    def funcnamefilter(self, name: str) -> bool:
        return name.startswith("test_")

    def classnamefilter(self, name: str) -> bool:
        return name.startswith("Test")


class Chapter(_OwnNames, pytest.Module):
    """A module of the suite."""

    adapter: Adapter
    component: str
    module_name: str

    def _getobj(self) -> Any:
        return importlib.import_module(self.module_name)


class ChapterClass(_OwnNames, pytest.Class):
    """A class of a chapter: what the component shares with others."""


def make_class(collector: pytest.Collector, name: str, found: object) -> ChapterClass | None:
    """Our own collector for a class of a chapter; None for anything else."""
    ours = isinstance(collector, (Chapter, ChapterClass))
    if ours and inspect.isclass(found) and name.startswith("Test"):
        node: ChapterClass = ChapterClass.from_parent(collector, name=name, obj=found)
        return node
    return None


def owner(item: pytest.Item) -> tuple[Adapter, str] | None:
    """The adapter and component of a conformance item; None for any other item."""
    if OWNER not in item.stash:
        chapter = item.getparent(Chapter)
        if chapter is None:
            return None
        item.stash[OWNER] = (chapter.adapter, chapter.component)
    return item.stash[OWNER]


def requirement_of(item: pytest.Item) -> str:
    """The id of the requirement that a conformance item decides."""
    marker = item.get_closest_marker("requirement")
    assert marker is not None, f"{item.nodeid} names no requirement"
    return str(marker.args[0])


def test_of(item: pytest.Item) -> str:
    """The name of a test within its suite, the same however the adapter was declared."""
    chapter = item.getparent(Chapter)
    assert chapter is not None
    return f"{chapter.name}{item.nodeid[len(chapter.nodeid) :]}"


test_of.__test__ = False  # type: ignore[attr-defined]
