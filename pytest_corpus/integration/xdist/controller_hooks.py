"""Hooks for the controller of a distributed run. It collects no suites itself, but its workers may find some."""

from collections.abc import Callable
from typing import Any

import pytest

from pytest_corpus.integration.declaring.properties import RECORD, values_of


class SuiteControllerHooks:
    """Starts the conformance run when a worker reports a test of a suite, or a declaration that cannot be used."""

    def __init__(self, start: Callable[[], Any]) -> None:
        self.start = start
        self.started = False

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not self.started and values_of(report, RECORD):
            self.started = True
            self.start().pytest_runtest_logreport(report)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if not self.started and report.failed and "corpus adapter '" in str(report.longrepr):
            self.started = True
            self.start().pytest_collectreport(report)
