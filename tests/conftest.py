"""Settings and fixtures for all tests of the project."""

import gc
import importlib
import os
import signal
from collections.abc import Callable, Iterator
from importlib.metadata import PathDistribution
from types import ModuleType, SimpleNamespace
from typing import Any

import hypothesis
import pytest
from _pytest.fixtures import FixtureFunctionDefinition, FixtureManager

from pytest_corpus.adapter.scope import begin_part
from pytest_corpus.integration.collecting import collection_hooks

pytest_plugins = ["pytester"]

collect_ignore = ["question-answering"]  # a bundle that tests read, and that asks a provider

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # in the background of a script; processes would inherit it
    signal.signal(signal.SIGINT, signal.default_int_handler)
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # many processes import the same
gc.set_threshold(50_000, 20, 50)  # ten thousand tests and their modules stay, and are no garbage


for _name in ("numpy.fft", "scipy.stats"):  # an inner run forgets what it imports, and NumPy cannot be imported twice
    importlib.import_module(_name)


def _read_once(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Cache the text of files of installed packages, because each inner run reads those of all plugins."""
    known: dict[str, Any] = {}

    def remembered(package: Any) -> Any:
        place = str(package._path)
        return known[place] if place in known else known.setdefault(place, read(package))

    return remembered


for _name in ("entry_points", "files", "metadata"):
    setattr(PathDistribution, _name, property(_read_once(getattr(PathDistribution, _name).fget)))


def _search_once(parse: Callable[..., None]) -> Callable[..., None]:
    """Cache the search for fixtures in modules and classes of plugins, which each inner run would repeat."""
    has_none: dict[object, bool] = {}

    def parsed(self: Any, *given: Any, **more: Any) -> None:
        holder = more.get("holder")
        place = holder if isinstance(holder, ModuleType | type) else type(holder)
        module = place.__name__ if isinstance(place, ModuleType) else place.__module__
        if module.startswith(("_pytest.", "pytest_corpus.", "xdist.")):
            if place not in has_none:
                parts = (getattr(place, name, None) for name in dir(place))
                has_none[place] = not any(type(part) is FixtureFunctionDefinition for part in parts)
            if has_none[place]:
                return
        parse(self, *given, **more)

    return parsed


FixtureManager.parsefactories = _search_once(FixtureManager.parsefactories)  # type: ignore[method-assign]


class Interruptions:
    """The part of `pytester`'s record of hook calls that tests need; a complete record makes inner runs slow."""

    def __init__(self, plugins: pytest.PytestPluginManager) -> None:
        self.calls: list[SimpleNamespace] = []
        plugins.register(self)

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        self.calls.append(SimpleNamespace(excinfo=excinfo))

    def getcalls(self, name: str) -> list[SimpleNamespace]:
        assert name == "pytest_keyboard_interrupt"
        return self.calls


@pytest.fixture
def pytester(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """pytest's fixture, without its complete record of hook calls."""
    monkeypatch.setattr(pytester, "make_hook_recorder", Interruptions)
    return pytester


def pytest_configure(config: pytest.Config) -> None:
    """Remove the deadline of generated cases, because their duration depends on the machine."""
    hypothesis.settings.register_profile("patient", deadline=None)
    hypothesis.settings.load_profile("patient")
    collection_hooks.register_markers(config)  # tests import modules of the suite


LONG = ("test_browser.py", "test_packaging.py", "test_bad_provider.py", "test_contributing.py", "test_commands.py")
"""The modules with the longest tests and fixtures. They run first, so that no worker ends long after the others."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the longest tests first."""
    items.sort(key=lambda item: item.path.name not in LONG)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Use one more worker than there are processors, because many tests wait for other processes."""
    return (os.cpu_count() or 1) + 1


@pytest.fixture(autouse=True)
def _no_part_stays() -> Iterator[None]:
    """Make sure that a test does not leave its part of a run to the next test."""
    yield
    begin_part(None)
