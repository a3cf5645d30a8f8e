"""The conformance run of a pytest session; it is registered only if an adapter is declared."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_corpus.adapter.client import AdapterClient
from pytest_corpus.integration.collecting import collection_hooks
from pytest_corpus.integration.collecting import nodes as collect
from pytest_corpus.integration.collecting.collection_hooks import CollectionHooks
from pytest_corpus.integration.concluding.conclusion_hooks import ConclusionHooks
from pytest_corpus.integration.concluding.record_hooks import RecordHooks
from pytest_corpus.integration.declaring.declaration_hooks import DeclarationHooks
from pytest_corpus.integration.declaring.state import RunState
from pytest_corpus.integration.running.execution_hooks import ExecutionHooks
from pytest_corpus.integration.xdist.distribution_hooks import DistributionHooks

NAME = "corpus-conformance"


def conformance(config: pytest.Config) -> Conformance:
    """Return the conformance run of a pytest session, created on first use."""
    found = config.pluginmanager.get_plugin(NAME)
    if found is None:
        found = Conformance(config)
        config.pluginmanager.register(found, NAME)
    assert isinstance(found, Conformance)
    return found


class Conformance:
    """A conformance run. Its parts are pytest plugins."""

    def __init__(self, config: pytest.Config) -> None:
        collection_hooks.register_markers(config)
        self.state = RunState(config)
        self.declaring = DeclarationHooks(self.state)
        self.collecting = CollectionHooks(self.state, self.declaring)
        self.executing = ExecutionHooks(self.state)
        self.recording = RecordHooks(self.state, lambda: self.executing.tests_in_flight)
        self.distributing = DistributionHooks(self.state)
        self.concluding = ConclusionHooks(self.state, self.distributing, self.recording)
        parts = (self.declaring, self.collecting, self.executing, self.recording, self.distributing, self.concluding)
        for part in parts:
            config.pluginmanager.register(part, f"{NAME}-{type(part).__name__.lower()}")

    def begin(self) -> RecordHooks:
        """Start a run that was declared after the session's start; return the plugin that receives reports.

        A second call does nothing.
        """
        self.concluding.pytest_sessionstart()
        self.declaring.pytest_sessionstart()
        return self.recording

    def client(self, node: Any) -> AdapterClient:
        """Return the open adapter for a test: the adapter of a suite's test, otherwise the only declared adapter."""
        own = collect.owner(node) if isinstance(node, pytest.Item) else None
        known = [adapter for adapter in self.state.adapters.known.values() if adapter.kind == "adapter"]
        if own is None and len(known) != 1:
            many = f"{len(known)} adapters are declared" if known else "no adapter is declared"
            pytest.fail(f"corpus_adapter: {many}; declare one with --corpus-adapter=module:factory", pytrace=False)
        client = self.state.open(own[0] if own else known[0]).client
        assert client is not None
        return client
