"""Hooks that exchange settings and results between the controller and pytest-xdist workers."""

import json
from functools import cached_property, partial
from typing import Any

import pytest

from pytest_corpus.integration.declaring.properties import BUDGET, FACTS, RECORD, REORDERED, RUN, USAGE_ERROR
from pytest_corpus.integration.declaring.state import RunState
from pytest_corpus.integration.xdist.fact_exchange import FactServer


class DistributionHooks:
    """The plugin that sends data between the processes of a run."""

    def __init__(self, state: RunState) -> None:
        self.state = state
        self._waiting: set[Any] = set()
        self._nodes = 0

    @cached_property
    def _fact_server(self) -> FactServer:
        return FactServer()

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        decided = {label: adapter.components for label, adapter in self.state.adapters.known.items()}
        node.workerinput[RECORD] = json.dumps(decided)
        node.workerinput[RUN] = self.state.adapters.run
        node.workerinput[REORDERED] = self._may_set_distribution
        node.workerinput[BUDGET] = json.dumps(self._share(node.workerinput["workercount"]))
        if not node.gateway.spec.socket:  # messages of several threads could mix on a socket
            channel = node.workerinput[FACTS] = node.gateway.newchannel()
            channel.setcallback(partial(self._fact_server.handle_message, channel), endmarker=None)
        self._waiting.add(node)

    @property
    def _may_set_distribution(self) -> bool:
        """True if the user does not choose how tests are distributed."""
        option, given = self.state.config.option, self.state.config.known_args_namespace
        asked = getattr(given, "dist", "no") != "no" or getattr(given, "distload", False)
        return not asked and getattr(given, "maxschedchunk", None) is None and option.dist == "load"

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Any) -> Any:
        """Give each worker one part of the suite; an idle worker takes tests from the end of another part."""
        if not self._may_set_distribution:
            return None
        from xdist.scheduler import WorkStealingScheduling

        return WorkStealingScheduling(config, log)

    def _share(self, workers: int) -> dict[str, int]:
        """Return the budget of the next worker: its share of what is left, or zero if it replaces a lost worker."""
        number, self._nodes = self._nodes, self._nodes + 1
        budget = self.state.options.budget
        if number >= workers:
            return dict.fromkeys(budget.limits, 0)
        return budget.share(number, workers, used=self.state.spending).limits

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: Any) -> None:
        output = getattr(node, "workeroutput", {})
        text = output.get(RECORD)
        self.state.usage_error = self.state.usage_error or bool(output.get(USAGE_ERROR))
        self._waiting.add(node)
        if error or not isinstance(text, str):
            return
        try:
            for label, account in json.loads(text).items():
                self.state.ledger(label).take_account(account)
                self.state.adapters.known[label].left_out = False
        except (ValueError, TypeError, KeyError, AttributeError):
            return
        self._waiting.remove(node)

    def mark_lost_results(self) -> None:
        """Mark ledgers as unreliable if a worker ended without sending its results."""
        if self._waiting:
            for adapter in self.state.adapters.known.values():
                adapter.ledger.unaccounted = True
                adapter.ledger.mark_unreliable("a worker was lost")

    def send_results(self) -> None:
        """Send the results of this worker to the controller."""
        output: dict[str, Any] = self.state.config.workeroutput  # type: ignore[attr-defined]
        output[USAGE_ERROR] = self.state.usage_error
        output[RECORD] = json.dumps(
            {
                label: adapter.ledger.account()
                for label, adapter in self.state.adapters.known.items()
                if not adapter.left_out
            }
        )
