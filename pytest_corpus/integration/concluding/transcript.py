"""The file of a run's transcript, in the process that concludes the run."""

from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from pytest_corpus import __version__
from pytest_corpus.evidence.transcript import FORMAT, Writer
from pytest_corpus.integration.declaring.properties import TRANSCRIPT
from pytest_corpus.integration.declaring.state import RunState
from pytest_corpus.integration.options.run_options import Options
from pytest_corpus.integration.options.table import CONNECTION, OPTIONS, setting
from pytest_corpus.spec.requirements import CATALOGUE_VERSION
from pytest_corpus.spec.schemas import EDITIONS
from pytest_corpus.verdict.ledger import Ledger

NOT_RECORDED = frozenset(("adapter", "client", "report", "transcript", "deviations", "update-deviations", "headers"))
"""Options that say nothing of the tests, or may be credentials."""


class TranscriptFile:
    """Writes what the tests recorded, in this process or in workers, as their reports arrive."""

    def __init__(self, state: RunState) -> None:
        self._state, self._recorder = state, state.recorder
        self._writer = Writer(state.options.transcript) if state.options.transcript else None
        self.failed = ""

    def take(self, report: pytest.TestReport) -> None:
        """Write the lines that a test's report carries."""
        lines = [str(value) for name, value in report.user_properties if name == TRANSCRIPT]
        report.user_properties[:] = [pair for pair in report.user_properties if pair[0] != TRANSCRIPT]
        for each in lines:
            self.write(each)

    def write(self, lines: str) -> None:
        """Write lines; what cannot be written fails the run at its end."""
        if self._writer is None or self._recorder is None or self.failed:
            return
        try:
            if not self._writer.lines:
                self._writer.write_lines(self._recorder.line(self._header()))
            self._writer.write_lines(lines)
        except OSError as error:
            self.failed = f"transcript: {self._writer.path} could not be written: {error.strerror}"
            self._writer.abandon()

    def close(self, ledgers: Iterable[Ledger]) -> str:
        """Write the totals and the last line, and return the file's SHA-256; empty if there is no transcript."""
        if self._writer is None or self._recorder is None or self.failed or not self._writer.lines:
            return ""
        for ledger in ledgers:
            members = {name: getattr(ledger, name) for name in ("calls", "tokens", "settle", "missed", "left")}
            self.write(self._recorder.line({"kind": "totals", "adapter": ledger.adapter, **members}))
        try:
            self._writer.close()
        except OSError as error:
            self.failed = f"transcript: {self._writer.path} could not be written: {error.strerror}"
        return self._writer.sha256

    @property
    def said(self) -> list[str]:
        """The line of the summary."""
        if self.failed or self._writer is None:
            return [self.failed] if self.failed else []
        return [f"transcript: {self._writer.path}"] if self._writer.sha256 else []

    def _header(self) -> dict[str, Any]:
        options = self._state.options
        adapters = [
            {"label": each.label, "declared": each.declaration.declared, "capabilities": each.capabilities}
            for each in self._state.adapters.known.values()
        ]
        return {
            "kind": "header",
            "format": FORMAT,
            "pytest-corpus": __version__,
            "catalogue": CATALOGUE_VERSION,
            "schema_editions": list(EDITIONS),
            "seed": options.seed,
            "run": self._state.adapters.run,
            "started_at": self._state.started_at,
            "read_only": options.read_only,
            "call_timeout_s": options.call_timeout,
            "options": recorded_options(self._state.config, options),
            "deviations": options.deviations_path.read_text("utf-8") if options.deviations else "",
            "adapters": adapters,
        }


def recorded_options(config: pytest.Config, read: Options) -> Mapping[str, str]:
    """The options that were given or follow from the environment, and may change what the tests do or come to."""
    found = {"profile": read.profile.name, "edition": read.requirements.name}
    for name in (*(option.name for option in OPTIONS), *CONNECTION):
        value = config.getoption(setting(name), None)
        if value in (None, False) and name in (*(each.name for each in OPTIONS if each.ini), *CONNECTION):
            value = config.getini(setting(name))
        if name not in NOT_RECORDED and value not in (None, False, "", []):
            found[name] = str(value)
    return found
