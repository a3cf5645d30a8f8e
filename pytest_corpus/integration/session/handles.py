"""Handles of adapters and client libraries: how each is opened, called and closed."""

import hashlib
import importlib
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from pytest_corpus.adapter.client import AdapterClient, Declaration
from pytest_corpus.adapter.client_library import ClientLibrary
from pytest_corpus.adapter.event_loop.closing import ClosingBudget
from pytest_corpus.adapter.exceptions import DeclarationError, Unresponsive
from pytest_corpus.adapter.facts import Capabilities
from pytest_corpus.adapter.usage.budget import Spending
from pytest_corpus.adapter.usage.meter import Meter
from pytest_corpus.integration.options.run_options import Options
from pytest_corpus.kit.component import Subject
from pytest_corpus.kit.reply import Reply
from pytest_corpus.kit.retries import is_retryable
from pytest_corpus.kit.root_causes import RootCauses
from pytest_corpus.kit.run_state import MIN_NAMESPACES, Settings
from pytest_corpus.kit.store.leftovers import FOLDER, Journal, new_run
from pytest_corpus.kit.target import Target
from pytest_corpus.spec.components import COMPONENTS
from pytest_corpus.suites import CHAPTERS, CLIENT_CHAPTERS
from pytest_corpus.suites.wire.component import ClientTarget

OPENING_PAUSES_S = (0.1, 1.0, 4.0)
"""The pauses after which capabilities are asked for again that fail in a way that may pass (R114)."""


@dataclass(frozen=True)
class RunSettings:
    """What all adapters of a run have in common: the options, a word that is new in each run, the time for closing.

    `spending` is what they may use together; `decided` are the components that the controller of a distributed run
    chose, by label. `run` is the id of the run, `worker` the one of its `workers` that this process is, if it is one.
    """

    options: Options
    spending: Spending = field(default_factory=Spending)
    decided: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    run: str = field(default_factory=new_run)
    worker: str = ""
    workers: int = 1
    closing: ClosingBudget = field(default_factory=ClosingBudget)

    def journal(self, declaration: Declaration) -> Journal:
        """The leftovers of an adapter, written down for `pytest-corpus sweep` as well."""
        label = hashlib.sha256(declaration.label.encode()).hexdigest()[:6]
        name = "-".join(filter(None, (self.run, self.worker, label)))
        return Journal(self.options.folder / FOLDER / f"{name}.jsonl", self.run, declaration.declared)


class Handle(Protocol):
    """One kind of thing that is tested.

    Attributes:
        kind: how warnings call it.
        option: the option of the command line that declares it.
        components: the components that it is tested for; empty while that is not known.
        capabilities: the capabilities of each of them that answered.
        journal: what the suite wrote into it and has not deleted yet.
        client: what calls it, for users' own tests; None where it is not an open adapter.
        unnamed: the components that answer and are not tested, for nothing names them (R76).
    """

    kind: str
    option: str
    components: tuple[str, ...]
    capabilities: dict[str, dict[str, Any]]
    journal: Journal

    @property
    def client(self) -> AdapterClient | None: ...

    @property
    def unnamed(self) -> tuple[str, ...]: ...

    def open(self) -> bool:
        """Open it and find out its components; return False if it was open already.

        Raises:
            DeclarationError: it cannot be opened, or answers for no component.
        """

    def target(self, component: str) -> Target:
        """A component of it as the suites speak to it, once it is open."""

    def root_causes(self, component: str, target: Target) -> RootCauses[Any] | None:
        """What explains violations of a component; None where nothing does."""

    def close(self) -> Iterator[str]:
        """Close it; what went wrong meanwhile."""


class WorkerOnlyHandle:
    """An adapter that only the workers of a distributed run know."""

    kind, option = "adapter", "--corpus-adapter"
    components: tuple[str, ...] = ()
    unnamed: tuple[str, ...] = ()
    journal = Journal()
    capabilities: dict[str, dict[str, Any]] = {}  # noqa: RUF012 - nothing is ever written to it
    client = None

    def open(self) -> bool:
        return True

    def target(self, component: str) -> Target:
        raise LookupError(component)

    def root_causes(self, _component: str, _target: Target) -> None:
        return None

    def close(self) -> Iterator[str]:
        yield from ()


@dataclass(frozen=True, slots=True)
class Answer:
    """What a component's `capabilities` said: `document` where it answered, `broken` where that was no refusal.

    `unnamed`: it answered, and neither `protocol` nor the factory names the component (R76).
    """

    document: dict[str, Any] | None
    broken: bool = False
    unnamed: bool = False


class AdapterHandle:
    """An adapter behind a factory."""

    kind, option = "adapter", "--corpus-adapter"

    def __init__(self, declaration: Declaration, settings: RunSettings) -> None:
        self._declaration, self._settings = declaration, settings
        self.components: tuple[str, ...] = ()
        self.capabilities: dict[str, dict[str, Any]] = {}
        self.unnamed: tuple[str, ...] = ()
        self.client: AdapterClient | None = None
        self.journal = settings.journal(declaration)

    def open(self) -> bool:
        if self.client is not None:
            return False
        options = self._settings.options
        named = options.components
        self.unnamed = ()
        decided = self._settings.decided.get(self._declaration.label)
        client = AdapterClient(
            self._declaration,
            options.call_timeout,
            read_only=options.read_only,
            closing=self._settings.closing,
            meter=Meter(self._settings.spending),
        )
        self.client = client.open(named or tuple(CHAPTERS))
        answers = {name: self._ask(client, name) for name in named or decided or CHAPTERS}
        self.components = tuple(named or decided or self._choose(answers))
        for component in self.components:
            document = answers[component].document
            if document is not None:
                self.capabilities[component] = document
        client.forget()
        return True

    def _ask(self, client: AdapterClient, component: str) -> Answer:
        if not client.serves(component):
            return Answer(None)
        request = {"op": f"{component}.capabilities", "ctx": {}, "args": {}}
        try:
            reply = Reply(client.send(request, component))
            for pause_s in OPENING_PAUSES_S:
                if not is_retryable(reply):
                    break
                time.sleep(pause_s)
                reply = Reply(client.send(request, component))
        except Unresponsive:
            return Answer(None, broken=True)
        if reply.is_success and isinstance(reply.result, dict):
            protocol = reply.result.get("protocol")
            family = protocol.partition("/")[0] if isinstance(protocol, str) else ""
            named = family == component or (family not in COMPONENTS and client.names(component))
            return Answer(reply.result, unnamed=not named)
        return Answer(None, broken=not reply.is_error)

    def _choose(self, answers: dict[str, Answer]) -> tuple[str, ...]:
        found = {name: answer for name, answer in answers.items() if answer.document is not None}
        answering = tuple(name for name, answer in found.items() if not answer.unnamed)
        self.unnamed = tuple(name for name, answer in found.items() if answer.unnamed)
        broken = tuple(name for name, answer in answers.items() if answer.broken)
        if answering or (broken and not self.unnamed):
            return answering or broken
        client, self.client = self.client, None
        if client is not None:
            client.close()
        if self.unnamed:
            raise DeclarationError(
                self._declaration.declared,
                f"no `protocol` names a component in what {', '.join(f'{name}.capabilities' for name in self.unnamed)} "
                "answer",
                f"answer with '{self.unnamed[0]}/v1.0', or name the component: --corpus-components={self.unnamed[0]}",
            )
        raise DeclarationError(
            self._declaration.declared,
            f"it refuses {' and '.join(f'{name}.capabilities' for name in answers)}",
            "a component is tested where its capabilities answer; name one with --corpus-components to see why not",
        )

    def target(self, component: str) -> Target:
        assert self.client is not None
        options = self._settings.options
        made: type[Subject] = importlib.import_module(f"pytest_corpus.suites.{component}.support.component").COMPONENT
        settings = Settings(
            options.seed,
            options.edition,
            "-".join(filter(None, (self._settings.run, self._settings.worker))),
            options.dialects,
            options.write_delay,
            remembers=options.repeat == 1,
            max_namespaces=max(MIN_NAMESPACES, options.max_namespaces // self._settings.workers),
            journal=self.journal,
        )
        return made(self.client, Capabilities(component, self.capabilities.get(component, {})), settings)

    def root_causes(self, component: str, target: Target) -> RootCauses[Any]:
        made: type[RootCauses[Any]] = importlib.import_module(
            f"pytest_corpus.suites.{component}.support.root_causes"
        ).ROOT_CAUSES
        return made(target)

    def close(self) -> Iterator[str]:
        client, self.client = self.client, None
        if client is not None:
            yield from client.close()


class ClientHandle:
    """A client library; ``wire`` stands in the place of its components."""

    kind, option = "client", "--corpus-client"
    client = None
    unnamed: tuple[str, ...] = ()

    def __init__(self, found: Any, declared: str, settings: RunSettings) -> None:
        self.components = tuple(CLIENT_CHAPTERS)
        self.capabilities: dict[str, dict[str, Any]] = {}
        self.journal = Journal()
        self._edition = settings.options.edition
        self._library = ClientLibrary(found, declared, settings.options.call_timeout, settings.closing)

    def open(self) -> bool:
        if self._library.is_open:
            return False
        self._library.open()
        return True

    def target(self, _component: str) -> Target:
        return ClientTarget(self._library, self._edition)

    def root_causes(self, _component: str, _target: Target) -> None:
        return None

    def close(self) -> Iterator[str]:
        yield from self._library.close()
