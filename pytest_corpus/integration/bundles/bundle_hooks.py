"""Hooks that collect and run behaviour bundles. They are registered when the first bundle is collected."""

from __future__ import annotations

from collections.abc import Generator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pytest_corpus.adapter.client import AdapterClient
from pytest_corpus.bundles.providers.hook import collect_functions
from pytest_corpus.bundles.session import BundleSession, Openers
from pytest_corpus.integration.bundles import options
from pytest_corpus.integration.bundles.conclusion_hooks import BundleConclusionHooks
from pytest_corpus.integration.bundles.nodes import MARKER, BundleFailure, BundleFile, CaseItem
from pytest_corpus.integration.bundles.records import results_of
from pytest_corpus.integration.concluding.exits import USUAL_ENDS
from pytest_corpus.integration.options.checks import BUNDLES, CONFORMANCE


def bundle_hooks_of(config: pytest.Config) -> BundleHooks:
    """Return the bundle plugin of a pytest session, created on first use."""
    found = config.pluginmanager.get_plugin(BUNDLES)
    if found is None:
        found = BundleHooks(config)
        config.pluginmanager.register(found, BUNDLES)
        config.pluginmanager.register(found.concluding, f"{BUNDLES}-concluding")
    assert isinstance(found, BundleHooks)
    return found


class BundleHooks:
    """The plugin that collects behaviour bundles and runs their cases."""

    def __init__(self, config: pytest.Config) -> None:
        config.addinivalue_line("markers", "bundle: cases and thresholds of behaviour bundles")
        self.config = config
        # Cases with the same tags share one mapping, to save memory.
        self._keywords: dict[tuple[str, ...], dict[str, Any]] = {}
        source = "a conftest.py brings it: pytest_corpus_bundle_scorers"
        self.session = BundleSession(
            options.read_options(config), results_of(config).store, self._plugin_functions, self._openers, source
        )
        self.concluding = BundleConclusionHooks(config, self.session.options)

    def _plugin_functions(self, hook: str, file: str) -> dict[str, Any]:
        return collect_functions(hook, lambda: reversed(getattr(self.config.hook, hook)(config=self.config)), file)

    def _openers(self, component: str) -> Openers:
        conformance = self.config.pluginmanager.get_plugin(CONFORMANCE)
        known = conformance.state.adapters.known if conformance is not None else {}
        return {
            label: partial(_second_instance, each)
            for label, each in known.items()
            if each.kind == "adapter" and component in each.components
        }

    def node(self, path: Path, parent: pytest.Collector) -> pytest.Collector:
        """Return the collector of a bundle.yaml."""
        node: BundleFile = BundleFile.from_parent(parent, path=path)
        node.session_of_bundles = self.session
        return node

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        for item in session.items:
            if isinstance(item, CaseItem):
                item.run.selected.append(item.case.id)
        if hasattr(self.config, "workerinput") and not self.session.options.stops_early and not session.testsfailed:
            for run in self.session.runs:  # start cases while other workers still collect
                _ = run.pool if run.selected else None

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Save memory: the terminal keeps one report for all passed cases, and none for their set-up and teardown."""
        terminal = self.config.pluginmanager.get_plugin("terminalreporter")
        if not report.passed or MARKER not in report.keywords or terminal is None:
            return
        kept = terminal.stats.get("passed" if report.when == "call" else "", ())
        if not kept or kept[-1] is not report:
            return
        if report.when != "call":
            kept.pop()
        elif self.config.option.durations is None and not terminal.hasopt("p") and not terminal.hasopt("P"):
            kept[-1] = kept[0]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if isinstance(item, CaseItem):
            words = tuple(each for each in report.keywords if each != item.name)
            report.keywords = self._keywords.setdefault(words, dict.fromkeys(words, 1))
        raised = call.excinfo.value if call.excinfo is not None else None
        if isinstance(raised, BundleFailure) and isinstance(item, CaseItem) and item.run.tolerates_failed_cases:
            report.outcome = "skipped"
            report.wasxfail = "tolerated: the thresholds of the bundle decide"
        return report

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, exitstatus: int) -> Generator[None, object, object]:
        self.session.close(finish=hasattr(self.config, "workerinput") and exitstatus in USUAL_ENDS)
        return (yield)


def _second_instance(adapter: Any) -> AdapterClient:
    client: AdapterClient = adapter.client.second_instance()  # called when the adapter is open
    return client
