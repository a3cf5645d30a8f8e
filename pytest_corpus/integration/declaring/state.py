"""The state that the parts of a conformance run share."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import pytest

from pytest_corpus.adapter.exceptions import DeclarationError
from pytest_corpus.adapter.hooks.vendors.recording import OPTION, Recording, RecordingError
from pytest_corpus.adapter.inputs import Clock
from pytest_corpus.adapter.opening.factory import split_label
from pytest_corpus.adapter.usage import Budget, Spending
from pytest_corpus.integration.collecting.nodes import NodeId, take_ids
from pytest_corpus.integration.declaring.adapter_kinds import Adapter
from pytest_corpus.integration.declaring.adapters import Adapters
from pytest_corpus.integration.declaring.properties import BUDGET, RECORD
from pytest_corpus.integration.options import run_options
from pytest_corpus.integration.options.run_options import Options
from pytest_corpus.integration.running.surroundings import report_warnings
from pytest_corpus.redaction import mask_secrets, printable, secret_values
from pytest_corpus.text import bounded
from pytest_corpus.text.atomic_write import find_obstacle
from pytest_corpus.verdict.ledger import Ledger


class UnusableDeclaration(pytest.Collector.CollectError):
    """A declaration that cannot be tested. Raised in a worker, where it makes the collection fail."""


class RunState:
    """The options and adapters of a run, and its results so far.

    Attributes:
        worker: the input of a pytest-xdist worker; None in any other process.
        spending: the budget of this process, and its use.
        reported: the component and requirement of each violation so far.
        usage_error: True if a declaration cannot be tested.
        named: the ids on the command line that select tests.
    """

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.options = run_options.read_options(config)
        self.worker: dict[str, Any] | None = getattr(config, "workerinput", None)
        given = self.worker or {}
        budget = Budget(**json.loads(given[BUDGET])) if BUDGET in given else self.options.budget
        self.spending = Spending(budget)
        self.recording = open_recording(config, self.options)
        decided = json.loads(given.get(RECORD, "{}"))
        self.adapters = Adapters(self.options, self.spending, decided, self.worker, self.recording)
        self.by_option: list[Adapter] = []
        self.recorder = self.adapters.recorder
        self.reported: set[tuple[str, str]] = set()
        self.started_at = datetime.now(UTC).isoformat(timespec="seconds")
        self.started = Clock.monotonic()
        self.usage_error = False
        declared = self.options.adapters or self.options.clients
        self.named: tuple[NodeId, ...] = take_ids(config) if declared else ()

    @property
    def distributes(self) -> bool:
        """True if this process runs no tests itself but distributes them to workers."""
        return self.worker is None and self.config.getoption("dist", "no") != "no"

    @property
    def labels(self) -> list[str]:
        """The labels of the adapters and clients that options declare."""
        declared = (split_label(each) for each in (*self.options.adapters, *self.options.clients))
        return [label or spec for label, spec in declared]

    def to_usage_error(self, error: DeclarationError) -> Exception:
        """Return the error for a declaration that cannot be used, with a message in one line.

        In a worker the result is a collection error, because a worker cannot end the run.
        """
        self.usage_error = True
        text = str(error) if self.options.on_terminal == "full" else error.sentence_without_content()
        line = printable(mask_secrets(text, secret_values(os.environ)))
        return UnusableDeclaration(line) if self.worker is not None else pytest.UsageError(line)

    @contextmanager
    def usage_errors(self) -> Iterator[None]:
        """Convert a DeclarationError within the context into a usage error."""
        try:
            yield
        except DeclarationError as error:
            raise self.to_usage_error(error) from None

    def unusable_message(self, error: pytest.Collector.CollectError) -> str:
        """Return a message in one line about an adapter that the controller opened but this worker cannot open."""
        assert self.worker is not None
        return f"{error} (in worker {self.worker['workerid']}: run without -n if only one process may open it)"

    def open(self, adapter: Adapter) -> Adapter:
        """Open an adapter and return it. Do not open it if tests are only collected and the components are known.

        Raises:
            pytest.UsageError, pytest.Collector.CollectError: the adapter cannot be tested.
        """
        if self.config.option.collectonly and (adapter.components or self.options.components):
            adapter.components = adapter.components or self.options.components
            return adapter
        if not adapter.is_open:
            with self.usage_errors(), report_warnings(self.config):
                adapter.open()
        return adapter

    def ledger(self, label: str) -> Ledger:
        """Return the ledger of the adapter with a label."""
        return self.adapters.adapter_at(label).ledger


def open_recording(config: pytest.Config, options: Options) -> Recording | None:
    """Return the recording of the provider's answers, or None. Raises pytest.UsageError if it cannot be used."""
    if options.recording is None:
        return None
    shown = f"--corpus-recording={printable(options.recording.name)}"
    try:
        found = Recording(options.recording, options.record, os.environ, seed=options.seed, is_instant=options.instant)
    except bounded.FileRefused as error:
        hint = f"; {OPTION}=once records it" if error.missing else ""
        raise pytest.UsageError(f"{shown}: {error.why}{hint}") from None
    except RecordingError as error:
        raise pytest.UsageError(f"--corpus-recording: {error}") from None
    if config.getoption("dist", "no") != "no":
        if not found.plays:
            raise pytest.UsageError(f"{shown}: record without -n; a recording can be given again with any number")
        if options.transcript is not None:
            raise pytest.UsageError(f"{shown}: a transcript of a run on recorded answers is written without -n")
    if not found.plays and (blocked := find_obstacle(options.recording)):
        raise pytest.UsageError(f"{shown}: {printable(blocked)}")
    return found
