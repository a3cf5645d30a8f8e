"""An adapter that answers from a transcript: for judging a run again."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_corpus.adapter import inputs
from pytest_corpus.adapter.client import Declaration
from pytest_corpus.adapter.exceptions import DeclarationError
from pytest_corpus.adapter.hooks.metrics import RecordingSink
from pytest_corpus.adapter.inputs import Source
from pytest_corpus.adapter.opening.factory import TRANSCRIPT
from pytest_corpus.adapter.usage import Meter
from pytest_corpus.evidence.player import Player, RecordedClient
from pytest_corpus.evidence.transcript import TranscriptError, read
from pytest_corpus.integration.declaring.adapter_kinds import FactoryAdapter, RunSettings
from pytest_corpus.kit.component import Subject
from pytest_corpus.kit.run_state import Shared
from pytest_corpus.kit.store.leftovers import Journal


class RecordedAdapter(FactoryAdapter):
    """The adapter of one label in a transcript.

    Raises:
        DeclarationError: the transcript cannot be read or believed, or does not have the adapter.
    """

    def __init__(self, declared: str, label: str, settings: RunSettings) -> None:
        path = Path(declared.removeprefix(TRANSCRIPT))
        try:
            transcript = read(path)
        except TranscriptError as error:
            raise DeclarationError(declared, str(error)) from None
        except OSError as error:
            raise DeclarationError(declared, f"it cannot be read: {error.strerror}") from None
        if label not in transcript.adapters:
            known = ", ".join(transcript.adapters) or "none"
            raise DeclarationError(declared, f"it has no adapter {label!r}, but {known}")
        own = replace(settings, run=str(transcript.header["run"]), recorder=None)
        self.transcript, self.facts = transcript, transcript.adapters[label]
        in_process = not self.facts["transport"]
        super().__init__(Declaration(label, lambda: None, declared, in_process=in_process), own)
        self.journal, self.number = Journal(), self.facts["number"]
        self.player = Player(transcript, label)
        self._process = ""
        self._entered = inputs.entered()
        self._known: list[tuple[Shared, dict[str, Any]]] = []
        keys = sorted(transcript.tests, key=lambda key: transcript.tests[key].process)  # stable: the order of each
        self._places = {key: place for place, key in enumerate(keys)}

    @property
    def process(self) -> str:
        """The process that ran the current test."""
        return self._process

    @property
    def workers(self) -> int:
        """The number of processes that shared the adapter."""
        return int(self.facts["workers"])

    @property
    def source(self) -> Source:
        """The record."""
        return self.player

    def place_of(self, test: str, repetition: int) -> int:
        """The place of a test in the order in which its process ran it."""
        return self._places.get((self.label, test, repetition), len(self._places))

    def begin(self, test: str, repetition: int) -> None:
        """Give a test its record; another process knew nothing of what the one before had found out."""
        self.player.begin(test, repetition)
        if self.player.process != self._process:
            self._process = self.player.process
            self._targets.clear()
            self._root_causes.clear()
            self.client = self._client()
        subjects = [each for each in self._targets.values() if isinstance(each, Subject)]
        self._entered = inputs.entered()
        self._known = [(each.shared, each.shared.kept()) for each in subjects]

    def end(self) -> str:
        """The reason why the test cannot be judged; its results are then forgotten."""
        reason = self.player.end()
        if reason:
            inputs.reset(self._entered)
            for shared, kept in self._known:
                shared.restore(kept)
        return reason

    def close(self) -> Iterator[str]:
        """Take the totals of the run; there is nothing to close."""
        found = self.transcript.totals.get(self.label)
        if found is not None:
            self.ledger.called(Counter(found["calls"]), Counter(found["tokens"]))
            self.ledger.settled(found["settle"], found["missed"])
            self.ledger.left.update(found["left"])
        if not self.transcript.complete:
            self.ledger.mark_partial("the transcript was cut off")
        yield from ()

    def _open(self) -> bool:
        if self.client is not None:
            return False
        self.client = self._client()
        facts = self.facts
        self.components = tuple(facts["components"])
        self.capabilities, self.unnamed = dict(facts["capabilities"]), tuple(facts["unnamed"])
        return True

    def _client(self) -> RecordedClient:
        return RecordedClient(
            self.declaration,
            self.options.call_timeout,
            metrics=RecordingSink(),
            read_only=bool(self.transcript.header["read_only"]),
            closing=self.settings.closing,
            meter=Meter(self.settings.spending),
            player=self.player,
            facts=self.facts,
        ).open()
