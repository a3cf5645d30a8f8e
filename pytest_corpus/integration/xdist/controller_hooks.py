"""Hooks of a controller whose workers may find suites. The controller itself collects none."""

from collections.abc import Callable
from typing import Any

import pytest

from pytest_corpus.integration.declaring.properties import RECORD, values_of


class SuiteControllerHooks:
    """Starts the conformance run once a worker reports a test or cannot use the declaration in a file."""

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
