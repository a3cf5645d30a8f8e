"""A stand-in for the provider, which counts calls and carries out planned faults."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from pytest_corpus.adapter.plain import plain
from pytest_corpus.spec.faults import BY_KIND
from pytest_corpus.text.redaction import type_name


class ProviderFault(Exception):
    """What the provider "raises": an author maps it as he maps his provider's own exceptions.

    Attributes:
        kind: a kind of `pytest_corpus.spec.faults.FAULTS`.
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
    """One planned behaviour; `fired` counts how often it struck, `waiting` who waits for a slow or hanging provider."""

    kind: str
    op: str | None = None
    at_chunk: int | None = None
    times: int = 1
    retry_after_ms: float | None = None
    delay_ms: float = 0
    canary: str = field(default_factory=lambda: f"raw-{secrets.token_hex(8)}")
    fired: int = 0
    waiting: int = 0

    def strikes(self, op: str, chunk: Any) -> bool:
        """Whether it applies to this arrival at the provider."""
        return self.fired < self.times and self.op in (None, op) and self.at_chunk == chunk

    async def strike(self) -> None:
        """Raise, sleep or hang, as planned."""
        self.fired += 1
        if self.kind in ("slow", "hang"):
            self.waiting += 1
            try:
                await (asyncio.sleep(self.delay_ms / 1000) if self.kind == "slow" else asyncio.Event().wait())
            finally:
                self.waiting -= 1
            return
        message = f"upstream said: {self.canary}"
        status = BY_KIND[self.kind].http_status
        if status is None:
            raise RuntimeError(message)
        raise ProviderFault(self.kind, status, self.retry_after_ms, message)


HANDED_ON = ("traceparent", "deadline_ms")
"""The facts that tell what of its context an operation hands on to the provider."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """What was handed on to the provider once, of the facts in `HANDED_ON`; a fact may be null."""

    op: str
    facts: Mapping[str, Any]


class ProviderProbe:
    """Given to a factory that asks for `provider`.

    The author's provider stub awaits `reached(op, **facts)` whenever it would call the provider, and for a
    stream once more before each chunk with `chunk=0, 1, 2 ...`; a batch passes `items=n`. It may pass the `traceparent`
    and the absolute `deadline_ms` that it would send along.
    """

    def __init__(self) -> None:
        self._operations: list[str] = []
        self._plans: list[Plan] = []
        self.struck: list[str] = []
        self.handed_on: list[Arrival] = []

    async def reached(self, op: str, **facts: Any) -> None:
        """Count an operation (not a chunk) and carry out what is planned for it.

        Raises:
            ProviderFault: as planned.
            RuntimeError: planned as an unexpected fault.
        """
        named, chunk = plain(op), plain(facts.get("chunk"))
        arrived = named if isinstance(named, str) else f"({type_name(op)})"
        if chunk is None:
            self._operations.append(arrived)
        if told := {name: plain(facts[name]) for name in HANDED_ON if name in facts}:
            self.handed_on.append(Arrival(arrived, told))
        for plan in self._plans:
            if plan.strikes(arrived, chunk):
                self.struck.append(plan.kind)
                await plan.strike()
                return

    def calls(self, op: str | None = None) -> int:
        """How many operations reached the provider, of one op or of all."""
        return len(self._operations) if op is None else self._operations.count(op)

    @property
    def arrivals(self) -> tuple[str, ...]:
        """The op of every operation that reached the provider, in order."""
        return tuple(self._operations)

    def plan(  # noqa: PLR0917 - the documented signature
        self,
        kind: str,
        op: str | None = None,
        at_chunk: int | None = None,
        times: int = 1,
        retry_after_ms: float | None = None,
        delay_ms: float = 0,
    ) -> Plan:
        """Plan a behaviour for the next `times` arrivals of `op` (None: of any op).

        Without `at_chunk` it strikes the operation, with it the chunk of that number.

        Raises:
            ValueError: an unknown kind.
        """
        if kind not in BY_KIND:
            raise ValueError(f"unknown fault kind {kind!r}; one of {', '.join(BY_KIND)}")
        plan = Plan(kind, op, at_chunk, times, retry_after_ms, delay_ms)
        self._plans.append(plan)
        return plan

    def clear(self) -> None:
        """Forget every plan; the counts stay."""
        self._plans.clear()

    def forget(self) -> None:
        """Forget every plan, and what was handed on."""
        self.clear()
        self.handed_on.clear()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Carry out no plan meanwhile: for what the suite prepares before the call that a plan is meant for."""
        plans, self._plans = self._plans, []
        try:
            yield
        finally:
            self._plans = plans

    @property
    def canaries(self) -> tuple[str, ...]:
        """The secret texts of all plans that struck and are not cleared."""
        return tuple(plan.canary for plan in self._plans if plan.fired)
