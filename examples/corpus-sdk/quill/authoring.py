"""The shared part of the adapters: checks, the calls of the provider, replays.

The SDK has an exception class of each name in each of its modules, so the classes here take the module.
"""

from __future__ import annotations

import asyncio
import copy
import hashlib
import json
import math
import re
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar, final

Answer = TypeVar("Answer")

STATUSES: dict[int, tuple[str, str]] = {
    400: ("BadRequest", "the provider refused the request"),
    401: ("AuthError", "the provider refused the credentials"),
    403: ("AuthError", "the provider denied permission"),
    408: ("TransientNetwork", "the provider timed out"),
    422: ("BadRequest", "the provider refused the request"),
    429: ("ResourceExhausted", "the provider's rate limit is reached"),
    502: ("TransientNetwork", "the provider cannot be reached"),
    504: ("TransientNetwork", "the provider timed out"),
}
NETWORK = ("TransientNetwork", "the provider cannot be reached")
ANY_OTHER = ("Unavailable", "the provider is unavailable")
RETRYABLE = ("ResourceExhausted", "TransientNetwork", "Unavailable")
CONTEXT_TEXTS = ("request_id", "idempotency_key", "traceparent", "tenant")


class Provider(Protocol):
    """The probe of a conformance run, reached before each call that a real backend would make."""

    async def reached(self, op: str, **facts: Any) -> None:
        """Return once the provider has answered; raise what it raises."""


# -- requests --------------------------------------------------------------------------------------------


def finite(value: Any) -> bool:
    """Tell if no number in a JSON value is NaN or infinite."""
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, Mapping):
        return all(map(finite, value.values()))
    return all(map(finite, value)) if isinstance(value, (list, tuple)) else True


def text_or_none(value: Any) -> bool:
    """Tell if an optional text is a string or absent."""
    return value is None or isinstance(value, str)


def same(one: Any, other: Any) -> bool:
    """Tell if two JSON values are equal; `true` is not 1, and 1 is 1.0."""
    if isinstance(one, bool) is not isinstance(other, bool):
        return False
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    return bool(one == other)


@dataclass(frozen=True)
class Taxonomy:
    """The exceptions of one SDK module; `subtypes` has the author's own, by the kind of fault."""

    module: Any
    subtypes: Mapping[str, type[Exception]] = field(default_factory=dict)

    def require(self, condition: object, name: str, rule: str, **facts: Any) -> None:
        """Refuse the request unless `condition` holds, naming the field at fault and the rule, not the value.

        Raises:
            BadRequest: the one of the module.
        """
        if not condition:
            details = {"validation_errors": [{"field": name, "rule": rule}], **facts}
            raise self.module.BadRequest(f"{name} {rule}", details=details)

    def check_context(self, ctx: Any) -> None:
        """Refuse a context with a value of a wrong type; the SDK takes most of it from the wire unseen."""
        if ctx is None:
            return
        for name in CONTEXT_TEXTS:
            self.require(text_or_none(getattr(ctx, name)), f"ctx.{name}", "must be a string")
        self.check_deadline(ctx.deadline_ms)
        self.require(isinstance(ctx.attrs, Mapping), "ctx.attrs", "must be an object")
        self.require(finite(ctx.attrs), "ctx.attrs", "must hold finite numbers only")

    def check_deadline(self, deadline: Any) -> None:
        """Refuse a deadline that is NaN, infinite or beyond the integers of the protocol."""
        in_range = deadline is None or (isinstance(deadline, (int, float)) and -(2**63) <= deadline < 2**63)
        self.require(in_range, "ctx.deadline_ms", "must be a number of 64 bits")

    def normalized(self, fault: Exception) -> Exception:
        """The module's exception for whatever the provider raised, without a word of the provider's own text."""
        lost = isinstance(fault, (ConnectionError, TimeoutError, asyncio.TimeoutError))
        status = getattr(fault, "http_status", None) or 0
        name, message = STATUSES.get(status, NETWORK if lost else ANY_OTHER)
        error: Any = self.subtypes.get(str(getattr(fault, "kind", ""))) or getattr(self.module, name)
        if name not in RETRYABLE:
            refused: Exception = error(message)
            return refused
        retry_after_ms = getattr(fault, "retry_after_ms", None)
        limited = {"throttle_scope": "provider", "resource_scope": "rate_limit"}
        details: dict[str, Any] = limited if name == "ResourceExhausted" else {}
        if retry_after_ms is None:
            details["suggested_backoff_ms"] = 500
        failed: Exception = error(message, retry_after_ms=retry_after_ms, details=details)
        return failed


def subtype(base: Any, name: str) -> Any:
    """An exception class of the author's own below one of the SDK; its code is its name in upper-case words."""
    code = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).upper()

    def init(self: Any, message: str, **facts: Any) -> None:
        base.__init__(self, message, code=code, **facts)

    return type(name, (base,), {"__init__": init})


# -- deadlines -------------------------------------------------------------------------------------------


class CheckedDeadline:
    """A deadline policy of the SDK that is kept from the deadlines it stumbles over, before any hook sees them."""

    def __init__(self, policy: Any, taxonomy: Taxonomy) -> None:
        self._policy, self._taxonomy = policy, taxonomy

    async def wrap(self, work: Coroutine[Any, Any, Any], ctx: Any) -> Any:
        """Do the work within the budget of the call.

        Raises:
            BadRequest: the deadline is NaN, infinite or too large to be one.
            DeadlineExceeded: it has passed.
        """
        try:
            self._taxonomy.check_deadline(ctx.deadline_ms if ctx else None)
        except Exception:
            work.close()
            raise
        return await self._policy.wrap(work, ctx)


# -- the provider ----------------------------------------------------------------------------------------


class Gateway:
    """The way to the provider."""

    def __init__(self, provider: Provider | None, taxonomy: Taxonomy) -> None:
        self._provider, self._taxonomy = provider, taxonomy

    async def reach(self, op: str, ctx: Any, **facts: int) -> None:
        """Go to the provider with the trace and the absolute deadline of the call.

        Raises:
            Exception: whatever fails there, as an exception of the SDK.
        """
        if self._provider is None:
            return
        headers = {"traceparent": ctx.traceparent, "deadline_ms": ctx.deadline_ms} if ctx else {}
        try:
            await self._provider.reached(op, **headers, **facts)
        except Exception as fault:  # noqa: BLE001 - whatever fails there gets a class
            raise self._taxonomy.normalized(fault) from None


class Replays:
    """The answers under idempotency keys, each in the scope of its tenant, operation and arguments."""

    def __init__(self) -> None:
        self._answers: dict[tuple[str | None, str, str, str], Any] = {}

    def once(self, op: str, args: Any, ctx: Any, work: Callable[[], Answer]) -> Answer:
        """Do the work, or give the answer of the call that did it under the same key."""
        if ctx is None or ctx.idempotency_key is None:
            return work()
        written = json.dumps(args, sort_keys=True).encode()
        scope = (ctx.tenant, op, ctx.idempotency_key, hashlib.sha256(written).hexdigest())
        if scope not in self._answers:
            self._answers[scope] = work()
        answer: Answer = copy.deepcopy(self._answers[scope])
        return answer


# -- streams ---------------------------------------------------------------------------------------------


@final
class Outcome:
    """Counts how a stream ended, once, when its block is left; the SDK counts nothing."""

    def __init__(self, metrics: Any, component: str, op: str) -> None:
        self._metrics, self._component, self._op, self._code = metrics, component, op, "CANCELLED"

    def __enter__(self) -> Outcome:
        return self

    def finish(self) -> None:
        """Note that the next frame is the last one."""
        self._code = "OK"

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        code = str(getattr(error, "code", None) or self._code)
        extra = {"op": self._op, "code": code}
        self._metrics.counter(component=self._component, name="count_stream_final_outcome", value=1, extra=extra)
