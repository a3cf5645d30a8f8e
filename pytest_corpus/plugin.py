"""Hooks and fixtures of the pytest plugin; `integration/` implements them.

Every pytest run imports this module, so it imports only what a run without an adapter needs.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from pathlib import Path
    from typing import Any

    from pytest_corpus.adapter.client import AdapterClient
    from pytest_corpus.adapter.hooks.metrics import RecordingSink
    from pytest_corpus.adapter.hooks.provider import ProviderProbe
    from pytest_corpus.validation.schema.registry import SchemaRegistry

TEST_MODULE = pytest.StashKey[bool]()  # marks the collector of a test module, which may declare suites


class Hooks:
    """Hooks that a conftest.py may implement."""

    @pytest.hookspec
    def pytest_corpus_adapter(self, config: pytest.Config) -> Any:
        """Return the factory of the adapter under test; the suite is collected at the conftest.py with this hook."""

    @pytest.hookspec
    def pytest_corpus_bundle_providers(self, config: pytest.Config) -> Any:
        """Return a mapping from names of providers to functions that answer a `CompletionRequest`."""

    @pytest.hookspec
    def pytest_corpus_bundle_scorers(self, config: pytest.Config) -> Any:
        """Return a mapping from names of scorers to functions that score an answer."""


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    pluginmanager.add_hookspecs(Hooks)


def pytest_addoption(parser: pytest.Parser) -> None:
    from pytest_corpus.integration.options.table import add_options

    add_options(parser)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests(parser: pytest.Parser, args: list[str]) -> Generator[None, object, object]:
    result = yield
    if any(arg.startswith("--corpus-") for arg in args):
        from pytest_corpus.integration.options.checks import check_spelling

        check_spelling(parser, args)
    return result


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        _check_options(config)
    declared = config.hook.pytest_corpus_adapter.get_hookimpls() or any(
        config.getoption(name) or config.getini(name) for name in ("corpus_adapter", "corpus_client")
    )
    if declared:
        try:
            _conformance(config)
        except KeyboardInterrupt:  # pytest's terminal, which would report it, does not exist yet
            sys.stderr.write("interrupted before any test was collected\n")
            raise
    if config.getoption("dist", "no") != "no" and not hasattr(config, "workerinput"):
        from pytest_corpus.integration.bundles.controller_hooks import BundleControllerHooks
        from pytest_corpus.integration.xdist.controller_hooks import SuiteControllerHooks

        if not declared:
            config.pluginmanager.register(SuiteControllerHooks(lambda: _conformance(config).begin()))
        config.pluginmanager.register(BundleControllerHooks(config))


def _check_options(config: pytest.Config) -> None:
    """Refuse options that have no effect. If a JUnit report is requested, let pytest write it."""
    if any(str(arg).startswith("--corpus-") for arg in config.invocation_params.args):
        from pytest_corpus.integration.options import checks

        checks.refuse_unused_options(config)
    reports = config.getoption("corpus_report") or config.getini("corpus_report") or []
    if any(path.lower().endswith(".junit.xml") for path in reports):
        from pytest_corpus.integration.options.files import switch_on_junit

        switch_on_junit(config, reports)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if file_path.name == "conftest.py" and parent.config.hook.pytest_corpus_adapter.get_hookimpls():
        found: pytest.Collector | None = _conformance(parent.config).collecting.collect_conftest(file_path, parent)
        return found
    if file_path.suffix in (".yaml", ".yml"):
        from pytest_corpus.integration.bundles import discovery

        if discovery.is_collected(file_path, parent):
            from pytest_corpus.integration.bundles.bundle_hooks import bundle_hooks_of

            return bundle_hooks_of(parent.config).node(file_path, parent)
    return None


@pytest.hookimpl(wrapper=True)
def pytest_pycollect_makemodule() -> Generator[None, pytest.Module | None, pytest.Module | None]:
    """Mark collectors of test modules; collectors of doctests have the same class, but no module."""
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
                report.result = [*(report.result or ()), *run.collecting.collect_suites(found, collector)]
            except pytest.Collector.CollectError as error:
                run.collecting.report_unusable(report, error)
    return report


def _conformance(config: pytest.Config) -> Any:
    from pytest_corpus.integration.conformance import conformance

    return conformance(config)


@pytest.fixture
def corpus_adapter(request: pytest.FixtureRequest) -> AdapterClient:
    """The adapter under test. It is open, and tests call it over the wire."""
    found: AdapterClient = _conformance(request.config).client(request.node)
    return found


@pytest.fixture
def corpus_metrics(corpus_adapter: AdapterClient) -> RecordingSink:
    """The metrics sink that was passed to the adapter's factory."""
    return corpus_adapter.metrics


@pytest.fixture
def corpus_provider(corpus_adapter: AdapterClient) -> ProviderProbe:
    """The provider probe that was passed to the adapter's factory."""
    return corpus_adapter.provider


@pytest.fixture
def corpus_provider_server() -> Iterator[ProviderProbe]:
    """A local server that imitates a provider, at `url`, for the official clients of OpenAI, Anthropic and Cohere.

    It needs no adapter. Faults that a test plans happen on the wire; each test has its own server.
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
    """The function `validate_frames(frames, component=...)`, which returns the report on a finished stream."""
    from pytest_corpus.validation.streams.engine import validate_frames

    return validate_frames
