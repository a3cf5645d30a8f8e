"""The calls of a run, and the tokens that the adapter says they took."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from pytest_corpus.adapter.exchange import Exchange
from pytest_corpus.adapter.usage.budget import Spending
from pytest_corpus.adapter.usage.outages import Outages

STATISTICS = "embedding.get_stats"
"""Its `total_tokens` are those of all calls so far, not its own."""


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
