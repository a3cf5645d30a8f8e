"""The interface of a recorder, to which a client hands every call."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pytest_corpus.adapter.exceptions import Unresponsive
from pytest_corpus.adapter.exchange import Exchange
from pytest_corpus.adapter.hooks.fault_plan import Plan
from pytest_corpus.adapter.transports.raw import RawAnswer, RawRequest


@dataclass(frozen=True, slots=True)
class Circumstances:
    """The context of a call.

    Attributes:
        plans: what was planned at the provider before it.
        arrivals: what has reached the provider since the call before: op, chunk or None, and what was handed on.
        generation: how often the instance was opened.
        called: the hooks that an adapter elsewhere has called so far.
    """

    plans: Sequence[Plan]
    arrivals: Sequence[tuple[str, Any, Mapping[str, Any]]]
    generation: int
    called: frozenset[str]


class CallRecorder(Protocol):
    """Keeps calls, of which reports may still come."""

    def sent(self, exchange: Exchange, around: Circumstances) -> None:
        """Take a call."""

    def sent_together(self, exchanges: Sequence[Exchange], component: str, around: Circumstances) -> None:
        """Take calls that were made at the same time."""

    def sent_raw(self, request: RawRequest, answer: RawAnswer, component: str, around: Circumstances) -> None:
        """Take a raw call of a transport test."""

    def unanswered(self, op: str, silent: Unresponsive) -> None:
        """Take a call that was not made, or has no record, because the operation does not answer."""
