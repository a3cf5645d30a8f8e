"""Hooks that compute verdicts, write reports and set the exit code."""

from __future__ import annotations  # pytest 8.2 has no pytest.TerminalReporter

import os
import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import nullcontext
from typing import Any

import pytest

from pytest_corpus.adapter.inputs import Clock
from pytest_corpus.adapter.opening import address
from pytest_corpus.adapter.scope import begin_part
from pytest_corpus.integration.collecting import nodes as collect
from pytest_corpus.integration.concluding import progress
from pytest_corpus.integration.concluding.exits import (
    TERMINATED,
    USUAL_ENDS,
    SigtermHandler,
    exit_in_time,
    ignore_interrupts,
)
from pytest_corpus.integration.concluding.record_hooks import RecordHooks
from pytest_corpus.integration.concluding.result import Placeholders, RunResult
from pytest_corpus.integration.concluding.screen import Screen, add_summary, annotation_commands, changes_since_last_run
from pytest_corpus.integration.declaring.adapter_kinds import Adapter
from pytest_corpus.integration.declaring.state import RunState
from pytest_corpus.integration.options.run_options import is_on_github
from pytest_corpus.integration.running import presentation
from pytest_corpus.integration.running.surroundings import CHANGING, name_suspects, report_warnings
from pytest_corpus.integration.xdist.distribution_hooks import DistributionHooks
from pytest_corpus.redaction import mask_secrets, printable, secret_values
from pytest_corpus.reports import formats
from pytest_corpus.reports.terminal import TerminalLine
from pytest_corpus.reports.text import count_in_words
from pytest_corpus.spec.requirements import applicable_requirements
from pytest_corpus.verdict.ledger import Ledger


class ConclusionHooks:
    """The plugin that is active at the start and at the end of a run."""

    def __init__(self, state: RunState, distributing: DistributionHooks, recording: RecordHooks) -> None:
        self.state, self.distributing = state, distributing
        self.findings, self.transcript, self._calls = recording.findings, recording.transcript, recording.expected_calls
        self.result: RunResult | None = None
        self._placeholders = Placeholders(state.options.reports)
        self._exits = SigtermHandler()
        self._threads = frozenset(threading.enumerate())
        self._code, self._stops = 0, False
        self._unsaid: list[str] = []
        self._since: list[str] = []

    @property
    def _is_concluding(self) -> bool:
        runs_tests = not (self.state.config.option.collectonly or self.state.options.estimate)
        return self.state.worker is None and runs_tests

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        if self._is_concluding:
            self._exits.watch()
            self._placeholders.put(self.state.labels)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self) -> None:
        self._exits.raise_again()

    def pytest_collection_finish(self) -> None:
        if self._is_concluding:
            self._placeholders.put(list(self.state.adapters.known))

    def pytest_report_header(self) -> list[str]:
        options = self.state.options
        known = self.state.adapters.known.values()

        def hide_secrets(declared: str) -> str:  # hides the secret parts of an address
            label, spec = address.split_label(declared) or ("", "")
            plain = address.display_address(spec) if spec else declared
            return plain if label in ("", plain) else f"{label}={plain}"

        return [
            *(f"corpus: {hide_secrets(declared)}" for declared in options.adapters),
            *(f"corpus client: {declared}" for declared in options.clients),
            f"corpus seed: {options.seed}, profile: {options.profile.name}",
            f"corpus run: {self.state.adapters.run}",
            *([f"corpus budget: {options.budget}"] if options.budget.limits else []),
            *([f"corpus shard: {options.shard}"] if options.shard else []),
            *progress.environment_warnings(os.environ),
            *(progress.capability_lines(known) if self.state.distributes else ()),
            *(progress.untested_components(known) if self.state.distributes else ()),
        ]

    def pytest_report_collectionfinish(self, items: Sequence[pytest.Item]) -> list[str]:
        known = self.state.adapters.known.values()
        stated = [] if self.state.config.option.collectonly else progress.capability_lines(known)
        calls = self._calls(len(items))
        return [
            *stated,
            *progress.untested_components(known),
            *([f"corpus: about {count_in_words(calls, 'call')}"] if calls else []),
        ]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        if not self.state.options.estimate:
            return None
        reporter: Any = session.config.pluginmanager.get_plugin("terminalreporter")
        for adapter in self.state.adapters.known.values():
            chosen = sum(1 for item in session.items if (own := collect.owner(item)) and own[0] is adapter)
            share = min(1.0, chosen / max(1, len(adapter.ledger.expected)))
            for line in (
                progress.estimate_costs(adapter, share, self.state.options.concurrency) if adapter.is_open else ()
            ):
                if reporter is not None:
                    reporter.write_line(line)
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Remove stack frames without a line number, which Python 3.11 may produce and pytest cannot show."""
        excinfo.traceback = excinfo.traceback.filter(_has_line)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> Generator[None, object, object]:
        # If a run is stopped, execnet interrupts a worker after five seconds, even if it still closes adapters.
        alone = nullcontext() if self.state.worker is None else ignore_interrupts()
        with alone, report_warnings(self.state.config):
            warnings = self.state.adapters.close()
        if self.state.worker is not None:
            self.distributing.send_results()
        self._stops = bool(session.shouldstop or session.shouldfail)
        decided = self._conclude(TERMINATED if self._exits.terminated else exitstatus)
        session.exitstatus = decided
        try:
            for warning in warnings:
                self._warn(printable(warning))
            return (yield)
        except pytest.exit.Exception as ended:
            ended.returncode = ended.returncode or decided
            raise
        finally:  # another plugin may have set the exit code to 0
            self._code = int(session.exitstatus or decided)
            session.exitstatus = session.exitstatus or decided

    def _warn(self, warning: str) -> None:
        try:
            self.state.config.issue_config_time_warning(pytest.PytestWarning(warning), stacklevel=2)
        except Warning:  # warnings may be errors, but the verdict must be shown
            self._unsaid.append(f"corpus warning: {warning}")

    def _conclude(self, given: int) -> int | pytest.ExitCode:
        """Compute the verdicts, write the reports, return the exit code. Do nothing if another process does this."""
        if not self._is_concluding:
            return given
        if self.state.usage_error:
            return pytest.ExitCode.USAGE_ERROR
        self.distributing.mark_lost_results()
        chosen = [adapter for adapter in self.state.adapters.known.values() if not adapter.left_out]
        if not chosen and self.state.adapters.known:
            return given
        meant = self._selected_ledgers(chosen)
        goes_on = given in USUAL_ENDS and not (self._stops or self.state.distributes)
        for ledger in meant:
            found = {why for why, tests in ledger.mismatches().items() if tests}
            found |= {"missing"} if goes_on and not ledger.incomplete else set()
            ledger.plugins = {why: name_suspects(self.state.config, why) for why in found & CHANGING.keys()}
        self.result = RunResult(
            meant,
            self.state.options,
            self.state.started_at,
            Clock.monotonic() - self.state.started,
            interrupted=given not in USUAL_ENDS,
            findings=self.findings,
            commands={adapter.label: self._rerun_command(adapter) for adapter in chosen},
            bundles=self.state.config.pluginmanager.get_plugin("corpus-bundles-concluding"),
            transcript=self.transcript.close(meant),
        )
        self.result.written += self.transcript.summary_lines
        self.result.write()
        self.result.draft()
        self._note_changes(self.result)
        return self.result.exit_code(given)

    def _note_changes(self, result: RunResult) -> None:
        """Record the changes since the last run, with the adapter's name if there are several adapters."""
        several = len(result.ledgers) > 1
        for ledger, verdict in zip(result.ledgers, result.verdicts, strict=True):
            if said := changes_since_last_run(self.state.config, ledger, verdict):
                self._since.append(f"{ledger.adapter}: {said}" if several else said)

    def _annotate(self, screen: Screen, result: RunResult) -> Iterator[str]:
        """Write GitHub's annotations and the summary of the step; yield a sentence for each failure to do so."""
        for ledger, verdict in zip(result.ledgers, result.verdicts, strict=True):
            known = self.state.adapters.known.get(ledger.adapter)
            factory = known.declaration.factory if known else None
            groups = screen.groups(ledger, verdict, every=True)
            for line in annotation_commands(groups, self.state.options.level, factory):
                screen.reporter.write_line(line)
            document = result.document(ledger, verdict)
            if said := add_summary(os.environ, formats.render(document, ".md", evidence=result.evidence(ledger))):
                yield said

    def _rerun_command(self, adapter: Adapter) -> str:
        by_option = adapter in self.state.by_option
        again = presentation.rerun_command(self.state.config, adapter, by_option=by_option)
        again += f" --corpus-shard={shard}" if (shard := self.state.options.shard) else ""
        return printable(mask_secrets(again, secret_values(os.environ)))

    def _selected_ledgers(self, chosen: list[Adapter]) -> list[Ledger]:
        """Return the ledgers of the kinds (adapters, client libraries) that the requirement filter selects."""
        wants = self.state.options.wants
        meant = {
            adapter.option
            for adapter in chosen
            if any(wants(entry.id) for name in adapter.ledger.components for entry in applicable_requirements(name))
        }
        return [adapter.ledger for adapter in chosen if adapter.option in meant or not meant]

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> Generator[None, object, object]:
        if self.result is None:
            return (yield)
        screen = Screen(terminalreporter, self.state.options, self.findings)
        screen.show_findings(self.result)
        try:
            with screen.hide_own_tests():
                return (yield)
        finally:
            failures = list(self._annotate(screen, self.result)) if is_on_github(os.environ) else []
            notes = [*self._notes(self.result), *failures]
            screen.show_summary(self.result, [TerminalLine(printable(line)) for line in notes])

    def _notes(self, result: RunResult) -> Iterator[str]:
        """Yield the lines that come before the verdict."""
        yield from filter(None, map(presentation.builders_line, result.ledgers))
        if self.state.config.get_verbosity() < 0:
            yield from progress.environment_warnings(os.environ)
        yield from self._unsaid
        yield from self._since
        yield from result.lines()

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self) -> None:
        try:
            if self.result is not None or self.state.usage_error:
                self._placeholders.remove(self.result.paths if self.result else ())
        finally:
            begin_part(None)
            self._exits.restore()
            exit_in_time(self._code, self._threads, is_worker=self.state.worker is not None)


def _has_line(entry: Any) -> bool:
    """True if pytest can show a stack frame."""
    try:
        return bool(entry.lineno >= 0)
    except TypeError:  # the line number is None
        return False
