"""Hooks for the controller of a distributed run. It collects no bundles itself, but its workers may run some."""

from functools import partial
from typing import Any

import pytest

from pytest_corpus.integration.declaring.properties import CHANNEL


class BundleControllerHooks:
    """Gives each worker a channel to the controller's stores; the first message registers the bundle plugin."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.used = self.started = False

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        # Several threads may write to execnet's pipes, but messages on its sockets could mix.
        if node.gateway.spec.socket:
            return
        channel = node.workerinput[CHANNEL] = node.gateway.newchannel()
        channel.setcallback(partial(self._take_message, channel), endmarker=None)

    def _take_message(self, channel: Any, message: str | None) -> None:
        if message is None and not self.used:
            return
        from pytest_corpus.integration.bundles.records import results_of

        results_of(self.config).server.handle_message(channel, message)
        self.used = True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self) -> None:
        if self.used and not self.started:
            from pytest_corpus.integration.bundles.bundle_hooks import bundle_hooks_of

            self.started = True
            bundle_hooks_of(self.config)
