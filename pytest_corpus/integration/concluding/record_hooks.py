"""Hooks that collect the result, findings and transcript of each test, in the process that writes the reports."""

import os
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from typing import Any

import pytest

from pytest_corpus import __version__
from pytest_corpus.evidence.judging import OPTIONS as JUDGING
from pytest_corpus.evidence.transcript import FORMAT
from pytest_corpus.integration.concluding.progress import Progress, expected_calls
from pytest_corpus.integration.concluding.progress_bar import ProgressBar
from pytest_corpus.integration.declaring.properties import LATE, RECORD, TRANSCRIPT, USAGE_ERROR, remove, values_of
from pytest_corpus.integration.declaring.state import RunState, UnusableDeclaration
from pytest_corpus.integration.options.run_options import Options
from pytest_corpus.integration.options.table import OPTIONS, setting
from pytest_corpus.integration.running import presentation
from pytest_corpus.spec.requirements import CATALOGUE_VERSION
from pytest_corpus.spec.schemas import SCHEMA_VERSIONS
from pytest_corpus.validation.sealed_lines import Writer
from pytest_corpus.verdict.finding import Finding
from pytest_corpus.verdict.ledger import Ledger, TestRecord


class TranscriptFile:
    """Writes the transcript. The lines of a test in this process or in a worker are written when its report arrives."""

    def __init__(self, state: RunState) -> None:
        self._state, self._recorder = state, state.recorder
        self._writer = Writer(state.options.transcript) if state.options.transcript else None
        self.failed = ""

    def write_report_lines(self, report: pytest.TestReport) -> None:
        """Write the lines of the transcript that a test's report contains, and remove them from the report."""
        lines = values_of(report, TRANSCRIPT)
        remove(report, TRANSCRIPT)
        for each in lines:
            self.write(str(each))

    def write(self, lines: str) -> None:
        """Write lines. If that fails, the run fails at its end."""
        if self._writer is None or self._recorder is None or self.failed:
            return
        try:
            if not self._writer.lines:
                self._writer.write_lines(self._recorder.encode_line(self._header()))
            self._writer.write_lines(lines)
        except OSError as error:
            self.failed = f"transcript: {self._writer.path} could not be written: {error.strerror}"
            self._writer.abandon()

    def close(self, ledgers: Iterable[Ledger]) -> str:
        """Write the totals and the last line; return the SHA-256 of the file, or an empty text without a transcript."""
        if self._writer is None or self._recorder is None or self.failed or not self._writer.lines:
            return ""
        for ledger in ledgers:
            members = {name: getattr(ledger, name) for name in ("calls", "tokens", "took", "settle", "missed", "left")}
            if ledger.lacking:
                members["lacking"] = sorted(ledger.lacking)
            if ledger.recorded:
                members["recorded"] = sorted(ledger.recorded)
            self.write(self._recorder.encode_line({"kind": "totals", "adapter": ledger.adapter, **members}))
        try:
            self._writer.close()
        except OSError as error:
            self.failed = f"transcript: {self._writer.path} could not be written: {error.strerror}"
            self._writer.abandon()
        return self._writer.sha256

    @property
    def summary_lines(self) -> list[str]:
        """The line about the transcript for the summary, in a list."""
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
            "schema_versions": list(SCHEMA_VERSIONS),
            "seed": options.seed,
            "run": self._state.adapters.run,
            "started_at": self._state.started_at,
            "read_only": options.read_only,
            "call_timeout_s": options.call_timeout,
            "options": options_to_record(self._state.config, options),
            "deviations": options.deviations_path.read_text("utf-8") if options.deviations else "",
            **({"dialects": options.given_dialects} if options.given_dialects else {}),
            "adapters": adapters,
        }


def options_to_record(config: pytest.Config, read: Options) -> Mapping[str, str]:
    """Return the options that influence the verdict on a transcript. Some are derived from the environment."""
    found = {"profile": read.profile.name, "edition": read.requirements.name}
    for option in OPTIONS:
        value = config.getoption(setting(option.name), None)
        if value in (None, False) and option.ini:
            value = config.getini(setting(option.name))
        if option.name in JUDGING and value not in (None, False, "", []):
            found[option.name] = ",".join(value) if isinstance(value, list) else str(value)
    return found


class Findings:
    """All findings of the run, in the order of execution; `nodes` are the ids of the finished tests."""

    def __init__(self) -> None:
        self.every: list[Finding] = []
        self.nodes: set[str] = set()

    def add_record(self, record: TestRecord, node: str) -> None:
        """Add the findings of a test with this pytest id. If the test was repeated, only new findings are added."""
        known = {each for each in self.every if each.found_by == node} if node in self.nodes else set[Finding]()
        self.nodes.add(node)
        self.every += (each for each in record.findings if each not in known)

    def of_adapter(self, adapter: str) -> Iterator[Finding]:
        """Return the findings of one adapter."""
        return (each for each in self.every if each.adapter == adapter)


class RecordHooks:
    """The plugin that receives reports of tests, in the process that writes the reports."""

    def __init__(self, state: RunState, in_flight: Callable[[], int]) -> None:
        self.state, self.findings, self.transcript = state, Findings(), TranscriptFile(state)
        self._progress = Progress(state.config, self.expected_calls, in_flight)
        self._arrived: dict[str, tuple[Ledger, str]] = {}

    def pytest_sessionstart(self) -> None:
        if self.state.worker is None and is_watched(self.state.config):
            self._progress.has_bar = True
            shown = ProgressBar(self.state.config, self._progress.bar_text)
            self.state.config.pluginmanager.register(shown, "corpus-progress-bar")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if self.state.worker is not None:
            return
        self.transcript.write_report_lines(report)
        if report.when == "call":
            for text in values_of(report, RECORD):
                self._take_record(report, text)
        elif report.outcome != "passed" and report.nodeid in self._arrived:
            ledger, key = self._arrived[report.nodeid]
            ledger.mark_mismatch(key)

    def _take_record(self, report: pytest.TestReport, text: object) -> None:
        try:
            record = TestRecord.load(text)
        except ValueError:
            for adapter in self.state.adapters.known.values():
                adapter.ledger.mark_unreliable("a report carries a record that cannot be read")
            return
        shown = presentation.pytest_outcome(record, self.state.options)
        ledger = self.state.ledger(record.adapter)
        runs_again = str(report.outcome) == "rerun" and shown == "failed"
        agrees = (report.outcome == shown or runs_again) and not hasattr(report, "wasxfail")
        ledger.add_report(record, agrees=agrees, runs_again=runs_again)
        self._arrived[report.nodeid] = (ledger, record.key)
        self.findings.add_record(record, report.nodeid)
        # The properties that remain appear in JUnit files, for people.
        late = values_of(report, LATE)
        remove(report, RECORD, LATE)
        self._progress.report(record, late)
        if record.findings and isinstance(report.longrepr, str):
            # A str would appear twice in the short summary if CI is set.
            shown_as = presentation.FailureText(report.longrepr, presentation.summarize(record.findings))
            report.longrepr = shown_as  # type: ignore[assignment]

    def expected_calls(self, tests: int) -> int:
        """Return the expected number of calls for a number of tests."""
        ledgers = [adapter.ledger for adapter in self.state.adapters.known.values()]
        return expected_calls(ledgers, tests, stress=self.state.options.profile.stress)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if getattr(report, USAGE_ERROR, False):
            self.state.usage_error = True

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        report = yield
        call = getattr(report, "call", None)
        if call is not None and call.excinfo is not None and isinstance(call.excinfo.value, UnusableDeclaration):
            setattr(report, USAGE_ERROR, True)  # a worker sends this attribute to the controller
        return report


def is_watched(config: pytest.Config) -> bool:
    """True if a person watches the run in a terminal with cursor control and did not ask for quiet output."""
    terminal: Any = config.pluginmanager.get_plugin("terminalreporter")
    can_draw = terminal is not None and terminal.isatty and os.environ.get("TERM", "dumb") != "dumb"
    is_plain = config.get_verbosity() < 0 or config.getoption("capture") == "no" or bool(os.environ.get("CI"))
    return can_draw and not is_plain and not config.getoption("usepdb", False)
