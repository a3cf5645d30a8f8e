"""Hooks of a controller whose workers may find suites and bundles, which the controller does not collect."""

from collections.abc import Callable
from typing import Any

import pytest

from pytest_corpus.integration.declaring.properties import RECORD


class ControllerHooks:
    """Starts a part of the run, which takes reports, as soon as a worker reports a test with a property."""

    def __init__(self, start: Callable[[], Any], key: str = RECORD) -> None:
        self.start, self.key = start, key
        self.started = False

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not self.started and any(name == self.key for name, _ in report.user_properties):
            self.started = True
            self.start().pytest_runtest_logreport(report)


class SuiteControllerHooks(ControllerHooks):
    """Starts the conformance run also if a worker cannot use what a file declares."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if not self.started and report.failed and "corpus adapter '" in str(report.longrepr):
            self.started = True
            self.start().pytest_collectreport(report)
