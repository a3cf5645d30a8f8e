"""The shared part of the adapters: deadlines, classes of errors, the outcomes of streams.

The SDK has an exception class of each name in each of its modules, so the classes here take the module.
"""

from __future__ import annotations

import re
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, Protocol, final


class Provider(Protocol):
    """The probe of a conformance run, reached before each call that a real back end would make."""

    async def reached(self, op: str, **facts: Any) -> None:
        """Return once the provider has answered; raise what it raises."""


@dataclass(frozen=True)
class Taxonomy:
    """The exceptions of one SDK module."""

    module: Any

    def check_deadline(self, deadline: Any) -> None:
        """Refuse a deadline that is NaN, infinite or beyond the integers of the protocol.

        Raises:
            BadRequest: the one of the module.
        """
        if deadline is not None and not (isinstance(deadline, (int, float)) and -(2**63) <= deadline < 2**63):
            details = {"validation_errors": [{"field": "ctx.deadline_ms", "rule": "must be a number of 64 bits"}]}
            raise self.module.BadRequest("ctx.deadline_ms must be a number of 64 bits", details=details)


def subtype(base: Any, name: str) -> Any:
    """An exception class of the author's own below one of the SDK; its code is its name in upper-case words."""
    code = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).upper()

    def init(self: Any, message: str, **facts: Any) -> None:
        base.__init__(self, message, code=code, **facts)

    return type(name, (base,), {"__init__": init})


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
