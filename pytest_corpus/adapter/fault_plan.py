"""The faults that tests plan at a provider, or at the stand-in for it."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pytest_corpus.spec.errors import BY_KIND


class ProviderFault(Exception):
    """The exception of the provider. An author maps it like the exceptions of the real provider.

    Attributes:
        kind: a kind of `pytest_corpus.spec.errors.FAULTS`.
        http_status: the status of the answer if the provider speaks HTTP.
        retry_after_ms: the wait in milliseconds that the provider asks for, or None.
        message: the provider's raw text; it must not reach the wire, the metrics or the logs.
    """

    def __init__(self, kind: str, http_status: int, retry_after_ms: float | None, message: str) -> None:
        self.kind, self.http_status = kind, http_status
        self.retry_after_ms, self.message = retry_after_ms, message
        super().__init__(message)


@dataclass
class Plan:
    """One planned behaviour of the provider, with a secret text.

    `fired` counts the arrivals that the plan affected, `waiting` the calls that wait for a slow or hanging provider.

    `form` is the form of the fault on the wire of a provider with an address, if there are several forms. `hints_ms`
    has every value of `retry_after_ms` that the provider's answer can mean; it is empty if the answer cannot state a
    value. `on_wire` is True if the fault occurred on the wire of a provider with an address.
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
        """The provider's raw text, with the secret text."""
        return f"upstream said: {self.canary}"

    def applies_to(self, op: str, chunk: Any) -> bool:
        """True if the plan applies when this operation, or this chunk of its stream, arrives at the provider."""
        return self.fired < self.times and self.op in (None, op) and self.at_chunk == chunk

    async def wait(self) -> None:
        """Wait for `delay_ms`, or for ever if a hanging provider is planned."""
        self.waiting += 1
        try:
            await (asyncio.Event().wait() if self.kind == "hang" else asyncio.sleep(self.delay_ms / 1000))
        finally:
            self.waiting -= 1

    async def carry_out(self) -> None:
        """Wait as planned, and then raise the planned exception."""
        if self.delay_ms or self.kind == "hang":
            await self.wait()
        if self.kind in ("slow", "hang"):
            return
        status = BY_KIND[self.kind].http_status
        if status is None:
            raise RuntimeError(self.message)
        raise ProviderFault(self.kind, status, self.retry_after_ms, self.message)


def is_failing(plans: Sequence[Plan]) -> bool:
    """True if a plan that makes calls fail has affected an arrival."""
    return any(plan.fired and BY_KIND[plan.kind].canonical for plan in plans)


def canaries(plans: Sequence[Plan]) -> tuple[str, ...]:
    """Return the secret texts of the plans that affected an arrival."""
    return tuple(plan.canary for plan in plans if plan.fired)
