"""Lines that a run prints before and during its tests."""

import textwrap
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from pytest_corpus.integration.options.profiles import ENVIRONMENT
from pytest_corpus.integration.session.adapter_kinds import Adapter
from pytest_corpus.redaction.values import cut, printable
from pytest_corpus.reports.json_report import facts

EVERY_S = 30.0
"""How often a long run says how far it is."""

WIDEST = 110
"""So many characters of capabilities stand on a line of the terminal."""

LONGEST = 40
"""So many characters of a stated fact the terminal shows."""


def environment(variables: Mapping[str, str]) -> list[str]:
    """A warning where nothing says what the adapter talks to."""
    if variables.get(ENVIRONMENT, "").strip():
        return []
    return [f"corpus warning: {ENVIRONMENT} is not set; say what the adapter talks to: local, ci, staging, production"]


def left_out(adapters: Iterable[Adapter]) -> list[str]:
    """What an adapter answers for and is not tested for (R76)."""
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
    """Says how far a long run is, on a line of its own."""

    started: float = field(default_factory=time.monotonic)
    said: float = field(default_factory=time.monotonic)
    done: int = 0

    def tell(self, config: pytest.Config) -> None:
        """Count a test, and say how far the run is if that was long ago."""
        self.done += 1
        now = time.monotonic()
        if now - self.said < EVERY_S:
            return
        self.said = now
        terminal = config.pluginmanager.get_plugin("terminalreporter")
        session = config.pluginmanager.get_plugin("session")
        total = getattr(session, "testscollected", 0)
        if terminal is not None and total >= self.done:
            if config.getoption("dist", "no") == "no":
                terminal.ensure_newline()
            else:  # where pytest keeps no file whose line is open
                terminal.write("\n")
            terminal.write_line(line(self.done, total, now - self.started))


def line(done: int, total: int, elapsed_s: float) -> str:
    """How far a run is, and how long the rest takes at the same pace."""
    left_s = elapsed_s / done * (total - done)
    return f"corpus: {done} of {total} tests in {elapsed_s:.0f} s, about {left_s:.0f} s left"
