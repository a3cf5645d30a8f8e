"""The calls of a run, the tokens that the adapter says they took, and the outages of the provider behind it."""

import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from pytest_corpus.adapter import inputs
from pytest_corpus.adapter.exchange import Exchange
from pytest_corpus.adapter.usage.budget import Spending

STATISTICS = "embedding.get_stats"
"""Its `total_tokens` are those of all calls so far, not its own."""


@dataclass(slots=True)
class Outages:
    """Calls that failed although they may be made again, and since when.

    Attributes:
        worked: the operations that succeeded in this run, capabilities and health apart.
        interruptions: how many unplanned retryable answers were not the adapter's own.
        began: when the last call began that failed so, on the monotonic clock.
        clock: when it failed, as a time of day such as ``14:03:12``; empty before the first failure.
        waited_s: the seconds that this run has waited for the provider.
        own: the operations that answer some requests so although a plain call works, and how often that was seen.
        lasting: the provider did not come back, so no more calls are made.
        never: waiting does not help: a new instance of the adapter works, or nothing ever worked.
    """

    worked: dict[str, None] = field(default_factory=dict)
    interruptions: int = 0
    began: float = 0.0
    clock: str = ""
    waited_s: float = 0.0
    own: dict[str, int] = field(default_factory=dict)
    lasting: bool = False
    never: bool = False

    def begin(self, began: float) -> None:
        """Note that a call failed that began at a time of the monotonic clock."""
        self.began, self.clock = began, inputs.read("clock", lambda: time.strftime("%H:%M:%S"))

    @property
    def said(self) -> str:
        """The outage in a few words, for a person."""
        return f"the provider {'has been unavailable since' if self.lasting else 'was unavailable at'} {self.clock}"


class Meter:
    """Counts the calls of all instances of one adapter, by component.

    Attributes:
        calls: how many requests were sent.
        tokens: how many tokens the answers account for, in all.
        spending: what the run may use, and has used, of all adapters together.
        outages: when the provider behind the adapter was away.
    """

    def __init__(self, spending: Spending | None = None) -> None:
        self.spending = spending or Spending()
        self.outages = Outages()
        self.calls: Counter[str] = Counter()
        self.tokens: Counter[str] = Counter()

    @property
    def total_calls(self) -> int:
        """All calls so far, of any component."""
        return sum(self.calls.values())

    def note(self, component: str, exchanges: Iterable[Exchange]) -> None:
        """Count calls that have come to their end."""
        for exchange in exchanges:
            self.calls[component] += 1
            self.spending.calls += 1
            if exchange.op == STATISTICS:
                continue
            if used := max((_used(frame.body) for frame in exchange.frames), default=0):
                self.tokens[component] += used
                self.spending.tokens += used


def _used(body: Any) -> int:
    """The tokens that a frame accounts for, of the call so far, as `total_tokens` (SPECIFICATION 8.3, 10.3)."""
    if type(body) is not dict:
        return 0
    chunk, result = body.get("chunk"), body.get("result")
    used = _total(chunk.get("usage_so_far")) if type(chunk) is dict else 0
    if type(result) is dict:
        used = max(used, _total(result), _total(result.get("usage")))
    return used


def _total(usage: Any) -> int:
    value = usage.get("total_tokens") if type(usage) is dict else None
    return value if type(value) is int and 0 < value < 2**53 else 0
