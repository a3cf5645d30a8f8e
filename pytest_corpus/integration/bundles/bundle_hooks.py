"""Hooks that collect and run behaviour bundles, registered once a bundle is collected."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest

from pytest_corpus.adapter.client import AdapterClient
from pytest_corpus.bundles.errors import BundleError, Problem, suggestion
from pytest_corpus.bundles.loading.bundle import Bundle
from pytest_corpus.bundles.loading.bundle_file import load
from pytest_corpus.bundles.plugin_functions import functions
from pytest_corpus.bundles.providers.protocol import Provider
from pytest_corpus.bundles.providers.registry import make
from pytest_corpus.bundles.running.asking import Asking
from pytest_corpus.bundles.running.cassettes import Cassettes, mode_of
from pytest_corpus.bundles.running.provider_choice import SelectedProvider, choose
from pytest_corpus.bundles.running.store import MemoryStore, SpentBudget, Store
from pytest_corpus.integration.bundles import options, records
from pytest_corpus.integration.bundles.conclusion_hooks import BundleConclusionHooks
from pytest_corpus.integration.bundles.nodes import BundleFailure, BundleFile, CaseItem
from pytest_corpus.integration.bundles.runs import BundleRun
from pytest_corpus.integration.bundles.shared_folder import shared_folder

NAME = "corpus-bundles"
CONFORMANCE = "corpus-conformance"


def bundles(config: pytest.Config) -> BundleHooks:
    """The bundles of a session, made on first use."""
    found = config.pluginmanager.get_plugin(NAME)
    if found is None:
        found = BundleHooks(config)
        config.pluginmanager.register(found, NAME)
        config.pluginmanager.register(found.concluding, f"{NAME}-concluding")
    assert isinstance(found, BundleHooks)
    return found


class BundleHooks:
    """The part of the plugin that collects bundles and runs their cases."""

    def __init__(self, config: pytest.Config) -> None:
        config.addinivalue_line("markers", "bundle: cases and thresholds of behaviour bundles")
        self.config = config
        self.options = options.read(config)
        self.runs: list[BundleRun] = []
        self.folder = shared_folder(config)
        self.spent_budget: Any = self._spent_budget()
        self.concluding = BundleConclusionHooks(config, self.options, self.spent_budget)
        self._providers: dict[tuple[Any, ...], Provider] = {}
        self._clients: dict[str, AdapterClient] = {}
        self._hooks: dict[str, dict[str, Any]] = {}

    def _spent_budget(self) -> Any:
        if self.folder is None:
            return SpentBudget()
        from pytest_corpus.bundles.running.shared_store import SharedSpentBudget

        return SharedSpentBudget(self.folder)

    # -- collecting ------------------------------------------------------------------------------------

    def node(self, path: Path, parent: pytest.Collector) -> pytest.Collector:
        """The collector of a bundle.yaml."""
        node: BundleFile = BundleFile.from_parent(parent, path=path)
        node.bundles = self
        return node

    def runs_of(self, path: Path) -> list[BundleRun]:
        """A bundle with each of its providers.

        Raises:
            BundleError: it cannot be run.
        """
        bundle = load(path)
        found = [self._run(bundle, chosen) for chosen in choose(bundle, self.options.providers, self._adapters())]
        labels = [run.label for run in found]
        if len(set(labels)) < len(labels):
            raise BundleError(Problem(bundle.file, f"the provider {labels[0]} would run it twice; name each once"))
        self.runs += found
        return found

    def _run(self, bundle: Bundle, chosen: SelectedProvider) -> BundleRun:
        is_mock = chosen.choice.name == "mock"
        mode = "off" if is_mock else mode_of(self.options.cassettes, bundle.folder, os.environ)
        provider = self._provider(bundle, chosen, plays=mode == "none")
        key = f"{bundle.path} | {provider.label}"
        asking = Asking(
            bundle,
            chosen.choice,
            provider,
            self._scorers(bundle),
            self.options.budget,
            Cassettes(bundle.folder, mode) if mode != "off" else None,
            keeps_content=self.options.full or self.options.full_files,
        )
        limit = self.options.limit
        return BundleRun(
            bundle=bundle,
            label=provider.label,
            adapter=chosen.adapter,
            asking=asking,
            store=self._store(key, bundle.side_by_side),
            cases=bundle.cases[:limit] if limit else bundle.cases,
            full=self.options.full,
            stops_early=self.options.stops_early,
            cassettes=mode,
        )

    def _store(self, key: str, slots: int) -> Store:
        if self.folder is None:
            return MemoryStore(slots, self.spent_budget)
        from pytest_corpus.bundles.running.shared_store import SharedStore

        return SharedStore(self.folder, key, slots, self.spent_budget)

    # -- providers -------------------------------------------------------------------------------------

    def _provider(self, bundle: Bundle, chosen: SelectedProvider, *, plays: bool) -> Provider:
        choice = chosen.choice
        # A script is played for each bundle from its beginning.
        own = bundle.path if choice.name == "mock" else None
        key = (choice.name, choice.model, choice.base_url, chosen.adapter, own, plays)
        if key not in self._providers:
            adapter = (chosen.adapter, self._opener(chosen.adapter)) if chosen.adapter else None
            self._providers[key] = make(choice, bundle.file, self._of_hook("providers", bundle), adapter, plays=plays)
        return self._providers[key]

    def _scorers(self, bundle: Bundle) -> dict[str, Any]:
        known = self._of_hook("scorers", bundle) if bundle.contract.scorers else {}
        for scorer in bundle.contract.scorers:
            if scorer.name not in known:
                hint = (
                    suggestion(scorer.name, known) if known else "a conftest.py brings it: pytest_corpus_bundle_scorers"
                )
                raise BundleError(Problem(bundle.file, f"the scorer {scorer.name!r} is not known; {hint}"))
        return known

    def _of_hook(self, kind: str, bundle: Bundle) -> dict[str, Any]:
        if kind not in self._hooks:
            hook = f"pytest_corpus_bundle_{kind}"
            call = getattr(self.config.hook, hook)
            self._hooks[kind] = functions(hook, lambda: reversed(call(config=self.config)), bundle.file)
        return self._hooks[kind]

    def _declared(self) -> dict[str, Any]:
        """The adapters under test that were declared, by label."""
        conformance = self.config.pluginmanager.get_plugin(CONFORMANCE)
        known = conformance.state.adapters.known if conformance is not None else {}
        return {label: each for label, each in known.items() if each.handle.kind == "adapter"}

    def _adapters(self) -> list[str]:
        return [label for label, adapter in self._declared().items() if "llm" in adapter.components]

    def _opener(self, label: str) -> Callable[[], AdapterClient]:
        adapter = self._declared()[label]

        def opened() -> AdapterClient:
            if label not in self._clients:
                self._clients[label] = adapter.handle.client.second_instance()
            return self._clients[label]

        return opened

    # -- running ---------------------------------------------------------------------------------------

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        for item in session.items:
            if isinstance(item, CaseItem):
                item.run.selected.append(item.case.id)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if call.when == "call" and isinstance(item, CaseItem):
            if item.result is not None:
                report.user_properties.append(records.travelling(item.run, item.result, self.folder))
            if call.excinfo is not None and isinstance(call.excinfo.value, BundleFailure) and item.run.tolerates:
                report.outcome = "skipped"
                report.wasxfail = "tolerated: the thresholds of the bundle decide"
        return report

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self) -> Generator[None, object, object]:
        self.close()
        return (yield)

    def close(self) -> None:
        """Begin nothing more, and close the adapters and clients that were opened for bundles."""
        for run in self.runs:
            if "pool" in vars(run):
                run.pool.drain()
        while self._clients:
            self._clients.popitem()[1].close()
        while self._providers:
            self._providers.popitem()[1].close()
