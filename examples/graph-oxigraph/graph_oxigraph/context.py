"""What of a call's context goes along to the provider: its trace and its deadline (SPECIFICATION 6.1, 11.3)."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any

_along: ContextVar[Mapping[str, Any] | None] = ContextVar("along", default=None)


def send_along(**members: Any) -> None:
    """Note the members of the current call's context that are there."""
    _along.set({name: value for name, value in members.items() if value is not None})


def sent_along() -> Mapping[str, Any]:
    """`traceparent` and `deadline_ms` of the current call, each where its context has it."""
    return _along.get() or {}
