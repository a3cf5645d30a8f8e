"""The calls, tokens and outages of a run so far, and its budget, such as `calls=500,tokens=20000`."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pytest_corpus.adapter import inputs
from pytest_corpus.adapter.exceptions import BudgetSpent
from pytest_corpus.spec.operations import BY_OP

if TYPE_CHECKING:
    from pytest_corpus.adapter.exchange import Exchange

KINDS = ("calls", "tokens")
"""The things that a budget may limit."""

LONGEST = 15
"""The largest number of digits in a limit."""


@dataclass(frozen=True, slots=True)
class Budget:
    """The largest number of calls of a run, and the largest number of tokens in its answers. None means no limit."""

    calls: int | None = None
    tokens: int | None = None

    def __str__(self) -> str:
        given = ((self.calls, "call"), (self.tokens, "token"))
        return " and ".join(f"{most} {kind}{'' if most == 1 else 's'}" for most, kind in given if most is not None)

    @property
    def limits(self) -> dict[str, int]:
        """Return the limits by the keys of `KINDS`."""
        given = {"calls": self.calls, "tokens": self.tokens}
        return {kind: most for kind, most in given.items() if most is not None}

    def share(self, number: int, of: int, *, used: Spending | None = None) -> Budget:
        """Divide the remaining budget among `of` processes, and return the share of process `number`, from 0."""
        gone = {"calls": used.calls, "tokens": used.tokens} if used else {}
        left = {kind: max(0, most - gone.get(kind, 0)) for kind, most in self.limits.items()}
        return Budget(**{kind: most // of + (number < most % of) for kind, most in left.items()})


def parse(text: str) -> Budget:
    """Return the budget in a text such as ``calls=500,tokens=20000``. Raises ValueError with the reason."""
    found: dict[str, int] = {}
    for part in text.split(","):
        kind, _, number = (piece.strip() for piece in part.partition("="))
        if kind not in KINDS:
            unknown = f"{kind or 'nothing'} cannot be limited; " if "=" in part else ""
            raise ValueError(f"{unknown}write it as calls=500, tokens=20000, or both with a comma")
        if kind in found:
            raise ValueError(f"{kind} is given twice")
        if not (number.isascii() and number.isdecimal() and len(number) <= LONGEST and int(number) > 0):
            raise ValueError(f"{kind} must be a positive integer")
        found[kind] = int(number)
    return Budget(**found)


@dataclass(slots=True)
class Spending:
    """The part of a budget that one process has used.

    Attributes:
        calls: the calls that were made, to any adapter.
        tokens: the tokens that the answers account for.
        refused: the number of calls that were not made because the budget was spent.
    """

    budget: Budget = field(default_factory=Budget)
    calls: int = 0
    tokens: int = 0
    refused: int = 0
    _enforced: bool = False

    @contextmanager
    def enforce(self) -> Iterator[None]:
        """Enforce the budget within this block, which runs a test. Outside of tests, calls are only counted."""
        self._enforced = True
        try:
            yield
        finally:
            self._enforced = False

    def admit(self, calls: int) -> None:
        """Count this number of calls. Raises BudgetSpent if the budget does not allow them."""
        if self._enforced and self._is_over(calls):
            self.refused += 1
            raise BudgetSpent(str(self.budget))

    def _is_over(self, more: int) -> bool:
        most = self.budget
        return (most.calls is not None and self.calls + more > most.calls) or (
            most.tokens is not None and self.tokens >= most.tokens
        )


STATISTICS = "embedding.get_stats"
"""The operation whose `total_tokens` are the sum over all calls so far, instead of its own tokens."""


@dataclass(slots=True)
class Outages:
    """The retryable failures of calls in a run, and the times of these failures.

    Attributes:
        worked: the operations that succeeded in this run, except capabilities and health.
        interruptions: the number of unplanned retryable answers for which the adapter was not responsible.
        began: the start of the last call that failed in this way, on the monotonic clock.
        clock: the time of day of that failure, such as ``14:03:12``; empty before the first failure.
        waited_s: the seconds that this run has waited for the provider.
        own: for each operation, the number of retryable errors that are the adapter's own fault: a plain call works.
        lasting: True if the provider did not come back, so that no more calls are made.
        hopeless: the components for which waiting does not help, because a new instance of the adapter works, or
            because no operation ever worked.
        never_readable: the components with a namespace that stayed unreadable, although the suite waited.
    """

    worked: dict[str, None] = field(default_factory=dict)
    interruptions: int = 0
    began: float = 0.0
    clock: str = ""
    waited_s: float = 0.0
    own: dict[str, int] = field(default_factory=dict)
    lasting: bool = False
    hopeless: set[str] = field(default_factory=set)
    never_readable: set[str] = field(default_factory=set)

    def note_failure(self, began: float) -> None:
        """Record the failure of a call that began at a time of the monotonic clock."""
        self.began, self.clock = began, inputs.read("clock", lambda: time.strftime("%H:%M:%S"))

    @property
    def outage_text(self) -> str:
        """The outage in a few words, for a report."""
        return f"the provider {'has been unavailable since' if self.lasting else 'was unavailable at'} {self.clock}"


class Meter:
    """Counts the calls of all instances of one adapter, by component.

    Attributes:
        calls: the number of requests that were sent.
        tokens: the number of tokens in all answers.
        took: the number of successful calls by operation and time; ``llm.complete 8`` counts calls below 8 ms.
        spending: the budget of the run and its use so far, for all adapters together.
        outages: the outages of the provider behind the adapter.
    """

    def __init__(self, spending: Spending | None = None) -> None:
        self.spending = spending or Spending()
        self.outages = Outages()
        self.calls: Counter[str] = Counter()
        self.tokens: Counter[str] = Counter()
        self.took: Counter[str] = Counter()

    @property
    def total_calls(self) -> int:
        """All calls so far, of any component."""
        return sum(self.calls.values())

    def count_calls(self, component: str, exchanges: Iterable[Exchange]) -> None:
        """Count calls that have ended."""
        for exchange in exchanges:
            self.calls[component] += 1
            self.spending.calls += 1
            if exchange.op in BY_OP and _is_plain(exchange):
                self.took[f"{exchange.op} {1 << int(exchange.elapsed_s * 1000).bit_length()}"] += 1
            if exchange.op == STATISTICS:
                continue
            if used := max([0, *[_tokens_in(frame.body) for frame in exchange.frames]]):
                self.tokens[component] += used
                self.spending.tokens += used


def _is_plain(exchange: Exchange) -> bool:
    """True if a call succeeded without a planned delay of the provider."""
    last = exchange.frames[-1].body if exchange.frames else None
    return exchange.fault is None and not exchange.observed.faults and type(last) is dict and last.get("ok") is True


def _tokens_in(body: Any) -> int:
    """Return the tokens that a call has used up to this frame, from `total_tokens` (SPECIFICATION 8.3, 10.3)."""
    if type(body) is not dict:
        return 0
    chunk, result = body.get("chunk"), body.get("result")
    used = _total_tokens_in(chunk.get("usage_so_far")) if type(chunk) is dict else 0
    if type(result) is dict:
        used = max(used, _total_tokens_in(result), _total_tokens_in(result.get("usage")))
    return used


def _total_tokens_in(usage: Any) -> int:
    value = usage.get("total_tokens") if type(usage) is dict else None
    return value if type(value) is int and 0 < value < 2**53 else 0
