"""Hooks that collect the record of each test and compare it with pytest's report."""

from collections.abc import Generator

import pytest

from pytest_corpus.integration.concluding.findings import Findings
from pytest_corpus.integration.concluding.progress import Progress, expected_calls
from pytest_corpus.integration.concluding.transcript import TranscriptFile
from pytest_corpus.integration.declaring.properties import EVIDENCE, LATE, RECORD, USAGE_ERROR
from pytest_corpus.integration.declaring.state import RunState, UnusableDeclaration
from pytest_corpus.integration.running import messages, presentation
from pytest_corpus.verdict.ledger import Ledger, TestRecord


class RecordHooks:
    """The part of the plugin to which reports arrive: in the process that concludes the run."""

    def __init__(self, state: RunState) -> None:
        self.state, self.findings, self.transcript = state, Findings(), TranscriptFile(state)
        self._progress = Progress()
        self._arrived: dict[str, tuple[Ledger, str]] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if self.state.worker is not None:
            return
        self.transcript.take(report)
        if report.when == "call":
            for text in [value for name, value in report.user_properties if name == RECORD]:
                self._take(report, text)
        elif report.outcome != "passed" and report.nodeid in self._arrived:
            ledger, key = self._arrived[report.nodeid]
            ledger.mark_mismatch(key)

    def _take(self, report: pytest.TestReport, text: object) -> None:
        try:
            record = TestRecord.load(text)
        except ValueError:
            for adapter in self.state.adapters.known.values():
                adapter.ledger.mark_unreliable("a report carries a record that cannot be read")
            return
        shown = presentation.shown_outcome(record, self.state.options)
        ledger = self.state.ledger(record.adapter)
        ledger.reported(record, agrees=report.outcome == shown and not hasattr(report, "wasxfail"))
        self._arrived[report.nodeid] = (ledger, record.key)
        self.findings.take(record, report)
        # Properties that JUnit files show are for people.
        late = [value for name, value in report.user_properties if name == LATE]
        own = (RECORD, EVIDENCE, LATE)
        report.user_properties[:] = [pair for pair in report.user_properties if pair[0] not in own]
        self._progress.report(self.state.config, record, late, self.calls)
        if record.findings and isinstance(report.longrepr, str):
            # A bare text would appear twice in the short summary if CI is set.
            shown_as = messages.Shown(report.longrepr, messages.in_one_line(record.findings))
            report.longrepr = shown_as  # type: ignore[assignment]

    def calls(self, tests: int) -> int:
        """The calls to expect of a number of tests."""
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
            setattr(report, USAGE_ERROR, True)  # a worker sends it along
        return report
