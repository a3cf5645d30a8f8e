"""Hooks of a controller whose workers may find a suite in a test module, which the controller does not collect."""

from collections.abc import Callable
from typing import Any

import pytest

from pytest_corpus.integration.declaring.properties import RECORD


class ControllerHooks:
    """Starts the conformance run as soon as a report of a worker belongs to a suite."""

    def __init__(self, config: pytest.Config, conformance: Callable[[pytest.Config], Any]) -> None:
        self.config, self.conformance = config, conformance
        self.started = False

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not self.started and any(name == RECORD for name, _ in report.user_properties):
            self.started = True
            run = self.conformance(self.config)
            run.begin()
            run.recording.pytest_runtest_logreport(report)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if not self.started and report.failed and "corpus adapter '" in str(report.longrepr):
            self.started = True
            self.conformance(self.config).recording.pytest_collectreport(report)
