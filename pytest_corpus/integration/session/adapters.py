"""The adapters of a run: opened once, asked for their components, closed at the end."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_corpus.adapter.client import Declaration
from pytest_corpus.adapter.exceptions import DeclarationError, WriteForbidden
from pytest_corpus.adapter.opening import address
from pytest_corpus.adapter.opening import factory as factories
from pytest_corpus.adapter.opening.remote import RemoteFactory
from pytest_corpus.adapter.usage.budget import Spending
from pytest_corpus.integration.options.run_options import Options
from pytest_corpus.integration.session.handles import AdapterHandle, ClientHandle, Handle, RunSettings, WorkerOnlyHandle
from pytest_corpus.integration.session.properties import RUN
from pytest_corpus.kit.component import Subject
from pytest_corpus.kit.outcomes import Outage
from pytest_corpus.kit.root_causes import RootCauses
from pytest_corpus.kit.store.leftovers import new_run
from pytest_corpus.kit.target import Target
from pytest_corpus.redaction.secrets import masked_within, secret_values
from pytest_corpus.verdict.ledger import Ledger


@dataclass
class Adapter:
    """One declared adapter or client library, its components, and what became of it."""

    declaration: Declaration
    ledger: Ledger
    options: Options
    handle: Handle
    run: str = ""
    targets: dict[str, Target] = field(default_factory=dict)
    left_out: bool = False
    _root_causes: dict[str, RootCauses[Any] | None] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """How reports call the adapter."""
        return self.declaration.label

    @property
    def option(self) -> str:
        """The option of the command line that declares it."""
        return self.handle.option

    @property
    def components(self) -> tuple[str, ...]:
        """The components that it is tested for, once it is open."""
        return self.handle.components

    def open(self) -> Adapter:
        """Open it and find out which components to test; a second call does nothing.

        Raises:
            DeclarationError: it cannot be opened, or answers for no component.
        """
        if self.handle.open():
            self.ledger.components = self.components
            self.ledger.runs.add(self.run)
            self.ledger.capabilities.update(masked_within(self.handle.capabilities, secret_values(os.environ)))
        return self

    def target(self, component: str) -> Target:
        """One of its components, once it is open, as the suites speak to it."""
        if component not in self.targets:
            target = self.targets[component] = self.handle.target(component)
            if isinstance(target, Subject):
                target.beside = self._subject
        return self.targets[component]

    def _subject(self, component: str) -> Subject | None:
        target = self.target(component) if component in self.components else None
        return target if isinstance(target, Subject) else None

    def root_causes(self, component: str) -> RootCauses[Any] | None:
        """What explains violations of a component; None for a client library."""
        if component not in self._root_causes:
            self._root_causes[component] = self.handle.root_causes(component, self.target(component))
        return self._root_causes[component]

    def close(self) -> Iterator[str]:
        """Tidy up and close it; what went wrong meanwhile."""
        yield from (f"tidying up raised {said}" for said in self._tidy())
        for kind, names in self.handle.journal.counted():
            self.ledger.left.setdefault(kind, []).extend(names)
        self.handle.journal.close()
        if (client := self.handle.client) is not None:
            self.ledger.called(client.meter.calls, client.meter.tokens)
        yield from self.handle.close()

    def _tidy(self) -> Iterator[str]:
        while self.targets:
            component, target = self.targets.popitem()
            if target.settle_s is not None:
                missed = {component: target.missed_s} if target.missed_s else {}
                self.ledger.settled({component: target.settle_s}, missed)
            try:
                target.begin()
                target.tidy()
            except (WriteForbidden, Outage):
                continue  # nothing was written, or nothing can be removed
            except Exception as error:  # noqa: BLE001 - whatever tidying ends in, the adapter is still to be closed
                yield type(error).__name__


class Adapters:
    """Opens adapters on demand and keeps them until `close`."""

    def __init__(
        self,
        options: Options,
        spending: Spending,
        decided: Mapping[str, tuple[str, ...]] | None = None,
        worker: Mapping[str, Any] | None = None,
    ) -> None:
        told = worker or {}
        self.known: dict[str, Adapter] = {}
        self.run = str(told.get(RUN) or new_run())
        name, workers = str(told.get("workerid", "")), int(told.get("workercount", 1))
        self._settings = RunSettings(options, spending, decided or {}, self.run, name, workers)

    def declare(self, factory: Callable[..., Any] | str, declared: str, label: str) -> Adapter:
        """Note an adapter under a label of its own.

        Raises:
            DeclarationError: the factory cannot be found, or the label is taken.
        """
        if isinstance(factory, str) and address.scheme_of(factory):
            return self._declare_address(factory, label)
        found = factories.resolve(factory) if isinstance(factory, str) else factory
        if not callable(found):
            raise DeclarationError(declared, f"a {type(found).__name__} is declared, which is not a factory")
        declaration = Declaration(label, found, declared)
        return self._note(declaration, AdapterHandle(declaration, self._settings))

    def _declare_address(self, declared: str, label: str) -> Adapter:
        parsed = address.parse(declared)
        connection = self._settings.options.connection
        found = RemoteFactory(parsed, connection)
        found.check()
        declaration = Declaration(label, found, parsed.shown, in_process=False, startup_s=connection.startup_s)
        return self._note(declaration, AdapterHandle(declaration, self._settings))

    def declare_client(self, declared: str, label: str) -> Adapter:
        """Note a client library under a label of its own.

        Raises:
            DeclarationError: it cannot be found, or the label is taken.
        """
        try:
            found = factories.find(declared)
            handle = ClientHandle(found, declared, self._settings)
            return self._note(Declaration(label, lambda: found, declared), handle)
        except DeclarationError as error:
            error.kind = ClientHandle.kind
            raise

    def at(self, label: str) -> Adapter:
        """The adapter of a label, which perhaps only the workers of a distributed run know."""
        if label not in self.known:
            self._note(Declaration(label, WorkerOnlyHandle, label), WorkerOnlyHandle())
        return self.known[label]

    def _note(self, declaration: Declaration, handle: Handle) -> Adapter:
        label, declared = declaration.label, declaration.declared
        if label in self.known:
            raise DeclarationError(declared, f"the name {label!r} is taken", "give it another: label=module:factory")
        self.known[label] = Adapter(declaration, Ledger(label), self._settings.options, handle, self.run)
        return self.known[label]

    def close(self) -> list[str]:
        """Tidy and close every adapter that is open; what went wrong meanwhile, for warnings. Nothing is raised.

        Who presses Ctrl-C meanwhile need not wait for what is still to be closed.
        """
        warnings: list[str] = []
        try:
            for adapter in self.known.values():
                for said in adapter.close():
                    warnings.append(f"{adapter.handle.kind} {adapter.label}: {said}")
        except KeyboardInterrupt:
            warnings.append("closing was interrupted")
        return warnings
