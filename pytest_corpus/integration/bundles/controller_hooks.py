"""Hooks of a controller whose workers run behaviour bundles, which the controller does not collect."""

from typing import Any

import pytest

from pytest_corpus.integration.declaring.properties import BUNDLE_RESULT


class BundleControllerHooks:
    """Starts the bundles as soon as a worker reports a case; removes the folder that the workers shared."""

    def __init__(self, config: pytest.Config) -> None:
        self.config, self.started, self.run = config, False, ""

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        self.run = str(node.workerinput["testrunuid"])

    def pytest_unconfigure(self) -> None:
        if self.run:
            from pytest_corpus.integration.bundles import shared_folder

            shared_folder.remove(shared_folder.folder_of(self.run))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not self.started and any(name == BUNDLE_RESULT for name, _ in report.user_properties):
            self.started = True
            from pytest_corpus.integration.bundles.bundle_hooks import bundles

            bundles(self.config).concluding.pytest_runtest_logreport(report)
