"""Hooks and fixtures of the pytest plugin; `integration/` implements them.

Every pytest run imports this module, so it imports and adds only what a run without an adapter needs.
"""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from importlib.machinery import PathFinder
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from importlib.machinery import ModuleSpec
    from pathlib import Path
    from typing import Any

    from pytest_corpus.adapter.client import AdapterClient
    from pytest_corpus.adapter.hooks.metrics import RecordingSink
    from pytest_corpus.adapter.hooks.provider import ProviderProbe
    from pytest_corpus.validation.schema.registry import SchemaRegistry

__all__ = [
    "corpus_adapter",
    "corpus_metrics",
    "corpus_provider",
    "corpus_provider_server",
    "pytest_addoption",
    "pytest_collect_file",
    "pytest_configure",
    "pytest_make_collect_report",
    "pytest_pycollect_makemodule",
    "schema_registry",
    "stream_validator",
]

TEST_MODULE = pytest.StashKey[bool]()  # on the collector of a test module, which may hold suites


class Unrewritten(PathFinder):
    """Imports the modules of this package without pytest's assertion rewriting, which reads them five times slower."""

    @classmethod
    def find_spec(cls, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        return super().find_spec(fullname, path, target) if fullname.startswith("pytest_corpus.") else None


class Hooks:
    """Hooks that a conftest.py may implement."""

    @pytest.hookspec
    def pytest_corpus_adapter(self, config: pytest.Config) -> Any:
        """Return the factory of the adapter under test; the suite is collected at that conftest.py."""

    @pytest.hookspec
    def pytest_corpus_bundle_providers(self, config: pytest.Config) -> Any:
        """Return a mapping from names of providers to functions that answer a `CompletionRequest`."""

    @pytest.hookspec
    def pytest_corpus_bundle_scorers(self, config: pytest.Config) -> Any:
        """Return a mapping from names of scorers to functions that score an answer."""


class IdleOptions(Namespace):
    """The options of a run that names none of ours: a conftest.py finds the default of each."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith(("corpus_", "--corpus-")):
            from pytest_corpus.integration.options.table import OPTIONS, setting

            for option in OPTIONS:
                if name in (setting(option.name), f"--corpus-{option.name}"):
                    return False if option.action == "store_true" else None
        raise AttributeError(name)


def pytest_addoption(pluginmanager: pytest.PytestPluginManager) -> None:
    """Add our hooks, and the options to a run that may use them; pytest pays each option several times a run."""
    hooks = ModuleType("hooks")  # pluggy examines every attribute, of which a class has thirty
    vars(hooks).clear()
    vars(hooks).update((name, hook) for name, hook in vars(Hooks).items() if name.startswith("pytest_"))
    pluginmanager.add_hookspecs(hooks)
    config: pytest.Config | None = pluginmanager.get_plugin("pytestconfig")
    if config is None or _names_options(config):
        _read_directly()
        from pytest_corpus.integration.options.option_hooks import add_options

        add_options(pluginmanager)
    else:
        config.option.__class__ = IdleOptions


def _names_options(config: pytest.Config) -> bool:
    """True if the command line, the environment or the settings may name our options and settings."""
    known = getattr(config, "known_args_namespace", None)
    if known is None or known.help or "corpus_adapter" in vars(config.option) or "_ARGCOMPLETE" in os.environ:
        return True
    words = [*map(str, config.invocation_params.args), *config.getini("addopts")]
    words += os.environ.get("PYTEST_ADDOPTS", "").split()
    if any("corpus" in word or word.startswith("@") for word in words):
        return True
    return config.inipath is not None and b"corpus" in config.inipath.read_bytes()


def pytest_configure(config: pytest.Config) -> None:
    declared = bool(config.hook.pytest_corpus_adapter.get_hookimpls())
    if config.pluginmanager.has_plugin("corpus-options"):
        names = ("corpus_adapter", "corpus_client")
        declared = declared or any(config.getoption(name) or config.getini(name) for name in names)
    if declared:
        try:
            _conformance(config)
        except KeyboardInterrupt:  # where pytest's terminal is not there yet to say so
            sys.stderr.write("interrupted before any test was collected\n")
            raise
    if config.getoption("dist", "no") != "no" and not hasattr(config, "workerinput"):
        from pytest_corpus.integration.bundles.controller_hooks import BundleControllerHooks
        from pytest_corpus.integration.xdist.controller_hooks import SuiteControllerHooks

        if not declared:
            config.pluginmanager.register(SuiteControllerHooks(lambda: _conformance(config).begin()))
        config.pluginmanager.register(BundleControllerHooks(config))


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if file_path.name == "conftest.py" and parent.config.hook.pytest_corpus_adapter.get_hookimpls():
        found: pytest.Collector | None = _conformance(parent.config).collecting.conftest(file_path, parent)
        return found
    if file_path.suffix in (".yaml", ".yml"):
        _read_directly()
        from pytest_corpus.integration.bundles import discovery

        if discovery.is_collected(file_path, parent):
            from pytest_corpus.integration.bundles.bundle_hooks import bundles

            return bundles(parent.config).node(file_path, parent)
    return None


@pytest.hookimpl(wrapper=True)
def pytest_pycollect_makemodule() -> Generator[None, pytest.Module | None, pytest.Module | None]:
    """Tell test modules from other collectors of the same class, such as those of doctests, which have no module."""
    found = yield
    if isinstance(found, pytest.Collector):
        found.stash[TEST_MODULE] = True
    return found


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    if "pytest_corpus.integration.declaring.suite" in sys.modules and TEST_MODULE in collector.stash and report.passed:
        from pytest_corpus.integration.declaring.suite import Suite

        module = getattr(collector, "obj", None)
        members = vars(module) if isinstance(module, ModuleType) else {}
        if found := {name: item for name, item in members.items() if isinstance(item, Suite)}:
            try:
                run = _conformance(collector.config)
                run.begin()
                report.result = [*(report.result or ()), *run.collecting.suites(found, collector)]
            except pytest.Collector.CollectError as error:
                run.collecting.fail(report, error)
    return report


def _conformance(config: pytest.Config) -> Any:
    _read_directly()
    from pytest_corpus.integration.conformance import conformance

    return conformance(config)


def _read_directly() -> None:
    if Unrewritten not in sys.meta_path:
        sys.meta_path.insert(0, Unrewritten)


@pytest.fixture
def corpus_adapter(request: pytest.FixtureRequest) -> AdapterClient:
    """The adapter under test, open, to be called over the wire."""
    found: AdapterClient = _conformance(request.config).client(request.node)
    return found


@pytest.fixture
def corpus_metrics(corpus_adapter: AdapterClient) -> RecordingSink:
    """The metrics sink that the adapter's factory was given."""
    return corpus_adapter.metrics


@pytest.fixture
def corpus_provider(corpus_adapter: AdapterClient) -> ProviderProbe:
    """The provider probe that the adapter's factory was given."""
    return corpus_adapter.provider


@pytest.fixture
def corpus_provider_server() -> Iterator[ProviderProbe]:
    """A provider with an address of its own, at `url`, for the official clients of OpenAI, Anthropic and Cohere.

    It needs no adapter. What a test plans happens on the wire there; no other test meets it.
    """
    from pytest_corpus.adapter.hooks.provider import ProviderProbe

    provider = ProviderProbe()
    yield provider
    provider.close()


@pytest.fixture(scope="session")
def schema_registry() -> SchemaRegistry:
    """The schemas of both editions."""
    from pytest_corpus.validation.schema.registry import registry

    return registry()


@pytest.fixture(scope="session")
def stream_validator() -> Any:
    """`validate_frames(frames, component=...)`: the report on a finished stream."""
    from pytest_corpus.validation.streams.engine import validate_frames

    return validate_frames
