"""Caches answers for the whole run, and finds out if a write that is sent again is applied twice (R126)."""

from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any, TypeVar
from zlib import crc32

from pytest_corpus.adapter import inputs
from pytest_corpus.adapter.exchange import Exchange, context_of, op_of
from pytest_corpus.adapter.turns import finding_out
from pytest_corpus.kit.common_facts import FoundFact
from pytest_corpus.kit.judgement import judging, look_at, reading_separately
from pytest_corpus.kit.outcomes import Undecided, Violation
from pytest_corpus.kit.reply import Reply, StreamReply, error_names
from pytest_corpus.kit.requests import HOUR_MS, Calls, Request, canary, deadline_in, new_trace, reverse_keys
from pytest_corpus.spec.errors import TAXONOMY
from pytest_corpus.spec.operations import BY_OP
from pytest_corpus.text.values import are_equal_json

Ask = TypeVar("Ask", bound=Callable[..., Any])
T = TypeVar("T")


def cached(calls: Calls, key: Hashable, ask: Callable[[], T], *, common: bool = False) -> T:
    """Return the result of `ask` for a key. `ask` is called once in a run; later calls for the key return its result.

    Faults that the current test planned do not affect `ask`; `ask` may plan faults. The actions of the test that
    called `ask`, and the exchanges that `ask` made, count for every test that uses the result.

    Args:
        common: True if the result does not depend on what this process stored, so that all processes may use it.
    """
    with finding_out(id(calls.shared), key):
        return _recall_or_ask(calls, key, ask, common)


def _recall_or_ask(calls: Calls, key: Hashable, ask: Callable[[], T], common: bool) -> T:
    kept, done = calls.shared.cached, calls.shared.actions.done
    name = f"{calls.component} {key!r}"

    def find_out() -> FoundFact:
        # After a mistake in the author's stand-in of the provider, the answer is not kept for other tests.
        mistakes = len(calls.client.provider.mistakes.noted)
        with inputs.fact_scope(name) as fact, reading_separately() as read:
            answer = ask()
        lasts = all(map(is_cacheable, fact.exchanges)) and len(calls.client.provider.mistakes.noted) == mistakes
        return FoundFact(answer, fact.exchanges, frozenset(done), read, lasting=lasts)

    found = kept.get(key) or (calls.shared.find(name, find_out) if common else find_out())
    if found.lasting:
        kept[key] = found
        done.update(found.actions)
        calls.client.part.recall(found.exchanges)
    look_at(*found.read)
    answer: T = found.answer
    return answer


def remembered(ask: Ask) -> Ask:
    """Return a function that asks a component once in each process; the same arguments share the answer."""
    return _remembered(ask, common=False)


def remembered_by_all(ask: Ask) -> Ask:
    """Return a function that asks a component once in a run; all processes share the answer.

    The answer must not depend on what the process that asked has stored.
    """
    return _remembered(ask, common=True)


def _remembered(ask: Ask, *, common: bool) -> Ask:
    name = f"{ask.__module__.rpartition('.')[2]}.{ask.__qualname__}"

    @wraps(ask)
    def recalled(calls: Calls, *args: Any, **options: Any) -> Any:
        key = (name, repr((args, sorted(options.items()))))
        return cached(calls, key, partial(ask, calls, *args, **options), common=common)

    return recalled  # type: ignore[return-value]


def is_cacheable(exchange: Exchange) -> bool:
    """True if a repeated call would get the same result: the call ended, and its error (if any) is not transient."""
    if exchange.fault or not exchange.frames:
        return False
    passing = any(TAXONOMY[name].retry == "yes" for name in error_names(exchange.frames[-1].body))
    return exchange.own or bool(exchange.observed.faults) or not passing


@remembered_by_all
def invoke_plain(calls: Calls, name: str) -> Reply | StreamReply:
    """Send a plain request of an operation to its entry point."""
    return calls.invoke(name)


def plain_call(calls: Calls, name: str) -> Reply:
    """Send a plain request of a unary operation."""
    reply = invoke_plain(calls, name)
    assert isinstance(reply, Reply)
    return reply


@remembered_by_all
def invoke_expired(calls: Calls, name: str) -> Reply | StreamReply:
    """Send a new request whose deadline passed a minute ago."""
    return calls.invoke(name, calls.requests.distinct(name), {"deadline_ms": deadline_in(-60_000)})


@dataclass(frozen=True, slots=True)
class ReplayProbe:
    """Two writes and a check. If a repetition of the first write is applied, it undoes the second write.

    Attributes:
        first: the first write.
        other: the function that makes the second write.
        shows: the check; it raises a `Violation` if the effect of the second write is missing.
    """

    first: Request
    other: Callable[[], object]
    shows: Callable[[], None]


def context_with_key(key: Mapping[str, Any]) -> dict[str, Any]:
    """Return the context of a call with this idempotency key, and with a new request id, trace and deadline."""
    own = {"request_id": f"req-{canary()}", "traceparent": new_trace(), "deadline_ms": deadline_in(HOUR_MS)}
    return {**own, **key}


def idempotency_keys_of(request: Any) -> frozenset[str]:
    """Return the idempotency key of a write as a set; empty if the write has no key."""
    op, key = BY_OP.get(op_of(request)), (context_of(request) or {}).get("idempotency_key")
    return frozenset([key] if op is not None and op.mutating and isinstance(key, str) else [])


ORDERS = 4
"""Of this many kinds of requests, one kind is sent with its keys in reverse order."""


def order_keys(request: dict[str, Any], used: Collection[str]) -> dict[str, Any]:
    """Return a request with its keys in usual or reverse order. Both are the same JSON value.

    The order depends on the seed and on the names of the arguments. A first call and its replay have different orders.

    Args:
        used: the idempotency keys of earlier writes; a request with one of them is a replay.
    """
    kind = " ".join([request["op"], *sorted(map(str, request["args"]))])
    by_seed = (crc32(kind.encode()) + inputs.seed()) % ORDERS == 0
    return reverse_keys(request) if by_seed != bool(idempotency_keys_of(request) & {*used}) else request


def call_with_key(calls: Calls, request: Request, key: Mapping[str, Any]) -> Reply | StreamReply:
    """Send a request with an idempotency key."""
    return calls.invoke(request.op, request.args, {**request.ctx, **context_with_key(key)})


def are_writes_replayed(calls: Calls, replay_probe: Callable[[], ReplayProbe]) -> bool:
    """True if a plain write that is sent twice with the same idempotency key is applied once and gets equal results."""

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
        return len(results) == 2 and are_equal_json(*results)

    with judging():
        return cached(calls, "are replayed", ask)
