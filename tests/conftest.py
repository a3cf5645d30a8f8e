"""Settings and fixtures of all of the project's own tests."""

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
    """The text of a file of an installed package; each inner run reads those of all packages, for their plugins."""
    known: dict[str, Any] = {}

    def remembered(package: Any) -> Any:
        place = str(package._path)
        return known[place] if place in known else known.setdefault(place, read(package))

    return remembered


for _name in ("entry_points", "files", "metadata"):
    setattr(PathDistribution, _name, property(_read_once(getattr(PathDistribution, _name).fget)))


def _looked_through_once(parse: Callable[..., None]) -> Callable[..., None]:
    """The search for fixtures, which each inner run begins anew in the modules and classes of its plugins."""
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


FixtureManager.parsefactories = _looked_through_once(FixtureManager.parsefactories)  # type: ignore[method-assign]


class Interruptions:
    """All that `pytester` needs of its record of hook calls, which makes a third of the price of an inner run."""

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
    """That of pytest, without its record of hook calls."""
    monkeypatch.setattr(pytester, "make_hook_recorder", Interruptions)
    return pytester


def pytest_configure(config: pytest.Config) -> None:
    """Generated cases have no deadline: how long one takes says more about the machine than about us."""
    hypothesis.settings.register_profile("patient", deadline=None)
    hypothesis.settings.load_profile("patient")
    collection_hooks.register_markers(config)  # tests import modules of the suite


LONG = ("test_browser.py", "test_packaging.py", "test_bad_provider.py", "test_contributing.py", "test_commands.py")
"""The modules of the longest tests and fixtures, which come first: else a worker has them last, and others wait."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes long."""
    items.sort(key=lambda item: item.path.name not in LONG)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One more than there are processors, because many tests wait for other processes."""
    return (os.cpu_count() or 1) + 1


@pytest.fixture(autouse=True)
def _no_part_stays() -> Iterator[None]:
    """A test that begins a part of a run does not leave it to the next one."""
    yield
    begin_part(None)
