"""One request, and what requests are made of."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

HOUR_MS = 3_600_000

CANARY_LETTERS = "bcdfghjkmnpqrtvwxyz23456789"


@dataclass(frozen=True, slots=True)
class Request:
    """What is sent: the bare name of an operation, its arguments, its context, and the canaries that stand in it.

    `canaries` names each text that may not reappear by what it is, such as ``content``.
    """

    op: str
    args: Mapping[str, Any]
    ctx: Mapping[str, Any] = field(default_factory=dict)
    canaries: Mapping[str, str] = field(default_factory=dict)


def canary(length: int = 14) -> str:
    """A secret that no adapter could say by accident."""
    return "".join(secrets.choice(CANARY_LETTERS) for _ in range(length))


def in_ms(milliseconds: float) -> int:
    """An absolute deadline that lies so far ahead (or behind)."""
    return int(time.time() * 1000 + milliseconds)
