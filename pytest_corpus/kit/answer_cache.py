"""The answers that a run has already; and what it takes to tell a replay from a second application (R126)."""

from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any, TypeVar
from zlib import crc32

from pytest_corpus.adapter import inputs
from pytest_corpus.adapter.exchange import Exchange, context_of, op_of
from pytest_corpus.adapter.turns import finding_out
from pytest_corpus.kit.judgement import judging, look_at, reading_apart
from pytest_corpus.kit.outcomes import Undecided, Violation
from pytest_corpus.kit.reply import Reply, StreamReply, error_names
from pytest_corpus.kit.requests import HOUR_MS, Calls, Request, canary, deadline_in, new_trace, reverse_keys
from pytest_corpus.spec.errors import TAXONOMY
from pytest_corpus.spec.operations import BY_OP
from pytest_corpus.text.values import same

Ask = TypeVar("Ask", bound=Callable[..., Any])
T = TypeVar("T")


def cached(calls: Calls, key: Hashable, ask: Callable[[], T]) -> T:
    """The result of `ask` when it was first called under this key.

    What a test planned at the provider does not strike it. `ask` may plan faults of its own. The actions of the test
    that asked count as those of each test that takes the answer, and so does what it read to find the answer out.
    """
    with finding_out(id(calls.shared), key):
        return _known_or_asked(calls, key, ask)


def _known_or_asked(calls: Calls, key: Hashable, ask: Callable[[], T]) -> T:
    kept, done = calls.shared.cached, calls.shared.actions.done
    if key in kept:
        answer, exchanges, actions, read = kept[key]
        done.update(actions)
        calls.client.part.recall(exchanges)
        look_at(*read)
        recalled: T = answer
        return recalled
    mistakes = len(calls.client.provider.mistakes.noted)
    with inputs.fact_scope(f"{calls.component} {key!r}") as fact, reading_apart() as read:
        answer = ask()
    look_at(*read)
    if all(map(is_cacheable, fact.exchanges)) and len(calls.client.provider.mistakes.noted) == mistakes:
        kept[key] = (answer, fact.exchanges, frozenset(done), read)
    return answer


def remembered(ask: Ask) -> Ask:
    """Make a function ask a component once a run: for the same arguments it returns the answer that it had first."""
    name = f"{ask.__module__.rpartition('.')[2]}.{ask.__qualname__}"

    @wraps(ask)
    def recalled(calls: Calls, *args: Any, **options: Any) -> Any:
        return cached(calls, (name, repr((args, sorted(options.items())))), partial(ask, calls, *args, **options))

    return recalled  # type: ignore[return-value]


def is_cacheable(exchange: Exchange) -> bool:
    """Return if an exchange would have the same result later: it ended, and not in a failure that may pass."""
    if exchange.fault or not exchange.frames:
        return False
    passing = any(TAXONOMY[name].retry == "yes" for name in error_names(exchange.frames[-1].body))
    return exchange.own or bool(exchange.observed.faults) or not passing


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
    """The answer to a request of an operation, not sent before, whose deadline passed a minute ago."""
    return calls.invoke(name, calls.requests.distinct(name), {"deadline_ms": deadline_in(-60_000)})


@dataclass(frozen=True, slots=True)
class ReplayProbe:
    """A write, another one after it that a second application of the first would undo, and a look at what is left.

    Attributes:
        first: the write.
        other: makes the other one.
        shows: raises a `Violation` if what the other one left is not there.
    """

    first: Request
    other: Callable[[], object]
    shows: Callable[[], None]


def context_with_key(key: Mapping[str, Any]) -> dict[str, Any]:
    """The context of one call under a key: its own request id, trace and deadline, which the key's scope leaves out."""
    own = {"request_id": f"req-{canary()}", "traceparent": new_trace(), "deadline_ms": deadline_in(HOUR_MS)}
    return {**own, **key}


def keys_of(request: Any) -> frozenset[str]:
    """The idempotency key of a write; empty if it has none."""
    op, key = BY_OP.get(op_of(request)), (context_of(request) or {}).get("idempotency_key")
    return frozenset([key] if op is not None and op.mutating and isinstance(key, str) else [])


ORDERS = 4
"""One in this number of the kinds of requests has its keys in the opposite order."""


def order_keys(request: dict[str, Any], used: Collection[str]) -> dict[str, Any]:
    """A request with its keys as they stand or in the opposite order, which is the same JSON value.

    It depends on the seed and on the names of its arguments; a replay has another order than what it repeats.

    Args:
        used: the idempotency keys of the writes that were made.
    """
    kind = " ".join([request["op"], *sorted(map(str, request["args"]))])
    by_seed = (crc32(kind.encode()) + inputs.seed()) % ORDERS == 0
    return reverse_keys(request) if by_seed != bool(keys_of(request) & {*used}) else request


def call_with_key(calls: Calls, request: Request, key: Mapping[str, Any]) -> Reply | StreamReply:
    """The answer to a request under a key."""
    return calls.invoke(request.op, request.args, {**request.ctx, **context_with_key(key)})


def are_replayed(calls: Calls, replay_probe: Callable[[], ReplayProbe]) -> bool:
    """Return whether a plain write that comes again with its key is applied once, though nothing claims it."""

    def ask() -> bool:
        key = {"idempotency_key": f"key{canary()}"}
        try:
            found = replay_probe()
            first = call_with_key(calls, found.first, key)
            found.other()
            again = call_with_key(calls, found.first, key)
            found.shows()
        except (Undecided, Violation):
            return False
        results = [reply.result for reply in (first, again) if isinstance(reply, Reply) and reply.is_success]
        return len(results) == 2 and same(*results)

    with judging():
        return cached(calls, "are replayed", ask)
