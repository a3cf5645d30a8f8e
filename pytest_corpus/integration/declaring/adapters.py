"""The adapters of a run: declared, opened when needed, closed at the end. A transcript may replace an adapter."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_corpus.adapter import inputs
from pytest_corpus.adapter.client import AdapterClient, Declaration
from pytest_corpus.adapter.exceptions import DeclarationError
from pytest_corpus.adapter.hooks.vendors.recording import Recording
from pytest_corpus.adapter.inputs import Source
from pytest_corpus.adapter.opening import address
from pytest_corpus.adapter.opening import factory as factories
from pytest_corpus.adapter.opening.factory import TRANSCRIPT
from pytest_corpus.adapter.opening.remote import RemoteFactory
from pytest_corpus.adapter.usage import Meter, Spending
from pytest_corpus.evidence.player import Player, make_recorded_client
from pytest_corpus.evidence.recorder import Recorder
from pytest_corpus.evidence.transcript import TranscriptError, read
from pytest_corpus.integration.declaring.adapter_kinds import Adapter, FactoryAdapter, TestedClient
from pytest_corpus.integration.declaring.properties import FACTS, RUN
from pytest_corpus.integration.declaring.run_settings import RunSettings
from pytest_corpus.integration.options.run_options import Options
from pytest_corpus.integration.xdist.fact_exchange import FactChannel
from pytest_corpus.kit.component import Subject
from pytest_corpus.kit.run_state import Shared
from pytest_corpus.kit.store.leftovers import Journal, new_run
from pytest_corpus.redaction import secret_values
from pytest_corpus.text.bounded import FileRefused


class RecordedAdapter(FactoryAdapter):
    """An adapter whose answers come from a transcript.

    Raises:
        DeclarationError: the transcript is unreadable or altered, or does not contain the adapter.
    """

    def __init__(self, declared: str, label: str, settings: RunSettings) -> None:
        path = Path(declared.removeprefix(TRANSCRIPT))
        try:
            transcript = read(path)
        except (TranscriptError, FileRefused) as error:
            raise DeclarationError(declared, str(error)) from None
        if label not in transcript.adapters:
            known = ", ".join(transcript.adapters) or "none"
            raise DeclarationError(declared, f"it has no adapter {label!r}, but {known}")
        own = replace(settings, run=str(transcript.header["run"]), recorder=None, facts=None)
        self.transcript, self.facts = transcript, transcript.adapters[label]
        in_process = not self.facts["transport"]
        super().__init__(Declaration(label, lambda: None, declared, in_process=in_process), own)
        self.journal, self.number = Journal(), int(self.facts["number"])
        self.player = Player(transcript, label)
        self._process = ""
        self._entered = inputs.scope_entries()
        self._known: list[tuple[Shared, dict[str, Any]]] = []
        keys = sorted(transcript.tests, key=lambda key: transcript.tests[key].process)  # the order within each is kept
        self._places = {key: place for place, key in enumerate(keys)}

    @property
    def process(self) -> str:
        """The process that ran the current test in the recorded run."""
        return self._process

    @property
    def workers(self) -> int:
        """The number of processes that shared the adapter in the recorded run."""
        return int(self.facts["workers"])

    @property
    def source(self) -> Source:
        """The transcript as the source of inputs."""
        return self.player

    def position_of(self, test: str, repetition: int) -> int:
        """Return the position of a test in its recorded process."""
        return self._places.get((self.label, test, repetition), len(self._places))

    def begin(self, test: str, repetition: int) -> None:
        """Select the recording of a test; forget shared facts if another process ran the test."""
        self.player.begin(test, repetition)
        if self.player.process != self._process:
            self._process = self.player.process
            self._targets.clear()
            self._root_causes.clear()
            self.client = self._make_client()
        subjects = [each for each in self._targets.values() if isinstance(each, Subject)]
        self._entered = inputs.scope_entries()
        self._known = [(each.shared, each.shared.copy_state()) for each in subjects]

    def end_test(self) -> str:
        """Return the reason why the test cannot be judged, or an empty text; forget the facts of the test."""
        reason = self.player.end_test()
        if reason:
            inputs.reset_entries(self._entered)
            for shared, kept in self._known:
                shared.restore(kept)
        return reason

    def close(self) -> Iterator[str]:
        """Add the totals of the recorded run to the ledger. A transcript needs no closing."""
        found = self.transcript.totals.get(self.label)
        if found is not None:
            self.ledger.add_calls(found["calls"], found["tokens"], found.get("took", {}))
            self.ledger.add_delays(found["settle"], found["missed"])
            self.ledger.left.update(found["left"])
            self.ledger.lacking.update(found.get("lacking", ()))
            self.ledger.recorded.update(found.get("recorded", ()))
        if not self.transcript.complete:
            self.ledger.mark_partial("the transcript was cut off")
        yield from ()

    def _open(self) -> None:
        self.client = self._make_client()
        facts = self.facts
        self.components = tuple(facts["components"])
        self.capabilities, self.unnamed = dict(facts["capabilities"]), tuple(facts["unnamed"])
        self.refused = dict(facts.get("refused", {}))

    def _make_client(self) -> AdapterClient:
        return make_recorded_client(
            self.declaration,
            self.player,
            self.facts,
            self.options.call_timeout,
            read_only=bool(self.transcript.header["read_only"]),
            meter=Meter(self.settings.spending),
        )


class Adapters:
    """The adapters of a run, which are opened when they are needed and kept until `close`."""

    def __init__(
        self,
        options: Options,
        spending: Spending,
        decided: Mapping[str, tuple[str, ...]] | None = None,
        worker: Mapping[str, Any] | None = None,
        recording: Recording | None = None,
    ) -> None:
        given = worker or {}
        self.known: dict[str, Adapter] = {}
        self.run = str(given.get(RUN) or (recording and recording.run) or new_run())
        if recording is not None:
            recording.run = self.run
        name, workers = str(given.get("workerid", "")), int(given.get("workercount", 1))
        self.recorder = Recorder(name, secret_values(os.environ)) if options.transcript else None
        self._settings = RunSettings(
            options,
            spending,
            decided or {},
            self.run,
            name,
            workers,
            recorder=self.recorder,
            recording=recording,
            facts=FactChannel(given[FACTS]) if FACTS in given else None,
        )

    def declare(self, factory: Callable[..., Any] | str, declared: str, label: str) -> Adapter:
        """Add an adapter under a unique label.

        Raises:
            DeclarationError: the factory cannot be found, or the label is in use.
        """
        if isinstance(factory, str) and factory.startswith(factories.TRANSCRIPT):
            return self._add(RecordedAdapter(factory, label, self._settings))
        if isinstance(factory, str) and address.scheme_of(factory):
            parsed, connection = address.parse(factory), self._settings.options.connection
            remote = RemoteFactory(parsed, connection)
            remote.check()
            declaration = Declaration(label, remote, parsed.shown, in_process=False, startup_s=connection.startup_s)
            return self._add(FactoryAdapter(declaration, self._settings))
        found = factories.import_factory(factory) if isinstance(factory, str) else factory
        if not callable(found):
            raise DeclarationError(declared, f"a {type(found).__name__} is declared, which is not a factory")
        return self._add(FactoryAdapter(Declaration(label, found, declared), self._settings))

    def declare_client(self, declared: str, label: str) -> Adapter:
        """Add a client library under a unique label.

        Raises:
            DeclarationError: the library cannot be found, or the label is in use.
        """
        try:
            found = factories.import_object(declared)
            return self._add(TestedClient(found, Declaration(label, lambda: found, declared), self._settings))
        except DeclarationError as error:
            error.kind = TestedClient.kind
            raise

    def adapter_at(self, label: str) -> Adapter:
        """Return the adapter with a label. In a distributed run, an adapter that only workers know has no factory."""
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
        """Delete the suite's data and close every open adapter; return a warning for each failure.

        Ctrl-C during closing skips the remaining adapters.
        """
        warnings: list[str] = []
        try:
            for adapter in self.known.values():
                warnings += (f"{adapter.kind} {adapter.label}: {failure}" for failure in adapter.close())
        except KeyboardInterrupt:
            warnings.append("closing was interrupted")
        return [*warnings, *self._close_recording()]

    def _close_recording(self) -> list[str]:
        recording = self._settings.recording
        if recording is None:
            return []
        recording.close()
        if not any(adapter.is_proxied for adapter in self.known.values()):
            return ["nothing passed through provider.proxy, so --corpus-recording did nothing"]
        for adapter in self.known.values():
            if adapter.is_proxied and recording.is_replay:
                adapter.ledger.recorded.add(str(recording))
        return [recording.failed] if recording.failed else []
