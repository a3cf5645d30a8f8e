"""Mistakes that vector/test_wire_handler.py finds (COM-CONC, COM-NUM)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any


def tamed(value: Any) -> Any:
    """The same with zeros where numbers are not finite."""
    if isinstance(value, Mapping):
        return {key: tamed(each) for key, each in value.items()}
    if isinstance(value, list):
        return [tamed(each) for each in value]
    return 0.0 if isinstance(value, float) and not math.isfinite(value) else value
