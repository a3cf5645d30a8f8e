"""The subjects under test, which are adapters and client libraries: how they are opened, called and closed."""

from __future__ import annotations

import importlib
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pytest_corpus.adapter.client import AdapterClient, Declaration
from pytest_corpus.adapter.client_library import ClientLibrary
from pytest_corpus.adapter.exceptions import DeclarationError, MissingAnswer, Unresponsive, WriteForbidden
from pytest_corpus.adapter.facts import Capabilities
from pytest_corpus.adapter.hooks.provider import ProviderProbe
from pytest_corpus.adapter.inputs import Source
from pytest_corpus.adapter.opening.factory import spec_of
from pytest_corpus.adapter.opening.remote import RemoteFactory
from pytest_corpus.adapter.transports.protocol import CREDENTIALS
from pytest_corpus.adapter.usage import Meter
from pytest_corpus.evidence import shell
from pytest_corpus.integration.declaring.run_settings import RunSettings
from pytest_corpus.integration.xdist.fact_exchange import SharedFacts
from pytest_corpus.kit.component import Subject
from pytest_corpus.kit.faults import inexpressible_failures
from pytest_corpus.kit.outcomes import Outage
from pytest_corpus.kit.reply import Reply
from pytest_corpus.kit.retries import is_retryable
from pytest_corpus.kit.root_causes import RootCauses
from pytest_corpus.kit.run_state import MIN_NAMESPACES, Settings
from pytest_corpus.kit.store.leftovers import Journal
from pytest_corpus.kit.target import Target
from pytest_corpus.redaction import mask_within, secret_values
from pytest_corpus.spec.components import COMPONENTS
from pytest_corpus.suites import CHAPTERS, CLIENT_CHAPTERS
from pytest_corpus.suites.wire.component import ClientTarget
from pytest_corpus.verdict.ledger import Ledger

OPENING_PAUSES_S = (0.0, 0.1, 1.0, 4.0)
"""The pauses before the requests for capabilities. After a retryable error, the next request follows (R114)."""


class Adapter:
    """A declared adapter or client library. This base class is used for adapters that only the workers know.

    Attributes:
        kind: the name of the kind in warnings.
        option: the command-line option that declares it.
        components: the components to test; empty until they are known.
        unnamed: the components that respond but are not tested, because no declaration names them (R76).
        refused: by component, the reason for missing capabilities, if the adapter requires other credentials.
        capabilities: the capabilities of each component that answered.
        client: the open adapter, for users' own tests.
        journal: the items that the suite stored and has not yet deleted.
        left_out: True if the command line selects other adapters.
        is_proxied: True if the adapter's provider is behind a proxy.
        number: the position among the adapters of the run, from 0.
    """

    kind, option = "adapter", "--corpus-adapter"
    number = 0

    def __init__(self, declaration: Declaration, settings: RunSettings) -> None:
        self.declaration, self.settings, self.options = declaration, settings, settings.options
        self.label = declaration.label
        self.ledger = Ledger(declaration.label)
        self.components: tuple[str, ...] = ()
        self.unnamed: tuple[str, ...] = ()
        self.refused: dict[str, str] = {}
        self.capabilities: dict[str, dict[str, Any]] = {}
        self.client: AdapterClient | None = None
        self.journal = Journal()
        self.left_out = False
        self.is_proxied = False
        self._targets: dict[str, Target] = {}
        self._root_causes: dict[str, RootCauses[Any] | None] = {}

    def proxy(self) -> str:
        """Return the address of the proxy between a running adapter and its provider; empty without a proxy.

        Raises:
            DeclarationError: a proxy is not possible.
        """
        return ""

    def open(self) -> None:
        """Open the adapter and determine the components to test; a second call does nothing.

        Raises:
            DeclarationError: the adapter cannot be opened, or no component answers.
        """
        if not self.is_open:
            self._open()
            self.ledger.components = self.components
            self.ledger.runs.add(self.settings.run)
            self.ledger.capabilities.update(mask_within(self.capabilities, secret_values(os.environ)))

    @property
    def workers(self) -> int:
        """The number of processes that share the adapter."""
        return self.settings.workers

    @property
    def process(self) -> str:
        """The name of the process that runs the current test; empty without workers, or if answers are recorded."""
        return "" if self.settings.recording is not None else self.settings.worker

    @property
    def source(self) -> Source | None:
        """The source of clocks and other inputs for tests, for example a recorder; None for the machine itself."""
        return self.settings.recorder

    def shell_target(self, component: str) -> shell.ShellTarget:
        """Return the adapter as the target of shell commands that send a request again."""
        given = self.options.connection.headers if self.client and self.client.remote else {}
        headers = {name: shell.header_value(name, value, os.environ) for name, value in given.items()}
        target = shell.ShellTarget(self.declaration.declared, component, headers)
        spec = "" if target.scheme or target.is_importable else spec_of(self.declaration.factory)
        return replace(target, declared=spec) if spec else target

    def position_of(self, _test: str, _repetition: int) -> int:
        """Return the position at which a test must run; 0 if the order does not matter."""
        return 0

    def begin(self, test: str, repetition: int) -> None:
        """Prepare for a test; by default do nothing."""

    def end_test(self) -> str:
        """End the current test; return the reason why it cannot be judged, empty if it can be judged."""
        return ""

    def target(self, component: str) -> Target:
        """Return one component of the open adapter, as the object that the suites call."""
        if component not in self._targets:
            target = self._targets[component] = self._make_target(component)
            if isinstance(target, Subject):
                target.other_component = self._subject
        return self._targets[component]

    def _subject(self, component: str) -> Subject | None:
        target = self.target(component) if component in self.components else None
        return target if isinstance(target, Subject) else None

    def root_causes(self, component: str) -> RootCauses[Any] | None:
        """Return the object that finds the causes of a component's violations; None for a client library."""
        if component not in self._root_causes:
            self._root_causes[component] = self._make_root_causes(component)
        return self._root_causes[component]

    def close(self) -> Iterator[str]:
        """Delete the suite's data and close the adapter; yield a sentence for each failure."""
        yield from (f"tidying up raised {name}" for name in self._clean_up())
        for kind, names in self.journal.names_by_kind():
            self.ledger.left.setdefault(kind, []).extend(names)
        self.journal.close()
        if self.journal.failed:
            yield f"{self.journal.failed}; after a SIGKILL `pytest-corpus sweep` would not know what was left"
        if self.client is not None:
            meter = self.client.meter
            self.ledger.add_calls(meter.calls, meter.tokens, meter.took)
            self.ledger.doubts.update(self.client.provider.mistakes.take_mistakes()[1])
            self.ledger.lacking |= inexpressible_failures(self.client.provider)
            self.is_proxied = self.client.provider.is_proxied
        yield from self._close()

    def _clean_up(self) -> Iterator[str]:
        while self._targets:
            component, target = self._targets.popitem()
            if (seconds := target.settle_time.seconds) is not None:
                missed = {component: target.settle_time.missed_s} if target.settle_time.missed_s else {}
                self.ledger.add_delays({component: seconds}, missed)
            if target.auditor.unsettled:
                self.ledger.mark_partial("the late reports of the last calls were not judged")
            try:
                if self.client is not None:
                    self.client.hurries = True
                target.begin()
                target.close_fresh(is_last=True)
                target.tidy()
            except (WriteForbidden, MissingAnswer, Outage):
                continue  # no data, or no way to delete it
            except Exception as error:  # noqa: BLE001 - the adapter must be closed in any case
                yield type(error).__name__

    @property
    def is_open(self) -> bool:
        """True between opening and closing."""
        return False

    def _open(self) -> None:
        """Open the adapter."""

    def _make_target(self, component: str) -> Target:
        raise LookupError(component)

    def _make_root_causes(self, _component: str) -> RootCauses[Any] | None:
        return None

    def _close(self) -> Iterator[str]:
        yield from ()


@dataclass(frozen=True, slots=True)
class CapabilitiesAnswer:
    """The answer of a component's `capabilities` when the adapter is opened.

    Attributes:
        document: the capabilities; None without an answer.
        broken: True if the answer was neither a success nor an error.
        unnamed: True if neither `protocol` nor the factory names the component (R76).
        refused: the answer, if it means that other credentials are needed.
    """

    document: dict[str, Any] | None
    broken: bool = False
    unnamed: bool = False
    refused: str = ""


class FactoryAdapter(Adapter):
    """An adapter that a factory creates, in this process or behind an address."""

    def __init__(self, declaration: Declaration, settings: RunSettings) -> None:
        super().__init__(declaration, settings)
        self.journal = settings.journal(declaration)
        self.provider = ProviderProbe(settings.recording)

    def proxy(self) -> str:
        factory = self.declaration.factory
        if not isinstance(factory, RemoteFactory) or factory.address.scheme.prefix == "cmd:":
            return ""
        return factory.proxy(self.provider)

    @property
    def is_open(self) -> bool:
        return self.client is not None

    def _open(self) -> None:
        options, settings = self.options, self.settings
        named = options.components
        self.unnamed = ()
        decided = settings.decided.get(self.label)
        client = AdapterClient(
            self.declaration,
            options.call_timeout,
            read_only=options.read_only,
            closing=settings.closing,
            meter=Meter(settings.spending),
            recorder=settings.recorder,
            provider=self.provider,
        )
        self.client = client.open(named or tuple(CHAPTERS))
        try:
            answers = {name: self._ask_capabilities(client, name) for name in named or decided or CHAPTERS}
        except MissingAnswer as missing:
            self.client = None
            client.close()
            raise DeclarationError(self.declaration.declared, missing.shape) from None
        self._check_credentials(answers, known=bool(named or decided))
        self.components = tuple(named or decided or self._choose_components(answers))
        documents = {component: answers[component].document for component in self.components}
        self.refused = {component: refused for component in self.components if (refused := answers[component].refused)}
        self.capabilities |= {component: each for component, each in documents.items() if each is not None}
        client.forget()
        if settings.recorder is not None:
            settings.recorder.add_adapter(self._facts_to_record(client))

    def _facts_to_record(self, client: AdapterClient) -> dict[str, Any]:
        """Return the facts of the adapter for the transcript: its capabilities and its transport."""
        served = [name for name in CHAPTERS if client.instance.has_handler(name)]
        return {
            "adapter": self.label,
            "number": self.number,
            "workers": self.workers,
            "declared": self.declaration.declared,
            "components": list(self.components),
            "unnamed": list(self.unnamed),
            **({"refused": self.refused} if self.refused else {}),
            "capabilities": self.capabilities,
            "transport": client.remote.address.scheme.prefix if client.remote else "",
            "hooks": sorted(client.hooks),
            "asked": list(client.instance.accepted_hooks),
            "headers": dict(self.shell_target("").headers),
            "hears_logs": client.hears_logs,
            "streams": [name for name in served if client.instance.has_stream(name)],
        }

    def _ask_capabilities(self, client: AdapterClient, component: str) -> CapabilitiesAnswer:
        if not client.instance.has_handler(component):
            return CapabilitiesAnswer(None)
        request = {"op": f"{component}.capabilities", "ctx": {}, "args": {}}
        try:
            for pause_s in OPENING_PAUSES_S:
                time.sleep(pause_s)
                if not is_retryable(reply := Reply(client.send(request, component))):
                    break
        except Unresponsive:
            return CapabilitiesAnswer(None, broken=True)
        if reply.is_success and isinstance(reply.result, dict):
            protocol = reply.result.get("protocol")
            family = protocol.partition("/")[0] if isinstance(protocol, str) else ""
            named = family == component or (family not in COMPONENTS and client.instance.has_named_handler(component))
            return CapabilitiesAnswer(reply.result, unnamed=not named)
        fault = reply.exchange.fault
        if fault is not None and fault.wants_credentials:
            return CapabilitiesAnswer(None, broken=True, refused=fault.text)
        refused = "the answer is AuthError" if reply.is_a("AuthError") else ""
        return CapabilitiesAnswer(None, broken=not reply.is_error, refused=refused)

    def _check_credentials(self, answers: Mapping[str, CapabilitiesAnswer], *, known: bool) -> None:
        """Raise an error if all answers of a remote adapter mean that it needs other credentials.

        If the components are `known` in advance, an answer that is an envelope raises no error: the suite judges it.
        """
        client, judged = self.client, [answer for answer in answers.values() if known and not answer.broken]
        if client is None or client.remote is None or judged or not all(each.refused for each in answers.values()):
            return
        self.client = None
        client.close()
        name, answer = next(iter(answers.items()))
        raise DeclarationError(
            self.declaration.declared, f"it refuses {name}.capabilities: {answer.refused}", CREDENTIALS
        )

    def _choose_components(self, answers: dict[str, CapabilitiesAnswer]) -> tuple[str, ...]:
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
            operations = ", ".join(f"{name}.capabilities" for name in self.unnamed)
            raise DeclarationError(
                self.declaration.declared,
                f"no `protocol` names a component in what {operations} answer",
                f"answer with '{self.unnamed[0]}/v1.0', or name the component: --corpus-components={self.unnamed[0]}",
            )
        raise DeclarationError(
            self.declaration.declared,
            f"it refuses {' and '.join(f'{name}.capabilities' for name in answers)}",
            "a component is tested where its capabilities answer; name one with --corpus-components to see why not",
        )

    def _make_target(self, component: str) -> Target:
        assert self.client is not None
        options, run = self.options, self.settings
        made: type[Subject] = importlib.import_module(f"pytest_corpus.suites.{component}.support.component").COMPONENT
        most, once = max(MIN_NAMESPACES, options.max_namespaces // self.workers), options.repeat == 1
        given = options.seed, options.edition, run.run, self.process, options.dialects, options.write_delay
        settings = Settings(*given, remembers=once, max_namespaces=most, journal=self.journal)
        document, refused = self.capabilities.get(component, {}), self.refused.get(component, "")
        target = made(self.client, Capabilities(component, document, refused), settings)
        if self.workers > 1 and run.recording is None and once:
            target.shared.common = SharedFacts(self.label, self.client, run.facts)
        return target

    def _make_root_causes(self, component: str) -> RootCauses[Any]:
        module = importlib.import_module(f"pytest_corpus.suites.{component}.support.root_causes")
        made: type[RootCauses[Any]] = module.ROOT_CAUSES
        return made(self.target(component))

    def _close(self) -> Iterator[str]:
        client, self.client = self.client, None
        if client is not None:
            yield from client.close()


class TestedClient(Adapter):
    """A client library under test; its only component is ``wire``."""

    __test__ = False
    kind, option = "client", "--corpus-client"

    def __init__(self, found: Any, declaration: Declaration, settings: RunSettings) -> None:
        super().__init__(declaration, settings)
        self.components = tuple(CLIENT_CHAPTERS)
        self._library = ClientLibrary(found, declaration.declared, self.options.call_timeout, settings.closing)

    @property
    def is_open(self) -> bool:
        return self._library.is_open

    def _open(self) -> None:
        self._library.open()

    def _make_target(self, _component: str) -> Target:
        return ClientTarget(self._library, self.options.edition)

    def _close(self) -> Iterator[str]:
        yield from self._library.close()
