"""The adapters of a run: declared, opened on demand, closed at the end."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from pytest_corpus.adapter.client import Declaration
from pytest_corpus.adapter.exceptions import DeclarationError
from pytest_corpus.adapter.opening import address
from pytest_corpus.adapter.opening import factory as factories
from pytest_corpus.adapter.opening.remote import RemoteFactory
from pytest_corpus.adapter.usage import Spending
from pytest_corpus.evidence.recorder import Recorder
from pytest_corpus.integration.declaring.adapter_kinds import Adapter, FactoryAdapter, RunSettings, TestedClient
from pytest_corpus.integration.declaring.properties import RUN
from pytest_corpus.integration.declaring.recorded_adapter import RecordedAdapter
from pytest_corpus.integration.options.run_options import Options
from pytest_corpus.kit.store.leftovers import new_run
from pytest_corpus.redaction import secret_values


class Adapters:
    """Opens adapters on demand and keeps them until `close`."""

    def __init__(
        self,
        options: Options,
        spending: Spending,
        decided: Mapping[str, tuple[str, ...]] | None = None,
        worker: Mapping[str, Any] | None = None,
    ) -> None:
        given = worker or {}
        self.known: dict[str, Adapter] = {}
        self.run = str(given.get(RUN) or new_run())
        name, workers = str(given.get("workerid", "")), int(given.get("workercount", 1))
        self.recorder = Recorder(name, secret_values(os.environ)) if options.transcript else None
        self._settings = RunSettings(options, spending, decided or {}, self.run, name, workers, recorder=self.recorder)

    def declare(self, factory: Callable[..., Any] | str, declared: str, label: str) -> Adapter:
        """Add an adapter under a label of its own.

        Raises:
            DeclarationError: the factory cannot be found, or the label is taken.
        """
        if isinstance(factory, str) and factory.startswith(factories.TRANSCRIPT):
            return self._add(RecordedAdapter(factory, label, self._settings))
        if isinstance(factory, str) and address.scheme_of(factory):
            parsed, connection = address.parse(factory), self._settings.options.connection
            remote = RemoteFactory(parsed, connection)
            remote.check()
            declaration = Declaration(label, remote, parsed.shown, in_process=False, startup_s=connection.startup_s)
            return self._add(FactoryAdapter(declaration, self._settings))
        found = factories.resolve(factory) if isinstance(factory, str) else factory
        if not callable(found):
            raise DeclarationError(declared, f"a {type(found).__name__} is declared, which is not a factory")
        return self._add(FactoryAdapter(Declaration(label, found, declared), self._settings))

    def declare_client(self, declared: str, label: str) -> Adapter:
        """Add a client library under a label of its own.

        Raises:
            DeclarationError: it cannot be found, or the label is taken.
        """
        try:
            found = factories.find(declared)
            return self._add(TestedClient(found, Declaration(label, lambda: found, declared), self._settings))
        except DeclarationError as error:
            error.kind = TestedClient.kind
            raise

    def at(self, label: str) -> Adapter:
        """The adapter of a label, which perhaps only the workers of a distributed run know."""
        return self.known.get(label) or self._add(Adapter(Declaration(label, Adapter, label), self._settings))

    def _add(self, adapter: Adapter) -> Adapter:
        if (label := adapter.label) in self.known:
            declared = adapter.declaration.declared
            raise DeclarationError(declared, f"the name {label!r} is taken", "give it another: label=module:factory")
        if not isinstance(adapter, RecordedAdapter):
            adapter.number = len(self.known)
        self.known[label] = adapter
        return adapter

    def close(self) -> list[str]:
        """Clean up and close every open adapter; return a warning for each failure, raise nothing.

        Ctrl-C during closing skips the remaining adapters.
        """
        warnings: list[str] = []
        try:
            for adapter in self.known.values():
                warnings += (f"{adapter.kind} {adapter.label}: {failure}" for failure in adapter.close())
        except KeyboardInterrupt:
            warnings.append("closing was interrupted")
        return warnings
