"""The state that the parts of a conformance run share."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import pytest

from pytest_corpus.adapter.exceptions import DeclarationError
from pytest_corpus.adapter.inputs import Clock
from pytest_corpus.adapter.opening.factory import split_label
from pytest_corpus.adapter.usage import Budget, Spending
from pytest_corpus.integration.declaring.adapter_kinds import Adapter
from pytest_corpus.integration.declaring.adapters import Adapters
from pytest_corpus.integration.declaring.properties import BUDGET, RECORD
from pytest_corpus.integration.options import node_ids, run_options
from pytest_corpus.integration.options.leniency import report_warnings
from pytest_corpus.integration.options.node_ids import NodeId
from pytest_corpus.integration.options.recordings import open_recording
from pytest_corpus.redaction import mask_secrets, printable, secret_values
from pytest_corpus.verdict.ledger import Ledger


class UnusableDeclaration(pytest.Collector.CollectError):
    """A declaration that cannot be tested. In a worker it makes the collection fail."""


class RunState:
    """The options and adapters of a run, and its results so far.

    Attributes:
        worker: the input of a pytest-xdist worker; None in any other process.
        spending: the calls and tokens that this process may use and has used.
        reported: the place and requirement of each violation.
        usage_error: True if a declaration cannot be tested.
        named: the tests that the command line names by their ids.
    """

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.options = run_options.read(config)
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
        self.named: tuple[NodeId, ...] = node_ids.take(config) if declared else ()

    @property
    def distributes(self) -> bool:
        """True if this process runs no tests but distributes them to workers."""
        return self.worker is None and self.config.getoption("dist", "no") != "no"

    @property
    def labels(self) -> list[str]:
        """The labels of the adapters and clients that options declare."""
        declared = (split_label(each) for each in (*self.options.adapters, *self.options.clients))
        return [label or spec for label, spec in declared]

    def usage(self, error: DeclarationError) -> Exception:
        """A usage error with one clear line. A worker cannot end the run, so it reports a collection error."""
        self.usage_error = True
        text = str(error) if self.options.on_terminal == "full" else error.without_content()
        line = printable(mask_secrets(text, secret_values(os.environ)))
        return UnusableDeclaration(line) if self.worker is not None else pytest.UsageError(line)

    @contextmanager
    def usage_errors(self) -> Iterator[None]:
        """Convert a declaration that cannot be used into a usage error."""
        try:
            yield
        except DeclarationError as error:
            raise self.usage(error) from None

    def unusable_here(self, error: pytest.Collector.CollectError) -> str:
        """One clear line about an adapter that the controller opened and this worker cannot test."""
        assert self.worker is not None
        return f"{error} (in worker {self.worker['workerid']}: run without -n if only one process may open it)"

    def open(self, adapter: Adapter) -> Adapter:
        """Open an adapter, unless tests are only collected and its components are known.

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
        """The ledger of an adapter, which only a worker may know."""
        return self.adapters.at(label).ledger
