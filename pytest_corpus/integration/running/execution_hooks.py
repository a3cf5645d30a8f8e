"""Hooks that run the tests of a suite and write their outcomes into pytest's reports."""

import os
from collections.abc import Generator, Iterable, Set
from typing import Any

import pytest

from pytest_corpus.integration.collecting import nodes as collect
from pytest_corpus.integration.collecting.nodes import function_of
from pytest_corpus.integration.declaring.state import RunState
from pytest_corpus.integration.running import presentation
from pytest_corpus.integration.running.execution import TestExecution
from pytest_corpus.integration.running.in_flight import ConcurrentTests
from pytest_corpus.integration.running.surroundings import FORKED, Surroundings, raising_plugin
from pytest_corpus.integration.running.width import Width
from pytest_corpus.kit.fixtures import SUBJECT

EXECUTION = pytest.StashKey[TestExecution]()  # on a conformance item: the execution in progress


class ExecutionHooks:
    """The plugin that is active while tests run."""

    def __init__(self, state: RunState) -> None:
        self.state = state
        self._following: pytest.Item | None = None
        self._surroundings = Surroundings(os.environ)
        self.in_flight = self._concurrent_tests()
        self._forked: Set[str] = frozenset()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, nextitem: pytest.Item | None) -> None:
        self._following = nextitem

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        if self.state.config.getoption("forked", False):
            self._forked = {item.nodeid for item in session.items if collect.owner(item) is not None}
            for adapter in self.state.adapters.known.values():
                adapter.ledger.mark_unreliable(FORKED)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.outcome == "failed" and report.nodeid in self._forked:  # the forked process ended without a result
            report.outcome = "skipped"
            report.longrepr = (str(report.fspath), report.location[1] or 0, FORKED)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        own = collect.owner(item)
        if own is None:
            return
        assert isinstance(item, pytest.Function)
        self.state.open(own[0]).begin(*collect.name_and_repetition(item))
        target = item.stash[SUBJECT] = own[0].target(own[1])
        # The values of the fixtures are set directly, because pytest's own set-up takes longer than many tests.
        item.funcargs |= {name: target for name in (own[1], "subject") if name in item.fixturenames}
        if (parameters := getattr(item, "callspec", None)) is not None:
            item.funcargs |= parameters.params
        causes = own[0].root_causes(own[1])
        execution = item.stash[EXECUTION] = TestExecution(
            item,
            *own,
            target,
            is_last=self._following is None or collect.owner(self._following) != own,
            causes=causes,
            reported=self.state.reported,
            spending=self.state.spending,
            surroundings=self._surroundings,
            following=lambda: self._following_of(item),
            in_flight=self.in_flight,
        )
        item.obj = execution.wrap(function_of(item), traceback=self.state.options.traceback)

    @pytest.hookimpl(tryfirst=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> None:
        if self.in_flight is not None and fixturedef.scope == "session":
            self.in_flight.session_fixtures.add(fixturedef.argname)

    @property
    def tests_in_flight(self) -> int:
        """The number of tests that this process is running."""
        return self.in_flight.running if self.in_flight is not None else 1

    def _concurrent_tests(self) -> ConcurrentTests | None:
        """Return the runner of concurrent tests; None if tests must run one by one."""
        options = self.state.options
        obstacles = {
            "a transcript is recorded": options.transcript is not None,
            "a budget is set": bool(options.budget.limits),
            "workers share the tests": self.state.worker is not None or self.state.distributes,
            "tests are repeated": options.repeat > 1,
        }
        self._obstacle = next((why for why, holds in obstacles.items() if holds), "")
        if options.concurrency == 1 or self._obstacle:
            return None
        ends_early = bool(self.state.config.getoption("maxfail", 0))
        return ConcurrentTests(Width(options.concurrency), may_be_cut_short=ends_early)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        if self.in_flight is not None:
            self.in_flight.stop()

    @pytest.hookimpl
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        asked, width = self.state.options.concurrency, self.in_flight.width if self.in_flight is not None else None
        said = list(width.limit_reasons) if width is not None else []
        if asked is not None and asked > 1 and self._obstacle:
            said.append(f"1 test at a time: {self._obstacle}")
        if width is not None and asked is None and width.peak > 1:
            said.insert(0, f"up to {width.peak} tests at a time, because tests wait for the adapter")
        for line in said:
            terminalreporter.write_line(f"--corpus-concurrency={asked or 'auto'}: {line}")

    def _following_of(self, item: pytest.Item) -> Iterable[pytest.Item]:
        """Return the tests that this process will run after a test."""
        items = item.session.items
        return items[items.index(item) + 1 :] if item in items else []

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        execution = item.stash.get(EXECUTION, None)
        if execution is not None and call.when == "call":
            seen = call.excinfo.value if call.excinfo else None
            presentation.write_into_report(execution, seen, report, self.state.options, self._rerun_command)
        elif execution is not None and call.when == "setup" and call.excinfo is not None:
            plugin = raising_plugin(self.state.config, call.excinfo.value) or "a mark or a fixture"
            execution.adapter.ledger.mark_unreliable(f"{plugin} kept tests from running ({call.excinfo.typename})")
        elif execution is not None and call.when == "teardown":  # frees the memory of the test
            del item.stash[EXECUTION], item.stash[SUBJECT]
            assert isinstance(item, pytest.Function)
            item.obj = function_of(item)
        return report

    def _rerun_command(self, item: pytest.Item, requirement: str) -> str:
        own = collect.owner(item)
        assert own is not None
        by_option = own[0] in self.state.by_option
        again = presentation.rerun_command(self.state.config, own[0], by_option=by_option, tests=item.nodeid)
        # A finding of an audit occurs again in the test that was audited, whatever requirement it has.
        ids = (requirement, collect.requirement_of(item)) if by_option else ()
        return again + presentation.selection_arguments(ids, self.state.options.seed)

    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, Any] | None:
        return presentation.status_letter(report)
