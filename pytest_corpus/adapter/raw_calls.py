"""Calls of tests of the transport itself: what they send stands as it is, and nothing is read of what comes back."""

from collections.abc import Callable, Coroutine
from typing import Any, Protocol

from pytest_corpus.adapter.exchange import CallFault, Exchange
from pytest_corpus.adapter.opening.remote import RemoteAdapter
from pytest_corpus.adapter.transports.raw import RawAnswer, RawRequest
from pytest_corpus.adapter.usage.meter import Meter


class Caller(Protocol):
    """What of a client is needed to make a raw call."""

    meter: Meter

    @property
    def remote(self) -> RemoteAdapter | None: ...

    def carry_out(self, work: Callable[[], Coroutine[Any, Any, None]], op: str) -> CallFault | None: ...


def raw_call(client: Caller, request: RawRequest, component: str) -> RawAnswer:
    """Everything that came back within the call limit.

    Raises:
        BudgetSpent: the run may make no more calls.
        Unresponsive: calls of the operation ran into the time limit too often before.
    """
    remote, answer = client.remote, RawAnswer()
    assert remote is not None, "the adapter runs in this process"
    exchange = Exchange(request.envelope, request.streaming)
    late = client.carry_out(lambda: remote.transport.raw(request, answer), exchange.op)
    answer.fault = late or answer.fault
    client.meter.note(component, [exchange])
    return answer
