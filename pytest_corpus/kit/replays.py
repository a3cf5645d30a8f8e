"""Writes under an idempotency key: what it takes to tell a replay from a second application (R126)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_corpus.kit.answer_cache import cached
from pytest_corpus.kit.expect import uncounted
from pytest_corpus.kit.outcomes import Undecided, Violation
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.kit.requests import HOUR_MS, Calls, Request, canary, in_ms, new_trace
from pytest_corpus.text.values import same


@dataclass(frozen=True, slots=True)
class Rivals:
    """A write, another one after it that a second application of the first would undo, and a look at what is left.

    Attributes:
        first: the write.
        other: makes the other one.
        shows: raises a `Violation` if what the other one left is not there.
    """

    first: Request
    other: Callable[[], object]
    shows: Callable[[], None]


def keyed(key: Mapping[str, Any]) -> dict[str, Any]:
    """The context of one call under a key: its own request id, trace and deadline, which the key's scope leaves out."""
    own = {"request_id": f"req-{canary()}", "traceparent": new_trace(), "deadline_ms": in_ms(HOUR_MS)}
    return {**own, **key}


def under(calls: Calls, request: Request, key: Mapping[str, Any]) -> Reply | StreamReply:
    """The answer to a request under a key."""
    return calls.invoke(request.op, request.args, {**request.ctx, **keyed(key)})


def are_replayed(calls: Calls, rivals: Callable[[], Rivals]) -> bool:
    """Return whether a plain write that comes again with its key is applied once, though nothing claims it."""

    def ask() -> bool:
        key = {"idempotency_key": f"key-{canary()}"}
        try:
            found = rivals()
            first = under(calls, found.first, key)
            found.other()
            again = under(calls, found.first, key)
            found.shows()
        except (Undecided, Violation):
            return False
        results = [reply.result for reply in (first, again) if isinstance(reply, Reply) and reply.is_success]
        return len(results) == 2 and same(*results)

    with uncounted():
        return cached(calls, "are replayed", ask)
