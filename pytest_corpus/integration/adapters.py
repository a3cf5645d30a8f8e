"""The adapters of a run: opened once, asked for their components, closed at the end."""

from __future__ import annotations

import importlib
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from pytest_corpus.adapter import factory as factories
from pytest_corpus.adapter.client import AdapterClient, Declaration
from pytest_corpus.adapter.closing import ClosingBudget
from pytest_corpus.adapter.errors import DeclarationError, WriteForbidden
from pytest_corpus.adapter.facts import Capabilities
from pytest_corpus.adapter.library import ClientLibrary
from pytest_corpus.integration.options import Options
from pytest_corpus.kit.component import Subject
from pytest_corpus.kit.reply import Reply
from pytest_corpus.kit.root_causes import RootCauses
from pytest_corpus.kit.settings import Settings
from pytest_corpus.kit.target import Target
from pytest_corpus.spec.components import COMPONENTS
from pytest_corpus.suites import CHAPTERS, CLIENT_CHAPTERS
from pytest_corpus.suites.wire.component import ClientTarget
from pytest_corpus.verdict.ledger import Ledger


@dataclass
class Adapter:
    """One declared adapter, its components, and what became of it.

    A client library is one, too: `library` is what it comes to, and ``wire`` stands in the place of its components.
    """

    declaration: Declaration
    ledger: Ledger
    options: Options
    components: tuple[str, ...] = ()
    client: AdapterClient | None = None
    library: ClientLibrary | None = None
    subjects: dict[str, Target] = field(default_factory=dict)
    root_causes: dict[str, RootCauses[Any]] = field(default_factory=dict)
    left_out: bool = False

    @property
    def label(self) -> str:
        """How reports call the adapter."""
        return self.declaration.label

    @property
    def option(self) -> str:
        """The option of the command line that declares it."""
        return "--corpus-adapter" if self.library is None else "--corpus-client"

    @classmethod
    def remote(cls, label: str, options: Options) -> Adapter:
        """An adapter that only the workers of a distributed run know."""
        return cls(Declaration(label, cls, label), Ledger(label), options)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a component's `capabilities` said: `document` where it answered, `broken` where that was no refusal."""

    document: dict[str, Any] | None
    broken: bool = False


class Adapters:
    """Opens adapters on demand and keeps them until `close`."""

    def __init__(self, options: Options, decided: dict[str, Any] | None = None) -> None:
        self.options = options
        self.run = secrets.token_hex(3)
        self.known: dict[str, Adapter] = {}
        self._decided = decided or {}
        self._closing = ClosingBudget()

    def declare(self, factory: Callable[..., Any] | str, declared: str, label: str) -> Adapter:
        """Note an adapter under a label of its own.

        Raises:
            DeclarationError: the factory cannot be found, or the label is taken.
        """
        found = factories.resolve(factory) if isinstance(factory, str) else factory
        if not callable(found):
            raise DeclarationError(declared, f"a {type(found).__name__} is declared, which is not a factory")
        if label in self.known:
            raise DeclarationError(declared, f"the name {label!r} is taken", "give it another: label=module:factory")
        adapter = Adapter(Declaration(label, found, declared), Ledger(label), self.options)
        self.known[label] = adapter
        return adapter

    def declare_client(self, declared: str, label: str) -> Adapter:
        """Note a client library under a label of its own.

        Raises:
            DeclarationError: it cannot be found, or the label is taken.
        """
        try:
            found = factories.find(declared)
            adapter = self.declare(lambda: found, declared, label)
        except DeclarationError as error:
            error.kind = "client"
            raise
        adapter.library = ClientLibrary(found, declared, self.options.call_timeout, self._closing)
        adapter.components = adapter.ledger.components = tuple(CLIENT_CHAPTERS)
        return adapter

    def open(self, adapter: Adapter) -> Adapter:
        """Open an adapter and find out which components to test; a second call does nothing.

        Raises:
            DeclarationError: it cannot be opened, or answers for no component.
        """
        if adapter.library is not None:
            if not adapter.library.is_open:
                adapter.library.open()
            return adapter
        if adapter.client is not None:
            return adapter
        named = self.options.components
        decided = self._decided.get(adapter.label)
        client = AdapterClient(
            adapter.declaration,
            self.options.call_timeout,
            read_only=self.options.read_only,
            closing=self._closing,
        )
        adapter.client = client.open(named or tuple(CHAPTERS))
        answers = {name: self._ask(client, name) for name in named or decided or CHAPTERS}
        adapter.components = tuple(named or decided or self._choose(adapter, answers))
        adapter.ledger.components = adapter.components
        for component in adapter.components:
            answer = answers[component]
            if answer.document is not None:
                adapter.ledger.capabilities[component] = answer.document
        client.forget()
        return adapter

    def _ask(self, client: AdapterClient, component: str) -> Answer:
        if not client.serves(component):
            return Answer(None)
        request = {"op": f"{component}.capabilities", "ctx": {}, "args": {}}
        reply = Reply(client.send(request, component))
        if reply.is_success and isinstance(reply.result, dict):
            protocol = reply.result.get("protocol")
            family = protocol.partition("/")[0] if isinstance(protocol, str) else component
            others = set(COMPONENTS) - {component}
            return Answer(None if family in others else reply.result)
        return Answer(None, broken=not reply.is_error)

    def _choose(self, adapter: Adapter, answers: dict[str, Answer]) -> tuple[str, ...]:
        answering = tuple(name for name, answer in answers.items() if answer.document is not None)
        broken = tuple(name for name, answer in answers.items() if answer.broken)
        if answering or broken:
            return answering or broken
        client, adapter.client = adapter.client, None
        if client is not None:
            client.close()
        raise DeclarationError(
            adapter.declaration.declared,
            f"it refuses {' and '.join(f'{name}.capabilities' for name in answers)}",
            "a component is tested where its capabilities answer; name one with --corpus-components to see why not",
        )

    def subject(self, adapter: Adapter, component: str) -> Target:
        """One component of an open adapter, or an open client library, as the suites speak to it."""
        if adapter.library is not None and component not in adapter.subjects:
            adapter.subjects[component] = ClientTarget(adapter.library, self.options.edition)
        if component not in adapter.subjects:
            assert adapter.client is not None
            probe = importlib.import_module(f"pytest_corpus.suites.{component}.component").COMPONENT
            document = adapter.ledger.capabilities.get(component, {})
            settings = Settings(self.options.seed, self.options.edition, self.run, self.options.dialects)
            adapter.subjects[component] = probe(adapter.client, Capabilities(component, document), settings)
        return adapter.subjects[component]

    def root_causes(self, adapter: Adapter, component: str) -> RootCauses[Any] | None:
        """What explains violations of a component of an open adapter; None for a client library."""
        subject = self.subject(adapter, component)
        if isinstance(subject, Subject) and component not in adapter.root_causes:
            found = importlib.import_module(f"pytest_corpus.suites.{component}.root_causes").ROOT_CAUSES
            adapter.root_causes[component] = found(subject)
        return adapter.root_causes.get(component)

    def close(self) -> list[str]:
        """Tidy and close every adapter that is open; what went wrong meanwhile, for warnings. Nothing is raised.

        Who presses Ctrl-C meanwhile need not wait for what is still to be closed.
        """
        warnings: list[str] = []
        try:
            for adapter in self.known.values():
                kind = "adapter" if adapter.library is None else "client"
                for said in self._close(adapter):
                    warnings.append(f"{kind} {adapter.label}: {said}")
        except KeyboardInterrupt:
            warnings.append("closing was interrupted")
        return warnings

    def _close(self, adapter: Adapter) -> Iterator[str]:
        yield from (f"tidying up raised {said}" for said in self._tidy(adapter))
        client, adapter.client = adapter.client, None
        for opened in (client, adapter.library):
            if opened is not None:
                yield from opened.close()

    def _tidy(self, adapter: Adapter) -> Iterator[str]:
        while adapter.subjects:
            _, subject = adapter.subjects.popitem()
            try:
                subject.begin()
                subject.tidy()
            except WriteForbidden:
                continue  # nothing was written
            except Exception as error:  # noqa: BLE001 - whatever tidying ends in, the adapter is still to be closed
                yield type(error).__name__
