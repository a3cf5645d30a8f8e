"""Lines that a run prints before and during its tests."""

import textwrap
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from pytest_corpus.integration.declaring.adapter_kinds import Adapter
from pytest_corpus.integration.options.profiles import ENVIRONMENT
from pytest_corpus.redaction.values import cut, printable
from pytest_corpus.reports.json_report import facts

EVERY_S = 30.0  # the seconds between two reports of progress
WIDEST = 110  # the most characters of capabilities on a line of the terminal
WAITS = {"vector": 135, "graph": 120}  # the waits for writes in a run of a reference adapter that shows them late
LONGEST = 40  # the most characters of a stated fact on the terminal


def environment(variables: Mapping[str, str]) -> list[str]:
    """A warning if nothing names the adapter's environment."""
    if variables.get(ENVIRONMENT, "").strip():
        return []
    return [f"corpus warning: {ENVIRONMENT} is not set; say what the adapter talks to: local, ci, staging, production"]


def left_out(adapters: Iterable[Adapter]) -> list[str]:
    """The components that answer and are not tested (R76)."""
    lines = []
    for adapter in adapters:
        if names := adapter.unnamed:
            listed = ", ".join(names)
            said = f"not tested: {listed}, whose capabilities answer without a `protocol` that names the component"
            remedy = f"--corpus-components={','.join(names)} tests them"
            lines.append(printable(f"corpus {adapter.label}: {said} ({remedy})"))
    return lines


def snapshot(adapters: Iterable[Adapter]) -> list[str]:
    """Name, version and stated capabilities of each component, as they were when the run began."""
    lines = []
    for adapter in adapters:
        for component, document in adapter.ledger.capabilities.items():
            said = [f"{key}={_short(value)}" for key, value in facts(component, document).items()]
            whole = printable(f"corpus {adapter.label} {component}: {', '.join(said)}")
            lines += textwrap.wrap(
                whole, WIDEST, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
            )
    return lines


def _short(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}={_short(item)}" for key, item in value.items()) + "}"
    return cut(str(value), LONGEST)


@dataclass
class Progress:
    """Reports the progress of a long run, on a line of its own."""

    started: float = field(default_factory=time.monotonic)
    reported: float = field(default_factory=time.monotonic)
    done: int = 0
    said: set[tuple[str, str]] = field(default_factory=set)

    def report(self, config: pytest.Config, adapter: str, late: Iterable[Any]) -> None:
        """Count a test, and report the progress if the last report is long ago.

        Args:
            late: the component of the test and the seconds after which its writes show, if they show late.
        """
        self.done += 1
        for component, seconds in late:
            if (adapter, component) not in self.said:
                self.said.add((adapter, component))
                self._write(config, late_line(component, seconds, len(config.getoption("tx", None) or "1")))
        now = time.monotonic()
        if now - self.reported < EVERY_S:
            return
        self.reported = now
        session = config.pluginmanager.get_plugin("session")
        total = getattr(session, "testscollected", 0)
        if total >= self.done:
            self._write(config, line(self.done, total, now - self.started))

    def _write(self, config: pytest.Config, text: str) -> None:
        terminal = config.pluginmanager.get_plugin("terminalreporter")
        if terminal is not None:
            if config.getoption("dist", "no") == "no":
                terminal.ensure_newline()
            else:  # where pytest keeps no file whose line is open
                terminal.write("\n")
            terminal.write_line(text)


def late_line(component: str, seconds: float, workers: int) -> str:
    """The time after which writes show, and the time that a whole run takes more because of that."""
    waited_s = WAITS.get(component, 0) * seconds / workers
    waits = f"the whole suite waits about {waited_s:.0f} s for them"
    return f"corpus: writes of {component} show after {seconds:.3g} s; {waits}"


def line(done: int, total: int, elapsed_s: float) -> str:
    """The progress of a run, and the time left at the same pace."""
    left_s = elapsed_s / done * (total - done)
    return f"corpus: {done} of {total} tests in {elapsed_s:.0f} s, about {left_s:.0f} s left"
