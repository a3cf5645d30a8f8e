"""What mutants of several chapters are made with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Envelope = dict[str, Any]


def op_of(envelope: Any) -> Any:
    """What a request names as its operation, whatever the request is."""
    return envelope.get("op") if isinstance(envelope, Mapping) else None
