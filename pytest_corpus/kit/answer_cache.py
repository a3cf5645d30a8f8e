"""The answers that a run has from an adapter already, so that no call is made twice for the same purpose.

A test that looks at an answer alone may take the one that another test got; a test for which it matters when, how often
or after what a call is made asks for itself. If tests are repeated, a test remembers its own answers alone. The order
of the tests must not matter, so no planned fault strikes what is learnt, and a failure that may pass is not remembered.
"""

from collections.abc import Callable, Hashable
from functools import partial, wraps
from typing import Any, TypeVar

from pytest_corpus.adapter import inputs
from pytest_corpus.adapter.exchange import Exchange
from pytest_corpus.kit.reply import Reply, StreamReply, error_names
from pytest_corpus.kit.requests import Calls, in_ms
from pytest_corpus.spec.errors import TAXONOMY

Ask = TypeVar("Ask", bound=Callable[..., Any])
T = TypeVar("T")


def cached(calls: Calls, key: Hashable, ask: Callable[[], T]) -> T:
    """The result of `ask` when it was first called under this key.

    What a test planned at the provider does not strike it. `ask` may plan faults of its own. The actions of the test
    that asked count as those of each test that takes the answer.
    """
    kept, done = calls.shared.cached, calls.shared.actions.done
    if key in kept:
        answer, exchanges, actions = kept[key]
        done.update(actions)
        here = {id(each) for client in calls.clients for each in client.exchanges}
        for exchange in exchanges:
            if id(exchange) not in here:
                exchange.recalled = True
                calls.client.exchanges.append(exchange)
        recalled: T = answer
        return recalled
    before = {id(each) for client in calls.clients for each in client.exchanges}
    with calls.client.provider.paused(), inputs.apart(f"{calls.component} {key!r}"):
        answer = ask()
    made = [each for client in calls.clients for each in client.exchanges if id(each) not in before]
    if all(map(lasting, made)):
        kept[key] = (answer, made, frozenset(done))
    return answer


def remembered(ask: Ask) -> Ask:
    """Make a function ask a component once a run: for the same arguments it returns the answer that it had first."""
    name = f"{ask.__module__.rpartition('.')[2]}.{ask.__qualname__}"

    @wraps(ask)
    def recalled(calls: Calls, *args: Any, **options: Any) -> Any:
        return cached(calls, (name, repr((args, sorted(options.items())))), partial(ask, calls, *args, **options))

    return recalled  # type: ignore[return-value]


def lasting(exchange: Exchange) -> bool:
    """Return if an exchange would have the same result later: it ended, and not in a failure that may pass."""
    if exchange.fault or not exchange.frames:
        return False
    passing = any(TAXONOMY[name].retry == "yes" for name in error_names(exchange.frames[-1].body))
    return exchange.own or bool(exchange.faults) or not passing


@remembered
def plain(calls: Calls, name: str) -> Reply | StreamReply:
    """The answer to a plain request of an operation, at its own entry point."""
    return calls.invoke(name)


def plain_call(calls: Calls, name: str) -> Reply:
    """The answer to a plain request of a unary operation."""
    reply = plain(calls, name)
    assert isinstance(reply, Reply)
    return reply


@remembered
def expired(calls: Calls, name: str) -> Reply | StreamReply:
    """The answer to a plain request of an operation whose deadline passed a minute ago."""
    return calls.invoke(name, ctx={"deadline_ms": in_ms(-60_000)})
