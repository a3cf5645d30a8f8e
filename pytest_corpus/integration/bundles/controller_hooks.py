"""Hooks of a controller whose workers run behaviour bundles, which the controller does not collect."""

from typing import Any

import pytest

from pytest_corpus.integration.declaring.properties import BUNDLE_RESULT
from pytest_corpus.integration.xdist.controller_hooks import ControllerHooks


class BundleControllerHooks(ControllerHooks):
    """Starts the bundles as soon as a worker reports a case; removes the folder that the workers shared."""

    def __init__(self, config: pytest.Config) -> None:
        super().__init__(lambda: _concluding(config), BUNDLE_RESULT)
        self.run = ""

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        self.run = str(node.workerinput["testrunuid"])

    def pytest_unconfigure(self) -> None:
        if self.run:
            from pytest_corpus.integration.bundles import shared_folder

            shared_folder.remove(shared_folder.folder_of(self.run))


def _concluding(config: pytest.Config) -> Any:
    from pytest_corpus.integration.bundles.bundle_hooks import bundles

    return bundles(config).concluding
