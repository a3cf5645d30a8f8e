"""What a run has learnt of an adapter already, so that no call is made twice to look at the same thing.

A test that looks at an answer alone may take the one that another test got; a test for which it matters when, how often
or after what a call is made asks for itself. Where tests are repeated nothing is remembered.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, Protocol, TypeVar

from pytest_corpus.adapter.client import AdapterClient
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.kit.request import in_ms
from pytest_corpus.kit.settings import Settings
from pytest_corpus.kit.shared import Shared

T = TypeVar("T")


class Calls(Protocol):
    """What of a component is needed to remember its answers."""

    settings: Settings
    client: AdapterClient

    @property
    def shared(self) -> Shared: ...

    @property
    def clients(self) -> list[AdapterClient]: ...

    def invoke(
        self, name: str, args: Mapping[str, Any] | None = None, ctx: Mapping[str, Any] | None = None
    ) -> Reply | StreamReply: ...


def known(calls: Calls, key: Hashable, ask: Callable[[], T]) -> T:
    """What `ask` came to when it was first asked under this key; a call that did not come to its end is made again."""
    kept = calls.shared.known
    if key in kept:
        answer, exchanges = kept[key]
        here = {id(each) for client in calls.clients for each in client.exchanges}
        for exchange in exchanges:
            if id(exchange) not in here:
                exchange.recalled = True
                calls.client.exchanges.append(exchange)
        recalled: T = answer
        return recalled
    before = {id(each) for client in calls.clients for each in client.exchanges}
    answer = ask()
    made = [each for client in calls.clients for each in client.exchanges if id(each) not in before]
    if calls.settings.remembers and all(each.frames and not each.fault for each in made):
        kept[key] = (answer, made)
    return answer


def plain(calls: Calls, name: str) -> Reply | StreamReply:
    """The answer to a plain request of an operation, at its own entry point."""
    return known(calls, ("plain", name), lambda: calls.invoke(name))


def plain_call(calls: Calls, name: str) -> Reply:
    """The answer to a plain request of a unary operation."""
    reply = plain(calls, name)
    assert isinstance(reply, Reply)
    return reply


def expired(calls: Calls, name: str) -> Reply | StreamReply:
    """The answer to a plain request of an operation whose deadline passed a minute ago."""
    return known(calls, ("expired", name), lambda: calls.invoke(name, ctx={"deadline_ms": in_ms(-60_000)}))
