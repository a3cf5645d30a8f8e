"""Hooks at the end of a run with bundles: sections of reports, summary, baseline."""

from __future__ import annotations  # pytest 8.2 has no pytest.TerminalReporter

import time
from collections.abc import Generator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pytest_corpus.bundles.reporting import comparison, section
from pytest_corpus.bundles.running.cassettes import Cassettes
from pytest_corpus.bundles.session import BundleOptions
from pytest_corpus.integration.bundles.records import results_of
from pytest_corpus.integration.concluding.exits import USUAL_ENDS
from pytest_corpus.integration.options.checks import CONFORMANCE
from pytest_corpus.redaction import printable


class BundleConclusionHooks:
    """The plugin that receives the results of cases, in the process that writes the reports."""

    def __init__(self, config: pytest.Config, options: BundleOptions) -> None:
        self.config, self.options = config, options
        self.results = results_of(config)
        self._sections: dict[str, dict[str, Any]] | None = None
        self._judged: list[str] = []
        self._said: list[str] = []
        self._started, self._started_at = time.monotonic(), datetime.now(UTC)

    @property
    def _is_concluding(self) -> bool:
        return not hasattr(self.config, "workerinput") and not self.config.option.collectonly

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> Generator[None, object, object]:
        if not self._is_concluding or not self.results.heads:
            return (yield)
        if exitstatus in USUAL_ENDS:
            self._judged = self._judged_keys()
        self._sections = self.results.sections(self._judged)
        self._note_unused_cassettes()
        self._note_useless_workers()
        failed = self._compare_with_baseline()
        self._said += self._write_reports()
        if self.options.shard:
            said = "`pytest-corpus bundle combine` judges the JSON reports of all shards"
            self._said.append(f"shard {self.options.shard}: {said}")
        result = yield
        if failed and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        return result

    @property
    def has_run(self) -> bool:
        """True if a case of a bundle ended."""
        return bool(self.results.heads)

    def sections(self, adapter: str | None = None) -> list[dict[str, Any]]:
        """Return the report sections of all bundles. With `adapter`, leave out bundles that used another adapter."""
        found = self._sections or self.results.sections(self._judged_keys())
        return [
            {**each, "results": [result.numbers for result in self.results.results_in_order(key)]}
            for key, each in found.items()
            if adapter is None or each.get("adapter", adapter) == adapter
        ]

    def _judged_keys(self) -> list[str]:
        return [key for key in self.results.heads if self.results.is_judged(key, stops_early=self.options.stops_early)]

    def contents(self) -> list[dict[str, Any]]:
        """Return the prompts and answers of cases that did not pass; empty if files must not contain them."""
        return self.results.contents() if self.options.full_files else []

    def _write_reports(self) -> list[str]:
        """Write the requested reports of a run without an adapter; return a line for each. They have no verdict."""
        asked = self.config.getoption("corpus_report") or self.config.getini("corpus_report")
        if not asked or self.config.pluginmanager.get_plugin(CONFORMANCE) is not None:
            return []
        from pytest_corpus.integration.concluding.result import write_report
        from pytest_corpus.integration.options import run_options
        from pytest_corpus.reports import json_report

        given = run_options.read_options(self.config)
        started, duration_s = self._started_at.isoformat(timespec="seconds"), time.monotonic() - self._started
        run = json_report.RunFacts(
            started, duration_s, given.seed, given.level, given.edition,
            profile=given.profile.name, bundles=tuple(self.sections()), budget=given.budget, shard=self.options.shard,
        )  # fmt: skip
        document = json_report.build_bundle_report(run)
        return [write_report(document, path, contents=self.contents()) for path in given.reports]

    def _note_unused_cassettes(self) -> None:
        for key, head in self.results.heads.items():
            if head.cassettes != "off" and (head.is_whole or self.options.shard) and self._sections is not None:
                unused = Cassettes(self.results.roots[key], head.cassettes).unused_files(head.cases)
                if unused:
                    self._sections[key]["cassettes"]["unused"] = unused

    def _note_useless_workers(self) -> None:
        if len(getattr(self.config.option, "tx", None) or ()) > 1:
            for key, store in self.results.stores.items():
                if store.slots == 1 and len(store.results) > 1:
                    said = "several workers do not help, because its cases run one at a time; set 'parallel: true'"
                    self._said.append(f"{self.results.heads[key].name}: {said}")

    def _baseline_entries(self) -> Mapping[str, Any]:
        assert self._sections is not None
        found = {}
        for key in self._judged:
            results = self.results.stores[key].results.values()
            found[key] = comparison.make_entry(results, self._sections[key]["metrics"])
        return found

    def _baseline_key(self, key: str, baseline: Path) -> str:
        head = self.results.heads[key]
        return comparison.baseline_key(self.results.roots[key] / Path(head.file).name, head.label, baseline)

    def _compare_with_baseline(self) -> bool:
        """Compare the run with the baseline, or write the baseline; return True if the comparison failed."""
        path = self.options.baseline
        if path is None or self._sections is None:
            return False
        entries = self._baseline_entries()
        if len(entries) < len(self.results.heads):
            self._said.append("baseline: bundles of which only a part ran are neither compared nor written")
        try:
            before = comparison.read_baseline(path) if path.exists() or not self.options.update_baseline else {}
            if self.options.update_baseline:
                comparison.write_baseline(
                    path, {self._baseline_key(key, path): each for key, each in entries.items()}, before
                )
                self._said.append(f"baseline: {path} holds {len(entries)} bundles of this run")
                return False
        except comparison.BaselineError as error:
            self._said.append(f"baseline: {path}: {error}")
            return True
        except OSError as error:
            self._said.append(f"baseline: {path} could not be written: {error.strerror}")
            return True
        for key, entry in entries.items():
            found = comparison.compare_with_baseline(entry, before.get(self._baseline_key(key, path)))
            compared = [*self._sections[key].get("compared", ()), *found.get("compared", ())]
            self._sections[key] |= {**found, "compared": compared}
        return False

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not self._is_concluding:
            return
        spent = self.results.spent_budget.spent
        if self._sections is None and not spent.calls:
            return
        terminalreporter.section("behaviour bundles")
        for each in (self._sections or {}).values():
            for line in section.section_lines(each):
                terminalreporter.write_line(printable(line))
        for said in self._said:
            terminalreporter.write_line(printable(said))
        terminalreporter.write_line(f"used: {spent}")
