"""The planned faults of a provider's stand-in."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pytest_corpus.spec.errors import BY_KIND


class ProviderFault(Exception):
    """The exception of the provider: an author maps it as he maps his provider's own exceptions.

    Attributes:
        kind: a kind of `pytest_corpus.spec.errors.FAULTS`.
        http_status: the status that a provider of HTTP would answer with.
        retry_after_ms: how long to wait, where the provider says so, in milliseconds.
        message: the provider's raw text; it must not reach the wire, the metrics or the logs.
    """

    def __init__(self, kind: str, http_status: int, retry_after_ms: float | None, message: str) -> None:
        self.kind, self.http_status = kind, http_status
        self.retry_after_ms, self.message = retry_after_ms, message
        super().__init__(message)


@dataclass
class Plan:
    """One planned behaviour, with its secret text.

    `fired` counts how often it struck, `waiting` who waits for a slow or hanging provider.

    `form` says how it looks on the wire of a provider with an address, where there is more than one way.
    `hints_ms` are the values of `retry_after_ms` that may be read from what the provider said, all of them right; empty
    where it had no place to say one. `on_wire` says that it happened on the wire of a provider with an address.
    """

    kind: str
    op: str | None
    at_chunk: int | None
    times: int
    retry_after_ms: float | None
    delay_ms: float
    form: str | None
    canary: str
    fired: int = 0
    waiting: int = 0
    hints_ms: tuple[float, ...] = ()
    on_wire: bool = False

    def __post_init__(self) -> None:
        if self.retry_after_ms is not None:
            self.hints_ms = (self.retry_after_ms,)

    @property
    def message(self) -> str:
        """The provider's raw text."""
        return f"upstream said: {self.canary}"

    def strikes(self, op: str, chunk: Any) -> bool:
        """True if it applies to this arrival at the provider."""
        return self.fired < self.times and self.op in (None, op) and self.at_chunk == chunk

    async def wait(self) -> None:
        """Hang, or take `delay_ms`, as planned."""
        self.waiting += 1
        try:
            await (asyncio.Event().wait() if self.kind == "hang" else asyncio.sleep(self.delay_ms / 1000))
        finally:
            self.waiting -= 1

    async def carry_out(self) -> None:
        """Hang, or take `delay_ms` and then raise, as planned."""
        if self.delay_ms or self.kind == "hang":
            await self.wait()
        if self.kind in ("slow", "hang"):
            return
        status = BY_KIND[self.kind].http_status
        if status is None:
            raise RuntimeError(self.message)
        raise ProviderFault(self.kind, status, self.retry_after_ms, self.message)


def is_failing(plans: Sequence[Plan]) -> bool:
    """True if a plan that makes calls fail has struck."""
    return any(plan.fired and BY_KIND[plan.kind].canonical for plan in plans)


def canaries(plans: Sequence[Plan]) -> tuple[str, ...]:
    """The secret texts of those plans that struck."""
    return tuple(plan.canary for plan in plans if plan.fired)
