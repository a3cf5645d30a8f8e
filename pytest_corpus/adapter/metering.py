"""What the calls of a run come to: how many there were, and how many tokens the adapter says they took."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from pytest_corpus.adapter.budget import Spending
from pytest_corpus.adapter.exchange import Exchange

USAGE_PATHS = (("result", "usage"), ("chunk", "usage_so_far"), ("result",))
"""Where an answer says how many tokens a call took, as `total_tokens` (SPECIFICATION 8.3, 10.3)."""

STATISTICS = "embedding.get_stats"
"""Its `total_tokens` are those of all calls so far, not its own."""


class Meter:
    """Counts the calls of all instances of one adapter, by component.

    Attributes:
        calls: how many requests were sent.
        tokens: how many tokens the answers account for, in all.
        spending: what the run may use, and has used, of all adapters together.
    """

    def __init__(self, spending: Spending | None = None) -> None:
        self.spending = spending or Spending()
        self.calls: Counter[str] = Counter()
        self.tokens: Counter[str] = Counter()

    @property
    def total_calls(self) -> int:
        """All calls so far, of whichever component."""
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
    """The tokens that a frame accounts for, of the call so far."""
    return max(_total(body, path) for path in USAGE_PATHS)


def _total(value: Any, path: tuple[str, ...]) -> int:
    for key in (*path, "total_tokens"):
        if not isinstance(value, Mapping):
            return 0
        value = value.get(key)
    return int(value) if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 2**53 else 0
