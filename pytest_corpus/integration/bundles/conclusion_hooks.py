"""Hooks at the end of a run with bundles: sections of reports, summary, baseline."""

import time
from collections.abc import Generator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pytest_corpus.bundles.reporting import baselines, section
from pytest_corpus.bundles.results import ERROR
from pytest_corpus.bundles.running.cassettes import Cassettes
from pytest_corpus.bundles.session import BundleOptions
from pytest_corpus.integration.bundles.records import Arrived
from pytest_corpus.integration.concluding.exits import USUAL_ENDS
from pytest_corpus.integration.declaring.properties import BUNDLE_RESULT
from pytest_corpus.integration.options.checks import CONFORMANCE
from pytest_corpus.redaction.values import printable


class BundleConclusionHooks:
    """The part of the plugin to which the results of cases arrive, in the process that concludes the run."""

    def __init__(self, config: pytest.Config, options: BundleOptions, spent_budget: Any) -> None:
        self.config, self.options = config, options
        self.arrived = Arrived()
        self._spent_budget = spent_budget
        self._sections: dict[str, dict[str, Any]] | None = None
        self._judged: list[str] = []
        self._said: list[str] = []
        self._started, self._started_at = time.monotonic(), datetime.now(UTC)

    @property
    def _concludes(self) -> bool:
        return not hasattr(self.config, "workerinput") and not self.config.option.collectonly

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if hasattr(self.config, "workerinput"):
            return
        for name, value in report.user_properties:
            if name == BUNDLE_RESULT:
                self.arrived.take(str(value))
        # It has arrived; what pytest writes of properties (JUnit) is for people.
        report.user_properties[:] = [pair for pair in report.user_properties if pair[0] != BUNDLE_RESULT]

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> Generator[None, object, object]:
        if not self._concludes or not self.arrived.heads:
            return (yield)
        if exitstatus in USUAL_ENDS:
            self._judged = self._all_judged()
        self._sections = self.arrived.sections(self._judged)
        self._note_cassettes()
        failed = self._hold_to_baseline()
        self._said += self._reports()
        result = yield
        if failed and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        return result

    @property
    def ran(self) -> bool:
        """True if a case of a bundle ended."""
        return bool(self.arrived.heads)

    def sections(self, adapter: str | None = None) -> list[dict[str, Any]]:
        """The sections of a report: those of bundles that asked an adapter, and of those that asked no adapter."""
        found = (self._sections or self.arrived.sections(self._all_judged())).values()
        return [each for each in found if adapter is None or each.get("adapter", adapter) == adapter]

    def _all_judged(self) -> list[str]:
        return [key for key in self.arrived.heads if self.arrived.is_judged(key, stops_early=self.options.stops_early)]

    def contents(self) -> list[dict[str, Any]]:
        """Prompts and answers of cases that did not pass, if files may hold them."""
        return self.arrived.contents() if self.options.full_files else []

    def _reports(self) -> list[str]:
        """Write the requested reports of a run without an adapter, which has no verdict; return lines on them."""
        asked = self.config.getoption("corpus_report") or self.config.getini("corpus_report")
        if not asked or self.config.pluginmanager.get_plugin(CONFORMANCE) is not None:
            return []
        from pytest_corpus.integration.concluding.result import write_report
        from pytest_corpus.integration.options import run_options
        from pytest_corpus.reports import json_report
        from pytest_corpus.verdict.ledger import Ledger
        from pytest_corpus.verdict.verdict import decide

        given, ledger = run_options.read(self.config), Ledger("no adapter")
        ledger.mark_partial("only behaviour bundles ran")
        started, duration_s = self._started_at.isoformat(timespec="seconds"), time.monotonic() - self._started
        run = json_report.Run(
            started, duration_s, given.seed, given.level, given.edition,
            profile=given.profile.name, bundles=tuple(self.sections()),
        )  # fmt: skip
        document = json_report.build(ledger, decide(ledger), run)
        return [write_report(document, path, contents=self.contents()) for path in given.reports]

    def _note_cassettes(self) -> None:
        for key, head in self.arrived.heads.items():
            if head.cassettes != "off" and head.whole and self._sections is not None:
                unused = Cassettes(self.arrived.roots[key], head.cassettes).unused(head.cases)
                if unused:
                    self._sections[key]["cassettes"]["unused"] = unused

    def _entries(self) -> Mapping[str, Any]:
        assert self._sections is not None
        found = {}
        for key in self._judged:
            # A case whose worker was lost has no result.
            statuses = dict.fromkeys(self.arrived.heads[key].cases, ERROR)
            statuses |= {case: result.status for case, result in self.arrived.results[key].items()}
            found[key] = baselines.entry(statuses, self._sections[key]["metrics"])
        return found

    def _named(self, key: str, baseline: Path) -> str:
        head = self.arrived.heads[key]
        return baselines.name_of(self.arrived.roots[key] / Path(head.file).name, head.provider, baseline)

    def _hold_to_baseline(self) -> bool:
        """Compare with the baseline, or write it; True if that failed."""
        path = self.options.baseline
        if path is None or self._sections is None:
            return False
        entries = self._entries()
        if len(entries) < len(self.arrived.heads):
            self._said.append("baseline: bundles of which only a part ran are neither compared nor written")
        try:
            before = baselines.read(path) if path.exists() or not self.options.update_baseline else {}
            if self.options.update_baseline:
                baselines.write(path, {self._named(key, path): each for key, each in entries.items()}, before)
                self._said.append(f"baseline: {path} holds {len(entries)} bundles of this run")
                return False
        except baselines.BaselineError as error:
            self._said.append(f"baseline: {path}: {error}")
            return True
        except OSError as error:
            self._said.append(f"baseline: {path} could not be written: {error.strerror}")
            return True
        for key, entry in entries.items():
            self._sections[key]["baseline"] = baselines.compare(entry, before.get(self._named(key, path)))
        return False

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not self._concludes:
            return
        spent = self._spent()
        if self._sections is None and not spent.calls:
            return
        terminalreporter.section("behaviour bundles")
        for each in (self._sections or {}).values():
            for line in section.lines(each):
                terminalreporter.write_line(printable(line))
        for said in self._said:
            terminalreporter.write_line(printable(said))
        terminalreporter.write_line(f"used: {spent}")

    def _spent(self) -> Any:
        for folder in self.arrived.folders:
            from pytest_corpus.bundles.running.shared_store import SharedSpentBudget

            return SharedSpentBudget(folder).spent
        return self._spent_budget.spent
